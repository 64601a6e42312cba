"""Blocks typed at a terminal (``define``, ``commands``, ``if``): whether they are complete."""

from __future__ import annotations

from collections.abc import Sequence

from rocdbg.cli.script import VERBATIM, opens_block


def open_blocks(lines: Sequence[str]) -> int:
    """How many blocks typed lines have opened that have no `end` yet (``define``, ``commands``, ``if``)."""
    depth = 0
    verbatim = False
    for line in lines:
        stripped = line.strip()
        if stripped == "end":
            depth -= 1
            verbatim = False
        elif not verbatim and opens_block(stripped):
            depth += 1
            verbatim = stripped.split(None, 1)[0] in VERBATIM
        if depth <= 0 and line is lines[0]:
            return 0
    return depth


def is_open(text: str) -> bool:
    """Whether a typed text is a block whose `end` is missing."""
    return open_blocks(text.split("\n")) > 0


def lead(before: Sequence[str]) -> str:
    """The prompt of a further line after those: GDB's ``>``, indented for each nested block."""
    return " " * max(0, open_blocks(before) - 1) + ">"


def what_is_wanted(text: str) -> str:
    """What to type into an open block, and how it ends, in GDB's words; otherwise empty."""
    if not is_open(text):
        return ""
    keyword, _, name = text.split("\n", 1)[0].strip().partition(" ")
    name = name.strip()
    wanted = {
        "define": f'Type commands for definition of "{name}".',
        "document": f'Type documentation for "{name}".',
        "commands": f"Type commands{name and f' for breakpoint(s) {name}'}, one per line.",
    }.get(keyword, "")
    return f'{wanted}  End with a line saying just "end".'.strip()


def typed_lines(text: str) -> list[str]:
    """The lines of a text that was typed or pasted.

    In a text of several lines, empty ones do not repeat a command: they are dropped, except inside a block.
    """
    lines = text.split("\n")
    if len(lines) == 1:
        return lines
    found: list[str] = []
    block: list[str] = []
    for line in lines:
        if block or line.strip():
            found.append(line)
            block.append(line)
            if open_blocks(block) <= 0:
                block = []
    return found or [""]
