"""Waves that are suspended while functions that the debugger called run on them, and how they get their places back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.target.function_calling import CallPlace, calls_of

if TYPE_CHECKING:
    from rocdbg.debugger.running.runner import Runner


class SuspendedPlace(Struct, frozen=True):
    """A wave in the place where the debugger called a function on it: what is to be as before when that is over."""

    thread: int
    focus: Focus
    pending_signal: str
    inline_entered: int | None
    behind_trap: tuple[int, int] | None


def begin_call(runner: Runner, thread: int, room: int) -> CallPlace:
    """Suspend a wave where it is, to run a function on it with ``room`` bytes of memory in each lane.

    Raises `DebuggerError` where the target cannot, or has no memory for it.
    """
    calls, inferior, state = calls_of(runner.target), runner.parts.inferior, runner.parts.state
    if calls is None:
        raise DebuggerError("Functions of the program cannot be called on this target.")
    place = calls.begin(thread, room)
    state.calls.append(
        SuspendedPlace(
            thread, runner.parts.focus.current, state.pending_signal, inferior.inline_entered.get(thread),
            inferior.behind_traps.get(thread),
        )
    )
    state.pending_signal = ""
    inferior.state_changed()
    return place


def end_call(runner: Runner, thread: int) -> Focus:
    """Give a wave back the place where the innermost call on it was made, and the focus; gives that."""
    calls, inferior, state = calls_of(runner.parts.inferior.target), runner.parts.inferior, runner.parts.state
    found = next((place for place in reversed(state.calls) if place.thread == thread), None)
    if found is None or calls is None:
        return runner.parts.focus.current
    state.calls.remove(found)
    calls.end(thread)
    state.pending_signal = found.pending_signal
    if found.inline_entered is not None:
        inferior.inline_entered[thread] = found.inline_entered
    if found.behind_trap is not None:
        inferior.behind_traps[thread] = found.behind_trap
    else:
        inferior.behind_traps.pop(thread, None)
    inferior.state_changed()
    return runner.parts.focus.move(found.focus)
