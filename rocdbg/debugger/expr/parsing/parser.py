"""From text to a syntax tree: the grammar of expressions. A callback decides which names are types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rocdbg.debugger.base.errors import ExpressionError, GrammarError
from rocdbg.debugger.expr.parsing import syntax
from rocdbg.debugger.expr.parsing.brackets import outside
from rocdbg.debugger.expr.parsing.lexer import TokenKind, TokenStream, tokenize
from rocdbg.debugger.expr.parsing.type_grammar import TYPE_OF, TypeGrammar
from rocdbg.isa.operands import FILES, MAX_NESTED_LISTS, is_register_name

_OF_METHODS = frozenset({"const", "volatile"})
"""Qualifiers that may follow the parameters of a method; they apply to the object on which it is called."""

MAX_DEPTH = 200
"""The deepest nesting of an expression; deeper ones are refused, as they could exhaust the stack."""

# Precedence of binary operators, as in GDB: "@" is between shifts and sums.
_BINARY = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
    "<<": 8, ">>": 8, "@": 9, "+": 10, "-": 10, "*": 11, "/": 11, "%": 11,
    ".*": 12, "->*": 12,
}
_ASSIGN = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
_UNARY = {"-", "+", "!", "~", "*", "&", "++", "--"}
_SUFFIXES = {"[", "(", ".", "->", "++", "--"}
_CASTS = {"static_cast", "reinterpret_cast", "const_cast", "dynamic_cast"}


def parse(
    text: str,
    is_type: Callable[[str], bool] | None = None,
    is_known: Callable[[str], bool] | None = None,
    input_radix: int = 10,
    is_cxx: bool = True,
    names: list[syntax.Name | syntax.TypeName] | None = None,
) -> syntax.Expression:
    """Parse ``text`` into a tree.

    ``is_type`` decides whether a name that is not a C keyword names a type in scope; ``is_known``, whether a name with
    template arguments exists. ``is_cxx``: C++ has keywords that C lacks. ``names`` receives the names in order, so that
    after an error it holds those before the error. Raises `ExpressionError` with the offset.
    """
    tokens = TokenStream(text, tokenize(text, is_known, input_radix, is_cxx))
    expression = _Parser(tokens, is_type or (lambda _name: False), is_cxx, [] if names is None else names).whole()
    if tokens.at(")") or tokens.at("]"):
        raise ExpressionError("Junk after end of expression.", text, tokens.peek().offset)
    if tokens.peek().kind is not TokenKind.END:
        raise tokens.error()
    return expression


def split_arguments(text: str) -> list[str]:
    """Split at commas outside of brackets and quotes (``printf "...", a, f(b, c)``)."""
    parts: list[str] = []
    start = 0
    for index in outside(text):
        if text[index] == ",":
            parts.append(text[start:index].strip())
            start = index + 1
    last = text[start:].strip()
    if last or parts:
        parts.append(last)
    return parts


def followers(text: str) -> list[str]:
    """For each argument that `split_arguments` returns, return the rest of the text after it, from the comma on."""
    return [*(text[index:] for index in outside(text) if text[index] == ","), ""]


@contextmanager
def followed_by(rest: str) -> Iterator[None]:
    """In the block of this context manager, a syntax error in one expression of a list also quotes the rest of the
    list.
    """
    try:
        yield
    except GrammarError as error:
        raise GrammarError(error.near + rest, error.text, error.offset) from None


class _Parser:
    def __init__(
        self,
        tokens: TokenStream,
        is_type: Callable[[str], bool],
        is_cxx: bool,
        names: list[syntax.Name | syntax.TypeName],
    ) -> None:
        self.tokens = tokens
        self.is_cxx = is_cxx
        self.names = names
        self.types = TypeGrammar(tokens, is_type, self.comma, is_cxx, names)
        self.depth = 0

    def whole(self) -> syntax.Expression:
        """Parse the whole text: a type, or an expression."""
        if not self.types.starts_at(0):
            return self.comma()
        type_ = syntax.TypeExpression(self.types.type_name())
        if self.tokens.accept("@") or (self.is_cxx and self.tokens.accept("::")):
            raise self.tokens.error()  # where GDB reports it: at the token before a space's name, or after a scope
        if self.tokens.peek().kind is not TokenKind.END:
            raise self.tokens.error()
        return type_

    # -- expressions, lowest precedence first

    def comma(self) -> syntax.Expression:
        left = self.assignment()
        while self.tokens.accept(","):
            left = syntax.Binary(",", left, self.assignment())
        return left

    def assignment(self) -> syntax.Expression:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ExpressionError("The expression is nested too deeply.", self.tokens.text, self.tokens.peek().offset)
        left = self.conditional()
        token = self.tokens.peek()
        if token.kind is TokenKind.OPERATOR and token.text in _ASSIGN:
            self.tokens.take()
            left = syntax.Assign(token.text[:-1], left, self.assignment())
        self.depth -= 1
        return left

    def conditional(self) -> syntax.Expression:
        condition = self.binary(1)
        if not self.tokens.accept("?"):
            return condition
        then = self.comma()
        self.tokens.expect(":")
        return syntax.Conditional(condition, then, self.assignment())

    def binary(self, minimum: int) -> syntax.Expression:
        left = self.unary()
        while True:
            token = self.tokens.peek()
            strength = _BINARY.get(token.text, 0) if token.kind is TokenKind.OPERATOR else 0
            if strength < minimum or strength == 0:
                return left
            self.tokens.take()
            left = syntax.Binary(token.text, left, self.binary(strength + 1))

    def unary(self) -> syntax.Expression:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ExpressionError("The expression is nested too deeply.", self.tokens.text, self.tokens.peek().offset)
        try:
            token = self.tokens.peek()
            if token.kind is TokenKind.OPERATOR and token.text in _UNARY:
                self.tokens.take()
                return syntax.Unary(token.text, self.unary())
            if token.kind is TokenKind.NAME:
                if token.text == "sizeof":
                    self.tokens.take()
                    return syntax.Sizeof(self._sizeof_operand())
                if token.text == "_Alignof" or (self.is_cxx and token.text == "alignof"):
                    self.tokens.take()
                    return syntax.Sizeof(self._bracketed_type(), True)
                if token.text in TYPE_OF:
                    self.types.refuse()
                if token.text in _CASTS and self.tokens.at("<", 1):
                    return self._named_cast()
            if token.kind is TokenKind.OPERATOR:
                if token.text == "(" and self.types.starts_at(1):
                    return self._cast()
                if token.text == "{":
                    return self._braces()
            return self.postfix()
        finally:
            self.depth -= 1

    def _sizeof_operand(self) -> syntax.Expression:
        if self.tokens.at("(") and self.types.starts_at(1):
            self.tokens.take()
            name = self.types.type_name()
            self.tokens.expect(")")
            return syntax.TypeExpression(name)
        return self.unary()

    def _bracketed_type(self) -> syntax.Expression:
        self.tokens.expect("(")
        if not self.types.starts_at(0):
            raise self.tokens.error()
        name = self.types.type_name()
        self.tokens.expect(")")
        return syntax.TypeExpression(name)

    def _cast(self) -> syntax.Expression:
        self.tokens.expect("(")
        name = self.types.type_name()
        self.tokens.expect(")")
        if self._ends_operand():
            raise self.tokens.error()  # as GDB, whose grammar has no type in brackets by itself
        return syntax.Cast(name, self.unary())

    def _ends_operand(self) -> bool:
        """Whether no operand follows, so that ``(type)`` is not a cast."""
        token = self.tokens.peek()
        if token.kind is TokenKind.END:
            return True
        return token.kind is TokenKind.OPERATOR and token.text not in _UNARY | {"(", "{", "::"}

    def _named_cast(self) -> syntax.Expression:
        kind = self.tokens.take().text
        self.tokens.expect("<")
        name = self.types.type_name()
        self.tokens.expect(">")
        self.tokens.expect("(")
        operand = self.comma()
        self.tokens.expect(")")
        return self._suffixes(syntax.Cast(name, operand, kind.removesuffix("_cast")))

    def _braces(self) -> syntax.Expression:
        self.tokens.expect("{")
        if self.types.starts_at(0):
            name = self.types.type_name()
            self.tokens.expect("}")
            return syntax.TypedMemory(name, self.unary())
        elements = [] if self.tokens.at("}") else [self.assignment()]
        while self.tokens.accept(","):
            elements.append(self.assignment())
        self.tokens.expect("}")
        return self._suffixes(syntax.ArrayLiteral(tuple(elements)))

    def postfix(self) -> syntax.Expression:
        start = self.tokens.position
        return self._suffixes(self.primary(), start)

    def _suffixes(self, base: syntax.Expression, start: int | None = None) -> syntax.Expression:
        """Parse what follows a primary expression; ``start`` is the token at which that expression began."""
        while True:
            if not self.tokens.at_one_of(_SUFFIXES):
                return base
            if self.tokens.at("["):
                base = self._subscript(base)
            elif self.tokens.accept("("):
                arguments: list[syntax.Expression] = []
                if not self.tokens.at(")"):
                    argument = self._parameter if self.types.starts_at(0) else self.assignment
                    arguments.append(argument())
                    while self.tokens.accept(","):
                        arguments.append(argument())
                self.tokens.expect(")")
                base = self._of_signature(base, arguments, start) or syntax.Call(base, tuple(arguments))
            elif self.tokens.at(".") or self.tokens.at("->"):
                arrow = self.tokens.take().text == "->"
                base = self._half_or_member(base, self._member_name(), arrow)
            else:
                base = syntax.Postfix(self.tokens.take().text, base)

    @staticmethod
    def _half_or_member(base: syntax.Expression, name: str, arrow: bool) -> syntax.Expression:
        is_register = isinstance(base, syntax.RegisterRange | syntax.RegisterList) or (
            isinstance(base, syntax.Dollar) and is_register_name(base.name[1:])
        )
        if name in ("l", "h") and not arrow and is_register:
            assert isinstance(base, syntax.RegisterRange | syntax.RegisterList | syntax.Dollar)
            return syntax.RegisterHalf(base, name)
        return syntax.Member(base, name, arrow)

    def _member_name(self) -> str:
        token = self.tokens.take()
        if token.kind not in (TokenKind.NAME, TokenKind.QUOTED):
            raise self.tokens.error(token)
        name = token.text
        while self.tokens.at("::") and self.tokens.peek(1).kind is TokenKind.NAME:
            self.tokens.take()
            name += "::" + self.tokens.take().text
        scope = name.rpartition("::")[0]
        if scope and not self.types.is_type(scope):
            raise self.tokens.error()  # GDB, too, reads up to here before it reports the error
        return name

    def _subscript(self, base: syntax.Expression) -> syntax.Expression:
        self.tokens.expect("[")
        first = self.comma()
        last = self.comma() if self.tokens.accept(":") else None
        self.tokens.expect("]")
        if isinstance(base, syntax.Dollar) and (last is not None or base.name[1:] in FILES):
            return syntax.RegisterRange(base.name[1:], first, last)
        if last is not None:
            raise ExpressionError(
                "A range in brackets can be used only with registers, as in $s[4:5].", self.tokens.text
            )
        return syntax.Index(base, first)

    def _register_list(self) -> syntax.RegisterList | None:
        """Parse brackets after ``$`` if they contain only names of registers; otherwise return None."""
        start = self.tokens.position
        elements = self._elements(0)
        if elements is None:
            self.tokens.position = start
            return None
        end, self.tokens.position = self.tokens.position, start
        try:
            otherwise: syntax.Expression | None = self._subscript(syntax.Dollar("$"))
        except ExpressionError:
            otherwise = None
        self.tokens.position = end
        return syntax.RegisterList(elements, f"${self.tokens.since(start)}", otherwise)

    def _elements(self, depth: int) -> tuple[syntax.Registers, ...] | None:
        """Parse ``[v1, v[2], [v3]]``; ``None`` if the brackets contain something else."""
        elements: list[syntax.Registers] = []
        while self.tokens.accept("," if elements else "["):
            token = self.tokens.peek()
            if self.tokens.at("[") and depth < MAX_NESTED_LISTS:
                start = self.tokens.position
                inner = self._elements(depth + 1)
                if inner is None:
                    return None
                elements.append(syntax.RegisterList(inner, self.tokens.since(start), None))
            elif token.kind is TokenKind.NAME and token.text in FILES and self.tokens.at("[", 1):
                self.tokens.take()
                element = self._subscript(syntax.Dollar(f"${token.text}"))
                assert isinstance(element, syntax.RegisterRange)
                elements.append(element)
            elif token.kind is TokenKind.NAME and is_register_name(token.text):
                elements.append(syntax.Dollar(f"${self.tokens.take().text}"))
            else:
                return None
        return tuple(elements) if self.tokens.accept("]") else None

    def primary(self) -> syntax.Expression:
        token = self.tokens.take()
        kind = token.kind
        value = token.value
        if kind is TokenKind.INTEGER and isinstance(value, int):
            return syntax.Integer(value, token.suffix, token.radix)
        if kind is TokenKind.FLOAT and isinstance(value, float):
            return syntax.Float(value, token.suffix)
        if kind is TokenKind.CHAR and isinstance(value, int):
            return syntax.Char(value, token.suffix)
        if kind is TokenKind.STRING and isinstance(value, bytes):
            return self._string(value, token.suffix)
        if kind is TokenKind.DOLLAR:
            return (self._register_list() if token.text == "$" else None) or syntax.Dollar(token.text)
        if kind is TokenKind.QUOTED:
            return self._quoted(str(value))
        if kind is TokenKind.NAME:
            self.tokens.position -= 1
            return self._named()
        if kind is TokenKind.OPERATOR and token.text == "(":
            inner = self.comma()
            self.tokens.expect(")")
            return inner
        if kind is TokenKind.OPERATOR and token.text == "::":
            name = syntax.Name(self.tokens.qualified_name(), True)
            self.names.append(name)
            return name
        if kind is TokenKind.OPERATOR and token.text == "@":  # GDB's prefix for the name of an address space
            if self.tokens.peek().kind is TokenKind.NAME:
                raise ExpressionError(f'Unknown address space specifier: "{self.tokens.peek().text}"')
            raise self.tokens.error()
        raise self.tokens.error(token)

    def _string(self, value: bytes, prefix: str) -> syntax.String:
        """Parse a string literal, and join the string literals that follow it."""
        while self.tokens.peek().kind is TokenKind.STRING:
            token = self.tokens.take()
            if token.suffix != prefix and token.suffix and prefix:
                raise ExpressionError("Undefined string concatenation.", self.tokens.text, token.offset)
            prefix = prefix or token.suffix
            value += token.value if isinstance(token.value, bytes) else b""
        return syntax.String(value, prefix)

    def _quoted(self, text: str) -> syntax.Expression:
        if not self.tokens.accept("::"):
            return syntax.Name(text)
        start = self.tokens.position
        name = self.tokens.qualified_name()
        if self.is_cxx and self.tokens.at("(") and self.types.starts_at(1):  # 'file.c'::f(int)::x
            self.tokens.take()
            parameters = [self._parameter()]
            while self.tokens.accept(","):
                parameters.append(self._parameter())
            self.tokens.expect(")")
            found = self._of_signature(syntax.Name(name), parameters, start)
            if isinstance(found, syntax.ScopedName):
                return syntax.ScopedName(text, f"{found.scope}::{found.name}")
            name = self.tokens.since(start)
        return syntax.ScopedName(text, name)

    def _named(self) -> syntax.Expression:
        token = self.tokens.peek()
        word = token.text
        if self.is_cxx and word in ("true", "false"):
            self.tokens.take()
            return syntax.Bool(word == "true")
        if self.is_cxx and word in ("new", "delete"):
            raise self.tokens.error()  # a keyword to GDB, too, but neither debugger can allocate
        if self.tokens.at("#", 1):
            self.tokens.take()
            self.tokens.take()
            return syntax.SpaceAddress(word, self.unary())
        if self.types.starts_at(0):
            self.types.refuse()
        name = self.tokens.qualified_name()
        if self.tokens.accept("::"):
            raise self.tokens.error()
        if self.tokens.at("@") and self.tokens.peek(1).text == "entry":
            # GDB's notation for a parameter's value on entry
            self.tokens.take()
            return syntax.Name(f"{name}@{self.tokens.take().text}")
        if "::" in name or not (self.is_cxx and self.tokens.at("(")):  # a function's lookup needs its arguments
            self.names.append(syntax.Name(name))
        return syntax.Name(name)

    def _of_signature(
        self, function: syntax.Expression, parameters: Sequence[syntax.Expression], start: int | None
    ) -> syntax.Expression | None:
        """Parse what may follow the parameter types in ``f(int) const`` and ``f(int)::x``: qualifiers of the function,
        and the name of a variable in it.
        """
        if start is None or not isinstance(function, syntax.Name) or function.global_ or not all(
            isinstance(each, syntax.TypeExpression) for each in parameters
        ):
            return None
        qualified = False
        while self.is_cxx and self.tokens.peek().kind is TokenKind.NAME and self.tokens.peek().text in _OF_METHODS:
            self.tokens.take()
            qualified = True
        text = self.tokens.since(start)
        if (parameters or qualified) and self.tokens.accept("::"):
            return syntax.ScopedName(text, self.tokens.qualified_name())
        return syntax.Name(text) if qualified else None

    def _parameter(self) -> syntax.Expression:
        """Parse one of the types in ``f(int, float)``, which denotes the function with such parameters."""
        if not self.types.starts_at(0):
            raise self.tokens.error()
        return syntax.TypeExpression(self.types.type_name())
