"""The prompt: prompt_toolkit on a terminal, plain lines otherwise; Ctrl-C, Ctrl-D, history."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from rocdbg.cli.progress import progress_shown
from rocdbg.cli.script import ScriptError, asking, parse
from rocdbg.cli.shell import Quit, Shell
from rocdbg.errors import Error

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

PROMPT = "(rocdbg) "


@contextmanager
def interruptible(shell: Shell) -> Iterator[None]:
    """While this is open, Ctrl-C asks the engine to stop; a second one raises KeyboardInterrupt."""
    asked = False

    def handler(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked or not shell.session.busy:
            raise KeyboardInterrupt
        asked = True
        shell.session.interrupt()

    previous = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def run_statement(shell: Shell, first: str, more: Callable[[str], str]) -> bool:
    """Run one typed line, asking for the rest of a block; errors are shown. Whether it went well."""
    try:
        with interruptible(shell), progress_shown(shell.session, sys.stdout):
            if not first.strip():
                shell.repeat_last()
                return True
            # one statement: what the generator would read after a block's end is the next prompt's
            statement = next(parse(asking(first, more)), None)
            return statement is None or shell.run_guarded(statement, repeatable=True)
    except Error as error:
        shell.report(error)
        return False
    except KeyboardInterrupt:
        shell.line("Quit")
        return False
    except EOFError:
        shell.report(ScriptError("the input ended inside a block"))
        return False
    finally:
        shell.out.flush()


def run_prompt(shell: Shell, quiet: bool = False) -> int:
    """Read and run commands until the end of input or `quit`; returns the exit status."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        return _run_terminal(shell)
    return _run_lines(shell)


def _run_lines(shell: Shell) -> int:
    """Commands from a pipe or file: the prompt is plain text, as GDB's is."""

    def read(prompt: str) -> str:
        shell.write(prompt)
        shell.out.flush()
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line.rstrip("\n")

    while True:
        try:
            line = read(PROMPT)
        except EOFError:
            shell.line("quit")
            return 0
        except KeyboardInterrupt:
            shell.line("Quit")
            continue
        run_statement(shell, line, read)


def history_path() -> Path:
    """Where typed lines are kept: $ROCDBG_HISTFILE, else ~/.rocdbg_history."""
    return Path(os.environ.get("ROCDBG_HISTFILE") or Path.home() / ".rocdbg_history")


def make_prompt(shell: Shell) -> PromptSession[str]:
    """The terminal prompt with history and completion."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import FileHistory, History, InMemoryHistory

    from rocdbg.cli.prompt_completer import PromptCompleter

    history: History
    path = history_path()
    try:
        path.touch(mode=0o600)
        history = FileHistory(str(path))
    except OSError:  # a home that cannot be written to is no reason not to debug
        history = InMemoryHistory()
    return PromptSession(
        history=history,
        completer=PromptCompleter(shell),
        complete_while_typing=False,
        enable_history_search=True,
        enable_open_in_editor=False,
    )


def _run_terminal(shell: Shell) -> int:
    session = make_prompt(shell)

    def more(prompt: str) -> str:
        return session.prompt(prompt)

    shell.ask = more
    while True:
        try:
            line = session.prompt(shell.settings.get("prompt") or PROMPT)  # type: ignore[arg-type]
        except KeyboardInterrupt:
            shell.line("Quit")
            continue
        except EOFError:
            shell.line("quit")
            try:
                shell.run_line("quit")
            except Quit as request:
                return request.status
            continue
        run_statement(shell, line, more)
