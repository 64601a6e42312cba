"""Commands about files that run by themselves: what may, and what was found. The settings are declared elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.arguments import Arguments, required
from rocdbg.cli.kinds import text_of
from rocdbg.cli.registry import Category, Completes, command

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
    found = shell.auto_load.found
    local = found["local-rocdbginit"]
    if not local:
        shell.line("local-rocdbginit:  Local .rocdbginit file was not found.")
    for file, was_run in local.items():
        loaded = "has been loaded" if was_run else "has not been loaded"
        shell.line(f'local-rocdbginit:  Local .rocdbginit file "{file}" {loaded}.')
    scripts = found["rocdbg-scripts"]
    if not scripts:
        shell.line("rocdbg-scripts:  No auto-load scripts.")
        return
    shell.line("rocdbg-scripts:\nLoaded  Script")
    for file, was_run in scripts.items():
        shell.line(f"{'Yes' if was_run else 'No':<7} {file}")
