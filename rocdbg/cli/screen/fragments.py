"""Lines of styled text that are cut or filled to a number of terminal columns.

Everything that a window shows passes through `fitted`, which makes it visible (`rocdbg.cli.visible_text`): names in
files and kernels cannot control the terminal.
"""

from __future__ import annotations

from collections.abc import Iterable

from prompt_toolkit.utils import get_cwidth

from rocdbg.cli.visible_text import one_line

Fragment = tuple[str, str]
"""A style of prompt_toolkit (``class:title``, or several separated by blanks) and a text."""
Line = list[Fragment]

MOST_OF_NAME = 24
"""How many columns the name in a title always gets, if the window is wide enough."""


def clean(text: str) -> str:
    """Return text for one line of a window, without characters that move the cursor."""
    if text.isascii() and text.isprintable():
        return text
    return one_line(text).replace("\t", " ")


def columns(text: str) -> int:
    """Return how many columns a clean text takes."""
    return len(text) if text.isascii() else get_cwidth(text)


def fitted(line: Iterable[Fragment], width: int, style: str = "", skip: int = 0) -> Line:
    """Return a line of exactly ``width`` columns, from column ``skip`` on; ``style`` is added to all of it."""
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
            text = first_columns(text, left)
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
    """Return a line's text without styles."""
    return "".join(text for _, text in line)


def shortened(text: str, width: int) -> str:
    """Shorten a text to ``width`` columns; ``...`` marks an omission, if there is room for it."""
    text = clean(text)
    if columns(text) <= width:
        return text
    return first_columns(text, width - 3) + "..." if width > 6 else first_columns(text, max(0, width))


def shortened_name(name: str, width: int) -> str:
    """Shorten a name to ``width`` columns. Its beginning and end are kept, as names often differ only there."""
    name = clean(name)
    if columns(name) <= width or width <= 6:
        return first_columns(name, max(0, width))
    front = first_columns(name, (width - 3) // 2)
    return f"{front}...{_after(name, columns(name) - (width - 3 - columns(front)))}"


def padded(text: str, width: int) -> str:
    """Fill a text with blanks to at least ``width`` columns."""
    text = clean(text)
    return text + " " * (width - columns(text))


def title_of(parts: Line, width: int) -> Line:
    """Fit the parts of a title into ``width`` columns. The first part, a name, is shortened to leave room for the
    second; the last part that is shown may be cut off.
    """
    if sum(columns(clean(text)) for _, text in parts) <= width or not parts:
        return parts
    (style, name), *rest = parts
    room = width - columns(clean(rest[0][1])) if rest else width
    found = [(style, shortened_name(name, max(room, width // 2, min(width, MOST_OF_NAME))))]
    left = width - columns(found[0][1])
    for style, text in rest:
        text = shortened(text, left) if left > 6 else clean(text)
        if columns(text) > left:
            break
        found.append((style, text))
        left -= columns(text)
    return found


def expanded(text: str, tab: int, at: int = 0) -> str:
    """Replace tabs with blanks up to the next multiple of ``tab`` columns; the text begins in column ``at``."""
    if "\t" not in text:
        return text
    first, *rest = text.split("\t")
    for part in rest:
        first += " " * (tab - (at + get_cwidth(first)) % tab) + part
    return first


def first_columns(text: str, width: int) -> str:
    """Return the beginning of a clean text that fits into ``width`` columns."""
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
