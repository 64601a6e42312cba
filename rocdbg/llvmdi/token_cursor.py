"""A position in a list of tokens, which all parts of the reader use."""

from __future__ import annotations

from rocdbg.llvmdi.errors import Position, ReadError
from rocdbg.llvmdi.llvm_lexer import Kind, Source, Token

__all__ = ["MAX_DEPTH", "Cursor", "unquoted"]

MAX_DEPTH = 64
"""How deeply types, constants and inline metadata may be nested."""
_OPENING = {"(": ")", "[": "]", "{": "}", "<": ">"}
_CLOSING = frozenset(_OPENING.values())


class Cursor:
    """The position of the next token, and methods to read tokens."""

    __slots__ = ("depth", "end", "exact", "index", "source", "tokens")

    def __init__(self, source: Source, tokens: list[Token], index: int = 0, end: int | None = None) -> None:
        self.source = source
        self.tokens = tokens
        self.index = index
        self.end = len(tokens) - 1 if end is None else end
        self.depth = 0
        self.exact = False
        """Whether a literal has to fit its type; elsewhere LLVM drops the bits that do not."""

    @property
    def token(self) -> Token:
        """The next token; the END token where nothing is left."""
        return self.tokens[self.index] if self.index < self.end else self._last()

    def _last(self) -> Token:
        token = self.tokens[self.end]
        return Token(Kind.END, "the end of the line" if token.kind != Kind.END else token.text, token.offset, True)

    @property
    def text(self) -> str:
        """The next token's text."""
        return self.token.text

    @property
    def at_end(self) -> bool:
        """Whether nothing is left."""
        return self.index >= self.end

    def ahead(self, count: int = 1) -> Token:
        """The token ``count`` places after the next one."""
        return self.tokens[self.index + count] if self.index + count < self.end else self._last()

    def take(self) -> Token:
        """The next token; advances the cursor past it."""
        token = self.token
        if token.kind == Kind.END:
            raise self.error(f"unexpected {token.text}")
        self.index += 1
        return token

    def accept(self, text: str) -> bool:
        """Take the next token if it has this text."""
        if self.index < self.end and self.tokens[self.index].text == text:
            self.index += 1
            return True
        return False

    def expect(self, text: str) -> Token:
        """Take the next token, which must have this text."""
        token = self.token
        if token.text != text or token.kind == Kind.END:
            raise self.error(f"expected '{text}', found {_words(token)}")
        self.index += 1
        return token

    def expect_kind(self, kind: str, what: str) -> Token:
        """Take the next token, which must be of this kind."""
        token = self.token
        if token.kind != kind:
            raise self.error(f"expected {what}, found {_words(token)}")
        self.index += 1
        return token

    def unsigned(self, what: str) -> int:
        """Take a number that is not negative."""
        token = self.expect_kind(Kind.NUMBER, what)
        if not token.text.isdecimal():
            raise self.error(f"expected {what}, found {_words(token)}", token)
        if len(token.text) > 40:
            raise self.error(f"{what} has {len(token.text)} digits; the limit is 40", token)
        return int(token.text)

    def skip_group(self) -> None:
        """Take a bracket with everything in it."""
        if self.text not in _OPENING:
            raise self.error(f"expected a bracket, found {_words(self.token)}")
        open_ones = [self.take()]
        while open_ones:
            token = self.token
            if token.kind == Kind.END:
                raise self.error(f"'{open_ones[-1].text}' is not closed", open_ones[-1])
            self.index += 1
            if token.kind == Kind.PUNCTUATION:
                if token.text in _OPENING:
                    open_ones.append(token)
                elif token.text in _CLOSING:
                    # In pseudo code, '<' and '>' may mean less and greater, so only other brackets must match.
                    while open_ones and open_ones[-1].text == "<" and token.text != ">":
                        open_ones.pop()
                    if open_ones and _OPENING[open_ones[-1].text] == token.text:
                        open_ones.pop()
                    elif token.text != ">":
                        raise self.error(f"'{token.text}' has no matching opening bracket", token)

    def deeper(self) -> None:
        """Go one level deeper into something nested; raises `ReadError` beyond the limit."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"the text is nested more than {MAX_DEPTH} deep")

    def position(self, token: Token | None = None) -> Position:
        """The position of a token, by default the next one."""
        return self.source.position((token or self.token).offset)

    def error(self, reason: str, token: Token | None = None) -> ReadError:
        """The error about the problem with a token, by default the next one."""
        return self.source.error(reason, (token or self.token).offset)


def _words(token: Token) -> str:
    if token.kind == Kind.END:
        return token.text
    text = token.text if len(token.text) <= 40 else token.text[:37] + "..."
    return f"'{text}'"


def unquoted(text: str) -> str:
    """A name without the quotes and escapes that LLVM adds to some."""
    if '"' not in text:
        return text
    head, _, body = text.partition('"')
    body = body[:-1]
    parts = body.split("\\")
    out = [parts[0]]
    for part in parts[1:]:
        digits = part[:2]
        if len(digits) == 2 and all(c in "0123456789abcdefABCDEF" for c in digits):
            out.append(chr(int(digits, 16)) + part[2:])
        else:
            out.append("\\" + part)
    return head + "".join(out)
