"""The bytes of an object in many lanes of a wave, read at once: memory of lanes by the dwords that they lie in, side by
side, vector registers whole."""

from __future__ import annotations

from collections.abc import Sequence

from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.debugger.values.lane_memory import LaneMemory
from rocdbg.dwarf.any_lane import LANE_BITS, LaneDword, depends_on_lane
from rocdbg.dwarf.composite import CompositeStorage
from rocdbg.dwarf.location import LocationDescription
from rocdbg.dwarf.storage import MemoryStorage, StorageKind
from rocdbg.errors import Error

_DWORD = 4


def read_lanes(
    location: LocationDescription, size: int, memory: LaneMemory, lanes: Sequence[int]
) -> list[bytes] | None:
    """``size`` bytes at a location of all lanes (`rocdbg.dwarf.any_lane`), in each of ``lanes``.

    ``None`` where they have to be read lane by lane: where some are missing or cannot be read, or the object lies in
    another way.
    """
    try:
        return _read(location, 0, 8 * size, memory, lanes)
    except Error:
        return None


def _read(
    location: LocationDescription, first: int, bits: int, memory: LaneMemory, lanes: Sequence[int]
) -> list[bytes] | None:
    """Bits from bit ``first`` of a location."""
    if len(location.places) != 1 or bits % 8:
        return None
    place = location.places[0]
    storage, start = place.storage, place.offset + first
    if isinstance(storage, MemoryStorage):
        if start % 8:
            return None
        return _memory(storage.space.number, start // 8, bits // 8, memory, lanes)
    if storage.has_implicit_pointer or start + bits > storage.size or storage.kind is StorageKind.UNDEFINED:
        return None
    if isinstance(storage, LaneDword):
        return None if start % 8 else _dwords(storage, start // 8, bits // 8, lanes)
    if not depends_on_lane(location):
        return [location.read_bytes(bits // 8, first)] * len(lanes)
    if not isinstance(storage, CompositeStorage):
        return None
    found = [b""] * len(lanes)
    for (part, count), begin in zip(storage.parts, storage.starts, strict=True):
        low, high = max(start, begin), min(start + bits, begin + count)
        if low >= high:
            continue
        read = _read(part, low - begin, high - low, memory, lanes)
        if read is None:
            return None
        found = [before + more for before, more in zip(found, read, strict=True)]
    return found


def _memory(space: int, address: int, size: int, memory: LaneMemory, lanes: Sequence[int]) -> list[bytes] | None:
    if memory.is_of_all_lanes(space, address):
        return [memory.read(space, address, size)] * len(lanes)
    if space != AddressSpace.PRIVATE_LANE or not size:
        return None
    count = memory.target.wave(memory.thread).lane_count
    if not all(0 <= lane < count for lane in lanes):
        return None
    first, end = address // _DWORD, (address + size - 1) // _DWORD + 1
    row = _DWORD * count  # a dword of each lane
    rows = memory.target.read_memory(AddressSpace.PRIVATE_WAVE, first * row, (end - first) * row, memory.thread)
    start = address - first * _DWORD
    if end - first == 1:
        return [rows[_DWORD * lane + start : _DWORD * lane + start + size] for lane in lanes]
    starts = range(0, len(rows), row)
    return [
        b"".join([rows[at + _DWORD * lane : at + _DWORD * lane + _DWORD] for at in starts])[start : start + size]
        for lane in lanes
    ]


def _dwords(storage: LaneDword, start: int, size: int, lanes: Sequence[int]) -> list[bytes] | None:
    count = max(lanes) + 1
    data = storage.whole.read_bytes(_DWORD * count) if not depends_on_lane(storage.whole) else None
    if data is None:
        return None
    begin = [LANE_BITS // 8 * lane + start for lane in lanes]
    return [data[at : at + size] for at in begin]
