"""Variables, functions and enumerators of the program by name, as visible from a place in it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from rocdbg.debugger.base.errors import DebuggerError, ExpressionError, NoSymbolError
from rocdbg.debugger.expr.names.visible_names import global_names, visible_names
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.program.program import Program
from rocdbg.dwarf.info import Function, Variable
from rocdbg.dwarf.info.name_matching import split_qualified
from rocdbg.dwarf.info.symbol_index import is_declaration
from rocdbg.dwarf.info.types import BaseType, ClassType, EnumType, Type, TypedefType, VoidType

MOST_LINKS = 8
"""The largest number of components in a name. Each may be a typedef, and is looked up in all visible scopes."""


class ProgramNames(Struct, frozen=True):
    """The names that are visible at a place; none without debug information."""

    program: Program
    frame: Frame | None

    def qualified(self, name: str, is_global: bool = False, depth: int = 2) -> list[str]:
        """Return the qualified names that a name can refer to, nearest first; ``is_global``: it began with ``::``.

        ``depth``: how many typedefs of typedefs of classes are followed.
        """
        found = global_names(self.program, name) if is_global else visible_names(self.program, self.frame, name)
        if "::" not in name or not depth:
            return found
        return [*found, *self._in_named_class(name, is_global, depth - 1)]

    def _in_named_class(self, name: str, is_global: bool, depth: int) -> list[str]:
        """Resolve members of a class named by a typedef: ``row::iterator`` is ``vector<int>::iterator``."""
        links = split_qualified(name)
        if len(links) > MOST_LINKS:
            return []
        for count in range(1, len(links)):
            for visible in self.qualified("::".join(links[:count]), is_global, depth):
                for type_ in self.program.info.types_named(f"::{visible}"):
                    class_ = type_.bare if isinstance(type_, TypedefType) else None
                    if isinstance(class_, ClassType | EnumType) and class_.qualified_name:
                        return self.qualified("::".join([class_.qualified_name, *links[count:]]), True, depth)
        return []

    def variable(self, name: str, is_global: bool = False) -> Variable | None:
        """Return the nearest variable outside functions: variables of the frame's unit precede those of others."""
        for qualified in self.qualified(name, is_global):
            found = [v for v in self.program.info.variables_named(f"::{qualified}") if _is_exact(v.name, qualified)]
            if found:
                return min(found, key=self.distance)
        linked = self.program.info.variables_named(f"::{name}") if name.startswith("_Z") else []
        return linked[0] if linked else None

    def functions(self, name: str, is_global: bool = False) -> list[Function]:
        """Return the functions with code that a name refers to, which are overloads in one scope."""
        for qualified in self.qualified(name, is_global):
            found = [
                function for function in self.program.info.functions_named(f"::{qualified}")
                if function.low_pc is not None and _is_exact(function.name, qualified)
            ]
            if found:
                return sorted(found, key=lambda function: (*self.distance(function), function.decl_line or 0))
        return []

    def types(self, name: str) -> list[Type]:
        """Return the types outside functions that a name refers to: definitions first, the frame's unit before others.
        """
        for qualified in self.qualified(name):
            found = [
                type_ for type_ in self.program.info.types_named(f"::{qualified}")
                if _is_exact(getattr(type_, "name", None) or str(type_), qualified)
            ]
            if len(found) > 1 and self.frame is not None and self.frame.function is not None:
                unit, info = self.frame.function.unit, self.program.info
                found.sort(key=lambda type_: (is_declaration(type_), not info.is_of_unit(type_, unit)))
            if found:
                return found
        return []

    def namespace(self, name: str) -> str | None:
        """Return the qualified name of a namespace; ``None`` if there is none."""
        known = self.program.info.namespaces.names
        return next((qualified for qualified in self.qualified(name) if qualified in known), None)

    def enumerator(self, name: str, is_global: bool = False) -> tuple[EnumType, int] | None:
        """Return the enumeration and value of an enumerator; a scoped enumeration is part of the enumerator's name."""
        last = split_qualified(name)[-1]
        enumerations = self.program.info.namespaces.enumerations(last)
        if not enumerations:
            return None
        by_name: dict[str, tuple[EnumType, int]] = {}
        for type_ in enumerations:
            value = next((each.value for each in type_.enumerators if each.name == last), None)
            if value is not None:
                by_name.setdefault(type_.enumerator_scope + last, (type_, value))
        for qualified in self.qualified(name, is_global):
            if qualified in by_name:
                return by_name[qualified]
        return None

    def distance(self, what: Variable | Function) -> tuple[bool, bool]:
        """Return a sort key, least for the nearest: the frame's unit comes before others, then external linkage."""
        function = self.frame.function if self.frame is not None else None
        return function is None or what.unit is not function.unit, not what.external

    def missing(self, name: str) -> DebuggerError:
        """Return the error for an unknown qualified name, in GDB's words."""
        links = split_qualified(name)
        for count in range(1, len(links)):
            scope, wanted = "::".join(links[:count]), links[count]
            types = self.types(scope)
            more = count + 1 < len(links)
            if types and more and not self.types(f"{scope}::{wanted}"):
                return NoSymbolError(name, f'No type "{wanted}" within class or namespace "{scope}".')
            if types and not more:
                return _missing_in(types[0], wanted)
            if not types and self.namespace(scope) is None:
                functions = self.functions(scope)
                if functions and any(map(_is_typedef, self.types(wanted))):
                    return ExpressionError(f"Cannot look up value of a typedef `{wanted}'.")
                if functions:
                    return NoSymbolError(name, f'No symbol "{wanted}" in specified context.')
                if count == 1:
                    return NoSymbolError(links[0])
                around = "::".join(links[: count - 1])
                where = f'within class or namespace "{self.namespace(around)}".'
                return NoSymbolError(name, f'No type "{links[count - 1]}" {where}')
        return NoSymbolError(name, f'No symbol "{links[-1]}" in namespace "{self.namespace("::".join(links[:-1]))}".')


def _is_typedef(type_: Type) -> bool:
    return isinstance(type_, TypedefType)


def _missing_in(type_: Type, name: str) -> DebuggerError:
    bare = type_.strip_typedefs()
    if isinstance(bare, EnumType):
        if bare.scoped:
            return ExpressionError(f'no constant named "{name}" in enum "{bare.qualified_name}"')
        return ExpressionError(f"`{bare.qualified_name}' is not defined as an aggregate type.")
    if not isinstance(bare, ClassType):
        shown = bare if isinstance(bare, BaseType | VoidType) else "<unnamed type>"
        return ExpressionError(f"`{shown}' is not defined as an aggregate type.")
    return NoSymbolError(name, f"There is no field named {name}")


def _is_exact(own: str | None, wanted: str) -> bool:
    """Whether a name lacks template arguments that it needs: ``f`` does not name ``f<int>``."""
    if own is None or "<" not in own or own.startswith("operator"):
        return True
    return "<" in split_qualified(wanted)[-1]


def of_signature(functions: Sequence[Function], parameters: str) -> Function | None:
    """Return the function of an overload set that has parameters of these types (``int, float``)."""
    wanted = parameters.replace(" ", "")
    for function in functions:
        shown = function.type.parameter_list(without_this=True).replace(" ", "")
        if shown == wanted or (shown == "void" and not wanted):
            return function
    return None
