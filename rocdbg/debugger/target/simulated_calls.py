"""The functions that the debugger has called on the simulated device, by wave, and the one that is running."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar
from weakref import ref

from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.target.capabilities.function_calling import CallPlace
from rocdbg.debugger.target.capabilities.target_state import Target
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import Stop
from rocdbg.sim.core.wave import Wave
from rocdbg.sim.device.called_function_run import RETURN_ADDRESS, Excursion

T = TypeVar("T")

MOST_CALLS = 64
"""The maximum number of calls in progress on all waves: each has its own registers and private memory."""


class Caller(Protocol):
    """The code that runs called functions: one dispatch, or several."""

    def excursion(self, wave: Wave, room: int) -> Excursion:
        """See `Dispatch.excursion`."""

    @property
    def asked(self) -> bool:
        """See `Dispatch.asked`."""

    def take_interrupt(self) -> bool:
        """See `Dispatch.take_interrupt`."""


class CallStacks:
    """The calls in progress on waves, outermost first (`rocdbg.debugger.target.capabilities.function_calling.Calls`).

    ``dispatch`` runs them, ``current`` returns the current state of a wave by number, ``seen_with`` returns a view of
    the target with other calls in progress.
    """

    def __init__(
        self, dispatch: Caller, current: Callable[[int], Wave], seen_with: Callable[[CallStacks], Target]
    ) -> None:
        self._dispatch = dispatch
        self._current = current
        self._seen_with = seen_with
        self._calls: dict[int, list[Excursion]] = {}
        self._hidden: dict[int, int] = {}  # how many of a wave's innermost calls this view omits, by wave

    @classmethod
    def of(
        cls, target: T, dispatch: Caller, current: Callable[[T, int], Wave],
        seen_with: Callable[[T, CallStacks], Target],
    ) -> CallStacks:
        """Create the calls of a target, which is weakly referenced: its resources are freed as soon as it is unused."""
        this = ref(target)

        def alive() -> T:
            found = this()
            assert found is not None, "calls are asked for through their target"
            return found

        return cls(dispatch, lambda thread: current(alive(), thread), lambda calls: seen_with(alive(), calls))

    @property
    def return_address(self) -> int:
        """The return address of called functions."""
        return RETURN_ADDRESS

    def wave(self, thread: int | None) -> Wave | None:
        """Return the copy of a wave on which the innermost call in this view runs; ``None`` if there is no call."""
        calls = self._calls.get(thread or 0)
        if not calls:
            return None
        shown = len(calls) - self._hidden.get(thread or 0, 0)
        return calls[shown - 1].wave if shown > 0 else None

    def innermost(self, thread: int | None) -> Wave | None:
        """Return the copy of a wave whose private memory is in use."""
        calls = self._calls.get(thread or 0)
        return calls[-1].wave if calls else None

    def before(self, thread: int) -> Target:
        """Return the target in the state without the innermost call on a wave in this view."""
        other = CallStacks(self._dispatch, self._current, self._seen_with)
        other._calls = self._calls
        other._hidden = {**self._hidden, thread: self._hidden.get(thread, 0) + 1}
        return self._seen_with(other)

    @property
    def under_way(self) -> bool:
        """Whether there are any calls."""
        return bool(self._calls)

    def depth(self, thread: int) -> int:
        """How many calls on a wave this view includes."""
        return max(0, len(self._calls.get(thread, ())) - self._hidden.get(thread, 0))

    def begin(self, thread: int, room: int) -> CallPlace:
        """Begin a new innermost call on a wave. Raises `DebuggerError` if there are too many calls."""
        wave = self._current(thread)
        if sum(map(len, self._calls.values())) >= MOST_CALLS:
            raise DebuggerError(
                f"{MOST_CALLS} functions called from the debugger have not returned; no more can be called."
            )
        excursion = self._dispatch.excursion(wave, room)
        calls = self._calls.pop(wave.number, [])
        self._calls[wave.number] = [*calls, excursion]  # last, because the call that began last resumes first
        return CallPlace(excursion.stack, room)

    def place_stack(self, thread: int, offset: int) -> None:
        """Set where the stack of the innermost call begins."""
        self._calls[thread][-1].set_stack(offset)

    def end(self, thread: int) -> None:
        """End the innermost call."""
        calls = self._calls.get(thread)
        if not calls:
            return
        calls.pop().end()
        if not calls:
            del self._calls[thread]

    def run(self, options: RunOptions) -> Stop | None:
        """Resume a call, if any is in progress: the innermost call on the wave, or else the one that began last.

        Raises `DebuggerError` for a step of another wave: its workgroup may need the wave that is in a call.
        """
        if not self._calls:
            return None
        calls = self._calls.get(options.wave or 0)
        if calls is None:
            thread = next(reversed(self._calls))
            if options.step or options.range is not None:
                raise DebuggerError(
                    f"Thread {thread} is in a function called from the debugger, which has to return first."
                )
            calls = self._calls[thread]
        return calls[-1].run(options, self._dispatch.take_interrupt, lambda: self._dispatch.asked)
