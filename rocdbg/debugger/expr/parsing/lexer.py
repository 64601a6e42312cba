"""Tokens of C expressions with the debugger's additions (``$names``, ``@``, ``ASPACE#``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from enum import Enum
from functools import cached_property

from msgspec import Struct

from rocdbg import work
from rocdbg.debugger.base.digits import decimal
from rocdbg.debugger.base.errors import DebuggerError, ExpressionError, GrammarError, NoSymbolError
from rocdbg.dwarf.info.name_matching import spelled


class TokenKind(Enum):
    """The kinds of tokens."""

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
    """One token; ``value`` is a number or the text of a name.

    ``suffix`` is the suffix of a number, or the prefix of quoted characters (``L``).
    """

    kind: TokenKind
    text: str
    offset: int
    value: int | float | bytes | str = 0
    suffix: str = ""
    radix: int = 10
    wrong: DebuggerError | None = None
    """The error in the text from this token on; a token with an error is the last one."""


_NAME_BEFORE = re.compile(r"(?<!\w)[A-Za-z_]\w*\s*\Z")
"""The name of an address space, which must precede ``#``."""
# Longest first, since the first operator that fits is taken.
_OPERATORS = (
    "<<=", ">>=", "->*", "...",
    "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
    "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "::", ".*",
    "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "<", ">", "=", "?", ":", ",", ".",
    "(", ")", "[", "]", "{", "}", "@", "#",
)

_CXX_OPERATORS = {
    "and": "&&", "and_eq": "&=", "bitand": "&", "bitor": "|", "compl": "~", "not": "!", "not_eq": "!=", "or": "||",
    "or_eq": "|=", "xor": "^", "xor_eq": "^=",
}
_OPERATOR_NAME = re.compile(
    r"\s*(\(\s*\)|\[\s*\]|->\*?|&&|\|\||\+\+|--|<<=?|>>=?|[-+*/%^&|~!=<>]=?|,)"
)
_CONVERSION = re.compile(
    r"\s+(?!new\b|delete\b)(?:const\s+)?(?:(?:unsigned|signed|long|short)\s+)*[A-Za-z_][\w:]*\s*[*&]*(?=\s*(?:\(|$))"
)
"""The target type of a conversion ``operator``."""
_LOCAL_LABEL = re.compile(r"\.L[\w.$]+")
"""A local label in assembly, which is not in the symbol table."""
_OPERAND_BEFORE = re.compile(r"[\w)\]\"'$}]\s*$")
_ARGUMENTS = re.compile(r"<[\w:*]+(<[\w:*, ]*>)?(,\s*[\w:*<>]+)*>")
"""Text that can only be template arguments: a comparison has blanks around its operator."""
_SCOPE = re.compile(r"(\w+(?:::\w+)*)::\Z")
_WIDTHS = {"": 1, "u": 2, "U": 4, "L": 4}
"""Bytes per character, by the prefix of the quotes."""
_ESCAPES = {"a": 7, "b": 8, "e": 27, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_TOKENS = 16
"""How many tokens count as one unit of work."""
_INTEGER_SUFFIXES = {"", "u", "l", "ul", "lu", "ll", "ull", "llu"}
_FLOAT_SUFFIXES = {"", "f", "l", "f16", "h"}


def tokenize(
    text: str, is_known: Callable[[str], bool] | None = None, input_radix: int = 10, is_cxx: bool = True
) -> list[Token]:
    """Split ``text`` into tokens. The last one has kind END, and holds the error in the text, if there is one.

    ``is_known`` decides whether a name with template arguments (``fn<int>``) exists, so that it can become one token,
    and whether ``$name`` is a symbol. ``is_cxx``: words such as ``and`` are operators.
    """
    lexer = _Lexer(text, is_known or (lambda _name: False), input_radix, is_cxx)
    tokens: list[Token] = []
    while True:
        if not len(tokens) % _TOKENS:
            work.unit()
        try:
            token = lexer.next_token()
        except (ExpressionError, NoSymbolError) as error:
            token = Token(TokenKind.END, "", len(text), wrong=error)
        tokens.append(token)
        if token.kind is TokenKind.END:
            return tokens


class _Lexer:
    def __init__(self, text: str, is_known: Callable[[str], bool], input_radix: int, is_cxx: bool) -> None:
        self.is_cxx = is_cxx
        self.text = text
        self.position = 0
        self.is_known = is_known
        self.input_radix = input_radix

    @cached_property
    def angles(self) -> dict[int, int]:
        """For each ``<`` that has a matching ``>``, the index after the ``>``; found in one pass."""
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
        if char == ".":
            label = _LOCAL_LABEL.match(text, start)
            if label is not None and not _OPERAND_BEFORE.search(text, 0, start):
                self.position = label.end()
                return Token(TokenKind.NAME, label[0], start, label[0])
        if char == "$":
            end = start + 1
            if text[end : end + 1] == "$":
                end += 1
            while end < len(text) and (text[end].isalnum() or text[end] == "_"):
                end += 1
            self.position = end
            if self.is_known(text[start:end]):  # a symbol, as in GDB
                return Token(TokenKind.NAME, text[start:end], start, text[start:end])
            return Token(TokenKind.DOLLAR, text[start:end], start, text[start:end])
        if char == "'":
            return self._single_quoted(start)
        if char == '"':
            return self._string(start, "")
        for operator in _OPERATORS:
            if text.startswith(operator, start) and (operator != "#" or _NAME_BEFORE.search(text, 0, start)):
                self.position = start + len(operator)
                return Token(TokenKind.OPERATOR, operator, start)
        raise ExpressionError(f'Invalid character \'{char}\' in expression.', text, start)

    def _number(self, start: int) -> Token:
        text = self.text
        end = start
        dots = 0
        while end < len(text) and (
            text[end].isalnum()
            or text[end] in "_'"
            or (text[end] == "." and not dots)  # as in GDB, "1.2.3" is 1.2 and then .3
            or (
                text[end] in "+-"
                and text[end - 1] in "eEpP"
                # "0x1e+1" is a sum: the exponent of a hexadecimal float is marked by p
                and not (text[start : start + 2].lower() == "0x" and text[end - 1] in "eE")
            )
        ):
            if text[end] == "'" and not text[end + 1 : end + 2].isalnum():
                break
            dots += text[end] == "."
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
        while end < len(text) and (text[end].isalnum() or text[end] in "_$"):
            end += 1
        name = text[start:end]
        if name in ("u", "U", "L") and text[end : end + 1] == '"':
            return self._string(end, name)
        if name in ("u", "U", "L") and text[end : end + 1] == "'":
            return self._character(end, name)
        if self.is_cxx and name in _CXX_OPERATORS:
            self.position = end
            return Token(TokenKind.OPERATOR, _CXX_OPERATORS[name], start)
        if self.is_cxx and name == "operator":
            conversion = _CONVERSION.match(text, end)
            end = conversion.end() if conversion is not None else self._operator_name(end)
            self.position = end
            name = re.sub(r"\s+(?=\W)|(?<=\W)\s+", "", text[start:end])
            if conversion is not None:
                name = spelled(name)
            return Token(TokenKind.NAME, name, start, name)
        if text[end : end + 1] == "<":
            close = self.angles.get(end)
            if close is not None and self.is_known(text[start:close]):
                name, end = text[start:close], close
            elif close is not None and self._is_template(name, end, close):
                template, scope = text[start:close], _SCOPE.search(text, 0, start)
                if scope is not None and text.startswith("::", close):
                    where = f'within class or namespace "{scope[1]}".'
                    raise NoSymbolError(template, f'No type "{template}" {where}')
                if scope is not None:
                    raise NoSymbolError(template, f'No symbol "{template}" in namespace "{scope[1]}".')
                raise NoSymbolError(template)
        self.position = end
        return Token(TokenKind.NAME, name, start, name)

    def _single_quoted(self, start: int) -> Token:
        """Return a character constant or, if the quotes contain more than one character, a quoted symbol or file name.
        """
        text = self.text
        close = text.find("'", start + 1)
        if close < 0:
            raise ExpressionError("Unmatched single quote.", text, start)
        body = text[start + 1 : close]
        if body[:1] != "\\" and len(body) > 2:
            self.position = close + 1
            return Token(TokenKind.QUOTED, text[start : close + 1], start, body)
        return self._character(start, "")

    def _character(self, start: int, prefix: str) -> Token:
        """Read a character constant, from its first quote on."""
        codes, end = self._quoted_codes(start + 1, "'", "Unmatched single quote.")
        self.position = end
        if not codes:
            raise ExpressionError("A character constant must contain at least one character.", self.text, start)
        data = _in_width(codes, _WIDTHS[prefix])
        if len(data) != _WIDTHS[prefix]:
            raise ExpressionError("Invalid character constant.", self.text, start)
        return Token(TokenKind.CHAR, self.text[start:end], start, int.from_bytes(data, "little"), prefix)

    def _string(self, start: int, prefix: str) -> Token:
        """Read a string, from its first quote on."""
        codes, end = self._quoted_codes(start + 1, '"', "Unterminated string in expression.")
        self.position = end
        return Token(TokenKind.STRING, self.text[start:end], start, _in_width(codes, _WIDTHS[prefix]), prefix)

    def _is_template(self, name: str, start: int, end: int) -> bool:
        """Whether template arguments follow a name; the angle brackets of C++ casts contain types instead."""
        return self.is_cxx and not name.endswith("_cast") and _ARGUMENTS.fullmatch(self.text, start, end) is not None

    def _operator_name(self, end: int) -> int:
        """Return where the name of an operator function ends, after ``operator``."""
        found = _OPERATOR_NAME.match(self.text, end)
        return found.end() if found is not None else end

    def _quoted_codes(self, position: int, quote: str, unterminated: str) -> tuple[list[int | str], int]:
        """Return the characters up to the closing quote, with numeric escapes as numbers, and the position after them.
        """
        text = self.text
        out: list[int | str] = []
        while position < len(text):
            char = text[position]
            if char == quote:
                return out, position + 1
            position += 1
            if char != "\\":
                out.append(char)
                continue
            if position >= len(text):
                break
            escape = text[position]
            position += 1
            if escape in "01234567":
                end = position
                while end < len(text) and end < position + 2 and text[end] in "01234567":
                    end += 1
                out.append(int(text[position - 1 : end], 8))
                position = end
            elif escape in "uU" and text[position : position + 1] in _HEX:
                end = position
                while end < len(text) and end < position + (4 if escape == "u" else 8) and text[end] in _HEX:
                    end += 1
                code = int(text[position:end], 16)
                out.append(chr(code) if code < 0x110000 else code)
                position = end
            elif escape == "x":
                end = position
                while end < len(text) and text[end] in "0123456789abcdefABCDEF":
                    end += 1
                if end == position:
                    raise ExpressionError("\\x escape without a following hex digit", text, position)
                out.append(int(text[max(position, end - 8) : end], 16))
                position = end
            elif escape in _ESCAPES:
                out.append(_ESCAPES[escape])
            else:
                out.append(escape)
        raise ExpressionError(unterminated, text, position)


_HEX = frozenset("0123456789abcdefABCDEF")


def _in_width(codes: list[int | str], width: int) -> bytes:
    """Encode characters as units of ``width`` bytes, in UTF-8, -16 or -32; a numeric escape is one unit."""
    out = bytearray()
    for code in codes:
        if isinstance(code, int):
            out += (code & ((1 << 8 * width) - 1)).to_bytes(width, "little")
        elif width == 1:
            out += _encoded(code)
        else:
            out += code.encode("utf-16-le" if width == 2 else "utf-32-le", "surrogatepass")
    return bytes(out)


def _integer(word: str, digits: str, offset: int, input_radix: int) -> Token | None:
    body = digits
    if body.startswith("0x"):
        radix, body = 16, body[2:]
    elif body.startswith("0b") and input_radix != 16:
        radix, body = 2, body[2:]
    elif body.startswith(("0d", "0t")) and len(body) > 2:
        radix, body = 10, body[2:]
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
    return Token(TokenKind.INTEGER, word, offset, _in_64_bits(decimal(body[:end], radix), radix), body[end:], radix)


def _in_64_bits(number: int, radix: int) -> int:
    """Wrap a number that has more than 64 bits, digit by digit. As in GDB, return it unchanged if a digit makes the
    wrapped number smaller: the number is then too large.
    """
    read, rest = number, []
    while read >> 64:
        read, digit = divmod(read, radix)
        rest.append(digit)
    for digit in reversed(rest):
        wrapped = (read * radix + digit) & ((1 << 64) - 1)
        if wrapped <= read:
            return number
        read = wrapped
    return read


def _float(word: str, digits: str, offset: int) -> Token | None:
    for suffix in sorted(_FLOAT_SUFFIXES, key=len, reverse=True):
        if not digits.endswith(suffix):
            continue
        body = digits[: len(digits) - len(suffix)]
        if not body.startswith("0x"):
            body = re.sub(r"(?<=[0-9.])e[+-]?$", "e0", body)  # GDB reads 1e as 1
        try:
            value = float.fromhex(body) if body.startswith("0x") else float(body)
        except (ValueError, OverflowError):
            continue
        if "." in body or "e" in body or "p" in body:
            return Token(TokenKind.FLOAT, word, offset, value, suffix)
    return None


def _encoded(char: str) -> bytes:
    """Return a character's bytes; one that represents an invalid UTF-8 byte (PEP 383) becomes that byte."""
    return char.encode("utf-8", "surrogateescape" if "\udc80" <= char <= "\udcff" else "surrogatepass")


# The tokens of an expression, consumed from the left, with unlimited lookahead.


class TokenStream(Struct):
    """The stream of tokens that the grammars read. ``text`` is their source; the last token has kind ``END``."""

    text: str
    tokens: list[Token]
    position: int = 0

    def peek(self, ahead: int = 0) -> Token:
        """Return the next token, or a later one; past the end, the last."""
        tokens, place = self.tokens, self.position + ahead
        token = tokens[place] if place < len(tokens) else tokens[-1]
        if token.wrong is not None:
            raise token.wrong
        return token

    def take(self) -> Token:
        """Consume and return the next token."""
        token = self.peek()
        self.position += 1
        return token

    def at(self, operator: str, ahead: int = 0) -> bool:
        """Whether the next token, or a later one, is this operator."""
        tokens, place = self.tokens, self.position + ahead
        token = tokens[place] if place < len(tokens) else tokens[-1]
        return token.text == operator and token.kind is TokenKind.OPERATOR

    def at_one_of(self, operators: Container[str]) -> bool:
        """Whether the next token is one of these operators."""
        token = self.tokens[self.position] if self.position < len(self.tokens) else self.tokens[-1]
        return token.kind is TokenKind.OPERATOR and token.text in operators

    def accept(self, operator: str) -> bool:
        """Consume the operator if it is next."""
        if self.at(operator):
            self.position += 1
            return True
        return False

    def expect(self, operator: str) -> None:
        """Consume the operator. Raises `ExpressionError` if something else is next."""
        if not self.accept(operator):
            raise self.error()

    def since(self, position: int) -> str:
        """Return the text from a token to the last consumed one."""
        last = self.tokens[self.position - 1]
        return self.text[self.tokens[position].offset : last.offset + len(last.text)]

    def qualified_name(self) -> str:
        """Consume and return a name with its scopes: ``a::b::c``. Raises `ExpressionError` if no name is next."""
        token = self.take()
        if token.kind not in (TokenKind.NAME, TokenKind.QUOTED):
            raise self.error(token)
        name = str(token.value)
        while self.at("::") and self.peek(1).kind is TokenKind.NAME:
            self.take()
            name += "::" + self.take().text
        return name

    def error(self, token: Token | None = None) -> GrammarError:
        """Return a syntax error at a token, by default the next one. In a qualified name, the error is at the end of
        the name, as in GDB.
        """
        if token is None:
            ahead = 0
            while self.peek(ahead).kind is TokenKind.NAME and self.at("::", ahead + 1):
                ahead += 2
            more = ahead and self.peek(ahead).kind is TokenKind.NAME
            token = self.peek(ahead + 1 if more else ahead)
        return GrammarError(self.text[token.offset :].rstrip(), self.text, token.offset)
