"""Places that front ends ask for by text: a source line to list, a range to disassemble, where a symbol is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocdbg.debugger.errors import DebuggerError, LocationSpecError, NoProgramError
from rocdbg.debugger.program.locspec import AddressSpec, FunctionSpec, parse_spec
from rocdbg.debugger.reports.disassembly import function_bounds
from rocdbg.debugger.reports.dwarf_inspection import describe_variable
from rocdbg.debugger.reports.symbols import declaration
from rocdbg.dwarf.info import Function, Variable
from rocdbg.dwarf.info import SourceFile as SourceFile
from rocdbg.dwarf.info.types import BaseType, TypedefType
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.debugger.session import Session


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """A line of a source file."""

    file: SourceFile
    line: int


@dataclass(frozen=True, slots=True)
class KernelRow:
    """A line of ``info kernels``: registers per lane and wave, sizes in bytes."""

    name: str
    vgprs: int
    sgprs: int
    lds: int
    private: int
    kernarg: int
    arguments: str


def default_place(session: Session) -> SourcePlace:
    """Where `list` without arguments begins: the selected frame's line, else the kernel's first."""
    place = session.default_place()
    if place.file is None:
        session.need_program()
        raise DebuggerError('No symbol table is loaded.  Use the "file" command.')
    return SourcePlace(place.file, place.line or 1)


def source_place(session: Session, text: str) -> SourcePlace:
    """The source line a location stands for: a line as it is, code or not; the line where a function's code begins.

    Raises `LocationSpecError`.
    """
    spec = parse_spec(text)
    resolver = session.resolver()
    if isinstance(spec, FunctionSpec):
        for function in resolver.functions(spec):
            if function.low_pc is not None:
                row = session.need_program().info.line_at(function.low_pc)
                if row is not None and row.line:
                    return SourcePlace(row.file, row.line)  # as GDB: where the code begins
            if function.decl_file is not None and function.decl_line:
                return SourcePlace(function.decl_file, function.decl_line)
        raise LocationSpecError(f'Function "{spec.name}" not defined.')
    program = session.need_program()
    file_name = getattr(spec, "file", None)
    if not isinstance(spec, AddressSpec):
        files = program.info.files_named(file_name) if file_name else [default_place(session).file]
        if not files:
            raise LocationSpecError(f"No source file named {file_name}.")
        return SourcePlace(files[0], resolver.line_of(spec))
    found = resolver.resolve(text)[0]
    if found.file is None or found.line is None:
        raise LocationSpecError(f"No line number known for {text.removeprefix('*')}.")
    return SourcePlace(found.file, found.line)


def disassembly_range(session: Session, text: str) -> tuple[str | None, int, int]:
    """What `disassemble TEXT` shows: the function's name, or None for a plain range; loaded addresses."""
    program = session.program
    if program is None:
        raise NoProgramError
    if "," in text:
        first, last = (part.strip() for part in text.split(",", 1))
        low = session.integer(first)
        high = low + session.integer(last[1:]) if last.startswith("+") else session.integer(last)
        return None, low, high
    address = session.integer(text) if text else session.frame().pc
    return function_bounds(program, address)


def describe_address(session: Session, name: str) -> str:
    """The sentence of `info address NAME`: a variable of the selected scope, else a global symbol."""
    lines = describe_variable(session, name)
    if lines is not None:
        return "\n".join(lines)
    variable: Variable | None = None
    function: Function | None = None
    if session.target is not None and session.scope.thread is not None:
        frame = session.frame()
        function = frame.context.function
        for scope in frame.scopes:
            variable = next((v for v in scope.variables if v.name == name), None)
            if variable is not None:
                break
    return session.symbols.address_of(name, variable, function)


def unit_facts(session: Session, file: SourceFile) -> list[str]:
    """What `info source` says of the compilation: language, producer, debug format."""
    for unit in session.need_program().info.units:
        if file in unit.files:
            return [
                f"Source language is {unit.language_name}.",
                f"Producer is {unit.producer}.",
                f"Compiled with DWARF {unit.version} debugging format.",
            ]
    return []


def kernel_rows(session: Session) -> Iterator[KernelRow]:
    """All kernels, by name; a damaged descriptor shows zeros rather than hide the others."""
    session.need_program()
    for program, kernel in session.launch.kernels():
        metadata = kernel.metadata
        function = program.info.function_at(kernel.entry_address) if program.has_debug_info else None
        if function is not None:
            arguments = ", ".join(declaration(p.type, p.name or "") for p in function.type.parameters)
        elif metadata is not None:
            args = metadata.explicit_args
            arguments = ", ".join(a.name or a.type_name or a.value_kind.value for a in args)
        else:
            arguments = ""
        try:
            descriptor = kernel.descriptor
            yield KernelRow(
                program.kernel_title(kernel), descriptor.vgpr_count, descriptor.sgpr_count,
                descriptor.group_segment_fixed_size, descriptor.private_segment_fixed_size, kernel.kernarg_size,
                arguments,
            )  # fmt: skip
        except Error as error:
            session.warn(f"kernel {kernel.name}: {error}")


def type_lines(session: Session, pattern: str) -> list[str]:
    """What `info types` lists: the program's own types by name, then the language's, which need no definition."""
    found = [row for row in session.symbols.types(pattern) if row.text != "__ARRAY_SIZE_TYPE__"]
    rows = sorted(found, key=lambda row: row.text)
    own = [
        f"typedef {row.type.target} {row.text};" if isinstance(row.type, TypedefType) else f"{row.text};"
        for row in rows
        if not isinstance(row.type, BaseType)
    ]
    return own + [row.text for row in rows if isinstance(row.type, BaseType)]


def launch_lines(session: Session) -> list[str]:
    """What the next `run` launches, in words."""
    spec = session.launch.spec
    lines = [
        f"File: {spec.file}",
        f"Kernel: {session.launch.kernel.name}",
        f"Grid: {_sizes(spec.grid)}  Workgroup: {_sizes(spec.workgroup)}  Dynamic LDS: {spec.dynamic_lds} bytes",
    ]
    for index, argument in enumerate(spec.arguments):
        text = "(not set)"
        if argument is not None:
            name = f"{argument.name}: " if argument.name else ""
            if argument.buffer is not None:
                contents = f" = {argument.init.kind.value}" if argument.init is not None else ""
                text = f"{name}{argument.buffer}{contents}"
            elif argument.local_size is not None:
                text = f"{name}local[{argument.local_size}]"
            else:
                text = f"{name}{argument.value!s}"
        lines.append(f"Argument {index}: {text}")
    return lines


def _sizes(sizes: tuple[int, int, int] | None) -> str:
    return "(not set)" if sizes is None else f"[{','.join(map(str, sizes))}]"


def line_table(
    session: Session, pattern: str
) -> Iterator[tuple[SourceFile, list[tuple[int, int, int, str]]]]:
    """The rows of the line tables by file: (address, line, column, flags); ``pattern`` picks files."""
    from rocdbg.debugger.reports.patterns import compile_pattern

    wanted = compile_pattern(pattern)
    by_file: dict[SourceFile, list[tuple[int, int, int, str]]] = {}
    for unit in session.need_program().info.units:
        table = unit.line_table
        if table is None:
            continue
        for sequence, index, _ in table.rows():
            row = table.line_row(sequence, index)
            flags = " ".join(
                name for name, on in (("is_stmt", row.is_stmt), ("prologue_end", row.prologue_end)) if on
            )
            by_file.setdefault(row.file, []).append((row.address, row.line, row.column, flags))
    for file, rows in by_file.items():
        if wanted.search(file.path):
            yield file, rows
