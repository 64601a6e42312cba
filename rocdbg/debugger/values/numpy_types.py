"""NumPy's equivalents of C types."""

from __future__ import annotations

from typing import Any

import numpy as np

from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import PlacedBase, PlacedMember
from rocdbg.dwarf.info.types import ArrayType, ClassType, Type, VectorType

_MAX_DEPTH = 20


def dtype_of(type_: Type, depth: int = 0) -> np.dtype[Any]:
    """Return the NumPy type for the bytes of a value; plain bytes if there is no equivalent.

    Pointers and enumerations become integers, arrays and vectors subarrays, structures nested fields. Bit-fields,
    virtual bases and bfloat16 have no equivalent: a class with one of the first two becomes plain bytes, bfloat16 an
    unsigned integer.
    """
    size, bare = c_types.size_of(type_), type_.bare
    if c_types.is_bool(bare) and size == 1:
        return np.dtype(np.bool_)
    if c_types.is_float(bare) and not c_types.is_complex(bare) and not c_types.is_bfloat(bare) and size in (2, 4, 8):
        return np.dtype(f"f{size}")
    if c_types.is_scalar(bare) and size in (1, 2, 4, 8):
        return np.dtype(f"{'i' if c_types.is_integral(bare) and c_types.is_signed(bare) else 'u'}{size}")
    raw = np.dtype(("V", size)) if size else np.dtype("V1")
    if depth > _MAX_DEPTH:
        return raw
    if isinstance(bare, VectorType | ArrayType) and isinstance(bare.count, int) and bare.count:
        element = dtype_of(bare.element, depth + 1)
        return np.dtype((element, (bare.count,))) if element.itemsize * bare.count == size else raw
    if isinstance(bare, ClassType):
        return _of_class(bare, size, depth) or raw
    return raw


def _of_class(bare: ClassType, size: int, depth: int) -> np.dtype[Any] | None:
    body = bare.read_body()
    names, formats, offsets = list[str](), list[Any](), list[int]()
    parts = [
        (str(base.type), base.type, base.byte_offset, base.virtual or isinstance(base, PlacedBase))
        for base in body.bases
    ]
    for member in body.members:
        whole = member.bit_offset is not None and not member.bit_offset % 8 and member.bit_size is None
        whole = whole and not isinstance(member, PlacedMember)
        offset = (member.bit_offset or 0) // 8 if whole else None
        parts.append((member.name or "", member.type, offset, False))
    for name, type_, offset, virtual in parts:
        if offset is None or virtual or not name or name in names:
            return None
        kind = dtype_of(type_, depth + 1)
        if offset + kind.itemsize > size:
            return None
        names.append(name)
        formats.append(kind)
        offsets.append(offset)
    if not names:
        return None
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size})


__all__ = ["dtype_of"]
