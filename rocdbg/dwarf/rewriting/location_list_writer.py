"""Writing location lists: .debug_loclists of DWARF 5, .debug_loc of DWARF 2 to 4."""

from __future__ import annotations

from collections.abc import Sequence

from rocdbg.dwarf.context import LocationListEntry
from rocdbg.dwarf.errors import DwarfError
from rocdbg.dwarf.operation_assembler import uleb128

__all__ = ["LONGEST_OF_PAIRS", "encode_list", "loclists_header"]

LONGEST_OF_PAIRS = 0xFFFF
"""The most bytes that an expression in .debug_loc can have."""

_END, _OFFSET_PAIR, _DEFAULT, _BASE_ADDRESS = 0x00, 0x04, 0x05, 0x06


def loclists_header(lists: int, address_size: int, offset_size: int) -> bytes:
    """The header of a contribution to .debug_loclists with `lists` bytes of lists, and no table of offsets."""
    rest = (5).to_bytes(2, "little") + bytes([address_size, 0]) + bytes(4)
    length = len(rest) + lists
    if offset_size == 8:
        return b"\xff\xff\xff\xff" + length.to_bytes(8, "little") + rest
    if length >= 0xFFFFFFF0:
        raise DwarfError(f"the location lists have {length} bytes, too many for the 32-bit DWARF format")
    return length.to_bytes(4, "little") + rest


def encode_list(entries: Sequence[LocationListEntry], version: int, address_size: int) -> tuple[bytes, list[int]]:
    """Encode a list for units of a DWARF version; also returns the position of each entry's expression in it.

    Addresses are absolute. Raises `DwarfError` for what the version cannot express: before 5, a default location or an
    expression of more than `LONGEST_OF_PAIRS` bytes.
    """
    out = bytearray()
    positions: list[int] = []
    mask = (1 << 8 * address_size) - 1
    base = min((low for low, _, _ in entries if low is not None), default=0)
    if version < 5:
        out += mask.to_bytes(address_size, "little") + bytes(address_size)  # addresses from here on are absolute
        for low, high, data in entries:
            if low is None or high is None:
                raise DwarfError("a location list of DWARF 4 cannot have a default location")
            if len(data) > LONGEST_OF_PAIRS:
                raise DwarfError(f"an expression of {len(data)} bytes is too long for a location list of DWARF 4")
            out += low.to_bytes(address_size, "little") + high.to_bytes(address_size, "little")
            out += len(data).to_bytes(2, "little")
            positions.append(len(out))
            out += data
        return bytes(out) + bytes(2 * address_size), positions
    if any(low is not None for low, _, _ in entries):
        out += bytes([_BASE_ADDRESS]) + base.to_bytes(address_size, "little")
    for low, high, data in entries:
        if low is None or high is None:
            out.append(_DEFAULT)
        else:
            out += bytes([_OFFSET_PAIR]) + uleb128(low - base) + uleb128(high - base)
        out += uleb128(len(data))
        positions.append(len(out))
        out += data
    out.append(_END)
    return bytes(out), positions
