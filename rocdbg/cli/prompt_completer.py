"""Completion at the terminal: `complete_line` for prompt_toolkit.

A file of its own, because importing prompt_toolkit takes a tenth of a second that scripts need not pay.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from rocdbg.cli.completion import complete_line

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell


class PromptCompleter(Completer):
    """`complete_line` for prompt_toolkit."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Candidates for the text before the cursor."""
        line = document.text_before_cursor
        found: list[tuple[int, str]] = []

        def look() -> None:
            start, words = complete_line(self.shell, line)
            # a name that would steer the terminal cannot be typed either
            found.extend((start, word) for word in words if word.isprintable())

        self.shell.guard(look, f"completion of {line}")
        for start, word in found:
            yield Completion(word, start_position=start - len(line))
