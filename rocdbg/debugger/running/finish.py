"""``finish``: run until a frame, a call or an inlined call returns."""

from __future__ import annotations

from msgspec.structs import replace

from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.frames.frames import Frame, FrameKind, physical_place
from rocdbg.debugger.frames.returned_values import return_value
from rocdbg.debugger.running.run_state import Internal
from rocdbg.debugger.running.runner import Runner, thread_of
from rocdbg.debugger.running.step_calls import run_to
from rocdbg.debugger.running.step_origin import inline_offsets
from rocdbg.debugger.running.stepping import Stepper, settle
from rocdbg.debugger.running.stop_events import FinishDone, Returned, StopEvent, StopReason
from rocdbg.dwarf.info import Function
from rocdbg.dwarf.info.types import VoidType


def finish(stepper: Stepper, scope: Focus) -> StopEvent:
    """``finish``: run until the selected frame has returned to its caller."""
    runner = stepper.runner
    chain = runner.parts.inferior.chain(scope)
    frame = chain.get(scope.frame)
    outer = chain.get(frame.level + 1) if frame is not None else None
    if frame is None or outer is None:
        raise DebuggerError('"finish" not meaningful in the outermost frame.')
    if frame.kind is FrameKind.INLINE:
        return _finish_inline(stepper, scope, frame)
    if outer.kind is FrameKind.DUMMY:
        return _finish_call(runner, scope, frame)
    physical = outer.context
    address = outer.pc
    place = physical_place(physical)
    function = frame.function
    thread = thread_of(scope)
    event = run_to(runner, scope, address, place)
    if event is not None and not _is_there_too(runner, event, scope, address, place):
        return event
    if event is not None:
        return replace(event, returned=_returned(runner, function, thread, scope.lane))
    returned = _returned(runner, function, thread, scope.lane)
    event = settle(runner, scope)
    if event is None:
        return runner.arrived(FinishDone(), returned)
    if event.reason is StopReason.BREAKPOINT and event.scope.thread == thread:
        return replace(event, returned=returned)  # the return and this stop coincide at the next statement
    return event


def _is_there_too(
    runner: Runner, event: StopEvent, scope: Focus, address: int, place: tuple[int | None, int | None] | None
) -> bool:
    """Whether another stop was exactly at the function's return address."""
    thread = thread_of(scope)
    if event.reason not in (StopReason.WATCHPOINT_SCOPE, StopReason.BREAKPOINT) or event.scope.thread != thread:
        return False
    if runner.target.wave(thread).pc != address or not runner.parts.inferior.is_active(scope):
        return False
    return physical_place(runner.top_frame(scope).context) == place


def _returned(runner: Runner, function: Function | None, thread: int, lane: int | None) -> Returned | None:
    """Return the value that a function has just returned, or only its type if the value is not known."""
    if function is None:
        return None
    value = return_value(function, runner.target, thread, lane)
    if value is not None:
        return Returned(replace(value, type=value.type.strip_typedefs()))
    is_void = isinstance(function.return_type.strip_typedefs(), VoidType)
    return None if is_void else Returned(type=function.return_type)


def _finish_call(runner: Runner, scope: Focus, frame: Frame) -> StopEvent:
    """Leave a function that the debugger called: the wave returns to where it was before the call."""
    thread = thread_of(scope)
    event = runner.run(Internal(returned=True), thread)
    if event is not None:
        return event
    returned = _returned(runner, frame.function, thread, scope.lane)
    runner.end_call(thread)
    return runner.arrived(FinishDone(), returned)


def _finish_inline(stepper: Stepper, scope: Focus, frame: Frame) -> StopEvent:
    """Leave an inlined call: step over lines until the wave has left the code of the call."""
    assert frame.inline is not None
    wanted = frame.inline.offset
    while True:
        event = stepper.step_line(scope.with_frame(0), into=False)
        if event.reason is not StopReason.STEP:
            return event
        top = stepper.runner.top_frame(scope)
        if wanted not in inline_offsets(top):
            return stepper.runner.arrived(FinishDone())
