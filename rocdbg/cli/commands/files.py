"""Commands about files: file, info files, cd, pwd."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from rocdbg.cli.arguments import Arguments, optional, required
from rocdbg.cli.kinds import text_of, word_of
from rocdbg.cli.paths import expand
from rocdbg.cli.registry import Category, CommandError, Completes, command

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

FILES = Category.FILES


FILE_USAGE = "Usage: file FILE [TARGET-ID]"


@command(
    "file", category=FILES, aliases=("exec-file", "symbol-file"),
    args=Arguments(
        required("name", word_of("FILE", Completes.FILE), FILE_USAGE), optional("target_id", word_of("TARGET-ID")),
        junk=FILE_USAGE,
    ),
)
def file(shell: Shell, name: str, target_id: str | None) -> None:
    """Use FILE as program to be debugged.

    FILE is a code object, an offload bundle, a host executable or library that carries one, or a launch file. Where
    there are several code objects in it, TARGET-ID (gfx90a, gfx90a:xnack+) says which.
    """
    target = shell.session.inferior.target
    if target is not None and not target.finished:
        question = "A program is being debugged already.\nAre you sure you want to change the file?"
        if not shell.confirm(question):
            return
        shell.session.running.kill()
    shell.session.load(name, target_id)
    shell.line(f"Reading symbols from {name}...")
    if not shell.session.symbols.program.has_debug_info:
        shell.line(f"(No debugging symbols found in {name})")
    shell.auto_load.program_script()


@command("info files", category=Category.STATUS, aliases=("info target",), args=Arguments())
def info_files(shell: Shell) -> None:
    """Names of targets and files being debugged: the sections of the code object."""
    program = shell.session.symbols.program
    shell.line(f'Symbols from "{program.path}".')
    shell.line(f"Code object {program.uri}")
    shell.line(f"\tfile type elf64-amdgpu, target {program.code_object.target_id}.")
    for section_name, section in program.code_object.sections.items():
        if section.address:
            low = program.to_loaded(section.address)
            shell.line(f"\t{low:#018x} - {low + section.size:#018x} is {section_name}")


@command("cd", category=FILES, args=Arguments(optional("folder", text_of("DIR", Completes.FILE), "~")))
def cd(shell: Shell, folder: str) -> None:
    """Set working directory to DIR for the debugger."""
    path = expand(folder)
    try:
        os.chdir(path)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}.") from None
    shell.session.sources.forget()
    pwd(shell)


@command("pwd", category=FILES, args=Arguments(junk='The "pwd" command does not take an argument: {}'))
def pwd(shell: Shell) -> None:
    """Print working directory."""
    try:
        shell.line(f"Working directory {Path.cwd()}.")
    except OSError as error:
        raise CommandError(f"Error finding name of working directory: {error.strerror}") from None
