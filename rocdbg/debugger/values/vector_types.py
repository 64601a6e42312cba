"""Types that a program need not declare: OpenCL's and HIP's vector types, fixed-width integers."""

from __future__ import annotations

import re

from rocdbg.debugger.digits import decimal
from rocdbg.debugger.values import ctypes
from rocdbg.dwarf.info.types import (
    ClassBody,
    ClassKind,
    ClassType,
    Member,
    Type,
    TypedefType,
    VectorType,
    numeric,
)

_ELEMENTS: dict[str, Type] = {
    "char": ctypes.CHAR, "uchar": ctypes.UNSIGNED_CHAR, "short": ctypes.SHORT, "ushort": ctypes.UNSIGNED_SHORT,
    "int": ctypes.INT, "uint": ctypes.UNSIGNED_INT, "long": ctypes.LONG, "ulong": ctypes.UNSIGNED_LONG,
    "half": ctypes.HALF, "float": ctypes.FLOAT, "double": ctypes.DOUBLE,
}
_VECTOR = re.compile("(" + "|".join(_ELEMENTS) + ")(2|3|4|8|16)")
_ALIASES: dict[str, Type] = {
    "int8_t": ctypes.SIGNED_CHAR, "uint8_t": ctypes.UNSIGNED_CHAR, "int16_t": ctypes.SHORT,
    "uint16_t": ctypes.UNSIGNED_SHORT, "int32_t": ctypes.INT, "uint32_t": ctypes.UNSIGNED_INT,
    "int64_t": ctypes.LONG, "uint64_t": ctypes.UNSIGNED_LONG, "size_t": ctypes.UNSIGNED_LONG,
    "ssize_t": ctypes.LONG, "intptr_t": ctypes.LONG, "uintptr_t": ctypes.UNSIGNED_LONG,
    "ptrdiff_t": ctypes.LONG, "uchar": ctypes.UNSIGNED_CHAR, "ushort": ctypes.UNSIGNED_SHORT,
    "uint": ctypes.UNSIGNED_INT, "ulong": ctypes.UNSIGNED_LONG, "half": ctypes.HALF,
    "__half": ctypes.HALF, "bfloat16": ctypes.BFLOAT16, "float16": ctypes.HALF,
}


_OPENCL = frozenset(("uchar", "ushort", "uint", "ulong", "size_t", "ptrdiff_t", "intptr_t", "uintptr_t"))


def builtin_type(name: str) -> Type | None:
    """The type of this name where no program has to define it, ``None`` otherwise."""
    match = _VECTOR.fullmatch(name)
    if match is not None:
        return _named_vector(name, _ELEMENTS[match[1]], decimal(match[2]))
    alias = _ALIASES.get(name)
    return TypedefType(name, alias, name) if alias is not None else None


def is_opencl_type(name: str) -> bool:
    """Whether OpenCL has a vector or an integer of its own by this name."""
    return _VECTOR.fullmatch(name) is not None or name in _OPENCL


def _named_vector(name: str, element: Type, count: int) -> Type:
    size = ctypes.size_of(element) * (4 if count == 3 else count)
    return TypedefType(name, VectorType(numeric(element), count, size), name)


def vector_of(element: Type, count: int) -> Type:
    """The vector of ``count`` elements as OpenCL names it (``float4``), else without a name."""
    bare = element.bare
    for name, own in _ELEMENTS.items() if not isinstance(element, TypedefType) else ():
        if ctypes.is_float(own) == ctypes.is_float(bare) and (own.integer, own.size) == (bare.integer, bare.size):
            return _named_vector(f"{name}{count}", own, count)
    return VectorType(element, count, ctypes.size_of(element) * (4 if count == 3 else count))


def _dim3() -> ClassType:
    members = tuple(Member(name, ctypes.UNSIGNED_INT, 32 * i) for i, name in enumerate("xyz"))
    return ClassType(ClassKind.STRUCT, "uint3", "uint3", 12, lambda: ClassBody(members))


DIM3 = _dim3()
"""The type of HIP's ``threadIdx`` and its like: ``{x, y, z}``."""
