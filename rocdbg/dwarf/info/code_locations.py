"""Finds the addresses of breakpoints for functions and lines, by GDB's rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.addresses import FileAddress
from rocdbg.dwarf.info.model import CodeLocation, SourceFile
from rocdbg.dwarf.info.scopes import Function, InlinedSubroutine, Scope

if TYPE_CHECKING:
    from rocdbg.dwarf.info.debug_info import DebugInfo


def function_locations(info: DebugInfo, function: Function) -> list[CodeLocation]:
    """The address after the prologue of the function's own code, and the entry of each inlined instance."""
    found = []
    address = info.breakpoint_address(function)
    if address is not None:
        found.append(location_at(info, address))
    for instance in info.inlined_instances(function):
        if instance.entry_pc is not None:
            found.append(location_at(info, instance.entry_pc))
    return found


def line_locations(info: DebugInfo, files: set[SourceFile], line: int) -> list[CodeLocation]:
    """Where to stop for a line of the files: see ``DebugInfo.addresses_of``."""
    concerned = [(table, numbers) for table in info.line_tables if (numbers := table.numbers_of(files))]
    firsts = [table.first_statement_line(numbers, line) for table, numbers in concerned]
    best = min((first for first in firsts if first is not None), default=None)
    if best is None:
        return []
    rows = [FileAddress(address) for table, numbers in concerned for address in table.statements(numbers, best)]
    found: dict[Scope | None, FileAddress] = {}
    for address in sorted(rows):
        scope = _code_of(info, address)
        if scope not in found or _is_skipped(info, scope, found[scope]):
            found[scope] = address
    return sorted(
        (_line_location(info, scope, address) for scope, address in found.items()),
        key=lambda location: location.address,
    )


def _code_of(info: DebugInfo, address: FileAddress) -> Scope | None:
    """The innermost function or inlined instance at an address; each of them gets one location."""
    scopes = info.scopes_at(address)
    return next((scope for scope in scopes if isinstance(scope, Function | InlinedSubroutine)), None)


def _is_skipped(info: DebugInfo, scope: Scope | None, address: FileAddress) -> bool:
    """Whether an address is in the code before the start of its function."""
    if not isinstance(scope, Function) or scope.entry_pc is None:
        return False
    return scope.entry_pc <= address < info.starts(scope.entry_pc)


def _line_location(info: DebugInfo, scope: Scope | None, address: FileAddress) -> CodeLocation:
    """The location, moved to the end of the prologue when it is the start of a function."""
    if isinstance(scope, Function) and (address == scope.entry_pc or _is_skipped(info, scope, address)):
        address = info.breakpoint_address(scope) or address
    elif scope is None:  # the unit has only line tables
        address = info.starts(address)
    return location_at(info, address)


def location_at(info: DebugInfo, address: FileAddress) -> CodeLocation:
    """The location of an address: its line, and the innermost function, inlined or not."""
    row = info.line_at(address)
    scope = _code_of(info, address)
    function = scope.function if isinstance(scope, InlinedSubroutine) else scope
    return CodeLocation(
        address, None if row is None else row.file, 0 if row is None else row.line,
        function if isinstance(function, Function) else None,
    )
