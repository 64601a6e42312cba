"""Code objects with the debug information that rocdbg derives, for other tools, in the AMD dialect of the extensions.

Information that upstream compilers omit is added (unwind rules, lane PCs, active lanes). What they write by their own
conventions is rewritten into the form that the specification defines (frame bases, locations of variables).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile

from msgspec import Struct

from rocdbg import work
from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.arch.dwarf_registers import PC
from rocdbg.codeobject import CodeObject, open_file
from rocdbg.codeobject.elf import Elf
from rocdbg.codeobject.elf_rewriting import with_sections
from rocdbg.debugger.annotate.recovered_entries import Annotation
from rocdbg.debugger.frames.machine_code import MachineCode
from rocdbg.debugger.frames.unwind_sources import Unwinder
from rocdbg.debugger.program.program import Program
from rocdbg.dwarf.cfi_rule_types import CfaExpression, UndefinedRule
from rocdbg.dwarf.cfi_unwinding import Row
from rocdbg.dwarf.info import DebugInfo
from rocdbg.dwarf.operation_assembler import assemble
from rocdbg.dwarf.rewriting.entry_writer import rewrite_entries
from rocdbg.dwarf.rewriting.frame_writer import debug_frame
from rocdbg.errors import Error
from rocdbg.launch.debug_files import DebugFiles

__all__ = ["Annotated", "AnnotationError", "annotate", "annotated"]

_FRAMES = ".debug_frame"
_INDEXES = (
    ".debug_names", ".debug_aranges", ".debug_pubnames", ".debug_pubtypes", ".debug_gnu_pubnames",
    ".debug_gnu_pubtypes", ".gdb_index",
)
"""Index sections that contain positions of entries. They are written empty, because entries move."""

_KERNEL_CFA = CfaExpression(assemble("lit0", f"lit{int(AddressSpace.PRIVATE_LANE)}", "form_aspace_address"))


class AnnotationError(Error):
    """A file cannot be annotated or written."""


class _OwnSections(DebugFiles):
    """Only the code object's own sections: the contents of other files are not written."""

    def separate(self, code_object: CodeObject) -> CodeObject | None:
        return None

_KERNEL_CFA = CfaExpression(assemble("lit0", f"lit{int(AddressSpace.PRIVATE_LANE)}", "form_aspace_address"))


class Annotated(Struct, frozen=True):
    """How many functions an object has, how many of them gained unwind rules, and how many gained lane PCs."""

    functions: int
    unwound: int
    with_lanes: int


def annotate(
    source: str | os.PathLike[str], output: str | os.PathLike[str], arch: str | None = None
) -> Annotated:
    """Write a code object with debug information derived from its machine code.

    ``source`` is a code object, or a file with several from which ``arch`` (a target id) selects one. ``output``
    receives only that code object, and may be the same file. Code and data are copied from the source byte for byte.
    Raises `rocdbg.Error`.
    """
    code_object = open_file(source, arch)
    with work.doing(f"annotating {source}"):
        data, done = annotated(code_object, Path(source))
    path = Path(output)
    try:
        # The file is replaced in one step, so that readers see either the old or the new contents.
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            try:
                file.write(data)
                file.flush()
                if path.exists():
                    Path(file.name).chmod(path.stat().st_mode & 0o777)
                else:
                    Path(file.name).chmod(0o666 & ~_umask())
                Path(file.name).replace(path)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise AnnotationError(f"{path}: cannot be written: {error.strerror or error}") from None
    return done


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def annotated(code_object: CodeObject, path: Path) -> tuple[bytes, Annotated]:
    """Return the bytes of an annotated code object. Raises `rocdbg.Error` if it is unlinked or damaged."""
    if code_object.is_relocatable:
        raise AnnotationError(f"{path} is an unlinked object: link it first, with ld.lld -shared")
    program = Program(code_object, path, _OwnSections())
    machine_code = MachineCode(program)
    annotation = Annotation(program, machine_code)
    contents: dict[str, bytes] = {}
    lanes = 0
    if program.has_debug_info:
        present = program.debug.sections
        rewritten = rewrite_entries(DebugInfo(present).entries, annotation)  # split units are in other files
        contents = {
            name: data for name, data in rewritten.sections.items() if data or name in present
        }
        contents |= {name: b"" for name in _INDEXES if name in code_object.sections}
        lanes = annotation.with_lanes
    frames, unwound = _frames(program, annotation, machine_code)
    if unwound:
        contents[_FRAMES] = frames
    return with_sections(Elf(code_object.source), contents), Annotated(len(annotation.functions), unwound, lanes)


def _frames(program: Program, annotation: Annotation, machine_code: MachineCode) -> tuple[bytes, int]:
    """Return the call frame information, and how many functions gained unwind rules."""
    unwinder = Unwinder(program, lambda program, wave_size: None)
    functions: list[Sequence[Row]] = []
    kept = program.debug.sections.get(_FRAMES, b"")
    unwound = has_own = 0
    for function in annotation.functions.values():
        work.unit()
        if unwinder.row(function.start) is not None:
            has_own += 1
            continue
        parts = _without_gaps([_as_described(row) for row in annotation.rows(function)])
        functions += parts
        unwound += bool(parts)
    # entries without any rule, as upstream compilers write them, are dropped
    before = kept if has_own else b""
    return before + debug_frame(functions, PC, before=len(before)), unwound


def _as_described(row: Row) -> Row:
    """Return a row in which the CFA of a kernel is address 0, as the ABI defines it for lanes (AMDGPU usage, "Kernel
    Prolog").
    """
    if row.rules.get(PC) == UndefinedRule():
        return Row(row.start, row.end, _KERNEL_CFA, row.rules, row.return_address_register, row.dialect)
    return row


def _without_gaps(rows: Sequence[Row]) -> list[list[Row]]:
    """Split rows into parts without gaps, each of which one entry can describe."""
    parts: list[list[Row]] = []
    for row in rows:
        before = parts[-1][-1] if parts else None
        if before is None or before.end != row.start or (row.cfa is None and before.cfa is not None):
            parts.append([])
        parts[-1].append(row)
    return parts
