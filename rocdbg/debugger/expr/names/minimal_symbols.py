"""Symbols that debug information says nothing of: values of types without a size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.codeobject.elf_symbols import SymbolType
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_storage import MemoryStorage
from rocdbg.dwarf.info.types import FunctionType, Type, UnspecifiedType

if TYPE_CHECKING:
    from rocdbg.debugger.expr.environments.program_environment import ProgramEnvironment

NO_DEBUG_DATA = UnspecifiedType("<data variable, no debug info>")


def minimal_symbol(environment: ProgramEnvironment, name: str) -> Value | None:
    """What the symbol table alone knows by a name; there must be a program."""
    program = environment.program
    assert program is not None
    symbol = program.code_object.symbols.get(name)
    address = program.symbol_address(name)
    if symbol is None or address is None or symbol.is_absolute:
        return None
    is_code = symbol.type in (SymbolType.FUNC, SymbolType.AMDGPU_HSA_KERNEL)
    if is_code:
        address = program.to_loaded(program.code_object.entry_address_of(symbol))
    type_: Type = FunctionType(c_types.INT, prototyped=False) if is_code else NO_DEBUG_DATA
    return Value(type_, MemoryStorage(environment.memory, 0, address))
