"""Breakpoints in the host code of a program, which the host debugger sets and reports."""

from __future__ import annotations

from rocdbg.debugger.breakpoints.breakpoint_table import Breakpoint
from rocdbg.debugger.target.host_debugger import HostPlace


class HostBreakpoint(Breakpoint):
    """A breakpoint in host code. ``host_number`` is its number in the host debugger, ``place`` where it is."""

    host_number: int = 0
    place: HostPlace = HostPlace()

    @property
    def at_places(self) -> bool:
        """False: it has no places in device code."""
        return False

    @property
    def pending(self) -> bool:
        return False


__all__ = ["HostBreakpoint"]
