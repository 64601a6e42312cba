"""Numbers that commands accept as words: digits, integer convenience variables, integers in the value history."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

_VARIABLE = re.compile(r"\$(?:(?P<name>[A-Za-z_]\w*)|\$?\d*)")


def as_digits(shell: Shell, words: str) -> str:
    """Return words in which each ``$NAME``, ``$``, ``$$`` and ``$N`` is replaced by its number.

    A word that is not an integer is left unchanged, so that the command reports it, after a line with the reason.
    Raises `rocdbg.Error` for a number beyond the end of the history.
    """

    def digits(found: re.Match[str]) -> str:
        name = found["name"]
        # a register (`$pc`) is an expression, but not a convenience variable
        if name is None or name in shell.session.convenience:
            value = shell.session.data.evaluate(found[0])
            if value.type.integer is not None:
                return str(value.as_int())
        shell.line(
            "History value must have integer type." if name is None else "Convenience variable must have integer value."
        )
        return found[0]

    return _VARIABLE.sub(digits, words) if "$" in words else words


_LANE = re.compile(r"(?<=\s)lane\s+(?!\d+(?:\s|$))(?=\S)")
_CONDITION = re.compile(r"(?<=\s)if(?=\s|\()")
_NEXT_WORD = re.compile(r"\s+(?:if|thread|task|lane|-force-condition)(?=\s|\(|$)")


def lane_as_number(shell: Shell, text: str) -> str:
    """Return the arguments of `break` with ``lane EXPRESSION`` replaced by ``lane NUMBER``, its current value.

    The condition is left unchanged. Raises `rocdbg.Error` for an expression that is not an integer.
    """
    padded = f" {text}"
    condition = _CONDITION.search(padded)
    found = _LANE.search(padded, 0, condition.start() if condition else len(padded))
    if found is None:
        return text
    end = _NEXT_WORD.search(padded, found.end())
    stop = end.start() if end else len(padded)
    number = shell.session.data.integer(padded[found.end() : stop])
    return f"{padded[: found.end()]}{number}{padded[stop:]}".strip()
