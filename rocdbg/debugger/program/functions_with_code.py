"""What has variables of its own: functions with code, and inlined calls in them."""

from __future__ import annotations

from msgspec import Struct

from rocdbg.dwarf.info import Function, InlinedSubroutine
from rocdbg.dwarf.info.scopes import Scope


class Routine(Struct, frozen=True):
    """A function with code, or an inlined call in one: all inlined calls around it, outermost first."""

    function: Function
    calls: tuple[InlinedSubroutine, ...] = ()

    @property
    def scope(self) -> Scope:
        """Where its variables are."""
        return self.calls[-1] if self.calls else self.function

    @property
    def source(self) -> Function:
        """The function as the source has it."""
        return self.calls[-1].function if self.calls else self.function
