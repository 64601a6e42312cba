"""HIP's built-in variables: they have no debug information; their values come from the target's data about the wave."""

from __future__ import annotations

from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.target.state import Target
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.vector_types import DIM3

BUILTINS = {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"}
"""Their names."""


def builtin_variable(name: str, target: Target | None, scope: Focus) -> Value | None:
    """One of `BUILTINS` for the lane of a scope; ``None`` without a lane that runs."""
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
