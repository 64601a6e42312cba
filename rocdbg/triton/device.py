"""The simulated GPU on which Triton's kernels run, and their launches."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from rocdbg.api import GpuFault
from rocdbg.arch.target_id import TargetId
from rocdbg.arch.targets import Generation
from rocdbg.codeobject import CodeObject
from rocdbg.launch.argument_binding import Buffer, bind
from rocdbg.launch.init_kernels import initialise
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import StopKind
from rocdbg.sim.device.machine import Machine
from rocdbg.sim.services.output import Stream
from rocdbg.triton.arrays import Memories
from rocdbg.triton.errors import TritonError

_INTEGERS = {"i1": 1, "u1": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8}
_DWORD_FLOATS = ("fp32", "f32")


class Launch(Struct, frozen=True):
    """One launch of a compiled kernel: sizes in work-items and bytes, arguments as
    `rocdbg.launch.argument_binding.bind` takes them, and the memory of the arguments.
    """

    code_object: CodeObject
    kernel: str
    grid: tuple[int, int, int]
    workgroup: tuple[int, int, int]
    dynamic_lds: int
    arguments: list[Any]
    memories: Memories


class SimulatedDevice:
    """A GPU of one target. While ``intercept`` is set, launches are passed to it instead of being run."""

    def __init__(self, target: str) -> None:
        self.target_id = TargetId.parse(target)
        if self.target_id.target.generation < Generation.GFX9:
            raise TritonError(
                f"Triton cannot compile for {target}: use gfx90a, gfx942, gfx1100 or another target from gfx9 on"
            )
        self.intercept: Callable[[Launch], None] | None = None
        self.instructions = 0
        """The number of wave-instructions that the last launch executed."""
        self._machine: Machine | None = None

    @property
    def wave_size(self) -> int:
        """Lanes of a wave."""
        return self.target_id.target.default_wave_size

    def load(self, name: str, data: bytes) -> CodeObject:
        """A compiled kernel's code object."""
        return CodeObject(data, name=f"{name}.hsaco")

    @property
    def machine(self) -> Machine:
        """The device's memory and engines."""
        if self._machine is None:
            self._machine = Machine(self.target_id.target.device(str(self.target_id)))
            self._machine.services.output.sink = _show
        return self._machine

    def launch(self, launch: Launch) -> None:
        """Run a launch to its end. Raises `rocdbg.GpuFault` and `rocdbg.Error`."""
        if self.intercept is not None:
            self.intercept(launch)
            return
        machine = self.machine
        known = next((loaded for loaded in machine.loaded if loaded.code_object is launch.code_object), None)
        if known is None:
            initialise([machine.load(launch.code_object)])
        kernel = launch.code_object.kernels[launch.kernel]
        bound = bind(
            machine, kernel, launch.grid, launch.workgroup, launch.arguments, dynamic_lds=launch.dynamic_lds
        )
        try:
            while not bound.dispatch.finished:
                stop = bound.dispatch.run(RunOptions())
                if stop.is_exception:
                    raise GpuFault(launch.kernel, stop)
                if stop.kind is StopKind.INTERRUPTED:
                    raise KeyboardInterrupt
        finally:
            self.instructions = bound.dispatch.instructions
            launch.memories.copy_back([(each.buffer, each.contents) for each in bound.buffers])
            bound.release()


def _show(text: str, stream: Stream) -> None:
    """Print the output of a kernel (``tl.device_print``)."""
    to = sys.stderr if stream is Stream.STDERR else sys.stdout
    to.write(text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"))


def packed(kind: str, value: Any, name: str, memories: Memories) -> Any:
    """Convert an argument of Triton's type ``kind`` (``*fp32``, ``i32``) to a form that `bind` takes. Raises
    TritonError.
    """
    if kind.startswith("*"):
        if value is None:
            return None
        return value if isinstance(value, int) else memories.buffer(value, name)
    if kind in _INTEGERS:
        size = _INTEGERS[kind]
        return (int(value) & (1 << 8 * size) - 1).to_bytes(size, "little")
    if kind in _DWORD_FLOATS:
        return np.float32(value).tobytes()
    if kind == "fp64":
        return struct.pack("<d", value)
    if kind == "fp16":
        return np.float16(value).tobytes()
    if kind == "bf16":
        bits = int(np.float32(value).view(np.uint32))
        if value == value:
            bits += 0x7FFF + (bits >> 16 & 1)  # to nearest, ties to even
        return (bits >> 16 & 0xFFFF).to_bytes(2, "little")
    raise TritonError(f"argument {name}: the simulator cannot pass arguments of type {kind}")


def scratch(size: int) -> Buffer | None:
    """A buffer for memory that a kernel requests in addition to its arguments; None if it does not request any."""
    return Buffer("scratch", np.zeros(size, np.uint8)) if size else None


def flattened(kinds: Sequence[Any], values: Sequence[Any]) -> list[tuple[str, Any]]:
    """The types and values that the launch passes to a kernel: tuples are split into elements, and constants are left
    out.
    """
    found: list[tuple[str, Any]] = []
    for kind, value in zip(kinds, values, strict=True):
        if isinstance(kind, tuple):
            found += flattened(kind, value)
        elif kind != "constexpr":
            found.append((kind, value))
    return found


__all__ = ["Launch", "SimulatedDevice", "flattened", "packed", "scratch"]
