"""Target ids as ROCgdb writes them: agents, queues, dispatches, waves and lanes."""

from __future__ import annotations

from msgspec import Struct


def position(triple: tuple[int, int, int]) -> str:
    """Format a position of a workgroup in the grid: ``(x,y,z)``."""
    return "({},{},{})".format(*triple)


def bracketed(triple: tuple[int, int, int]) -> str:
    """Format the position of a work-item in its workgroup, or sizes: ``[x,y,z]``."""
    return "[{},{},{}]".format(*triple)


class WaveId(Struct, frozen=True):
    """The four numbers that name a wave, each from 1, in order of creation."""

    agent: int
    queue: int
    dispatch: int
    wave: int

    def __str__(self) -> str:
        return f"{self.agent}:{self.queue}:{self.dispatch}:{self.wave}"


def agent_target_id(model: str) -> str:
    """Return ``AMDGPU Agent (GPUID 1)`` as ROCgdb's table of agents has it, with the model name instead."""
    return f"AMDGPU Agent ({model})"


def queue_target_id(agent: int, queue: int) -> str:
    """Return the target id of a queue."""
    return f"AMDGPU Queue {agent}:{queue} (QID {queue - 1})"


def dispatch_target_id(agent: int, queue: int, dispatch: int, packet: int) -> str:
    """Return the target id of a dispatch; ``packet`` is its packet id (from 0)."""
    return f"AMDGPU Dispatch {agent}:{queue}:{dispatch} (PKID {packet})"


def wave_target_id(wave: WaveId, workgroup: tuple[int, int, int], index: int) -> str:
    """Return ``AMDGPU Wave 1:1:1:3 (0,0,0)/2``; ``index`` is the wave's number in its workgroup (from 0)."""
    return f"AMDGPU Wave {wave} {position(workgroup)}/{index}"


def lane_target_id(
    wave: WaveId, lane: int, workgroup: tuple[int, int, int], work_item: tuple[int, int, int]
) -> str:
    """Return ``AMDGPU Lane 1:1:1:1/5 (0,0,0)[5,0,0]``."""
    return f"AMDGPU Lane {wave}/{lane} {position(workgroup)}{bracketed(work_item)}"
