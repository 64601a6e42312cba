"""Options of commands (``-name``), read as GDB reads them.

Names may be abbreviated if that is unambiguous, a boolean option may omit its value, and ``--`` ends the options. The
command determines how an unknown option is treated: see `Unknown`.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field

from rocdbg.cli.command_registry import CommandError
from rocdbg.cli.settings.setting_value_kinds import ValueKind, split_word

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

_NEGATIVE = re.compile(r"-\d")


class Unknown(enum.Enum):
    """How a word that begins with a dash and is not an option is treated."""

    ERROR = "error"
    OPERAND = "operand"
    EXPRESSION = "expression"
    """It may be an expression, which can begin with a dash too: without ``--``, only `Option.bare` options count."""


class Option(Struct, frozen=True):
    """One option.

    Attributes:
        name: its name, including the dash.
        help: what it does, for the option table.
        kind: the type of its value; `None` for a flag.
        key: the handler's parameter that receives the value; by default the name (with underscores).
        value: what a flag sets.
        default: the parameter's value if the option is not given.
        gives: the Python type of the parameter.
        bare: whether it counts as an option before an expression even without ``--``.
        word: a word without a dash that has the same meaning (``backtrace full``).
    """

    name: str
    help: str = ""
    kind: ValueKind | None = None
    key: str = ""
    value: object = True
    default: object = False
    gives: str = "bool"
    word: str = ""
    bare: bool = False

    @property
    def parameter(self) -> str:
        """The handler's parameter that receives the value."""
        return self.key or self.name.lstrip("-").replace("-", "_")

    @property
    def shown(self) -> str:
        """The text of the option in the option table."""
        return f"{self.name} {self.kind.option_metasyntax}" if self.kind is not None else self.name


class OptionGroup(Struct, frozen=True):
    """Options that several commands share, and that the handler receives as one parameter.

    Attributes:
        key: the handler's parameter.
        build: creates the parameter's value from the given options, by their keys.
        shown: how a usage line abbreviates the group.
    """

    key: str
    gives: str
    options: tuple[Option, ...]
    build: Callable[[Shell, Mapping[str, object]], object]
    shown: str = "[OPTION]..."


class Reading(Struct):
    """The options that were read: their values by key, and whether ``--`` has ended them."""

    values: dict[str, object] = field(default_factory=dict)
    ended: bool = False


def read_options(options: tuple[Option, ...], unknown: Unknown, text: str, reading: Reading) -> str:
    """Read the options at the beginning of a text into ``reading``; return the rest. Raises `CommandError`."""
    if reading.ended or not options:
        return text
    delimited = has_delimiter(text)
    if unknown is Unknown.EXPRESSION and not delimited and split_word(text)[0] != "--":
        options = tuple(option for option in options if option.bare)
    while text:
        word, rest = split_word(text)
        if word == "--":
            reading.ended = True
            return rest
        option = find_option(options, unknown, text, delimited)
        if option is None:
            return text
        if option.kind is None:
            reading.values[option.parameter] = option.value
        else:
            reading.values[option.parameter], rest = option.kind.take(option.name, rest, delimited)
        text = rest
    return text


def has_delimiter(text: str) -> bool:
    """Whether a text that begins with an option contains the word ``--``."""
    return text.startswith("-") and "--" in text.split()


def find_option(options: tuple[Option, ...], unknown: Unknown, text: str, delimited: bool) -> Option | None:
    """Return the option at the beginning of a text, `None` for an operand. Raises `CommandError` for a wrong option."""
    word = split_word(text)[0]
    exact = next((option for option in options if word and word in (option.name, option.word)), None)
    if unknown is Unknown.EXPRESSION and not delimited:
        return exact if exact is not None and exact.bare else None
    if exact is not None:
        return exact
    if not word.startswith("-"):
        if unknown is Unknown.EXPRESSION:
            raise CommandError(f"Unrecognized option at: {text}")
        return None
    if unknown is not Unknown.ERROR and _NEGATIVE.match(word):
        return None
    found = [option for option in options if option.name.startswith(word)]
    if len(found) == 1 and word != "-":
        return found[0]
    if len(found) > 1:
        raise CommandError(f"Ambiguous option at: {text}")
    if unknown is Unknown.ERROR or delimited:
        raise CommandError(f"Unrecognized option at: {text}")
    return None


def option_table(options: tuple[Option, ...]) -> list[str]:
    """Return the lines of an option table for `help`; none if no option has a help text."""
    lines = []
    for option in options:
        if option.help:
            lines += ["", f"  {option.shown}", *(f"    {line}" for line in option.help.splitlines())]
    return ["Options:", *lines[1:]] if lines else []
