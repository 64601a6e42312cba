"""HIP's built-in variables. They have no debug information; the target's data about the wave provides their values."""

from __future__ import annotations

from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.target.capabilities.target_state import Target
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.vector_types import DIM3

BUILTINS = {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"}
"""The names of the built-in variables."""


def builtin_variable(name: str, target: Target | None, scope: Focus) -> Value | None:
    """Return one of `BUILTINS` for the lane of a focus; ``None`` without a running lane."""
    thread, lane = scope.thread, scope.lane
    if target is None or thread is None or lane is None:
        return None
    wave = target.wave(thread)
    if name == "warpSize":
        return Value.of_int(c_types.UNSIGNED_INT, wave.lane_count)
    groups = tuple(
        -(-total // size) if size else 0 for total, size in zip(wave.grid, wave.full_workgroup, strict=True)
    )
    triple = {
        "threadIdx": wave.work_item(lane),
        "blockIdx": wave.workgroup,
        "blockDim": wave.full_workgroup,
        "gridDim": groups,
    }[name]
    return Value(DIM3, data=b"".join(part.to_bytes(4, "little") for part in triple))
