"""Regular expressions that users type."""

from __future__ import annotations

import re
import warnings

from rocdbg.errors import Error


class PatternError(Error):
    """A regular expression that cannot be compiled."""


def compile_pattern(text: str, ignore_case: bool = False) -> re.Pattern[str]:
    """The compiled expression. Raises `PatternError` saying what is wrong with it."""
    try:
        with warnings.catch_warnings():  # what a later version of Python may read differently
            warnings.simplefilter("ignore")
            return re.compile(text, re.IGNORECASE if ignore_case else 0)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(f"Invalid regexp: {error}: {text}") from None
