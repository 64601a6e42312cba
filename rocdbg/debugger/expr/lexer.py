"""Tokens of C expressions with a debugger's additions (``$names``, ``@``, ``ASPACE#``)."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from functools import cached_property

from msgspec import Struct

from rocdbg.debugger.digits import decimal
from rocdbg.debugger.errors import ExpressionError


class TokenKind(Enum):
    """What a token is."""

    INTEGER = "integer"
    FLOAT = "float"
    CHAR = "char"
    STRING = "string"
    NAME = "name"
    QUOTED = "quoted name"
    DOLLAR = "dollar name"
    OPERATOR = "operator"
    END = "end"


class Token(Struct, frozen=True):
    """One token; ``value`` is a number or the text of a name, ``suffix`` what follows a number."""

    kind: TokenKind
    text: str
    offset: int
    value: int | float | bytes | str = 0
    suffix: str = ""
    radix: int = 10


# Longest first: the first that fits is taken.
_OPERATORS = (
    "<<=", ">>=", "->*", "...",
    "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
    "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "::", ".*",
    "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "<", ">", "=", "?", ":", ",", ".",
    "(", ")", "[", "]", "{", "}", "@", "#",
)

_ESCAPES = {"a": 7, "b": 8, "e": 27, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_INTEGER_SUFFIXES = {"", "u", "l", "ul", "lu", "ll", "ull", "llu", "z", "uz", "zu"}
_FLOAT_SUFFIXES = {"", "f", "l", "f16", "h"}


def tokenize(text: str, is_known: Callable[[str], bool] | None = None, input_radix: int = 10) -> list[Token]:
    """The tokens of ``text``, an END last.

    ``is_known`` is asked whether a name with template arguments (``fn<int>``) exists, so that it can
    become one token. Raises `ExpressionError`.
    """
    lexer = _Lexer(text, is_known or (lambda _name: False), input_radix)
    tokens = []
    while True:
        token = lexer.next_token()
        tokens.append(token)
        if token.kind is TokenKind.END:
            return tokens


class _Lexer:
    def __init__(self, text: str, is_known: Callable[[str], bool], input_radix: int) -> None:
        self.text = text
        self.position = 0
        self.is_known = is_known
        self.input_radix = input_radix

    @cached_property
    def angles(self) -> dict[int, int]:
        """For each ``<`` that is closed, the index after its ``>``; found in one pass."""
        closed = {}
        opened = []
        for found in re.finditer("[<>]", self.text):
            if found[0] == "<":
                opened.append(found.start())
            elif opened:
                closed[opened.pop()] = found.end()
        return closed

    def next_token(self) -> Token:
        text = self.text
        while self.position < len(text) and text[self.position].isspace():
            self.position += 1
        start = self.position
        if start >= len(text):
            return Token(TokenKind.END, "", start)
        char = text[start]
        if char.isdigit() or (char == "." and text[start + 1 : start + 2].isdigit()):
            return self._number(start)
        if char.isalpha() or char == "_":
            return self._name(start)
        if char == "$":
            end = start + 1
            if text[end : end + 1] == "$":
                end += 1
            while end < len(text) and (text[end].isalnum() or text[end] == "_"):
                end += 1
            self.position = end
            return Token(TokenKind.DOLLAR, text[start:end], start, text[start:end])
        if char == "'":
            return self._single_quoted(start)
        if char == '"':
            data, end = self._quoted_bytes(start + 1, '"', "Unterminated string in expression.")
            self.position = end
            return Token(TokenKind.STRING, text[start:end], start, data)
        for operator in _OPERATORS:
            if text.startswith(operator, start):
                self.position = start + len(operator)
                return Token(TokenKind.OPERATOR, operator, start)
        raise ExpressionError(f'Invalid character \'{char}\' in expression.', text, start)

    def _number(self, start: int) -> Token:
        text = self.text
        end = start
        while end < len(text) and (
            text[end].isalnum()
            or text[end] in "._'"
            or (
                text[end] in "+-"
                and text[end - 1] in "eEpP"
                # "0x1e+1" is a sum: a hexadecimal float's exponent is marked by p
                and not (text[start : start + 2].lower() == "0x" and text[end - 1] in "eE")
            )
        ):
            if text[end] == "'" and not text[end + 1 : end + 2].isalnum():
                break
            end += 1
        self.position = end
        word = text[start:end]
        digits = word.lower().replace("'", "")
        token = _integer(word, digits, start, self.input_radix) or _float(word, digits, start)
        if token is None:
            raise ExpressionError(f'Invalid number "{word}".', text, start)
        return token

    def _name(self, start: int) -> Token:
        text = self.text
        end = start
        while end < len(text) and (text[end].isalnum() or text[end] == "_"):
            end += 1
        if text[start:end] in ("u", "U", "L", "u8") and text[end : end + 1] in ("'", '"') and end < len(text):
            self.position = end
            return self.next_token()
        name = text[start:end]
        if text[end : end + 1] == "<":
            close = self.angles.get(end)
            if close is not None and self.is_known(text[start:close]):
                name, end = text[start:close], close
        self.position = end
        return Token(TokenKind.NAME, name, start, name)

    def _single_quoted(self, start: int) -> Token:
        """A character constant, or a quoted symbol or file name when it is longer than one."""
        text = self.text
        close = text.find("'", start + 1)
        if close < 0:
            raise ExpressionError("Unmatched single quote.", text, start)
        if close == start + 1:
            raise ExpressionError("Empty character constant.", text, start)
        body = text[start + 1 : close]
        if body[0] != "\\" and len(body) > 1:
            self.position = close + 1
            return Token(TokenKind.QUOTED, text[start : close + 1], start, body)
        data, end = self._quoted_bytes(start + 1, "'", "Unmatched single quote.")
        self.position = end
        if len(data) != 1:
            raise ExpressionError("Invalid character constant.", text, start)
        return Token(TokenKind.CHAR, text[start:end], start, data[0])

    def _quoted_bytes(self, position: int, quote: str, unterminated: str) -> tuple[bytes, int]:
        text = self.text
        out = bytearray()
        while position < len(text):
            char = text[position]
            if char == quote:
                return bytes(out), position + 1
            position += 1
            if char != "\\":
                out += _encoded(char)
                continue
            if position >= len(text):
                break
            escape = text[position]
            position += 1
            if escape in "01234567":
                end = position
                while end < len(text) and end < position + 2 and text[end] in "01234567":
                    end += 1
                out.append(int(text[position - 1 : end], 8) & 0xFF)
                position = end
            elif escape == "x":
                end = position
                while end < len(text) and text[end] in "0123456789abcdefABCDEF":
                    end += 1
                if end == position:
                    raise ExpressionError("\\x escape without a following hex digit", text, position)
                out.append(int(text[max(position, end - 2) : end], 16))
                position = end
            elif escape in _ESCAPES:
                out.append(_ESCAPES[escape])
            else:
                out += _encoded(escape)
        raise ExpressionError(unterminated, text, position)


def _integer(word: str, digits: str, offset: int, input_radix: int) -> Token | None:
    body = digits
    if body.startswith("0x"):
        radix, body = 16, body[2:]
    elif body.startswith("0b") and input_radix != 16:
        radix, body = 2, body[2:]
    elif len(body) > 1 and body.startswith("0") and body[1].isdigit():
        radix, body = 8, body[1:]
    else:
        radix = input_radix
    end = 0
    allowed = "0123456789abcdef"[:radix]
    while end < len(body) and body[end] in allowed:
        end += 1
    if end == 0 or body[end:] not in _INTEGER_SUFFIXES:
        return None
    return Token(TokenKind.INTEGER, word, offset, decimal(body[:end], radix), body[end:], radix)


def _float(word: str, digits: str, offset: int) -> Token | None:
    for suffix in sorted(_FLOAT_SUFFIXES, key=len, reverse=True):
        if not digits.endswith(suffix):
            continue
        body = digits[: len(digits) - len(suffix)]
        try:
            value = float.fromhex(body) if body.startswith("0x") else float(body)
        except (ValueError, OverflowError):
            continue
        if "." in body or "e" in body or "p" in body:
            return Token(TokenKind.FLOAT, word, offset, value, suffix)
    return None


def _encoded(char: str) -> bytes:
    """A character's bytes; one that stands for a byte that was no UTF-8 (PEP 383) is that byte."""
    return char.encode("utf-8", "surrogateescape" if "\udc80" <= char <= "\udcff" else "surrogatepass")
