"""Kernels of kind ``init`` and ``fini``: constructors and destructors of global objects.

AMDGPU usage, metadata ``.kind``: a launcher runs ``init`` kernels after it has loaded a code object and ``fini``
kernels before it unloads it, each once. As in ROCm's runtimes, each is run by one work-item, in the order of the
metadata.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rocdbg.codeobject import Kernel
from rocdbg.codeobject.metadata import KernelKind
from rocdbg.errors import Error
from rocdbg.launch.kernel_names import kernel_kind
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import StopKind
from rocdbg.sim.device.machine import LoadedCodeObject

_SLICE: Final = 4 << 20
"""Wave-instructions between two checks for Ctrl-C."""
_MOST: Final = 1 << 31
"""Limit on the wave-instructions of one such kernel."""
_ONE: Final = (1, 1, 1)


class InitKernelError(Error):
    """A kernel of kind init or fini has not reached its end. ``kernel`` is its name."""

    def __init__(self, kernel: str, kind: KernelKind, reason: str) -> None:
        self.kernel = kernel
        super().__init__(f"{kind.value} kernel {kernel}: {reason}")


def kernels_of_kind(loaded: LoadedCodeObject, kind: KernelKind) -> list[Kernel]:
    """A code object's kernels of a kind, in order."""
    metadata = loaded.code_object.metadata
    if metadata is None:
        return []
    kernels = [loaded.code_object.kernels[name] for name in metadata.kernel_names]
    return [kernel for kernel in kernels if kernel_kind(kernel) is kind]


def initialise(loaded: Iterable[LoadedCodeObject], besides: Kernel | None = None) -> None:
    """Run the init kernels of newly loaded code objects, except a kernel that is going to be launched itself.
    Raises InitKernelError."""
    for each in loaded:
        for kernel in kernels_of_kind(each, KernelKind.INIT):
            if kernel is not besides:
                _run(each, kernel, KernelKind.INIT)


def finalise(loaded: Sequence[LoadedCodeObject], besides: Kernel | None = None) -> None:
    """Run fini kernels before code objects are unloaded, the last loaded first. Raises InitKernelError."""
    for each in reversed(loaded):
        for kernel in kernels_of_kind(each, KernelKind.FINI):
            if kernel is not besides:
                _run(each, kernel, KernelKind.FINI)


def _run(loaded: LoadedCodeObject, kernel: Kernel, kind: KernelKind) -> None:
    dispatch = loaded.machine.dispatch(kernel, _ONE, _ONE, b"")
    try:
        while not dispatch.finished:
            stop = dispatch.run(RunOptions(budget=_SLICE))
            if stop.is_exception:
                where = f"; to debug it, use \"kernel {kernel.name}\", \"set grid 1\" and \"run\""
                raise InitKernelError(kernel.name, kind, stop.message + where)
            if stop.kind is StopKind.INTERRUPTED:
                raise KeyboardInterrupt
            if dispatch.instructions > _MOST:
                raise InitKernelError(kernel.name, kind, f"the kernel has not ended within {_MOST} instructions")
    finally:
        dispatch.release()


__all__ = ["InitKernelError", "finalise", "initialise", "kernels_of_kind"]
