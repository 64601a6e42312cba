"""Lines and their addresses for stepping: pure functions of a frame."""

from __future__ import annotations

from rocdbg.addresses import FileAddress
from rocdbg.debugger.frames.frames import Frame
from rocdbg.dwarf.info import LineRow


def line_of(frame: Frame) -> tuple[str, int] | None:
    """Return the file and line of a frame; if an inlined call begins at the frame's PC, the line of that call."""
    if frame.hidden and frame.file is not None and frame.line is not None:
        return frame.file.path, frame.line
    row = frame.row
    return (row.file.path, row.line) if row is not None and row.line else None


def begins_line(frame: Frame, line: tuple[str, int] | None) -> bool:
    """Whether a frame is at the beginning of a statement on a line other than ``line``."""
    row = frame.row
    if row is None or row.line == 0 or not row.is_stmt or (row.file.path, row.line) == line:
        return False
    return frame.program.to_loaded(row.address) == frame.pc


def line_range(frame: Frame) -> tuple[int, int]:
    """Return the addresses around the PC with the same line; without line information, those of the whole function."""
    row = frame.row
    program = frame.program
    if row is None:
        return symbol_range(frame)
    low, high = row.address, row.end_address
    while True:
        after = program.info.line_at(high)
        if after is None or not _is_same_line(after, row) or after.end_address <= high:
            break
        high = after.end_address
    return program.to_loaded(low), program.to_loaded(high)


def symbol_range(frame: Frame) -> tuple[int, int]:
    """Return the addresses from the symbol at the PC to the next one; without symbols, those of one instruction."""
    program = frame.program
    extent = program.code_object.symbols.extent_at(program.to_file(frame.pc))
    if extent is None:
        return frame.pc, frame.pc + 4
    _, start, end = extent
    return program.to_loaded(FileAddress(start)), program.to_loaded(FileAddress(max(end, start + 4)))


def row_range(frame: Frame) -> tuple[int, int]:
    """Return the addresses of the line table row that contains the PC."""
    row = frame.row
    if row is None:
        return frame.pc, frame.pc + 4
    program = frame.program
    return program.to_loaded(row.address), program.to_loaded(row.end_address)


def _is_same_line(one: LineRow, other: LineRow) -> bool:
    return one.line == other.line and one.file == other.file
