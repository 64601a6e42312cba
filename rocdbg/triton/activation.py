"""`activate`: from then on Triton's kernels run on the simulator."""

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
    """Let ``kernel[grid](...)`` run on a simulated GPU, ``gfx942`` or ``gfx90a:xnack+`` for instance.

    A script that rocdbg has started (``rocdbg --gpu gfx942 --args python script.py``) launches on that one's GPU, where
    its kernels can be debugged.

    It may be called again for another target: kernels are compiled anew. Returns the device; ``device.instructions``
    counts those of the last launch, but on another rocdbg's GPU. Raises TritonError where Triton cannot be imported, or
    that rocdbg has no such GPU, and `rocdbg.Error` for a target that does not exist.
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
    """Let Triton be as it was before `activate`."""
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
    """The device of `activate`. Raises TritonError where there is none."""
    if _original is None:
        raise TritonError("no simulated GPU is active: call rocdbg.triton.activate(TARGET) first")
    from triton.runtime import driver

    device: SimulatedDevice = driver.active.device
    return device


class _Generation:
    """Counts activations: what a function has compiled for another target is not for this one."""

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
