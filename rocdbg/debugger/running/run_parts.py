"""What all parts that run the program share: the program, the focus, and the reasons to stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rocdbg.debugger.breakpoints.breakpoint_parts import BreakpointParts
from rocdbg.debugger.expr.names.convenience_variables import Convenience
from rocdbg.debugger.frames.selection import Selection
from rocdbg.debugger.program.location_lookup import Location
from rocdbg.debugger.running.observer import Observer
from rocdbg.debugger.running.run_state import RunState
from rocdbg.debugger.running.skip_list import SkipList
from rocdbg.debugger.target.launcher import Launcher
from rocdbg.debugger.values.value_history import ValueHistory


class RunParts(BreakpointParts, frozen=True, eq=False):
    """One per focus of a session; all but ``focus`` and ``data`` belong to the session.

    ``launcher`` gives the launcher of the next run, ``resolve`` finds the locations of a text, ``observers``
    are notified of launches, stops and ends.
    """

    focus: Selection
    history: ValueHistory
    convenience: Convenience
    state: RunState
    skips: SkipList
    launcher: Callable[[], Launcher]
    resolve: Callable[[str], Sequence[Location]]
    observers: Sequence[Observer]
