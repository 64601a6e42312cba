"""The tokens of an expression, taken from the left, with any number to look ahead at."""

from __future__ import annotations

from msgspec import Struct

from rocdbg.debugger.base.errors import GrammarError
from rocdbg.debugger.expr.parsing.lexer import Token, TokenKind


class TokenStream(Struct):
    """What the grammars read. ``text`` is where the tokens are from; the last of them is of kind ``END``."""

    text: str
    tokens: list[Token]
    position: int = 0

    def peek(self, ahead: int = 0) -> Token:
        """The next token, or one behind it; past the end, the last."""
        token = self.tokens[min(self.position + ahead, len(self.tokens) - 1)]
        if token.wrong is not None:
            raise token.wrong
        return token

    def take(self) -> Token:
        """The next token, which is used up."""
        token = self.peek()
        self.position += 1
        return token

    def at(self, operator: str, ahead: int = 0) -> bool:
        """Whether the next token, or one behind it, is this operator."""
        token = self.tokens[min(self.position + ahead, len(self.tokens) - 1)]
        return token.kind is TokenKind.OPERATOR and token.text == operator

    def accept(self, operator: str) -> bool:
        """Take the operator if it is next."""
        if self.at(operator):
            self.position += 1
            return True
        return False

    def expect(self, operator: str) -> None:
        """Take the operator. Raises `ExpressionError` when something else is next."""
        if not self.accept(operator):
            raise self.error()

    def since(self, position: int) -> str:
        """The text from a token on to the last that was taken."""
        last = self.tokens[self.position - 1]
        return self.text[self.tokens[position].offset : last.offset + len(last.text)]

    def qualified_name(self) -> str:
        """A name with the scopes it is in: ``a::b::c``. Raises `ExpressionError` when no name is next."""
        token = self.take()
        if token.kind not in (TokenKind.NAME, TokenKind.QUOTED):
            raise self.error(token)
        name = str(token.value)
        while self.at("::") and self.peek(1).kind is TokenKind.NAME:
            self.take()
            name += "::" + self.take().text
        return name

    def error(self, token: Token | None = None) -> GrammarError:
        """A syntax error at a token, by default the next; GDB has read on to the end of a qualified name."""
        if token is None:
            ahead = 0
            while self.peek(ahead).kind is TokenKind.NAME and self.at("::", ahead + 1):
                ahead += 2
            more = ahead and self.peek(ahead).kind is TokenKind.NAME
            token = self.peek(ahead + 1 if more else ahead)
        return GrammarError(self.text[token.offset :].rstrip(), self.text, token.offset)
