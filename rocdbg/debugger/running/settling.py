"""From the end of a statement to the beginning of the next, where only the compiler's bookkeeping lies between.

A call returns, or a watched word is written, and nothing is left of the statement that did it but code that brings
registers and masks back (`rocdbg.debugger.program.bookkeeping`). On a host the next instruction would be of the next
statement, and a stop would show that.
"""

from __future__ import annotations

from msgspec.structs import replace

from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.running.runner import Runner, thread_of
from rocdbg.debugger.running.stepping import Stepper
from rocdbg.debugger.running.stop_events import StopEvent, StopReason

_SETTLED = frozenset((StopReason.WATCHPOINT, StopReason.WATCHPOINT_SCOPE))


def settle(runner: Runner, scope: Focus) -> StopEvent | None:
    """Go on to the next statement if nothing else is left of the one that the lane is in.

    ``None`` unless something else happened on the way, as a breakpoint there.
    """
    thread = thread_of(scope)
    wave = runner.target.wave(thread)
    program = runner.parts.inferior.programs.at(wave.pc)
    if not program.has_debug_info or not runner.parts.inferior.is_active(scope):
        return None
    if not runner.parts.inferior.machine_code(program).bookkeeping.remains(program.to_file(wave.pc), wave.lane_count):
        return None
    runner.parts.state.alone = True
    try:
        event = Stepper(runner).step_line(scope.with_frame(0), into=False)
    finally:
        runner.parts.state.alone = False
    return None if event.reason is StopReason.STEP else event


def settled(runner: Runner, event: StopEvent | None) -> StopEvent | None:
    """The same for a stop at a watchpoint, which stays the event that it is."""
    if event is None or event.reason not in _SETTLED or event.scope.thread is None:
        return event
    scope = runner.parts.focus.current
    wave = runner.target.wave(thread_of(scope))
    program = runner.parts.inferior.programs.at(wave.pc)
    address = program.to_file(wave.pc)
    if not program.has_debug_info:
        return event
    following = runner.parts.inferior.machine_code(program).bookkeeping.following(address, wave.lane_count)
    stops = runner.stop_addresses()
    if wave.pc in stops or any(program.to_loaded(row.address) in stops for row in following):
        return event  # a breakpoint that would be passed
    other = settle(runner, scope)
    return event if other is None else replace(other, problems=event.problems + other.problems)
