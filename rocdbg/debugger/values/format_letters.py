"""The formats of ``print/x``, ``x/4xw`` and similar."""

from __future__ import annotations

from msgspec import Struct

from rocdbg.debugger.base.digits import decimal
from rocdbg.debugger.base.errors import ExpressionError

SIZE_LETTERS = {"b": 1, "h": 2, "w": 4, "g": 8}
DESCRIPTORS = "kd"
"""The format letters of ``x`` for kernel descriptors."""


class Format(Struct, frozen=True):
    """A ``/FMT``: a count (``x`` only), a letter and a size letter; ``raw`` bypasses pretty-printers.

    ``letter`` and ``size`` are "" if they were not given; the letter of ``x/kd`` is `DESCRIPTORS`. Letters are
    validated where they are used.
    """

    letter: str = ""
    size: str = ""
    count: int = 1
    raw: bool = False
    radix: str = ""
    """The letter for integers if no letter was given: `set output-radix`."""

    @classmethod
    def parse(cls, text: str, command: str = "") -> Format:
        """Parse a format such as ``x``, ``4xw`` or ``rs`` (without the slash).

        ``command`` is the name of a command that shows values and not memory, so that counts, sizes and instructions
        are invalid. Raises `ExpressionError`.
        """
        digits = 0
        negative = text.startswith("-")
        body = text[1:] if negative else text
        while digits < len(body) and body[digits].isdecimal():
            digits += 1
        count = decimal(body[:digits]) if digits else 1
        letter = size = ""
        raw = False
        for char in body[digits:]:
            if char == "r":
                raw = True
            elif char in SIZE_LETTERS:
                size = char
            elif char == "m":
                continue  # GDB's memory tags, which no GPU has
            elif "a" <= char <= "z":
                letter = char
            else:
                raise undefined_format(char)
        if body[digits:] == DESCRIPTORS and not command:
            letter = DESCRIPTORS
        count = -count if negative else count
        if command and size:
            raise ExpressionError(f'Size letters are meaningless in "{command}" command.')
        if command and count != 1:
            raise ExpressionError(f'Item count other than 1 is meaningless in "{command}" command.')
        if command and letter == "i":
            raise ExpressionError(f'Format letter "i" is meaningless in "{command}" command.')
        return cls(letter, size, count, raw)


def undefined_format(letter: str) -> ExpressionError:
    """Return the error for an unknown format letter."""
    return ExpressionError(f'Undefined output format "{letter}".')


PLAIN = Format()
