"""Attribute values of debugging information entries, tagged by their class.

One small frozen record per class of DWARF 5 section 7.5.5. Forms are already resolved: an index into ``.debug_addr`` or
``.debug_str_offsets`` is already the address or the string.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    from rocdbg.dwarf.info.unit import Unit

_WIDEST = 1024
"""The largest size of a number, in bytes."""


class Address(Struct, frozen=True):
    """An address of the target."""

    value: int


class Constant(Struct, frozen=True):
    """A constant. ``size`` is the form's size in bytes, None for LEB128 and implicit constants.

    The fixed-size data forms do not say whether they are signed, so their ``value`` is unsigned; ``signed_value(size)``
    reads the same bits as a signed number.
    """

    value: int
    size: int | None = None

    def signed_value(self, size: int | None = None) -> int:
        """The value with its top bit taken as the sign; ``size`` in bytes, by default the form's own."""
        size = self.size if size is None else size
        if size is None or self.value < 0 or not 0 < size <= _WIDEST:
            return self.value
        bits = 8 * size
        value = self.value & ((1 << bits) - 1)
        return value - (1 << bits) if value >> (bits - 1) else value


class Block(Struct, frozen=True):
    """A block of bytes that is not an expression (for example a constant value in memory order)."""

    data: bytes


class Exprloc(Struct, frozen=True):
    """A DWARF expression, in the encoding of its unit's dialect."""

    data: bytes


class String(Struct, frozen=True):
    """A string, decoded as UTF-8 (invalid bytes are kept as surrogate escapes)."""

    value: str


class Flag(Struct, frozen=True):
    """A flag."""

    value: bool


class Reference(Struct, frozen=True):
    """A reference to another entry, as its offset in ``.debug_info``."""

    offset: int


class TypeSignature(Struct, frozen=True):
    """A reference to a type unit by its 64-bit signature (DW_FORM_ref_sig8)."""

    signature: int


class SupplementaryReference(Struct, frozen=True):
    """A reference into a supplementary object file that is missing."""

    offset: int


@dataclass(frozen=True, slots=True)
class Loclist:
    """A location list: what ``rocdbg.dwarf.parse_location_list`` needs to read it.

    ``section`` is all of ``section_name`` (``.debug_loclists``, or ``.debug_loc`` before DWARF 5) and
    ``offset`` the list's position in it; ``base_address``, ``debug_addr``, ``version`` and
    ``address_size`` are in ``unit``.
    """

    section: bytes = field(repr=False)
    section_name: str
    offset: int
    unit: Unit = field(repr=False)
    entry: int | None = field(default=None, repr=False, compare=False)
    """The offset of the entry whose attribute it is, if it is read for an attribute."""


class Rnglist(Struct, frozen=True):
    """A range list at ``offset`` of ``.debug_rnglists`` (``.debug_ranges`` before DWARF 5)."""

    offset: int


class SectionOffset(Struct, frozen=True):
    """An offset into another section (line table, macros, a base), or the value of an unknown attribute of that class.
    """

    offset: int


AttributeValue: TypeAlias = (
    Address | Constant | Block | Exprloc | String | Flag | Reference | TypeSignature
    | SupplementaryReference | Loclist | Rnglist | SectionOffset
)
"""The value of an attribute."""

Location: TypeAlias = Exprloc | Loclist | Constant | Block | String | Address
"""The value of the attribute that gives a variable's location or value: an expression, a location list, or a constant.
"""
