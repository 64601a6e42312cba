"""Checks breakpoint conditions when they are set: their syntax, and that their names are known at the breakpoint."""

from __future__ import annotations

from collections.abc import Sequence

from rocdbg.debugger.base.errors import NoSymbolError
from rocdbg.debugger.expr.class_members import pointed_has
from rocdbg.debugger.expr.environments.program_environment import ProgramEnvironment
from rocdbg.debugger.expr.names.builtin_variables import BUILTINS
from rocdbg.debugger.expr.names.template_arguments import arguments_of
from rocdbg.debugger.expr.parsing.kept_trees import names_in, parse_in
from rocdbg.debugger.expr.qualified_members import member_value
from rocdbg.debugger.program.location_lookup import Location
from rocdbg.errors import Error


def check_condition(environment: ProgramEnvironment, text: str, locations: Sequence[Location]) -> None:
    """Raise a `rocdbg.Error` for a condition that cannot be parsed, or that has a name unknown at a location.

    Nothing is read, so values that are not available yet are not errors. Without locations only the syntax is checked.
    """
    if not locations:
        parse_in(text, environment)
    for location in locations:
        program = location.program
        scopes = program.info.scopes_at(location.file_address) if program.has_debug_info else ()
        local = {variable.name or "": variable for scope in scopes for variable in scope.variables}
        tree = parse_in(text, environment, variables=local)
        this = local.get("this")
        function = program.info.function_at(location.file_address) if program.has_debug_info else None
        around = function.scope_names if function is not None else ()
        for name in names_in(tree):
            if name in local or name in BUILTINS:
                continue
            if function is not None and any(each.name == name for each in arguments_of(function)):
                continue
            if this is not None and pointed_has(this.type, name, environment):
                continue
            if not _is_known(environment, name, around):
                raise NoSymbolError(name)


def _is_known(environment: ProgramEnvironment, name: str, around: Sequence[str]) -> bool:
    """Whether a name is known outside functions, as seen from inside the namespaces and classes in ``around``."""
    for depth in range(len(around), -1, -1):
        try:
            whole = "::".join((*around[:depth], name))
            scope, _, member = whole.rpartition("::")
            if environment.global_symbol(whole) is not None:
                return True
            if scope and member_value(scope, member, environment, only_type=True) is not None:
                return True
        except Error:
            return True  # it exists, even if it cannot be read now
    return False
