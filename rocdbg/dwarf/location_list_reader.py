"""Reading location lists: .debug_loclists of DWARF 5 and .debug_loc of DWARF 2 to 4 (A.2.5.5); in split objects,
.debug_loc.dwo as GCC introduced it.
"""

from __future__ import annotations

from collections.abc import Sequence

from rocdbg import work
from rocdbg.dwarf.context import LocationList, LocationListEntry
from rocdbg.dwarf.cursor import Cursor
from rocdbg.dwarf.errors import DecodeError, EvaluationError, IllFormed, missing_address

__all__ = ["parse_location_list"]



def parse_location_list(
    section: bytes,
    offset: int,
    version: int = 5,
    address_size: int = 8,
    base_address: int = 0,
    debug_addr: Sequence[int] | None = None,
    dialect: str = "amd",
    is_split: bool = False,
    keep_empty: bool = False,
) -> LocationList:
    """The location list at byte `offset` of a section (A.2.5.5), with absolute addresses.

    `version` is the unit's DWARF version: with 5 the list consists of DW_LLE_* entries; with less, of the pairs of
    .debug_loc or, in a split object (`is_split`), of the DW_LLE_GNU_* entries of .debug_loc.dwo. `base_address` is the
    unit's; `debug_addr` its part of .debug_addr, for entries that index it. Ranges are half open; those that are empty
    or end before they begin are left out unless `keep_empty` is true. Raises `DecodeError` with the section offset for
    data that is not a location list, `IllFormed` for an index beyond `debug_addr`, `EvaluationError` if `debug_addr` is
    needed and not given.
    """
    if not 0 <= offset <= len(section):
        raise DecodeError(f"the location list would begin beyond the section's {len(section)} bytes", offset=offset)
    if not 2 <= version <= 5:
        raise DecodeError(f"location lists of DWARF version {version} are not supported", offset=offset)
    if address_size not in (1, 2, 4, 8):
        raise DecodeError(f"address size {address_size} is not supported", offset=offset)
    cursor = Cursor(section, offset, what="location list")
    read = _version_5 if version >= 5 else _split_version_4 if is_split else _version_4
    entries = read(cursor, address_size, base_address, debug_addr)
    if not keep_empty:
        entries = [entry for entry in entries if entry[0] is None or entry[1] is None or entry[0] < entry[1]]
    return LocationList(entries, dialect)


def _indexed(debug_addr: Sequence[int] | None, index: int, start: int) -> int:
    if debug_addr is None:
        raise EvaluationError("the location list needs .debug_addr, which the file does not have", offset=start)
    if index >= len(debug_addr):
        raise IllFormed(missing_address(index, len(debug_addr)), offset=start)
    return debug_addr[index]


def _version_5(
    cursor: Cursor, address_size: int, base: int, debug_addr: Sequence[int] | None
) -> list[LocationListEntry]:
    def indexed(index: int) -> int:
        return _indexed(debug_addr, index, start)

    mask = (1 << 8 * address_size) - 1
    entries: list[LocationListEntry] = []
    while True:
        work.unit()
        start = cursor.position
        kind = cursor.unsigned(1)
        match kind:
            case 0x00:  # DW_LLE_end_of_list
                return entries
            case 0x01:  # DW_LLE_base_addressx
                base = indexed(cursor.uleb())
                continue
            case 0x06:  # DW_LLE_base_address
                base = cursor.unsigned(address_size)
                continue
            case 0x09:  # DW_LLE_GNU_view_pair: view numbers of the next entry's addresses
                cursor.uleb()
                cursor.uleb()
                continue
            case 0x05:  # DW_LLE_default_location
                entries.append((None, None, cursor.take(cursor.uleb())))
                continue
            case 0x02:  # DW_LLE_startx_endx
                low = indexed(cursor.uleb())
                high = indexed(cursor.uleb())
            case 0x03:  # DW_LLE_startx_length
                low = indexed(cursor.uleb())
                high = low + cursor.uleb()
            case 0x04:  # DW_LLE_offset_pair
                low = base + cursor.uleb() & mask
                high = base + cursor.uleb() & mask
            case 0x07:  # DW_LLE_start_end
                low = cursor.unsigned(address_size)
                high = cursor.unsigned(address_size)
            case 0x08:  # DW_LLE_start_length
                low = cursor.unsigned(address_size)
                high = low + cursor.uleb()
            case _:
                raise DecodeError(f"unknown location list entry kind {kind:#x}", offset=start)
        data = cursor.take(cursor.uleb())
        entries.append((low, high, data))


def _version_4(
    cursor: Cursor, address_size: int, base: int, debug_addr: Sequence[int] | None
) -> list[LocationListEntry]:
    mask = (1 << 8 * address_size) - 1
    entries: list[LocationListEntry] = []
    while True:
        work.unit()
        low = cursor.unsigned(address_size)
        high = cursor.unsigned(address_size)
        if low == mask:  # base address selection
            base = high
            continue
        if not low and not high:
            return entries
        data = cursor.take(cursor.unsigned(2))
        low, high = base + low & mask, base + high & mask
        entries.append((low, high, data))


def _split_version_4(
    cursor: Cursor, address_size: int, base: int, debug_addr: Sequence[int] | None
) -> list[LocationListEntry]:
    mask = (1 << 8 * address_size) - 1
    entries: list[LocationListEntry] = []
    while True:
        work.unit()
        start = cursor.position
        kind = cursor.unsigned(1)
        match kind:
            case 0x00:  # DW_LLE_GNU_end_of_list_entry
                return entries
            case 0x01:  # DW_LLE_GNU_base_address_selection_entry
                base = _indexed(debug_addr, cursor.uleb(), start)
                continue
            case 0x02:  # DW_LLE_GNU_start_end_entry
                low = _indexed(debug_addr, cursor.uleb(), start)
                high = _indexed(debug_addr, cursor.uleb(), start)
            case 0x03:  # DW_LLE_GNU_start_length_entry
                low = _indexed(debug_addr, cursor.uleb(), start)
                high = low + cursor.unsigned(4)
            case 0x04:  # DW_LLE_GNU_offset_pair_entry
                low = base + cursor.unsigned(4) & mask
                high = base + cursor.unsigned(4) & mask
            case _:
                raise DecodeError(f"unknown location list entry kind {kind:#x}", offset=start)
        data = cursor.take(cursor.unsigned(2))
        entries.append((low, high, data))
