"""Commands about the debugger itself: echo, shell, source, quit, show version, show user."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import FILE, INTEGER, TEXT
from rocdbg.cli.arguments import Arguments, optional
from rocdbg.cli.command_options import Option
from rocdbg.cli.command_registry import (
    Category,
    CommandError,
    Repeat,
    command,
)
from rocdbg.cli.escapes import unescape
from rocdbg.cli.leaving_commands import Quit
from rocdbg.cli.paths import expand

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

SUPPORT = Category.SUPPORT


@command(
    "quit", category=SUPPORT, aliases=("q", "exit"), repeat=Repeat.NEVER,
    args=Arguments(optional("status", INTEGER, shown="STATUS")),
)
def quit_(shell: Shell, status: int | None) -> None:
    """Exit rocdbg.

    The optional expression STATUS becomes the exit status. Without STATUS, the exit status is 0, unless
    -return-child-result or "set exit-status strict" derives it from the results of launches.
    """
    target = shell.session.inferior.target
    if target is not None and not target.finished:
        question = "A debugging session is active.\n\n\tInferior 1 will be killed.\n\nQuit anyway?"
        if not shell.confirm(question):
            return
    raise Quit(status if status is None else status & 0xFF)


@command(
    "echo", category=SUPPORT, usage="echo TEXT", repeat=Repeat.NEVER, args=Arguments(optional("text", TEXT, ""))
)
def echo(shell: Shell, text: str) -> None:
    r"""Print a constant string.  Give string as argument.

    C escape sequences may be used: \n for a new line, "\ " for leading spaces. No newline is added at the
    end; a final backslash keeps trailing spaces.
    """
    shell.out.raw(unescape(text))


@command(
    "source", category=SUPPORT, usage="source [-v] [-s] FILE",
    args=Arguments(
        Option("-v", key="verbose"), Option("-s", key="search"),
        optional("path", FILE, ""),
    ),
)
def source(shell: Shell, verbose: bool, search: bool, path: str) -> None:
    """Read commands from a file named FILE.

    With -v each command is shown as it is executed. With -s, a FILE that does not exist is searched for in the source
    path ("show directories"). An error ends the script.
    """
    if not path and not (verbose or search):
        raise CommandError("source command requires file name of file to source.")
    path = path or ("-v" if verbose else "-s")  # if nothing follows, it is a file's name
    shell.source(_searched(shell, path) if search else path, verbose)


def _searched(shell: Shell, path: str) -> str | Path:
    """The first file of that name in the source path, otherwise the name."""
    if not expand(path).exists():
        for folder in shell.session.settings.directories:
            found = Path("." if folder == "$cwd" else folder) / path
            if not folder.startswith("$cdir") and found.is_file():
                return found
    return path


@command("show version", category=SUPPORT, args=Arguments())
def show_version(shell: Shell) -> None:
    """Show what version of rocdbg this is."""
    import rocdbg

    shell.line(f"rocdbg {rocdbg.__version__}")
