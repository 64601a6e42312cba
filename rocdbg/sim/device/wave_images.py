"""Makes the initial state of a workgroup's waves. It differs little between launches of one kernel, so the common part
is cached.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from rocdbg.sim.core import initial_state, layout
from rocdbg.sim.core.initial_state import DispatchState, GroupIds
from rocdbg.sim.core.wave import Dim3, Wave, state_block

_KEPT = 128
"""Maximum number of cached templates; a template takes a few kilobytes for each wave of the group."""


def wave_images(state: DispatchState, size: Dim3, id_registers: int) -> NDArray[np.uint8]:
    """The initial engine words, header, scalar file and work-item ids of the waves of a group of ``size``, uint8[wave,
    byte]. The caller must still set what differs between waves or places (number, position, scratch, LDS).
    """
    same = replace(
        state, groups=(1, 1, 1), packet_address=0, queue_address=0, kernarg_address=0, kernarg=b"", dispatch_id=0,
        scratch_address=0, scratch_descriptor=(0, 0, 0, 0),
    )  # fmt: skip
    images = _template(same, size, id_registers).copy()
    put_addresses(images, state)
    return images


def addresses(state: DispatchState) -> tuple[int, ...]:
    """The addresses in the initial state, in which dispatches of the same kind differ."""
    return initial_state.hidden_base(state), *state.user_sgprs()


def put_addresses(images: NDArray[np.uint8], state: DispatchState) -> None:
    """Write `addresses` into images."""
    hidden, *user = addresses(state)
    first = (layout.ENGINE_SIZE + layout.SGPRS) // 4
    images.view(np.uint32)[:, first : first + len(user)] = user
    if hidden:
        images.view(np.uint64)[:, (layout.ENGINE_SIZE + layout.HEADER["flat_scratch"].offset) // 8] = hidden


@lru_cache(maxsize=_KEPT)
def _template(state: DispatchState, size: Dim3, id_registers: int) -> NDArray[np.uint8]:
    """The images with user SGPRs without addresses."""
    ids = GroupIds(size, state.wave_size, id_registers, state.target.packed_work_item_ids)
    shared = initial_state.prototype(state)
    wave = Wave(
        state_block(state.target, state.wave_size), state.target, state.wave_size, 0, (0, 0, 0), 0, size,
        np.zeros(1, np.uint8),
    )  # fmt: skip
    id_bytes = id_registers * state.wave_size * 4
    images = np.zeros((len(ids.used), layout.ENGINE_SIZE + layout.SCALARS_END + id_bytes), np.uint8)
    for index in range(len(ids.used)):
        wave.index = index
        initial_state.apply(wave, state, shared, ids, 0)
        images[index] = np.concatenate((
            wave.engine, wave.state[: layout.SCALARS_END], wave.state[layout.VGPRS : layout.VGPRS + id_bytes],
        ))
    images.flags.writeable = False
    return images
