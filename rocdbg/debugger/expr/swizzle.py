"""Components of vectors by OpenCL's names."""

from __future__ import annotations

from msgspec import Struct

from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_storage import Nowhere
from rocdbg.debugger.values.vector_types import vector_of
from rocdbg.dwarf.info.types import Type

_COMPONENTS = "xyzw"
_COUNTS = (1, 2, 3, 4, 8, 16)
"""Components that a vector can have."""


class ComponentStorage(Nowhere, Struct, frozen=True):
    """Components of a vector that lives somewhere, in the order and as often as they were named.

    ``stride`` is the bytes of a component. What lies behind the last one (of three, the place of a fourth) is zero.
    """

    vector: Value
    indices: tuple[int, ...]
    stride: int

    def read(self, offset: int, size: int) -> bytes:
        data = b"".join(self.vector.element(index).contents() for index in self.indices)
        return data.ljust(offset + size, b"\0")[offset : offset + size]

    def write(self, offset: int, data: bytes) -> None:
        for at in range(offset, min(offset + len(data), len(self.indices) * self.stride), self.stride):
            element = self.vector.element(self.indices[at // self.stride])
            element.store(data[at - offset : at - offset + self.stride])


def swizzle(base: Value, name: str) -> Value:
    """``v.x``, ``v.s3``, ``v.xyz``, ``v.lo``: components of a vector as OpenCL names them (OpenCL C 6.3.7).

    They can be assigned to where the vector lives somewhere and none is named twice.
    """
    element, count, stride = base.elements()
    room = base.size // stride if stride else count
    indices = _swizzle_indices(name, count)
    if indices is None or any(index >= room for index in indices):
        raise ExpressionError(f"Invalid OpenCL vector component accessor {name}")
    if len(indices) == 1:
        return _component(base, indices[0], element, stride)
    type_ = vector_of(element, len(indices))
    if base.storage is not None and base.data is None and len(set(indices)) == len(indices):
        return Value(type_, ComponentStorage(base, tuple(indices), stride))
    data = b"".join(_component(base, index, element, stride).contents() for index in indices)
    return Value(type_, data=data.ljust(type_.size or 0, b"\0"))


def _component(base: Value, index: int, element: Type, stride: int) -> Value:
    """An element; of three, the place of a fourth counts as one."""
    return base.part(element, index * stride)


def _swizzle_indices(name: str, count: int) -> list[int] | None:
    whole = 4 if count == 3 else count  # halves of three are those of four
    halves = {"lo": range(whole // 2), "hi": range(whole // 2, whole),
              "even": range(0, whole, 2), "odd": range(1, whole, 2)}
    if name in halves:
        return list(halves[name])
    named: list[int] | None = None
    if name and all(letter in _COMPONENTS for letter in name):
        named = [_COMPONENTS.index(letter) for letter in name]
    elif name and all(letter in "rgba" for letter in name):
        named = ["rgba".index(letter) for letter in name]
    elif len(name) > 1 and name[0] in "sS" and all(c in "0123456789abcdefABCDEF" for c in name[1:]):
        named = [int(c, 16) for c in name[1:]]
    if named is None or max(named) >= count or len(named) not in _COUNTS:
        return None
    return named
