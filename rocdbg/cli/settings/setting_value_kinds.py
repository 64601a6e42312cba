"""The types of values of settings and options, with GDB's names and syntax.

`ValueKind.parse` reads the whole text after ``set NAME``; `ValueKind.take` reads only the beginning of the text after
an option. Both raise `CommandError` in GDB's words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import ClassVar

from msgspec import Struct

from rocdbg.cli.command_registry import CommandError, Completes

PLACEHOLDER = "NUMBER"
"""What completion shows for a number that has not been typed yet."""
MAX_VALUE = 1 << 31
MAX_NUMBER = 40
"""The maximum number of characters in a number; longer ones are out of range."""
_DIGITS = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|\d+)")
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")


class ValueKind(Struct, frozen=True):
    """One type of values.

    Attributes:
        metasyntax: the placeholder of a value in the usage of ``set``.
        option_metasyntax: the same in an option table.
        words: the values that completion offers.
        completes: other things that completion offers.
        is_quoted: whether ``show`` puts the value in quotes.
        may_be_left_out: whether an option of this type may omit its value.
    """

    may_be_left_out: ClassVar[bool] = False
    is_quoted: ClassVar[bool] = False

    @property
    def metasyntax(self) -> str:
        return "TEXT"

    @property
    def option_metasyntax(self) -> str:
        return self.metasyntax

    @property
    def words(self) -> tuple[str, ...]:
        return ()

    @property
    def completes(self) -> Completes:
        return Completes.NOTHING

    def parse(self, text: str) -> object:
        """Return the value of a whole text."""
        return text

    def evaluated(self, text: str, evaluate: Callable[[str], int] | None) -> object:
        """Parse as `parse` does; if the value can be an expression, ``evaluate`` evaluates it."""
        return self.parse(text)

    def take(self, option: str, text: str, delimited: bool) -> tuple[object, str]:
        """Return the value at the beginning of a text after ``option``, and the rest.

        ``delimited``: a ``--`` follows, so the text here can only be a value or an option.
        """
        raise NotImplementedError  # abstract: only kinds of option values define it

    def show(self, value: object) -> str:
        """Return the value as ``show`` writes it."""
        return str(value)


def split_word(text: str) -> tuple[str, str]:
    """Split off the first word; the rest has no leading blanks."""
    parts = text.split(None, 1)
    return (parts[0] if parts else ""), (parts[1] if len(parts) > 1 else "")


def switch(text: str) -> bool | None:
    """Parse ``on``/``off`` and GDB's other spellings, possibly abbreviated; ``None`` for anything else."""
    word = text.lower()
    if not word:
        return None
    if word == "on" or any(full.startswith(word) for full in ("1", "yes", "enable")):
        return True
    if (len(word) > 1 and "off".startswith(word)) or any(full.startswith(word) for full in ("0", "no", "disable")):
        return False
    return None


class Boolean(ValueKind, frozen=True):
    """On or off; on if omitted."""

    may_be_left_out: ClassVar[bool] = True

    @property
    def metasyntax(self) -> str:
        return "on|off"

    @property
    def option_metasyntax(self) -> str:
        return "[on|off]"

    @property
    def words(self) -> tuple[str, ...]:
        return ("off", "on")

    def parse(self, text: str) -> bool:
        value = switch(text) if text else True
        if value is None:
            raise CommandError('"on" or "off" expected.')
        return value

    def take(self, option: str, text: str, delimited: bool) -> tuple[object, str]:
        if not text or text.startswith("-"):
            return True, text
        word, rest = split_word(text)
        value = switch(word)
        if value is not None:
            return value, rest
        if delimited:
            raise CommandError(f"Value given for `{option}' is not a boolean: {word}")
        return True, text  # the text is an operand, not a value

    def show(self, value: object) -> str:
        return "on" if value else "off"


class AutoBoolean(ValueKind, frozen=True):
    """On, off, or auto; the value is the word."""

    @property
    def metasyntax(self) -> str:
        return "auto|on|off"

    @property
    def words(self) -> tuple[str, ...]:
        return ("auto", "off", "on")

    def parse(self, text: str) -> str:
        value = switch(text)
        if value is not None:
            return "on" if value else "off"
        if text and ("auto".startswith(text.lower()) or text == "-1"):
            return "auto"
        raise CommandError('"on", "off" or "auto" expected.')


class Number(ValueKind, frozen=True):
    """An integer; if ``unlimited`` is a number, that number means no limit. A ``signed`` one may be negative.

    ``set`` accepts an expression, an option only a literal.
    """

    unlimited: int | None = 0
    signed: bool = False

    @property
    def metasyntax(self) -> str:
        return "N" if self.unlimited is None else "N|unlimited"

    @property
    def option_metasyntax(self) -> str:
        return "NUMBER" if self.unlimited is None else "NUMBER|unlimited"

    @property
    def words(self) -> tuple[str, ...]:
        return () if self.unlimited is None else (PLACEHOLDER, "unlimited")

    def _missing(self) -> CommandError:
        also = "" if self.unlimited is None else ', or "unlimited"'
        return CommandError(f"Argument required (integer to set it to{also}).")

    def _checked(self, number: int, text: str) -> int:
        if self.unlimited == -1 and number < -1:
            raise CommandError("only -1 is allowed to set as unlimited")
        lowest = -MAX_VALUE if self.signed else min(0, self.unlimited or 0)
        highest = MAX_VALUE if self.signed or self.unlimited == -1 else 2 * MAX_VALUE
        if not lowest <= number < highest:
            raise CommandError(f"integer {text[:MAX_NUMBER]} out of range")
        return number

    def _is_unlimited(self, word: str) -> bool:
        return self.unlimited is not None and "unlimited".startswith(word)

    def parse(self, text: str) -> object:
        return self.evaluated(text, None)

    def evaluated(self, text: str, evaluate: Callable[[str], int] | None) -> object:
        if not text:
            raise self._missing()
        if self._is_unlimited(text):
            return self.unlimited
        word, rest = split_word(text)
        if rest and self._is_unlimited(word):
            raise CommandError(f'Junk after "{word}": {rest}')
        if _DIGITS.fullmatch(text) and len(text) < MAX_NUMBER:
            with suppress(ValueError):  # for example 010
                return self._checked(int(text, 0), text)
        if evaluate is None:
            raise CommandError(f'Invalid number "{text}".')
        number = evaluate(text)
        return self._checked(number, str(number))

    def take(self, option: str, text: str, delimited: bool) -> tuple[object, str]:
        word, rest = split_word(text)
        if not word:
            raise self._missing()
        if self._is_unlimited(word):
            return self.unlimited, rest
        digits = _DIGITS.match(word)
        if digits is None:
            if word == "--":
                raise CommandError(f"Trailing junk at: {text[1:]}")
            raise CommandError(f"Expected integer at: {text}")
        if digits.end() < len(word):
            raise CommandError(f"Trailing junk at: {text[digits.end() :]}")
        try:
            return self._checked(int(word, 0) if len(word) < MAX_NUMBER else 4 * MAX_VALUE, word), rest
        except ValueError:  # for example 010
            raise CommandError(f"Expected integer at: {text}") from None

    def show(self, value: object) -> str:
        return "unlimited" if value == self.unlimited else str(value)


class Enumeration(ValueKind, frozen=True):
    """One of several words, which may be abbreviated."""

    is_quoted: ClassVar[bool] = True
    choices: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    """Words that are accepted too, if written in full; they are not listed because GDB does not have them."""

    @property
    def metasyntax(self) -> str:
        return "|".join(self.choices)

    @property
    def words(self) -> tuple[str, ...]:
        return self.choices

    def parse(self, text: str) -> str:
        value, rest = self._take(text)
        if rest:
            raise CommandError(f'Junk after item "{value}": {rest}')
        return value

    def take(self, option: str, text: str, delimited: bool) -> tuple[object, str]:
        return self._take("" if split_word(text)[0] == "--" else text)

    def _take(self, text: str) -> tuple[str, str]:
        word, rest = split_word(text)
        if not word:
            raise CommandError(f"Requires an argument. Valid arguments are {', '.join(self.choices)}.")
        known = (*self.choices, *self.others)
        found = [word] if word in known else [choice for choice in self.choices if choice.startswith(word)]
        if len(found) != 1:
            raise CommandError(f'Ambiguous item "{word}".' if found else f'Undefined item: "{word}".')
        return found[0], rest


class Radix(ValueKind, frozen=True):
    """A base of numbers."""

    is_output: bool = True

    @property
    def metasyntax(self) -> str:
        return "8|10|16"

    @property
    def words(self) -> tuple[str, ...]:
        return ("8", "10", "16")

    def evaluated(self, text: str, evaluate: Callable[[str], int] | None) -> object:
        """Parse the base."""
        if not text:
            raise CommandError("Argument required (integer to set it to).")
        radix = evaluate(text) if evaluate is not None else int(text)
        # numbers may be read in any base up to 16: digits and the letters up to f suffice for these
        if radix not in (8, 10, 16) and (self.is_output or not 2 <= radix <= 16):
            kind = "Unsupported output" if self.is_output else "Nonsense input"
            raise CommandError(
                f"{kind} radix ``decimal {radix}''; {'output' if self.is_output else 'input'} radix unchanged."
            )
        return radix


class String(ValueKind, frozen=True):
    """Any text; as the value of an option one word, or several in quotes. Completion offers ``offers``."""

    is_quoted: ClassVar[bool] = True
    offers: tuple[str, ...] = ()

    @property
    def option_metasyntax(self) -> str:
        return "STRING"

    @property
    def words(self) -> tuple[str, ...]:
        return self.offers

    def take(self, option: str, text: str, delimited: bool) -> tuple[object, str]:
        quoted = _QUOTED.match(text)
        if quoted is not None:
            return quoted[1] if quoted[1] is not None else quoted[2], text[quoted.end() :].lstrip()
        word, rest = split_word(text)
        if word in ("", "--"):
            raise CommandError(f"{option} requires an argument")
        return word, rest


class FileName(String, frozen=True):
    """The name of a file, which cannot be empty."""

    @property
    def metasyntax(self) -> str:
        return "FILE"

    @property
    def completes(self) -> Completes:
        return Completes.FILE

    def parse(self, text: str) -> str:
        if not text:
            raise CommandError("Argument required (filename to set it to.).")
        return text


class FileList(String, frozen=True):
    """Files and directories, separated by colons; may be empty."""

    @property
    def metasyntax(self) -> str:
        return "[DIRECTORIES]"

    @property
    def completes(self) -> Completes:
        return Completes.FILE


BOOLEAN = Boolean()
AUTO_BOOLEAN = AutoBoolean()
COUNT = Number(unlimited=0)
DEPTH = Number(unlimited=-1)
UNSIGNED = Number(unlimited=None)
SIGNED = Number(unlimited=None, signed=True)
LINES = Number(unlimited=0, signed=True)
STRING = String()
FILE_NAME = FileName()
