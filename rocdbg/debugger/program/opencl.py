"""What clang makes of an OpenCL kernel: a wrapper by its name, and a function of its own with its body."""

from __future__ import annotations

from rocdbg.debugger.program.program import Program
from rocdbg.dwarf.info import Function

KERNEL_BODY = "__clang_ocl_kern_imp_"
"""How the name of a body begins."""


def is_kernel_body(function: Function) -> bool:
    """Whether a function is the body of an OpenCL kernel; the kernel itself only calls it."""
    return (function.linkage_name or function.name or "").startswith(KERNEL_BODY)


def is_kernel_wrapper(program: Program, function: Function) -> bool:
    """Whether a function is an OpenCL kernel whose body is a function of its own."""
    if function.unit.language_name != "opencl" or is_kernel_body(function):
        return False
    name = function.linkage_name or function.name or ""
    return bool(program.info.functions_named(KERNEL_BODY + name))
