"""Runs the dispatches of a process's queues, and reports errors to the program as hardware would."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rocdbg.codeobject.demangle import demangle
from rocdbg.host.client_process import ProgramProcess
from rocdbg.host.protocol import FAULT_NOT_PRESENT, FAULT_READ_ONLY, Event, Status
from rocdbg.host.queues import ProgramQueue
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import Access, Space, Stop, StopKind
from rocdbg.sim.device.dispatch import Dispatch
from rocdbg.sim.device.queue_runner import QueueStop

_SHARE: Final = 250_000
"""Wave-instructions between two checks whether threads of the program wait for a signal that a kernel has changed."""
_IDLE: Final = 1.0
_POLL: Final = 0.01
"""Seconds between two checks of signals while packets wait for them: a program can change signals without notification.
"""


class PacketProcessor:
    """Processes the queues of one process. ``report`` is called with a sentence about each error."""

    def __init__(self, process: ProgramProcess, report: Callable[[str], None]) -> None:
        self.process = process
        self._report = report
        process.failed = self._fail
        process.runner.resolve = self._resolve

    def run(self) -> None:
        """Process packets until the process has ended."""
        process, seen = self.process, 0
        while not process.closed:
            stop = process.runner.run(RunOptions(budget=_SHARE))
            if stop is not None:
                if stop.stop.kind in (StopKind.BUDGET, StopKind.INTERRUPTED):
                    process.memory.signals_changed()
                elif stop.stop.is_exception:
                    self.deliver(stop)
                # Otherwise it was the debug trap, which has no effect without a debugger (AMDGPU ABI, trap handler).
                continue
            with process.exclusive():
                waiting = any(queue.has_packet for queue in process.queues.values())
            seen = process.memory.wait_for_work(seen, _POLL if waiting else _IDLE)
        for queue in process.runner.queues:
            process.runner.abandon(queue)

    def _resolve(self, dispatch: Dispatch, stop: Stop) -> bool:
        """Whether a fault was in pinned memory whose pages are now present."""
        return stop.fault is not None and self.process.share_pinned(stop.fault.address)

    def deliver(self, stop: QueueStop) -> None:
        """Report a kernel's error to the program: its queue accepts no more packets."""
        queue, dispatch, why = stop.queue, stop.dispatch, stop.stop
        if not isinstance(queue, ProgramQueue) or dispatch is None:
            return
        wave = why.wave
        where = f" in wave {wave.workgroup}/{wave.index}" if wave is not None else ""
        message = f"kernel {demangle(dispatch.kernel.name)}{where}: {why.message}"
        if status_of(why) is not Status.MEMORY_FAULT or why.fault is None:
            self._fail(queue, status_of(why), message)
            return
        self._stop(queue, Status.MEMORY_FAULT, message)
        there = self.process.memory.global_memory.find(why.fault.address) is not None
        reason = FAULT_READ_ONLY if there and why.fault.access is Access.WRITE else FAULT_NOT_PRESENT
        self.process.tell(Event.FAULT, queue.device.node, why.fault.address, reason)

    def _stop(self, queue: ProgramQueue, status: Status, message: str) -> None:
        queue.stopped, queue.error = True, ERRORS.get(status, "error")
        self.process.runner.abandon(queue)
        self._report(message)

    def _fail(self, queue: ProgramQueue, status: Status, message: str) -> None:
        """Put a queue into the error state, and notify the program."""
        self._stop(queue, status, message)
        self.process.tell(Event.QUEUE_ERROR, queue.address, status)


ERRORS = {
    Status.MEMORY_FAULT: "memory-violation", Status.MEMORY_APERTURE_VIOLATION: "aperture-violation",
    Status.ILLEGAL_INSTRUCTION: "illegal-instruction", Status.EXCEPTION: "abort",
    Status.INVALID_PACKET_FORMAT: "invalid-packet",
}
"""The names of errors by the status of a queue in the error state."""


def status_of(stop: Stop) -> Status:
    """The status that a program receives for a kernel that cannot continue."""
    if stop.kind is StopKind.FAULT:
        elsewhere = stop.fault is not None and stop.fault.space is not Space.GLOBAL
        return Status.MEMORY_APERTURE_VIOLATION if elsewhere or stop.is_aperture_violation else Status.MEMORY_FAULT
    if stop.kind in (StopKind.ILLEGAL, StopKind.UNSUPPORTED):
        return Status.ILLEGAL_INSTRUCTION
    return Status.EXCEPTION
