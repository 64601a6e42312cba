"""Commands about files that run by themselves: auto-load safe-path, and what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.commands.support import parse_switch
from rocdbg.cli.registry import Category, CommandError, CommandSpec, Completes, Registry, command

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

SUPPORT = Category.SUPPORT
KINDS = {
    "local-rocdbginit": "auto-loading of .rocdbginit script from current directory",
    "rocdbg-scripts": "auto-loading of canned sequences of commands scripts",
}


def add_kinds(registry: Registry) -> None:
    """Declare `set` and `show auto-load KIND`."""
    for kind, what in KINDS.items():
        registry.add(_set_kind(kind, what))
        registry.add(_show_kind(kind, what))


def _set_kind(kind: str, what: str) -> CommandSpec:
    def handler(shell: Shell, text: str) -> None:
        shell.auto_load.enabled[kind] = parse_switch(text)

    name = ("set", "auto-load", kind)
    return CommandSpec(name, handler, SUPPORT, f"Enable or disable {what}.", usage=f"{' '.join(name)} on|off")


def _show_kind(kind: str, what: str) -> CommandSpec:
    def handler(shell: Shell, text: str) -> None:
        shell.line(_kind_line(shell, kind))

    name = ("show", "auto-load", kind)
    return CommandSpec(name, handler, SUPPORT, f"Show whether {what} is enabled.", usage=" ".join(name))


def _kind_line(shell: Shell, kind: str) -> str:
    return f"{KINDS[kind][0].upper()}{KINDS[kind][1:]} is {'on' if shell.auto_load.enabled[kind] else 'off'}."


@command("set auto-load safe-path", category=SUPPORT, usage="set auto-load safe-path [DIRECTORIES]",
         completes=Completes.FILE)  # fmt: skip
def set_safe_path(shell: Shell, text: str) -> None:
    """Set the list of files and directories that are safe for auto-loading.

    Various files loaded automatically for the 'set auto-load ...' options must be located in one of the directories
    listed by this option. Warning will be printed and file will not be used otherwise. You can mix both directory and
    filename entries. Setting this parameter to an empty list resets it to its default value. Setting this parameter to
    '/' (without the quotes) allows any file for the 'set auto-load ...' options. Each path entry can be also shell
    wildcard pattern; '*' does not match directory separator.
    """
    shell.auto_load.set_safe_path(text)


@command("show auto-load safe-path", category=SUPPORT)
def show_safe_path(shell: Shell, text: str) -> None:
    """Show the list of files and directories that are safe for auto-loading."""
    shell.line(_safe_path_line(shell))


def _safe_path_line(shell: Shell) -> str:
    path = shell.auto_load.safe_path
    if path and not path.strip("/:"):
        return "Auto-load files are safe to load from any directory."
    return f"List of directories from which it is safe to auto-load files is {path}."


@command("show auto-load", category=SUPPORT)
def show_auto_load(shell: Shell, text: str) -> None:
    """Show auto-loading specific settings."""
    for kind in KINDS:
        shell.line(f"{kind}:  {_kind_line(shell, kind)}")
    shell.line(f"safe-path:  {_safe_path_line(shell)}")


@command("add-auto-load-safe-path", category=SUPPORT, usage="add-auto-load-safe-path DIRECTORY",
         completes=Completes.FILE)  # fmt: skip
def add_safe_path(shell: Shell, text: str) -> None:
    """Add entries to the list of directories from which it is safe to auto-load files.

    See the commands 'set auto-load safe-path' and 'show auto-load safe-path' to access the current full list setting.
    """
    if not text:
        raise CommandError(
            "Directory argument required.\n"
            "Use 'set auto-load safe-path /' for disabling the auto-load safe-path security."
        )
    shell.auto_load.add_safe_path(text)


@command("info auto-load", category=Category.STATUS)
def info_auto_load(shell: Shell, text: str) -> None:
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
