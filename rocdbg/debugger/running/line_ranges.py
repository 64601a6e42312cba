"""Lines and the addresses that belong to them, as steps see them: pure questions about a frame."""

from __future__ import annotations

from rocdbg.addresses import FileAddress
from rocdbg.debugger.frames.frames import Frame
from rocdbg.dwarf.info import LineRow


def line_of(frame: Frame) -> tuple[str, int] | None:
    """The file and line a frame stands at; of a call inlined right behind it, the line of that call."""
    if frame.hidden and frame.file is not None and frame.line is not None:
        return frame.file.path, frame.line
    row = frame.row
    return (row.file.path, row.line) if row is not None and row.line else None


def begins_line(frame: Frame, line: tuple[str, int] | None) -> bool:
    """Whether a frame stands where a statement in another line than ``line`` begins."""
    row = frame.row
    if row is None or row.line == 0 or not row.is_stmt or (row.file.path, row.line) == line:
        return False
    return frame.program.to_loaded(row.address) == frame.pc


def line_range(frame: Frame) -> tuple[int, int]:
    """The addresses around the PC that are of the same line; a whole function without lines."""
    row = frame.row
    program = frame.program
    if row is None:
        extent = program.code_object.symbols.extent_at(program.to_file(frame.pc))
        if extent is None:
            return frame.pc, frame.pc + 4
        _, start, end = extent
        return program.to_loaded(FileAddress(start)), program.to_loaded(FileAddress(max(end, start + 4)))
    low, high = row.address, row.end_address
    while True:
        after = program.info.line_at(high)
        if after is None or not _is_same_line(after, row) or after.end_address <= high:
            break
        high = after.end_address
    return program.to_loaded(low), program.to_loaded(high)


def row_range(frame: Frame) -> tuple[int, int]:
    """The addresses of the row of the line table that the PC is in."""
    row = frame.row
    if row is None:
        return frame.pc, frame.pc + 4
    program = frame.program
    return program.to_loaded(row.address), program.to_loaded(row.end_address)


def _is_same_line(one: LineRow, other: LineRow) -> bool:
    return one.line == other.line and one.file == other.file
