"""`info vtbl`: the virtual functions of an object (Itanium C++ ABI, 2.5)."""

from __future__ import annotations

from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.expr.dynamic_types import is_polymorphic
from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.expr.program_data import Data
from rocdbg.debugger.expr.value_access import follow
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_text import Formatter
from rocdbg.dwarf.info.types import ClassType, Type

NO_TABLE = "This object does not have a virtual function table"
MOST_SLOTS = 1 << 16


def table_lines(text: str, data: Data) -> list[str]:
    """The tables of an object, or of what a pointer or reference leads to, with their functions.

    Raises `DebuggerError` for what has no virtual functions.
    """
    environment = data.environment()
    value = follow(data.evaluate(text), environment)
    if c_types.is_pointer(value.type):
        type_ = c_types.target_of(value.type)
        value = environment.at_address(type_, c_types.pointer_space(value.type), value.as_int())
    if not isinstance(value.bare, ClassType) or not is_polymorphic(value.type, environment):
        raise DebuggerError(NO_TABLE)
    lines: list[str] = []
    formatter = data.formatter()
    tables = _tables(_parts(value, environment), environment)
    for place in sorted(tables):
        part, last_slot = tables[place]
        if last_slot >= 0:
            lines += _table(part, last_slot, environment, formatter, bool(lines))
    return lines


def _tables(parts: list[Value], environment: Environment) -> dict[int, tuple[Value, int]]:
    """The first part at each place, with the highest slot that any class there declares a function for, else -1."""
    found: dict[int, tuple[Value, int]] = {}
    for part in parts:
        address = part.address
        if address is not None:
            first, highest = found.get(address.value, (part, -1))
            found[address.value] = first, max(highest, _last_slot(part.bare, environment))
    return found


def _parts(value: Value, environment: Environment) -> list[Value]:
    """The object and its polymorphic bases."""
    class_ = environment.complete_type(value.bare)
    found = [value]
    if isinstance(class_, ClassType):
        for base in class_.bases:
            if base.byte_offset is not None and is_polymorphic(base.type, environment):
                found += _parts(value.base(base), environment)
    return found


def _table(
    part: Value, last_slot: int, environment: Environment, formatter: Formatter, is_further: bool
) -> list[str]:
    """The table of one part."""
    address = part.address
    assert address is not None
    table = int.from_bytes(environment.memory.read(address.space, address.value, 8), "little")
    lines = [""] if is_further else []
    place = formatter.address(address.space, address.value)
    lines.append(f"vtable for '{part.bare}' @ {table:#x} (subobject @ {place}):")
    for slot in range(min(1 + last_slot, MOST_SLOTS)):
        function = int.from_bytes(environment.memory.read(0, table + 8 * slot, 8), "little")
        lines.append(f"[{slot}]: {formatter.address(0, function, symbol=True)}")
    return lines


def _last_slot(type_: Type, environment: Environment) -> int:
    """The highest slot of the virtual functions that a class declares; -1 for none."""
    class_ = environment.complete_type(type_.strip_typedefs().strip_qualifiers())
    if not isinstance(class_, ClassType):
        return -1
    slots = [method.vtable_slot for method in class_.methods if method.virtual and method.vtable_slot is not None]
    return max([-1, *slots])
