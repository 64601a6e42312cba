"""The values that functions return: in vector registers by clang's calling convention, in s24 and s25 by GCC's.

`finish` and calls of functions read a value right after the return; `return` writes one to the registers of
`returned_parts`.
"""

from __future__ import annotations

from rocdbg.arch.dwarf_registers import sgpr_number, vgpr_number
from rocdbg.debugger.frames.calling_convention import (
    Parts,
    UnknownPassingError,
    is_by_reference,
    is_clangs,
    is_gccs,
    parts,
)
from rocdbg.debugger.target.capabilities.target_state import Target
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info import Function
from rocdbg.dwarf.info.constants import At
from rocdbg.dwarf.info.types import BaseType, Encoding, EnumType, PointerType, Type, VoidType

MAX_REGISTERS = 32
"""Vector registers for a returned value; larger values are returned in memory."""
_GCC_RESULT = (24, 25)
"""The scalar registers in which GCC's functions return a value."""


def returned_parts(type_: Type, by_reference: bool) -> Parts | None:
    """Return the parts of a returned value; ``None`` if it is returned in memory. Raises `UnknownPassingError`."""
    if by_reference:
        return None
    found = parts(type_, c_types.size_of(type_))
    if found is None or sum((part + 3) // 4 for _, part in found) > MAX_REGISTERS:
        return None
    return found


def return_value(function: Function, target: Target, thread: int, lane: int | None) -> Value | None:
    """Return what a function has just returned to one lane; ``None`` if it returns nothing or the value is not known.
    """
    type_ = function.return_type
    if isinstance(type_.strip_typedefs(), VoidType) or lane is None:
        return None
    if is_gccs(function):
        return _of_gccs(type_, target, thread)
    if not is_clangs(function):
        return None
    try:
        return value_in_registers(type_, returns_by_reference(function), target, thread, lane)
    except UnknownPassingError:
        return None


def _of_gccs(type_: Type, target: Target, thread: int) -> Value | None:
    """Return a scalar result of code compiled by GCC, which is in s24 and s25."""
    bare = type_.strip_typedefs()
    if not isinstance(bare, BaseType | EnumType | PointerType) or c_types.size_of(bare) > 8 or _is_complex(bare):
        return None
    data = b"".join(target.read_register(thread, sgpr_number(register)) for register in _GCC_RESULT)
    return Value(type_, data=data[: c_types.size_of(bare)])


def _is_complex(type_: Type) -> bool:
    return isinstance(type_, BaseType) and type_.encoding is Encoding.COMPLEX_FLOAT


def returns_by_reference(function: Function) -> bool:
    """Whether the class that a function returns is marked as not passed by value."""
    return is_by_reference(function.die.find_reference(At.TYPE))


def value_in_registers(type_: Type, by_reference: bool, target: Target, thread: int, lane: int) -> Value | None:
    """Return a value of a type that was just returned to a lane; ``None`` where it was returned in memory.

    Raises `UnknownPassingError`.
    """
    placed = returned_parts(type_, by_reference)
    if placed is None:
        return None
    data = bytearray(c_types.size_of(type_))
    register = 0
    wave_size = target.wave(thread).lane_count
    for offset, part in placed:
        for start in range(0, part, 4):
            count = min(4, part - start)
            whole = target.read_register(thread, vgpr_number(register, wave_size))
            data[offset + start : offset + start + count] = whole[4 * lane : 4 * lane + count]
            register += 1
    return Value(type_, data=bytes(data))
