"""What came out of the launches of a session, for the exit status: ``-return-child-result``, `set exit-status`."""

from __future__ import annotations

from rocdbg.debugger.running.observer import Observer
from rocdbg.debugger.running.stop_events import Exited, SignalReceived, StopEvent, Terminated
from rocdbg.debugger.target.state import Target

NO_RESULT = 255
"""GDB's status where no program has exited."""
NO_FAULT = ("SIGINT", "SIGTRAP")
"""Signals that say nothing of the program's correctness."""


class Outcomes(Observer):
    """Of a kernel the result is 0, or 1 where a buffer is not as expected or an exception stopped it; of a whole
    program its exit code.

    Attributes:
        result: that of the last launch, ``None`` while it has none.
        failed: whether any launch has ended, or been stopped, badly.
    """

    def __init__(self) -> None:
        self.result: int | None = None
        self.failed = False

    def launched(self, target: Target) -> None:
        self.result = None

    def stopped(self, event: StopEvent) -> None:
        match event.cause:
            case Exited(info=info) if info.process is not None and not info.process.signal:
                self._end(info.process.code)
            case Exited(info=info) if info.process is not None:
                self.result, self.failed = None, True
            case Exited(info=info):
                self._end(int(not all(result.passed for result in info.expectations)))
            case Terminated():
                self._end(1)
            case SignalReceived(signal=signal) if signal.name not in NO_FAULT:
                self._end(1)
            case _ if event.device is not None and event.device.exceptions:
                self._end(1)

    def _end(self, result: int) -> None:
        self.result = result
        self.failed = self.failed or result != 0

    def status(self, returns_result: bool, is_strict: bool) -> int:
        """The exit status of a session in which no command failed and that was not left with another one."""
        if returns_result:
            return NO_RESULT if self.result is None else self.result or int(is_strict and self.failed)
        return int(is_strict and self.failed)
