"""Completion at the terminal: `complete_line` for prompt_toolkit, with a description beside each candidate.

It is a separate module because importing prompt_toolkit takes a tenth of a second, which scripts do not need to spend.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from prompt_toolkit.application.current import get_app_or_none
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from rocdbg.cli.line_completion import complete_line
from rocdbg.cli.settings.setting_value_kinds import PLACEHOLDER
from rocdbg.cli.visible_text import one_line
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

PATIENCE = 0.01
"""Seconds that completion may spend on reading names while the user types; it reads the others between key presses."""
SLICE, PAUSE = 0.008, 0.01
"""Seconds of reading names and of pausing, which alternate."""
MOST_EXPLAINED = 40
"""How many candidates have a description; this is more than a pop-up shows."""
MOST_KNOWN = 4096
WIDEST = 60
"""The maximum number of characters in a candidate's description."""


class PromptCompleter(Completer):
    """Adapts `complete_line` to prompt_toolkit. While the user types, it never waits for names; TAB does wait."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self._known: dict[str, str] = {}
        self._reading = False
        self._life = 0

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Candidates for the text before the cursor."""
        line = document.text_before_cursor.split("\n")[-1]
        typing = not complete_event.completion_requested
        if typing and (not line.strip() or line[-1].isspace()):
            return  # nothing was typed yet: a pop-up would only be in the way
        found: list[tuple[int, str, str]] = []

        def look() -> None:
            symbols = self.shell.session.symbols
            symbols.patience = PATIENCE if typing else None
            try:
                start, words = complete_line(self.shell, line)
            finally:
                symbols.patience = None
            if typing and words == [line[start:]]:
                return  # the word is already complete
            for index, word in enumerate(words):
                # names with control characters are left out, as they cannot be typed
                if word.isprintable() and word != PLACEHOLDER:
                    about = self._about(line[:start] + word, word) if index < MOST_EXPLAINED else ""
                    found.append((start, word, about))

        self.shell.guard(look, f"completion of {line}")
        self._read_on()
        for start, word, about in found:
            yield Completion(word, start_position=start - len(line), display_meta=about)

    def _about(self, line: str, word: str) -> str:
        """Return a function's signature, or a command's summary; empty for other candidates."""
        life = id(self.shell.session.inferior.program)
        if life != self._life:
            self._life = life
            self._known.clear()
        known = self._known.get(line)
        if known is None:
            known = ""
            with suppress(Error):
                signature = self.shell.session.symbols.signature(word)
                known = signature if signature is not None else self._summary(line)
            known = one_line(known)
            known = known if len(known) <= WIDEST else known[: WIDEST - 3] + "..."
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[line] = known
        return known

    def _summary(self, line: str) -> str:
        """Return the summary of a command that the line names completely."""
        words = line.split()
        _, node = self.shell.registry.node(words)
        return node.spec.summary if node.spec is not None else ""

    def _read_on(self) -> None:
        """Read the program's names between key presses."""
        program = self.shell.session.inferior.program
        app = get_app_or_none()
        if program is None or app is None or not app.is_running or self._reading:
            return
        names = program.names
        if names.complete:
            return

        async def read() -> None:
            try:
                while not names.advance(SLICE):
                    await asyncio.sleep(PAUSE)
            except Error:
                return  # the information is damaged: offer the names read so far
            finally:
                self._reading = False

        self._reading = True
        app.create_background_task(read())
