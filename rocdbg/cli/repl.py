"""The prompt: prompt_toolkit on a terminal, plain lines otherwise; Ctrl-C, Ctrl-D, history."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from rocdbg.cli.internal_errors import home_directory
from rocdbg.cli.leaving_commands import Quit
from rocdbg.cli.outermost_level import attempt
from rocdbg.cli.progress import progress_shown
from rocdbg.cli.script import ScriptError, asking, parse
from rocdbg.cli.shell import Shell

if TYPE_CHECKING:
    from prompt_toolkit.history import History

    from rocdbg.cli.prompt import TerminalPrompt

PROMPT = "(rocdbg) "
MAX_HISTORY = 64 << 20
"""Bytes of a history file that is read."""


def run_statement(shell: Shell, first: str, more: Callable[[str], str]) -> bool:
    """Run one typed line, reading the rest of a block; errors are shown. Returns whether it succeeded."""

    good: list[bool] = []

    def run() -> None:
        with progress_shown(shell.session, shell.out.stream):
            if not first.strip():
                good.append(shell.guard(shell.repeat_last, ""))
                return
            try:
                # one statement: input after a block's end belongs to the next prompt
                statement = next(parse(asking(first, more), check=shell.check_block), None)
            except EOFError:
                raise ScriptError("the input ended inside a block") from None
            good.append(statement is None or shell.run_guarded(statement, repeatable=True))

    return attempt(shell, lambda: shell.guard(run, first)) and good == [True]


def run_prompt(shell: Shell, quiet: bool = False) -> int:
    """Read and run commands until the end of input or `quit`; returns the exit status."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        return _run_terminal(shell)
    return _run_lines(shell)


def _run_lines(shell: Shell) -> int:
    """Commands from a pipe or file: the prompt is plain text, as in GDB."""

    def read(prompt: str) -> str:
        shell.out.raw(prompt)
        shell.out.flush()
        try:
            line = sys.stdin.readline()
        except OSError as error:  # a directory, or a closed terminal
            shell.warn(f"standard input: {error.strerror}.")
            raise EOFError from None
        if not line:
            raise EOFError
        return line.rstrip("\n")

    while True:
        try:
            line = _read(shell, lambda: read(PROMPT))
        except EOFError:
            shell.line("quit")
            return 0
        if line is not None:
            run_statement(shell, line, read)


def _read(shell: Shell, read: Callable[[], str]) -> str | None:
    """A line; ``None`` after "Quit", or if it could not be read. Raises EOFError."""
    lines: list[str] = []
    ended: list[EOFError] = []

    def take() -> None:
        try:
            lines.append(read())
        except EOFError as error:
            ended.append(error)

    attempt(shell, lambda: shell.guard(take, "reading a line"))
    if ended:
        raise EOFError
    return lines[0] if lines else None


def history_path() -> Path | None:
    """The file in which typed lines are kept: $ROCDBG_HISTFILE, else ~/.rocdbg_history; ``None`` without a home."""
    named = os.environ.get("ROCDBG_HISTFILE")
    if named:
        return Path(named)
    home = home_directory()
    return home / ".rocdbg_history" if home is not None else None


def make_history(shell: Shell) -> History:
    """Lines of earlier sessions and of this one. A file that cannot be used does not prevent debugging."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    class KeptHistory(FileHistory):
        """Continues in memory when the disk is full, after one warning."""

        broken = False

        def load_history_strings(self) -> Iterable[str]:
            try:
                if path is not None and path.stat().st_size > MAX_HISTORY:
                    raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
                return list(super().load_history_strings())
            except (OSError, ValueError) as error:
                self._give_up(error)
                return []

        def store_string(self, string: str) -> None:
            if self.broken:
                return
            try:
                super().store_string(string.encode("utf-8", "replace").decode())
            except (OSError, ValueError) as error:
                self._give_up(error)

        def _give_up(self, error: Exception) -> None:
            self.broken = True
            reason = getattr(error, "strerror", None) or error
            shell.session.warnings.add(f"history file {path}: {reason}; lines are not kept.")

    path = history_path()
    if path is None:
        return InMemoryHistory()
    try:
        if not path.exists():
            path.touch(mode=0o600)
        elif not path.is_file():  # reading a FIFO would block
            return InMemoryHistory()
    except (OSError, ValueError):
        return InMemoryHistory()
    return KeptHistory(str(path))


def _run_terminal(shell: Shell) -> int:
    made: list[TerminalPrompt] = []

    def make() -> None:
        from rocdbg.cli.prompt import TerminalPrompt

        made.append(TerminalPrompt(shell, make_history(shell)))

    if not shell.guard(make, "the prompt"):
        return _run_lines(shell)
    prompt = made[0]
    shell.ask = prompt.ask
    try:
        return _read_and_run(shell, prompt)
    finally:
        prompt.close()


def _read_and_run(shell: Shell, prompt: TerminalPrompt) -> int:
    while True:
        try:
            line = _read(shell, lambda: prompt.read(str(shell.settings.get("prompt") or PROMPT)))
        except EOFError:
            shell.line("quit")
            try:
                run_statement(shell, "quit", prompt.more)
            except Quit as request:
                return request.status
            if not sys.stdin.isatty():
                return 0
            continue
        if line is not None:
            shell.state.remember(line)
            run_statement(shell, line, prompt.more)
