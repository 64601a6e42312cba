"""What is told of the program and the next launch as lists: kernels, types, line tables, compilation, arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from rocdbg.debugger.program.program import Program
from rocdbg.debugger.reports.patterns import compile_pattern
from rocdbg.debugger.reports.symbols import Symbols, declaration
from rocdbg.debugger.running.launch import LaunchControl
from rocdbg.dwarf.info import SourceFile
from rocdbg.dwarf.info.types import BaseType, TypedefType
from rocdbg.errors import Error


class KernelRow(Struct, frozen=True):
    """A line of ``info kernels``: registers per lane and wave, sizes in bytes."""

    name: str
    vgprs: int
    sgprs: int
    lds: int
    private: int
    kernarg: int
    arguments: str


def unit_facts(program: Program, file: SourceFile) -> list[str]:
    """What `info source` says of the compilation: language, producer, debug format."""
    for unit in program.info.units:
        if file in unit.files:
            return [
                f"Source language is {unit.language_name}.",
                f"Producer is {unit.producer}.",
                f"Compiled with DWARF {unit.version} debugging format.",
            ]
    return []


def kernel_rows(launch: LaunchControl, warn: Callable[[str], None]) -> Iterator[KernelRow]:
    """All kernels, by name; a damaged descriptor shows zeros rather than hide the others."""
    for program, kernel in launch.kernels():
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
            )
        except Error as error:
            warn(f"kernel {kernel.name}: {error}")


def type_lines(symbols: Symbols, pattern: str) -> list[str]:
    """What `info types` lists: the program's own types by name, then the language's, which need no definition."""
    found = [row for row in symbols.types(pattern) if row.text != "__ARRAY_SIZE_TYPE__"]
    rows = sorted(found, key=lambda row: row.text)
    own = [
        f"typedef {row.type.target} {row.text};" if isinstance(row.type, TypedefType) else f"{row.text};"
        for row in rows
        if not isinstance(row.type, BaseType)
    ]
    return own + [row.text for row in rows if isinstance(row.type, BaseType)]


def launch_lines(launch: LaunchControl) -> list[str]:
    """What the next `run` launches, in words."""
    spec = launch.spec
    lines = [
        f"File: {spec.file}",
        f"Kernel: {launch.kernel.name}",
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
    program: Program, pattern: str
) -> Iterator[tuple[SourceFile, list[tuple[int, int, int, str]]]]:
    """The rows of the line tables by file: (address, line, column, flags); ``pattern`` picks files."""
    wanted = compile_pattern(pattern)
    by_file: dict[SourceFile, list[tuple[int, int, int, str]]] = {}
    for unit in program.info.units:
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
