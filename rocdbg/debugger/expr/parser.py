"""From text to a syntax tree. What is a type is asked of a callback, everything else is grammar."""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.debugger.errors import ExpressionError
from rocdbg.debugger.expr import ast
from rocdbg.debugger.expr.lexer import Token, TokenKind, tokenize

MAX_DEPTH = 200
"""Nesting of an expression; deeper ones are refused instead of exhausting the stack."""

# Binding strength of binary operators, as in GDB: "@" sits between shifts and sums.
_BINARY = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
    "<<": 8, ">>": 8, "@": 9, "+": 10, "-": 10, "*": 11, "/": 11, "%": 11,
    ".*": 12, "->*": 12,
}  # fmt: skip
_ASSIGN = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
_UNARY = {"-", "+", "!", "~", "*", "&", "++", "--"}
_SPECIFIERS = {
    "void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "bool", "_Bool",
    "__int128", "_Float16", "half", "__bf16", "wchar_t", "char8_t", "char16_t", "char32_t",
}  # fmt: skip
_QUALIFIERS = {"const", "volatile", "restrict", "__restrict", "__restrict__", "_Atomic",
               "__global", "__local", "__constant", "__private", "__generic"}  # fmt: skip
_TAGS = {"struct", "union", "class", "enum"}
_CASTS = {"static_cast", "reinterpret_cast", "const_cast", "dynamic_cast"}


def parse(
    text: str,
    is_type: Callable[[str], bool] | None = None,
    is_known: Callable[[str], bool] | None = None,
    input_radix: int = 10,
) -> ast.Expression:
    """The tree of ``text``.

    ``is_type`` says whether a name that is no C keyword names a type in scope; ``is_known`` whether a
    name with template arguments exists. Raises `ExpressionError` with the offset.
    """
    expression, end = parse_prefix(text, is_type, is_known, input_radix)
    if end < len(text) and text[end:].strip():
        raise ExpressionError(f"A syntax error in expression, near `{text[end:].strip()}'.", text, end)
    return expression


def parse_prefix(
    text: str,
    is_type: Callable[[str], bool] | None = None,
    is_known: Callable[[str], bool] | None = None,
    input_radix: int = 10,
) -> tuple[ast.Expression, int]:
    """The longest expression at the start of ``text`` and where it ends (``break f if x``)."""
    parser = _Parser(text, tokenize(text, is_known, input_radix), is_type or (lambda _name: False))
    expression = parser.comma()
    return expression, parser.peek().offset


def split_arguments(text: str) -> list[str]:
    """Split at commas outside of brackets and quotes (``printf "...", a, f(b, c)``)."""
    parts: list[str] = []
    depth = 0
    start = 0
    quote = ""
    index = 0
    while index < len(text):
        char = text[index]
        if quote:
            if char == "\\":
                index += 1
            elif char == quote:
                quote = ""
        elif char in "\"'":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
        index += 1
    last = text[start:].strip()
    if last or parts:
        parts.append(last)
    return parts


class _Parser:
    def __init__(self, text: str, tokens: list[Token], is_type: Callable[[str], bool]) -> None:
        self.text = text
        self.tokens = tokens
        self.position = 0
        self.is_type = is_type
        self.depth = 0

    # -- tokens

    def peek(self, ahead: int = 0) -> Token:
        return self.tokens[min(self.position + ahead, len(self.tokens) - 1)]

    def take(self) -> Token:
        token = self.peek()
        self.position += 1
        return token

    def at(self, operator: str, ahead: int = 0) -> bool:
        token = self.peek(ahead)
        return token.kind is TokenKind.OPERATOR and token.text == operator

    def accept(self, operator: str) -> bool:
        if self.at(operator):
            self.position += 1
            return True
        return False

    def expect(self, operator: str) -> None:
        if not self.accept(operator):
            raise self.error()

    def error(self, token: Token | None = None) -> ExpressionError:
        token = token or self.peek()
        rest = self.text[token.offset :]
        return ExpressionError(f"A syntax error in expression, near `{rest}'.", self.text, token.offset)

    # -- expressions, loosest first

    def comma(self) -> ast.Expression:
        left = self.assignment()
        while self.accept(","):
            left = ast.Binary(",", left, self.assignment())
        return left

    def assignment(self) -> ast.Expression:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ExpressionError("The expression is nested too deeply.", self.text, self.peek().offset)
        left = self.conditional()
        token = self.peek()
        if token.kind is TokenKind.OPERATOR and token.text in _ASSIGN:
            self.take()
            left = ast.Assign(token.text[:-1], left, self.assignment())
        self.depth -= 1
        return left

    def conditional(self) -> ast.Expression:
        condition = self.binary(1)
        if not self.accept("?"):
            return condition
        then = self.comma()
        self.expect(":")
        return ast.Conditional(condition, then, self.assignment())

    def binary(self, minimum: int) -> ast.Expression:
        left = self.unary()
        while True:
            token = self.peek()
            strength = _BINARY.get(token.text, 0) if token.kind is TokenKind.OPERATOR else 0
            if strength < minimum or strength == 0:
                return left
            self.take()
            left = ast.Binary(token.text, left, self.binary(strength + 1))

    def unary(self) -> ast.Expression:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ExpressionError("The expression is nested too deeply.", self.text, self.peek().offset)
        try:
            token = self.peek()
            if token.kind is TokenKind.OPERATOR and token.text in _UNARY:
                self.take()
                return ast.Unary(token.text, self.unary())
            if token.kind is TokenKind.NAME:
                if token.text in ("sizeof", "alignof", "_Alignof"):
                    self.take()
                    return ast.Sizeof(self._sizeof_operand(), token.text != "sizeof")
                if token.text in ("typeof", "__typeof__", "__typeof", "decltype"):
                    return self._type_or_functional_cast()
                if token.text in _CASTS and self.at("<", 1):
                    return self._named_cast()
            if self.at("(") and self._starts_type(1):
                return self._cast()
            if self.at("{"):
                return self._braces()
            return self.postfix()
        finally:
            self.depth -= 1

    def _sizeof_operand(self) -> ast.Expression:
        if self.at("(") and self._starts_type(1):
            self.take()
            name = self.type_name()
            self.expect(")")
            return ast.TypeExpression(name)
        return self.unary()

    def _cast(self) -> ast.Expression:
        start = self.position
        self.expect("(")
        name = self.type_name()
        if not self.accept(")"):
            # "(T(x) + 1)": the type starts a functional cast inside plain brackets
            self.position = start
            return self.postfix()
        if self._ends_operand():
            return ast.TypeExpression(name)
        return ast.Cast(name, self.unary())

    def _ends_operand(self) -> bool:
        """Whether nothing that could be an operand follows: then ``(type)`` stood for itself."""
        token = self.peek()
        if token.kind is TokenKind.END:
            return True
        return token.kind is TokenKind.OPERATOR and token.text not in _UNARY | {"(", "{", "::"}

    def _named_cast(self) -> ast.Expression:
        kind = self.take().text
        self.expect("<")
        name = self.type_name()
        self.expect(">")
        self.expect("(")
        operand = self.comma()
        self.expect(")")
        return self._suffixes(ast.Cast(name, operand, kind == "reinterpret_cast"))

    def _braces(self) -> ast.Expression:
        self.expect("{")
        if self._starts_type(0):
            name = self.type_name()
            self.expect("}")
            return ast.TypedMemory(name, self.unary())
        elements = [self.assignment()]
        while self.accept(","):
            elements.append(self.assignment())
        self.expect("}")
        return self._suffixes(ast.ArrayLiteral(tuple(elements)))

    def postfix(self) -> ast.Expression:
        return self._suffixes(self.primary())

    def _suffixes(self, base: ast.Expression) -> ast.Expression:
        while True:
            if self.at("["):
                base = self._subscript(base)
            elif self.accept("("):
                arguments: list[ast.Expression] = []
                if not self.at(")"):
                    arguments.append(self.assignment())
                    while self.accept(","):
                        arguments.append(self.assignment())
                self.expect(")")
                base = ast.Call(base, tuple(arguments))
            elif self.at(".") or self.at("->"):
                arrow = self.take().text == "->"
                base = ast.Member(base, self._member_name(), arrow)
            elif self.at("++") or self.at("--"):
                base = ast.Postfix(self.take().text, base)
            else:
                return base

    def _member_name(self) -> str:
        token = self.take()
        if token.kind not in (TokenKind.NAME, TokenKind.QUOTED):
            raise self.error(token)
        name = token.text
        while self.at("::") and self.peek(1).kind is TokenKind.NAME:
            self.take()
            name += "::" + self.take().text
        return name

    def _subscript(self, base: ast.Expression) -> ast.Expression:
        self.expect("[")
        first = self.comma()
        if not self.accept(":"):
            self.expect("]")
            return ast.Index(base, first)
        last = self.comma()
        self.expect("]")
        if not (
            isinstance(base, ast.Dollar) and isinstance(first, ast.Integer) and isinstance(last, ast.Integer)
        ):
            raise ExpressionError("A range in brackets is for registers: $s[4:5].", self.text)
        return ast.RegisterRange(base.name[1:], first.value, last.value)

    def primary(self) -> ast.Expression:
        token = self.take()
        kind = token.kind
        value = token.value
        if kind is TokenKind.INTEGER and isinstance(value, int):
            return ast.Integer(value, token.suffix, token.radix)
        if kind is TokenKind.FLOAT and isinstance(value, float):
            return ast.Float(value, token.suffix)
        if kind is TokenKind.CHAR and isinstance(value, int):
            return ast.Char(value)
        if kind is TokenKind.STRING and isinstance(value, bytes):
            while self.peek().kind is TokenKind.STRING:
                more = self.take().value
                value += more if isinstance(more, bytes) else b""
            return ast.String(value)
        if kind is TokenKind.DOLLAR:
            return ast.Dollar(token.text)
        if kind is TokenKind.QUOTED:
            return self._quoted(str(value))
        if kind is TokenKind.NAME:
            self.position -= 1
            return self._named()
        if kind is TokenKind.OPERATOR and token.text == "(":
            inner = self.comma()
            self.expect(")")
            return inner
        if kind is TokenKind.OPERATOR and token.text == "::":
            return ast.Name(self._qualified(), True)
        raise self.error(token)

    def _quoted(self, text: str) -> ast.Expression:
        if self.accept("::"):
            return ast.ScopedName(text, self._qualified())
        return ast.Name(text)

    def _qualified(self) -> str:
        token = self.take()
        if token.kind not in (TokenKind.NAME, TokenKind.QUOTED):
            raise self.error(token)
        name = str(token.value)
        while self.at("::") and self.peek(1).kind is TokenKind.NAME:
            self.take()
            name += "::" + self.take().text
        return name

    def _named(self) -> ast.Expression:
        token = self.peek()
        word = token.text
        if word in ("true", "false"):
            self.take()
            return ast.Bool(word == "true")
        if word == "nullptr":
            self.take()
            return ast.NullPointer()
        if self.at("#", 1):
            self.take()
            self.take()
            return ast.SpaceAddress(word, self.unary())
        if self._starts_type(0):
            return self._type_or_functional_cast()
        name = self._qualified()
        if self.at("@") and self.peek(1).text == "entry":  # GDB's spelling of a parameter's value on entry
            self.take()
            return ast.Name(f"{name}@{self.take().text}")
        return ast.Name(name)

    def _type_or_functional_cast(self) -> ast.Expression:
        name = self.type_name()
        if self.accept("("):
            operand = self.comma()
            self.expect(")")
            return ast.Cast(name, operand)
        return ast.TypeExpression(name)

    # -- types

    def _starts_type(self, ahead: int) -> bool:
        token = self.peek(ahead)
        if token.kind is TokenKind.OPERATOR and token.text == "::":
            return self._starts_type(ahead + 1)
        if token.kind is TokenKind.QUOTED:
            return not self.at("::", ahead + 1) and self.is_type(str(token.value))
        if token.kind is not TokenKind.NAME:
            return False
        word = token.text
        if word in _SPECIFIERS or word in _QUALIFIERS or word in _TAGS:
            return True
        if word in ("typeof", "__typeof__", "__typeof", "decltype"):
            return True
        if self.at("#", ahead + 1):
            return False
        name = word
        step = ahead + 1
        while self.at("::", step) and self.peek(step + 1).kind is TokenKind.NAME:
            name += "::" + self.peek(step + 1).text
            step += 2
        return self.is_type(name)

    def type_name(self) -> ast.AnyTypeName:
        """A type name with its abstract declarator."""
        token = self.peek()
        if token.kind is TokenKind.NAME and token.text in ("typeof", "__typeof__", "__typeof", "decltype"):
            self.take()
            self.expect("(")
            inner = self.comma()
            self.expect(")")
            return ast.TypeOf(inner, self._declarator())
        words: list[str] = []
        tag = ""
        const = volatile = False
        self.accept("::")
        while True:
            token = self.peek()
            if token.kind is TokenKind.QUOTED and not words:
                self.take()
                words.append(str(token.value))
                continue
            if token.kind is not TokenKind.NAME:
                break
            word = token.text
            if word in _QUALIFIERS:
                const |= word == "const"
                volatile |= word == "volatile"
                self.take()
            elif word in _TAGS and not words:
                tag = word
                self.take()
                words.append(self._qualified())
            elif word in _SPECIFIERS and all(w in _SPECIFIERS for w in words):
                words.append(word)
                self.take()
            elif not words:
                words.append(self._qualified())
            else:
                break
        if not words:
            raise self.error()
        return ast.TypeName(" ".join(words), tag, self._declarator(), const, volatile)

    def _declarator(self) -> ast.Derivations:
        """``*``, ``&``, ``(*)[4]``, ``[3]``, ``(*)(int)``: derivations in the order they apply."""
        prefix: list[ast.Derivation] = []
        while True:
            token = self.peek()
            if self.at("*") or self.at("&") or self.at("&&"):
                prefix.append(self.take().text)
            elif token.kind is TokenKind.NAME and token.text in _QUALIFIERS:
                self.take()
            else:
                break
        inner: ast.Derivations = ()
        if self.at("(") and (self.at("*", 1) or self.at("&", 1)):
            self.take()
            inner = self._declarator()
            self.expect(")")
        suffixes: list[ast.Derivation] = []
        while True:
            if self.at("["):
                self.take()
                if self.accept("]"):
                    suffixes.append(-1)
                    continue
                size = self.take()
                if size.kind is not TokenKind.INTEGER or not isinstance(size.value, int):
                    raise self.error(size)
                suffixes.append(size.value)
                self.expect("]")
            elif self.at("(") and (inner or self._is_parameter_list()):
                suffixes.append(self._parameters())
            else:
                break
        return (*prefix, *reversed(suffixes), *inner)

    def _is_parameter_list(self) -> bool:
        """Whether the brackets here hold parameters of a function type: what follows them ends the type."""
        if not (self.at(")", 1) or self._starts_type(1)):
            return False
        depth = 0
        ahead = 0
        while True:
            token = self.peek(ahead)
            if token.kind is TokenKind.END:
                return False
            if self.at("(", ahead):
                depth += 1
            elif self.at(")", ahead):
                depth -= 1
                if depth == 0:
                    break
            ahead += 1
        follower = self.peek(ahead + 1)
        return follower.kind is TokenKind.END or follower.text in (")", "}", ">", ",")

    def _parameters(self) -> tuple[ast.AnyTypeName, ...]:
        """The parameter types of a function type, names left out."""
        self.expect("(")
        types: list[ast.AnyTypeName] = []
        while not self.accept(")"):
            if types:
                self.expect(",")
            types.append(self.type_name())
        return tuple(types)
