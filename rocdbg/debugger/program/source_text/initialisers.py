"""Initialisers of variables that never change, read from the source text. They may contain other such variables,
numbers, and the work-item's position.

Calls are followed into functions that consist of one return statement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from rocdbg.debugger.program.source_text.function_text import FunctionText
from rocdbg.debugger.program.source_text.source_expressions import (
    BOOL,
    COMPARISONS,
    INT,
    LONG,
    SIZE,
    UNSIGNED,
    Choice,
    Conversion,
    Expression,
    Kind,
    Name,
    Number,
    Operation,
    Position,
    common,
    kind_of,
    promoted,
)
from rocdbg.debugger.program.source_text.source_tokens import Token
from rocdbg.dwarf.info import Variable

_DEEPEST: Final = 40
_MOST_NODES: Final = 1000
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uUlL]*)")
_AXES: Final = {"x": 0, "y": 1, "z": 2}
_BUILTIN = re.compile(r"__builtin_amdgcn_(workitem_id|workgroup_id|workgroup_size)_([xyz])")
_BUILTIN_KINDS: Final = {"workitem_id": UNSIGNED, "workgroup_id": UNSIGNED, "workgroup_size": Kind(2)}
_OPENCL: Final = {"get_local_id": "workitem_id", "get_group_id": "workgroup_id"}
_HIP: Final = {"threadIdx": "workitem_id", "blockIdx": "workgroup_id", "blockDim": "work_items"}
_TYPES: Final[dict[str, Kind]] = {
    "bool": BOOL, "char": Kind(1, True), "signed char": Kind(1, True), "unsigned char": Kind(1), "short": Kind(2, True),
    "unsigned short": Kind(2), "int": INT, "signed": INT, "signed int": INT, "unsigned": UNSIGNED,
    "unsigned int": UNSIGNED, "long": LONG, "unsigned long": SIZE, "size_t": SIZE, "uchar": Kind(1),
    "ushort": Kind(2), "uint": UNSIGNED, "ulong": SIZE, "int8_t": Kind(1, True), "uint8_t": Kind(1),
    "int16_t": Kind(2, True), "uint16_t": Kind(2), "int32_t": INT, "uint32_t": UNSIGNED, "int64_t": LONG,
    "uint64_t": SIZE, "long long": LONG, "unsigned long long": SIZE,
}
_TYPE_WORDS: Final = frozenset(word for name in _TYPES for word in name.split())
_SPECIFIERS: Final = frozenset({
    "static", "inline", "__inline__", "__inline", "extern", "constexpr", "const", "__device__", "__host__",
    "__forceinline__", "__noinline__",
})
_LEVELS: Final = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
)


class Initialiser(Struct, frozen=True):
    """A variable's initialiser, converted to the variable's kind, and the last line of its declaration."""

    expression: Expression
    line: int


class NotReadError(Exception):
    """The text cannot be interpreted."""


Resolve = Callable[[int, str], Expression | None]
"""Returns the meaning of a name at a token."""


class Initialisers:
    """Reads initialisers from the text of a routine."""

    def __init__(self, text: FunctionText) -> None:
        self._text = text
        self._nodes = 0

    def read(self, variable: Variable, constants: Mapping[str, Variable]) -> Initialiser | None:
        """Return a variable's initialiser; ``constants`` are the routine's variables that never change, by name."""
        text, name = self._text, variable.name
        kind = kind_of(variable.type)
        places = text.places(name) if name else []
        if kind is None or not places or variable.is_parameter:
            return None
        start = places[0] + 1
        if text.tokens[start].text not in ("=", "(", "{"):
            return None
        self._nodes = 0

        def resolve(index: int, name: str) -> Expression | None:
            found = constants.get(name)
            declared = text.places(name)
            wanted = kind_of(found.type) if found is not None else None
            if found is None or wanted is None or declared[0] >= index or not text.is_visible(declared[0], index):
                return None
            return Name(wanted, found)

        try:
            parser = _Parser(self, text, start + 1, resolve, 0)
            expression = parser.expression()
            if text.tokens[start].text != "=":
                parser.expect(")" if text.tokens[start].text == "(" else "}")
            if parser.text not in (";", ","):
                return None
            return Initialiser(as_kind(expression, kind), text.tokens[parser.index].line)
        except (NotReadError, RecursionError):
            return None

    def call(self, name: str, arguments: list[Expression], depth: int) -> Expression:
        """Return the expression that a call of a function computes. Raises `NotReadError`."""
        tokens = self._text.definition(name) if depth < _DEEPEST else None
        if tokens is None:
            raise NotReadError
        head, function = tokens
        kind = _TYPES.get(" ".join(_without_specifiers(head)))
        parameters = _parameters(function.tokens)
        if kind is None or function.body is None or len(parameters) != len(arguments):
            raise NotReadError
        given = {
            parameter: as_kind(argument, wanted)
            for (parameter, wanted), argument in zip(parameters, arguments, strict=True)
        }
        parser = _Parser(self, function, function.body + 1, lambda _, name: given.get(name), depth + 1)
        parser.expect("return")
        expression = parser.expression()
        parser.expect(";")
        parser.expect("}")
        return as_kind(expression, kind)

    def count(self) -> None:
        """Count one more part of an expression. Raises `NotReadError` if there are too many."""
        self._nodes += 1
        if self._nodes > _MOST_NODES:
            raise NotReadError


def _without_specifiers(tokens: Sequence[Token]) -> list[str]:
    """Return the words of a declaration's type. Raises `NotReadError` for anything more complex."""
    found: list[str] = []
    depth = 0
    for index, token in enumerate(tokens):
        if depth or token.text == "__attribute__" or (token.text == "(" and tokens[index - 1].text == "__attribute__"):
            depth += {"(": 1, ")": -1}.get(token.text, 0)
        elif token.text not in _SPECIFIERS:
            if token.text not in _TYPE_WORDS:
                raise NotReadError
            found.append(token.text)
    return found


def _parameters(tokens: Sequence[Token]) -> list[tuple[str, Kind]]:
    """Return the names and kinds of a function's parameters. Raises `NotReadError` for those of other types."""
    end = next((index for index, token in enumerate(tokens) if token.text == ")"), 0)
    inside = list(tokens[2:end])
    found: list[tuple[str, Kind]] = []
    while inside and [token.text for token in inside] != ["void"]:
        comma = next((index for index, token in enumerate(inside) if token.text == ","), len(inside))
        *words, name = inside[:comma] or [inside[0]]
        kind = _TYPES.get(" ".join(_without_specifiers(words)))
        if kind is None or not name.is_name:
            raise NotReadError
        found.append((name.text, kind))
        inside = inside[comma + 1 :]
    return found


def as_kind(expression: Expression, kind: Kind) -> Expression:
    """Convert an expression. Raises `NotReadError` for floating-point computations and mixed pointers."""
    own = expression.kind
    if own == kind:
        return expression
    if own.is_opaque or kind.is_opaque or (bool(own.step) != bool(kind.step) and not kind.is_bool):
        raise NotReadError
    return Conversion(kind, expression)


class _Parser:
    def __init__(self, reader: Initialisers, text: FunctionText, index: int, resolve: Resolve, depth: int) -> None:
        self._reader = reader
        self._text = text
        self._tokens = text.tokens
        self.index = index
        self._resolve = resolve
        self._depth = depth

    @property
    def token(self) -> Token:
        if self.index >= len(self._tokens):
            raise NotReadError
        return self._tokens[self.index]

    @property
    def text(self) -> str:
        return self.token.text

    def expect(self, text: str) -> None:
        """Skip an expected token. Raises `NotReadError` if it is a different one."""
        if self.text != text:
            raise NotReadError
        self.index += 1

    def expression(self) -> Expression:
        """Read a conditional expression."""
        self._reader.count()
        condition = self._binary(0)
        if self.text != "?":
            return condition
        self.index += 1
        first = self.expression()
        self.expect(":")
        second = self.expression()
        if first.kind == second.kind:
            return Choice(first.kind, condition, (first, second))
        kind = self._arithmetic(first, second)
        return Choice(kind, condition, (as_kind(first, kind), as_kind(second, kind)))

    @staticmethod
    def _arithmetic(first: Expression, second: Expression) -> Kind:
        for operand in (first, second):
            if operand.kind.is_opaque or operand.kind.step:
                raise NotReadError
        return common(first.kind, second.kind)

    def _binary(self, level: int) -> Expression:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while self.text in _LEVELS[level]:
            name = self.text
            self.index += 1
            left = self._combined(name, left, self._binary(level + 1))
        return left

    def _combined(self, name: str, left: Expression, right: Expression) -> Expression:
        self._reader.count()
        if name in ("+", "-") and left.kind.step and not right.kind.step and not right.kind.is_opaque:
            return Operation(left.kind, name, (left, right))
        kind = self._arithmetic(left, right)
        if name in ("&&", "||") or name in COMPARISONS:
            return Operation(BOOL if self._text.is_cxx else INT, name, (left, right))
        if name in ("<<", ">>"):
            return Operation(promoted(left.kind), name, (left, right))
        return Operation(kind, name, (left, right))

    def _unary(self) -> Expression:
        self._reader.count()
        token = self.token
        if token.text in ("-", "~", "+", "!"):
            self.index += 1
            operand = self._unary()
            kind = self._arithmetic(operand, operand)
            if token.text == "!":
                return Operation(BOOL if self._text.is_cxx else INT, "!", (operand,))
            return as_kind(operand, kind) if token.text == "+" else Operation(kind, token.text, (operand,))
        if token.text == "(":
            self.index += 1
            kind_ = self._type()
            if kind_ is not None:
                self.expect(")")
                operand = self._unary()
                self._arithmetic(operand, operand)
                return as_kind(operand, kind_)
            inner = self.expression()
            self.expect(")")
            return inner
        return self._primary()

    def _type(self) -> Kind | None:
        """Read the type at the current position; None if there is none."""
        words: list[str] = []
        while self.token.is_name and self.text in _TYPE_WORDS:
            words.append(self.text)
            self.index += 1
        if not words:
            return None
        kind = _TYPES.get(" ".join(words))
        if kind is None:
            raise NotReadError
        return kind

    def _primary(self) -> Expression:
        token = self.token
        if not token.is_name:
            return self._number(token)
        if token.text in ("true", "false"):
            self.index += 1
            return Number(BOOL if self._text.is_cxx else INT, int(token.text == "true"))
        kind = self._type()
        if kind is not None:
            self.expect("(")
            inner = self.expression()
            self.expect(")")
            self._arithmetic(inner, inner)
            return as_kind(inner, kind)
        self.index += 1
        place = self.index - 1
        if self.text == "(":
            return self._call(token.text)
        found = self._resolve(place, token.text)
        if found is None and token.text in _HIP and self._text.is_cxx and self.text == ".":
            self.index += 1
            axis = _AXES.get(self.text)
            if axis is None or (self._text.places(token.text)[0] < place and self._declares(token.text)):
                raise NotReadError
            self.index += 1
            return Position(UNSIGNED, _HIP[token.text], axis)
        if found is None or self.text in ("[", ".", "->", "++", "--", "::", "{"):
            raise NotReadError
        return found

    def _declares(self, name: str) -> bool:
        return any(
            self._tokens[index - 1].is_name and self._tokens[index - 1].text != "return"
            for index in self._text.places(name)
        )

    def _number(self, token: Token) -> Expression:
        match = _NUMBER.fullmatch(token.text.replace("'", ""))
        if match is None:
            raise NotReadError
        self.index += 1
        digits, suffix = match[1], match[2].lower()
        is_octal = len(digits) > 1 and digits.isdigit() and digits[0] == "0"
        try:
            value = int(digits, 8 if is_octal else 0)
        except ValueError:
            raise NotReadError from None
        is_decimal = digits.isdigit() and not is_octal
        kinds = [INT, UNSIGNED, LONG, SIZE]
        if "u" in suffix:
            kinds = [UNSIGNED, SIZE]
        elif is_decimal:
            kinds = [INT, LONG]
        for kind in kinds:
            if ("l" not in suffix or kind.size == 8) and value < 1 << 8 * kind.size - kind.signed:
                return Number(kind, value)
        raise NotReadError

    def _call(self, name: str) -> Expression:
        self.index += 1
        arguments: list[Expression] = []
        while self.text != ")":
            if arguments:
                self.expect(",")
            arguments.append(self.expression())
        self.index += 1
        builtin = _BUILTIN.fullmatch(name)
        if builtin is not None and not arguments:
            return Position(_BUILTIN_KINDS[builtin[1]], builtin[1], _AXES[builtin[2]])
        if name in _OPENCL and not self._text.is_cxx and not self._text.is_defined(name) and len(arguments) == 1:
            axis = arguments[0]
            if isinstance(axis, Number) and 0 <= axis.value < 3:
                return Position(SIZE, _OPENCL[name], axis.value)
        return self._reader.call(name, arguments, self._depth)
