"""``info scope``: the variables of the blocks around a place."""

from __future__ import annotations

from msgspec import Struct

from rocdbg.addresses import FileAddress
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.reports.symbol_queries import Symbols
from rocdbg.dwarf.info import Function, InlinedSubroutine

LABEL_SIZE = 8
"""The size of an address in bytes, which GDB uses as the size of a label."""


class ScopeSymbol(Struct, frozen=True):
    """``info scope``: a local variable, its location as text, and its size."""

    name: str
    where: str
    length: int | None


def scope_symbols(symbols: Symbols, address: FileAddress) -> list[ScopeSymbol]:
    """Return the variables, labels and inlined call of the blocks around a file address, innermost first."""
    found = []
    program = symbols.program
    scopes = program.info.scopes_at(address) if program.has_debug_info else ()
    function = scopes[-1] if scopes else None
    for scope in scopes:
        if isinstance(scope, InlinedSubroutine) and scope.entry_pc is not None:  # GDB counts the call as a symbol
            at = program.to_loaded(scope.entry_pc)
            found.append(ScopeSymbol(Program.function_title(scope.function), f"a function at address {at:#x}", 1))
        for variable in scope.variables:
            if variable.name:
                where = symbols.where(variable, function if isinstance(function, Function) else None)
                found.append(ScopeSymbol(variable.name, where, variable.type.size))
        for label in scope.labels:
            at = program.to_loaded(label.address)
            found.append(ScopeSymbol(label.name, f"a label at address {at:#x}", LABEL_SIZE))
        if isinstance(scope, InlinedSubroutine):
            break
    if not scopes and program.has_debug_info:
        # assembly has no functions: its labels are the unit's, as in GDB
        unit = program.info.unit_at(address)
        for label in program.labels.of_unit(unit) if unit is not None else ():
            at = program.to_loaded(label.address)
            found.append(ScopeSymbol(label.name, f"a label at address {at:#x}", LABEL_SIZE))
    return found
