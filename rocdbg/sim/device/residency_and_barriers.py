"""The workgroups and waves of a dispatch that exist, in memory shared with native code (see
`rocdbg.sim.device.schedule`).

`rocdbg.sim.translator.scheduler` does natively what this module does for one wave at a time, in the same order and
with the same results.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rocdbg.arch.targets import ScratchKind
from rocdbg.sim.core import initial_state, layout
from rocdbg.sim.core.initial_state import DispatchState
from rocdbg.sim.core.layout import WORDS
from rocdbg.sim.core.memory import Allocation
from rocdbg.sim.core.wave import Dim3, StateBlock, Wave
from rocdbg.sim.device.schedule import Schedule, WaveFlag, next_random
from rocdbg.sim.device.workgroup_places import NONE, Fields, Places

_COUNT = layout.ENGINE["instructions"].offset - layout.ENGINE_OFFSET


class Residency:
    """The resident workgroups of a dispatch. A *place* is what one workgroup occupies: state blocks, LDS, scratch.

    ``places`` is the memory of the places, ``scratch`` the scratch of all places, ``first_wave`` the number of the
    first wave. No wave exists before `fill`, or `Engine.fill`, which does the same. ``address`` is the host address of
    the schedule.
    """

    def __init__(
        self, state: DispatchState, places: Places, scratch: Allocation | None, first_wave: int = 1
    ) -> None:
        self.dispatch, self.places = state, places
        self.address, self.group_waves = places.address, places.group_waves
        self._scratch = scratch
        self._fields = places.fields
        self._flags, self._next, self._previous = places.flags, places.following, places.previous
        self._waves: dict[int, Wave] = {}  # the `Wave` objects that were requested, by slot
        self._words: NDArray[np.uint8] | None = None
        self.private = True
        """Whether no code outside this object uses its memory, so that another dispatch can reuse the memory
        afterwards.
        """
        places.begin(state, scratch, first_wave)

    def fill(self) -> None:
        """Create the first workgroups, as many as there is room for."""
        fresh, self.places.used = not self.places.used, True
        for place in range(self.places.count):
            self._create(place, clean=fresh, clean_scratch=True)

    def leave(self) -> None:
        """Give up the places after all waves have ended: they may now belong to another dispatch, and further queries
        are answered from the final state.
        """
        self._fields = Fields.from_buffer_copy(self._fields)
        self._flags = np.zeros_like(self._flags)

    @property
    def fields(self) -> Fields:
        """The schedule."""
        return self._fields

    # -- fields of the schedule ------------------------------------------------------------------------------

    def get(self, name: str) -> int:
        """A field of `schedule.SCHEDULE`."""
        return int(getattr(self._fields, name))

    def set(self, name: str, value: int) -> None:
        """Set a field of `schedule.SCHEDULE`."""
        setattr(self._fields, name, value)

    # -- waves -----------------------------------------------------------------------------------------------

    @property
    def empty(self) -> bool:
        """Whether no wave is resident; in that case, no waves remain to be created either."""
        return self.get("first") == NONE

    def slots(self) -> Iterator[int]:
        """The occupied wave slots in order of creation of their waves."""
        slot = self.get("first")
        while slot != NONE:
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

    def choose(self, schedule: Schedule) -> None:
        """Set the length of turns from now on."""
        self.set("quantum", schedule.quantum)
        self.set("is_random", schedule.seed is not None)
        self.set("random", next_random(schedule.seed or 0))

    def next_turn_length(self) -> int:
        """Wave-instructions of the next turn."""
        quantum = self.get("quantum")
        if not self.get("is_random"):
            return quantum
        state = next_random(self.get("random"))
        self.set("random", state)
        return (state >> 32) % quantum + 1

    def executed(self) -> int:
        """Wave-instructions executed by all waves so far."""
        if self.empty:
            return self.get("retired")
        counts = self.places.engine[:, _COUNT : _COUNT + 8].view(np.uint64)[:, 0]
        return self.get("retired") + int(counts[self._flags != 0].sum())

    def progress(self) -> tuple[int, int, int]:
        """The number of wave-instructions executed, of workgroups that have ended, and of workgroups in the grid. This
        may be called while native code runs; the numbers may then be slightly old."""
        places = self._flags.reshape(-1, self.group_waves).any(axis=1)
        x, y, z = self.dispatch.groups
        ended = x * y * z - self.get("positions_left") - int(np.count_nonzero(places))
        return self.executed(), ended, x * y * z

    def _at(self, slot: int, field: str) -> int:
        return self.get("states") + slot * self.get("state_stride") + WORDS[field].offset

    def wave(self, slot: int) -> Wave:
        """The wave in a slot; the same object while that wave is resident."""
        number = self.number(slot)
        wave = self._waves.get(slot)
        if wave is None or wave.number != number:
            self.private = False
            state, block = self.dispatch, StateBlock(self.places.states[slot], self.places.engine[slot])
            x, y, z = (
                ctypes.c_uint32.from_address(self._at(slot, name)).value
                for name in ("workgroup_x", "workgroup_y", "workgroup_z")
            )
            place, index = divmod(slot, self.group_waves)
            wave = Wave(
                block, state.target, state.wave_size, number, (x, y, z), index, self.places.group_size((x, y, z)),
                self.places.lds[place, : state.lds_size], self._flags[slot : slot + 1],
            )
            wave.sgpr_count, wave.vgpr_count, wave.agpr_count = self.places.registers
            self._waves[slot] = wave
        return wave

    def slot_of(self, wave: Wave) -> int:
        """The slot of a resident wave."""
        return (wave.address - self.get("states")) // self.get("state_stride")

    def synchronise(self) -> None:
        """Update the `Wave` objects of waves that ended while native code ran."""
        for slot, wave in list(self._waves.items()):
            if not self._flags[slot] or self.number(slot) != wave.number:
                wave.retire()
                del self._waves[slot]

    def renumber(self, delta: int) -> None:
        """Add a number to the numbers of all waves, including later ones."""
        for slot in self.slots():
            ctypes.c_uint64.from_address(self._at(slot, "number")).value = self.number(slot) + delta
        for name in ("created", "numbered_before"):
            self.set(name, self.get(name) + delta)
        for name in ("cursor", "turn_of"):
            if self.get(name):
                self.set(name, self.get(name) + delta)
        self._waves.clear()

    def clear(self) -> None:
        """End all waves where they are; no more are created."""
        self.set("positions_left", 0)
        self.set("first", NONE)
        self._flags[:] = 0
        self.synchronise()

    def known(self) -> list[Wave]:
        """The `Wave` objects that were requested: code outside the engine can have changed only these waves."""
        return list(self._waves.values())

    def memory(self) -> list[NDArray[np.uint8]]:
        """The state of the waves and their schedule, as arrays of bytes that do not move. The waves' engine words are a
        copy, which `keep_words` makes; this method calls it.
        """
        self.private = False
        places = self.places
        parts = places.used_parts(places.states.shape[1])
        if self._words is None:
            self._words = np.empty(places.engine.shape, np.uint8)
        self.keep_words()
        arrays = [
            places.block, self._words.reshape(-1), self._flags, self._next.view(np.uint8),
            self._previous.view(np.uint8),
        ]
        arrays += [row[low:high] for row in places.states for low, high in parts]
        return arrays + list(places.lds)

    def keep_words(self) -> None:
        """Copy the engine words of all waves into the array that `memory` returns. Together they take few pages; in
        their own places each takes a page.
        """
        if self._words is not None:
            self._words[:] = self.places.engine

    def restore_words(self) -> None:
        """The inverse of `keep_words`."""
        if self._words is not None:
            self.places.engine[:] = self._words

    # -- turns -----------------------------------------------------------------------------------------------

    def next_slot(self) -> int | None:
        """The slot whose turn it is: the first runnable wave from the cursor on, with wrap-around; None if all wait."""
        first, cursor = None, self.get("cursor")
        for slot in self.slots():
            if self._flags[slot] & WaveFlag.WAITING:
                continue
            if self.number(slot) >= cursor:
                return slot
            first = slot if first is None else first
        return first

    def set_reported(self, slot: int, reported: bool) -> None:
        """Record whether the wave was reported at its current place."""
        if reported:
            self._flags[slot] |= WaveFlag.REPORTED
        else:
            self._flags[slot] &= 0xFF ^ WaveFlag.REPORTED

    def resume_turns(self, cursor: int, turn_of: int, turn_left: int, random: int) -> None:
        """Give the next turn to the first runnable wave with number ``cursor`` or a higher one. ``turn_of``: the wave
        whose turn is not over and has ``turn_left`` instructions left; ``random``: the generator's state."""
        self.set("following", NONE)
        self.set("cursor", cursor)
        self.set("turn_of", turn_of)
        self.set("turn_left", min(turn_left, self.get("quantum")))
        self.set("random", random)

    # -- barriers --------------------------------------------------------------------------------------------

    def signal(self, slot: int) -> bool:
        """Record that the wave arrives at its group's barrier. Returns whether it is the first to do so."""
        first = not (self._group(slot) & WaveFlag.SIGNALLED).any()
        self._flags[slot] |= WaveFlag.SIGNALLED
        self._complete(slot)
        return first

    def wait(self, slot: int) -> None:
        """Make the wave wait for the barrier that it signalled, unless that barrier is complete."""
        if self._flags[slot] & WaveFlag.PASSED:
            self._flags[slot] &= 0xFF ^ WaveFlag.PASSED
        else:
            self._flags[slot] |= WaveFlag.WAITING

    def barrier_state(self, slot: int) -> int:
        """The value of s_get_barrier_state for the group's barrier: signals in bits 22:16, members in 10:4, valid in 0.
        """
        flags = self._group(slot)
        members, signals = (int(np.count_nonzero(flags & f)) for f in (WaveFlag.RESIDENT, WaveFlag.SIGNALLED))
        return signals << 16 | members << 4 | 1

    def arrive(self, slot: int) -> None:
        """Handle ``s_barrier``: signal the barrier and wait for it."""
        self._flags[slot] |= WaveFlag.WAITING
        self.signal(slot)

    def _group(self, slot: int) -> NDArray[np.uint8]:
        """Flags of the slots of a slot's workgroup."""
        first = slot - slot % self.group_waves
        flags: NDArray[np.uint8] = self._flags[first : first + self.group_waves]
        return flags

    def _complete(self, slot: int) -> None:
        """Complete the barrier if every wave of the group that has not ended has signalled."""
        flags = self._group(slot)
        if ((flags & (WaveFlag.RESIDENT | WaveFlag.SIGNALLED)) == WaveFlag.RESIDENT).any():
            return
        passes = (flags & WaveFlag.RESIDENT != 0) & (flags & WaveFlag.WAITING == 0)
        flags &= np.uint8(0xFF ^ (WaveFlag.SIGNALLED | WaveFlag.WAITING))
        flags[passes] |= np.uint8(WaveFlag.PASSED)

    # -- creation and end ------------------------------------------------------------------------------------

    def end(self, slot: int) -> None:
        """Handle the end of a wave; the last wave of its group makes room for the next group."""
        self.set("retired", self.get("retired") + self.instructions(slot))
        self._flags[slot] = 0
        wave = self._waves.pop(slot, None)
        if wave is not None:
            wave.retire()
        before, after = int(self._previous[slot]), int(self._next[slot])
        if before == NONE:
            self.set("first", after)
        else:
            self._next[before] = after
        if after == NONE:
            self.set("last", before)
        else:
            self._previous[after] = before
        if self._group(slot).any():
            self._complete(slot)
        else:
            self._create(slot // self.group_waves)

    def _create(self, place: int, *, clean: bool = False, clean_scratch: bool = False) -> None:
        """Create the next workgroup, if there is one. ``clean`` means that nothing has run in its place;
        ``clean_scratch`` that nothing has used its scratch.
        """
        left = self.get("positions_left")
        if not left:
            return
        position = self._take_position()
        self.set("positions_left", left - 1)
        state, scratch = self.dispatch, self._scratch
        # A new group must not depend on what ran in its place before.
        if not clean:
            self.places.lds[place] = 0
        if scratch is not None and not clean_scratch:
            size = self.group_waves * state.wave_scratch_size
            scratch.data[place * size : (place + 1) * size] = 0
        images = self.places.images(self.places.group_size(position))
        for index, image in enumerate(images):
            slot = place * self.group_waves + index
            offset = slot * state.wave_scratch_size
            self._start(slot, image, clean)
            values = initial_state.varying_values(position, offset)
            block = self.places.states[slot].view(np.uint32)
            for code, varying in self.places.patches:
                block[layout.sgpr_offset(code) // 4] = values[varying]
            number = self.get("created") + 1
            self.set("created", number)
            base = state.scratch_address + offset
            wide = {"number": number, "lds_pointer": int(self.places.lds[place].ctypes.data), "scratch_base": base}
            if state.target.scratch is ScratchKind.ARCHITECTED:
                wide["flat_scratch"] = base
            for name, value in wide.items():
                ctypes.c_uint64.from_address(self._at(slot, name)).value = value
            for name, value in zip(("workgroup_x", "workgroup_y", "workgroup_z"), position, strict=True):
                ctypes.c_uint32.from_address(self._at(slot, name)).value = value
            self._append(slot)

    def _start(self, slot: int, image: NDArray[np.uint8], clean: bool) -> None:
        """Set those registers of a new wave that are the same in all waves with the same index in their workgroups."""
        block, ids = self.places.states[slot], layout.VGPRS + self.get("id_bytes")
        self.places.engine[slot], image = image[: layout.ENGINE_SIZE], image[layout.ENGINE_SIZE :]
        block[: layout.SCALARS_END] = image[: layout.SCALARS_END]
        block[layout.VGPRS : ids] = image[layout.SCALARS_END :]
        if not clean:
            block[ids : ids + self.get("vgpr_bytes")] = 0
            start = self.get("agpr_offset")
            block[start : start + self.get("agpr_bytes")] = 0

    def _take_position(self) -> Dim3:
        """Take the position of the next group, x fastest."""
        x, y, z = (self.get(name) for name in ("group_x", "group_y", "group_z"))
        following = [x + 1, y, z]
        for n in range(2):
            if following[n] == self.dispatch.groups[n]:
                following[n : n + 2] = 0, following[n + 1] + 1
        for name, value in zip(("group_x", "group_y", "group_z"), following, strict=True):
            self.set(name, value)
        return x, y, z

    def _append(self, slot: int) -> None:
        last = self.get("last") if not self.empty else NONE
        self._flags[slot] = WaveFlag.RESIDENT
        self._next[slot], self._previous[slot] = NONE, last
        if last == NONE:
            self.set("first", slot)
        else:
            self._next[last] = slot
        self.set("last", slot)
