"""Detects waves that wait for each other forever at global wave sync."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from rocdbg.sim.core.global_share import GWS_FIELDS, GWS_RESOURCES, GlobalShare
from rocdbg.sim.core.memory import GlobalMemory
from rocdbg.sim.core.wave import Wave
from rocdbg.sim.faults import instruction_at

_COUNTER, _FLAG = GWS_FIELDS.index("counter"), GWS_FIELDS.index("flag")


def is_deadlock(waves: Iterable[Wave], share: GlobalShare, memory: GlobalMemory) -> bool:
    """Whether none of the resident waves can continue, at least one of them because of a barrier or semaphore of GWS.

    Then no wave is left that could release the barrier or semaphore.
    """
    found = False
    for wave in waves:
        if wave.ended or wave.waiting:
            continue  # it continues when another wave of its workgroup arrives
        if not _is_blocked(wave, share, memory):
            return False
        found = True
    return found


def _is_blocked(wave: Wave, share: GlobalShare, memory: GlobalMemory) -> bool:
    """Whether a wave waits at GWS, and would wait again if it had its turn."""
    known = wave.word("gws")
    if not known & 1:
        return False
    instruction = instruction_at(wave.target, wave.wave_size, wave.pc, memory)
    if instruction is None:
        return False
    resource = share.gws[((wave.m0 >> 16 & 63) + int(instruction.modifiers.get("offset", 0))) % GWS_RESOURCES]
    if instruction.name == "ds_gws_barrier":
        return int(resource[_FLAG]) == known >> 1
    return instruction.name == "ds_gws_sema_p" and int(resource[_COUNTER].astype(np.int32)) <= 0
