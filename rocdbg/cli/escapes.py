"""C escape sequences of `echo` and `printf`."""

from __future__ import annotations

import re

SIMPLE = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b",
    "\\": "\\", '"': '"', "'": "'", " ": " ", "\n": "",
}
ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9A-Fa-f]{1,2}|.|\n|$)", re.DOTALL)


def unescape(text: str) -> str:
    """Text with its C escape sequences replaced; an unknown one stands for its letter."""

    def one(match: re.Match[str]) -> str:
        body = match.group(1)
        if not body:
            return ""
        if body[0] in "01234567":
            return chr(int(body, 8) & 0xFF)
        if body[0] == "x" and len(body) > 1:
            return chr(int(body[1:], 16))
        return SIMPLE.get(body, body)

    return ESCAPE.sub(one, text)
