"""Entry values of a kernel's parameters: what was passed, read from the kernarg segment.

Compilers forget where the parameters of an optimised kernel are, though nothing ever overwrites the segment
they came in. GDB writes such a value as ``x@entry``.
"""

from __future__ import annotations

from rocdbg.debugger.frames.frames import Frame, FrameKind
from rocdbg.debugger.target.state import Target
from rocdbg.debugger.values.storage import AbsentError, Memory, MemoryStorage
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info import Variable
from rocdbg.errors import Error

_TRITON = "triton"
_TRITONS_OWN = 2
"""Arguments that Triton adds: scratch memory of the grid, and of a profiler."""


def is_absent(value: Value) -> bool:
    """Whether nothing of a value is there."""
    try:
        value.fetched()
    except AbsentError:
        return True
    except Error:
        return False
    return value.absence is not None


def entry_value(frame: Frame, parameter: Variable, target: Target, memory: Memory) -> Value | None:
    """What a kernel was given for a parameter; None when the frame is no kernel's, or its layout is not known.

    The n-th parameter is the n-th explicit argument of the metadata, if there are as many of both and the sizes agree.
    Triton passes two pointers more, which its source does not know.
    """
    if frame.kind is not FrameKind.NORMAL or not frame.scopes or frame.function is None:
        return None
    code_object, low = frame.program.code_object, frame.function.low_pc
    symbol = code_object.symbols.at(low) if low is not None else None
    kernel = code_object.kernels.find(symbol.name) if symbol is not None else None
    metadata = kernel.metadata if kernel is not None else None
    if metadata is None or frame.scope.thread is None:
        return None
    parameters = [v for v in frame.scopes[-1].variables if v.is_parameter]
    explicit = metadata.explicit_args
    if frame.function.unit.producer == _TRITON:
        explicit = explicit[:-_TRITONS_OWN]
    if len(parameters) != len(explicit) or parameter not in parameters:
        return None
    argument = explicit[parameters.index(parameter)]
    if parameter.type.size != argument.size:
        return None
    dispatch = target.wave(frame.scope.thread).id.dispatch
    address = next((d.kernarg_address for d in target.dispatches() if d.number == dispatch), None)
    if not address:
        return None
    return Value(parameter.type, MemoryStorage(memory, 0, address + argument.offset)).fetched().rvalue()
