"""The grammar of type names: specifiers, qualifiers, tags, and declarators."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from msgspec import Struct

from rocdbg.debugger.expr.parsing import syntax
from rocdbg.debugger.expr.parsing.lexer import TokenKind, TokenStream
from rocdbg.debugger.values import c_types

_SPECIFIERS = {
    "void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "bool", "_Bool",
    "__int128", "_Float16", "__bf16", "wchar_t", "char8_t", "char16_t", "char32_t",
}
_QUALIFIERS = {"const", "volatile", "restrict", "__restrict", "__restrict__", "_Atomic",
               "__global", "__local", "__constant", "__private", "__generic"}
_TAGS = {"struct", "union", "class", "enum"}
TYPE_OF = {"typeof", "__typeof__", "__typeof", "decltype"}
KEYWORDS = {
    "unsigned", "signed", "int", "short", "long", "double", "float", "const", "volatile", "restrict", "_Atomic",
    "_Complex", "__complex__", "struct", "union", "enum", *TYPE_OF,
}
"""Words that GDB's grammar treats as keywords: where a type is not allowed, the word itself is the error. Other basic
types are names to GDB.
"""


class TypeGrammar(Struct):
    """Parses type names from a stream of tokens.

    ``is_type`` decides whether a name that is not a C keyword names a type in scope; ``expression`` parses the operand
    of ``typeof``. ``names`` receives the names that were read.
    """

    tokens: TokenStream
    is_type: Callable[[str], bool]
    expression: Callable[[], syntax.Expression]
    is_cxx: bool
    names: list[syntax.Name | syntax.TypeName]

    def starts_at(self, ahead: int) -> bool:
        """Whether the token at distance ``ahead`` from the next one begins a type name."""
        token = self.tokens.peek(ahead)
        if token.kind is TokenKind.OPERATOR and token.text == "::":
            return self.starts_at(ahead + 1)
        if token.kind is TokenKind.QUOTED:
            return not self.tokens.at("::", ahead + 1) and self.is_type(str(token.value))
        if token.kind is not TokenKind.NAME:
            return False
        word = token.text
        if word in _TAGS:
            return word != "class" or self.is_cxx
        if word == "bool" and not self.is_cxx:
            return self.is_type(word)  # this word is not a keyword in C
        if word in _SPECIFIERS or word in _QUALIFIERS:
            return True
        if word in TYPE_OF:
            return True
        if self.tokens.at("#", ahead + 1):
            return False
        name = word
        step = ahead + 1
        while self.tokens.at("::", step) and self.tokens.peek(step + 1).kind is TokenKind.NAME:
            name += "::" + self.tokens.peek(step + 1).text
            step += 2
        return self.is_type(name)

    def refuse(self) -> NoReturn:
        """Raise the error for a type name where no type is allowed, at the token at which GDB's grammar detects it."""
        token = self.tokens.peek()
        if token.text not in KEYWORDS and not (token.text == "class" and self.is_cxx):
            self.tokens.accept("::")
            self.tokens.qualified_name()
            if self.is_cxx:
                self.tokens.accept("::")
        raise self.tokens.error()

    def type_name(self) -> syntax.AnyTypeName:
        """Parse a type name with its abstract declarator."""
        token = self.tokens.peek()
        if token.kind is TokenKind.NAME and token.text in TYPE_OF:
            self.tokens.take()
            self.tokens.expect("(")
            inner = self.expression()
            self.tokens.expect(")")
            return syntax.TypeOf(inner, self._declarator())
        words: list[str] = []
        tag = ""
        const = volatile = False
        self.tokens.accept("::")
        while True:
            token = self.tokens.peek()
            if token.kind is TokenKind.QUOTED and not words:
                self.tokens.take()
                words.append(str(token.value))
                continue
            if token.kind is not TokenKind.NAME:
                break
            word = token.text
            if word in _QUALIFIERS:
                const |= word == "const"
                volatile |= word == "volatile"
                self.tokens.take()
            elif word in _TAGS and not words:
                tag = word
                self.tokens.take()
                if self.tokens.peek().text in KEYWORDS:
                    raise self.tokens.error()
                words.append(self.tokens.qualified_name())
            elif word in _SPECIFIERS and words and not _goes_on(words, word):
                raise self.tokens.error(token)
            elif word in _SPECIFIERS and all(w in _SPECIFIERS for w in words):
                words.append(word)
                self.tokens.take()
            elif not words:
                words.append(self.tokens.qualified_name())
            else:
                break
        if not words:
            raise self.tokens.error()
        if tag:
            self.names.append(syntax.TypeName(words[0], tag))
        return syntax.TypeName(" ".join(words), tag, self._declarator(), const, volatile)

    def _declarator(self) -> syntax.Derivations:
        """Parse ``*``, ``&``, ``(*)[4]``, ``[3]``, ``(*)(int)``: derivations in the order in which they apply."""
        prefix: list[syntax.Derivation] = []
        while True:
            token = self.tokens.peek()
            if self.tokens.at("*") or self.tokens.at("&") or self.tokens.at("&&"):
                prefix.append(self.tokens.take().text)
            elif token.kind is TokenKind.NAME and token.text in _QUALIFIERS:
                self.tokens.take()
                if prefix and token.text in ("const", "volatile"):
                    prefix.append(token.text)
            else:
                break
        inner: syntax.Derivations = ()
        if self.tokens.at("(") and (self.tokens.at("*", 1) or self.tokens.at("&", 1)):
            self.tokens.take()
            inner = self._declarator()
            self.tokens.expect(")")
        suffixes: list[syntax.Derivation] = []
        while True:
            if self.tokens.at("["):
                self.tokens.take()
                if self.tokens.accept("]"):
                    suffixes.append(-1)
                    continue
                size = self.tokens.take()
                if size.kind is not TokenKind.INTEGER or not isinstance(size.value, int):
                    raise self.tokens.error(size)
                suffixes.append(size.value)
                self.tokens.expect("]")
            elif self.tokens.at("(") and (inner or self._is_parameter_list()):
                suffixes.append(self._parameters())
            elif self.tokens.at("("):
                self.tokens.take()
                raise self.tokens.error()  # as GDB, which does not accept ``int(3.5)``
            else:
                break
        return (*prefix, *reversed(suffixes), *inner)

    def _is_parameter_list(self) -> bool:
        """Whether the parentheses here contain the parameters of a function type, after which the type ends."""
        if not (self.tokens.at(")", 1) or self.starts_at(1)):
            return False
        depth = 0
        ahead = 0
        while True:
            token = self.tokens.peek(ahead)
            if token.kind is TokenKind.END:
                return False
            if self.tokens.at("(", ahead):
                depth += 1
            elif self.tokens.at(")", ahead):
                depth -= 1
                if depth == 0:
                    break
            ahead += 1
        follower = self.tokens.peek(ahead + 1)
        return follower.kind is TokenKind.END or follower.text in (")", "}", ">", ",")

    def _parameters(self) -> tuple[syntax.AnyTypeName, ...]:
        """Parse the parameter types of a function type; parameter names are ignored."""
        self.tokens.expect("(")
        types: list[syntax.AnyTypeName] = []
        while not self.tokens.accept(")"):
            if types:
                self.tokens.expect(",")
                if self.tokens.accept("..."):
                    self.tokens.expect(")")
                    return (*types, syntax.VARIADIC)
            if not self.starts_at(0):
                raise self.tokens.error()
            types.append(self.type_name())
        return tuple(types)


def _goes_on(words: list[str], word: str) -> bool:
    """Whether a specifier may follow others; GDB does not accept ``int long`` or ``char signed``."""
    if word in ("signed", "unsigned") and not set(words) <= {"long", "short"}:
        return False
    return words != ["int"] and c_types.basic_type(" ".join([*words, word])) is not None
