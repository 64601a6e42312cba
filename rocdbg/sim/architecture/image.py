"""The complete state of a run at one moment, by name: what checkpoint and core files contain, and what digests are made
of.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from msgspec import Struct

from rocdbg.sim.architecture.places import SPECIAL_BITS, WaveNumber, scalar_codes, specials
from rocdbg.sim.architecture.state import ArchitectureError
from rocdbg.sim.core import layout
from rocdbg.sim.core.global_share import GlobalShare
from rocdbg.sim.core.memory import Allocation
from rocdbg.sim.core.wave import Dim3, Wave
from rocdbg.sim.device.schedule import WaveFlag

if TYPE_CHECKING:
    from rocdbg.sim.device.dispatch import Dispatch

_BARRIER = {"waiting": WaveFlag.WAITING, "signalled": WaveFlag.SIGNALLED, "passed": WaveFlag.PASSED}


class WaveImage(Struct, frozen=True):
    """A wave: its place in the grid, and its registers. ``vectors`` and ``accumulators`` hold the vector registers that
    are allocated to the wave, one u32 for each lane. ``barrier`` is the wave's state at its workgroup's barrier
    (``waiting``, ``signalled``, ``passed``).
    """

    number: WaveNumber
    workgroup: Dim3
    index: int
    barrier: tuple[str, ...]
    special: dict[str, int]
    scalar: dict[str, int]
    vectors: bytes
    accumulators: bytes


class GroupImage(Struct, frozen=True):
    """A workgroup's LDS."""

    workgroup: Dim3
    lds: bytes


class MemoryImage(Struct, frozen=True):
    """An allocation of global memory, including the scratch of waves. ``access``: `layout.PageFlags`."""

    address: int
    kind: str
    access: int
    data: bytes


class RunImage(Struct, frozen=True):
    """A run at one moment. ``position`` is the number of wave-instructions executed, ``created`` the number of the wave
    created last. ``sync`` has the resources of global wave sync, with the u32 fields of each in order
    (`global_share.GWS_FIELDS`).
    """

    target: str
    wave_size: int
    position: int
    created: int
    waves: list[WaveImage]
    groups: list[GroupImage]
    gds: bytes
    sync: list[tuple[int, int, int, int]]
    memory: list[MemoryImage]


def capture(dispatch: Dispatch, share: GlobalShare, allocations: Iterable[Allocation]) -> RunImage:
    """The current state of a run."""
    state = dispatch.plan.state
    waves = dispatch.waves
    groups = {wave.workgroup: wave.lds for wave in waves}
    return RunImage(
        state.target.name, state.wave_size, dispatch.instructions, dispatch.created,
        [_wave(wave) for wave in waves],
        [GroupImage(workgroup, lds.tobytes()) for workgroup, lds in groups.items()],
        share.gds.tobytes(), [tuple(row) for row in share.gws.tolist()],
        [MemoryImage(a.address, a.kind.value, int(a.protection), a.data.tobytes()) for a in allocations],
    )


def digest(dispatch: Dispatch, share: GlobalShare, allocations: Iterable[Allocation]) -> bytes:
    """The digest of a run's image: 32 bytes, the same on every machine. Memory is not copied to compute it."""
    found = hashlib.sha256(msgspec.msgpack.encode(capture(dispatch, share, ())))
    for allocation in allocations:
        found.update(allocation.address.to_bytes(8, "little") + allocation.size.to_bytes(8, "little"))
        found.update(allocation.data.data)
    return found.digest()


def restore(image: RunImage, dispatch: Dispatch, share: GlobalShare, allocations: Iterable[Allocation]) -> None:
    """Set a run to the state of an image, which must have the same waves in the same places and the same allocations.

    Raises `ArchitectureError` without having changed anything.
    """
    state, waves = dispatch.plan.state, dispatch.waves
    groups = {wave.workgroup: wave.lds for wave in waves}
    _same((image.target, image.wave_size), (state.target.name, state.wave_size), "target or wave size")
    _same([(w.number, w.workgroup, w.index) for w in image.waves], [(w.number, w.workgroup, w.index) for w in waves],
          "waves")
    _same((image.position, image.created), (dispatch.instructions, dispatch.created), "positions")
    _same({g.workgroup: len(g.lds) for g in image.groups}, {group: lds.size for group, lds in groups.items()}, "LDS")
    _same((len(image.gds), len(image.sync)), (share.gds.size, len(share.gws)), "GDS")
    _same({m.address: len(m.data) for m in image.memory}, {a.address: a.size for a in allocations}, "allocations")
    for wave, saved in zip(waves, image.waves, strict=True):
        _check_wave(saved, wave)
    for fields in image.sync:
        if not all(0 <= field < 1 << 32 for field in fields):
            raise ArchitectureError("a field of a global wave sync resource has more than 32 bits")
    for wave, saved in zip(waves, image.waves, strict=True):
        _put_wave(saved, wave)
    for group in image.groups:
        groups[group.workgroup][:] = np.frombuffer(group.lds, np.uint8)
    share.gds[:] = np.frombuffer(image.gds, np.uint8)
    share.gws[:] = image.sync
    for part in image.memory:
        if part.data:
            dispatch.memory.write(part.address, part.data)  # code is decoded again
    dispatch.rewritten()


def _wave(wave: Wave) -> WaveImage:
    codes = scalar_codes(wave.target)
    scalars = wave.sgprs.tolist()
    return WaveImage(
        wave.number, wave.workgroup, wave.index,
        tuple(name for name, flag in _BARRIER.items() if wave.flags[0] & flag),
        {name: wave.field(name) for name in specials(wave.target)},
        {name: scalars[code] for name, code in codes.items()},
        _vectors(wave, False).tobytes(), _vectors(wave, True).tobytes(),
    )


def _vectors(wave: Wave, accumulators: bool) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """The vector registers that are allocated to a wave, as one contiguous part of its state."""
    place = layout.agpr_offset if accumulators else layout.vgpr_offset
    count = wave.agpr_count if accumulators else wave.vgpr_count
    return wave.state[place(0, wave.wave_size) : place(count, wave.wave_size)]


def _same(found: object, expected: object, what: str) -> None:
    if found != expected:
        raise ArchitectureError(f"the state does not belong to this launch: its {what} differ from the launch's")


def _check_wave(image: WaveImage, wave: Wave) -> None:
    _same(set(image.special), set(specials(wave.target)), f"registers of wave {wave.number}")
    _same(set(image.scalar), set(scalar_codes(wave.target)), f"registers of wave {wave.number}")
    sizes = len(image.vectors), len(image.accumulators)
    _same(sizes, (_vectors(wave, False).size, _vectors(wave, True).size), f"vector registers of wave {wave.number}")
    for name, value in (*image.special.items(), *image.scalar.items()):
        if not 0 <= value < 1 << SPECIAL_BITS.get(name, 32):
            raise ArchitectureError(f"{value:#x} does not fit into {name} of wave {wave.number}")
    if not set(image.barrier) <= set(_BARRIER):
        raise ArchitectureError(f"wave {wave.number} has an unknown barrier state: {', '.join(image.barrier)}")


def _put_wave(image: WaveImage, wave: Wave) -> None:
    for name, value in image.special.items():
        wave.set_field(name, value)
    for name, code in scalar_codes(wave.target).items():
        wave.set_sgpr(code, image.scalar[name])
    _vectors(wave, False)[:] = np.frombuffer(image.vectors, np.uint8)
    _vectors(wave, True)[:] = np.frombuffer(image.accumulators, np.uint8)
    kept = int(wave.flags[0]) & ~sum(_BARRIER.values())
    wave.flags[0] = kept | sum(_BARRIER[name] for name in set(image.barrier))


__all__ = ["GroupImage", "MemoryImage", "RunImage", "WaveImage", "capture", "digest", "restore"]
