"""Commands about parts of code objects other than code: info notes, info metadata, info relocations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rocdbg.cli.arguments import Arguments
from rocdbg.cli.command_registry import Category, command
from rocdbg.cli.text_columns import render
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.reports.code_object_parts import metadata_documents, note_rows, relocation_rows

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

STATUS = Category.STATUS


@command("info notes", category=STATUS, args=Arguments())
def info_notes(shell: Shell) -> None:
    """List the ELF notes of the program's code objects; of notes with metadata, only name and size are shown."""
    for program in _each(shell):
        rows = [(row.owner, row.type, str(row.size), row.description) for row in note_rows(program.code_object)]
        if rows:
            shell.write(render(("Owner", "Type", "Size", "Description"), rows))
        else:
            shell.line("No notes.")


@command("info metadata", category=STATUS, args=Arguments())
def info_metadata(shell: Shell) -> None:
    """Show the metadata of the program's code objects, as YAML.

    Code object V2 contains it as text; later versions have a binary form.
    """
    for program in _each(shell):
        found = False
        for lines in metadata_documents(program.code_object):
            found = True
            for line in lines:
                shell.line(line)
        if not found:
            shell.line("No metadata.")


@command("info relocations", category=STATUS, args=Arguments())
def info_relocations(shell: Shell) -> None:
    """List what the loader writes into the program's code objects: for each place, its file address and the value.

    A linked code object has relocations only for addresses in its data.
    """
    for program in _each(shell):
        rows = [(f"{row.address:#018x}", row.type, row.value) for row in relocation_rows(program.code_object)]
        if rows:
            shell.write(render(("Address", "Type", "Value"), rows))
        else:
            shell.line("No relocations.")


def _each(shell: Shell) -> Iterator[Program]:
    """The code objects of the program; if there are several, each with a line that names it."""
    shell.session.inferior.need_program()
    programs = shell.session.launch.programs
    for program in programs:
        if len(programs) > 1:
            shell.line(f"Code object {program.uri}:")
        yield program
