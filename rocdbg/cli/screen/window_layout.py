"""Layouts: how windows share the terminal, in the syntax of GDB's ``tui new-layout``.

A layout is a tree of windows and splits with weights; `arrange` gives each window its rectangle. The status line has
one row, regardless of its weight.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from rocdbg.errors import Error

STATUS = "status"
COMMAND = "cmd"
WINDOWS = ("src", "asm", "regs", "lanes", "locals", "waves", STATUS, COMMAND)
"""All windows, with GDB's names where it has them."""
LEAST = 2
"""The minimum number of rows of a visible window: its title and one line."""
LEAST_WIDTH = 10
MAX_DEPTH = 20
MAX_WINDOWS = 64

PREDEFINED = {
    "src": "src 2 status 0 cmd 1",
    "asm": "asm 2 status 0 cmd 1",
    "split": "src 1 asm 1 status 0 cmd 1",
    "regs": "regs 1 src 1 status 0 cmd 1",
    "lanes": "{-horizontal src 13 {lanes 5 locals 5 waves 3} 11} 5 status 0 cmd 2",
}


class LayoutError(Error):
    """A layout is invalid."""


class Rect(Struct, frozen=True):
    """Columns [x, x + width) and rows [y, y + height) of the terminal."""

    x: int
    y: int
    width: int
    height: int

    def holds(self, x: int, y: int) -> bool:
        """Whether a cell is inside it."""
        return self.x <= x < self.x + self.width and self.y <= y < self.y + self.height


class Leaf(Struct, frozen=True):
    """A window."""

    name: str

    def __str__(self) -> str:
        return self.name


class Split(Struct, frozen=True):
    """Parts side by side (``horizontal``) or one above the other, with their weights."""

    horizontal: bool
    parts: tuple[tuple[Leaf | Split, int], ...]

    def __str__(self) -> str:
        inner = " ".join(f"{part} {weight}" for part, weight in self.parts)
        return f"{{{'-horizontal ' * self.horizontal}{inner}}}"


def parse_layout(text: str) -> Split:
    """Parse ``[-horizontal] WINDOW WEIGHT ...``; a window may be ``{ [-horizontal] NAME WEIGHT ... }``.

    Raises `LayoutError`, in GDB's words if GDB has such an error.
    """
    words = text.replace("{", " { ").replace("}", " } ").split()
    layout, rest = _split(words, 0)
    if rest:
        raise LayoutError("Extra '}' in layout specification")
    names = list(windows(layout))
    if not names:
        raise LayoutError("New layout does not contain any windows")
    for name in names:
        if names.count(name) > 1:
            raise LayoutError(f'Window "{name}" seen twice in layout')
    if COMMAND not in names:
        raise LayoutError(f'New layout does not contain the "{COMMAND}" window')
    return layout


def _split(words: list[str], depth: int) -> tuple[Split, list[str]]:
    if depth > MAX_DEPTH or len(words) > 4 * MAX_WINDOWS:
        raise LayoutError("Layout specification is too deep or too long")
    horizontal = words[:1] == ["-horizontal"]
    words = words[1:] if horizontal else words
    parts: list[tuple[Leaf | Split, int]] = []
    while words and words[0] != "}":
        part: Leaf | Split
        if words[0] == "{":
            part, words = _split(words[1:], depth + 1)
            if not words:
                raise LayoutError("Missing '}' in layout specification")
            words = words[1:]
        else:
            if words[0] not in WINDOWS:
                raise LayoutError(f'Unknown window "{words[0]}"')
            part, words = Leaf(words[0]), words[1:]
        if not words or not (words[0].isdecimal() and len(words[0]) < 7):
            raise LayoutError(f'Missing or bad weight of "{part}": a number must follow it')
        parts.append((part, int(words[0])))
        words = words[1:]
    return Split(horizontal, tuple(parts)), words


def windows(layout: Leaf | Split) -> Iterator[str]:
    """Yield the names of a layout's windows, from the top and from the left."""
    if isinstance(layout, Leaf):
        yield layout.name
    else:
        for part, _ in layout.parts:
            yield from windows(part)


def arrange(layout: Split, width: int, height: int, wanted: Mapping[tuple[str, bool], int]) -> dict[str, Rect]:
    """Return the rectangles of the windows on a terminal; windows for which there is no room are omitted.

    ``wanted`` has the rows (key ``(name, False)``) and columns (key ``(name, True)``) that the user requested.
    """
    found: dict[str, Rect] = {}
    _place(layout, Rect(0, 0, width, height), wanted, found)
    return found


def _place(
    node: Leaf | Split, rect: Rect, wanted: Mapping[tuple[str, bool], int], found: dict[str, Rect]
) -> None:
    if rect.width <= 0 or rect.height <= 0:
        return
    if isinstance(node, Leaf):
        found[node.name] = rect
        return
    gap = int(node.horizontal)  # a line between neighbours
    extent = rect.width if node.horizontal else rect.height
    sizes = _sizes(node, extent - gap * (len(node.parts) - 1), wanted)
    shown = [index for index, size in enumerate(sizes) if size > 0]
    sizes[shown[0] if shown else 0] += gap * (len(sizes) - max(1, len(shown)))  # separators of omitted windows
    at = rect.x if node.horizontal else rect.y
    for (part, _), size in zip(node.parts, sizes, strict=True):
        if node.horizontal:
            _place(part, Rect(at, rect.y, size, rect.height), wanted, found)
        else:
            _place(part, Rect(rect.x, at, rect.width, size), wanted, found)
        at += size + (gap if size else 0)


def _sizes(node: Split, extent: int, wanted: Mapping[tuple[str, bool], int]) -> list[int]:
    """Divide an extent by weight. Requested and fixed sizes take precedence, and the command window always remains
    visible.
    """
    least = LEAST_WIDTH if node.horizontal else LEAST
    fixed: dict[int, int] = {}
    for index, (part, _) in enumerate(node.parts):
        names = list(windows(part))
        if names == [STATUS] and not node.horizontal:
            fixed[index] = 1
            continue
        sizes = [wanted[name, node.horizontal] for name in names if (name, node.horizontal) in wanted]
        if sizes and isinstance(part, Leaf):
            fixed[index] = max(least, sizes[0])
    kept = _by_importance(node)
    while len(kept) > 1 and (excess := sum(fixed.get(index, least) for index in kept) - extent) > 0:
        shrinkable = [index for index in kept if fixed.get(index, 0) > least]
        if shrinkable:
            fixed[shrinkable[0]] -= min(excess, fixed[shrinkable[0]] - least)
        else:
            kept.pop()  # no room: drop the least important
    if len(kept) == 1:
        fixed = {kept[0]: extent}
    left = extent - sum(fixed[index] for index in kept if index in fixed)
    free = [index for index in sorted(kept) if index not in fixed]
    if not free and left > 0:  # all sizes were requested: the last part takes the rest
        last = next((i for i in sorted(kept, reverse=True) if node.parts[i][0] != Leaf(STATUS)), kept[0])
        fixed[last] += left
    shares = _shares([max(1, node.parts[index][1]) for index in free], left, least)
    by_index = {**{i: fixed[i] for i in kept if i in fixed}, **dict(zip(free, shares, strict=True))}
    return [max(0, by_index.get(index, 0)) for index in range(len(node.parts))]


def _by_importance(node: Split) -> list[int]:
    """Return the parts in order of importance: that with the command window first, the status line last."""

    def rank(index: int) -> tuple[int, int]:
        names = list(windows(node.parts[index][0]))
        return (0 if COMMAND in names else 2 if names == [STATUS] else 1, index)

    return sorted(range(len(node.parts)), key=rank)


def _shares(weights: Sequence[int], extent: int, least: int) -> list[int]:
    """Divide an extent by weights into shares of at least ``least``, for which the extent must suffice."""
    if not weights:
        return []
    total = sum(weights)
    shares = [max(least, extent * weight // total) for weight in weights]
    while sum(shares) > extent:
        largest = max(range(len(shares)), key=shares.__getitem__)
        if shares[largest] <= 1:
            break
        shares[largest] -= 1
    shares[0] += extent - sum(shares)
    return shares
