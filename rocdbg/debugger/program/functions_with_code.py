"""Code that has its own variables: functions, and calls inlined in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.program.program import Program
from rocdbg.dwarf.info import Function, InlinedSubroutine, LexicalBlock, Variable
from rocdbg.dwarf.info.scopes import Scope

_MOST_CALLS: Final = 32
_MOST_BLOCKS: Final = 64


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
    """Yield a function with code, and the calls that were inlined in it, in the order of their entries.

    Calls nested more than 31 deep are left out.
    """
    todo: list[tuple[Routine, Scope]] = [(Routine(function), function)]
    while todo:
        routine, scope = todo.pop()
        if scope is routine.scope:
            yield routine
        for child in reversed(scope.children):
            calls = (*routine.calls, child) if isinstance(child, InlinedSubroutine) else routine.calls
            if len(calls) < _MOST_CALLS:
                todo.append((Routine(function, calls), child))


def own_scopes(scope: Scope, depth: int = 0) -> Iterator[Scope]:
    """Yield a scope and the blocks nested in it, without those of inlined calls."""
    yield scope
    for child in scope.children if depth < _MOST_BLOCKS else ():
        if isinstance(child, LexicalBlock):
            yield from own_scopes(child, depth + 1)


def own_variables(scope: Scope) -> Iterator[Variable]:
    """Yield the variables of a function and its blocks, without those of inlined calls."""
    for each in own_scopes(scope):
        yield from each.variables


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
