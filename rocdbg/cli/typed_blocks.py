"""Blocks typed at a terminal (``define``, ``commands``, ``if``), and whether they are complete."""

from __future__ import annotations

from collections.abc import Sequence

from rocdbg.cli.script import VERBATIM, opens_block


def open_blocks(lines: Sequence[str]) -> int:
    """Count the blocks in typed lines that have no `end` yet (``define``, ``commands``, ``if``)."""
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
    """Whether a typed text is a block whose `end` is still missing."""
    return open_blocks(text.split("\n")) > 0


def lead(before: Sequence[str]) -> str:
    """Return the prompt for the line after these: GDB's ``>``, indented for each nested block."""
    return " " * max(0, open_blocks(before) - 1) + ">"


def what_is_wanted(text: str) -> str:
    """Return GDB's instructions for an open block: what to type, and how to end it; empty for other text."""
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
    """Return the lines of a text that was typed or pasted.

    In a text of several lines, an empty line does not repeat a command: it is dropped unless it is inside a block.
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
