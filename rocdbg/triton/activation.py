"""`activate` makes Triton's kernels run on the simulator."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from rocdbg.triton.arrays import wrapped
from rocdbg.triton.device import SimulatedDevice
from rocdbg.triton.errors import TritonError
from rocdbg.triton.hosted import SOCKET_VARIABLE, HostedDevice

if TYPE_CHECKING:
    from collections.abc import Callable

_original: Callable[..., Any] | None = None
_driver_before: Any = None


def activate(target: str) -> SimulatedDevice:
    """Make ``kernel[grid](...)`` run on a simulated GPU, for example ``gfx942`` or ``gfx90a:xnack+``.

    A script that rocdbg has started (``rocdbg --gpu gfx942 --args python script.py``) launches kernels on the GPU of
    that rocdbg, where they can be debugged.

    It may be called again for another target, for which kernels are then compiled again. Returns the device;
    ``device.instructions`` is the number of instructions of the last launch, except on the GPU of another rocdbg.
    Raises TritonError if Triton cannot be imported, or if the rocdbg that started the script does not have such a GPU,
    and `rocdbg.Error` for a target that does not exist.
    """
    global _original, _driver_before
    try:
        from triton.compiler.compiler import max_shared_mem
        from triton.runtime import driver
        from triton.runtime.jit import JITFunction
    except ImportError as error:
        raise TritonError(f"Triton cannot be imported ({error}): pip install 'rocdbg[triton]'") from None
    from rocdbg.triton.driver import Driver

    device = HostedDevice(target) if os.environ.get(SOCKET_VARIABLE) else SimulatedDevice(target)
    if _original is None:
        _original, _driver_before = JITFunction.run, driver._active
        JITFunction.run = _run
    driver.set_active(Driver(device))
    max_shared_mem.cache_clear()
    _generation.number += 1
    return device


def deactivate() -> None:
    """Restore Triton's state before `activate`."""
    global _original
    if _original is None:
        return
    from triton.compiler.compiler import max_shared_mem
    from triton.runtime import driver
    from triton.runtime.jit import JITFunction

    JITFunction.run, _original = _original, None
    driver.set_active(_driver_before)
    max_shared_mem.cache_clear()
    _generation.number += 1


def active_device() -> SimulatedDevice:
    """The device of the last `activate`. Raises TritonError if there is none."""
    if _original is None:
        raise TritonError("no simulated GPU is active: call rocdbg.triton.activate(TARGET) first")
    from triton.runtime import driver

    device: SimulatedDevice = driver.active.device
    return device


class _Generation:
    """Counts activations, because code that a function has compiled for another target must not be used for this one.
    """

    number = 0


_generation = _Generation()


def _run(self: Any, *arguments: Any, grid: Any, warmup: bool, **keywords: Any) -> Any:
    """``JITFunction.run`` with NumPy's arrays as arguments."""
    assert _original is not None
    if getattr(self, "_rocdbg_generation", None) != _generation.number:
        self.device_caches.clear()
        self._rocdbg_generation = _generation.number
    return _original(
        self, *map(wrapped, arguments), grid=grid, warmup=warmup,
        **{name: wrapped(value) for name, value in keywords.items()},
    )


__all__ = ["activate", "active_device", "deactivate"]
