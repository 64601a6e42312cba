"""Variables by file or function: ``'file.c'::name``, ``function::name``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from rocdbg.debugger.base.errors import ExpressionError, NoSymbolError
from rocdbg.debugger.expr.names.visible_names import visible_names
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.values.located_values import has_fixed_address
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info import Exprloc, Function, Loclist
from rocdbg.dwarf.info import Scope as CodeScope

if TYPE_CHECKING:
    from rocdbg.debugger.expr.environments.program_environment import ProgramEnvironment


def scoped_variable(environment: ProgramEnvironment, scope: str, name: str) -> Value:
    """A variable or function of a file, or a variable of a function. Raises `NoSymbolError`."""
    program = environment.program
    if program is None or not program.has_debug_info:
        raise NoSymbolError(name)
    found = function_variable(environment, scope, name)
    if found is not None:
        return found
    files = program.info.files_named(scope)
    if not files:
        raise NoSymbolError(scope, f'No symbol "{scope}" in current context.')
    for variable in program.info.variables_named(f"::{name}"):
        if variable.decl_file is not None and variable.decl_file in files:
            return environment.value_of(variable)
    for function in program.info.functions_named(f"::{name}"):
        if function.decl_file in files and function.low_pc is not None:
            return environment.function_value(function)
    if environment.is_cplusplus and program.info.types_named(f"::{name}"):
        raise ExpressionError("Attempt to use a type name as an expression")
    raise NoSymbolError(name, f'No symbol "{name}" in specified context.')


def function_variable(environment: ProgramEnvironment, scope: str, name: str) -> Value | None:
    """A variable of a function and its blocks; elsewhere than in its frame only static ones have a value."""
    program = environment.program
    assert program is not None
    for qualified in visible_names(program, environment.frame, scope):
        for function in program.info.functions_named(f"::{qualified}"):
            found = _in_function(environment, function, name)
            if found is not None:
                return found
    return None


def _in_function(environment: ProgramEnvironment, function: CodeScope, name: str) -> Value | None:
    for variable in function.variables:
        if variable.name == name:
            located = isinstance(variable.location, Exprloc | Loclist)
            if not located or has_fixed_address(variable):
                return environment.value_of(variable)
            frame = _nearest(environment, function)
            if frame is None and function.name is None:  # of a block in the function
                raise NoSymbolError(name, f'No symbol "{name}" in specified context.')
            if frame is None:
                raise ExpressionError(f"No frame is currently executing in block {_title(function)}.")
            return (environment if frame is environment.frame else replace(environment, frame=frame)).value_of(variable)
    for child in function.children:
        found = _in_function(environment, child, name)
        if found is not None:
            return found
    return None


def _title(block: CodeScope) -> str | None:
    return Program.function_title(block) if isinstance(block, Function) else block.name


def _nearest(environment: ProgramEnvironment, block: CodeScope) -> Frame | None:
    """The first frame in a block, from the environment's own outwards."""
    own = environment.frame
    if own is None:
        return None
    if _is_in(own, block):
        return own
    outwards = environment.outwards(own) if environment.outwards is not None else ()
    return next((frame for frame in outwards if frame.program is own.program and _is_in(frame, block)), None)


def _is_in(frame: Frame, block: CodeScope) -> bool:
    return any(scope.offset == block.offset for scope in frame.scopes)
