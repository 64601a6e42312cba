"""The prompt: prompt_toolkit on a terminal, plain lines otherwise; Ctrl-C and Ctrl-D."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING

from rocdbg.cli.command_history import make_history
from rocdbg.cli.line_prompt import LinePrompt
from rocdbg.cli.outermost_level import attempt
from rocdbg.cli.progress import progress_shown
from rocdbg.cli.script import ScriptError, asking, parse
from rocdbg.cli.shell import Shell
from rocdbg.cli.standard_streams import edits_lines
from rocdbg.cli.visible_text import visible

if TYPE_CHECKING:
    from rocdbg.cli.prompt import TerminalPrompt

PROMPT = "(rocdbg) "


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
