"""The prompt: prompt_toolkit on a terminal, plain lines otherwise; Ctrl-C, Ctrl-D, history."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from rocdbg.cli.internal_errors import home_directory
from rocdbg.cli.line_prompt import LinePrompt
from rocdbg.cli.outermost_level import attempt
from rocdbg.cli.progress import progress_shown
from rocdbg.cli.script import ScriptError, asking, parse
from rocdbg.cli.shell import Shell
from rocdbg.cli.standard_streams import edits_lines
from rocdbg.cli.visible_text import visible

if TYPE_CHECKING:
    from prompt_toolkit.history import History

    from rocdbg.cli.prompt import TerminalPrompt

PROMPT = "(rocdbg) "
MAX_HISTORY = 64 << 20
"""The maximum number of bytes that are read of a history file."""


def run_statement(shell: Shell, first: str, more: Callable[[str], str]) -> bool:
    """Run one typed line, and read the rest of a block; show errors. Return whether it succeeded."""

    good: list[bool] = []

    def run() -> None:
        is_seen = shell.answers or shell.out.stream is not sys.stdout  # false where nothing can be redrawn
        with progress_shown(shell.session, shell.out.stream) if is_seen else nullcontext():
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


def run_prompt(shell: Shell) -> None:
    """Read and run commands until the end of input. Raises `Quit` for `quit`."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        _run_terminal(shell)
    else:
        _run_lines(shell)


def _run_lines(shell: Shell) -> None:
    """Run commands from a pipe or file; the prompt is plain text, as GDB's is."""
    prompt = LinePrompt(shell, says_what_is_wanted=False)
    while True:
        try:
            line = _read(shell, lambda: prompt.read(prompt_text(shell)))
        except EOFError:
            shell.line("quit")
            return
        if line is not None:
            run_statement(shell, line, prompt.more)


def prompt_text(shell: Shell) -> str:
    """Return the text of `set prompt`; control characters in it are made visible."""
    return visible(str(shell.settings.get("prompt", PROMPT)))


def _read(shell: Shell, read: Callable[[], str]) -> str | None:
    """Return a line; ``None`` after "Quit", or if it could not be read. Raises EOFError."""
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
    """Return the history file: $ROCDBG_HISTFILE, else ~/.rocdbg_history; ``None`` without a home directory."""
    named = os.environ.get("ROCDBG_HISTFILE")
    if named:
        return Path(named)
    home = home_directory()
    return home / ".rocdbg_history" if home is not None else None


def make_history(shell: Shell) -> History:
    """Return the lines of earlier sessions and of this one. An unusable history file does not prevent debugging."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    class KeptHistory(FileHistory):
        """A history that continues in memory when the disk is full, after one warning."""

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
            shell.session.warnings.add(f"history file {path}: {reason}; command lines are not saved.")

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


class _Prompts:
    """Selects how the next line is read: with editing, or without (`set editing off`, terminals that programs control).
    """

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._lines = LinePrompt(shell, says_what_is_wanted=True)
        self._terminal: TerminalPrompt | None = None
        self._failed = False

    def now(self) -> TerminalPrompt | LinePrompt:
        """Return the prompt with which to read."""
        shell = self._shell
        is_full = shell.screen is not None and shell.screen.enabled
        if not (is_full or edits_lines(shell)) or self._failed:
            self.close()
            return self._lines
        if self._terminal is None and not shell.guard(self._make, "the prompt"):
            self._failed = True
        return self._terminal or self._lines

    def _make(self) -> None:
        from rocdbg.cli.prompt import TerminalPrompt

        self._terminal = TerminalPrompt(self._shell, make_history(self._shell))

    def ask(self, question: str) -> str:
        """Read the answer to a question."""
        return self.now().ask(question)

    def more(self, prompt: str) -> str:
        """Read a further line of a block."""
        return self.now().more(prompt)

    def close(self) -> None:
        """Release the terminal."""
        if self._terminal is not None:
            self._terminal.close()


def _run_terminal(shell: Shell) -> None:
    prompts = _Prompts(shell)
    shell.ask = prompts.ask
    try:
        _read_and_run(shell, prompts)
    finally:
        prompts.close()


def _read_and_run(shell: Shell, prompts: _Prompts) -> None:
    while True:
        try:
            line = _read(shell, lambda: prompts.now().read(prompt_text(shell)))
        except EOFError:
            shell.line("quit")
            run_statement(shell, "quit", prompts.more)
            if not sys.stdin.isatty():
                return
            continue
        if line is not None:
            shell.state.remember(line)
            run_statement(shell, line, prompts.more)
