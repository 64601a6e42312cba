"""Asks the terminal for its background colour, and finds out whether it answers queries at all.

A terminal that a program controls (through expect or a pseudo-terminal) does not answer; it is then not queried again.
What a user types while the answer is awaited is kept.
"""

from __future__ import annotations

import os
import re
import select
import time
from contextlib import suppress

from msgspec import Struct

WAIT = 1.0
"""The maximum number of seconds to wait for an answer; an answer takes only a tenth of that, even over a slow line."""
MOST = 1 << 16
"""The maximum number of bytes that are read."""
BACKGROUND = b"\x1b]11;?\x1b\\"
WHERE = b"\x1b[6n"
"""The query for the cursor position. Nearly every terminal answers it, after any answer to an earlier query."""
ANSWER_WHERE = re.compile(rb"\x1b\[\d+;\d+R")
ANSWER_BACKGROUND = re.compile(
    rb"\x1b\]11;(?:rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})[^\x07\x1b]*"
    rb"|#([0-9a-fA-F]{2})([0-9a-fA-F]{2})([0-9a-fA-F]{2})|[^\x07\x1b]*)(?:\x07|\x1b\\)"
)


class Answer(Struct, frozen=True):
    """What was read after a query.

    Attributes:
        answers: whether the terminal has answered.
        background: its background, as red, green and blue from 0 to 1 (sRGB); ``None`` if not known.
        typed: everything else that was read: what the user typed.
    """

    answers: bool
    background: tuple[float, float, float] | None = None
    typed: bytes = b""


def understood(data: bytes) -> Answer:
    """Find the answers in the text that was read."""
    background = None
    found = ANSWER_BACKGROUND.search(data)
    parts = [part for part in found.groups() if part is not None] if found is not None else []
    if len(parts) == 3:
        red, green, blue = (int(part, 16) / ((1 << 4 * len(part)) - 1) for part in parts)
        background = red, green, blue
    typed = ANSWER_WHERE.sub(b"", ANSWER_BACKGROUND.sub(b"", data))
    return Answer(ANSWER_WHERE.search(data) is not None, background, typed)


def ask_terminal(given: int, shown: int, asks_background: bool, wait: float = WAIT) -> Answer:
    """Query the terminal through the descriptors ``given`` (input) and ``shown`` (output)."""
    try:
        import termios
    except ImportError:
        return Answer(False)
    try:
        if os.tcgetpgrp(given) != os.getpgrp():  # in the background: reading would stop the process
            return Answer(True)
        before = termios.tcgetattr(given)
    except (OSError, termios.error):
        return Answer(False)
    while_asking = [*before[:6], [*before[6]]]
    while_asking[3] &= ~(termios.ICANON | termios.ECHO)
    while_asking[6][termios.VMIN], while_asking[6][termios.VTIME] = 0, 0
    data = b""
    try:
        termios.tcsetattr(given, termios.TCSANOW, while_asking)
        os.write(shown, (BACKGROUND if asks_background else b"") + WHERE)
        end = time.monotonic() + wait
        while ANSWER_WHERE.search(data) is None and len(data) < MOST:
            left = end - time.monotonic()
            if left <= 0 or not select.select([given], [], [], left)[0]:
                break
            piece = os.read(given, MOST)
            if not piece:
                break
            data += piece
    except (OSError, ValueError, termios.error):
        return Answer(False, typed=data)
    finally:
        with suppress(OSError, termios.error):
            termios.tcsetattr(given, termios.TCSANOW, before)
    return understood(data)


def without_answers(line: str) -> str:
    """Remove from a line answers that came too late."""
    data = line.encode("utf-8", "surrogateescape")
    return understood(data).typed.decode("utf-8", "surrogateescape") if b"\x1b" in data else line
