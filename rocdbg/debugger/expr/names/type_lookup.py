"""Types and enumerators by name, as visible from a place in the program."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from rocdbg.debugger.base.errors import NO_SYMBOL_TABLE, DebuggerError, ExpressionError, NoSymbolError
from rocdbg.debugger.expr.names.known_variables import dynamic_lds
from rocdbg.debugger.expr.names.program_names import ProgramNames
from rocdbg.debugger.expr.names.template_arguments import argument_type
from rocdbg.debugger.frames.frame_registers import is_register_name
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.vector_types import builtin_type
from rocdbg.dwarf.info.types import ClassKind, ClassType, EnumType, Type, TypedefType


class TypeLookup(Struct, frozen=True):
    """The types of a frame's blocks and of a program; none without them."""

    program: Program | None
    frame: Frame | None

    def is_known(self, name: str) -> bool:
        """Whether ``name<...>`` is a function or type or, for ``$name``, whether it is a symbol and not a register."""
        program = self.program
        if name.startswith("$"):
            known = program is not None and program.code_object.symbols.get(name) is not None
            return known and not is_register_name(name[1:])
        if program is None or not program.has_debug_info:
            return False
        return bool(program.info.functions_named(name) or program.info.types_named(name))

    def named(self, name: str, tag: str) -> Type:
        """Return the type of a name and keyword, or its definition if there is one. Raises `NoSymbolError`."""
        found = self.find(name, tag)
        if found is None and not tag:
            found = builtin_type(name)
        if found is not None:
            return self.complete(found)
        if tag and self._any(name, lambda type_: isinstance(type_, ClassType | EnumType)) is not None:
            raise ExpressionError(_wrong_tag(tag, name))
        if tag:
            raise NoSymbolError(name, f"No {'struct' if tag == 'class' else tag} type named {name}.")
        raise self.missing(name)

    def namespace(self, name: str) -> str | None:
        """Return the qualified name of the namespace to which a name refers; ``None`` otherwise."""
        if self.program is None or not self.program.has_debug_info:
            return None
        return ProgramNames(self.program, self.frame).namespace(name.strip())

    def missing(self, name: str) -> DebuggerError:
        """Return the error for an unknown name."""
        if self.program is None:
            return NoSymbolError(name, NO_SYMBOL_TABLE)
        if not self.program.has_debug_info:
            return NoSymbolError(name)
        names = ProgramNames(self.program, self.frame)
        if names.namespace(name) is not None:
            return ExpressionError("Attempt to use a type name as an expression")
        return names.missing(name) if "::" in name else NoSymbolError(name, self._in_dynamic_lds(name))

    def _in_dynamic_lds(self, name: str) -> str | None:
        """Return the message for an unknown name if it may be dynamic LDS, otherwise None.

        In HIP, `extern __shared__` declares dynamic LDS, and clang writes no entry for it. Other languages do not name
        it: a kernel of OpenCL C gets it as an argument.
        """
        frame = self.frame
        if frame is None or frame.context.unit is None or not frame.context.unit.is_cxx:
            return None
        begin = dynamic_lds(frame)
        if begin is None:
            return None
        place = f"local#{begin:#x}"
        return (
            f'No symbol "{name}" in current context.  If it is dynamic LDS (extern __shared__ in HIP), which has no '
            f"debug information, use the address at which dynamic LDS begins: *(int *) {place}."
        )

    def complete(self, type_: Type) -> Type:
        """Return the definition of a declared class or enumeration."""
        stripped = type_.strip_typedefs()
        if isinstance(stripped, ClassType | EnumType) and stripped.is_declaration and self.program is not None:
            return self.program.complete_type(stripped)
        return type_

    def find(self, name: str, tag: str) -> Type | None:
        """Return the type of a name as it is declared; ``tag`` is the keyword (``struct``, ``enum``), or empty.

        Without a keyword, classes and enumerations that C or OpenCL knows only by their tags are not found.
        """
        if not tag:
            return self.local(name) or self._global(name, self._is_name)
        return self._any(name, lambda type_: _has_tag(type_, tag))

    def _any(self, name: str, fits: Callable[[Type], bool]) -> Type | None:
        return self._local(name, fits) or self._global(name, fits)

    def _global(self, name: str, fits: Callable[[Type], bool]) -> Type | None:
        if self.program is None or not self.program.has_debug_info:
            return None
        return next(filter(fits, ProgramNames(self.program, self.frame).types(name)), None)

    def local(self, name: str) -> Type | None:
        """Find a type, as `find` does without a keyword, in the frame's blocks and its function's template arguments.
        """
        found = self._local(name, self._is_name)
        return found or (argument_type(self.frame, name) if self.frame is not None else None)

    def _local(self, name: str, fits: Callable[[Type], bool]) -> Type | None:
        for scope in self.frame.scopes if self.frame is not None else ():
            for type_ in scope.types:
                if _type_name(type_) == name and fits(type_):
                    return type_
        return None

    def _is_name(self, type_: Type) -> bool:
        """Whether a type can be named without its keyword."""
        if not isinstance(type_, ClassType | EnumType) or type_.offset is None or self.program is None:
            return True
        return self.program.info.die(type_.offset).unit.is_cxx

    def enumerator(self, name: str) -> Value | None:
        """Return an enumerator that is visible here: a scoped one as ``E::A``, an unscoped one also without its scope.
        """
        if self.program is None:
            return None
        for scope in self.frame.scopes if self.frame is not None else ():
            for type_ in scope.types:
                if isinstance(type_, EnumType):
                    for each in type_.enumerators:
                        if name == (f"{type_.name}::{each.name}" if type_.scoped else each.name):
                            return Value.of_int(type_, each.value)
        if not self.program.has_debug_info:
            return None
        found = ProgramNames(self.program, self.frame).enumerator(name)
        return None if found is None else Value.of_int(*found)


def _type_name(type_: Type) -> str | None:
    if isinstance(type_, ClassType | EnumType | TypedefType):
        return type_.name
    return str(type_)


def _wrong_tag(tag: str, name: str) -> str:
    kinds = {"struct": "class, union or enum", "class": "class, union or enum", "union": "class, struct or enum"}
    article = "an" if tag == "enum" else "a"
    wanted = "struct" if tag == "class" else tag
    return f"This context has {kinds.get(tag, 'class, struct or union')} {name}, not {article} {wanted}."


def _has_tag(type_: Type, tag: str) -> bool:
    if isinstance(type_, EnumType):
        return tag == "enum"
    if isinstance(type_, ClassType):
        if type_.kind is ClassKind.UNION:
            return tag == "union"
        return tag in ("struct", "class")
    return False
