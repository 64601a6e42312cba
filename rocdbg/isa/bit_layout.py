"""Bit layouts: the fields of an encoding, and functions to read and write them.

A bit range is ``(lowest bit, width)``, counted from bit 0 of the first dword; a field is a tuple of ranges, least
significant first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct, field

Bits = tuple[tuple[int, int], ...]

GFX12 = ("gfx12", "gfx125")
"""Families with the memory encodings of GFX12."""


class Selector(Struct, frozen=True):
    """Bits that determine which operands an opcode has. Case i means that they have the value ``codes[i - 1]``, case 0
    any other value.
    """

    name: str
    bits: Bits
    codes: tuple[int, ...] = (1,)
    other: int = 0
    """A value that belongs to case 0, used by the generator."""


class Layout(Struct, frozen=True):
    """One encoding.

    ``value`` and ``mask`` identify the first dword. If ``src0`` is not empty, this is a DPP or SDWA form of
    ``encoding``, which one of the codes in ``src0`` selects; the code is in the low 9 bits of dword ``src0_dword``.
    """

    name: str
    encoding: str
    mask: int
    value: int
    dwords: int
    opcode: Bits
    operands: dict[str, Bits] = field(default_factory=dict)
    modifiers: dict[str, Bits] = field(default_factory=dict)
    immediates: dict[str, Bits] = field(default_factory=dict)
    selectors: tuple[Selector, ...] = ()
    src0: tuple[int, ...] = ()
    src0_dword: int = 0
    operand_cases: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Operands that exist only in one case of the selectors."""
    opcodes: Sequence[int] | None = None
    """The opcodes of this layout, if another layout has the same prefix."""


def extract(word: int, bits: Bits) -> int:
    """The value of a field in an instruction word."""
    value = shift = 0
    for low, width in bits:
        value |= ((word >> low) & ((1 << width) - 1)) << shift
        shift += width
    return value


def extractor(bits: Bits) -> Callable[[int], int]:
    """Return a function that extracts one field as :func:`extract` does, but faster."""
    if len(bits) == 1:
        ((low, size),) = bits
        mask = (1 << size) - 1
        return lambda word: word >> low & mask
    return lambda word: extract(word, bits)


def insert(bits: Bits, value: int) -> int:
    """An instruction word with a field set to ``value`` and zeros elsewhere."""
    word = 0
    for low, width in bits:
        word |= (value & ((1 << width) - 1)) << low
        value >>= width
    return word


def width(bits: Bits) -> int:
    """Number of bits of a field."""
    return sum(size for _, size in bits)


def at(*bits: tuple[int, int]) -> Bits:
    """A field at some ranges of bits."""
    return bits


def prefix(bits: str) -> tuple[int, int]:
    """Mask and value of the highest bits of the first dword."""
    return ((1 << len(bits)) - 1) << (32 - len(bits)), int(bits, 2) << (32 - len(bits))


def prefixed(name: str, bits: str, dwords: int, opcode: tuple[int, int], **rest: object) -> Layout:
    """A layout identified by the highest bits of the first dword; ``rest`` overrides the name of its encoding."""
    mask, value = prefix(bits)
    return Layout(name, str(rest.pop("encoding", name)), mask, value, dwords, (opcode,), **rest)  # type: ignore[arg-type]
