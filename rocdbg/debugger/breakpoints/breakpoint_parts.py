"""What everything that stops a program shares: the program, expressions in it, and the table of breakpoints."""

from __future__ import annotations

from msgspec import Struct

from rocdbg.debugger.base.settings import Settings
from rocdbg.debugger.breakpoints.breakpoint_table import BreakpointTable
from rocdbg.debugger.expr.program_data import Data
from rocdbg.debugger.frames.inferior import Inferior


class BreakpointParts(Struct, frozen=True, eq=False):
    """One per focus of a session: ``data`` evaluates expressions there."""

    inferior: Inferior
    data: Data
    breakpoints: BreakpointTable
    settings: Settings
