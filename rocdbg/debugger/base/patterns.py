"""Regular expressions as users type them, in GDB's syntax: POSIX basic expressions with GNU's additions.

In a basic expression ``|``, ``+``, ``?``, ``(``, ``)`` and ``{`` are ordinary characters, and become operators after a
backslash. Commands with an older matcher (``search``, ``thread find``) use the syntax of Emacs, in which ``+`` and
``?`` are operators without a backslash, and there are no intervals.
"""

from __future__ import annotations

import enum
import re
import warnings
from dataclasses import dataclass

from rocdbg.errors import Error


class PatternError(Error):
    """A regular expression that cannot be compiled."""


class Syntax(enum.Enum):
    """The syntax of an expression."""

    BASIC = "basic"
    EMACS = "emacs"


MOST_REPEATS = 0x7FFF
"""The largest number in an interval: RE_DUP_MAX."""
_CLASSES = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "0-9a-zA-Z", "upper": "A-Z", "lower": "a-z", "space": r" \t-\r",
    "blank": r" \t", "punct": r"!-/:-@\[-`{-~", "xdigit": "0-9a-fA-F", "cntrl": r"\x00-\x1f\x7f", "print": " -~",
    "graph": "!-~",
}  # fmt: skip
_ESCAPES = {
    "w": r"\w", "W": r"\W", "s": r"\s", "S": r"\S", "b": r"\b", "B": r"\B", "<": r"\b(?=\w)", ">": r"\b(?<=\w)",
    "`": r"\A", "'": r"\Z",
}  # fmt: skip
_INTERVAL = re.compile(r"(\d{0,9})(?:(,)(\d{0,9}))?\\\}")


@dataclass(frozen=True)
class Pattern:
    """A compiled expression, and its text as typed."""

    pattern: str
    compiled: re.Pattern[str]

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match of the expression in a text."""
        return self.compiled.search(text)


def compile_pattern(text: str, ignore_case: bool = False, syntax: Syntax = Syntax.BASIC) -> Pattern:
    """Compile an expression. Raises `PatternError`, which says what is wrong with the expression."""
    translated = _Translation(text, syntax).all()
    try:
        with warnings.catch_warnings():  # about text that a later version of Python may interpret differently
            warnings.simplefilter("ignore")
            return Pattern(text, re.compile(translated, re.IGNORECASE if ignore_case else 0))
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(f"Invalid regexp: {error}: {text}") from None


def _wrong(what: str) -> PatternError:
    return PatternError(f"Invalid regexp: {what}")


class _Translation:
    """Translates an expression into Python's syntax."""

    def __init__(self, text: str, syntax: Syntax) -> None:
        self._text = text
        self._basic = syntax is Syntax.BASIC
        self._at = 0
        self._out: list[str] = []
        self._starts: list[int] = []
        """The positions in ``_out`` at which the open groups begin."""
        self._item: int | None = None
        """The position in ``_out`` of the item to which a repetition would apply; None if there is no such item."""
        self._groups = 0

    def all(self) -> str:
        """Translate the whole expression."""
        while self._at < len(self._text):
            character = self._text[self._at]
            self._at += 1
            if character == "\\":
                self._escape()
            elif character == "[":
                self._add(self._bracket())
            elif character == ".":
                self._add("(?s:.)")
            elif character == "*" or (character in "+?" and not self._basic):
                self._repeat(character)
            elif character == "^" and self._at_start():
                self._out.append("^")
            elif character == "$" and self._at_end():
                self._out.append(r"\Z")
            else:
                self._add(re.escape(character))
        if self._starts:
            raise _wrong("Unmatched ( or \\(")
        return "".join(self._out)

    def _add(self, item: str) -> None:
        self._item = len(self._out)
        self._out.append(item)

    def _at_start(self) -> bool:
        return not self._out or self._out[-1] in ("(", "|")

    def _at_end(self) -> bool:
        return self._at == len(self._text) or self._text.startswith(("\\)", "\\|"), self._at)

    def _repeat(self, operator: str) -> None:
        if self._item is None:
            self._add(re.escape(operator))  # at the start of an expression it is an ordinary character
            return
        repeated = "".join(self._out[self._item :])
        self._out[self._item :] = [f"(?:{repeated}){operator}"]

    def _escape(self) -> None:
        if self._at == len(self._text):
            raise _wrong("Trailing backslash")
        character = self._text[self._at]
        self._at += 1
        if character == "(":
            self._groups += 1
            self._starts.append(len(self._out))
            self._out.append("(")
            self._item = None
        elif character == ")":
            if not self._starts:
                raise _wrong("Unmatched ( or \\(")
            self._out.append(")")
            self._item = self._starts.pop()
            self._out[self._item :] = ["".join(self._out[self._item :])]
        elif character == "|":
            self._out.append("|")
            self._item = None
        elif character in "+?" and self._basic:
            self._repeat(character)
        elif character == "{" and self._basic:
            self._interval()
        elif character in "123456789":
            if int(character) > self._groups:
                raise _wrong("Invalid back reference")
            self._add(f"(?:\\{character})")
        elif character in _ESCAPES:
            self._add(_ESCAPES[character])
        else:
            self._add(re.escape(character))

    def _interval(self) -> None:
        if self._item is None:
            self._add(re.escape("{"))  # at the start of an expression it is an ordinary character
            return
        found = _INTERVAL.match(self._text, self._at)
        if found is None:
            raise _wrong("Unmatched \\{" if "\\}" not in self._text[self._at :] else "Invalid content of \\{\\}")
        least = int(found[1] or 0)
        most = least if found[2] is None else int(found[3]) if found[3] else None
        if not (found[1] or found[2]) or (most is not None and most < least):
            raise _wrong("Invalid content of \\{\\}")
        if max(least, most or 0) > MOST_REPEATS:
            raise _wrong("Regular expression too big")
        self._at = found.end()
        self._repeat(f"{{{least},{'' if most is None else most}}}")

    def _bracket(self) -> str:
        """Translate ``[...]``, from after its opening bracket on."""
        text = self._text
        negated = text.startswith("^", self._at)
        self._at += negated
        members: list[str] = []
        first = True
        while first or not text.startswith("]", self._at):
            first = False
            if self._at >= len(text):
                raise _wrong("Unmatched [ or [^")
            if text.startswith("[:", self._at):
                end = text.find(":]", self._at + 2)
                name = text[self._at + 2 : end] if end >= 0 else ""
                if name not in _CLASSES:
                    raise _wrong("Invalid character class name" if end >= 0 else "Unmatched [ or [^")
                members.append(_CLASSES[name])
                self._at = end + 2
                continue
            low = text[self._at]
            high = text[self._at + 2 : self._at + 3] if text[self._at + 1 : self._at + 2] == "-" else ""
            if high and high != "]":
                if high < low:
                    raise _wrong("Invalid range end")
                members.append(f"{re.escape(low)}-{re.escape(high)}")
                self._at += 3
            else:
                members.append(_in_brackets(low))
                self._at += 1
        self._at += 1
        return f"[{'^' if negated else ''}{''.join(members)}]"


def _in_brackets(character: str) -> str:
    return "\\" + character if character in "\\]^-[&~|" else character
