"""The rows of ``maint dwarf coverage``: at how many instructions of its scope each variable has a value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from rocdbg import work
from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.base.errors import NoSymbolError
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.frames.recovered_values import Recovery
from rocdbg.debugger.frames.recovery_coverage import RoutineCoverage
from rocdbg.debugger.frames.selection import Selection
from rocdbg.debugger.program import lds_layout
from rocdbg.debugger.program.functions_with_code import Routine
from rocdbg.debugger.program.opencl_kernels import is_kernel_body, is_kernel_wrapper
from rocdbg.debugger.program.program import Program
from rocdbg.dwarf.info import Function, InlinedSubroutine, Variable
from rocdbg.dwarf.info.scopes import LexicalBlock, Scope

_MOST_NESTED = 32


class CoverageRow(Struct, frozen=True):
    """A variable of a function: the number of instructions in its scope (``total``), at how many of them the compiler
    gives its location, and at how many its value is recovered.
    """

    function: str
    name: str
    located: int
    recovered: int
    total: int


def coverage_rows(inferior: Inferior, recovery: Recovery, focus: Selection, name: str) -> list[CoverageRow]:
    """Return rows for the variables of functions called ``name``, and of calls inlined in them.

    Without a name, these are the selected frame's function or, without a frame, all functions. Raises `NoSymbolError`.
    """
    program = inferior.need_program()
    functions: list[Function] = []
    if name:
        functions = program.info.functions_named(name) if program.has_debug_info else []
    elif inferior.target is not None and focus.current.thread is not None:
        frame = focus.frame()
        program = frame.program
        found = program.function_at(LoadedAddress(frame.pc))
        functions = [found] if found is not None else []
    elif program.has_debug_info:
        functions = program.info.functions_matching()
    if name and not any(function.ranges for function in functions):
        raise NoSymbolError(name)
    rows: list[CoverageRow] = []
    for function in functions:
        work.unit()
        if function.low_pc is None:
            continue
        analysis = inferior.machine_code(program).rows(program.wave_size).analysis(function.low_pc)
        if analysis is None:
            continue
        addresses = sorted(i.address for block in analysis.blocks.values() for i in block.instructions)
        in_lds = lds_layout.place_variables(program, function)
        for label, routine in _routines(program, function):
            counter = RoutineCoverage(recovery, program, routine, addresses)
            for scope, variables in _variables(routine.scope, 0):
                inside = counter.inside(scope.ranges)
                for variable in variables if inside else ():
                    if variable.name and variable.offset not in in_lds:
                        located, recovered = counter.count(variable, inside)
                        rows.append(CoverageRow(label, variable.name, located, recovered, inside.bit_count()))
    return _summed(rows)


def _summed(rows: list[CoverageRow]) -> list[CoverageRow]:
    """Add up the rows for the same variable in several inlined calls."""
    found: dict[tuple[str, str], CoverageRow] = {}
    for row in rows:
        key = row.function, row.name
        known = found.get(key)
        found[key] = row if known is None else CoverageRow(
            row.function, row.name,
            known.located + row.located, known.recovered + row.recovered, known.total + row.total,
        )
    return list(found.values())


def _routines(program: Program, function: Function) -> Iterator[tuple[str, Routine]]:
    """Yield a function and the calls inlined in it, with their names."""
    is_wrapper = is_kernel_wrapper(program, function)
    if not is_wrapper:  # the variables of a wrapper are never shown
        yield function.display_name, Routine(function)
    pending: list[tuple[Scope, tuple[InlinedSubroutine, ...]]] = [(function, ())]
    while pending:
        scope, calls = pending.pop()
        for child in reversed(scope.children):
            inner = (*calls, child) if isinstance(child, InlinedSubroutine) else calls
            if len(inner) < _MOST_NESTED:
                pending.append((child, inner))
        if isinstance(scope, InlinedSubroutine):
            own = is_wrapper and is_kernel_body(scope.function)
            name = function.display_name
            yield name if own else f"{scope.function.display_name} in {name}", Routine(function, calls)


def _variables(scope: Scope, depth: int) -> Iterator[tuple[Scope, Sequence[Variable]]]:
    yield scope, scope.variables
    for child in scope.children if depth < 64 else ():
        if isinstance(child, LexicalBlock):
            yield from _variables(child, depth + 1)
