"""Reads and writes architectural state by name. Data from outside the simulator is written only in this way.

Every place and every size is checked against the launch before a byte is accessed: resident waves, the target's
registers, lanes, bytes of LDS, GDS and allocations. Places are looked up in tables of names; a number from outside
never becomes an offset into a block, except into bytes to which the program has full access.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from rocdbg.errors import Error
from rocdbg.sim.architecture.places import (
    SPECIAL_BITS,
    Gds,
    Lds,
    Memory,
    Place,
    Register,
    Special,
    Sync,
    scalar_codes,
    specials,
    vector_number,
)
from rocdbg.sim.core import layout
from rocdbg.sim.core.global_share import GWS_FIELDS, GWS_RESOURCES, GlobalShare, Origin
from rocdbg.sim.core.memory import GlobalMemory
from rocdbg.sim.core.wave import Wave
from rocdbg.text import one_line

if TYPE_CHECKING:
    from rocdbg.sim.device.dispatch import Dispatch
    from rocdbg.sim.device.dispatch_plan import DispatchPlan

_SYNC_BYTES: Final = 4 * len(GWS_FIELDS)
_MOST_SYNC: Final = {"flag": 1, "origin": max(Origin)}
"""The largest values of those fields of a resource that are not counters."""


class ArchitectureError(Error):
    """A run does not have a place, or bytes do not fit the place."""

    def __init__(self, reason: str) -> None:
        super().__init__(one_line(reason))


class Extent(Struct, frozen=True):
    """The sizes of everything that a launch has, against which names are checked before the run begins."""

    first_wave: int
    waves: int
    """Number of waves of the whole grid."""
    at_once: int
    """Maximum number of waves that exist at a time."""

    @classmethod
    def of(cls, plan: DispatchPlan) -> Extent:
        """The extent of a launch."""
        waves = plan.waves
        return cls(plan.first_wave, waves, min(waves, plan.resident_groups * plan.waves_per_group))

    def check_wave(self, number: int, position: int) -> None:
        """Raise `ArchitectureError` for a wave that cannot exist after ``position`` instructions of the run. After the
        first ones, a wave is created only when another has ended, which takes at least one instruction.
        """
        index = number - self.first_wave
        if not 0 <= index < self.waves:
            raise ArchitectureError(f"there is no wave {number}: the launch has {self.waves} waves")
        if index - self.at_once >= position:
            raise ArchitectureError(f"wave {number} does not exist at position {position}")


class ArchitecturalState:
    """The state of a dispatch's waves and of its device."""

    def __init__(self, dispatch: Dispatch, memory: GlobalMemory, share: GlobalShare) -> None:
        self._dispatch, self._memory, self._share = dispatch, memory, share
        self._target = dispatch.plan.state.target
        self._wave_size = dispatch.plan.state.wave_size

    def check(self, place: Place, data: bytes) -> None:
        """Check whether the launch can have these bytes at a place, whichever waves exist now. Raises
        `ArchitectureError`.
        """
        problem = self._problem(place, len(data))
        if problem is None and isinstance(place, Special):
            value = int.from_bytes(data, "little")
            problem = f"{value:#x} does not fit into {place.name}" if value >> SPECIAL_BITS[place.name] else None
        elif problem is None and isinstance(place, Sync):
            problem = _sync_problem(np.frombuffer(data, np.uint32))
        if problem is not None:
            raise ArchitectureError(problem)

    def read(self, place: Place, size: int) -> bytes:
        """Bytes at a place. Raises `ArchitectureError`."""
        problem = self._problem(place, size)
        if problem is not None:
            raise ArchitectureError(problem)
        if isinstance(place, Special):
            return self._wave(place.wave).field(place.name).to_bytes(size, "little")
        return self._view(place, size).tobytes()

    def write(self, place: Place, data: bytes) -> None:
        """Write these bytes to a place. Raises `ArchitectureError` without having changed anything."""
        self.check(place, data)
        if isinstance(place, Special):
            self._wave(place.wave).set_field(place.name, int.from_bytes(data, "little"))
        elif isinstance(place, Memory):
            self._memory.write(place.address, data)
        else:
            self._view(place, len(data))[:] = np.frombuffer(data, np.uint8)

    # -- checks

    def _problem(self, place: Place, size: int) -> str | None:
        """The reason why the launch does not have these bytes; None if it does."""
        match place:
            case Register(_, name, lane):
                if name in scalar_codes(self._target):
                    return None if (lane, size) == (0, 4) else f"scalar register {name} has 4 bytes"
                if vector_number(name, self._target) is None:
                    return f"{self._target.name} has no register {name}"
                fits = 0 <= lane < self._wave_size and 0 < size <= 4 * (self._wave_size - lane) and not size % 4
                return None if fits else f"{name} does not have {size} bytes from lane {lane} on"
            case Special(_, name):
                if name not in specials(self._target):
                    return f"{self._target.name} has no register {name}"
                width = max(1, SPECIAL_BITS[name] // 8)
                return None if size == width else f"register {name} has {width} bytes, not {size}"
            case Lds(_, offset):
                return _outside("LDS", offset, size, self._dispatch.plan.state.lds_size)
            case Gds(offset):
                return _outside("GDS", offset, size, self._share.gds.size)
            case Sync(number):
                if not 0 <= number < GWS_RESOURCES:
                    return f"there is no global wave sync resource {number}"
                if size == _SYNC_BYTES:
                    return None
                return f"a global wave sync resource has {_SYNC_BYTES} bytes, not {size}"
            case Memory(address):
                allocation = self._memory.find(address)
                fits = allocation is not None and 0 < size <= allocation.end - address
                return None if fits else f"there is no allocation with {size} bytes at {address:#x}"

    # -- location

    def _wave(self, number: int) -> Wave:
        wave = self._dispatch.resident(number)
        if wave is None:
            raise ArchitectureError(f"wave {number} does not exist at position {self._dispatch.instructions}")
        return wave

    def _view(self, place: Place, size: int) -> NDArray[np.uint8]:
        """The bytes of a place that has been checked."""
        match place:
            case Register(number, name, lane):
                wave = self._wave(number)
                code = scalar_codes(self._target).get(name)
                if code is not None:
                    return wave.sgprs[code : code + 1].view(np.uint8)
                found = vector_number(name, self._target)
                assert found is not None
                register = wave.agpr(found[1]) if found[0] else wave.vgpr(found[1])
                return register[lane : lane + size // 4].view(np.uint8)
            case Lds(number, offset):
                return self._wave(number).lds[offset : offset + size]
            case Gds(offset):
                return self._share.gds[offset : offset + size]
            case Sync(resource):
                fields: NDArray[np.uint8] = self._share.gws[resource].view(np.uint8)
                return fields
            case Memory(address):
                return self._memory.view(address, size)
        raise TypeError(place)

    # -- inverse

    def changes(self, wave: Wave, before: NDArray[np.uint8]) -> Iterator[tuple[Place, bytes]]:
        """The places whose contents differ from a wave's earlier state ``before``."""
        after = wave.state
        for name in specials(self._target):
            field = layout.HEADER[name]
            at = slice(field.offset, field.offset + field.size)
            if not np.array_equal(before[at], after[at]):
                yield Special(wave.number, name), after[at].tobytes()[: max(1, SPECIAL_BITS[name] // 8)]
        for name, code in scalar_codes(self._target).items():
            at = slice(layout.sgpr_offset(code), layout.sgpr_offset(code + 1))
            if not np.array_equal(before[at], after[at]):
                yield Register(wave.number, name), after[at].tobytes()
        old, new = (state[layout.VGPRS :].view(np.uint32).reshape(-1, self._wave_size) for state in (before, after))
        for row in np.flatnonzero((old != new).any(axis=1)).tolist():
            # AGPRs follow the 256 VGPRs on targets that have them.
            is_accumulator = self._target.has_agprs and row >= layout.VGPR_COUNT
            name = f"a{row - layout.VGPR_COUNT}" if is_accumulator else f"v{row}"
            lanes = np.flatnonzero(old[row] != new[row])
            low, high = int(lanes[0]), int(lanes[-1]) + 1
            yield Register(wave.number, name, low), new[row, low:high].tobytes()

    def place_at(self, host: int, size: int) -> Iterator[tuple[Place, bytes]]:
        """Yield the places and contents of host bytes that do not belong to an allocation but to GDS, GWS or LDS;
        nothing for the engine's bytes.
        """
        share = self._share
        for memory, place in ((share.gds, Gds), (share.gws.view(np.uint8).reshape(-1), None)):
            found = _part(memory, host, size)
            if found is None:
                continue
            low, high = found
            if place is not None:
                yield place(low), memory[low:high].tobytes()
                return
            for resource in range(low // _SYNC_BYTES, high // _SYNC_BYTES):
                yield Sync(resource), share.gws[resource].tobytes()
            return
        seen: set[int] = set()
        for wave in self._dispatch.waves:
            start = int(wave.lds.ctypes.data)
            found = _part(wave.lds, host, size) if start not in seen else None
            seen.add(start)
            if found is not None:
                yield Lds(wave.number, found[0]), wave.lds[found[0] : found[1]].tobytes()
                return


def _sync_problem(fields: NDArray[np.uint32]) -> str | None:
    for name, most in _MOST_SYNC.items():
        value = int(fields[GWS_FIELDS.index(name)])
        if value > most:
            return f"{name} of a global wave sync resource cannot be {value}"
    return None


def _outside(what: str, offset: int, size: int, limit: int) -> str | None:
    if offset >= 0 and 0 < size <= limit - offset:
        return None
    return f"{what} has {limit} bytes, so there are no {size} bytes at offset {offset}"


def _part(memory: NDArray[np.uint8], host: int, size: int) -> tuple[int, int] | None:
    """The part of some host bytes that is in an array, as begin and end in the array; None if no part of them is."""
    low = host - int(memory.ctypes.data)
    return (low, min(low + size, memory.size)) if 0 <= low < memory.size else None


__all__ = ["ArchitecturalState", "ArchitectureError", "Extent"]
