"""Attribute forms: how many bytes each takes, and how its raw value is read (DWARF 5 section 7.5.6).

One table describes each form; skipping and reading both follow it. A raw value is an int
(numbers, offsets, indices, flags), or bytes (blocks and in-line strings).
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Final, TypeAlias

from rocdbg.dwarf.info.errors import DebugInfoError


class Shape(enum.Enum):
    """What a form's value consists of."""

    NOTHING = enum.auto()
    FIXED1 = enum.auto()
    FIXED2 = enum.auto()
    FIXED3 = enum.auto()
    FIXED4 = enum.auto()
    FIXED8 = enum.auto()
    FIXED16 = enum.auto()
    ADDRESS = enum.auto()
    OFFSET = enum.auto()
    REF_ADDR = enum.auto()
    ULEB = enum.auto()
    SLEB = enum.auto()
    BLOCK1 = enum.auto()
    BLOCK2 = enum.auto()
    BLOCK4 = enum.auto()
    BLOCK_ULEB = enum.auto()
    C_STRING = enum.auto()
    ULEB_AND_4 = enum.auto()
    INDIRECT = enum.auto()


class Kind(enum.Enum):
    """The meaning of the raw value of a form."""

    ADDRESS = enum.auto()
    ADDRESS_INDEX = enum.auto()
    ADDRESS_INDEX_OFFSET = enum.auto()
    CONSTANT = enum.auto()
    BLOCK = enum.auto()
    EXPRLOC = enum.auto()
    FLAG = enum.auto()
    TRUE = enum.auto()
    STRING = enum.auto()
    STRING_OFFSET = enum.auto()
    LINE_STRING_OFFSET = enum.auto()
    STRING_INDEX = enum.auto()
    UNIT_REFERENCE = enum.auto()
    SECTION_REFERENCE = enum.auto()
    SIGNATURE = enum.auto()
    SUPPLEMENTARY_STRING = enum.auto()
    SUPPLEMENTARY_REFERENCE = enum.auto()
    SECTION_OFFSET = enum.auto()
    LOCLIST_INDEX = enum.auto()
    RNGLIST_INDEX = enum.auto()
    INDIRECT = enum.auto()


IMPLICIT_CONST: Final = 0x21
INDIRECT: Final = 0x16

FORMS: Final[dict[int, tuple[str, Shape, Kind]]] = {
    0x01: ("addr", Shape.ADDRESS, Kind.ADDRESS),
    0x03: ("block2", Shape.BLOCK2, Kind.BLOCK),
    0x04: ("block4", Shape.BLOCK4, Kind.BLOCK),
    0x05: ("data2", Shape.FIXED2, Kind.CONSTANT),
    0x06: ("data4", Shape.FIXED4, Kind.CONSTANT),
    0x07: ("data8", Shape.FIXED8, Kind.CONSTANT),
    0x08: ("string", Shape.C_STRING, Kind.STRING),
    0x09: ("block", Shape.BLOCK_ULEB, Kind.BLOCK),
    0x0A: ("block1", Shape.BLOCK1, Kind.BLOCK),
    0x0B: ("data1", Shape.FIXED1, Kind.CONSTANT),
    0x0C: ("flag", Shape.FIXED1, Kind.FLAG),
    0x0D: ("sdata", Shape.SLEB, Kind.CONSTANT),
    0x0E: ("strp", Shape.OFFSET, Kind.STRING_OFFSET),
    0x0F: ("udata", Shape.ULEB, Kind.CONSTANT),
    0x10: ("ref_addr", Shape.REF_ADDR, Kind.SECTION_REFERENCE),
    0x11: ("ref1", Shape.FIXED1, Kind.UNIT_REFERENCE),
    0x12: ("ref2", Shape.FIXED2, Kind.UNIT_REFERENCE),
    0x13: ("ref4", Shape.FIXED4, Kind.UNIT_REFERENCE),
    0x14: ("ref8", Shape.FIXED8, Kind.UNIT_REFERENCE),
    0x15: ("ref_udata", Shape.ULEB, Kind.UNIT_REFERENCE),
    0x16: ("indirect", Shape.INDIRECT, Kind.INDIRECT),
    0x17: ("sec_offset", Shape.OFFSET, Kind.SECTION_OFFSET),
    0x18: ("exprloc", Shape.BLOCK_ULEB, Kind.EXPRLOC),
    0x19: ("flag_present", Shape.NOTHING, Kind.TRUE),
    0x1A: ("strx", Shape.ULEB, Kind.STRING_INDEX),
    0x1B: ("addrx", Shape.ULEB, Kind.ADDRESS_INDEX),
    0x1C: ("ref_sup4", Shape.FIXED4, Kind.SUPPLEMENTARY_REFERENCE),
    0x1D: ("strp_sup", Shape.OFFSET, Kind.SUPPLEMENTARY_STRING),
    0x1E: ("data16", Shape.FIXED16, Kind.CONSTANT),
    0x1F: ("line_strp", Shape.OFFSET, Kind.LINE_STRING_OFFSET),
    0x20: ("ref_sig8", Shape.FIXED8, Kind.SIGNATURE),
    0x21: ("implicit_const", Shape.NOTHING, Kind.CONSTANT),
    0x22: ("loclistx", Shape.ULEB, Kind.LOCLIST_INDEX),
    0x23: ("rnglistx", Shape.ULEB, Kind.RNGLIST_INDEX),
    0x24: ("ref_sup8", Shape.FIXED8, Kind.SUPPLEMENTARY_REFERENCE),
    0x25: ("strx1", Shape.FIXED1, Kind.STRING_INDEX),
    0x26: ("strx2", Shape.FIXED2, Kind.STRING_INDEX),
    0x27: ("strx3", Shape.FIXED3, Kind.STRING_INDEX),
    0x28: ("strx4", Shape.FIXED4, Kind.STRING_INDEX),
    0x29: ("addrx1", Shape.FIXED1, Kind.ADDRESS_INDEX),
    0x2A: ("addrx2", Shape.FIXED2, Kind.ADDRESS_INDEX),
    0x2B: ("addrx3", Shape.FIXED3, Kind.ADDRESS_INDEX),
    0x2C: ("addrx4", Shape.FIXED4, Kind.ADDRESS_INDEX),
    0x1F01: ("GNU_addr_index", Shape.ULEB, Kind.ADDRESS_INDEX),
    0x1F02: ("GNU_str_index", Shape.ULEB, Kind.STRING_INDEX),
    0x1F20: ("GNU_ref_alt", Shape.OFFSET, Kind.SUPPLEMENTARY_REFERENCE),
    0x1F21: ("GNU_strp_alt", Shape.OFFSET, Kind.SUPPLEMENTARY_STRING),
    0x2001: ("LLVM_addrx_offset", Shape.ULEB_AND_4, Kind.ADDRESS_INDEX_OFFSET),
}
"""Form code: name, shape, meaning."""

_FIXED: Final = {
    Shape.NOTHING: 0, Shape.FIXED1: 1, Shape.FIXED2: 2, Shape.FIXED3: 3, Shape.FIXED4: 4, Shape.FIXED8: 8,
    Shape.FIXED16: 16,
}

Raw: TypeAlias = int | bytes
RawReader: TypeAlias = Callable[[bytes, int], tuple[Raw, int]]
"""Reads a raw value at a position: the value, and the position after it, which may lie beyond the data's
end."""

SKIP_ULEB: Final = -1
SKIP_BLOCK: Final = -2
SKIP_OTHER: Final = -3
"""Steps of a skip program that are not a number of bytes. In order of their definition: a LEB128, a block whose length
is a LEB128, anything else.
"""


_LONGEST_LEB: Final = 256
"""The most bits of a LEB128; a longer one counts as damage, since no producer writes numbers of more than 128 bits."""


def uleb(data: bytes, pos: int) -> tuple[int, int]:
    """An unsigned LEB128 at ``pos``: value, position after it. Raises IndexError at the data's end or when
    too long."""
    byte = data[pos]
    if byte < 0x80:
        return byte, pos + 1
    value, shift = byte & 0x7F, 7
    while True:
        pos += 1
        byte = data[pos]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, pos + 1
        shift += 7
        if shift > _LONGEST_LEB:
            raise IndexError("LEB128 is too long")


def sleb(data: bytes, pos: int) -> tuple[int, int]:
    """A signed LEB128 at ``pos``: value, position after it. Raises IndexError at the data's end or when
    too long."""
    value = shift = 0
    while True:
        byte = data[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return (value - (1 << shift) if byte & 0x40 else value), pos
        if shift > _LONGEST_LEB:
            raise IndexError("LEB128 is too long")


def fixed_size(shape: Shape, version: int, address_size: int, offset_size: int) -> int | None:
    """How many bytes a shape takes in a unit of the given parameters; None when that depends on the data."""
    if shape is Shape.ADDRESS:
        return address_size
    if shape is Shape.OFFSET:
        return offset_size
    if shape is Shape.REF_ADDR:  # DWARF 2 gave it the size of an address
        return address_size if version <= 2 else offset_size
    return _FIXED.get(shape)


def raw_reader(form: int, version: int, address_size: int, offset_size: int) -> RawReader:
    """The function that reads the raw value of a form. Raises KeyError for an unknown form."""
    shape = FORMS[form][1]
    size = fixed_size(shape, version, address_size, offset_size)
    if size is not None:
        return _fixed_reader(size)
    if shape is Shape.INDIRECT:
        raise KeyError(form)  # the form is stored with the value: the reader of entries handles it
    return _READERS[shape]


def _fixed_reader(size: int) -> RawReader:
    if size == 0:
        return lambda data, pos: (1, pos)
    if size == 1:
        return lambda data, pos: (data[pos], pos + 1)
    return lambda data, pos: (int.from_bytes(data[pos:pos + size], "little"), pos + size)


def _block(data: bytes, start: int, size: int) -> tuple[bytes, int]:
    return data[start:start + size], start + size


def _sized_block(prefix: int) -> RawReader:
    def read(data: bytes, pos: int) -> tuple[bytes, int]:
        return _block(data, pos + prefix, int.from_bytes(data[pos:pos + prefix], "little"))

    return read


def _uleb_block(data: bytes, pos: int) -> tuple[bytes, int]:
    size, pos = uleb(data, pos)
    return _block(data, pos, size)


def _c_string(data: bytes, pos: int) -> tuple[bytes, int]:
    end = data.find(b"\0", pos)
    if end < 0:
        raise IndexError
    return data[pos:end], end + 1


def _uleb_and_4(data: bytes, pos: int) -> tuple[int, int]:
    index, pos = uleb(data, pos)
    return index << 32 | int.from_bytes(data[pos:pos + 4], "little"), pos + 4


_READERS: Final[dict[Shape, RawReader]] = {
    Shape.ULEB: uleb,
    Shape.SLEB: sleb,
    Shape.BLOCK1: _sized_block(1),
    Shape.BLOCK2: _sized_block(2),
    Shape.BLOCK4: _sized_block(4),
    Shape.BLOCK_ULEB: _uleb_block,
    Shape.C_STRING: _c_string,
    Shape.ULEB_AND_4: _uleb_and_4,
}


def skip_steps(forms: list[int], version: int, address_size: int, offset_size: int) -> tuple[int, ...]:
    """A compiled way to skip attributes of the given forms: numbers of bytes, and the SKIP_* codes.

    After SKIP_OTHER comes the form. Neighbouring fixed sizes are added up.
    """
    steps: list[int] = []
    run = 0
    for form in forms:
        shape = FORMS[form][1]
        size = fixed_size(shape, version, address_size, offset_size)
        if size is not None:
            run += size
            continue
        if run:
            steps.append(run)
            run = 0
        if shape in (Shape.ULEB, Shape.SLEB):
            steps.append(SKIP_ULEB)
        elif shape is Shape.BLOCK_ULEB:
            steps.append(SKIP_BLOCK)
        else:
            steps += (SKIP_OTHER, form)
    if run:
        steps.append(run)
    return tuple(steps)


def read_indirect(data: bytes, pos: int) -> tuple[int, int]:
    """The form to which a DW_FORM_indirect refers, and the position of its value. Raises DebugInfoError if
    unusable."""
    form, after = uleb(data, pos)
    if form not in FORMS or form in (INDIRECT, IMPLICIT_CONST):
        raise DebugInfoError(".debug_info", pos, f"DW_FORM_indirect names form {form:#x}, which cannot be used there")
    return form, after
