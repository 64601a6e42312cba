"""The memory of resident workgroups: state blocks, LDS, and the schedule for native code.

The layout fits every launch of one kernel with the same sizes, so the memory is kept when a dispatch has ended
(`SparePlaces`). The next dispatch reuses it as a workgroup reuses the place of an earlier one: with cleared registers
and LDS, but with a new schedule.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import sys
import time
from collections import OrderedDict
from collections.abc import Hashable, Iterator
from itertools import product
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rocdbg.arch.targets import ScratchKind
from rocdbg.sim.core import guarded, initial_state, layout
from rocdbg.sim.core.guarded import ALIGN, Parts, guarded_rows, headed_rows
from rocdbg.sim.core.initial_state import DispatchState
from rocdbg.sim.core.memory import Allocation
from rocdbg.sim.core.register_bounds import MOST_GRANULE
from rocdbg.sim.core.wave import HEAD, Dim3
from rocdbg.sim.device.schedule import QUANTUM, SCHEDULE, SCHEDULE_SIZE, next_random
from rocdbg.sim.device.wave_images import addresses, put_addresses, wave_images

NONE: Final = -1
"""No slot."""
_SIGNED: Final = frozenset(("first", "last", "following", "current"))
_ARRAYS: Final = frozenset(("now", "images", "waves", "patches", "varying"))
_KEPT_ROWS: Final = 1024
"""Maximum number of blocks in spare places: each has a guard page, and the number of these in a process is limited."""
_KEPT_BYTES: Final = 32 << 20
_HUGE_PAGE: Final = 2 << 20
_NO_HUGE_PAGES: Final = 15  # MADV_NOHUGEPAGE of Linux; a host without huge pages may refuse it


class Places:
    """Room for ``count`` workgroups at once, for launches that share ``state`` except for addresses and arguments.

        Attributes: fields: the schedule, in the memory at host address ``address`` that native code uses. states: the
        wave states, uint8[slots, bytes]; ``engine``: their engine words, uint8[slots, bytes]. ``flags``, ``following``
        and ``previous``: by slot. lds: uint8[places, bytes]. used: whether anything has run here.
        """

    def __init__(self, state: DispatchState, grid: Dim3, workgroup: Dim3, count: int) -> None:
        self.state, self.grid, self.workgroup, self.count = state, grid, workgroup, count
        self.used = False
        self.group_waves = -(-(workgroup[0] * workgroup[1] * workgroup[2]) // state.wave_size)
        slots = count * self.group_waves
        lists = -(-9 * slots // ALIGN) * ALIGN
        heads, blocks = headed_rows(1, SCHEDULE_SIZE, guarded.Head(lists, lists + 2 * mmap.PAGESIZE))
        links: NDArray[np.uint8] = heads[0]
        self.block: NDArray[np.uint8] = blocks[0]
        self.address = int(self.block.ctypes.data)
        self.fields = Fields.from_address(self.address)
        size = layout.state_size(state.wave_size, state.target.has_agprs, state.target.vgpr_file)
        self.registers = initial_state.register_counts(state)
        self.engine, self.states = headed_rows(slots, size, HEAD, self.used_parts(size))
        self.following, self.previous = links[: 8 * slots].view(np.int32).reshape(2, slots)
        self.following[:] = self.previous[:] = NONE
        self.flags = links[8 * slots : 9 * slots]
        # The size is padded, so that even an empty LDS has an address of its own.
        self.lds = guarded_rows(count, -(-max(state.lds_size, 1) // ALIGN) * ALIGN)
        self.patches = initial_state.varying_sgprs(state)
        self._images: dict[Dim3, NDArray[np.uint8]] = {}
        self._addresses: tuple[int, ...] | None = None
        self.rows = 2 * slots + count + 4
        """Number of blocks with a guard page."""
        self.bytes = slots * sum(high - low for low, high in self.used_parts(size)) + self.lds.size
        """The bytes that are used in these blocks."""
        self._describe_memory()
        self._describe_groups()
        self._pattern = bytes(self.block)

    def used_parts(self, size: int) -> Parts:
        """The parts of a state block of ``size`` bytes that waves of the dispatch use."""
        wave_size, (_, vgprs, agprs) = self.state.wave_size, self.registers
        granted = vgprs + MOST_GRANULE
        parts = [(0, min(size, layout.vgpr_offset(granted, wave_size)))]
        if agprs:
            first = layout.agpr_offset(0, wave_size)
            parts.append((first, min(size, first + agprs * wave_size * 4)))
        return tuple(parts)

    def begin(self, state: DispatchState, scratch: Allocation | None, first_wave: int) -> None:
        """Initialise the schedule for a new launch, of which no wave exists yet. ``scratch`` is the zeroed scratch of
        all places; ``first_wave`` is the number of the first wave.
        """
        self.state = state
        fields = self.fields
        ctypes.memmove(self.address, self._pattern, SCHEDULE_SIZE)
        fields.created = fields.numbered_before = first_wave - 1
        if scratch is not None:
            fields.scratch, fields.scratch_address = scratch.host_address, scratch.address
            fields.group_scratch_bytes = self.group_waves * state.wave_scratch_size
            _without_huge_pages(scratch)
        found = addresses(state)
        if found != self._addresses:
            self._addresses = found
            for images in self._images.values():
                put_addresses(images, state)

    def _describe_memory(self) -> None:
        state, fields = self.state, self.fields
        width = state.wave_size * 4
        _, vgprs, agprs = self.registers
        id_bytes = self._id_registers * width
        for name, value in {
            "states": self.states.ctypes.data,
            "state_stride": self.states.strides[0],
            "flags": self.flags.ctypes.data,
            "next": self.following.ctypes.data,
            "previous": self.previous.ctypes.data,
            "first": NONE,
            "last": NONE,
            "following": NONE,
            "quantum": QUANTUM,
            "random": next_random(0),
            "group_waves": self.group_waves,
            "id_bytes": id_bytes,
            "image_stride": layout.ENGINE_SIZE + layout.SCALARS_END + id_bytes,
            "vgpr_bytes": max(0, vgprs * width - id_bytes),
            "agpr_offset": layout.agpr_offset(0, state.wave_size),
            "agpr_bytes": agprs * width,
            "lds": self.lds.ctypes.data,
            "lds_stride": self.lds.strides[0],
            "lds_bytes": state.lds_size,
            "wave_scratch_size": state.wave_scratch_size,
            "flat_scratch": int(state.target.scratch is ScratchKind.ARCHITECTED),
            "patch_count": len(self.patches),
            "clock": _clock(),
            "clock_id": time.CLOCK_MONOTONIC,
            "madvise": _madvise(),
            "page_size": mmap.PAGESIZE,
        }.items():
            setattr(fields, name, int(value))
        patches = self._array("patches").view(np.uint32)
        for n, (code, varying) in enumerate(self.patches):
            patches[2 * n : 2 * n + 2] = layout.sgpr_offset(code), varying

    def _describe_groups(self) -> None:
        """Describe the groups in the middle of the grid and at each of its far edges."""
        groups, fields = self.state.groups, self.fields
        fields.groups_x, fields.groups_y, fields.groups_z = groups
        fields.positions_left = groups[0] * groups[1] * groups[2]
        images, waves = self._array("images").view(np.uint64), self._array("waves").view(np.uint32)
        # Bit n of a shape says whether the group is at the far edge of dimension n. The only group of a dimension is at
        # the edge.
        for at_edge in product(*((1,) if count == 1 else (0, 1) for count in groups)):
            x, y, z = (count - 1 if edge else 0 for count, edge in zip(groups, at_edge, strict=True))
            made = self.images(self.group_size((x, y, z)))
            shape = at_edge[0] | at_edge[1] << 1 | at_edge[2] << 2
            images[shape], waves[shape] = made.ctypes.data, len(made)

    @property
    def _id_registers(self) -> int:
        """The size of the group at ``position``: smaller at the grid's edge if the group size does not divide the grid
        size.
        """
        packed = self.state.target.packed_work_item_ids
        return 1 if packed else self.state.descriptor.enable_vgpr_workitem_id + 1

    def group_size(self, position: Dim3) -> Dim3:
        """The size of the group at ``position``: smaller at the grid's edge if the sizes do not divide evenly."""
        x, y, z = (
            min(size, total - at * size)
            for total, size, at in zip(self.grid, self.workgroup, position, strict=True)
        )
        return x, y, z

    def images(self, size: Dim3) -> NDArray[np.uint8]:
        """The initial state of the waves in a group of this size, uint8[wave, byte]: `wave_images`."""
        known = self._images.get(size)
        if known is None:
            known = self._images[size] = wave_images(self.state, size, self._id_registers)
        return known

    def _array(self, name: str) -> NDArray[np.uint8]:
        field = SCHEDULE[name]
        part: NDArray[np.uint8] = self.block[field.offset : field.offset + field.size]
        return part


class SparePlaces:
    """Places that no dispatch uses at the moment, for the next dispatch of their kind. Within the limits of a process,
    the most recently used ones are kept.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[Places, Hashable] = OrderedDict()
        self._by_kind: dict[Hashable, list[Places]] = {}
        self._rows = self._bytes = 0
        guarded.when_scarce(self)

    def take(self, kind: Hashable) -> Places | None:
        """Places of this kind, if there are any."""
        found = self._by_kind.get(kind)
        if not found:
            return None
        places = found.pop()
        self._forget(places)
        return places

    def give(self, kind: Hashable, places: Places) -> None:
        """Return places whose dispatch has ended and whose waves are no longer accessed."""
        self._kept[places] = kind
        self._by_kind.setdefault(kind, []).append(places)
        self._rows += places.rows
        self._bytes += places.bytes
        while self._rows > _KEPT_ROWS or self._bytes > _KEPT_BYTES:
            oldest, its_kind = next(iter(self._kept.items()))
            self._by_kind[its_kind].remove(oldest)
            self._forget(oldest)

    def clear(self) -> None:
        """Free all spare places."""
        self._kept.clear()
        self._by_kind.clear()
        self._rows = self._bytes = 0

    def _forget(self, places: Places) -> None:
        kind = self._kept.pop(places)
        if not self._by_kind[kind]:
            del self._by_kind[kind]
        self._rows -= places.rows
        self._bytes -= places.bytes


@functools.cache
def _clock() -> int:
    """Host address of clock_gettime."""
    return ctypes.cast(ctypes.CDLL(None).clock_gettime, ctypes.c_void_p).value or 0


@functools.cache
def _madvise() -> int:
    """Host address of madvise if it provides zeroed pages, otherwise 0."""
    return (ctypes.cast(ctypes.CDLL(None).madvise, ctypes.c_void_p).value or 0) if sys.platform == "linux" else 0


_MADVISE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int32)


def _without_huge_pages(scratch: Allocation) -> None:
    """Disable huge pages: scratch is returned to the host group by group, and with huge pages, each first access would
    clear far more memory than is used.
    """
    first, end = -(-scratch.host_address // mmap.PAGESIZE), (scratch.host_address + scratch.size) // mmap.PAGESIZE
    if scratch.size >= _HUGE_PAGE and _madvise():
        _MADVISE(_madvise())(first * mmap.PAGESIZE, (end - first) * mmap.PAGESIZE, _NO_HUGE_PAGES)


def _c_fields() -> Iterator[tuple[str, Any]]:
    """`schedule.SCHEDULE` as ctypes fields; padding and arrays get names that are never used."""
    at = 0
    for name, field in SCHEDULE.items():
        if field.offset > at:
            yield f"_{at}", ctypes.c_uint8 * (field.offset - at)
        if name in _ARRAYS:
            yield f"_{name}", ctypes.c_uint8 * field.size
        elif name in _SIGNED:
            yield name, ctypes.c_int32
        else:
            yield name, ctypes.c_uint64 if field.size == 8 else ctypes.c_uint32
        at = field.offset + field.size


class Fields(ctypes.Structure):
    """The schedule's fields in the memory shared with native code."""

    _pack_ = 1
    _fields_ = list(_c_fields())


assert ctypes.sizeof(Fields) == SCHEDULE_SIZE

__all__ = ["NONE", "Fields", "Places", "SparePlaces"]
