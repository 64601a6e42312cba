"""Where a frame finds a variable that is in LDS and has no location."""

from __future__ import annotations

from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.program import lds_layout
from rocdbg.debugger.program.opencl_kernels import KERNEL_BODY, is_kernel_wrapper
from rocdbg.debugger.program.program import Program
from rocdbg.dwarf.info import Function, Variable


def lds_offset(variable: Variable, program: Program, frame: Frame | None) -> int | None:
    """The LDS offset of a variable: its symbol's, else as the backend lays out the frame's kernel; else ``None``."""
    for name in (variable.linkage_name, variable.name):
        offset = program.lds_offset(name) if name is not None else None
        if offset is not None:
            return offset
    if frame is None or variable.is_parameter:
        return None
    kernel = _kernel_of(frame, program)
    placed = lds_layout.place_variables(program, kernel) if kernel is not None else lds_layout.place_shared(program)
    return placed.get(variable.offset)


def _kernel_of(frame: Frame, program: Program) -> Function | None:
    """The kernel whose frame this is; of OpenCL the function that has its body; else the only kernel."""
    function = frame.context.function
    if function is None or not program.is_kernel(function):
        return lds_layout.sole_kernel(program)
    if is_kernel_wrapper(program, function):
        name = KERNEL_BODY + (function.linkage_name or function.name or "")
        bodies = program.info.functions_named(name)
        return next((body for body in bodies if body.low_pc is not None), function)
    return function
