"""The pseudocode's language: text to a tree of closures.

``compile_text(text)`` gives a function of a `Scope`. Every expression node can be evaluated; those that name storage can also
be resolved to a place (storage, first bit, width, type) and assigned to.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Protocol

from tests.sim.pcode import values as v
from tests.sim.pcode.values import Value


class PcodeError(Exception):
    """Text that the interpreter does not understand."""


class Storage(Protocol):
    """Something that holds bits."""

    def load(self) -> Value: ...
    def store(self, low: int, width: int | None, value: Value) -> None: ...


class Scope:
    """Names while a text runs. ``names``: values, storage, lists and functions."""

    def __init__(self, names: dict[str, Any], rounding: tuple[int, int] = (0, 0)) -> None:
        self.names = names
        self.round32, self.round16_64 = rounding

    def rounding(self, bits: int) -> int:
        chosen = self.names.get("ROUND_MODE")
        if isinstance(chosen, Value) and chosen.raw in _ROUNDING:
            return _ROUNDING[str(chosen.raw)]
        return self.round32 if bits == 32 else self.round16_64


_ROUNDING = {"ROUND_NEAREST_EVEN": 0, "ROUND_TOWARD_ZERO": 3}
_SYMBOLS = frozenset(("INF", "NAN", "DENORM", "PI", "MODE", "ROUND_NEAREST_EVEN", "ROUND_TOWARD_ZERO", "BYTE0", "BYTE1",
                      "BYTE2", "BYTE3", "WORD0", "WORD1"))  # fmt: skip
_TYPE = re.compile(r"(bf|fp|u|i|f|b)(\d+)$")
_FLOAT8 = {"fp8": ("fp8", 8), "bf8": ("bf8", 8), "fp6": ("fp6", 6), "bf6": ("bf6", 6), "fp4": ("fp4", 4)}
_TOKEN = re.compile(
    r"(?P<num>(?:\d+'-?)?(?:0x[0-9a-fA-F]+|\d+\.\d+|\d+)(?:ULL|LL|U|F)?(?![\w(']))"
    r"|(?P<cast>\d+'(?:BF|[UIFB]))"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<op>\*\*|<<|>>|<=|>=|==|!=|&&|\|\||\+:|\+=|-=|<>|[-+*/%&|^~!<>=?:;,.(){}\[\]])"
)
_KEYWORDS = frozenset(("if", "then", "elsif", "else", "endif", "for", "do", "endfor", "declare", "return", "break",
                       "lambda", "while", "endwhile"))  # fmt: skip


class Variable:
    """A local variable; its type is that of what was last assigned to all of it."""

    __slots__ = ("name", "names")

    def __init__(self, names: dict[str, Any], name: str) -> None:
        self.names, self.name = names, name

    def load(self) -> Value:
        return self.names[self.name]  # type: ignore[no-any-return]

    def store(self, low: int, width: int | None, value: Value) -> None:
        old = self.names.get(self.name)
        if width is None or not isinstance(old, Value):
            if low:
                value = Value("b", low + value.bits, int(value.raw) << low)  # type: ignore[call-overload]
            self.names[self.name] = value
            return
        self.names[self.name] = inserted(old, low, width, value)


class Element:
    """An element of an array."""

    __slots__ = ("index", "items")

    def __init__(self, items: list[Value], index: int) -> None:
        self.items, self.index = items, index

    def load(self) -> Value:
        return self.items[self.index]

    def store(self, low: int, width: int | None, value: Value) -> None:
        old = self.items[self.index]
        self.items[self.index] = value if width is None else inserted(old, low, width, value)


def inserted(old: Value, low: int, width: int, value: Value) -> Value:
    """``old`` with ``width`` bits replaced."""
    mask = (1 << width) - 1 << low
    raw: int = old.raw & ~mask | int(value.raw) << low & mask  # type: ignore[operator,call-overload]
    return Value(old.kind if old.kind in "ui" else "b", max(old.bits, low + width), raw)


Place = tuple[Any, int, int | None, tuple[str, int] | None]
"""(storage, first bit, width or None for all, type or None)."""


class Node:
    """An expression: ``get`` evaluates; ``place`` resolves what names storage."""

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
            raise PcodeError(f"{token!r} expected before {' '.join(self.tokens[self.at - 1 : self.at + 8])!r}")

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
        """The rest of condition ? yes : no."""
        self.expect("?")
        yes = self.expression()
        self.expect(":")
        no = self.expression()
        return Node(lambda scope: (yes if truth(condition.get(scope)) else no).get(scope))

    _LEVELS = (("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!=", "<>"), ("<", ">", "<=", ">="), ("<<", ">>"),
               ("+", "-"), ("*", "/", "%"), ("**",))  # fmt: skip

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
            storage, low, width, kind = inner(scope)
            if hasattr(storage, "element"):
                return storage.element(index), 0, None, None
            if isinstance(storage, list):
                return Element(storage, index), 0, None, None
            loaded = storage.load() if not (isinstance(storage, Variable) and storage.name not in storage.names) else None
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


def type_of(word: str) -> tuple[str, int] | None:
    if word in _FLOAT8:
        return _FLOAT8[word]
    match = _TYPE.fullmatch(word)
    return (match.group(1), int(match.group(2))) if match else None


def literal_value(token: str) -> Value:
    """A number: 8'255U, 16'0.0, 0x1FULL, 1.0F, 12."""
    width, digits = 0, token
    if "'" in token:
        before, digits = token.split("'")
        width = int(before)
    is_hex = digits.lower().startswith("0x")
    match = re.fullmatch(
        r"(-?(?:0x[0-9a-fA-F]+?|\d+\.\d+|\d+))(ULL|LL|U|F)?" if not is_hex else r"(-?0x[0-9a-fA-F]+)(ULL|LL|U)?", digits
    )
    assert match is not None, token
    number, suffix = match.group(1), match.group(2) or ""
    if "." in number:
        return v.from_float(float(number), "f", width or (32 if suffix == "F" else 64), 0)
    bits = width or (64 if "LL" in suffix else 32)
    value = int(number, 0)
    bits = max(bits, value.bit_length() + ("U" not in suffix and not is_hex and not width))
    return Value("u" if "U" in suffix else "i", bits, value & (1 << bits) - 1)


def truth(value: Value) -> bool:
    return value.raw != 0


def flag(condition: object) -> Value:
    return Value("u", 1, int(bool(condition)))


def sliced(value: Value, low: int, width: int) -> Value:
    raw = v.signed(value) if value.kind == "i" else int(value.raw)  # type: ignore[call-overload]
    return Value("b", width, raw >> low & (1 << width) - 1)


def reinterpret(value: Value, kind: str, bits: int) -> Value:
    """The same bits as another type: cut off or, of integers, extended."""
    if value.kind == "sym":
        if kind == "b":
            return value
        return symbol_as(value, kind, bits)
    if value.kind == "pow2":
        return value
    raw = v.signed(value) if value.kind == "i" else int(value.raw)  # type: ignore[call-overload]
    return Value(kind, bits, raw & (1 << bits) - 1)


def symbol_as(value: Value, kind: str, bits: int) -> Value:
    form = v.FORMATS.get((kind, bits))
    if form is None or value.raw == "DENORM":
        return Value("sym", bits, value.raw)
    if value.raw == "INF":
        return Value(kind, bits, form.infinity)
    if value.raw == "-INF":
        return Value(kind, bits, form.infinity | 1 << bits - 1)
    if value.raw == "NAN":
        return Value(kind, bits, form.nan)
    return value


def cast(scope: Scope, value: Value, kind: str, bits: int) -> Value:
    """32'U(x): a conversion of the number."""
    if kind in ("f", "bf"):
        if value.kind in ("fp8", "bf8", "fp6", "bf6", "fp4"):
            return scope.names[f"{value.kind}_to_f32"](value)  # type: ignore[no-any-return]
        if value.kind in ("f", "bf"):
            converted = v.convert(value, kind, bits, scope.rounding(bits))
            if v.is_signaling(value) and bits > value.bits:  # 64'F(x) inside isSignalNAN
                converted.raw ^= v.format_of(converted).quiet  # type: ignore[operator]
            return converted
        if value.kind == "pow2" or value.kind == "sym":
            return value if value.kind == "pow2" else symbol_as(value, "f", bits)
        if value.kind == "b":
            return reinterpret(value, "f", bits)
        number = v.signed(value)
        return v.pack("f", bits, number < 0, abs(number), 0, scope.rounding(bits))
    if value.kind in ("f", "bf") and kind != "b":
        low, high = (0, (1 << bits) - 1) if kind == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)
        return Value(kind, bits, v.to_integer(value, low, high) & (1 << bits) - 1)
    return reinterpret(value, kind, bits)


def concatenated(parts: list[Value]) -> Value:
    raw = bits = 0
    for part in parts:
        raw = raw << part.bits | int(part.raw)  # type: ignore[call-overload]
        bits += part.bits
    return Value("b", bits, raw)


def apply(operator: str, value: Value) -> Value:
    if operator == "!":
        return flag(not truth(value))
    if operator == "+":
        return value
    if value.kind == "sym":
        return Value("sym", value.bits, "-" + str(value.raw))
    raw = int(value.raw)  # type: ignore[call-overload]
    if operator == "-":
        if value.is_float:
            return Value(value.kind, value.bits, raw ^ 1 << value.bits - 1)
        return Value(value.kind, value.bits, -raw & (1 << value.bits) - 1)
    return Value(value.kind, value.bits, ~raw & (1 << value.bits) - 1)


def operate(scope: Scope, operator: str, a: Value, b: Value) -> Value:
    if operator in ("<<", ">>"):
        amount = min(v.signed(b), 4096)
        bits = max(a.bits, 32) if a.kind == "b" else a.bits
        raw = v.signed(a) << amount if operator == "<<" else v.signed(a) >> amount
        return Value(a.kind, bits, raw & (1 << bits) - 1)
    if operator == "**":
        return Value("pow2", 0, v.signed(b))
    if a.is_float or b.is_float:
        return operate_float(scope, operator, a, b)
    return operate_integer(operator, a, b)


def operate_integer(operator: str, a: Value, b: Value) -> Value:
    bits = max(a.bits, b.bits)
    wide = [x for x in (a, b) if x.bits == bits]
    kind = "u" if any(x.kind != "i" for x in wide) else "i"
    if operator in "+-*" and "b" in (a.kind, b.kind):
        bits = max(bits, 32)  # bit fields do not wrap
    mask = (1 << bits) - 1
    x, y = v.signed(a) & mask, v.signed(b) & mask
    if kind == "i":
        x, y = (n - (1 << bits) if n >> bits - 1 else n for n in (x, y))
    match operator:
        case "+": result = x + y
        case "-": result = x - y
        case "*": result = x * y
        case "&": result = x & y
        case "|": result = x | y
        case "^": result = x ^ y
        case "/": result = abs(x) // abs(y) * (-1 if (x < 0) != (y < 0) else 1)
        case "%": result = abs(x) % abs(y) * (-1 if x < 0 else 1)
        case "==": return flag(x == y)
        case "!=" | "<>": return flag(x != y)
        case "<": return flag(x < y)
        case ">": return flag(x > y)
        case "<=": return flag(x <= y)
        case ">=": return flag(x >= y)
        case _: raise PcodeError(f"operator {operator}")  # fmt: skip
    return Value(kind, bits, result & mask)


def operate_float(scope: Scope, operator: str, a: Value, b: Value) -> Value:
    if a.kind == "sym" and b.kind == "sym":
        return Value("sym", 0, f"{a.raw}{operator}{b.raw}")
    if "sym" in (a.kind, b.kind) and "PI" in (str(a.raw), str(b.raw)):
        return Value("sym", 0, "PI*2")
    if b.kind == "sym":
        if b.raw == "DENORM":
            return flag(v.is_subnormal(a) == (operator == "=="))
        b = symbol_as(b, a.kind, a.bits)
    if "pow2" in (a.kind, b.kind):
        number, power = (b, a) if a.kind == "pow2" else (a, b)
        return v.multiply(number.kind, number.bits, number, power, scope.rounding(number.bits))
    if a.kind not in ("f", "bf") or b.kind not in ("f", "bf"):
        raise PcodeError(f"{a!r} {operator} {b!r}")
    kind, bits = (a.kind, a.bits) if a.bits >= b.bits else (b.kind, b.bits)
    rounding = scope.rounding(bits)
    match operator:
        case "+": return v.add(kind, bits, a, b, rounding)
        case "-": return v.add(kind, bits, a, b, rounding, negate=1)
        case "*": return v.multiply(kind, bits, a, b, rounding)
        case "/": return v.divide(kind, bits, a, b, rounding)  # fmt: skip
    x, y = v.to_float(a), v.to_float(b)
    match operator:
        case "==": return flag(x == y)
        case "!=": return flag(x != y)
        case "<>": return flag(x < y or x > y)
        case "<": return flag(x < y)
        case ">": return flag(x > y)
        case "<=": return flag(x <= y)
        case ">=": return flag(x >= y)
        case _: raise PcodeError(f"operator {operator} on floats")  # fmt: skip


def assign(scope: Scope, place: Place, value: Value) -> None:
    """Store a value; it becomes the place's type."""
    storage, low, width, kind = place
    if value.kind == "sym" and kind is None:
        storage.store(low, width, value)
        return
    if kind is not None:
        if kind[0] in ("f", "bf"):
            if value.kind in ("f", "bf"):
                value = v.convert(value, *kind, scope.rounding(kind[1]))
            elif value.kind == "sym":
                value = symbol_as(value, *kind)
            else:
                value = reinterpret(value, *kind)
        else:
            value = reinterpret(value, *kind)
        if width is None and (low or isinstance(storage, Typed)):
            width = kind[1]
    storage.store(low, width, value)


class Typed:
    """Base of storage with a fixed size: assigning a narrower type changes only its bits."""


_cache: dict[str, Callable[[Scope], None]] = {}


def compile_text(text: str) -> Callable[[Scope], None]:
    """The text as a function of a scope. Raises `PcodeError` if it cannot be read."""
    if text not in _cache:
        _cache[text] = Parser(text).block()
    return _cache[text]
