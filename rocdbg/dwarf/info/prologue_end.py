"""Where a function's prologue ends: at the line table's mark, or at the function's second line (GDB's rule)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.addresses import FileAddress
from rocdbg.dwarf.info.model import LineRow
from rocdbg.dwarf.info.scopes import Function

if TYPE_CHECKING:
    from rocdbg.dwarf.info.debug_info import DebugInfo


def prologue_end(info: DebugInfo, function: Function) -> FileAddress | None:
    """The address after the prologue of a function's own code; None if it has no code.

    It is the start of the function if no instruction begins at the end of the prologue, or if execution can reach a
    line before that end without passing it.
    """
    entry = function.entry_pc
    if entry is None:
        return None
    start = info.starts(entry)
    rows = info.lines_of(function)
    found = after_prologue(rows, entry, start)
    behind = any(row.is_stmt and row.line and start < row.address < found for row in rows)
    if not info.is_code(start, found) or (behind and info.can_be_passed_by(start, found)):
        return start
    return found


def after_prologue(rows: list[LineRow], entry: FileAddress, start: FileAddress) -> FileAddress:
    """The address after a function's prologue. ``rows`` are the function's rows, ``entry`` is where it is entered, and
    ``start`` is where its execution begins.

    If the compiler marked the end of the prologue, that is the address. Otherwise it is the address of the second line:
    the first row after the entry's that has a line (GDB's rule, which works because compilers write one row for the
    opening brace and one for the first statement). If there is only one line, it is the start. If the prologue would
    end before ``start``, the function has no prologue, and the address is ``start``.
    """
    marked = [row.address for row in rows if row.prologue_end and row.address >= entry]
    if marked:
        return next((address for address in marked if address >= start), start)
    for row in rows:
        if row.address > start and row.line != 0 and row.is_stmt:
            return row.address
    return start
