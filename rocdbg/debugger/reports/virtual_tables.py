"""`info vtbl`: the virtual functions of an object (Itanium C++ ABI, 2.5)."""

from __future__ import annotations

from rocdbg.debugger.errors import DebuggerError
from rocdbg.debugger.expr.access import follow
from rocdbg.debugger.expr.data import Data
from rocdbg.debugger.expr.environment import Environment
from rocdbg.debugger.expr.runtime_types import is_polymorphic
from rocdbg.debugger.values import ctypes
from rocdbg.debugger.values.formatting import Formatter
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import ClassType, Type

NO_TABLE = "This object does not have a virtual function table"
MOST_SLOTS = 1 << 16


def table_lines(text: str, data: Data) -> list[str]:
    """The tables of an object, or of what a pointer or reference leads to, with their functions.

    Raises `DebuggerError` for what has no virtual functions.
    """
    environment = data.environment()
    value = follow(data.evaluate(text), environment)
    if ctypes.is_pointer(value.type):
        type_ = ctypes.target_of(value.type)
        value = environment.at_address(type_, ctypes.pointer_space(value.type), value.as_int())
    if not isinstance(value.bare, ClassType) or not is_polymorphic(value.type, environment):
        raise DebuggerError(NO_TABLE)
    lines: list[str] = []
    seen: set[int] = set()
    formatter = data.formatter()
    for part in _parts(value, environment):
        lines += _table(part, seen, environment, formatter, bool(lines))
    return lines


def _parts(value: Value, environment: Environment) -> list[Value]:
    """The object and its polymorphic bases."""
    class_ = environment.complete_type(value.bare)
    found = [value]
    if isinstance(class_, ClassType):
        for base in class_.bases:
            if base.byte_offset is not None and is_polymorphic(base.type, environment):
                found += _parts(value.part(base.type, base.byte_offset), environment)
    return found


def _table(
    part: Value, seen: set[int], environment: Environment, formatter: Formatter, is_further: bool
) -> list[str]:
    """The table of one part, if none at the same place was shown."""
    address = part.address
    if address is None or address.value in seen:
        return []
    seen.add(address.value)
    slots = 1 + _last_slot(part.bare, environment, 100)
    if not slots:
        return []
    table = int.from_bytes(environment.memory.read(address.space, address.value, 8), "little")
    lines = [""] if is_further else []
    place = formatter.address(address.space, address.value)
    lines.append(f"vtable for '{part.bare}' @ {table:#x} (subobject @ {place}):")
    for slot in range(min(slots, MOST_SLOTS)):
        function = int.from_bytes(environment.memory.read(0, table + 8 * slot, 8), "little")
        lines.append(f"[{slot}]: {formatter.address(0, function, symbol=True)}")
    return lines


def _last_slot(type_: Type, environment: Environment, depth: int) -> int:
    """The highest slot of a virtual function of a class and its bases at the same place; -1 for none."""
    class_ = environment.complete_type(type_.strip_typedefs().strip_qualifiers())
    if not isinstance(class_, ClassType) or depth == 0:
        return -1
    slots = [method.vtable_slot for method in class_.methods if method.virtual and method.vtable_slot is not None]
    inherited = (_last_slot(base.type, environment, depth - 1) for base in class_.bases)
    return max([-1, *slots, *inherited])
