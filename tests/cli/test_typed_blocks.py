"""Blocks typed at a prompt: whether they continue, how deep they are nested, and the prompts shown to the user."""

from __future__ import annotations

import pytest

from rocdbg.cli.typed_blocks import is_open, lead, open_blocks, typed_lines, what_is_wanted

OPEN = [
    # lines typed, blocks that are open then
    ("print 1", 0),
    ("define foo", 1),
    ("define foo/if 1", 2),
    ("define foo/if 1/while 0", 3),
    ("define foo/if 1/else/end", 1),
    ("define foo/if 1/end/end", 0),
    ("document foo/if this were a command it would open a block", 1),
    ("document foo/if/end", 0),
    ("print 1/define foo", 0),  # pasted lines are taken one by one
]


@pytest.mark.parametrize(("lines", "depth"), OPEN)
def test_blocks_that_are_open(lines: str, depth: int) -> None:
    assert open_blocks(lines.split("/")) == depth
    assert is_open(lines.replace("/", "\n")) == (depth > 0)
    assert lead(lines.split("/")) == " " * (depth - 1) + ">"


END = 'End with a line saying just "end".'
HEADS = [
    ("define foo", f'Type commands for definition of "foo".  {END}'),
    ("document foo", f'Type documentation for "foo".  {END}'),
    ("commands 1-3", f"Type commands for breakpoint(s) 1-3, one per line.  {END}"),
    ("commands", f"Type commands, one per line.  {END}"),
    ("while 1", END),
    ("print 1", ""),
]


@pytest.mark.parametrize(("head", "words"), HEADS)
def test_what_is_wanted(head: str, words: str) -> None:
    assert what_is_wanted(head) == words


TYPED = [
    # a text, the lines that are run; an empty one alone repeats the last command
    ("", [""]),
    ("print 1", ["print 1"]),
    ("print 1/print 2/", ["print 1", "print 2"]),
    ("next//next/", ["next", "next"]),
    ("document x/one//two/end//x/", ["document x", "one", "", "two", "end", "x"]),
    ("//", [""]),
]


@pytest.mark.parametrize(("text", "lines"), TYPED)
def test_lines_of_a_pasted_text(text: str, lines: list[str]) -> None:
    assert typed_lines(text.replace("/", "\n")) == lines
