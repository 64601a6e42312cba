"""Numbers of breakpoints (and of displays, skips, ...) in a line, as GDB reads them: numbers, ranges, variables.

GDB reads and processes them one by one, so when it reaches an invalid one, those before it have already taken effect.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from rocdbg.cli.command_registry import CommandError
from rocdbg.debugger.base.digits import decimal
from rocdbg.debugger.breakpoints.breakpoint_table import MAX_NUMBERS

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

_VARIABLE = re.compile(r"\$(?:[A-Za-z_]\w*|\$?\d*)")
_DIGITS = re.compile(r"\d+")
_ENOUGH = 1 << 31
"""Numbers from this one on are never breakpoint numbers."""


def read_number(shell: Shell, text: str, trailer: str = "") -> tuple[int, str]:
    """Return the number at the beginning of a text (0 if there is none), and the rest.

    The number must be followed by a blank, the end or ``trailer``. A variable that is not an integer counts as 0, with
    a message.
    """
    negative = text.startswith("-")
    rest = text.removeprefix("-")
    number = 0
    variable = _VARIABLE.match(rest)
    digits = _DIGITS.match(rest)
    if variable:
        number, rest = _variable(shell, variable[0]), rest[variable.end() :]
    elif digits:
        number, rest = min(decimal(digits[0]), _ENOUGH), rest[digits.end() :]
    else:
        rest = rest[len(re.match(r"\S*", rest)[0]) :]  # type: ignore[index]
    if rest and not rest[0].isspace() and rest[0] != trailer:
        number = 0
        while rest and not rest[0].isspace() and rest[0] != trailer:
            rest = rest[1:]
    return (-number if negative else number), rest.lstrip()


def _variable(shell: Shell, name: str) -> int:
    """Return the integer value of a convenience variable or history value; if it has none, report that and return 0."""
    history = re.fullmatch(r"\$\$?\d*", name) is not None
    if history or name[1:] in shell.session.convenience:
        value = shell.session.data.evaluate(name)
        if value.type.integer is not None:
            return value.as_int()
    what = "History value must have integer type" if history else "Convenience variable must have integer value"
    shell.line(f"{what}.")
    return 0


def numbers_of(shell: Shell, text: str) -> Iterator[int]:
    """Yield ``1 3-5 $bpnum`` up to the first word that is not a number. Raises `CommandError` for an inverted range."""
    return (number for number, _ in numbers_at(shell, text))


def numbers_at(shell: Shell, text: str) -> Iterator[tuple[int, str]]:
    """Yield `numbers_of`, each with the text from which it and the following numbers were read."""
    text = text.lstrip()
    while re.match(r"-?[\d$]", text):
        if text.startswith("-"):
            if text[1].isdigit():
                raise CommandError("negative value")
            before = text
            first, text = read_number(shell, text)
            if first < 0:
                raise CommandError("negative value")
            yield first, before
            continue
        before = text
        first, text = read_number(shell, text, "-")
        spaced = before[: len(before) - len(text)][-1:].isspace()
        if text.startswith("-") and not (spaced and re.match(r"-[A-Za-z-]", text)):
            last, text = read_number(shell, text[1:].lstrip())
            if last < first:
                raise CommandError("inverted range")
            if last - first > MAX_NUMBERS:
                raise CommandError(f"range {before.split()[0]} is too long")
            yield from ((number, before) for number in range(first, last + 1))
        else:
            yield first, before


def each_breakpoint(shell: Shell, text: str, action: Callable[[int], object]) -> None:
    """Call ``action`` with the number of each given breakpoint; report those that do not exist.

    Raises `CommandError` if there is no argument, and the errors of `numbers_of`.
    """
    if not text:
        raise CommandError("Argument required (one or more breakpoint numbers).")
    for number in numbers_of(shell, text):
        act_on(shell, number, action)


def act_on(shell: Shell, number: int, action: Callable[[int], object]) -> None:
    """Call ``action`` with the number of a breakpoint, or report that the breakpoint does not exist."""
    if number == 0:
        shell.warn("bad breakpoint number at or near '0'")
    elif number not in shell.session.breakpoints:
        shell.line(f"No breakpoint number {number}.")
    else:
        action(number)


def places_of(shell: Shell, text: str) -> Iterator[tuple[range, range | None]]:
    """Yield the items of ``1 3-5 2.1 2.1-3``: ranges of breakpoints, or a breakpoint and a range of its locations.

    Raises `CommandError`.
    """
    for word in text.split():
        number, dot, location = word.partition(".")
        if not dot:
            yield _range(shell, word, word, "breakpoint"), None
            continue
        if not number or not location:
            raise CommandError(f"Bad breakpoint number at or near: '{word}'")
        one = _one(shell, number, "breakpoint")
        yield range(one, one + 1), _range(shell, location, word, "breakpoint location")


def _range(shell: Shell, text: str, word: str, what: str) -> range:
    first, dash, last = text.partition("-")
    if dash and first:
        if not last:
            raise CommandError(f"Bad breakpoint number at or near: '{word}'")
        said = first if first[0].isdigit() else text
        low, high = _one(shell, first, what, said), _one(shell, last, what)
        if high < low:
            raise CommandError(f"Inverted {what} range at '{low}-{high}'")
        if high - low > MAX_NUMBERS:
            raise CommandError(f"range {low}-{high} is too long")
        return range(low, high + 1)
    one = _one(shell, text, what)
    return range(one, one + 1)


def _one(shell: Shell, text: str, what: str, said: str = "") -> int:
    number = read_number(shell, text)[0]
    if number <= 0:
        raise CommandError(f"{'Bad' if not number else 'Negative'} {what} number '{said or text}'")
    return number
