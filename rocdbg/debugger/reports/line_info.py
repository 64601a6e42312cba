"""``info line``: the code of a source line, or the place where it would be."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from rocdbg.addresses import FileAddress, LoadedAddress
from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.reports.symbol_queries import Symbols
from rocdbg.dwarf.info import LineRow, SourceFile


class LineInfo(Struct, frozen=True):
    """``info line``: the code of a line as loaded. ``low == high`` if the line has no code."""

    file: SourceFile
    line: int
    low: int
    high: int
    low_name: str | None
    high_name: str | None
    has_code: bool = True


def line_info(symbols: Symbols, file: SourceFile, line: int, address: int | None = None) -> LineInfo:
    """Return the first code of a line, or the code around a loaded address; without code, where it would be.

    The first program that has code for the line is used, otherwise the first with code for the file.
    """
    having = [one for one in symbols.programs if one.has_debug_info and file in one.info.source_files]
    program = next((one for one in having if one.info.rows_of_line(file, line)), (having or [symbols.program])[0])
    if address is not None:
        around = program.info.line_at(program.to_file(LoadedAddress(address)))
        if around is not None:
            return _info(symbols, program, file, line, around.address, _end(program, around))
    rows = [row for row in program.info.rows_of_line(file, line) if row.is_stmt]
    if rows:
        return _info(symbols, program, file, line, rows[0].address, _end(program, rows[0]))
    for where in program.expansions.lines_of(file, line):
        return line_info(symbols, *where)
    following = [n for n in program.info.lines_with_code(file) if n > line]
    if not following:
        raise DebuggerError(f'Line number {line} is out of range for "{file.name}".')
    rows = program.info.rows_of_line(file, following[0])
    at = rows[0].address if rows else FileAddress(0)
    return replace(_info(symbols, program, file, line, at, at), has_code=False)


def _end(program: Program, row: LineRow) -> FileAddress:
    """Return where the next row begins."""
    if row.end_address > row.address:
        return row.end_address
    last = program.info.line_at(row.address)
    return last.end_address if last is not None else row.address


def _info(
    symbols: Symbols, program: Program, file: SourceFile, line: int, start: FileAddress, end: FileAddress
) -> LineInfo:
    low, high = program.to_loaded(start), program.to_loaded(end)
    low_name = program.symbolize(low, data=False, mangled=symbols.mangled)
    return LineInfo(file, line, low, high, low_name, program.symbolize(high, data=False, mangled=symbols.mangled))
