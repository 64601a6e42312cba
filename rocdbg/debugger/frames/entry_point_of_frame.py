"""The entry through which a frame's subprogram was entered: entry points have their own attributes (A.3.3.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.addresses import LoadedAddress
from rocdbg.dwarf.info import Function
from rocdbg.dwarf.info.constants import Tag
from rocdbg.dwarf.info.subprogram_entries import EntryPoint

if TYPE_CHECKING:
    from rocdbg.debugger.frames.frame_context import CallSites, FrameContext


def entry_points_of(function: Function | None) -> list[EntryPoint]:
    """Return the additional entry points of a subprogram."""
    if function is None or not function.unit.index.records.entry_points:
        return []
    return [EntryPoint(child) for child in function.die.children if child.tag == Tag.ENTRY_POINT]


def entered_through(context: FrameContext, call_sites: CallSites | None) -> EntryPoint | None:
    """Return the entry point through which a physical frame was entered; ``None`` if it was entered at its beginning,
    or if this is not known.

    For a call, the call site determines it (DW_AT_call_origin); for a kernel, the dispatch.
    """
    points = entry_points_of(context.function)
    if not points:
        return None
    if context.function is not None and context.program.is_kernel(context.function):
        entry = context.program.to_file(context.access.entry())
        return next((point for point in points if point.entry_pc == entry), None)
    caller = context.next_frame()
    if caller is None or caller.pc is None or call_sites is None:
        return None
    called = call_sites.entry_called(caller, LoadedAddress(caller.pc + 1))
    return next((point for point in points if point.die == called), None)
