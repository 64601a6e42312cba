"""What follows the location in `break`: ``thread 2:5 if x > 3``."""

from __future__ import annotations

import re

from msgspec import Struct

from rocdbg.debugger.base.digits import decimal
from rocdbg.debugger.base.errors import BreakpointError
from rocdbg.debugger.expr.parsing.brackets import outside

_WORD = re.compile(r"(?:^|(?<=\s))(if|thread|task|lane|-force-condition)(?=\s|\()")
_ID = re.compile(r"(\d+)(?::(\d+))?(?!\S)")
_CONDITION_END = re.compile(r"(?<=\s)(?:thread|lane)\s+\d")


class BreakTail(Struct, frozen=True):
    """When a breakpoint stops: its condition (``force``: the condition is not checked when set), thread and lane."""

    condition: str | None = None
    thread: int | None = None
    lane: int | None = None
    force: bool = False


def split_location(text: str) -> tuple[str, str]:
    """Split ``f(int) thread 2 if x`` into the location and the rest, which begins at the first keyword."""
    text = text.strip()
    match = _WORD.search(text)
    if match is None:
        return text.removesuffix("-force-condition"), ""
    return text[: match.start()].strip(), text[match.start() :]


def parse_tail(text: str, running: bool = False) -> BreakTail:
    """Parse ``thread 2:5 if x > 3``. ``running``: a program that could have tasks runs. Raises `BreakpointError`."""
    condition: str | None = None
    thread = lane = None
    force = False
    text = text.strip()
    while text:
        word = _WORD.match(text)
        if word is None:
            raise BreakpointError("Junk at end of arguments.")
        text = text[word.end() :].strip()
        if word[1] == "if":
            end = _condition_end(text)
            condition, text = text[:end].strip(), text[end:].strip()
            if not condition:
                raise BreakpointError("Empty condition")
        elif word[1] == "-force-condition":
            force = True
        elif word[1] == "task":
            raise BreakpointError(
                f"Unknown task {text}." if running else "Cannot inspect Ada tasks when program is not running"
            )
        else:
            number = _ID.match(text)
            if number is None:
                raise BreakpointError(f"Invalid {word[1]} ID: {text}")
            if word[1] == "lane":
                lane = decimal(number[1])
            else:
                thread = decimal(number[1])
                lane = decimal(number[2]) if number[2] is not None else lane
            text = text[number.end() :].strip()
    return BreakTail(condition, thread, lane, force)


def _condition_end(text: str) -> int:
    """Return where a condition ends because ``thread N`` follows, outside of brackets and quotes."""
    for index in outside(text):
        if _CONDITION_END.match(text, index):
            return index
    return len(text)
