"""The debugger engine: sessions, focus, breakpoints, stepping, frames, values, expressions.

Nothing here prints or knows a command line. Front ends hold a `Session`, call its methods, and show
what they return; requests that cannot be met raise subclasses of `rocdbg.Error`.
"""

from __future__ import annotations

from rocdbg.arch.lane_sets import lane_list, lane_mask, lane_ranges
from rocdbg.debugger.base.engine_settings import PrintSettings, Settings
from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.running.stop_events import Signal, StopEvent, StopReason
from rocdbg.debugger.session import Session
from rocdbg.debugger.target.capabilities.runnable import ExitInfo, ExpectResult

__all__ = [
    "DebuggerError",
    "ExitInfo",
    "ExpectResult",
    "Focus",
    "PrintSettings",
    "Session",
    "Settings",
    "Signal",
    "StopEvent",
    "StopReason",
    "lane_list",
    "lane_mask",
    "lane_ranges",
]
