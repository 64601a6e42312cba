"""The lists of `info functions`, `info variables` and `info types`: symbols by file, grouped, sorted and written as in
GDB.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from msgspec import Struct

from rocdbg import work
from rocdbg.codeobject.demangle import demangle
from rocdbg.debugger.base.patterns import Pattern
from rocdbg.debugger.program.program import Program
from rocdbg.dwarf.info import Function, SourceFile, Type, Variable
from rocdbg.dwarf.info.constants import At
from rocdbg.dwarf.info.name_matching import with_characters
from rocdbg.dwarf.info.type_text import Leaves
from rocdbg.dwarf.info.types import BaseType, ClassType, EnumType, FunctionType, QualifiedType, TypedefType

_MARKS = re.compile(r" ([*&]+)$")


class SymbolRow(Struct, frozen=True):
    """A symbol, with the place and text of its declaration; ``function`` is set if it is a function.

    ``rank`` takes precedence over the name in the order: symbols that are visible outside their unit come first.
    """

    file: SourceFile | None
    line: int | None
    text: str
    name: str
    rank: int = 0
    function: Function | None = None
    type: Type | None = None

    @property
    def order(self) -> tuple[str, int, str, int]:
        """The sort key: by file, then by rank and name."""
        return self.file.name if self.file is not None else "", self.rank, self.name, self.line or 0


def function_rows(programs: Iterable[Program], pattern: Pattern, of_type: Pattern) -> list[SymbolRow]:
    """Return the functions with code whose name (in C++ with parameters) and type match the expressions."""
    rows = []
    for program in _described(programs):
        for function in program.info.functions_matching(""):
            work.unit()
            if function.low_pc is None:
                continue
            name = Program.function_title(function)
            if pattern.search(name) and of_type.search(function_type_text(function)):
                text = function_text(function)
                rows.append(
                    SymbolRow(function.decl_file, function.decl_line, text, name, int(not function.external), function)
                )
    return sorted(rows, key=lambda row: row.order)


def variable_rows(programs: Iterable[Program], pattern: Pattern, of_type: Pattern) -> list[SymbolRow]:
    """Return the global and static variables whose name and type match the expressions."""
    rows = []
    for program in _described(programs):
        for variable in program.info.global_variables_matching(pattern.compiled):
            if of_type.search(str(variable.type)):
                name = variable.qualified_name or ""
                if variable.linkage_name is not None and variable.decl_line is None:  # `vtable for T`
                    name = demangle(variable.linkage_name)
                hidden = not variable.external or "(anonymous namespace)" in variable.scope_names
                text = f"{'static ' if hidden else ''}{declaration(variable.type, name)};"
                files = variable.unit.files
                file = variable.decl_file or (files[0] if files else None)
                rows.append(SymbolRow(file, variable.decl_line, text, name, int(hidden)))
        known = {row.name for row in rows}
        rows += [row for row in _constant_rows(program, pattern, of_type) if row.name not in known]
    return sorted(rows, key=lambda row: row.order)


def _constant_rows(program: Program, pattern: Pattern, of_type: Pattern) -> Iterator[SymbolRow]:
    """Yield static members whose values are in the class: they have no other definition."""
    for class_ in program.info.types_matching():
        work.unit()
        if not isinstance(class_, ClassType):
            continue
        for member in class_.static_members:
            name = f"{class_.qualified_name or class_.name}::{member.name}"
            if member.const_value is None or member.offset is None:
                continue
            if pattern.search(name) and of_type.search(str(member.type)):
                entity = Variable(program.info.die(member.offset))
                text = f"{declaration(member.type, name)};"
                yield SymbolRow(entity.decl_file, entity.decl_line, text, name)


def type_rows(programs: Iterable[Program], pattern: Pattern) -> list[SymbolRow]:
    """Return the named types whose name matches the expression; in C++, classes and enumerations come first."""
    rows = []
    for program in _described(programs):
        for type_ in program.info.types_matching(pattern.compiled, by_unit=True):
            file, line, is_cxx = program.info.declared_at(type_)
            own = isinstance(type_, ClassType | EnumType)
            if isinstance(type_, ClassType) and type_.is_declaration:
                continue  # the type is defined elsewhere, or not at all
            name = _type_name(type_)
            text = str(type_)
            if isinstance(type_, TypedefType):
                text = f"typedef {_without_typedefs(type_.target)} {name};"
            if own:
                text += ";"
            rows.append(SymbolRow(file, line, text, name, int(is_cxx and not own), type=type_))
        rows += _namespace_rows(program, pattern)
    distinct: dict[object, SymbolRow] = {}
    # of `typedef struct s s;` and the structure itself, GDB lists the one that debug information describes first
    for row in sorted(rows, key=lambda row: (row.type.offset or 0) if row.type is not None else 0):
        distinct.setdefault((row.file, row.name), row)
    return sorted(distinct.values(), key=lambda row: row.order)


def _namespace_rows(program: Program, pattern: Pattern) -> Iterator[SymbolRow]:
    """Namespaces and their aliases, which GDB lists with the types."""
    for die, name, meant in program.info.namespaces.entries():
        if pattern.search(name):
            files = die.unit.files
            yield SymbolRow(files[0] if files else None, die.number(At.DECL_LINE), meant, name)


def _without_typedefs(type_: Type) -> Type:
    """Return a type with its outer typedefs resolved and its qualifiers kept; components keep their names."""
    if isinstance(type_, QualifiedType):
        return replace(type_, target=_without_typedefs(type_.target))
    return _without_typedefs(type_.target) if isinstance(type_, TypedefType) else type_


def _described(programs: Iterable[Program]) -> Iterator[Program]:
    return (program for program in programs if program.has_debug_info)


def _type_name(type_: Type) -> str:
    if isinstance(type_, ClassType | EnumType | TypedefType):
        return with_characters(type_.qualified_name or type_.name or "")
    return type_.name if isinstance(type_, BaseType) else str(type_)


def function_type_text(function: Function) -> str:
    """Return a function's type as text: ``int (int, float)``."""
    parameters = ", ".join(str(p.type) for p in function.type.parameters) or "void"
    return f"{function.return_type} ({parameters})"


def function_text(function: Function) -> str:
    """Return a function as ``info functions`` lists it: ``static float scale(float, int);``."""
    name = Program.function_title(function)
    static = "" if function.external else "static "
    returned = _MARKS.sub(r" \1", str(function.return_type))
    if "(" not in name:
        name += f"({', '.join(str(p.type) for p in function.type.parameters) or 'void'})"
    return f"{static}{returned}{'' if returned.endswith(('*', '&')) else ' '}{name};"


def declaration(type_: Type, name: str) -> str:
    """Return a declaration of ``name``: ``float tile[64]``, ``int (*f)(int)``."""
    if isinstance(type_, FunctionType):
        return f"{type_} {name}"
    return type_.declare(name, Leaves(show=0).text)  # a structure without a name is shown with its members
