"""Conditions of breakpoints are checked when they are set: their syntax, and that their names mean something there."""

from __future__ import annotations

from collections.abc import Sequence

from rocdbg.debugger.errors import NoSymbolError
from rocdbg.debugger.expr.builtin_variables import BUILTINS
from rocdbg.debugger.expr.program_environment import ProgramEnvironment
from rocdbg.debugger.expr.trees import names_in, parse_in
from rocdbg.debugger.program.locspec import Location
from rocdbg.errors import Error


def check_condition(environment: ProgramEnvironment, text: str, locations: Sequence[Location]) -> None:
    """Raise a `rocdbg.Error` for a condition that cannot be parsed, or that has a name nobody knows at a location.

    Nothing is read, so values that are not there yet are no errors. Without locations only the syntax is checked.
    """
    tree = parse_in(text, environment)
    if not locations:
        return
    for location in locations:
        program = location.program
        scopes = program.info.scopes_at(location.file_address) if program.has_debug_info else ()
        local = {variable.name for scope in scopes for variable in scope.variables}
        if "this" in local:
            continue  # any name may be a member's
        for name in names_in(tree):
            if name in local or name in BUILTINS:
                continue
            try:
                known = environment.global_symbol(name) is not None
            except Error:
                known = True  # it is there, if not to be read now
            if not known:
                raise NoSymbolError(name)
