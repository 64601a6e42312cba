"""Code that has its own variables: functions, and calls inlined in them."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.program.program import Program
from rocdbg.dwarf.info import Function, InlinedSubroutine
from rocdbg.dwarf.info.scopes import Scope


class Routine(Struct, frozen=True):
    """A function with code, or a call inlined in it; ``calls`` are that call and those around it, outermost first."""

    function: Function
    calls: tuple[InlinedSubroutine, ...] = ()

    @property
    def scope(self) -> Scope:
        """The scope of its variables."""
        return self.calls[-1] if self.calls else self.function

    @property
    def source(self) -> Function:
        """The function in the source."""
        return self.calls[-1].function if self.calls else self.function


def routines_in(function: Function) -> Iterator[Routine]:
    """Yield a function with code, and all calls that were inlined in it."""
    todo: list[tuple[Routine, Scope]] = [(Routine(function), function)]
    while todo:
        routine, scope = todo.pop()
        if scope is routine.scope:
            yield routine
        for child in scope.children:
            calls = (*routine.calls, child) if isinstance(child, InlinedSubroutine) else routine.calls
            todo.append((Routine(function, calls), child))


# Inlined calls by the address of their code.


def inlined_starting_at(program: Program, address: LoadedAddress) -> list[InlinedSubroutine]:
    """Return the inlined calls whose code begins at a loaded address, innermost first."""
    found: list[InlinedSubroutine] = []
    file_address = program.to_file(address)
    if program.function_at(address) is None:
        return found
    for instance in program.info.inline_frames_at(file_address):
        if instance.entry_pc != file_address and instance.low_pc != file_address:
            break
        found.append(instance)
    return found
