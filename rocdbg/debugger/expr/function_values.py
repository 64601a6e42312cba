"""Functions of the program as values: methods, and one of an overload set."""

from __future__ import annotations

from collections.abc import Iterable

from rocdbg.debugger.base.errors import NoSymbolError
from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.expr.names.program_names import ProgramNames, of_signature
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import ClassType, Method, Type


def method_value(class_: ClassType, method: Method, environment: Environment) -> Value | None:
    """A method as a function of the type it is declared with; ``None`` where it has no code."""
    program = environment.types.program
    if program is None:
        return None
    name = f"{class_.qualified_name or class_.name}::{method.name}"
    for function in ProgramNames(program, None).functions(name, is_global=True):
        origins = {die.offset for die in function.die.origins()}
        if method.offset in origins or method.linkage_name in (None, function.linkage_name):
            return environment.function_value(function).with_type(method.type)
    return None


def overload(name: str, types: Iterable[Type], environment: Environment) -> Value:
    """The function of a name with parameters of these types; an only one whatever they are. Raises `NoSymbolError`."""
    program = environment.types.program
    found, parameters = None, ""
    if program is not None and program.has_debug_info:
        functions = ProgramNames(program, environment.types.frame).functions(name)
        if not functions:
            raise NoSymbolError(name)
        if len(functions) == 1 or not environment.is_cplusplus:
            return environment.function_value(functions[0])
        parameters = ", ".join(map(str, types))
        found = of_signature(functions, parameters)
    if found is None:
        raise NoSymbolError(name, f'No symbol "{name}({parameters})" in current context.')
    return environment.function_value(found)
