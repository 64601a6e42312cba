"""The rows of ``maint dwarf coverage``: at how many instructions of its scope each variable has a value."""

from __future__ import annotations

from msgspec import Struct

from rocdbg import work
from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.base.errors import NoSymbolError
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.frames.recovered_values import Recovery
from rocdbg.debugger.frames.recovery_coverage import RoutineCoverage
from rocdbg.debugger.frames.selection import Selection
from rocdbg.debugger.program import lds_variable_places
from rocdbg.debugger.program.functions_with_code import Routine, own_scopes, routines_in
from rocdbg.debugger.program.opencl_kernels import is_kernel_body, is_kernel_wrapper
from rocdbg.dwarf.info import Function


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
        in_lds = lds_variable_places.place_variables(program, function)
        is_wrapper = is_kernel_wrapper(program, function)
        for routine in routines_in(function):
            label = _label(routine, is_wrapper)
            if label is None:
                continue
            counter = RoutineCoverage(recovery, program, routine, addresses)
            for scope in own_scopes(routine.scope):
                inside = counter.inside(scope.ranges)
                for variable in scope.variables if inside else ():
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


def _label(routine: Routine, is_wrapper: bool) -> str | None:
    """The name of a routine in the rows; None for a kernel that only calls its body (``is_wrapper``)."""
    name = routine.function.display_name
    if not routine.calls:
        return None if is_wrapper else name
    return name if is_wrapper and is_kernel_body(routine.source) else f"{routine.source.display_name} in {name}"
