"""Lists about the program and the next launch: kernels, types, line tables, compilation, arguments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from math import prod

from msgspec import Struct

from rocdbg.arch.occupancy import occupancy
from rocdbg.codeobject import Kernel, Shader
from rocdbg.codeobject.metadata import KernelKind
from rocdbg.codeobject.shaders import mapping_text
from rocdbg.debugger.base.patterns import compile_pattern
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.reports.symbol_lists import declaration
from rocdbg.debugger.running.launch_control import LaunchControl
from rocdbg.dwarf.info import SourceFile
from rocdbg.errors import Error
from rocdbg.launch.kernel_names import kernel_kind
from rocdbg.launch.spec import ArgumentSpec


class KernelRow(Struct, frozen=True):
    """A line of ``info kernels``: registers per lane and wave, sizes in bytes, and waves per SIMD."""

    name: str
    vgprs: int
    sgprs: int
    lds: int
    private: int
    kernarg: int
    occupancy: str
    arguments: str
    kind: str = ""
    """``init`` or ``fini`` for kernels that run when the code object is loaded or unloaded."""

    @property
    def title(self) -> str:
        return f"{self.name} ({self.kind})" if self.kind else self.name


def unit_facts(programs: Iterable[Program], file: SourceFile) -> tuple[str | None, list[str]]:
    """Return the compilation directory of a file's unit, and the compilation details for `info source`."""
    for program in programs:
        for unit in program.info.units if program.has_debug_info else ():
            if not unit.is_type_unit and file in unit.files:  # type units contain few of these details
                return unit.files[0].directory, [
                    f"Source language is {unit.language_name}.",
                    f"Producer is {unit.producer}.",
                    f"Compiled with DWARF {unit.version} debugging format.",
                    "Does not include preprocessor macro info.",
                ]
    return None, []


def kernel_rows(launch: LaunchControl, warn: Callable[[str], None]) -> Iterator[KernelRow]:
    """Yield all kernels by name; a damaged descriptor shows zeros, so that it does not hide the other kernels.

    If several code objects have a kernel of the same name, the file name is prefixed.
    """
    counts = Counter(program.kernel_title(kernel) for program, kernel in launch.kernels())
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
            if isinstance(kernel, Shader):
                yield _shader_row(launch, program, kernel)
                continue
            descriptor, name = kernel.descriptor, program.kernel_title(kernel)
            if counts[name] > 1 and function is not None and function.decl_file is not None:
                name = f"{function.decl_file.basename}:{name}"
            yield KernelRow(
                name, descriptor.vgpr_count, descriptor.sgpr_count,
                descriptor.group_segment_fixed_size, descriptor.private_segment_fixed_size, kernel.kernarg_size,
                _occupancy(launch, kernel), arguments, _kind(kernel),
            )
        except Error as error:
            warn(f"kernel {kernel.name}: {error}")


def _kind(kernel: Kernel) -> str:
    kind = kernel_kind(kernel)
    return "" if kind is KernelKind.NORMAL else kind.value


def _shader_row(launch: LaunchControl, program: Program, shader: Shader) -> KernelRow:
    """Return the row of a shader, with its stage and user data in place of arguments."""
    descriptor, stage = shader.descriptor, shader.program.stage
    data = mapping_text(shader.program, descriptor.user_sgpr_count)
    return KernelRow(
        program.kernel_title(shader), descriptor.vgpr_count, descriptor.sgpr_count,
        descriptor.group_segment_fixed_size, descriptor.private_segment_fixed_size, 0, _occupancy(launch, shader),
        f"{stage.word} ({stage.purpose})" + (f": {data}" if data else ""),
    )


def _occupancy(launch: LaunchControl, kernel: Kernel) -> str:
    """Return the occupancy for the workgroup that the kernel requires, else the launch's, else the largest allowed."""
    descriptor, metadata, spec = kernel.descriptor, kernel.metadata, launch.spec
    required = metadata.reqd_workgroup_size if metadata is not None else None
    largest = metadata.max_flat_workgroup_size if metadata is not None else 0
    workgroup = prod(required or spec.workgroup or ()) if required or spec.workgroup else largest or 1024
    found = occupancy(
        descriptor.target,
        descriptor.wave_size,
        # the register counts before they were rounded up, if they are known
        vgprs=metadata.vgpr_count if metadata is not None and metadata.vgpr_count else descriptor.vgpr_count,
        sgprs=metadata.sgpr_count if metadata is not None and metadata.sgpr_count else descriptor.sgpr_count,
        lds=descriptor.group_segment_fixed_size + spec.dynamic_lds,
        workgroup=max(1, workgroup),
        wgp_mode=bool(descriptor.wgp_mode),
    )
    return f"{found.waves} ({found.limited_by})"


def launch_lines(launch: LaunchControl) -> list[str]:
    """Describe what the next `run` launches."""
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
                contents = f" = {argument.init}" if argument.init is not None and argument.init.given else ""
                text = f"{name}{argument.image or argument.buffer}{contents}"
            elif argument.local_size is not None:
                text = f"{name}local[{argument.local_size}]"
            elif argument.sampler is not None:
                text = f"{name}sampler {argument.sampler.text}"
            else:
                text = f"{name}{_value(argument)}"
        place = f" at byte {argument.offset}" if argument is not None and argument.offset is not None else ""
        lines.append(f"Argument {index}{place}: {text}")
    if spec.kernarg:
        lines.append(f"Kernarg segment: {spec.kernarg[:32].hex(' ', 4)}{' ...' if len(spec.kernarg) > 32 else ''}")
    if spec.stack_size is not None:
        lines.append(f"Stack size: {spec.stack_size} bytes")
    for other in spec.also:
        lines.append(f"Loaded too: {other}")
    return lines


def _value(argument: ArgumentSpec) -> str:
    """Format a value; an aggregate is shown as its type followed by its bytes."""
    if isinstance(argument.value, bytes):
        return f"{argument.type or 'bytes'} of {argument.value.hex(' ', 4)}"
    return f"{argument.type}:{argument.value}" if argument.type else str(argument.value)


def _sizes(sizes: tuple[int, int, int] | None) -> str:
    return "(not set)" if sizes is None else f"[{','.join(map(str, sizes))}]"


def line_table(
    program: Program, pattern: str
) -> Iterator[tuple[SourceFile, list[tuple[int, int, int, str]]]]:
    """Yield the rows of the line tables by file: (address, line, column, flags); ``pattern`` selects files."""
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
