"""The parts that everything that stops a program shares: the program, its expressions, and the table of breakpoints."""

from __future__ import annotations

from msgspec import Struct

from rocdbg.debugger.base.engine_settings import Settings
from rocdbg.debugger.breakpoints.breakpoint_table import BreakpointTable
from rocdbg.debugger.expr.program_data import Data
from rocdbg.debugger.frames.inferior import Inferior


class BreakpointParts(Struct, frozen=True, eq=False):
    """The parts for one focus of a session; ``data`` evaluates expressions there."""

    inferior: Inferior
    data: Data
    breakpoints: BreakpointTable
    settings: Settings
