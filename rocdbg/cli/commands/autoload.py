"""Commands about files that run automatically: which may run, and which were found. The settings are declared
elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import text_of
from rocdbg.cli.arguments import Arguments, optional, required
from rocdbg.cli.command_registry import Category, Completes, command
from rocdbg.debugger.base.patterns import compile_pattern

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

NEEDS_DIRECTORY = """\
Directory argument required.
Use 'set auto-load safe-path /' for disabling the auto-load safe-path security."""


@command(
    "add-auto-load-safe-path", category=Category.SUPPORT,
    args=Arguments(required("entries", text_of("DIRECTORY", Completes.FILE), NEEDS_DIRECTORY)),
)
def add_safe_path(shell: Shell, entries: str) -> None:
    """Add entries to the list of directories from which it is safe to auto-load files.

    See the commands 'set auto-load safe-path' and 'show auto-load safe-path' to access the current full list setting.
    """
    shell.auto_load.add_safe_path(entries)


@command("info auto-load", category=Category.STATUS, args=Arguments())
def info_auto_load(shell: Shell) -> None:
    """Print current status of auto-loaded files."""
    for line in _local(shell):
        shell.line(f"local-rocdbginit:  {line}")
    scripts = _scripts(shell, "")
    shell.line("rocdbg-scripts:  " + scripts[0] if len(scripts) == 1 else "\n".join(("rocdbg-scripts:", *scripts)))


def _local(shell: Shell) -> list[str]:
    local = shell.auto_load.found["local-rocdbginit"]
    return [
        f'Local .rocdbginit file "{file}" has {"" if was_run else "not "}been loaded.'
        for file, was_run in local.items()
    ] or ["Local .rocdbginit file was not found."]


def _scripts(shell: Shell, pattern: str) -> list[str]:
    """Show a table of the scripts whose names match, or a message that there are none."""
    matches = compile_pattern(pattern).search
    scripts = shell.auto_load.found["rocdbg-scripts"]
    rows = [f"{'Yes' if was_run else 'No':<7} {file}" for file, was_run in scripts.items() if matches(str(file))]
    if rows:
        return ["Loaded  Script", *rows]
    return [f"No auto-load scripts matching {pattern}." if pattern else "No auto-load scripts."]


@command(
    "info auto-load local-rocdbginit", category=Category.STATUS, aliases=("info auto-load local-gdbinit",),
    args=Arguments(),
)
def info_local_init(shell: Shell) -> None:
    """Print whether current directory .rocdbginit file has been loaded."""
    for line in _local(shell):
        shell.line(line)


@command(
    "info auto-load rocdbg-scripts", category=Category.STATUS, aliases=("info auto-load gdb-scripts",),
    args=Arguments(optional("pattern", text_of("REGEXP"), "")),
)
def info_scripts(shell: Shell, pattern: str) -> None:
    """Print the list of automatically loaded sequences of commands."""
    for line in _scripts(shell, pattern):
        shell.line(line)
