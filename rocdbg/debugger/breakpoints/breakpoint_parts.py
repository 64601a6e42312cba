"""What all that stops a program shares: the program, expressions about it, and the table of breakpoints."""

from __future__ import annotations

from msgspec import Struct

from rocdbg.debugger.base.settings import Settings
from rocdbg.debugger.breakpoints.breakpoint_table import BreakpointTable
from rocdbg.debugger.expr.program_data import Data
from rocdbg.debugger.frames.inferior import Inferior


class BreakpointParts(Struct, frozen=True, eq=False):
    """One for each focus that a session is looked at from: ``data`` evaluates expressions there."""

    inferior: Inferior
    data: Data
    breakpoints: BreakpointTable
    settings: Settings
