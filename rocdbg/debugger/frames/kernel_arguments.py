"""Entry values of a kernel's parameters, read from the kernarg segment.

Compilers drop the locations of an optimised kernel's parameters, although nothing overwrites the kernarg segment, in
which they were passed. GDB shows such an entry value as ``x@entry``.
"""

from __future__ import annotations

from rocdbg.codeobject.metadata import KernelArg
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.frames.routine_of_frame import routine_of
from rocdbg.debugger.program.functions_with_code import Routine
from rocdbg.debugger.program.opencl_kernels import is_kernel_body, is_kernel_wrapper
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.target.capabilities.target_state import Target
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_storage import AbsentError, Memory, MemoryStorage
from rocdbg.dwarf.info import Variable
from rocdbg.errors import Error

_TRITON = "triton"
_TRITONS_OWN = 2
"""How many arguments Triton adds: scratch memory for the grid, and for a profiler."""


def is_absent(value: Value) -> bool:
    """Whether a value is entirely unavailable."""
    try:
        value.fetched()
    except AbsentError:
        return True
    except Error:
        return False
    return value.absence is not None


def passed_argument(program: Program, routine: Routine, parameter: Variable) -> KernelArg | None:
    """Return the explicit argument of a kernel's parameter; None if the routine is not a kernel or has no known layout.

    The n-th parameter is the n-th explicit argument in the metadata, provided that their numbers and sizes agree.
    Triton passes two additional pointers, which the source does not mention.
    """
    known, key = program.passed_arguments, (routine.scope.offset, parameter.offset)
    if key not in known:
        known[key] = _find_argument(program, routine, parameter)
    return known[key]


def _find_argument(program: Program, routine: Routine, parameter: Variable) -> KernelArg | None:
    low = routine.function.low_pc
    if routine.calls and not (
        len(routine.calls) == 1 and is_kernel_body(routine.source) and is_kernel_wrapper(program, routine.function)
    ):
        return None
    symbol = program.code_object.symbols.at(low) if low is not None else None
    kernel = program.code_object.kernels.find(symbol.name) if symbol is not None else None
    metadata = kernel.metadata if kernel is not None else None
    if metadata is None:
        return None
    parameters = routine.scope.parameters
    explicit = metadata.explicit_args
    if routine.function.unit.producer == _TRITON:
        explicit = explicit[:-_TRITONS_OWN]
    if len(parameters) != len(explicit) or parameter not in parameters:
        return None
    argument = explicit[parameters.index(parameter)]
    return argument if parameter.type.size == argument.size else None


def entry_value(frame: Frame, parameter: Variable, target: Target, memory: Memory) -> Value | None:
    """Return the value passed for a kernel's parameter; None if not known."""
    routine = routine_of(frame) if frame.scopes else None
    if routine is None or frame.scope.thread is None:
        return None
    argument = passed_argument(frame.program, routine, parameter)
    if argument is None:
        return None
    address = target.kernarg_address(frame.scope.thread)
    if not address:
        return None
    return Value(parameter.type, MemoryStorage(memory, 0, address + argument.offset)).fetched().rvalue()
