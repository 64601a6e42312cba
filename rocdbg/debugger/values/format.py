"""The formats of ``print/x``, ``x/4xw`` and their like."""

from __future__ import annotations

from msgspec import Struct

from rocdbg.debugger.digits import decimal
from rocdbg.debugger.errors import ExpressionError

FORMAT_LETTERS = "xduotcafszr"
SIZE_LETTERS = {"b": 1, "h": 2, "w": 4, "g": 8}


class Format(Struct, frozen=True):
    """A ``/FMT``: a count (``x`` only), a letter and a size letter; ``raw`` goes past pretty-printers.

    ``letter`` and ``size`` are "" where none was given.
    """

    letter: str = ""
    size: str = ""
    count: int = 1
    raw: bool = False
    source: bool = False

    @classmethod
    def parse(cls, text: str, allow_count: bool = False, letters: str = FORMAT_LETTERS + "i") -> Format:
        """A format such as ``x``, ``4xw``, ``rs`` (without the slash). Raises `ExpressionError`."""
        digits = 0
        negative = text.startswith("-")
        body = text[1:] if negative else text
        while digits < len(body) and body[digits].isdecimal():
            digits += 1
        count = decimal(body[:digits]) if digits else 1
        if (digits or negative) and not allow_count:
            raise ExpressionError("Item count other than 1 is meaningless in \"print\" command.")
        letter = size = ""
        raw = False
        for char in body[digits:]:
            if char == "r":
                raw = True
            elif char in SIZE_LETTERS:
                size = char
            elif char in letters:
                letter = char
            else:
                raise ExpressionError(f'Undefined output format "{char}".')
        return cls(letter, size, -count if negative else count, raw)


PLAIN = Format()
