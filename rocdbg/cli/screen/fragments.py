"""Lines of styled text, cut and filled to a number of terminal columns.

Everything that a window shows passes through `fitted`, which makes it visible (`rocdbg.cli.visible_text`): names in
files and kernels cannot control the terminal.
"""

from __future__ import annotations

from collections.abc import Iterable

from prompt_toolkit.utils import get_cwidth

from rocdbg.cli.visible_text import one_line

Fragment = tuple[str, str]
"""A style of prompt_toolkit (``class:title``, several with blanks between) and a text."""
Line = list[Fragment]


def clean(text: str) -> str:
    """Text for one line of a window, without anything that moves the cursor."""
    if text.isascii() and text.isprintable():
        return text
    return one_line(text).replace("\t", " ")


def columns(text: str) -> int:
    """How many columns a clean text takes."""
    return len(text) if text.isascii() else get_cwidth(text)


def fitted(line: Iterable[Fragment], width: int, style: str = "", skip: int = 0) -> Line:
    """A line of exactly ``width`` columns, from column ``skip`` on; ``style`` is added to all of it."""
    found: Line = []
    left = width
    for own, text in line:
        text = clean(text)
        if skip:
            size = columns(text)
            if size <= skip:
                skip -= size
                continue
            text, skip = _after(text, skip), 0
        size = columns(text)
        if size > left:
            text = _first(text, left)
            size = columns(text)
        if text:
            found.append((f"{own} {style}" if own and style else own or style, text))
        left -= size
        if left <= 0 or (size == 0 and text):
            break
    if left > 0:
        found.append((style, " " * left))
    return found


def plain(line: Iterable[Fragment]) -> str:
    """A line's text without styles."""
    return "".join(text for _, text in line)


def shortened(text: str, width: int) -> str:
    """A text of at most ``width`` columns; ``...`` marks an omission, if there is room for it."""
    text = clean(text)
    if columns(text) <= width:
        return text
    return _first(text, width - 3) + "..." if width > 6 else _first(text, max(0, width))


def _first(text: str, width: int) -> str:
    if text.isascii():
        return text[:width]
    taken = 0
    for index, char in enumerate(text):
        taken += get_cwidth(char)
        if taken > width:
            return text[:index]
    return text


def _after(text: str, width: int) -> str:
    if text.isascii():
        return text[width:]
    taken = 0
    for index, char in enumerate(text):
        if taken >= width:
            return text[index:]
        taken += get_cwidth(char)
    return ""
