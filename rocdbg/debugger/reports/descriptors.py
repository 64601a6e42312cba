"""Kernel descriptors by name: ``saxpy.kd``."""

from __future__ import annotations

from collections.abc import Iterable

from rocdbg.codeobject import Kernel
from rocdbg.debugger.program.program import Program
from rocdbg.launch.kernel_names import KernelMap

SUFFIX = ".kd"
QUOTES = "'\""


def described_kernel(programs: Iterable[Program], text: str) -> Kernel | None:
    """The kernel whose descriptor a text names (``saxpy.kd``, in quotes or not), or ``None``.

    In front of the suffix is the symbol or the name in the source; of several kernels of that name (overloads, or
    the same in two code objects) the first is meant.
    """
    name = text.strip()
    if len(name) > 1 and name[0] in QUOTES and name[-1] == name[0]:
        name = name[1:-1]
    stem = name.removesuffix(SUFFIX)
    if stem == name:
        return None
    for program in programs:
        info = program.info if program.has_debug_info else None
        for kernel in KernelMap(program.code_object, info).candidates(stem):
            return kernel
    return None
