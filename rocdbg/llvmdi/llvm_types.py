"""LLVM types, with what debug information needs to know about them: identity, text and size.

Sizes are in bits and come from the module's data layout (`rocdbg.llvmdi.datalayout`).
"""

from __future__ import annotations

from msgspec import Struct

from rocdbg.llvmdi.llvm_lexer import Kind
from rocdbg.llvmdi.token_cursor import Cursor

__all__ = [
    "ArrayType",
    "FloatType",
    "FunctionType",
    "IntType",
    "NamedType",
    "OpaqueType",
    "PointerType",
    "StructType",
    "TargetType",
    "Type",
    "VectorType",
    "is_type_start",
    "is_type_word",
    "parse_type",
]

MAX_INT_BITS = 1 << 23
"""The largest number of bits of an integer type, which is LLVM's own limit."""
FLOAT_BITS = {
    "half": 16, "bfloat": 16, "float": 32, "double": 64, "x86_fp80": 80, "fp128": 128, "ppc_fp128": 128,
}  # fmt: skip
_UNSIZED = frozenset({"void", "label", "metadata", "token", "x86_amx", "x86_mmx", "exn"})


class Type(Struct, frozen=True):
    """Any LLVM type."""


class IntType(Type, frozen=True):
    """`iN`."""

    bits: int

    def __str__(self) -> str:
        return f"i{self.bits}"


class FloatType(Type, frozen=True):
    """`half`, `float`, `double` and so on."""

    name: str

    def __str__(self) -> str:
        return self.name


class PointerType(Type, frozen=True):
    """`ptr addrspace(N)`; pointers of the older notation `T addrspace(N)*` are the same."""

    space: int = 0

    def __str__(self) -> str:
        return f"ptr addrspace({self.space})" if self.space else "ptr"


class VectorType(Type, frozen=True):
    """`<N x T>`, `<vscale x N x T>`."""

    count: int
    element: Type
    scalable: bool = False

    def __str__(self) -> str:
        return f"<{'vscale x ' if self.scalable else ''}{self.count} x {self.element}>"


class ArrayType(Type, frozen=True):
    """`[N x T]`."""

    count: int
    element: Type

    def __str__(self) -> str:
        return f"[{self.count} x {self.element}]"


class StructType(Type, frozen=True):
    """`{ ... }`, or `<{ ... }>` where packed."""

    elements: tuple[Type, ...]
    packed: bool = False

    def __str__(self) -> str:
        inner = f"{{ {', '.join(map(str, self.elements))} }}" if self.elements else "{}"
        return f"<{inner}>" if self.packed else inner


class NamedType(Type, frozen=True):
    """`%name`, which the module defines."""

    name: str

    def __str__(self) -> str:
        return self.name


class FunctionType(Type, frozen=True):
    """`R (A, B, ...)`."""

    result: Type
    parameters: tuple[Type, ...]
    variadic: bool = False

    def __str__(self) -> str:
        shown = [*map(str, self.parameters), *(["..."] if self.variadic else [])]
        return f"{self.result} ({', '.join(shown)})"


class OpaqueType(Type, frozen=True):
    """A type without size: void, label, metadata, token, opaque."""

    name: str

    def __str__(self) -> str:
        return self.name


class TargetType(Type, frozen=True):
    """`target("name", ...)`, which is opaque here."""

    text: str

    def __str__(self) -> str:
        return self.text


_SCALARS: dict[str, Type] = {
    **{name: FloatType(name) for name in FLOAT_BITS},
    **{name: OpaqueType(name) for name in (*_UNSIZED, "opaque")},
}


def _is_int(text: str) -> bool:
    return text[:1] == "i" and text[1:].isdecimal()


def is_type_word(text: str) -> bool:
    """Whether a word is a type, or begins one."""
    return text in _SCALARS or text in ("ptr", "target") or _is_int(text)


def is_type_start(cursor: Cursor) -> bool:
    """Whether the next token begins a type."""
    token = cursor.token
    if token.kind == Kind.WORD:
        return is_type_word(token.text)
    if token.kind == Kind.LOCAL:
        return True
    return token.kind == Kind.PUNCTUATION and token.text in "<[{"


def parse_type(cursor: Cursor) -> Type:
    """The type at the cursor; `ReadError` if there is none."""
    cursor.deeper()
    result = _suffixed(cursor, _base(cursor))
    cursor.depth -= 1
    return result


def _address_space(cursor: Cursor) -> int:
    cursor.expect("addrspace")
    cursor.expect("(")
    token = cursor.token
    if token.kind == Kind.STRING:  # "A", "G", "P": the data layout's spaces
        raise cursor.error("named address spaces are not supported; write the number")
    number = cursor.unsigned("the number of an address space")
    cursor.expect(")")
    return number


def _base(cursor: Cursor) -> Type:
    token = cursor.token
    text = token.text
    if token.kind == Kind.WORD:
        cursor.take()
        scalar = _SCALARS.get(text)
        if scalar is not None:
            return scalar
        if text == "ptr":
            return PointerType(_address_space(cursor) if cursor.text == "addrspace" else 0)
        if _is_int(text):
            if len(text) > 9 or not 0 < int(text[1:]) <= MAX_INT_BITS:
                raise cursor.error(f"an integer type must have 1 to {MAX_INT_BITS} bits", token)
            return IntType(int(text[1:]))
        if text == "target":
            start = cursor.index
            cursor.skip_group()
            return TargetType("target" + "".join(t.text for t in cursor.tokens[start : cursor.index]))
        raise cursor.error(f"'{text[:40]}' is not a type", token)
    if token.kind == Kind.LOCAL:
        cursor.take()
        return NamedType(text)
    if cursor.accept("<"):
        if cursor.text == "{":
            struct = _struct(cursor, packed=True)
            cursor.expect(">")
            return struct
        scalable = cursor.accept("vscale")
        if scalable:
            cursor.expect("x")
        count, element = _sequence(cursor)
        cursor.expect(">")
        if not count:
            raise cursor.error("a vector must have at least one element", token)
        return VectorType(count, element, scalable)
    if cursor.accept("["):
        count, element = _sequence(cursor)
        cursor.expect("]")
        return ArrayType(count, element)
    if token.text == "{":
        return _struct(cursor, packed=False)
    raise cursor.error("expected a type")


def _sequence(cursor: Cursor) -> tuple[int, Type]:
    token = cursor.token
    count = cursor.unsigned("the number of elements")
    if count >= 1 << 64:
        raise cursor.error("the type has more than 2^64 elements", token)
    cursor.expect("x")
    return count, parse_type(cursor)


def _struct(cursor: Cursor, packed: bool) -> StructType:
    cursor.expect("{")
    elements: list[Type] = []
    while not cursor.accept("}"):
        if elements:
            cursor.expect(",")
        elements.append(parse_type(cursor))
    return StructType(tuple(elements), packed)


def _suffixed(cursor: Cursor, base: Type) -> Type:
    while True:
        if cursor.text == "*":
            cursor.take()
            base = PointerType(0)
        elif cursor.text == "addrspace" and (not isinstance(base, PointerType) or cursor.ahead(4).text == "*"):
            space = _address_space(cursor)
            cursor.expect("*")
            base = PointerType(space)
        elif cursor.text == "(" and not isinstance(base, TargetType):
            base = _function(cursor, base)
        else:
            return base


def _function(cursor: Cursor, result: Type) -> FunctionType:
    cursor.expect("(")
    parameters: list[Type] = []
    variadic = False
    while not cursor.accept(")"):
        if parameters or variadic:
            cursor.expect(",")
        if cursor.token.kind == Kind.ELLIPSIS:
            cursor.take()
            variadic = True
        else:
            parameters.append(parse_type(cursor))
    return FunctionType(result, tuple(parameters), variadic)
