"""The routine of a frame."""

from __future__ import annotations

from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.program.functions_with_code import Routine
from rocdbg.dwarf.info import InlinedSubroutine


def routine_of(frame: Frame) -> Routine | None:
    """Return the routine whose variables a frame shows."""
    function = frame.function
    if frame.inline is None:
        return Routine(function) if function is not None else None
    context = frame.context
    function = frame.program.function_at(LoadedAddress(context.pc)) if context.pc is not None else None
    if function is None or context.pc is None:
        return None
    calls: list[InlinedSubroutine] = []
    for scope in function.chain_at(frame.program.to_file(LoadedAddress(context.pc))):
        if isinstance(scope, InlinedSubroutine):
            calls.append(scope)
            if scope == frame.inline:
                return Routine(function, tuple(calls))
    return None
