"""Finds, in source text, the variables of a function whose value never changes after their initialisation.

Debug information does not show an assignment to a variable if the compiler did not keep the new value. A value may
therefore be followed beyond its locations only if it never changes. This is the case if the variable is const, or if
nothing in the text of its function assigns to it, takes its address or binds a reference to it, and no loop initialises
it again.

The text must be the one that was compiled, according to the checksum in the line table. Without checksums
(`SourceTexts`) it must have the names of the function's variables in the lines that debug information gives, and tokens
at the positions of the function's code. Anything unclear in the text counts as a change.

For an inlined function all this holds for each of its calls, if the text calls it outside loops.
"""

from __future__ import annotations

import re

from msgspec import Struct

from rocdbg.debugger.program.functions_with_code import Routine, own_variables
from rocdbg.debugger.program.opencl_kernels import is_kernel_body, is_kernel_wrapper
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.program.source_files import SourceFiles, split_lines
from rocdbg.debugger.program.source_text.function_text import FunctionText
from rocdbg.debugger.program.source_text.source_texts import SourceTexts, UnitTexts
from rocdbg.debugger.program.source_text.source_tokens import (
    Definitions,
    Macro,
    TooManyTokensError,
    expand,
    function_tokens,
    tokens_of,
)
from rocdbg.dwarf.info import DebugInfoError, Function, SourceFile, Unit, Variable
from rocdbg.dwarf.info.types import (
    BaseType,
    ClassType,
    EnumType,
    PointerKind,
    PointerType,
    QualifiedType,
    Qualifier,
    Type,
    TypedefType,
)


class Constants(Struct):
    """Variables that never change. ``runs_once``: no code of the routine runs twice in one call of its function.

    ``variables`` are scalars, ``objects`` a kernel's parameters of class type. ``text`` is None if it is not known.
    """

    variables: list[Variable]
    runs_once: bool
    text: FunctionText | None
    objects: frozenset[int] = frozenset()
    """The offsets of the parameters' entries."""


class ConstantVariables:
    """Finds variables that never change."""

    def __init__(self, sources: SourceFiles) -> None:
        self._texts = SourceTexts(sources)
        self._functions: dict[tuple[int, int], tuple[Program, FunctionText | None]] = {}

    def of(self, program: Program, routine: Routine) -> Constants:
        """Return the scalar variables of a routine, and a kernel's parameters of class type, that never change.

        For device functions that call others it is not known whether code runs only once, because compilers turn
        recursion into loops.
        """
        if not self._texts.fit(program, routine.function):
            return Constants([], False, None)
        body = self.text(program, routine.source)
        if not self._is_called_once(program, routine):
            return Constants([], False, body)
        scope = routine.scope
        outermost = {variable.offset for variable in scope.variables}
        has_labels = any(scope.labels)
        found = []
        for variable in own_variables(scope):
            if not _is_scalar(variable.type):
                continue
            never_changes = variable.offset in outermost and is_const(variable.type) and not has_labels
            if never_changes or (body is not None and body.keeps(variable)):
                found.append(variable)
        objects = frozenset(
            variable.offset for variable in scope.variables
            if variable.is_parameter and isinstance(variable.type.bare, ClassType)
            and body is not None and _is_kernel(program, routine.source) and body.keeps_members(variable)
        )
        return Constants(found, self._runs_once(program, routine), body, objects)

    def _runs_once(self, program: Program, routine: Routine) -> bool:
        for function in (routine.function, *(call.function for call in routine.calls)):
            body = self.text(program, function)
            if not _is_kernel(program, function) and (body is None or body.calls):
                return False
        return True

    def _is_called_once(self, program: Program, routine: Routine) -> bool:
        """Whether a routine runs at most once in each run of its function."""
        caller = routine.function
        for call in routine.calls:
            if not (is_kernel_body(call.function) and is_kernel_wrapper(program, caller)):
                body, name, line = self.text(program, caller), call.function.name, call.call_line
                if body is None or not name or not line or not body.calls_once(name.partition("<")[0], line):
                    return False
            caller = call.function
        return True

    def text(self, program: Program, function: Function) -> FunctionText | None:
        """Return the text of a function; None if it is not known."""
        key = id(program), function.abstract.offset
        kept = self._functions.get(key)
        if kept is None:
            kept = self._functions[key] = program, self._read(program, function)
        return kept[1]

    def _read(self, program: Program, function: Function) -> FunctionText | None:
        file, line, name = function.decl_file, function.decl_line, function.name
        if file is None or not line or not name:
            return None
        unit = function.unit
        text, texts = self._texts.text(file, program), self._texts.of(unit, program)
        if text is None or texts is None or not _is_declared_in(text, function):
            return None
        tokens = function_tokens(text, line, name.partition("<")[0])
        if tokens is None:
            return None
        given = macros_at(unit, file, line)
        if given is not None:
            texts = UnitTexts(texts.texts, given.certain, given.bodies, texts.is_closed, texts.unread, True)
        macros = texts.macros if given is not None else {
            name: macro for name, macro in texts.macros.items()
            if macro.line < line or texts.texts.get(file.path) is None or not _is_defined_in(text, name)
        }
        try:
            expanded = expand(tokens, macros)
        except (TooManyTokensError, RecursionError):
            return None
        return FunctionText(
            expanded, texts, function.unit.is_cxx, file,
            program.info, _names_declared_in(text, function),
        )


def _is_declared_in(text: str, function: Function) -> bool:
    """Whether each variable's name is in its declaration line; used for text without a checksum."""
    lines: tuple[str, ...] | None = None
    for variable in own_variables(function):
        file, line, name = variable.decl_file, variable.decl_line, variable.name
        if file is None or file.md5 is not None or file != function.decl_file:
            continue
        if not line or not name or variable.artificial:
            continue
        lines = split_lines(text) if lines is None else lines
        if line > len(lines) or not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", lines[line - 1]):
            return False
    return True


def _names_declared_in(text: str, function: Function) -> frozenset[str]:
    """Return the names of the variables whose declarations the text contains: such a name cannot be a macro."""
    lines = split_lines(text)
    return frozenset(
        variable.name for variable in own_variables(function)
        if variable.name and variable.decl_file == function.decl_file and 0 < (variable.decl_line or 0) <= len(lines)
        and re.search(rf"(?<!\w){re.escape(variable.name)}(?!\w)", lines[(variable.decl_line or 0) - 1])
    )


def _is_defined_in(text: str, macro: str) -> bool:
    return re.search(rf"^[ \t]*#[ \t]*define[ \t]+{re.escape(macro)}\b", text, re.M) is not None


def _is_kernel(program: Program, function: Function) -> bool:
    return program.is_kernel(function) or is_kernel_body(function)


def _is_scalar(type_: Type) -> bool:
    bare = type_.bare
    if Qualifier.VOLATILE in _qualifiers(type_) or Qualifier.ATOMIC in _qualifiers(type_):
        return False
    return isinstance(bare, BaseType | EnumType) or (
        isinstance(bare, PointerType) and bare.kind is PointerKind.POINTER
    )


def is_const(type_: Type) -> bool:
    """Whether a variable of this type is const."""
    return Qualifier.CONST in _qualifiers(type_)


def _qualifiers(type_: Type) -> set[Qualifier]:
    """Return the outer qualifiers of a type, including those in typedefs."""
    found: set[Qualifier] = set()
    for _ in range(100):
        if isinstance(type_, QualifiedType):
            found.add(type_.qualifier)
            type_ = type_.target
        elif isinstance(type_, TypedefType):
            type_ = type_.target
        else:
            break
    return found


# The macros that debug information lists for a place (-g3, -fdebug-macro), in the form used for source text.


def macros_at(unit: Unit, file: SourceFile, line: int) -> Definitions | None:
    """Return all macros at a line of a unit's file; None if debug information does not list macros."""
    try:
        known = unit.macros.at(file, line)
    except DebugInfoError:
        return None
    if not known:
        return None
    found = Definitions({}, {}, [])
    for name, macro in known.items():
        found.bodies[name] = macro.replacement
        if "#" in macro.replacement or macro.variadic:
            continue
        body = tuple(tokens_of(macro.replacement))
        found.certain[name] = Macro(macro.parameters, body, macro.place.line if macro.place is not None else 0)
    return found
