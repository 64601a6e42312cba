"""Code ranges of entries: DW_AT_low_pc/high_pc, ``.debug_rnglists`` and ``.debug_ranges``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rocdbg import work
from rocdbg.addresses import FileAddress
from rocdbg.dwarf.info.attribute_values import Address, Constant, Rnglist
from rocdbg.dwarf.info.constants import At
from rocdbg.dwarf.info.errors import DebugInfoError
from rocdbg.dwarf.info.forms import uleb
from rocdbg.dwarf.info.model import AddressRange

if TYPE_CHECKING:
    from rocdbg.dwarf.info.die import Die
    from rocdbg.dwarf.info.unit import Unit

_MOST_RANGES: Final = 1_000_000


class Entry:
    """DW_RLE_*."""

    END_OF_LIST: Final = 0
    BASE_ADDRESSX: Final = 1
    STARTX_ENDX: Final = 2
    STARTX_LENGTH: Final = 3
    OFFSET_PAIR: Final = 4
    BASE_ADDRESS: Final = 5
    START_END: Final = 6
    START_LENGTH: Final = 7


def ranges_of(die: Die) -> tuple[AddressRange, ...]:
    """The code of an entry, in the order given; empty when it has none, or when the linker dropped it.

    Raises DebugInfoError for a damaged range list; where damage is passed over, returns the ranges before the damage
    instead.
    """
    value = die.attribute(At.RANGES)
    if isinstance(value, Rnglist):
        return _listed(die, value.offset)
    low = die.attribute(At.LOW_PC)
    if not isinstance(low, Address) or _is_tombstone(low.value, die.unit):
        return ()
    high = die.attribute(At.HIGH_PC)
    if isinstance(high, Constant):
        end = low.value + high.value
    elif isinstance(high, Address):
        end = high.value
    else:
        return ()
    return (AddressRange(FileAddress(low.value), FileAddress(end)),) if end > low.value else ()


def _listed(die: Die, offset: int) -> tuple[AddressRange, ...]:
    """The ranges of an entry's list."""
    unit = die.unit
    entries = unit.entries
    known = entries.range_lists.get(die.offset)
    if known is not None:
        return known
    section = ".debug_rnglists" if unit.version >= 5 else ".debug_ranges"
    found: list[AddressRange] = []
    damage: DebugInfoError | None = None
    try:
        unit.sections.lists.check(section, offset, die.offset)
        found.extend(read_ranges(unit, offset))
    except DebugInfoError as error:
        damage = error
    try:
        unit.sections.lists.count(section, offset, len(found), len(unit.sections[section]), die.offset)
    except DebugInfoError as error:
        found, damage = [], error
    if damage is not None:
        entries.pass_over(damage, die, At.RANGES)
    entries.range_lists[die.offset] = tuple(found)
    return entries.range_lists[die.offset]


def _is_tombstone(address: int, unit: Unit) -> bool:
    """Whether an address is one that linkers write for code that they dropped: -1, or -2 in lists, or 0 or 1 where
    there is no code.
    """
    return address >= (1 << (8 * unit.address_size)) - 2 or not unit.entries.is_live(address)


def raw_ranges(unit: Unit, offset: int) -> Iterator[tuple[int, int]]:
    """The ranges of the list at ``offset`` as they are written, including those that are empty or end before they
    begin.
    """
    return _read_rnglist(unit, offset) if unit.version >= 5 else _read_ranges(unit, offset)


def read_ranges(unit: Unit, offset: int) -> Iterator[AddressRange]:
    """The non-empty ranges of the list at ``offset`` of the unit's range section."""
    raw = raw_ranges(unit, offset)
    limit = 1 << (8 * unit.address_size)
    for low, high in raw:
        if limit > high > low and not _is_tombstone(low, unit):
            yield AddressRange(FileAddress(low), FileAddress(high))


def _read_ranges(unit: Unit, offset: int) -> Iterator[tuple[int, int]]:
    """A list of ``.debug_ranges`` (DWARF 4 section 2.17.3)."""
    sections, size = unit.sections, unit.address_size
    base = unit.base_address
    select_base = (1 << (8 * size)) - 1
    for pos in range(offset, offset + 2 * size * _MOST_RANGES, 2 * size):
        work.unit()
        low = sections.number(".debug_ranges", pos, size)
        high = sections.number(".debug_ranges", pos + size, size)
        if low == 0 and high == 0:
            return
        if low == select_base:
            base = high
        else:
            yield base + low, base + high
    raise DebugInfoError(".debug_ranges", offset, f"list has more than {_MOST_RANGES} ranges")


def _read_rnglist(unit: Unit, offset: int) -> Iterator[tuple[int, int]]:
    """A list of ``.debug_rnglists`` (DWARF 5 section 7.25)."""
    data, size = unit.sections[".debug_rnglists"], unit.address_size
    base = unit.base_address
    pos = offset

    def number() -> int:
        nonlocal pos
        value, pos = uleb(data, pos)
        return value

    def address() -> int:
        nonlocal pos
        if pos + size > len(data):
            raise IndexError
        pos += size
        return int.from_bytes(data[pos - size:pos], "little")

    try:
        for _ in range(_MOST_RANGES):
            work.unit()
            kind = data[pos]
            pos += 1
            match kind:
                case Entry.END_OF_LIST:
                    return
                case Entry.BASE_ADDRESSX:
                    base = unit.indexed_address(number())
                case Entry.BASE_ADDRESS:
                    base = address()
                case Entry.STARTX_ENDX:
                    low = unit.indexed_address(number())
                    yield low, unit.indexed_address(number())
                case Entry.STARTX_LENGTH:
                    low = unit.indexed_address(number())
                    yield low, low + number()
                case Entry.OFFSET_PAIR:
                    low = number()
                    yield base + low, base + number()
                case Entry.START_END:
                    low = address()
                    yield low, address()
                case Entry.START_LENGTH:
                    low = address()
                    yield low, low + number()
                case _:
                    raise DebugInfoError(".debug_rnglists", pos - 1, f"unknown kind of range {kind:#x}")
    except IndexError:
        raise DebugInfoError(".debug_rnglists", pos, "the range list is truncated") from None
    raise DebugInfoError(".debug_rnglists", offset, f"list has more than {_MOST_RANGES} ranges")
