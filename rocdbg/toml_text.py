"""TOML of untrusted files: parsed in time that grows with the text, into tables no deeper than their readers can go."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from rocdbg.errors import Error

_DEEPEST = 64
"""Tables and arrays within each other."""

# A key of that many parts; the parser's time for one is the square of them.
_LONG_KEY = re.compile(
    r"""(?<![\w.-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){64}""",
    re.ASCII,
)


class TomlError(Error):
    """Text that is not a TOML, or nested deeper than anything needs; one line."""


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a text. Raises TomlError."""
    found = _LONG_KEY.search(text)
    if found is not None:
        line = text.count("\n", 0, found.start()) + 1
        raise TomlError(f"a key of more than {_DEEPEST} parts (at line {line})")
    try:
        document = tomllib.loads(text)
    except ValueError as error:  # of tomllib's own, and of Python for a number of too many digits
        raise TomlError(str(error)) from error
    except RecursionError:
        raise TomlError("nested too deeply") from None
    if not _is_flat(document):
        raise TomlError("nested too deeply")
    return document


def _is_flat(document: object) -> bool:
    """Whether tables and arrays are nested no deeper than any file needs: whoever walks them may recurse."""
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
