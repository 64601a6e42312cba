"""Commands about files: file, info files, cd, pwd."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import TEXT, text_of, word_of
from rocdbg.cli.arguments import Arguments, optional, required
from rocdbg.cli.command_registry import Category, CommandError, Completes, command
from rocdbg.cli.paths import expand
from rocdbg.debugger.reports.code_object_parts import section_contents

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

    FILE is a code object, an offload bundle, a host executable or library that carries one, or a launch file. If it
    contains several code objects, TARGET-ID (gfx90a, gfx90a:xnack+) selects one. "run" starts a host executable with
    its own runtime, unless "kernel", "set grid" or "set arg" describe how one of its kernels is to be launched alone.
    """
    if "://" not in name:
        _need_there(name)
    target = shell.session.inferior.target
    if target is not None and not target.finished:
        question = "A program is being debugged already.\nAre you sure you want to change the file?"
        if not shell.confirm(question):
            return
        shell.session.running.kill()
    shell.session.load(name, target_id)
    shell.line(f"Reading symbols from {name}...")
    program = shell.session.inferior.program
    if program is None:
        shell.line(f"(No debugging symbols found in {name})")
        return
    if program.debug.file is not program.code_object:
        shell.line(f"Reading symbols from {program.debug.file.path}...")
    if not program.has_debug_info:
        shell.line(f"(No debugging symbols found in {name})")
    shell.auto_load.program_script()


@command(
    "load", category=FILES,
    args=Arguments(required("name", word_of("FILE", Completes.FILE), "Argument required (a file with code objects).")),
)
def load(shell: Shell, name: str) -> None:
    """Also load the code objects of FILE when the program is run.

    These code objects define symbols that the program's own code object uses, or use its symbols. You can launch
    kernels and set breakpoints in all of them. The same setting in a launch file is `load = ["FILE"]`.
    """
    if "://" not in name:
        _need_there(name)
    added = shell.session.launch.add_file(name)
    shell.line(f"Reading symbols from {name}...")
    if not any(program.has_debug_info for program in added):
        shell.line(f"(No debugging symbols found in {name})")
    if shell.session.inferior.running:
        shell.line("It will be loaded when the program is run again.")


@command(
    "add-symbol-file", category=FILES,
    args=Arguments(
        required("name", word_of("FILE", Completes.FILE), "add-symbol-file takes a file name and an address")
    ),
)
def add_symbol_file(shell: Shell, name: str) -> None:
    """Load symbols from FILE, assuming FILE has been dynamically loaded.

    Like "load": the code objects of FILE are loaded when the program is run, at a free address.
    """
    load(shell, name)


def _need_there(name: str) -> None:
    """Raise `CommandError`, in GDB's words, for a file that does not exist."""
    try:
        expand(name).stat()
    except FileNotFoundError as error:
        raise CommandError(f"{name}: {error.strerror}.") from None
    except (OSError, ValueError):
        return  # its reader reports the reason


@command("info files", category=Category.STATUS, aliases=("info target",), args=Arguments())
def info_files(shell: Shell) -> None:
    """Names of targets and files being debugged.

    Shows the sections of the program's code objects.
    """
    program = shell.session.symbols.program
    shell.line(f'Symbols from "{program.path}".')
    shell.line(f"Code object {program.uri}")
    shell.line(f"\tfile type elf64-amdgpu, target {program.code_object.target_id}.")
    for section_name, section in program.code_object.sections.items():
        address = program.code_object.section_address(section)
        if address is not None:
            low = program.to_loaded(address)
            shell.line(f"\t{low:#018x} - {low + section.size:#018x} is {section_name}")


@command(
    "compare-sections", category=Category.OBSCURE, usage="compare-sections [SECTION|-r]",
    args=Arguments(optional("which", TEXT, "", "SECTION|-r")),
)
def compare_sections(shell: Shell, which: str) -> None:
    """Compare section data on target to the exec file.

    SECTION is the name of a section. By default, all loaded sections are compared; with -r, only read-only ones.
    """
    session = shell.session
    found = differs = False
    for section in section_contents(session.symbols.program, session.data.environment().memory):
        if which not in ("", "-r", section.name) or (which == "-r" and section.is_writable):
            continue
        found = True
        differs |= not section.matches
        words = "matched." if section.matches else "MIS-MATCHED!"
        shell.line(f"Section {section.name}, range {section.low:#x} -- {section.high:#x}: {words}")
    if differs:
        shell.warn("One or more sections of the target image does not match\nthe loaded file\n")
    if which not in ("", "-r") and not found:
        raise CommandError(f"Loaded section {which} not found.")


@command("cd", category=FILES, args=Arguments(optional("folder", text_of("DIR", Completes.FILE), "~")))
def cd(shell: Shell, folder: str) -> None:
    """Set working directory to DIR for debugger."""
    path = expand(folder)
    try:
        os.chdir(path)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}.") from None
    shell.session.sources.forget()
    if shell.at_prompt:
        pwd(shell)


@command("pwd", category=FILES, args=Arguments(junk='The "pwd" command does not take an argument: {}'))
def pwd(shell: Shell) -> None:
    """Print working directory."""
    try:
        shell.line(f"Working directory {Path.cwd()}.")
    except OSError as error:
        raise CommandError(f"Error finding name of working directory: {error.strerror}") from None
