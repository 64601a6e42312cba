"""Tokens of LLVM assembly text: everything the reader needs, in one regular expression."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

from msgspec import Struct

from rocdbg import work
from rocdbg.llvmdi.errors import Position, ReadError

__all__ = ["Kind", "Source", "Token", "tokenize"]

MAX_CHARACTERS = 1 << 26
MAX_TOKENS = 1 << 23
"""Limit on the tokens of a text; each takes about 150 bytes of memory."""
_UNIT = 1 << 12
"""Tokens between two checks for an interrupt."""


class Kind:
    """The kinds of token, as names of the groups of the regular expression."""

    LABEL = "LABEL"
    """A name and a colon: a block's label or the name of a field, which LLVM's own lexer does not distinguish."""
    STRING = "STRING"
    META = "META"
    """`!name`, `!12`, `!DIFoo`."""
    LOCAL = "LOCAL"
    GLOBAL = "GLOBAL"
    REGISTER = "REGISTER"
    """`$name`: a physical register of MIR (in LLVM assembly a comdat)."""
    RECORD = "RECORD"
    """`#dbg_value`."""
    ATTRIBUTE = "ATTRIBUTE"
    NUMBER = "NUMBER"
    WORD = "WORD"
    ELLIPSIS = "ELLIPSIS"
    PUNCTUATION = "PUNCTUATION"
    END = "END"


_NAME = r"[-a-zA-Z$._][-a-zA-Z$._0-9]*"
_TOKEN = re.compile(
    rf"""
    (?P<NEWLINE>\n)
  | (?P<SPACE>[ \t\r\f\v]+|;[^\n]*)
  | (?P<ELLIPSIS>\.\.\.)
  | (?P<LABEL>[%$]?(?:{_NAME}|[0-9]+|"[^"\n]*"):(?!:))
  | (?P<STRING>c?"[^"]*")
  | (?P<META>!(?:[-a-zA-Z$._\\][-a-zA-Z$._0-9\\]*|[0-9]+))
  | (?P<LOCAL>%(?:"[^"]*"|{_NAME}|[0-9]+))
  | (?P<GLOBAL>@(?:"[^"]*"|{_NAME}|[0-9]+))
  | (?P<REGISTER>\$(?:"[^"]*"|{_NAME}))
  | (?P<RECORD>\#dbg_[a-z_]+)
  | (?P<ATTRIBUTE>\#[0-9]+)
  | (?P<NUMBER>[us]0x[0-9A-Fa-f]+\b|[-+]?(?:0x[KLMHR]?[0-9A-Fa-f]+|[0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?|[0-9]+))
  | (?P<WORD>[a-zA-Z_.][-a-zA-Z$._0-9]*)
  | (?P<PUNCTUATION>[][(){{}}<>,=*|:~&^+/!?-])
    """,
    re.VERBOSE,
)


class Token(Struct, frozen=True):
    """A token: `offset` characters from the start; `first` means that it is the first token of its line."""

    kind: str
    text: str
    offset: int
    first: bool = False


class Source:
    """A text and its name, with conversion of offsets to lines."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name

    @cached_property
    def _lines(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def position(self, offset: int) -> Position:
        """Line and column of a character, both from 1."""
        line = bisect_right(self._lines, offset)
        return Position(self.name, line, offset - self._lines[line - 1] + 1)

    def error(self, reason: str, offset: int) -> ReadError:
        """The error about the problem at a character."""
        return ReadError(reason, self.position(offset))


def _shown(char: str) -> str:
    return f"'{char}'" if char.isprintable() else f"U+{ord(char):04X}"


def tokenize(source: Source) -> list[Token]:
    """The tokens of a text, followed by an END token; raises `ReadError` where there is no valid token."""
    text = source.text
    if len(text) > MAX_CHARACTERS:
        raise source.error(f"the text has more than {MAX_CHARACTERS} characters", MAX_CHARACTERS)
    tokens: list[Token] = []
    append = tokens.append
    first = True
    position = 0
    match_at = _TOKEN.match
    end = len(text)
    while position < end:
        match = match_at(text, position)
        if match is None:
            if text[position] == '"' or text[position : position + 2] in ('%"', '@"', '$"', 'c"'):
                raise source.error("the string does not end", position)
            raise source.error(f"unexpected character {_shown(text[position])}", position)
        kind = match.lastgroup
        assert kind is not None
        position = match.end()
        if kind == "NEWLINE":
            first = True
        elif kind != "SPACE":
            append(Token(kind, match[0], match.start(), first))
            first = False
            if not len(tokens) % _UNIT:
                work.unit()
            if len(tokens) > MAX_TOKENS:
                raise source.error(f"the text has more than {MAX_TOKENS} tokens", position)
    append(Token(Kind.END, "the end of the text", end, True))
    return tokens
