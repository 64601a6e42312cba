"""The macros of a compiler's command line, where it is recorded (``-grecord-command-line``)."""

from __future__ import annotations

import re
import shlex
from typing import Final

from rocdbg.debugger.program.source_text.source_tokens import Macro, tokens_of

_RECORDED: Final = ("-grecord-command-line", "-grecord-gcc-switches")
_HIDDEN = re.compile(r"-include.*|--include.*|-imacros.*|--imacros.*|-Wp,.*|-X.*|@.*|-fmodule.*|--config.*")
"""Options that may define more than is seen."""
_DEFINITION = re.compile(r"([A-Za-z_]\w*)(?:\(([\w\s,]*)\))?(?:=(.*))?", re.S)
_LONG: Final = {"--define-macro": "-D", "--undefine-macro": "-U"}


def given_macros(producer: str) -> dict[str, Macro] | None:
    """The macros that the command line in a unit's DW_AT_producer defines; None where it is not known."""
    if not any(option in producer for option in _RECORDED):
        return None
    try:
        words = shlex.split(producer)
    except ValueError:
        return None
    if not any(option in words for option in _RECORDED):
        return None
    found: dict[str, Macro] = {}
    index = 0
    while index < len(words):
        name, _, value = words[index].partition("=")
        word = _LONG[name] + value if name in _LONG else words[index]
        index += 1
        if _HIDDEN.fullmatch(word) is not None:
            return None
        if word[:2] not in ("-D", "-U"):
            continue
        text = word[2:]
        if not text:
            text = words[index] if index < len(words) else ""
            index += 1
        definition = _DEFINITION.fullmatch(text)
        if definition is None:
            return None
        if word[:2] == "-U":
            found.pop(definition[1], None)
            continue
        parameters = None if definition[2] is None else tuple(
            part.strip() for part in definition[2].split(",") if part.strip()
        )
        body = tuple(tokens_of("1" if definition[3] is None else definition[3]))
        if any(token.text in ("#", "##") for token in body):
            return None
        found[definition[1]] = Macro(parameters, body, 0)
    return found
