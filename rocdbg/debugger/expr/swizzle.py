"""Components of vectors by OpenCL's names."""

from __future__ import annotations

from rocdbg.debugger.errors import ExpressionError
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import VectorType

_COMPONENTS = "xyzw"


def swizzle(base: Value, name: str) -> Value:
    """``v.x``, ``v.s3``, ``v.xyz``, ``v.lo``: components of a vector as OpenCL names them."""
    element, count, stride = base.elements()
    indices = _swizzle_indices(name, count)
    if indices is None or any(index >= count for index in indices):
        raise ExpressionError(f"There is no member named {name}.")
    if len(indices) == 1:
        return base.element(indices[0])
    data = b"".join(base.element(index).contents() for index in indices)
    size = stride * (4 if len(indices) == 3 else len(indices))
    return Value(VectorType(element, len(indices), size), data=data.ljust(size, b"\0"))


def _swizzle_indices(name: str, count: int) -> list[int] | None:
    halves = {"lo": range((count + 1) // 2), "hi": range((count + 1) // 2, count),
              "even": range(0, count, 2), "odd": range(1, count, 2)}
    if name in halves:
        return list(halves[name])
    if name and all(letter in _COMPONENTS for letter in name):
        return [_COMPONENTS.index(letter) for letter in name]
    if name and all(letter in "rgba" for letter in name):
        return ["rgba".index(letter) for letter in name]
    if len(name) > 1 and name[0] in "sS" and all(c in "0123456789abcdefABCDEF" for c in name[1:]):
        return [int(c, 16) for c in name[1:]]
    return None
