"""The beginning of a step, and the relation of frames that it reaches to that beginning."""

from __future__ import annotations

from msgspec import Struct

from rocdbg.debugger.frames.frames import Frame, FrameChain, physical_place
from rocdbg.debugger.program.function_extents import function_start
from rocdbg.debugger.running.line_ranges import line_of


class StepStart(Struct, frozen=True):
    """Where a step began."""

    place: tuple[int | None, int | None] | None
    """The CFA and return address of the physical frame."""
    function_low: int | None
    """Where the function begins according to debug information."""
    function_start: int | None
    """``function_low`` or, without it, the start of the symbol: identifies the function that messages name."""
    code: int | None
    """Where the machine code of the function begins, regardless of symbols inside it."""
    caller_place: tuple[int | None, int | None] | None
    has_caller: bool
    inline: tuple[int, ...]
    """The inlined calls around the PC, innermost first."""
    line: tuple[str, int] | None


def step_start(chain: FrameChain) -> StepStart:
    """Return the start of a step from the innermost of a lane's frames."""
    top = chain.get(0)
    assert top is not None
    caller = next((f for f in chain if f.context is not top.context), None)
    inline = tuple(f.inline.offset for f in chain if f.context is top.context and f.inline is not None)
    physical = top.context.function
    code = top.program.functions.at(top.program.to_file(top.lookup_pc))
    return StepStart(
        physical_place(top.context),
        physical.low_pc if physical is not None else None,
        function_start(top.program, top.lookup_pc),
        code.start if code is not None else None,
        physical_place(caller.context) if caller is not None else None,
        caller is not None,
        inline,
        line_of(top),
    )


def is_at_another_line(frame: Frame, start: StepStart) -> bool:
    """Whether a lane that has become active is at the beginning of a line other than the one where it waited.

    The middle of a line may be code that reactivates the lane before it continues where it waited.
    """
    row = frame.row
    if row is None:
        return True
    if physical_place(frame.context) != start.place:
        return row.line != 0
    at_start = frame.program.to_loaded(row.address) == frame.pc
    return row.line != 0 and row.is_stmt and at_start and line_of(frame) != start.line


def frame_changed(frame: Frame, start: StepStart) -> bool:
    """Whether a frame belongs to a function or inlined call other than the one in which the step began."""
    began = function_start(frame.program, frame.lookup_pc)
    return began != start.function_start or inline_offsets(frame) != start.inline


def is_inlined_deeper(frame: Frame, start: StepStart) -> bool:
    """Whether the frame belongs to a call inlined into the code in which the step began."""
    now = inline_offsets(frame)
    before = start.inline
    if len(now) <= len(before):
        return False
    return now[len(now) - len(before) :] == before


def inline_offsets(frame: Frame) -> tuple[int, ...]:
    """Return the inlined calls around a frame's PC, innermost first."""
    program = frame.program
    if frame.context.function is None:
        return ()
    inlined = program.info.inline_frames_at(program.to_file(frame.lookup_pc))
    return tuple(i.offset for i in inlined[frame.hidden :])
