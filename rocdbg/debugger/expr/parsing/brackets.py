"""Where a text is outside of its brackets and quotes: there commas separate, and words end what comes before them."""

from __future__ import annotations

from collections.abc import Iterator

_PLAIN = ("([{", ")]}")
_OF_NAMES = ("([{<", ")]}>")


def outside(text: str, *, names: bool = False) -> Iterator[int]:
    """The indices of the characters of a text that are in no brackets and no quotes, and are none themselves.

    In ``names``, of locations and functions, ``<`` and ``>`` are brackets too; in expressions they compare. A bracket
    that was not opened closes nothing.
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
    """A text of locations before and after its first comma, as `str.partition` has it, without blanks around.

    Where ``<`` does not close before any comma, it compares (``f if i < 3, "..."``).
    """
    for names in (True, False):
        for index in outside(text, names=names):
            if text[index] == ",":
                return text[:index].strip(), ",", text[index + 1 :].strip()
        if text.count("<") <= text.replace("->", "").count(">"):
            break  # all are closed: the commas in them are of template arguments
    return text, "", ""
