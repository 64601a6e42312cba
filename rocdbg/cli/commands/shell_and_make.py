"""Commands that run programs of the host: shell, make, edit, pipe."""

from __future__ import annotations

import os
import shlex
import subprocess
from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import text_of
from rocdbg.cli.arguments import Arguments, optional
from rocdbg.cli.command_registry import Category, CommandError, Completes, command
from rocdbg.cli.settings.setting_value_kinds import split_word
from rocdbg.cli.writer import Capture
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

SUPPORT = Category.SUPPORT
LINE = Arguments(optional("line", text_of("COMMAND", Completes.FILE), ""))


def _run(shell: Shell, line: str, given: str | None = None) -> None:
    """Run a shell command, with ``given`` as its input; $_shell_exitcode or $_shell_exitsignal tells how it ended."""
    shell.out.flush()
    if shell.interactive and given is None:
        with shell.terminal_lent():
            status = subprocess.run(line, shell=True, check=False).returncode
    else:
        # not the user's terminal: keep the child's output in order with ours
        quiet = None if given is not None else subprocess.DEVNULL
        done = subprocess.run(
            line, shell=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            stdin=quiet, input=given, errors="replace", text=True,
        )
        shell.out.raw(done.stdout)
        status = done.returncode
    names = ("_shell_exitcode", "_shell_exitsignal")
    ended, other = names if status >= 0 else reversed(names)
    shell.session.data.evaluate(f"${ended} = {abs(status)}")
    shell.session.convenience.forget(other)


@command("shell", category=SUPPORT, aliases=("!",), args=LINE)
def shell_(shell: Shell, line: str) -> None:
    """Execute the rest of the line as a shell command.

    With no arguments, run an inferior shell. $_shell_exitcode is the exit status afterwards, $_shell_exitsignal the
    signal that ended it.
    """
    if not line and not shell.interactive:
        raise CommandError("shell: there is no terminal to run an interactive shell on.")
    _run(shell, line or "exec ${SHELL:-/bin/sh}")


@command("make", category=SUPPORT, args=LINE)
def make(shell: Shell, line: str) -> None:
    """Run the ``make'' program using the rest of the line as arguments."""
    _run(shell, f"make {line}")


@command(
    "edit", category=Category.FILES,
    args=Arguments(optional("location", text_of("FILE:LINE|FUNCTION", Completes.CODE), "")),
)
def edit(shell: Shell, location: str) -> None:
    """Edit specified file or function.

    By default it is the file that was listed last. The editor is the one that $EDITOR names, otherwise /bin/ex.
    """
    places = shell.session.places
    place = places.source_line(location) if location else places.default_line()
    path = shell.session.sources.text(place.file).path
    if path is None:
        raise CommandError(
            f"Cannot edit {place.file.name}: it does not exist as a file; its text is embedded in the debug "
            "information."
        )
    _run(shell, f"{os.environ.get('EDITOR') or '/bin/ex'} +{place.line} {shlex.quote(str(path))}")


@command(
    "pipe", category=SUPPORT, aliases=("|",), usage="pipe [-d DELIM] COMMAND | SHELL_COMMAND",
    args=Arguments(optional("text", text_of("COMMAND | SHELL_COMMAND", Completes.COMMAND, ("-d",)), "")),
)
def pipe(shell: Shell, text: str) -> None:
    """Send the output of a rocdbg command to a shell command.

    With -d DELIM, the word DELIM separates the two commands instead of "|". $_shell_exitcode is the exit status of the
    shell command afterwards.
    """
    delimiter = "|"
    if split_word(text)[0] == "-d":
        delimiter, text = split_word(split_word(text)[1])
        if not delimiter:
            raise CommandError("-d requires an argument")
    if not text:
        raise CommandError("Missing COMMAND")
    line, found, outside = (part.strip() for part in text.partition(delimiter))
    if not found:
        raise CommandError("Missing delimiter before SHELL_COMMAND")
    if not line:
        line = shell.last_line()
    if not outside:
        raise CommandError("Missing SHELL_COMMAND")
    with Capture(shell.out) as output:
        failed: Error | None = None
        try:
            shell.run_line(line)
        except Error as error:  # the output so far goes to the shell command
            failed = error
    _run(shell, outside, output.getvalue())
    if failed is not None:
        raise failed
