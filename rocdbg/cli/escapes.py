"""C escape sequences of `echo`."""

from __future__ import annotations

import re

SIMPLE = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v",
    "\\": "\\", '"': '"', "'": "'", " ": " ", "\n": "",
}
ESCAPE = re.compile(r"\\([0-7]{1,3}|.|\n|$)", re.DOTALL)


def unescape(text: str) -> str:
    """Replace the C escape sequences in a text; an unknown one is replaced by its letter."""

    def one(match: re.Match[str]) -> str:
        body = match.group(1)
        if not body:
            return ""
        if body[0] in "01234567":
            return chr(int(body, 8) & 0xFF)
        return SIMPLE.get(body, body)

    return ESCAPE.sub(one, text)
