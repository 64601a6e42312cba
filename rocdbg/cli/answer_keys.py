"""Key bindings for a prompt that asks a question, not for a command line."""

from __future__ import annotations

from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent


def add_answer_keys(keys: KeyBindings, asks: Condition) -> None:
    """Add the keys that apply while a question is answered.

    Enter does not add the answer to the history; history keys and completion are disabled.
    """

    @keys.add("enter", filter=asks)
    def _(event: KeyPressEvent) -> None:
        event.app.exit(result=event.current_buffer.text)

    for name in ("up", "down", "c-p", "c-n", "c-r", "c-s", "tab"):
        keys.add(name, filter=asks)(lambda event: None)
