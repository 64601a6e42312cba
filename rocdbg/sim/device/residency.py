"""Which workgroups and waves of a dispatch exist, in memory that native code shares (see `rocdbg.sim.device.schedule`).

What this does for one wave at a time, `rocdbg.sim.translator.scheduler` does natively, in the same order and with the
same results.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rocdbg.arch.targets import ScratchKind
from rocdbg.sim import initial_state, layout
from rocdbg.sim.device.schedule import QUANTUM, SCHEDULE, SCHEDULE_SIZE, SHAPES, WaveFlag
from rocdbg.sim.guarded import ALIGN, Parts, guarded, guarded_rows
from rocdbg.sim.initial_state import DispatchState, GroupIds
from rocdbg.sim.layout import HEADER
from rocdbg.sim.memory import Allocation
from rocdbg.sim.register_bounds import MOST_GRANULE
from rocdbg.sim.wave import Dim3, Wave, state_block

_NONE = -1
_SIGNED = frozenset(("first", "last", "following", "current"))


class Residency:
    """The resident workgroups of a dispatch. A *place* is what one workgroup occupies: state blocks, LDS, scratch.

    ``places`` is how many groups exist at once, ``scratch`` the memory of all places. ``address`` is the host address
    of the schedule.
    """

    def __init__(
        self, state: DispatchState, grid: Dim3, workgroup: Dim3, places: int, scratch: Allocation | None
    ) -> None:
        self.dispatch, self.grid, self.workgroup = state, grid, workgroup
        self._block = guarded(SCHEDULE_SIZE)
        self.address = int(self._block.ctypes.data)
        self._fields = {name: _field(self.address, name) for name in SCHEDULE if name not in _ARRAYS}
        self.group_waves = -(-(workgroup[0] * workgroup[1] * workgroup[2]) // state.wave_size)
        slots = places * self.group_waves
        size = layout.state_size(state.wave_size, state.target.has_agprs, state.target.vgpr_file)
        self._registers = initial_state.register_counts(state)
        self._states = guarded_rows(slots, size, self._used(size))
        self._flags = np.zeros(slots, np.uint8)
        self._next, self._previous = np.full(slots, _NONE, np.int32), np.full(slots, _NONE, np.int32)
        # Padded, so that the address of an empty LDS is one of its own.
        self._lds = guarded_rows(places, -(-max(state.lds_size, 1) // ALIGN) * ALIGN)
        self._scratch = scratch
        self._patches = initial_state.varying_sgprs(state)
        self._ids: dict[Dim3, NDArray[np.uint8]] = {}
        self._waves: dict[int, Wave] = {}  # by slot: those somebody has asked for
        self._describe_memory()
        self._describe_groups()
        for place in range(places):
            self._create(place, fresh=True)

    # -- fields of the schedule ------------------------------------------------------------------------------

    def get(self, name: str) -> int:
        """A field of `schedule.SCHEDULE`."""
        return int(self._fields[name].value)

    def set(self, name: str, value: int) -> None:
        """Set a field of `schedule.SCHEDULE`."""
        self._fields[name].value = value

    def _used(self, size: int) -> Parts:
        """The parts of a state block that waves of the dispatch have anything in."""
        wave_size, (_, vgprs, agprs) = self.dispatch.wave_size, self._registers
        granted = vgprs + MOST_GRANULE
        parts = [(0, min(size, layout.vgpr_offset(granted, wave_size)))]
        if agprs:
            first = layout.agpr_offset(0, wave_size)
            parts.append((first, min(size, first + agprs * wave_size * 4)))
        return tuple(parts)

    def _describe_memory(self) -> None:
        state, scratch = self.dispatch, self._scratch
        width = state.wave_size * 4
        _, vgprs, agprs = self._registers
        id_bytes = self._id_registers * width
        for name, value in {
            "states": self._states.ctypes.data,
            "state_stride": self._states.strides[0],
            "flags": self._flags.ctypes.data,
            "next": self._next.ctypes.data,
            "previous": self._previous.ctypes.data,
            "first": _NONE,
            "last": _NONE,
            "following": _NONE,
            "quantum": QUANTUM,
            "group_waves": self.group_waves,
            "id_bytes": id_bytes,
            "image_stride": layout.SCALARS_END + id_bytes,
            "vgpr_bytes": max(0, vgprs * width - id_bytes),
            "agpr_offset": layout.agpr_offset(0, state.wave_size),
            "agpr_bytes": agprs * width,
            "lds": self._lds.ctypes.data,
            "lds_stride": self._lds.strides[0],
            "lds_bytes": state.lds_size,
            "scratch": scratch.host_address if scratch is not None else 0,
            "group_scratch_bytes": self.group_waves * state.wave_scratch_size if scratch is not None else 0,
            "scratch_address": state.scratch_address,
            "wave_scratch_size": state.wave_scratch_size,
            "flat_scratch": int(state.target.scratch is ScratchKind.ARCHITECTED),
            "patch_count": len(self._patches),
        }.items():
            self.set(name, int(value))
        patches = self._array("patches").view(np.uint32)
        for n, (code, varying) in enumerate(self._patches):
            patches[2 * n : 2 * n + 2] = layout.sgpr_offset(code), varying

    def _describe_groups(self) -> None:
        """What groups look like in the middle of the grid and at each of its far edges."""
        groups = self.dispatch.groups
        for name, value in zip(("groups_x", "groups_y", "groups_z"), groups, strict=True):
            self.set(name, value)
        self.set("positions_left", groups[0] * groups[1] * groups[2])
        images, waves = self._array("images").view(np.uint64), self._array("waves").view(np.uint32)
        for shape in range(SHAPES):
            at_edge = tuple(shape >> n & 1 for n in range(3))
            if any(groups[n] == 1 and not at_edge[n] for n in range(3)):
                continue  # the only group of a dimension is at its edge
            x, y, z = (groups[n] - 1 if at_edge[n] else 0 for n in range(3))
            made = self._images(self._group_size((x, y, z)))
            images[shape], waves[shape] = made[0].ctypes.data, len(made)

    @property
    def _id_registers(self) -> int:
        """VGPRs that start with work-item ids."""
        packed = self.dispatch.target.packed_work_item_ids
        return 1 if packed else self.dispatch.descriptor.enable_vgpr_workitem_id + 1

    def _group_size(self, position: Dim3) -> Dim3:
        """The size of the group at ``position``: smaller at the grid's edge where the sizes do not divide."""
        x, y, z = (
            min(size, total - at * size)
            for total, size, at in zip(self.grid, self.workgroup, position, strict=True)
        )
        return x, y, z

    def _images(self, size: Dim3) -> NDArray[np.uint8]:
        """What the waves of a group of this size start with, uint8[wave, byte]: scalar part, work-item ids."""
        known = self._ids.get(size)
        if known is None:
            state = self.dispatch
            packed = state.target.packed_work_item_ids
            ids = GroupIds(size, state.wave_size, self._id_registers, packed)
            shared = initial_state.prototype(state)
            scratch_wave = Wave(
                state_block(state.target, state.wave_size), state.target, state.wave_size, 0, (0, 0, 0), 0, size,
                self._lds[0],
            )
            known = np.zeros((len(ids.used), self.get("image_stride")), np.uint8)
            for index in range(len(ids.used)):
                scratch_wave.index = index
                initial_state.apply(scratch_wave, state, shared, ids, 0)
                known[index, : layout.SCALARS_END] = scratch_wave.state[: layout.SCALARS_END]
                known[index, layout.SCALARS_END :] = scratch_wave.state[layout.VGPRS :][
                    : self.get("id_bytes")
                ]
            self._ids[size] = known
        return known

    def _array(self, name: str) -> NDArray[np.uint8]:
        field = SCHEDULE[name]
        return self._block[field.offset : field.offset + field.size]

    # -- waves -----------------------------------------------------------------------------------------------

    @property
    def empty(self) -> bool:
        """Whether no wave is resident (then none is yet to come either)."""
        return self.get("first") == _NONE

    def slots(self) -> Iterator[int]:
        """The occupied wave slots in order of creation of their waves."""
        slot = self.get("first")
        while slot != _NONE:
            following = int(self._next[slot])
            yield slot
            slot = following

    def slot(self, number: int) -> int | None:
        """The slot of the resident wave with this number."""
        return next((slot for slot in self.slots() if self.number(slot) == number), None)

    def number(self, slot: int) -> int:
        """The number of the wave in a slot."""
        return ctypes.c_uint64.from_address(self._at(slot, "number")).value

    def instructions(self, slot: int) -> int:
        """Instructions that the wave in a slot has executed."""
        return ctypes.c_uint64.from_address(self._at(slot, "instructions")).value

    def progress(self) -> tuple[int, int, int]:
        """Wave-instructions executed, workgroups that have ended, workgroups of the grid.

        May be called while native code runs, and is then a little behind.
        """
        places = self._flags.reshape(-1, self.group_waves).any(axis=1)
        executed = sum(self.instructions(int(slot)) for slot in np.flatnonzero(self._flags))
        x, y, z = self.dispatch.groups
        ended = x * y * z - self.get("positions_left") - int(np.count_nonzero(places))
        return self.get("retired") + executed, ended, x * y * z

    def _at(self, slot: int, field: str) -> int:
        return self.get("states") + slot * self.get("state_stride") + HEADER[field].offset

    def wave(self, slot: int) -> Wave:
        """The wave in a slot; the same object as long as it is resident."""
        number = self.number(slot)
        wave = self._waves.get(slot)
        if wave is None or wave.number != number:
            state, block = self.dispatch, self._states[slot]
            x, y, z = (
                ctypes.c_uint32.from_address(self._at(slot, name)).value
                for name in ("workgroup_x", "workgroup_y", "workgroup_z")
            )
            place, index = divmod(slot, self.group_waves)
            wave = Wave(
                block, state.target, state.wave_size, number, (x, y, z), index, self._group_size((x, y, z)),
                self._lds[place, : state.lds_size], self._flags[slot : slot + 1],
            )
            wave.sgpr_count, wave.vgpr_count, wave.agpr_count = self._registers
            self._waves[slot] = wave
        return wave

    def slot_of(self, wave: Wave) -> int:
        """The slot of a resident wave."""
        return (wave.address - self.get("states")) // self.get("state_stride")

    def synchronise(self) -> None:
        """Native code has run: `Wave` objects of waves that ended meanwhile are told."""
        for slot, wave in list(self._waves.items()):
            if not self._flags[slot] or self.number(slot) != wave.number:
                wave.retire()
                del self._waves[slot]

    @property
    def scratch_bytes(self) -> int:
        """Size of the scratch of all places."""
        return self._scratch.size if self._scratch is not None else 0

    def clear(self) -> None:
        """End all waves where they are; none is created any more."""
        self.set("positions_left", 0)
        self.set("first", _NONE)
        self._flags[:] = 0
        self.synchronise()

    def known(self) -> list[Wave]:
        """The waves that somebody has asked for: no others can have been changed from outside."""
        return list(self._waves.values())

    # -- turns -----------------------------------------------------------------------------------------------

    def next_slot(self) -> int | None:
        """Whose turn it is: the first runnable wave from the cursor on, around the end; None: all wait."""
        first, cursor = None, self.get("cursor")
        for slot in self.slots():
            if self._flags[slot] & WaveFlag.WAITING:
                continue
            if self.number(slot) >= cursor:
                return slot
            first = slot if first is None else first
        return first

    def set_reported(self, slot: int, reported: bool) -> None:
        """Note whether the wave was reported where it is."""
        if reported:
            self._flags[slot] |= WaveFlag.REPORTED
        else:
            self._flags[slot] &= 0xFF ^ WaveFlag.REPORTED

    # -- barriers --------------------------------------------------------------------------------------------

    def signal(self, slot: int) -> bool:
        """The wave arrives at its group's barrier. Returns whether none had before."""
        first = not (self._group(slot) & WaveFlag.SIGNALLED).any()
        self._flags[slot] |= WaveFlag.SIGNALLED
        self._complete(slot)
        return first

    def wait(self, slot: int) -> None:
        """The wave waits for the barrier it signalled, unless that is complete."""
        if self._flags[slot] & WaveFlag.PASSED:
            self._flags[slot] &= 0xFF ^ WaveFlag.PASSED
        else:
            self._flags[slot] |= WaveFlag.WAITING

    def barrier_state(self, slot: int) -> int:
        """What s_get_barrier_state says of the group's barrier: signals in bits 22:16, members in 10:4, valid in 0."""
        flags = self._group(slot)
        members, signals = (int(np.count_nonzero(flags & f)) for f in (WaveFlag.RESIDENT, WaveFlag.SIGNALLED))
        return signals << 16 | members << 4 | 1

    def arrive(self, slot: int) -> None:
        """``s_barrier``: signals and waits."""
        self._flags[slot] |= WaveFlag.WAITING
        self.signal(slot)

    def _group(self, slot: int) -> NDArray[np.uint8]:
        """Flags of the slots of a slot's workgroup."""
        first = slot - slot % self.group_waves
        return self._flags[first : first + self.group_waves]

    def _complete(self, slot: int) -> None:
        """If every wave of the group that has not ended has signalled, the barrier is complete."""
        flags = self._group(slot)
        if ((flags & (WaveFlag.RESIDENT | WaveFlag.SIGNALLED)) == WaveFlag.RESIDENT).any():
            return
        passes = (flags & WaveFlag.RESIDENT != 0) & (flags & WaveFlag.WAITING == 0)
        flags &= np.uint8(0xFF ^ (WaveFlag.SIGNALLED | WaveFlag.WAITING))
        flags[passes] |= np.uint8(WaveFlag.PASSED)

    # -- creation and end ------------------------------------------------------------------------------------

    def end(self, slot: int) -> None:
        """The wave has ended; the last of its group makes room for the next group."""
        self.set("retired", self.get("retired") + self.instructions(slot))
        self._flags[slot] = 0
        wave = self._waves.pop(slot, None)
        if wave is not None:
            wave.retire()
        before, after = int(self._previous[slot]), int(self._next[slot])
        if before == _NONE:
            self.set("first", after)
        else:
            self._next[before] = after
        if after == _NONE:
            self.set("last", before)
        else:
            self._previous[after] = before
        if self._group(slot).any():
            self._complete(slot)
        else:
            self._create(slot // self.group_waves)

    def _create(self, place: int, *, fresh: bool = False) -> None:
        """Make the next workgroup, if there is one; ``fresh``: nothing has run in its place."""
        left = self.get("positions_left")
        if not left:
            return
        position = self._take_position()
        self.set("positions_left", left - 1)
        state, scratch = self.dispatch, self._scratch
        if not fresh:  # a new group must not depend on what ran in its place before
            self._lds[place] = 0
            if scratch is not None:
                size = self.group_waves * state.wave_scratch_size
                scratch.data[place * size : (place + 1) * size] = 0
        images = self._images(self._group_size(position))
        for index, image in enumerate(images):
            slot = place * self.group_waves + index
            offset = slot * state.wave_scratch_size
            self._fill(slot, image, fresh)
            values = initial_state.varying_values(position, offset)
            block = self._states[slot].view(np.uint32)
            for code, varying in self._patches:
                block[layout.sgpr_offset(code) // 4] = values[varying]
            number = self.get("created") + 1
            self.set("created", number)
            base = state.scratch_address + offset
            wide = {"number": number, "lds_pointer": int(self._lds[place].ctypes.data), "scratch_base": base}
            if state.target.scratch is ScratchKind.ARCHITECTED:
                wide["flat_scratch"] = base
            for name, value in wide.items():
                ctypes.c_uint64.from_address(self._at(slot, name)).value = value
            for name, value in zip(("workgroup_x", "workgroup_y", "workgroup_z"), position, strict=True):
                ctypes.c_uint32.from_address(self._at(slot, name)).value = value
            self._append(slot)

    def _fill(self, slot: int, image: NDArray[np.uint8], fresh: bool) -> None:
        """Registers of a new wave as far as all waves with its index share them."""
        block, ids = self._states[slot], layout.VGPRS + self.get("id_bytes")
        block[: layout.SCALARS_END] = image[: layout.SCALARS_END]
        block[layout.VGPRS : ids] = image[layout.SCALARS_END :]
        if not fresh:
            block[ids : ids + self.get("vgpr_bytes")] = 0
            start = self.get("agpr_offset")
            block[start : start + self.get("agpr_bytes")] = 0

    def _take_position(self) -> Dim3:
        """The position of the next group, x fastest."""
        x, y, z = (self.get(name) for name in ("group_x", "group_y", "group_z"))
        following = [x + 1, y, z]
        for n in range(2):
            if following[n] == self.dispatch.groups[n]:
                following[n : n + 2] = 0, following[n + 1] + 1
        for name, value in zip(("group_x", "group_y", "group_z"), following, strict=True):
            self.set(name, value)
        return x, y, z

    def _append(self, slot: int) -> None:
        last = self.get("last") if not self.empty else _NONE
        self._flags[slot] = WaveFlag.RESIDENT
        self._next[slot], self._previous[slot] = _NONE, last
        if last == _NONE:
            self.set("first", slot)
        else:
            self._next[last] = slot
        self.set("last", slot)


_ARRAYS = frozenset(("now", "images", "waves", "patches", "varying"))


def _field(address: int, name: str) -> ctypes.c_uint64 | ctypes.c_uint32 | ctypes.c_int32:
    at = address + SCHEDULE[name].offset
    if name in _SIGNED:
        return ctypes.c_int32.from_address(at)
    return (ctypes.c_uint64 if SCHEDULE[name].size == 8 else ctypes.c_uint32).from_address(at)
