"""Finds the parts of a text outside brackets and quotes, where commas and keywords act as separators."""

from __future__ import annotations

from collections.abc import Iterator

_PLAIN = ("([{", ")]}")
_OF_NAMES = ("([{<", ")]}>")


def outside(text: str, *, names: bool = False) -> Iterator[int]:
    """Yield the indices of the characters outside brackets and quotes; brackets and quotes themselves are excluded.

    With ``names``, for locations and functions, ``<`` and ``>`` are brackets too; in expressions they compare. An
    unmatched closing bracket is ignored.
    """
    opening, closing = _OF_NAMES if names else _PLAIN
    depth, quote, index = 0, "", 0
    while index < len(text):
        char = text[index]
        if quote:
            if char == "\\":
                index += 1
            elif char == quote:
                quote = ""
        elif char in "\"'":
            quote = char
        elif char in opening:
            depth += 1
        elif char in closing:
            depth = max(0, depth - 1)
        elif depth == 0:
            yield index
        index += 1


def at_comma(text: str) -> tuple[str, str, str]:
    """Split a list of locations at its first comma: return what `str.partition` would, with blanks stripped.

    A ``<`` that does not close before any comma is a comparison (``f if i < 3, "..."``).
    """
    for names in (True, False):
        for index in outside(text, names=names):
            if text[index] == ",":
                return text[:index].strip(), ",", text[index + 1 :].strip()
        if text.count("<") <= text.replace("->", "").count(">"):
            break  # all brackets are closed: the commas inside them separate template arguments
    return text, "", ""
