"""Types that a program need not declare: OpenCL's and HIP's vector types, fixed-width integers."""

from __future__ import annotations

import re

from rocdbg.debugger.base.digits import decimal
from rocdbg.debugger.values import c_types
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
    "char": c_types.CHAR, "uchar": c_types.UNSIGNED_CHAR, "short": c_types.SHORT, "ushort": c_types.UNSIGNED_SHORT,
    "int": c_types.INT, "uint": c_types.UNSIGNED_INT, "long": c_types.LONG, "ulong": c_types.UNSIGNED_LONG,
    "half": c_types.HALF, "float": c_types.FLOAT, "double": c_types.DOUBLE,
}
_VECTOR = re.compile("(" + "|".join(_ELEMENTS) + ")(2|3|4|8|16)")
_ALIASES: dict[str, Type] = {
    "int8_t": c_types.SIGNED_CHAR, "uint8_t": c_types.UNSIGNED_CHAR, "int16_t": c_types.SHORT,
    "uint16_t": c_types.UNSIGNED_SHORT, "int32_t": c_types.INT, "uint32_t": c_types.UNSIGNED_INT,
    "int64_t": c_types.LONG, "uint64_t": c_types.UNSIGNED_LONG, "size_t": c_types.UNSIGNED_LONG,
    "ssize_t": c_types.LONG, "intptr_t": c_types.LONG, "uintptr_t": c_types.UNSIGNED_LONG,
    "ptrdiff_t": c_types.LONG, "uchar": c_types.UNSIGNED_CHAR, "ushort": c_types.UNSIGNED_SHORT,
    "uint": c_types.UNSIGNED_INT, "ulong": c_types.UNSIGNED_LONG, "half": c_types.HALF,
    "__half": c_types.HALF, "bfloat16": c_types.BFLOAT16, "float16": c_types.HALF,
}


_OPENCL = frozenset(("uchar", "ushort", "uint", "ulong", "size_t", "ptrdiff_t", "intptr_t", "uintptr_t"))


def builtin_type(name: str) -> Type | None:
    """Return the type of this name if programs need not define it, otherwise ``None``."""
    match = _VECTOR.fullmatch(name)
    if match is not None:
        return _named_vector(name, _ELEMENTS[match[1]], decimal(match[2]))
    alias = _ALIASES.get(name)
    return TypedefType(name, alias, name) if alias is not None else None


def is_opencl_type(name: str) -> bool:
    """Whether OpenCL defines a vector or integer type of this name."""
    return _VECTOR.fullmatch(name) is not None or name in _OPENCL


def _named_vector(name: str, element: Type, count: int) -> Type:
    size = c_types.size_of(element) * (4 if count == 3 else count)
    return TypedefType(name, VectorType(numeric(element), count, size), name)


def vector_of(element: Type, count: int) -> Type:
    """Return the vector of ``count`` elements, with OpenCL's name (``float4``) if it has one."""
    bare = element.bare
    for name, own in _ELEMENTS.items() if not isinstance(element, TypedefType) else ():
        if c_types.is_float(own) == c_types.is_float(bare) and (own.integer, own.size) == (bare.integer, bare.size):
            return _named_vector(f"{name}{count}", own, count)
    return VectorType(element, count, c_types.size_of(element) * (4 if count == 3 else count))


def _dim3() -> ClassType:
    members = tuple(Member(name, c_types.UNSIGNED_INT, 32 * i) for i, name in enumerate("xyz"))
    return ClassType(ClassKind.STRUCT, "uint3", "uint3", 12, lambda: ClassBody(members))


DIM3 = _dim3()
"""The type of HIP's ``threadIdx`` and similar variables: ``{x, y, z}``."""
