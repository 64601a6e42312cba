"""Sentences about frames: the lines of ``info frame``."""

from __future__ import annotations

from rocdbg.debugger.context import FrameContext
from rocdbg.debugger.frames import Frame
from rocdbg.dwarf.architecture import Architecture
from rocdbg.dwarf.info.constants import At
from rocdbg.errors import Error

_SHOWN = (*range(32, 128), *range(1088, 1130))
"""DWARF numbers of the scalar registers that may be saved."""


def describe_frame(frame: Frame, has_outer: bool) -> list[str]:
    """What is known of a frame: place, caller, how it was unwound, where registers are saved."""
    context = frame.context
    lines = [f"Stack level {frame.level}, frame at {_cfa(context)}:"]
    where = f" ({frame.file.name}:{frame.line})" if frame.file is not None and frame.line else ""
    name = f" in {frame.name}" if frame.name else ""
    saved = _return_address(context)
    lines.append(f" pc = {frame.pc:#x}{name}{where}; saved pc = {saved}")
    if frame.inline is not None:
        lines.append(f" inlined into frame {frame.level + 1}")
    if not has_outer:
        reason = frame.stop_reason or "a kernel has no caller"
        lines.append(f" Outermost frame: {reason}")
    if frame.function is not None:
        lines.append(f" source language {frame.function.unit.language_name}.")
    link = context.attribute_location(At.STATIC_LINK)
    if link is not None:
        lines.append(f" static link: {link.describe()}")
    found = context.found_row
    lines.append(f" unwound by {found.source}." if found is not None else " no unwind information here.")
    if found is not None:
        registers = _saved_registers(context, context.architecture)
        if registers:
            lines.append(" Saved registers:")
            lines.append("  " + ", ".join(registers))
    return lines


def _cfa(context: FrameContext) -> str:
    try:
        cfa = context.cfa
    except Error as error:
        return f"<{error}>"
    if cfa is None or not cfa.places:
        return "<unknown>"
    place = cfa.places[0]
    return place.describe().removeprefix("memory at ")


def _return_address(context: FrameContext) -> str:
    try:
        address = context.return_address()
    except Error as error:
        return f"<{error}>"
    return "<not saved>" if address is None else f"{address:#x}"


def _saved_registers(context: FrameContext, architecture: Architecture) -> list[str]:
    """Scalar registers whose caller's value is somewhere else than in the register."""
    found = context.found_row
    assert found is not None
    shown = []
    for number in _SHOWN:
        try:
            location = found.row.register_location(number, context)
        except Error:
            continue
        if location.is_undefined or location == context.register_location(number):
            continue
        shown.append(f"{architecture.register_name(number)} at {location.describe()}")
    return shown
