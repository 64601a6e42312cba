"""The data layout: sizes of types, in bits and in bytes of memory (LLVM Language Reference, "Data Layout")."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from rocdbg.llvmdi.errors import NotWellFormed
from rocdbg.llvmdi.llvm_types import (
    FLOAT_BITS,
    ArrayType,
    FloatType,
    IntType,
    NamedType,
    PointerType,
    StructType,
    Type,
    VectorType,
)

__all__ = ["AMDGCN_LAYOUT", "DataLayout", "parse_layout"]

AMDGCN_LAYOUT = (
    "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48"
    "-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
    "-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
)
"""The layout that is assumed for a text without one, because the document's examples are for AMD GPUs."""
MAX_BITS = 1 << 40
_MAX_NESTING = 64
_MAX_STEPS = 10_000


class DataLayout(Struct, frozen=True):
    """Sizes and alignments in bits."""

    pointers: Mapping[int, tuple[int, int]]
    """(size, ABI alignment) by address space; spaces not listed are like space 0."""
    integers: Mapping[int, int]
    floats: Mapping[int, int]
    vectors: Mapping[int, int]
    aggregate: int
    named: Mapping[str, Type]
    big_endian: bool = False
    """Big-endian modules can be read and checked, but objects in them cannot be located."""

    def bits(self, type: Type) -> int:
        """The specification's `bitsizeof` of a type; raises `NotWellFormed` for a type without size."""
        return _Sizes(self).bits(type, 0)

    def allocated(self, type: Type) -> int:
        """Bytes from one object of the type to the next in memory; raises as `bits`."""
        return _Sizes(self).allocated(type, 0)

    def places(self, type: Type) -> list[tuple[Type, int]]:
        """The parts of an array or structure and the first bit of each; raises as `bits`."""
        match type:
            case ArrayType(count, element):
                size = 8 * self.allocated(element)
                self.bits(type)
                return [(element, n * size) for n in range(min(count, _MAX_STEPS))]
            case StructType():
                sizes = _Sizes(self)
                found, offset = [], 0
                for element in type.elements:
                    if not type.packed:
                        offset = _rounded(offset, sizes.alignment(element, 0))
                    found.append((element, 8 * offset))
                    offset += sizes.allocated(element, 0)
                return found
        raise NotWellFormed(f"the type {type} has no elements")

    def has_size(self, type: Type) -> bool:
        """Whether `bits` gives a size for a type."""
        try:
            self.bits(type)
        except NotWellFormed:
            return False
        return True

    def resolved(self, type: Type) -> Type:
        """The type that a name refers to."""
        for _ in range(_MAX_NESTING):
            if not isinstance(type, NamedType) or type.name not in self.named:
                return type
            type = self.named[type.name]
        raise NotWellFormed(f"the type {type} refers to itself")


class _Sizes:
    """One query about a size, with a limit on its work."""

    def __init__(self, layout: DataLayout) -> None:
        self.layout = layout
        self.steps = 0

    def _enter(self, type: Type, depth: int) -> None:
        self.steps += 1
        if depth > _MAX_NESTING:
            raise NotWellFormed("the size of a type is not known, because it contains itself or is nested too deeply")
        if self.steps > _MAX_STEPS:
            raise NotWellFormed("the size of a type is not known, because it has too many parts")

    def bits(self, type: Type, depth: int) -> int:
        self._enter(type, depth)
        match type:
            case IntType(bits):
                return bits
            case FloatType(name):
                return FLOAT_BITS[name]
            case PointerType(space):
                return self._pointer(space)[0]
            case VectorType(count, element, scalable):
                if scalable:
                    raise NotWellFormed(f"the size of {type} is not known before the program runs")
                return self._checked(count * self.bits(element, depth + 1), type)
            case ArrayType(count, element):
                return self._checked(8 * count * self.allocated(element, depth + 1), type)
            case StructType():
                return self._checked(8 * self._struct(type, depth)[0], type)
            case NamedType(name):
                if name not in self.layout.named:
                    raise NotWellFormed(f"the type {name} is not defined")
                return self.bits(self.layout.named[name], depth + 1)
        raise NotWellFormed(f"the type {type} has no size")

    @staticmethod
    def _checked(bits: int, type: Type) -> int:
        if bits > MAX_BITS:
            raise NotWellFormed(f"a type has {bits} bits; the limit is {MAX_BITS}")
        return bits

    def _pointer(self, space: int) -> tuple[int, int]:
        pointers = self.layout.pointers
        return pointers.get(space) or pointers[0]

    def alignment(self, type: Type, depth: int) -> int:
        """ABI alignment in bytes."""
        self._enter(type, depth)
        layout = self.layout
        match type:
            case IntType(bits):
                wide = [size for size in layout.integers if size >= bits]
                return layout.integers[min(wide) if wide else max(layout.integers)] // 8 or 1
            case FloatType(name):
                size = FLOAT_BITS[name]
                return layout.floats.get(size, _power(size)) // 8
            case PointerType(space):
                return self._pointer(space)[1] // 8
            case VectorType():
                size = self.bits(type, depth + 1)
                return max(layout.vectors.get(size, _power(size)) // 8, 1)
            case ArrayType(_, element):
                return self.alignment(element, depth + 1)
            case StructType():
                return self._struct(type, depth)[1]
            case NamedType(name):
                if name not in layout.named:
                    raise NotWellFormed(f"the type {name} is not defined")
                return self.alignment(layout.named[name], depth + 1)
        raise NotWellFormed(f"the type {type} has no size")

    def allocated(self, type: Type, depth: int) -> int:
        return _rounded(-(-self.bits(type, depth) // 8), self.alignment(type, depth))

    def _struct(self, type: StructType, depth: int) -> tuple[int, int]:
        offset, alignment = 0, max(self.layout.aggregate // 8, 1)
        for element in type.elements:
            if not type.packed:
                own = self.alignment(element, depth + 1)
                alignment = max(alignment, own)
                offset = _rounded(offset, own)
            offset += self.allocated(element, depth + 1)
        return (offset, 1) if type.packed else (_rounded(offset, alignment), alignment)


def _rounded(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


def _power(bits: int) -> int:
    """The smallest power of two that is not smaller, at least 8."""
    return max(1 << (bits - 1).bit_length(), 8) if bits else 8


def parse_layout(text: str, named: Mapping[str, Type]) -> DataLayout:
    """The layout of a `target datalayout` string. A malformed number is an error, but unknown specifications are
    ignored.

    Raises `NotWellFormed`.
    """
    pointers = {0: (64, 64)}
    integers = {1: 8, 8: 8, 16: 16, 32: 32, 64: 32}
    floats = {16: 16, 32: 32, 64: 64, 128: 128}
    vectors = {64: 64, 128: 128}
    aggregate = 0
    parts = text.split("-")
    for part in parts:
        head, *rest = part.split(":")
        letter, digits = head[:1], head[1:]
        try:
            if letter == "p" and not digits.isalpha():
                size = _number(rest[0])
                pointers[int(digits or 0)] = (size, _number(rest[1]) if len(rest) > 1 else size)
            elif letter in ("i", "f", "v") and digits.isdecimal():
                table = {"i": integers, "f": floats, "v": vectors}[letter]
                table[int(digits)] = max(_number(rest[0]), 8)
            elif head == "a":
                aggregate = int(rest[0])
        except (ValueError, IndexError):
            raise NotWellFormed(f"'{part[:40]}' in the data layout cannot be read") from None
    return DataLayout(pointers, integers, floats, vectors, aggregate, named, "E" in parts)


def _number(text: str) -> int:
    value = int(text)
    if not 0 < value <= 1 << 23:
        raise ValueError(text)
    return value
