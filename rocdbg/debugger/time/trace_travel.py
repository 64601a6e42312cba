"""To look at a trace frame is to go back to it: the run is recorded, and a frame says when it was."""

from __future__ import annotations

from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.breakpoints.tracepoints.trace_buffer import TraceFrame
from rocdbg.debugger.breakpoints.tracepoints.trace_experiments import Tracing
from rocdbg.debugger.time.time_control import TimeControl


def look_at(tracing: Tracing, control: TimeControl, frame: TraceFrame | None, focus: Focus) -> bool:
    """``tfind``: let a frame be the one that is looked at, ``None``: none, which goes back to where the program was.

    Gives whether the program is there; its past may be unknown, or of another run.
    """
    known = tracing.is_of(control.recording)
    if known and tracing.home is None and frame is not None:
        tracing.home = control.here(focus)
    tracing.selected = -1  # until it is reached
    if frame is None:
        if tracing.home is not None:
            home, tracing.home = tracing.home, None
            control.go_to(*home)
        return known
    if known:
        lanes = frame.lanes
        lane = focus.lane if focus.lane is not None and lanes >> focus.lane & 1 else (lanes & -lanes).bit_length() - 1
        control.visit(frame.thread, frame.count, lane, frame.layout.tracepoint)
    tracing.selected = frame.number
    return known
