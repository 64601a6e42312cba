"""What a function returned, by the amdgcn calling convention.

Values come back in v0, v1, ... of each lane: every scalar of the flattened type takes one register (two when
it has 64 bits), except that pairs of 16-bit vector elements share one. Larger ones go through memory.
"""

from __future__ import annotations

from rocdbg.arch.registers import vgpr_number
from rocdbg.debugger import ctypes
from rocdbg.debugger.target import Target
from rocdbg.debugger.values import Value
from rocdbg.dwarf.info import Function
from rocdbg.dwarf.info.types import ArrayType, ClassType, Type, VectorType, VoidType

MAX_REGISTERS = 16
"""Registers a returned aggregate may take; beyond that clang returns it in memory."""

NOCALL = 3
"""DW_CC_nocall: the optimiser has changed the function's interface, such as dropped members nobody reads."""


def _flatten(type_: Type, offset: int) -> list[tuple[int, int]] | None:
    """(offset, size) of the parts that get registers of their own; ``None`` when not known."""
    stripped = type_.strip_typedefs()
    if isinstance(stripped, ClassType):
        parts: list[tuple[int, int]] = []
        for member in stripped.members:
            if member.bit_offset is None or member.bit_size is not None:
                return None
            inner = _flatten(member.type, offset + member.bit_offset // 8)
            if inner is None:
                return None
            parts += inner
        return parts if not stripped.bases else None
    if isinstance(stripped, ArrayType | VectorType):
        element, count = stripped.element, stripped.count
        if not isinstance(count, int):
            return None
        size = ctypes.size_of(element)
        if isinstance(stripped, VectorType) and size == 2:
            return [(offset + at, min(4, 2 * count - at)) for at in range(0, 2 * count, 4)]
        parts = []
        for index in range(count):
            inner = _flatten(element, offset + index * size)
            if inner is None:
                return None
            parts += inner
        return parts
    return [(offset, ctypes.size_of(stripped))]


def return_value(function: Function, target: Target, thread: int, lane: int | None) -> Value | None:
    """The value a function has just returned to one lane; ``None`` when it returns none that can be told."""
    type_ = function.return_type
    if isinstance(type_.strip_typedefs(), VoidType) or lane is None:
        return None
    if function.calling_convention == NOCALL:
        return None
    size = ctypes.size_of(type_)
    if isinstance(type_.strip_typedefs(), ClassType) and size <= 8:
        # small structures are packed into one or two registers
        parts: list[tuple[int, int]] | None = [(at, min(4, size - at)) for at in range(0, size, 4)]
    else:
        parts = _flatten(type_, 0)
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
