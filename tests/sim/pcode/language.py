"""The pseudocode's language: text to a tree of closures.

``compile_text(text)`` returns a function of a `Scope`. Every expression node can be evaluated; those that name storage
can also be resolved to a place (storage, first bit, width, type) and assigned to.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tests.sim.pcode import values as v
from tests.sim.pcode.operations import (
    apply,
    assign,
    cast,
    concatenated,
    flag,
    literal_value,
    operate,
    reinterpret,
    sliced,
    truth,
    type_of,
)
from tests.sim.pcode.scope import Element, PcodeError, Place, Scope, Variable
from tests.sim.pcode.values import Value

_SYMBOLS = frozenset(("INF", "NAN", "DENORM", "PI", "MODE", "ROUND_NEAREST_EVEN", "ROUND_TOWARD_ZERO", "BYTE0", "BYTE1",
                      "BYTE2", "BYTE3", "WORD0", "WORD1"))
_TOKEN = re.compile(
    r"(?P<num>(?:\d+'-?)?(?:0x[0-9a-fA-F]+|\d+\.\d+|\d+)(?:ULL|LL|U|F)?(?![\w(']))"
    r"|(?P<cast>\d+'(?:BF|[UIFB]))"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<op>\*\*|<<|>>|<=|>=|==|!=|&&|\|\||\+:|\+=|-=|<>|[-+*/%&|^~!<>=?:;,.(){}\[\]])"
)
_KEYWORDS = frozenset(("if", "then", "elsif", "else", "endif", "for", "do", "endfor", "declare", "return", "break",
                       "lambda", "while", "endwhile"))


class Node:
    """An expression: ``get`` evaluates it; ``place`` resolves an expression that names storage."""

    __slots__ = ("get", "place")

    def __init__(self, get: Callable[[Scope], Any], place: Callable[[Scope], Place] | None = None) -> None:
        self.get, self.place = get, place


class Break(Exception):
    pass


class Return(Exception):
    def __init__(self, value: Value) -> None:
        self.value = value


class Parser:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str) -> None:
        text = re.sub(r"//[^\n]*", " ", text)
        self.tokens: list[str] = []
        position = 0
        while position < len(text):
            if text[position].isspace():
                position += 1
                continue
            match = _TOKEN.match(text, position)
            if match is None:
                raise PcodeError(f"cannot read {text[position : position + 30]!r}")
            self.tokens.append(match.group())
            position = match.end()
        self.at = 0

    def peek(self, ahead: int = 0) -> str:
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ""

    def next(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def expect(self, token: str) -> None:
        if self.next() != token:
            raise PcodeError(
                f"{token!r} expected before {' '.join(self.tokens[self.at - 1 : self.at + 8])!r}"
            )

    # -- statements --------------------

    def block(self, *ends: str) -> Callable[[Scope], None]:
        steps: list[Callable[[Scope], None]] = []
        while self.peek() not in ends and self.at < len(self.tokens):
            if self.peek() == ";":
                self.next()
                continue
            steps.append(self.statement())

        def run(scope: Scope) -> None:
            for step in steps:
                step(scope)

        return run

    def statement(self) -> Callable[[Scope], None]:
        token = self.peek()
        if token == "if":
            return self.conditional()
        if token == "for":
            return self.loop()
        if token == "declare":
            return self.declaration()
        if token == "break":
            self.next()
            return _raise_break
        if token == "return":
            self.next()
            result = self.expression()
            return lambda scope: _raise_return(result.get(scope))
        return self.assignment()

    def conditional(self) -> Callable[[Scope], None]:
        self.next()
        arms: list[tuple[Node | None, Callable[[Scope], None]]] = []
        condition: Node | None = self.expression()
        self.expect("then")
        while True:
            arms.append((condition, self.block("elsif", "else", "endif")))
            token = self.next()
            if token == "elsif":
                condition = self.expression()
                self.expect("then")
            elif token == "else":
                condition = None
            else:
                break

        def run(scope: Scope) -> None:
            for test, body in arms:
                if test is None or truth(test.get(scope)):
                    body(scope)
                    return

        return run

    def loop(self) -> Callable[[Scope], None]:
        self.next()
        name = self.next()
        self.expect("in")
        first = self.binary(0)
        self.expect(":")
        last = self.expression()
        self.expect("do")
        body = self.block("endfor")
        self.expect("endfor")

        def run(scope: Scope) -> None:
            low, high = first.get(scope), last.get(scope)
            for n in range(int(low.raw), v.signed(high) + 1):
                scope.names[name] = Value(low.kind, low.bits, n)
                try:
                    body(scope)
                except Break:
                    break

        return run

    def declaration(self) -> Callable[[Scope], None]:
        self.next()
        name = self.next()
        self.expect(":")
        bits, letter = self.next().split("'")
        kind, width = letter.lower(), int(bits)
        count: int | None = None
        if self.peek() == "[":
            self.next()
            count = int(self.next())
            self.expect("]")

        def run(scope: Scope) -> None:
            if name in scope.names.get("__given__", ()):
                return  # a name of the machine's
            scope.names[name] = (
                Value(kind, width, 0) if count is None else [Value(kind, width, 0) for _ in range(count)]
            )

        return run

    def assignment(self) -> Callable[[Scope], None]:
        if self.peek() == "{":
            return self.spread()
        target = self.expression()
        operator = self.peek()
        if operator not in ("=", "+=", "-="):
            return lambda scope: target.get(scope)
        self.next()
        if self.peek() == "lambda":
            name = self.tokens[self.at - 2]
            made = self.function()
            return lambda scope: scope.names.__setitem__(name, made(scope))
        source = self.expression()
        place = target.place
        if place is None:
            raise PcodeError("assignment to no place")
        if operator == "=" and self.peek() == "=":  # a = b = value
            self.next()
            second, source = source.place, self.expression()

            def both(scope: Scope) -> None:
                value = source.get(scope)
                assert second is not None
                assign(scope, second(scope), value)
                assign(scope, place(scope), value)

            return both
        if operator == "=":
            return lambda scope: assign(scope, place(scope), source.get(scope))
        symbol = operator[0]
        return lambda scope: assign(
            scope, place(scope), operate(scope, symbol, target.get(scope), source.get(scope))
        )

    def spread(self) -> Callable[[Scope], None]:
        """{ D1.u1, D0.u64 } = value"""
        parts = self.listed("{", "}")
        self.expect("=")
        source = self.expression()

        def run(scope: Scope) -> None:
            raw = int(source.get(scope).raw)
            for part in reversed(parts):
                assert part.place is not None
                found = part.place(scope)
                width = found[2] or (found[3][1] if found[3] else found[0].load().bits)
                assign(scope, found, Value("b", width, raw & (1 << width) - 1))
                raw >>= width

        return run

    def function(self) -> Callable[[Scope], Callable[..., Value]]:
        self.expect("lambda")
        self.expect("(")
        names: list[str] = []
        while self.peek() != ")":
            names.append(self.next())
            if self.peek() == ",":
                self.next()
        self.next()
        self.expect("(")
        if self.peek() in ("if", "declare", "for"):
            body = self.block(")")
            self.expect(")")
            result = None
        else:
            result = self.expression()
            self.expect(")")

        def make(scope: Scope) -> Callable[..., Value]:
            def call(*arguments: Value) -> Value:
                inner = Scope({**scope.names, **dict(zip(names, arguments, strict=True))})
                inner.round32, inner.round16_64 = scope.round32, scope.round16_64
                if result is not None:
                    return result.get(inner)  # type: ignore[no-any-return]
                try:
                    body(inner)
                except Return as done:
                    return done.value
                raise PcodeError("a function without a value")

            return call

        return make

    # -- expressions --------------------

    def expression(self) -> Node:
        condition = self.binary(0)
        return self.chosen(condition) if self.peek() == "?" else condition

    def chosen(self, condition: Node) -> Node:
        """The rest of ``condition ? yes : no``."""
        self.expect("?")
        yes = self.expression()
        self.expect(":")
        no = self.expression()
        return Node(lambda scope: (yes if truth(condition.get(scope)) else no).get(scope))

    _LEVELS = (("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!=", "<>"), ("<", ">", "<=", ">="), ("<<", ">>"),
               ("+", "-"), ("*", "/", "%"), ("**",))

    def binary(self, level: int) -> Node:
        if level == len(self._LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.peek() in self._LEVELS[level]:
            operator = self.next()
            left = self._pair(operator, left, self.binary(level + 1))
        return left

    @staticmethod
    def _pair(operator: str, left: Node, right: Node) -> Node:
        if operator == "&&":
            return Node(lambda scope: flag(truth(left.get(scope)) and truth(right.get(scope))))
        if operator == "||":
            return Node(lambda scope: flag(truth(left.get(scope)) or truth(right.get(scope))))
        return Node(lambda scope: operate(scope, operator, left.get(scope), right.get(scope)))

    def unary(self) -> Node:
        token = self.peek()
        if token in ("-", "+", "~", "!"):
            self.next()
            inner = self.unary()
            return Node(lambda scope: apply(token, inner.get(scope)))
        return self.postfix(self.primary())

    def primary(self) -> Node:
        token = self.next()
        if token == "(":
            inner = self.expression()
            self.expect(")")
            return inner
        if token == "{":
            self.at -= 1
            parts = self.listed("{", "}")
            return Node(lambda scope: concatenated([p.get(scope) for p in parts]))
        if re.fullmatch(r"\d+'(?:BF|[UIFB])", token):
            bits, letter = token.split("'")
            self.expect("(")
            literal = self.peek() if self.peek(1) == ")" else ""
            inner = self.expression()
            self.expect(")")
            kind, width = letter.lower(), int(bits)
            if kind == "f" and literal.startswith("0x"):
                return Node(lambda scope: Value("f", width, inner.get(scope).raw))
            return Node(lambda scope: cast(scope, inner.get(scope), kind, width))
        if token[:1].isdigit():
            value = literal_value(token)
            return Node(lambda _: value)
        if re.fullmatch(r"[A-Za-z_]\w*", token) and token not in _KEYWORDS:
            return self.name(token)
        raise PcodeError(f"expression expected before {' '.join(self.tokens[self.at - 1 : self.at + 8])!r}")

    def listed(self, start: str, end: str) -> list[Node]:
        self.expect(start)
        parts: list[Node] = []
        while self.peek() != end:
            parts.append(self.expression())
            if self.peek() == ",":
                self.next()
        self.next()
        return parts

    def name(self, token: str) -> Node:
        if self.peek() == "(":
            arguments = self.listed("(", ")")

            def call(scope: Scope) -> Value:
                function = scope.names.get(token)
                if function is None:
                    raise PcodeError(f"unknown function {token}")
                given = [a.get(scope) for a in arguments]
                if getattr(function, "wants_scope", False):
                    return function(scope, *given)  # type: ignore[no-any-return]
                return function(*given)  # type: ignore[no-any-return]

            return Node(call)

        def get(scope: Scope) -> Any:
            found = scope.names.get(token)
            if found is None:
                if token in _SYMBOLS:
                    return Value("sym", 0, token)
                if token == "ROUND_MODE":
                    return Value("sym", 0, "MODE")
                raise PcodeError(f"unknown name {token}")
            return found if isinstance(found, (Value, list)) or not hasattr(found, "load") else found.load()

        def place(scope: Scope) -> Place:
            found = scope.names.get(token)
            if found is not None and not isinstance(found, Value):
                return found, 0, None, None
            return Variable(scope.names, token), 0, None, None

        return Node(get, place)

    def postfix(self, node: Node) -> Node:
        while self.peek() in (".", "["):
            if self.next() == ".":
                word = self.next()
                kind = type_of(word)
                node = self._typed(node, kind) if kind else self._attribute(node, word)
            else:
                node = self._indexed(node)
        return node

    @staticmethod
    def _attribute(node: Node, word: str) -> Node:
        def get(scope: Scope) -> Any:
            return node.get(scope).attribute(word)

        def place(scope: Scope) -> Place:
            return node.get(scope).place(word), 0, None, None

        return Node(get, place)

    @staticmethod
    def _typed(node: Node, kind: tuple[str, int]) -> Node:
        inner = node.place

        def place(scope: Scope) -> Place:
            assert inner is not None
            storage, low, width, _ = inner(scope)
            if hasattr(storage, "sized"):
                storage = storage.sized(kind[1])
            return storage, low, width, kind

        def get(scope: Scope) -> Value:
            if inner is None:
                return reinterpret(node.get(scope), *kind)
            storage, low, width, _ = place(scope)
            if isinstance(storage, Variable) and storage.name not in storage.names:
                return reinterpret(node.get(scope), *kind)  # a symbol
            found = storage.load() if not isinstance(storage, list) else storage
            if low or width is not None:
                found = sliced(found, low, width or found.bits)
            return reinterpret(found, *kind)

        return Node(get, place if inner is not None else None)

    def _indexed(self, node: Node) -> Node:
        first = self.binary(0)
        if self.peek() == "?":
            first = self.chosen(first)
        if self.peek() in (":", "+:"):
            upward = self.next() == "+:"
            second = self.binary(0)
            self.expect("]")
            return self._range(node, first, second, upward)
        self.expect("]")
        inner = node.place

        def place(scope: Scope) -> Place:
            index = v.signed(first.get(scope))
            if inner is None:
                raise PcodeError("assignment to an element of an expression")
            storage, low, _, _ = inner(scope)
            if hasattr(storage, "element"):
                return storage.element(index), 0, None, None
            if isinstance(storage, list):
                return Element(storage, index), 0, None, None
            loaded = (
                storage.load()
                if not (isinstance(storage, Variable) and storage.name not in storage.names)
                else None
            )
            if isinstance(loaded, list):
                return Element(loaded, index), 0, None, None
            return storage, low + index, 1, None

        def get(scope: Scope) -> Any:
            if inner is not None:
                storage, low, width, _ = place(scope)
                found = storage.load()
                return found if width is None else sliced(found, low, width)
            found = node.get(scope)
            index = v.signed(first.get(scope))
            return found[index] if isinstance(found, list) else sliced(found, index, 1)

        return Node(get, place if inner is not None else None)

    @staticmethod
    def _range(node: Node, first: Node, second: Node, upward: bool) -> Node:
        inner = node.place

        def bounds(scope: Scope) -> tuple[int, int, bool]:
            a, b = v.signed(first.get(scope)), v.signed(second.get(scope))
            if upward:
                return a, b, False
            return min(a, b), abs(a - b) + 1, b > a

        def place(scope: Scope) -> Place:
            low, width, _ = bounds(scope)
            assert inner is not None
            storage, base, _, _ = inner(scope)
            return storage, base + low, width, None

        def get(scope: Scope) -> Value:
            low, width, reverse = bounds(scope)
            found = sliced(node.get(scope), low, width)
            if reverse:
                found = Value("b", width, int(f"{found.raw:0{width}b}"[::-1], 2))
            return found

        return Node(get, place if inner is not None else None)


def _raise_break(_: Scope) -> None:
    raise Break


def _raise_return(value: Value) -> None:
    raise Return(value)


_cache: dict[str, Callable[[Scope], None]] = {}


def compile_text(text: str) -> Callable[[Scope], None]:
    """The text as a function of a scope. Raises `PcodeError` if it cannot be read."""
    if text not in _cache:
        _cache[text] = Parser(text).block()
    return _cache[text]


__all__ = ["PcodeError", "Scope", "compile_text"]
