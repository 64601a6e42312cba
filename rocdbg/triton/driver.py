"""Triton's driver for the simulator: provides what `triton.runtime.driver` requires of a GPU, without torch.

The interface is that of ``triton.backends.amd.driver`` in Triton 3.9.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase, decompose_descriptor, expand_signature

from rocdbg.codeobject import CodeObject
from rocdbg.triton.arrays import Memories
from rocdbg.triton.device import Launch, SimulatedDevice, flattened, packed, scratch
from rocdbg.triton.errors import TritonError

_COMPUTE_UNITS = 4
_MAX_THREADS = 1024


class Utilities:
    """The driver's ``utils``: properties of the device, and loading of binaries."""

    def __init__(self, device: SimulatedDevice) -> None:
        self._device = device

    def get_device_properties(self, device: int) -> dict[str, Any]:
        """The properties under HIP's names."""
        target = self._device.target_id.target
        return {
            "max_shared_mem": target.lds_size, "max_num_regs": target.vgpr_file, "arch": str(self._device.target_id),
            "multiprocessor_count": _COMPUTE_UNITS, "sm_clock_rate": 1, "mem_clock_rate": 1, "mem_bus_width": 1,
            "warpSize": self._device.wave_size, "cooperativeLaunch": True, "asicRevision": 0,
        }

    def load_binary(
        self, name: str, data: bytes, shared: int, device: int
    ) -> tuple[CodeObject, CodeObject, int, int, int]:
        """Load a kernel; returns module, function, number of registers, number of spilled registers, and the most
        threads in a block.
        """
        loaded = self._device.load(name, data)
        metadata = loaded.kernels[name].metadata
        registers = metadata.vgpr_count if metadata is not None else 0
        spills = metadata.vgpr_spill_count if metadata is not None else 0
        return loaded, loaded, registers, spills, _MAX_THREADS

    def unload_module(self, module: CodeObject) -> None:
        """Forget a compiled kernel."""
        machine = self._device.machine
        for loaded in [loaded for loaded in machine.loaded if loaded.code_object is module]:
            machine.unload(loaded)


class Launcher:
    """Launches one compiled kernel."""

    device: SimulatedDevice

    def __init__(self, src: Any, metadata: Any) -> None:
        if getattr(metadata, "tensordesc_meta", None):
            raise TritonError("tensor descriptors of the tensor data mover (gfx1250) are not supported")
        self._metadata = metadata
        self._kinds = list(src.signature.values())
        self._names = [str(name) for name in src.signature]

    def __call__(
        self, x: int, y: int, z: int, stream: int, function: CodeObject, kernel_metadata: Any, launch_metadata: Any,
        enter: Callable[[Any], None] | None, leave: Callable[[Any], None] | None, *arguments: Any,
    ) -> None:
        if x * y * z <= 0:
            return
        metadata, memories = self._metadata, Memories(copies=self.device.intercept is not None)
        passed = []
        for name, kind, value in zip(self._names, self._kinds, arguments, strict=True):
            for part, each in self._parts(kind, value):
                passed.append(packed(part, each, name, memories))
        groups = x * y * z
        passed.append(scratch(metadata.global_scratch_size * groups))
        passed.append(scratch(metadata.profile_scratch_size * groups))
        threads = metadata.num_warps * metadata.warp_size
        launch = Launch(
            function, metadata.name, (x * threads, y, z), (threads, 1, 1), metadata.shared, passed, memories
        )
        if enter is not None:
            enter(launch_metadata)
        self.device.launch(launch)
        if leave is not None:
            leave(launch_metadata)

    @staticmethod
    def _parts(kind: Any, value: Any) -> list[tuple[str, Any]]:
        if isinstance(kind, str) and kind.startswith("tensordesc"):
            return flattened(expand_signature([kind], None, "tensordesc"), decompose_descriptor(value))
        return flattened([kind], [value])


class Driver(DriverBase):  # type: ignore[misc]
    """A `triton.backends.driver.DriverBase` over a `SimulatedDevice`."""

    def __init__(self, device: SimulatedDevice) -> None:
        super().__init__()
        self.device = device
        self.utils = Utilities(device)
        self.launcher_cls = type("Launcher", (Launcher,), {"device": device})

    @classmethod
    def is_active(cls) -> bool:
        """Whether Triton should choose this driver by itself. It never should: only `rocdbg.triton.activate` selects
        the driver.
        """
        return False

    def get_current_target(self) -> GPUTarget:
        """The target for which kernels are compiled."""
        return GPUTarget("hip", self.device.target_id.target.name, self.device.wave_size)

    def map_python_to_cpp_type(self, ty: str) -> str:
        """The name of a type in C, as in the AMD backend; no launcher is compiled here."""
        from triton.backends.amd.driver import ty_to_cpp

        return str(ty_to_cpp(ty))

    def get_current_device(self) -> int:
        """The number of the only device."""
        return 0

    def set_current_device(self, device: int) -> None:
        """Do nothing: there is only one device."""

    def get_current_stream(self, device: int) -> int:
        """There are no streams: a launch has ended when it returns."""
        return 0

    def get_device_capability(self, device: int = 0) -> tuple[int, int]:
        """Major and minor version number, as torch gives them for AMD's GPUs."""
        name = self.device.target_id.target.name.removeprefix("gfx")
        return int(name[:-2] or "0"), int(name[-2], 16)

    @cached_property
    def _interface(self) -> Interface:
        return Interface()

    def get_device_interface(self) -> Interface:
        """The part of the interface of ``torch.cuda`` that has a meaning here."""
        return self._interface

    def get_active_torch_device(self) -> Any:
        """The device for tensors, which is torch's CPU."""
        import torch

        return torch.device("cpu")

    def get_benchmarker(self) -> Callable[..., Any]:
        """A benchmark for `triton.autotune`: it ranks configurations by the number of instructions executed, which is
        the same in every run.
        """

        def benchmark(call: Callable[[], Any], *, quantiles: Sequence[float] = (), **options: Any) -> Any:
            call()
            count = float(self.device.instructions)
            return [count] * len(quantiles) if quantiles else count

        return benchmark

    def get_empty_cache_for_benchmark(self) -> None:
        """There is no cache to empty."""

    def clear_cache(self, cache: None) -> None:
        """There is no cache to empty."""


class Interface:
    """A device interface like ``torch.cuda``; all work has already been completed when a method is called."""

    def current_device(self) -> int:
        """The number of the only device."""
        return 0

    def device_count(self) -> int:
        """The number of devices."""
        return 1

    def set_device(self, device: int) -> None:
        """Do nothing: there is only one device."""

    def synchronize(self, device: int | None = None) -> None:
        """Nothing to wait for: launches have ended when they return."""

    @contextlib.contextmanager
    def device(self, device: int) -> Iterator[None]:
        """A context in which a device is selected; there is only one device."""
        yield


__all__ = ["Driver", "Interface", "Launcher", "Utilities"]
