"""A program with its own runtime, started by the debugger, as the process that a target shows."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from rocdbg import work
from rocdbg.arch.target_id import TargetId
from rocdbg.debugger.base.errors import LaunchError
from rocdbg.debugger.target.capabilities.runnable import ProcessEnd
from rocdbg.debugger.target.capabilities.target_state import LoadedCodeObject
from rocdbg.debugger.target.host_debugger import HostChild, HostDebugger
from rocdbg.debugger.target.host_stop import HostStop
from rocdbg.debugger.target.process_target import HostOrigin, ProcessQueue
from rocdbg.host.client_process import ProgramProcess
from rocdbg.host.find_runtime_library import runtime_library
from rocdbg.host.gpu_side import load_gpu_side
from rocdbg.host.processor import PacketProcessor
from rocdbg.host.queues import ProgramQueue
from rocdbg.host.server import Server
from rocdbg.sim.core.memory import GlobalMemory
from rocdbg.sim.device.machine import Machine
from rocdbg.sim.device.queue_runner import PacketQueue, QueueStop

if TYPE_CHECKING:
    from rocdbg.debugger.target.host_frames import HostModules

_LOOK = 0.05
"""Seconds between checks whether the program has ended."""
_PATIENCE = 0.1
"""Seconds to wait for a program to report where it launched a dispatch that is already running."""
_POLL = 0.01
"""Seconds between checks while packets wait for signals, which a program can change without any notification."""


class HostedProcess:
    """A program and its GPUs. ``command`` is what a shell executes; ``report`` receives messages about failing kernels.
    With a ``host`` debugger, that starts its program instead, with ``arguments``.

    Ctrl-C is for the debugger, not for the program, which is started with SIGINT ignored. Raises `LaunchError` and the
    errors of the runtime library.
    """

    def __init__(
        self, command: str, agents: Sequence[TargetId], environment: Mapping[str, str], directory: str | None,
        report: Callable[[str], None], host: HostDebugger | None = None, arguments: str = "",
    ) -> None:
        library = runtime_library()
        self._host = ProgramProcess(0, agents, load_gpu_side(library.gpu_side))
        self._processor = PacketProcessor(self._host, self._say)
        self._host.traced = True
        self._modules: HostModules | None = None
        self._held = False
        self._gpu: list[threading.Thread] = []
        """Runs the GPUs of a program after the debugger detached."""
        self._server = Server(agents, library, report, self._processor)
        self._report, self._shown = report, False
        self.runner = self._host.runner
        self._seen = 0
        self._loaded: tuple[LoadedCodeObject, ...] = ()
        self._codes: tuple[int, ...] = ()
        self._debugger = host
        self._child: subprocess.Popen[bytes] | HostChild
        if host is not None:
            host.news = self.runner.interrupt  # so that the target looks whether the program has stopped
            self._child = HostChild(host)
            try:
                host.start(arguments, self._server.environment(dict(environment)), directory)
            except BaseException:
                self._server.close()
                raise
            return
        shell = ["/bin/sh", "-c", f"exec {command}"]
        before: signal._HANDLER = signal.SIG_DFL
        main = threading.current_thread() is threading.main_thread()
        try:
            if main:
                before = signal.signal(signal.SIGINT, signal.SIG_IGN)
            self._child = subprocess.Popen(shell, env=self._server.environment(dict(environment)), cwd=directory)
        except (OSError, ValueError) as error:
            self._server.close()
            reason = getattr(error, "strerror", None) or error
            raise LaunchError(f"cannot run {command}: {reason}") from None
        finally:
            if main:
                signal.signal(signal.SIGINT, before)

    # -- requests of the target

    @property
    def memory(self) -> GlobalMemory:
        return self._host.memory.global_memory

    @property
    def machines(self) -> Sequence[Machine]:
        return [device.machine for device in self._host.devices]

    def code_objects(self) -> Sequence[LoadedCodeObject]:
        codes = dict(self._host.codes)
        if tuple(codes) != self._codes:
            self._codes = tuple(codes)
            loaded = [code.loaded for code in codes.values()]
            self._loaded = tuple(LoadedCodeObject(each.code_object, each.base) for each in loaded)
        return self._loaded

    @property
    def gone(self) -> bool:
        return self._host.closed

    def wait(self) -> bool:
        if self._child.poll() is not None:
            return False
        waiting = any(queue.has_packet for queue in tuple(self._host.queues.values()))
        self._seen = self._host.memory.wait_for_work(self._seen, _POLL if waiting else _LOOK)
        self._host.memory.signals_changed()
        return True

    def describe(self, queue: PacketQueue) -> ProcessQueue:
        assert isinstance(queue, ProgramQueue)
        return queue

    def failed(self, stop: QueueStop) -> None:
        self._shown = True
        try:
            self._processor.deliver(stop)
        finally:
            self._shown = False

    def host_stop(self) -> HostStop | None:
        return self._debugger.take_stop() if self._debugger is not None else None

    def interrupt_host(self) -> HostStop | None:
        if self._debugger is None:
            return None
        self._debugger.interrupt(reported=True)
        return self._debugger.take_stop()

    def go_on(self) -> None:
        self.hold(False)
        if self._debugger is not None:
            self._debugger.go_on()

    def hold(self, held: bool) -> None:
        if self._debugger is not None:
            if held:
                self._debugger.interrupt()
            return
        if held != self._held and self.alive:
            self._held = held
            with suppress(OSError):
                os.kill(self._host.pid or self._child.pid, signal.SIGSTOP if held else signal.SIGCONT)

    def origin(self, queue: PacketQueue, packet: int) -> HostOrigin | None:
        assert isinstance(queue, ProgramQueue)
        end = time.monotonic() + _PATIENCE
        while (found := queue.origin(packet)) is None and time.monotonic() < end and not self._held:
            time.sleep(_POLL)  # the dispatch may have begun before the launching thread could report it
        if found is None:
            return None
        from rocdbg.debugger.target.host_frames import HostModules  # imported late: it is rarely needed

        self._modules = self._modules or HostModules(self._host.pid)
        return HostOrigin(found.thread, self._modules.frames(found.frames))

    def _say(self, text: str) -> None:
        if not self._shown:  # otherwise the user has already seen it
            self._report(text)

    def end(self) -> ProcessEnd:
        status = self._child.poll() or 0
        return ProcessEnd(self._child.pid, max(status, 0), max(-status, 0))

    # -- life cycle

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._child.pid

    def let_go(self) -> None:
        """Let the program continue without ever being stopped again."""
        self.hold(False)
        if self._debugger is not None:
            self._debugger.detach()
        self.runner.begun = lambda queue, dispatch: False
        self.runner.forget_interrupt()
        work.start(self._processor.run, "rocdbg-gpu", self._gpu.append)
        threading.Thread(target=self.wait_for_end, name="rocdbg-detached", daemon=True).start()

    @property
    def alive(self) -> bool:
        """Whether the program has not ended."""
        return self._child.poll() is None

    def wait_for_end(self) -> None:
        """Wait until the program has ended; its requests are not served after that."""
        self._child.wait()
        self._close()

    def _close(self) -> None:
        self._server.close()
        for thread in self._gpu:
            work.join(thread, work.PATIENCE)

    def kill(self) -> None:
        """Kill the program at once, and everything that serves it."""
        with suppress(OSError):
            self._child.kill()
        self._child.wait()
        self._close()


__all__ = ["HostedProcess"]
