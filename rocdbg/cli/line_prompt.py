"""Reads lines without editing them: from a pipe, or from a terminal that edits and shows its input by itself.

Terminals are read in this way if they cannot move their cursor or do not answer queries (because expect, DejaGnu or an
editor controls them); so is every terminal with `set editing off`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rocdbg.cli.terminal_query import without_answers
from rocdbg.cli.typed_blocks import what_is_wanted

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell


class LinePrompt:
    """Writes a prompt and reads a line. ``says_what_is_wanted``: show how to end a block, as for a human user."""

    def __init__(self, shell: Shell, says_what_is_wanted: bool) -> None:
        self._shell = shell
        self._says = says_what_is_wanted
        self._wanted = ""

    def close(self) -> None:
        """Do nothing: this prompt does not take over the terminal."""

    def read(self, prompt: str) -> str:
        """Read a command line. Raises EOFError at the end of input."""
        line = self._line(prompt)
        wanted = what_is_wanted(line) if self._says else ""
        # GDB shows no instructions for `if` and `while`
        self._wanted = wanted.replace(".  ", ".\n", 1) if ".  " in wanted else ""
        return line

    def more(self, prompt: str) -> str:
        """Read a further line of a block."""
        if self._wanted:
            self._shell.line(self._wanted)
            self._wanted = ""
        return self._line(prompt)

    def ask(self, question: str) -> str:
        """Read the answer to a question."""
        return self._line(question)

    def _line(self, prompt: str) -> str:
        shell = self._shell
        shell.out.raw(prompt)
        typed = self._typed_ahead()
        if typed.endswith("\n"):
            line = typed
        else:
            shell.out.flush()
            try:
                line = sys.stdin.readline()
            except OSError as error:  # standard input is a directory, or a terminal that no longer exists
                shell.warn(f"standard input: {error.strerror}.")
                raise EOFError from None
            if not line and not typed:
                raise EOFError
            line = typed + line
        return without_answers(line.rstrip("\n"))

    def _typed_ahead(self) -> str:
        """Return a line that was typed while the terminal was queried. The terminal did not show it then, so it is
        shown.
        """
        shell = self._shell
        if not shell.typed_ahead:
            return ""
        first, end, shell.typed_ahead = shell.typed_ahead.partition(b"\n")
        text = (first + end).decode("utf-8", "surrogateescape")
        shell.out.write(text)
        return text
