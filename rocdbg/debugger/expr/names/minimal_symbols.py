"""Symbols without debug information: code and data of unknown type, and numbers.

Assembly has little else. Its absolute symbols (``.set``, ``.equ``) are numbers for use in operands, mostly register
numbers. They are treated as numbers here, although GDB treats them as variables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_storage import MemoryStorage
from rocdbg.dwarf.info.types import FunctionType, TypedefType, UnspecifiedType

if TYPE_CHECKING:
    from rocdbg.debugger.expr.environments.program_environment import ProgramEnvironment

NO_DEBUG_TEXT = TypedefType(
    "<text variable, no debug info>", FunctionType(UnspecifiedType("<unknown return type>"), prototyped=False)
)
NO_DEBUG_DATA = UnspecifiedType("<data variable, no debug info>")


def minimal_symbol(environment: ProgramEnvironment, name: str) -> Value | None:
    """Return what the symbol table alone says about a name; there must be a program."""
    program = environment.program
    assert program is not None
    symbol = program.code_object.symbols.get(name)
    if symbol is not None and symbol.is_absolute:
        return _number(symbol.value)
    address = program.symbol_address(name)
    if symbol is None:
        labels = program.labels.named(name)
        place = program.to_loaded(labels[0].address) if labels else None
        return Value(NO_DEBUG_TEXT, MemoryStorage(environment.memory, 0, place)) if place is not None else None
    if address is None:
        return None
    is_code = program.code_object.is_code(symbol)
    if is_code:
        address = program.to_loaded(program.code_object.entry_address_of(symbol))
    return Value(NO_DEBUG_TEXT if is_code else NO_DEBUG_DATA, MemoryStorage(environment.memory, 0, address))


def need_type(value: Value, name: str) -> None:
    """Raise `ExpressionError` for a symbol of unknown type: it has an address, but no value until it is cast."""
    if value.type is NO_DEBUG_DATA:
        raise ExpressionError(f"'{name}' has unknown type; cast it to its declared type")


def _number(value: int) -> Value:
    """Return the value of an absolute symbol: like a number in source text, an ``int`` if it is small enough."""
    signed = value - (value >> 63 << 64)
    return Value.of_int(c_types.INT if -(1 << 31) <= signed < 1 << 31 else c_types.LONG, signed)
