"""The outcomes of a session's launches, which determine the exit status: ``-return-child-result``, `set exit-status`.
"""

from __future__ import annotations

from rocdbg.debugger.running.observer import Observer
from rocdbg.debugger.running.stop_events import Exited, SignalReceived, StopEvent, Terminated
from rocdbg.debugger.target.capabilities.target_state import Target

NO_RESULT = 255
"""GDB's exit status if no program has exited."""
NO_FAULT = ("SIGINT", "SIGTRAP")
"""Signals that do not indicate a fault of the program."""


class Outcomes(Observer):
    """Records outcomes. The result of a whole program is its exit code. That of a kernel is 0, or 1 if a buffer is not
    as expected or an exception stopped it.

    Attributes:
        result: the result of the last launch, ``None`` if it has none yet.
        failed: whether any launch has ended, or been stopped, with a failure.
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
        """Return the exit status of a session in which no command failed and for which `quit` gave no other status."""
        if returns_result:
            return NO_RESULT if self.result is None else self.result or int(is_strict and self.failed)
        return int(is_strict and self.failed)
