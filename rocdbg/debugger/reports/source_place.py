"""Source lines that a location denotes, including those of data and types, where no breakpoint can be set."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from rocdbg import dwarf
from rocdbg.addresses import FileAddress, LoadedAddress
from rocdbg.debugger.expr.names.program_names import ProgramNames
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.program.location_lookup import Location, LocationResolver
from rocdbg.debugger.program.location_syntax import FunctionSpec
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.values.located_values import has_fixed_address
from rocdbg.dwarf.info import Exprloc, Function, SourceFile, Variable
from rocdbg.dwarf.info.types import ClassType, EnumType


class SourcePlace(Struct, frozen=True):
    """A line of a source file, and the function or loaded address through which it was found.

    For a declaration, ``title`` is the declared name; for a variable, ``data`` is its loaded address.
    """

    file: SourceFile
    line: int
    function: Function | None = None
    address: LoadedAddress | None = None
    title: str | None = None
    data: LoadedAddress | None = None


def declarations(
    program: Program, spec: FunctionSpec, frame: Frame | None, of_class: bool = False
) -> Iterator[SourcePlace]:
    """Yield the declarations of global variables with this name, and that of the nearest C++ class or enumeration.

    ``of_class``: yield only a class, whose constructors have the same name.
    """
    if not program.has_debug_info:
        return
    info = program.info
    files = info.files_named(spec.file) if spec.file is not None else None
    for variable in info.variables_named(spec.name) if not of_class else ():
        file, line = variable.decl_file, variable.decl_line
        if file is not None and line and not variable.declaration and (files is None or file in files):
            yield SourcePlace(file, line, title=variable.qualified_name, data=fixed_address(program, variable))
    for type_ in ProgramNames(program, frame).types(spec.name) or info.types_named(spec.name):
        if not isinstance(type_, ClassType | EnumType) or type_.is_declaration:
            continue
        file, line, is_cxx = info.declared_at(type_)
        if is_cxx and file is not None and line and (files is None or file in files):
            yield SourcePlace(file, line, title=type_.qualified_name)
            return


def fixed_address(program: Program, variable: Variable) -> LoadedAddress | None:
    """Return the loaded address of a variable if it is always at the same place in global memory."""
    location = variable.location
    if not has_fixed_address(variable) or not isinstance(location, Exprloc):
        return None
    first, *rest = dwarf.decode(location.data, variable.unit.dialect)
    pushed = variable.unit.address_pushed(first)
    if pushed is None or variable.unit.conventions.without_space([first, *rest]) != [first]:
        return None
    return LoadedAddress(program.base + pushed)


def begins(program: Program, resolver: LocationResolver, spec: FunctionSpec) -> Iterator[Location]:
    """Yield where the code of functions begins. For a function that was only inlined, that is the code of each copy;
    for a function without code, its declaration.
    """
    functions = resolver.functions(spec)
    if not functions:  # the name may be a mangled name, or a label
        for place in resolver.resolve(spec):
            if place.code is None or program.labels.named(spec.name):
                yield replace(place, code=None)
            else:
                functions.append(place.code)
    for function in functions:
        low = function.low_pc
        row = program.info.line_at(low) if low is not None else None
        if low is not None and row is not None and row.line:
            yield Location(program, low, row.file, row.line, program.function_title(function), function)
            continue
        copies = [at for one in program.info.inlined_instances(function) if (at := one.entry_pc) is not None]
        rows = [(at, row) for at in copies if (row := program.info.line_at(at)) is not None and row.line]
        for at, row in rows:
            yield Location(program, at, row.file, row.line, program.function_title(function), function)
        if not rows and function.decl_file is not None and function.decl_line:
            title = program.function_title(function)
            yield Location(program, FileAddress(0), function.decl_file, function.decl_line, title, function)
