"""Numbers and expressions of operands: ``s[2*2]``, ``(1<<4)+1``, ``. + 8``, ``table - kernel``, ``f@rel32@lo+4``.

Values are 64-bit integers. Operator precedence is llvm-mc's, which differs from the table in the operand syntax
document: shifts like products, bit operations above sums, comparisons (which give -1 if they hold) below.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

_MASK = (1 << 64) - 1
_TOKEN = re.compile(
    r"\s*(?:(?P<hex>0x[0-9a-f]+)\b(?![h.])|(?P<binary>0b[01]+)\b|(?P<suffixed>(?:0x)?[0-9][0-9a-f]*h)\b|"
    r"(?P<octal>0[0-7]*)\b(?![.])|(?P<decimal>[1-9]\d*)\b(?![.])|(?P<symbol>[a-z_.][a-z0-9_$.@]*)|"
    r"(?P<operator><<|>>|<>|<=|>=|==|!=|&&|\|\||[-+*/%&|^<>()~!]))",
    re.IGNORECASE,
)
_BASES = {"hex": 16, "binary": 2, "octal": 8, "decimal": 10}

_FLOAT = re.compile(r"-?\s*(?:\d+\.\d*|\.\d+|\d+(?=e))(?:e[-+]?\d*)?", re.IGNORECASE | re.ASCII)
_HEX_FLOAT = re.compile(r"-?\s*0x[0-9a-f]*(?:\.[0-9a-f]*)?p[-+]?\d+", re.IGNORECASE | re.ASCII)
PARTS = ("rel32@lo", "rel32@hi", "abs32@lo", "abs32@hi", "rel64", "abs64")
"""Suffixes of a symbol, after ``@``: they select a half of its address, or of the distance to it."""
_BY_LINKER = ("gotpcrel", "gotpcrel32@lo", "gotpcrel32@hi")
_MOST_DIGITS = 400
"""Limit on the digits of a number: longer ones are rejected before they are evaluated."""


class RelocatableError(ValueError):
    """An expression computes something from addresses that a relocation cannot express; the message says what."""


class Value(Struct, frozen=True):
    """The value of an expression. ``addresses`` is how many times it contains the program's load address: 0 for an
    absolute value, 1 for a relocatable one. ``part``: one of PARTS, if the symbol has that suffix.
    """

    value: int
    addresses: int = 0
    part: str = ""


Lookup = Callable[[str], int | Value | None]
"""The address of a symbol (``.`` is the address of the instruction), a `Value` for something that is not an address, or
None if it is not known."""


def floating(text: str) -> float | None:
    """A floating-point number, decimal or hexadecimal; None if the text is not one.

    Raises OverflowError if it does not fit 64 bits.
    """
    if _FLOAT.fullmatch(text):
        digits = "".join(text.split()).lower()
        return float(digits if digits[-1] not in "e+-" else digits.rstrip("+-") + "0")  # as in LLVM, `1e' is 1.0
    if not _HEX_FLOAT.fullmatch(text):
        return None
    try:
        return float.fromhex("".join(text.split()))
    except ValueError:
        return None


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
    "!": (5, lambda a, b: a | ~b),
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
"""Limit on the nesting of brackets and signs, so that no text exhausts the stack."""


def evaluate(text: str) -> int | None:
    """The value of an absolute expression, signed; None if it is not one.

    Raises OverflowError if a number has more than 64 bits, ZeroDivisionError for a division by zero.
    """
    found = evaluate_with(text, None)
    return None if found is None else found.value


def evaluate_with(text: str, symbols: Lookup | None) -> Value | None:
    """The value of an expression, which may name symbols; None if it is not one.

    Raises OverflowError if a number has more than 64 bits, ZeroDivisionError for a division by zero,
    RelocatableError, and KeyError for a symbol that is not known.
    """
    tokens: list[Value | str] = []
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            return None
        position = match.end()
        kind = match.lastgroup or ""
        digits = match[kind]
        if kind == "operator":
            tokens.append(digits)
        elif kind == "symbol":
            if symbols is None:
                return None
            tokens.append(_symbol(digits, symbols))
        else:
            if len(digits) > _MOST_DIGITS:
                raise OverflowError(digits)
            if kind == "suffixed":
                value = int(digits[:-1].lower().removeprefix("0x"), 16)
            else:
                value = int(digits, _BASES[kind])
            if value > _MASK:
                raise OverflowError(digits)
            tokens.append(Value(signed(value)))
    parser = _Parser(tokens)
    result = parser.binary(0, 0)
    return None if result is None or parser.position < len(tokens) else result


def _symbol(text: str, symbols: Lookup) -> Value:
    name, mark, part = text.partition("@")
    if mark and part not in PARTS:
        if part in _BY_LINKER:
            raise RelocatableError(f"`@{part}' needs a table entry that only a linker can create")
        raise RelocatableError(f"there is no `@{part}' (there are {', '.join(f'@{one}' for one in PARTS)})")
    found = symbols(name)
    if found is None:
        raise KeyError(name)
    if isinstance(found, Value):
        if mark:
            raise RelocatableError(f"`{name}' is a number, so `@{part}' cannot be applied to it")
        return Value(signed(found.value), found.addresses)
    return Value(signed(found), 1, part)


def _combine(operator: str, left: Value, right: Value) -> Value:
    value = signed(_BINARY[operator][1](left.value, right.value))
    if (left.part and right.addresses) or (right.part and (left.addresses or operator != "+")):
        raise RelocatableError(f"the only operation on a symbol with `@{left.part or right.part}' is adding a number")
    if operator == "+":
        return Value(value, left.addresses + right.addresses, left.part or right.part)
    if operator == "-":
        return Value(value, left.addresses - right.addresses, left.part)
    if left.addresses or right.addresses:
        raise RelocatableError(f"addresses can be added and subtracted, but not combined with `{operator}'")
    return Value(value)


class _Parser:
    """Precedence climbing over tokens; a method returns None if the tokens are not an expression."""

    def __init__(self, tokens: list[Value | str]) -> None:
        self.tokens = tokens
        self.position = 0

    def _next(self) -> Value | str | None:
        if self.position == len(self.tokens):
            return None
        self.position += 1
        return self.tokens[self.position - 1]

    def binary(self, lowest: int, depth: int) -> Value | None:
        left = self.primary(depth)
        while left is not None and self.position < len(self.tokens):
            operator = self.tokens[self.position]
            if not isinstance(operator, str) or operator not in _BINARY or _BINARY[operator][0] <= lowest:
                break
            self.position += 1
            right = self.binary(_BINARY[operator][0], depth)
            if right is None:
                return None
            left = _combine(operator, left, right)
        return left

    def primary(self, depth: int) -> Value | None:
        token = self._next()
        if token is None or depth > _DEEPEST:
            return None
        if isinstance(token, Value):
            return token
        if token == "(":
            value = self.binary(0, depth + 1)
            return value if self._next() == ")" else None
        if token in _UNARY:
            value = self.primary(depth + 1)
            if value is None:
                return None
            if value.addresses and (token in "~!" or value.part):
                raise RelocatableError(
                    f"addresses can be added and subtracted, but `{token}' cannot be applied to them"
                )
            return Value(signed(_UNARY[token](value.value)), -value.addresses if token == "-" else value.addresses)
        return None
