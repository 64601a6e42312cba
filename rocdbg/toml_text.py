"""Parses TOML of untrusted files, in time proportional to the text, into tables that are not nested deeper than their
readers can handle.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from rocdbg.errors import Error

_DEEPEST = 64
"""Limit on nested tables and arrays."""

# Matches a key with so many parts that the parser's quadratic time matters.
_LONG_KEY = re.compile(
    r"""(?<![\w.-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){64}""",
    re.ASCII,
)


class TomlError(Error):
    """Text that is not valid TOML, or nested too deeply; the message is one line."""


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a text. Raises TomlError."""
    found = _LONG_KEY.search(text)
    if found is not None:
        line = text.count("\n", 0, found.start()) + 1
        raise TomlError(f"a key of more than {_DEEPEST} parts (at line {line})")
    try:
        document = tomllib.loads(text)
    except ValueError as error:  # errors of tomllib, and of Python for a number with too many digits
        raise TomlError(str(error)) from error
    except RecursionError:
        raise TomlError("nested too deeply") from None
    if not _is_flat(document):
        raise TomlError("nested too deeply")
    return document


def _is_flat(document: object) -> bool:
    """Whether tables and arrays are not nested too deeply, so that code may walk them recursively."""
    level: list[object] = [document]
    for _ in range(_DEEPEST):
        level = [
            inner
            for value in level
            if isinstance(value, dict | list)
            for inner in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return True
    return False


__all__ = ["TomlError", "parse_toml"]
