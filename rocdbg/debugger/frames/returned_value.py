"""What a function returned, by the amdgcn calling convention.

Values come back in v0, v1, ... of each lane: every scalar of the flattened LLVM type takes one register (two when
it has 64 bits), except that pairs of 16-bit vector elements share one. Padding that clang spells out as bytes
counts too. Larger ones, and classes that cannot be copied byte by byte, go through memory.
"""

from __future__ import annotations

from rocdbg.arch.registers import vgpr_number
from rocdbg.debugger.target.state import Target
from rocdbg.debugger.values import ctypes
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info import Function
from rocdbg.dwarf.info.constants import At
from rocdbg.dwarf.info.types import ArrayType, ClassKind, ClassType, Type, VectorType, VoidType

MAX_COUNTED = 16
"""Registers an aggregate may take by clang's own count (`_counted`); beyond that it is returned in memory."""
MAX_REGISTERS = 32
"""Vector registers for a returned value; what takes more goes through memory as well."""

NOCALL = 3
"""DW_CC_nocall: the optimiser has changed the function's interface, such as dropped members nobody reads."""
PASS_BY_REFERENCE = 4
"""DW_CC_pass_by_reference of a class."""

Parts = list[tuple[int, int]]
"""(offset, size) in bytes of what gets registers of its own."""


def return_value(function: Function, target: Target, thread: int, lane: int | None) -> Value | None:
    """The value a function has just returned to one lane; ``None`` when it returns none that can be told."""
    type_ = function.return_type
    if isinstance(type_.strip_typedefs(), VoidType) or lane is None:
        return None
    if function.calling_convention == NOCALL or _is_by_reference(function):
        return None
    size = ctypes.size_of(type_)
    parts = _parts(type_, size)
    if parts is None or sum((part + 3) // 4 for _, part in parts) > MAX_REGISTERS:
        return None
    data = bytearray(size)
    register = 0
    wave_size = target.wave(thread).lane_count
    for offset, part in parts:
        for start in range(0, part, 4):
            count = min(4, part - start)
            whole = target.read_register(thread, vgpr_number(register, wave_size))
            data[offset + start : offset + start + count] = whole[4 * lane : 4 * lane + count]
            register += 1
    return Value(type_, data=bytes(data))


def _is_by_reference(function: Function) -> bool:
    """Whether the class that a function returns says that it is not passed as a value."""
    die = function.die.find_reference(At.TYPE)
    while die is not None:
        convention = die.number(At.CALLING_CONVENTION)
        if convention is not None:
            return convention == PASS_BY_REFERENCE
        die = die.find_reference(At.TYPE)
    return False


def _parts(type_: Type, size: int) -> Parts | None:
    """The parts of a returned value; ``None`` where it is in memory or not known."""
    stripped = type_.strip_typedefs()
    if isinstance(stripped, ClassType):
        if _is_flexible(stripped) or _counted(stripped) > MAX_COUNTED:
            return None
        if size <= 8:  # small structures are packed into one or two registers
            return [] if _is_empty(stripped) else [(at, min(4, size - at)) for at in range(0, size, 4)]
    return _flatten(stripped, 0)


def _counted(type_: Type) -> int:
    """Registers as clang counts them when it decides between registers and memory: 32 bits of a member each."""
    stripped = type_.strip_typedefs()
    if isinstance(stripped, ClassType):
        return sum(_counted(member.type) for member in stripped.members)
    return (ctypes.size_of(stripped) + 3) // 4


def _is_flexible(type_: ClassType) -> bool:
    last = type_.members[-1].type.strip_typedefs() if type_.members else None
    return isinstance(last, ArrayType) and last.count is None


def _is_empty(type_: ClassType) -> bool:
    """A class without data: it has no place of its own in another."""
    if type_.members:
        return False
    return all(isinstance(base := b.type.strip_typedefs(), ClassType) and _is_empty(base) for b in type_.bases)


def _flatten(type_: Type, offset: int) -> Parts | None:
    """The scalars of a type at an offset; ``None`` when not known."""
    stripped = type_.strip_typedefs()
    if isinstance(stripped, ClassType):
        return _flatten_class(stripped, offset)
    if isinstance(stripped, ArrayType | VectorType):
        element, count = stripped.element, stripped.count
        if not isinstance(count, int):
            return None
        size = ctypes.size_of(element)
        if isinstance(stripped, VectorType) and size == 2:
            return [(offset + at, min(4, 2 * count - at)) for at in range(0, 2 * count, 4)]
        parts: Parts = []
        for index in range(count):
            inner = _flatten(element, offset + index * size)
            if inner is None:
                return None
            parts += inner
        return parts
    return [(offset, ctypes.size_of(stripped))]


def _flatten_class(type_: ClassType, offset: int) -> Parts | None:
    if type_.bases and not _is_empty(type_):
        return None
    if any(member.bit_offset is None or member.bit_size is not None for member in type_.members):
        return None
    placed = [((member.bit_offset or 0) // 8, member.type) for member in type_.members]
    placed = [(at, inner) for at, inner in placed if not _is_empty_class(inner)]
    if type_.kind is ClassKind.UNION and placed:
        # LLVM knows a union as its most aligned, then largest member, and bytes behind it
        placed = [max(placed, key=lambda entry: (_alignment(entry[1]), ctypes.size_of(entry[1])))]
    parts: Parts = []
    end = 0
    for at, inner_type in placed:
        parts += _padding(end, at, _alignment(inner_type), offset)
        inner = _flatten(inner_type, offset + at)
        if inner is None:
            return None
        parts += inner
        end = at + ctypes.size_of(inner_type)
    size = ctypes.size_of(type_)
    alignment = max((_alignment(inner) for _, inner in placed), default=1)
    return parts + _padding(end, size, 1 if type_.kind is ClassKind.UNION else alignment, offset)


def _padding(end: int, start: int, alignment: int, offset: int) -> Parts:
    """Bytes that are members of the LLVM type because alignment alone does not lead to where the next one is."""
    natural = -(-end // alignment) * alignment
    return [] if start == natural else [(offset + at, 1) for at in range(end, start)]


def _is_empty_class(type_: Type) -> bool:
    stripped = type_.strip_typedefs()
    return isinstance(stripped, ClassType) and _is_empty(stripped)


def _alignment(type_: Type) -> int:
    """The alignment LLVM gives a type by itself, in bytes."""
    stripped = type_.strip_typedefs()
    if isinstance(stripped, ClassType):
        return max((_alignment(member.type) for member in stripped.members), default=1)
    if isinstance(stripped, ArrayType):
        return _alignment(stripped.element)
    size = ctypes.size_of(stripped)
    return 1 << max(size - 1, 0).bit_length()
