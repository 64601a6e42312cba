"""A process for the debugger whose program is a list of Python functions: each is called when the queues are idle."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from rocdbg.codeobject import open_file
from rocdbg.debugger import Session
from rocdbg.debugger.target.capabilities.runnable import ProcessEnd
from rocdbg.debugger.target.capabilities.target_state import LoadedCodeObject, Target
from rocdbg.debugger.target.process_target import ProcessTarget
from rocdbg.sim.core.memory import Allocation, GlobalMemory
from rocdbg.sim.core.shared_window import SharedWindow
from rocdbg.sim.device.machine import LoadedCodeObject as OnMachine
from rocdbg.sim.device.machine import Machine
from rocdbg.sim.device.queue_runner import PacketQueue, QueueRunner, QueueStop
from rocdbg.sim.device.user_queue import UserQueue

Step = Callable[["ScriptedProcess"], object]


class ScriptedProcess:
    def __init__(self, steps: Sequence[Step], targets: Sequence[str] = ("gfx90a",)) -> None:
        self.memory = GlobalMemory(window=SharedWindow())
        self.machines = [Machine(target, None, self.memory) for target in targets]
        self.runner = QueueRunner()
        self.errors: list[str] = []
        self._steps = list(steps)
        self._loaded: tuple[LoadedCodeObject, ...] = ()
        self._end = ProcessEnd(4711)

    # -- what a program does

    def queue(self, agent: int = 1) -> UserQueue:
        queue = UserQueue(self.machines[agent - 1])
        self.runner.add(queue)
        return queue

    def load(self, path: Path, agent: int = 1) -> OnMachine:
        loaded = self.machines[agent - 1].load(open_file(path))
        self._loaded = (*self._loaded, LoadedCodeObject(loaded.code_object, loaded.base))
        return loaded

    def unload(self, loaded: OnMachine) -> None:
        loaded.machine.unload(loaded)
        self._loaded = tuple(one for one in self._loaded if one.base != loaded.base)

    def buffer(self, data: np.ndarray) -> Allocation:
        made = self.memory.allocate(data.nbytes)
        self.memory.write(made.address, data.tobytes())
        return made

    def submit(self, queue: UserQueue, loaded: OnMachine, kernel: str, arguments: bytes, items: int = 64) -> None:
        """Submit a kernel over ``items`` work-items in groups of 64, with the hidden arguments for sizes."""
        found = loaded.code_object.kernels[kernel]
        hidden = struct.pack("<3I3H", -(-items // 64), 1, 1, 64, 1, 1)
        data = arguments + bytes(-len(arguments) % 8) + hidden + bytes(256)
        area = self.memory.allocate(len(data), name="kernarg")
        self.memory.write(area.address, data)
        descriptor = found.descriptor
        queue.submit(
            struct.pack(
                "<HH3HH3IIIQQQQ", 2 | 1 << 8 | 2 << 9 | 2 << 11, 1, 64, 1, 1, 0, items, 1, 1,
                descriptor.private_segment_fixed_size, descriptor.group_segment_fixed_size,
                loaded.address(found.descriptor_address), area.address, 0, 0,
            )
        )

    # -- what the debugger asks

    gone = False

    def code_objects(self) -> Sequence[LoadedCodeObject]:
        return self._loaded

    def wait(self) -> bool:
        if not self._steps:
            return False
        self._steps.pop(0)(self)
        return True

    def describe(self, queue: PacketQueue) -> UserQueue:
        assert isinstance(queue, UserQueue)
        return queue

    def failed(self, stop: QueueStop) -> None:
        self.errors.append(stop.stop.message)
        assert stop.queue is not None
        self.runner.remove(stop.queue)  # it takes no more packets

    def host_stop(self) -> None:
        """None: there is no host code."""

    def interrupt_host(self) -> None:
        """None: there is no host code."""

    def go_on(self) -> None:
        """Do nothing: only the queues run."""

    def hold(self, held: bool) -> None:
        """Do nothing: only the queues run."""

    def origin(self, queue: PacketQueue, packet: int) -> None:
        """None: steps are not functions."""

    def end(self) -> ProcessEnd:
        return self._end


class ScriptedLauncher:
    """Launches a process that performs the steps."""

    needs_program = False

    def __init__(self, steps: Sequence[Step], targets: Sequence[str] = ("gfx90a",)) -> None:
        self._steps, self._targets = steps, targets
        self.process: ScriptedProcess | None = None
        self.skips = True

    def start(self) -> Target:
        self.process = ScriptedProcess(self._steps, self._targets)
        return ProcessTarget(self.process, skips=lambda: self.skips)

    def remains(self) -> Target | None:
        return None

    def release(self) -> None:
        self.process = None


def session_on(steps: Sequence[Step], targets: Sequence[str] = ("gfx90a",)) -> tuple[Session, ScriptedLauncher]:
    """A session that debugs a process which performs the steps."""
    session, launcher = Session(), ScriptedLauncher(steps, targets)
    session.launcher = launcher
    return session, launcher
