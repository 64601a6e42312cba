"""Absolute integer expressions of operands: ``s[2*2]``, ``(1<<4)+1``.

Values are 64-bit integers. Operators bind as llvm-mc has them, which is not what the table of the operand syntax
document says: shifts like products, bit operations above sums, comparisons (which give -1 if they hold) below.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_MASK = (1 << 64) - 1
_TOKEN = re.compile(
    r"\s*(?:(?P<hex>0x[0-9a-f]+)|(?P<binary>0b[01]+)|(?P<suffixed>[0-9][0-9a-f]*h)\b|(?P<octal>0[0-7]*)\b|"
    r"(?P<decimal>[1-9]\d*)\b|(?P<operator><<|>>|<>|<=|>=|==|!=|&&|\|\||[-+*/%&|^<>()~!]))"
)
_BASES = {"hex": 16, "binary": 2, "octal": 8, "decimal": 10}


def signed(value: int) -> int:
    """The low 64 bits as a signed number."""
    return ((value + (1 << 63)) & _MASK) - (1 << 63)


def _divide(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


_BINARY: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "||": (1, lambda a, b: int(bool(a) or bool(b))),
    "&&": (2, lambda a, b: int(bool(a) and bool(b))),
    "==": (3, lambda a, b: -int(a == b)),
    "!=": (3, lambda a, b: -int(a != b)),
    "<>": (3, lambda a, b: -int(a != b)),
    "<": (3, lambda a, b: -int(a < b)),
    "<=": (3, lambda a, b: -int(a <= b)),
    ">": (3, lambda a, b: -int(a > b)),
    ">=": (3, lambda a, b: -int(a >= b)),
    "+": (4, lambda a, b: a + b),
    "-": (4, lambda a, b: a - b),
    "|": (5, lambda a, b: a | b),
    "^": (5, lambda a, b: a ^ b),
    "&": (5, lambda a, b: a & b),
    "*": (6, lambda a, b: a * b),
    "/": (6, _divide),
    "%": (6, lambda a, b: a - b * _divide(a, b)),
    "<<": (6, lambda a, b: a << b if 0 <= b < 64 else 0),
    ">>": (6, lambda a, b: (a & _MASK) >> b if 0 <= b < 64 else 0),
}
_UNARY: dict[str, Callable[[int], int]] = {
    "-": lambda a: -a,
    "+": lambda a: a,
    "~": lambda a: ~a,
    "!": lambda a: int(not a),
}
_DEEPEST = 50
"""Levels of brackets and signs, so that no text exhausts the stack."""


def evaluate(text: str) -> int | None:
    """The value of an expression in lower case, signed; None if it is none.

    Raises OverflowError if a number has more than 64 bits, ZeroDivisionError for a division by zero.
    """
    tokens: list[int | str] = []
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            return None
        position = match.end()
        kind = match.lastgroup or ""
        if kind == "operator":
            tokens.append(match[kind])
            continue
        digits = match[kind]
        value = int(digits[:-1], 16) if kind == "suffixed" else int(digits, _BASES[kind])
        if value > _MASK:
            raise OverflowError(digits)
        tokens.append(value)
    parser = _Parser(tokens)
    result = parser.binary(0, 0)
    return None if result is None or parser.position < len(tokens) else result


class _Parser:
    """Precedence climbing over tokens; a method's None means that the tokens are no expression."""

    def __init__(self, tokens: list[int | str]) -> None:
        self.tokens = tokens
        self.position = 0

    def _next(self) -> int | str | None:
        if self.position == len(self.tokens):
            return None
        self.position += 1
        return self.tokens[self.position - 1]

    def binary(self, lowest: int, depth: int) -> int | None:
        left = self.primary(depth)
        while left is not None and self.position < len(self.tokens):
            operator = self.tokens[self.position]
            if not isinstance(operator, str) or operator not in _BINARY or _BINARY[operator][0] <= lowest:
                break
            self.position += 1
            precedence, compute = _BINARY[operator]
            right = self.binary(precedence, depth)
            if right is None:
                return None
            left = signed(compute(left, right))
        return left

    def primary(self, depth: int) -> int | None:
        token = self._next()
        if token is None or depth > _DEEPEST:
            return None
        if isinstance(token, int):
            return signed(token)
        if token == "(":
            value = self.binary(0, depth + 1)
            return value if self._next() == ")" else None
        if token in _UNARY:
            value = self.primary(depth + 1)
            return None if value is None else signed(_UNARY[token](value))
        return None
