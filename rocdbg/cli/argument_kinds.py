"""The types of positional arguments that commands share: expressions, locations, numbers, ranges, names, files."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from rocdbg.cli.arguments import Kind
from rocdbg.cli.command_registry import CommandError, Completes
from rocdbg.cli.number_ranges import NumberList, ThreadList
from rocdbg.cli.number_words import as_digits
from rocdbg.cli.settings.setting_value_kinds import split_word
from rocdbg.debugger.base.digits import decimal
from rocdbg.debugger.base.patterns import compile_pattern
from rocdbg.debugger.breakpoints.breakpoint_table import parse_numbers
from rocdbg.debugger.values.format_letters import Format

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell


# -- functions that determine the extent of an argument


def word(text: str) -> int:
    """Return the extent of one word, up to the next blank."""
    return len(split_word(text)[0])


def words_while(fits: Callable[[str], object]) -> Callable[[str], int]:
    """Return a function for the extent of the leading words for which ``fits`` is true."""

    def extent(text: str) -> int:
        end = 0
        for found in re.finditer(r"\S+", text):
            if not fits(found[0]):
                break
            end = found.end()
        return end

    return extent


def slash(text: str) -> int:
    """Return the extent of ``/x`` or ``/4xw``: a slash and what follows it without a blank."""
    return word(text) if text.startswith("/") else 0


def _slashes(text: str) -> int:
    """Return the extent of ``/r /s``."""
    return words_while(lambda found: found.startswith("/"))(text)


# -- kinds


def text_of(metasyntax: str, completes: Completes = Completes.NOTHING, words: tuple[str, ...] = ()) -> Kind:
    """Return a kind for the rest of the line, unchanged; completion also offers ``words``."""
    return Kind(metasyntax, "str", _same, completes=completes, words=words)


def word_of(metasyntax: str, completes: Completes = Completes.NOTHING) -> Kind:
    """Return a kind for one word."""
    return Kind(metasyntax, "str", _same, word, completes)


def words_of(metasyntax: str, completes: Completes = Completes.NOTHING) -> Kind:
    """Return a kind for all words of the line."""
    return Kind(metasyntax, "list[str]", lambda shell, text: text.split(), completes=completes)


def number_of(metasyntax: str, wrong: str, completes: Completes = Completes.NOTHING) -> Kind:
    """Return a kind for a number (`as_digits`); ``wrong`` is the error, in which ``{}`` represents the invalid word."""

    def read(shell: Shell, text: str) -> int:
        digits = as_digits(shell, text)
        if not digits.isdecimal():
            raise CommandError(wrong.replace("{}", text))
        return decimal(digits)

    return Kind(metasyntax, "int", read, word, completes)


def _same(shell: Shell, text: str) -> str:
    return text


def _integer(shell: Shell, text: str) -> int:
    return shell.session.data.integer(text)


def _not_an_option(text: str) -> bool:
    return not text.startswith("-")


TEXT = text_of("TEXT")
EXPRESSION = text_of("EXPRESSION", Completes.EXPRESSION)
CODE = text_of("LOCATION", Completes.CODE)
LOCATION = text_of("LOCATION", Completes.LOCATION)
FILE = text_of("FILE", Completes.FILE)
COMMAND = text_of("COMMAND", Completes.COMMAND)
NAME = text_of("NAME")
WORD = word_of("WORD")
REGEXP = Kind("REGEXP", "Pattern", lambda shell, text: compile_pattern(text), completes=Completes.EXPRESSION)
INTEGER = Kind("N", "int", _integer, completes=Completes.EXPRESSION)
"""An integer expression: the rest of the line."""
LANE = Kind("N", "int", _integer, completes=Completes.LANE)
"""A lane of the current wave, as an integer expression."""
NUMBERS = Kind("N...", "NumberList", lambda shell, text: NumberList.parse(text))
"""Numbers and ranges (``3 5-7``)."""
IDS = Kind("ID...", "NumberList", lambda shell, text: NumberList.parse(text), words_while(_not_an_option))
"""Numbers and ranges, with options before and after them."""
BREAKPOINTS = Kind(
    "N...", "list[int]", lambda shell, text: parse_numbers(as_digits(shell, text)), completes=Completes.BREAKPOINT
)
"""Numbers and ranges of breakpoints, which need not exist."""
THREADS = Kind(
    "ID...", "ThreadList", lambda shell, text: ThreadList.parse(text), completes=Completes.THREAD
)
"""Threads, and lanes of threads (``2``, ``1-3:*``)."""
REGISTERS = Kind(
    "NAME...", "list[str]", lambda shell, text: [name.lstrip("$") for name in text.split()],
    completes=Completes.REGISTER,
)
SLASH = Kind("/FMT", "str", lambda shell, text: text[1:], slash)
"""Letters after a slash, unchanged."""
SLASHES = Kind("/FLAGS", "str", lambda shell, text: "".join(item[1:] for item in text.split()), _slashes)
PRINT_FORMAT = Kind("/FMT", "Format", lambda shell, text: Format.parse(text[1:], "print"), slash)
OUTPUT_FORMAT = Kind("/FMT", "Format", lambda shell, text: Format.parse(text[1:], "output"), slash)
COUNTED_FORMAT = Kind("/FMT", "Format", lambda shell, text: Format.parse(text[1:]), slash)
"""A format with a repeat count (``/4xw``)."""
EVERYTHING = compile_pattern("")
"""The pattern of a `REGEXP` argument that was omitted."""
