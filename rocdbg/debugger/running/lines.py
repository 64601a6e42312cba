"""Where frames stand in the source, for steps: the addresses of a line, and what has changed since a step began."""

from __future__ import annotations

from dataclasses import dataclass

from rocdbg.debugger.focus import Focus
from rocdbg.debugger.frames.frames import Frame, FrameChain, physical_place
from rocdbg.dwarf.info import LineRow


@dataclass(frozen=True, slots=True)
class Start:
    """Where a step began."""

    scope: Focus
    place: tuple[int | None, int | None] | None
    """Of the physical frame."""
    function_low: int | None
    caller_place: tuple[int | None, int | None] | None
    has_caller: bool
    depth: int
    """Inline calls around the PC."""
    inline: tuple[int, ...]
    line: tuple[str, int] | None

    @classmethod
    def of(cls, chain: FrameChain, scope: Focus) -> Start:
        """Where the frames of a lane stand."""
        top = chain.get(0)
        assert top is not None
        caller = next((f for f in chain if f.context is not top.context), None)
        inline = tuple(f.inline.offset for f in chain if f.context is top.context and f.inline is not None)
        physical = top.context.function
        return cls(
            scope,
            physical_place(top.context),
            physical.low_pc if physical is not None else None,
            physical_place(caller.context) if caller is not None else None,
            caller is not None,
            len(inline),
            inline,
            line_of(top),
        )


def inline_offsets(frame: Frame) -> tuple[int, ...]:
    """The inlined calls around a frame's PC, innermost first."""
    program = frame.program
    if frame.context.function is None:
        return ()
    inlined = program.info.inline_frames_at(program.to_file(frame.lookup_pc))
    return tuple(i.offset for i in inlined[frame.hidden :])


def line_of(frame: Frame) -> tuple[str, int] | None:
    """Path and number of the line a frame shows; ``None`` where it has none."""
    if frame.hidden and frame.file is not None and frame.line is not None:
        return frame.file.path, frame.line
    row = frame.row
    return (row.file.path, row.line) if row is not None and row.line else None


def _same_line(one: LineRow, other: LineRow) -> bool:
    return one.line == other.line and one.file == other.file


def line_range(frame: Frame) -> tuple[int, int]:
    """The addresses around the PC that are of the same line; a whole function without lines."""
    row = frame.row
    program = frame.program
    if row is None:
        symbol = program.symbol_at(frame.pc)
        if symbol is None:
            return frame.pc, frame.pc + 4
        start = program.to_loaded(program.code_object.address_of(symbol))
        return start, start + max(symbol.size, 4)
    low, high = row.address, row.end_address
    while True:
        after = program.info.line_at(high)
        if after is None or not _same_line(after, row) or after.end_address <= high:
            break
        high = after.end_address
    return program.to_loaded(low), program.to_loaded(high)

def row_range(frame: Frame) -> tuple[int, int]:
    """The addresses of the row of the line table that the PC is in; an instruction's without one."""
    row = frame.row
    if row is None:
        return frame.pc, frame.pc + 4
    program = frame.program
    return program.to_loaded(row.address), program.to_loaded(row.end_address)


def stands_at_another_line(frame: Frame, start: Start) -> bool:
    """Whether a lane that has become active stands at the beginning of a line other than the one it waited at.

    The middle of a line may be code that brings the lane back, before it goes on where it waited.
    """
    row = frame.row
    if row is None:
        return True
    if physical_place(frame.context) != start.place:
        return row.line != 0
    at_start = frame.program.to_loaded(row.address) == frame.pc
    return row.line != 0 and row.is_stmt and at_start and line_of(frame) != start.line


def begins_line(frame: Frame, line: tuple[str, int] | None) -> bool:
    """Whether a frame stands where a statement in another line than ``line`` begins."""
    row = frame.row
    if row is None or row.line == 0 or not row.is_stmt or (row.file.path, row.line) == line:
        return False
    return frame.program.to_loaded(row.address) == frame.pc

def is_inlined_deeper(frame: Frame, start: Start) -> bool:
    """Whether the frame is of a call inlined into the code the step began in."""
    now = inline_offsets(frame)
    before = start.inline
    if len(now) <= len(before):
        return False
    return now[len(now) - len(before) :] == before

def frame_changed(frame: Frame, start: Start) -> bool:
    """Whether the frame is of another function, or of another inlined call, than the step began in."""
    physical = frame.context.function
    low = physical.low_pc if physical is not None else None
    return low != start.function_low or inline_offsets(frame) != start.inline
