"""Types and enumerators by name, as a place in the program sees them."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from rocdbg.debugger.errors import NoSymbolError
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.vectors import builtin_type
from rocdbg.dwarf.info.types import ClassKind, ClassType, EnumType, Type, TypedefType

MOST_SCOPES = 100
"""Namespaces and classes around a function in which names are looked for: nobody nests deeper but a hostile file."""


def qualified_names(frame: Frame | None, name: str) -> list[str]:
    """The name in each namespace or class around the frame's function, innermost first, then as it is."""
    names = []
    if frame is not None and frame.function is not None:
        parts = (frame.function.qualified_name or "").split("(")[0].split("::")[:-1]
        names = ["::".join([*parts[:end], name]) for end in range(min(len(parts), MOST_SCOPES), 0, -1)]
    return [*names, name]


class TypeLookup(Struct, frozen=True):
    """The types of a frame's blocks and of the program; without them there are none."""

    program: Program | None
    frame: Frame | None

    def is_known(self, name: str) -> bool:
        """Whether a name with template arguments names a function or type."""
        program = self.program
        if program is None or not program.has_debug_info:
            return False
        return bool(program.info.functions_named(name) or program.info.types_named(name))

    def named(self, name: str, tag: str) -> Type:
        """The type of a name and keyword, its definition if there is one. Raises `NoSymbolError`."""
        found = self.find(name, tag)
        if found is None and not tag:
            found = builtin_type(name)
        if found is not None:
            return self.complete(found)
        if tag:
            raise NoSymbolError(name, f"No {tag} type named {name}.")
        raise NoSymbolError(name)

    def complete(self, type_: Type) -> Type:
        """The definition of a declared class or enumeration."""
        stripped = type_.strip_typedefs()
        if isinstance(stripped, ClassType | EnumType) and stripped.is_declaration and self.program is not None:
            return self.program.complete_type(stripped)
        return type_

    def find(self, name: str, tag: str) -> Type | None:
        """The type of a name, and of a keyword (``struct``, ``enum``) where ``tag`` is not empty: as it is declared."""
        found = self.local(name, tag)
        if found is None and self.program is not None and self.program.has_debug_info:
            for qualified in qualified_names(self.frame, name):
                for type_ in self.program.info.types_named(qualified):
                    if _has_tag(type_, tag):
                        return type_
        return found

    def local(self, name: str, tag: str = "") -> Type | None:
        """As `find`, of the frame's blocks."""
        for scope in self.frame.scopes if self.frame is not None else ():
            for type_ in scope.types:
                if _type_name(type_) == name and _has_tag(type_, tag):
                    return type_
        return None

    def enumerator(self, name: str) -> Value | None:
        """An enumerator of an enumeration visible here; scoped ones as ``E::A``, others also without what is around."""
        if self.program is None:
            return None
        scope, _, last = name.rpartition("::")
        if scope:
            for type_ in self.program.info.types_named(scope):
                stripped = type_.strip_typedefs()
                if isinstance(stripped, EnumType):
                    for enumerator in stripped.enumerators:
                        if enumerator.name == last:
                            return Value.of_int(stripped, enumerator.value)
        by_scope: dict[str, Value] = {}
        for type_ in self._enumerations(self.program):
            for enumerator in type_.enumerators:
                if enumerator.name == last and not type_.scoped:
                    by_scope.setdefault(type_.enumerator_scope, Value.of_int(type_, enumerator.value))
        for qualified in qualified_names(self.frame, name):
            found = by_scope.get(qualified.removesuffix(last))
            if found is not None:
                return found
        return None if scope else next(iter(by_scope.values()), None)

    def _enumerations(self, program: Program) -> Iterator[EnumType]:
        """Those of the frame's blocks, then the program's."""
        for scope in self.frame.scopes if self.frame is not None else ():
            for type_ in scope.types:
                if isinstance(type_, EnumType):
                    yield type_
        for found in program.info.types_matching(""):
            stripped = found.strip_typedefs()
            if isinstance(stripped, EnumType):
                yield stripped


def _type_name(type_: Type) -> str | None:
    if isinstance(type_, ClassType | EnumType | TypedefType):
        return type_.name
    return str(type_)


def _has_tag(type_: Type, tag: str) -> bool:
    if not tag:
        return True
    if isinstance(type_, EnumType):
        return tag == "enum"
    if isinstance(type_, ClassType):
        if type_.kind is ClassKind.UNION:
            return tag == "union"
        return tag in ("struct", "class")
    return False
