"""What all parts that run the program share: the program, the focus, and the reasons to stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rocdbg.debugger.breakpoints.breakpoint_parts import BreakpointParts
from rocdbg.debugger.expr.names.convenience_variables import Convenience
from rocdbg.debugger.frames.selection import Selection
from rocdbg.debugger.program.location_lookup import Location
from rocdbg.debugger.running.host_side import HostSide
from rocdbg.debugger.running.observer import Observer
from rocdbg.debugger.running.run_state import RunState
from rocdbg.debugger.running.skip_list import SkipList
from rocdbg.debugger.target.launcher import Launcher
from rocdbg.debugger.values.value_history import ValueHistory


class RunParts(BreakpointParts, frozen=True, eq=False):
    """What the commands that run the program need, for one focus of a session; only ``focus`` and ``data`` depend on
    it.

    ``launcher`` returns the launcher of the next run, ``resolve`` finds the locations that a text denotes,
    ``observers`` are notified of launches, stops and ends. ``host`` is the host side of a whole program.
    """

    focus: Selection
    history: ValueHistory
    convenience: Convenience
    state: RunState
    skips: SkipList
    launcher: Callable[[], Launcher]
    resolve: Callable[[str], Sequence[Location]]
    observers: Sequence[Observer]
    host: HostSide
