"""Reads literal values of LLVM assembly as bits."""

from __future__ import annotations

import re
import struct

from rocdbg.llvmdi.datalayout import DataLayout
from rocdbg.llvmdi.errors import NotWellFormed
from rocdbg.llvmdi.llvm_lexer import Kind, Token
from rocdbg.llvmdi.llvm_types import (
    FLOAT_BITS,
    ArrayType,
    FloatType,
    IntType,
    OpaqueType,
    PointerType,
    Type,
    VectorType,
    parse_type,
)
from rocdbg.llvmdi.module import Operand
from rocdbg.llvmdi.token_cursor import Cursor, unquoted

__all__ = ["parse_operand", "parse_value", "settled"]

_UNDEFINED = frozenset({"undef", "poison"})
_EXPRESSIONS = frozenset((
    "getelementptr", "ptrtoint", "ptrtoaddr", "inttoptr", "bitcast", "addrspacecast", "trunc", "zext", "sext",
    "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp", "add", "sub", "mul", "udiv", "sdiv", "urem",
    "srem", "shl", "lshr", "ashr", "and", "or", "xor", "fneg", "fadd", "fsub", "fmul", "fdiv", "frem", "icmp",
    "fcmp", "select", "extractelement", "insertelement", "shufflevector", "extractvalue", "insertvalue",
    "blockaddress", "dso_local_equivalent", "no_cfi", "ptrauth", "asm",
))  # fmt: skip
"""Words that begin a constant expression, including those that LLVM has removed."""
_HEX_PREFIX = {"half": "0xH", "bfloat": "0xR", "x86_fp80": "0xK", "fp128": "0xL", "ppc_fp128": "0xM"}
_HEX = {"half": 4, "bfloat": 4, "x86_fp80": 20, "fp128": 32, "ppc_fp128": 32}
_PACKED = {"half": "<e", "float": "<f", "double": "<d"}
_MAX_ELEMENTS = 1 << 16
MAX_CONSTANT_BITS = 1 << 20


def parse_operand(cursor: Cursor) -> Operand:
    """A type and a value; a physical register of MIR has no type."""
    token = cursor.token
    if token.kind == Kind.REGISTER:
        return _entity(cursor.take(), None)
    if token.kind == Kind.LOCAL and not _is_value_ahead(cursor.ahead()):
        return _entity(cursor.take(), None)  # MIR: a virtual register or a stack slot alone
    return parse_value(cursor, parse_type(cursor))


def _is_value_ahead(token: Token) -> bool:
    """Whether a name before this token is a named type."""
    return token.kind in (Kind.LOCAL, Kind.GLOBAL, Kind.NUMBER, Kind.ELLIPSIS) or token.text in (
        "undef", "poison", "zeroinitializer", "null", "{", "*", "addrspace",
    )  # fmt: skip


def _entity(token: Token, type: Type | None) -> Operand:
    name = unquoted(token.text)
    if name == "$noreg":
        return Operand("undef", type, name, offset=token.offset)
    return Operand("entity", type, token.text, name, offset=token.offset)


def parse_value(cursor: Cursor, type: Type) -> Operand:
    """The value of a known type at the cursor."""
    cursor.deeper()
    operand = _value(cursor, type)
    cursor.depth -= 1
    return operand


def _value(cursor: Cursor, type: Type) -> Operand:
    token = cursor.token
    if token.kind in (Kind.LOCAL, Kind.GLOBAL, Kind.REGISTER):
        return _entity(cursor.take(), type)
    if token.kind == Kind.ELLIPSIS:
        cursor.take()
        return Operand("elided", type, "...", offset=token.offset)
    if token.kind == Kind.NUMBER:
        cursor.take()
        return Operand("constant", type, token.text, value=_number(cursor, token, type), offset=token.offset)
    if token.kind == Kind.WORD:
        cursor.take()
        if token.text in _UNDEFINED:
            return Operand("undef", type, token.text, offset=token.offset)
        if token.text in ("true", "false"):
            if type != IntType(1):
                raise cursor.error(f"'{token.text}' is of type i1, not {type}", token)
            return Operand("constant", type, token.text, value=int(token.text == "true"), offset=token.offset)
        if token.text == "null" and not isinstance(type, PointerType):
            raise cursor.error(f"'null' is a pointer, not a value of type {type}", token)
        if token.text == "none" and type != OpaqueType("token"):
            raise cursor.error(f"'none' is a token, not a value of type {type}", token)
        if token.text in ("null", "none", "zeroinitializer"):
            return Operand("constant", type, token.text, offset=token.offset)
        if token.text == "splat" and isinstance(type, VectorType):
            cursor.expect("(")
            element = parse_operand(cursor)
            cursor.expect(")")
            if element.type != type.element:
                raise cursor.error(f"a splat of {element.type} cannot be a value of type {type}", token)
            return _joined(cursor, token, type, [element] * min(type.count, _MAX_ELEMENTS + 1))
        if token.text not in _EXPRESSIONS:
            raise cursor.error(f"'{token.text[:40]}' is not a value of type {type}", token)
        start = token.offset
        while cursor.token.kind in (Kind.WORD, Kind.GLOBAL) or cursor.text == "(":
            # `inbounds inrange(-16, 24) (i8, ptr @g, i64 16)`, `no_cfi @f`
            if cursor.text == "(":
                cursor.skip_group()
            else:
                cursor.take()
        last = cursor.tokens[cursor.index - 1]
        text = cursor.source.text[start : last.offset + len(last.text)]
        return Operand("other", type, text, offset=start)
    brackets = "<" if isinstance(type, VectorType) else "[" if isinstance(type, ArrayType) else ""
    if isinstance(type, VectorType | ArrayType) and token.text == brackets:
        closing = {"<": ">", "[": "]"}[cursor.take().text]
        elements: list[Operand] = []
        while not cursor.accept(closing):
            if elements:
                cursor.expect(",")
            elements.append(parse_operand(cursor))
            if elements[-1].type != type.element:
                raise cursor.error(f"an element of {type} has the wrong type {elements[-1].type}", token)
        if len(elements) != type.count:
            raise cursor.error(f"{len(elements)} elements are given for a value of type {type}", token)
        return _joined(cursor, token, type, elements)
    if token.kind == Kind.STRING:
        cursor.take()
        return _string(cursor, token, type)
    if token.text in ("<", "[", "{"):
        return _structure(cursor, token, type)
    raise cursor.error(f"expected a value of type {type}")


def _string(cursor: Cursor, token: Token, type: Type) -> Operand:
    """``c"ab\\00"``: an array of bytes."""
    data = _bytes(token.text)
    if isinstance(type, ArrayType) and type.element == IntType(8):
        if len(data) != type.count:
            raise cursor.error(f"{len(data)} bytes are given for a value of type {type}", token)
        return Operand("constant", type, token.text, value=int.from_bytes(data, "little"), offset=token.offset)
    return Operand("other", type, token.text, offset=token.offset)


def _bytes(text: str) -> bytes:
    """The bytes of ``c"..."``: a backslash and two hexadecimal digits are one byte."""
    first, *rest = text.removeprefix("c")[1:-1].split("\\")
    out = [first.encode("utf-8", "surrogateescape")]
    for part in rest:
        byte, after = part[:2], part[2:]
        if re.fullmatch("[0-9A-Fa-f]{2}", byte):
            out += [bytes((int(byte, 16),)), after.encode("utf-8", "surrogateescape")]
        else:
            out.append(b"\\" + part.encode("utf-8", "surrogateescape"))
    return b"".join(out)


def _structure(cursor: Cursor, token: Token, type: Type) -> Operand:
    """``{ i8 1, i32 2 }``, packed ``<{ i8 1 }>``, and constants of a named type."""
    closing = [{"<": ">", "[": "]", "{": "}"}[cursor.take().text]]
    if token.text == "<" and cursor.accept("{"):
        closing.insert(0, "}")
    elements: list[Operand] = []
    while not cursor.accept(closing[0]):
        if elements:
            cursor.expect(",")
        elements.append(parse_operand(cursor))
    for text in closing[1:]:
        cursor.expect(text)
    return _gathered(cursor, token, type, elements)


def _gathered(cursor: Cursor, token: Token, type: Type, elements: list[Operand]) -> Operand:
    """A constant whose parts are placed by the data layout."""
    last = cursor.tokens[cursor.index - 1]
    text = cursor.source.text[token.offset : last.offset + len(last.text)]
    kinds = {element.kind for element in elements}
    if len(elements) <= _MAX_ELEMENTS and kinds <= {"constant", "aggregate"}:
        return Operand("aggregate", type, text, offset=token.offset, elements=tuple(elements))
    return Operand("undef" if kinds == {"undef"} else "other", type, text, offset=token.offset)


def settled(operand: Operand, layout: DataLayout) -> Operand:
    """An aggregate as one constant, with zeros as padding; anything else unchanged. `NotWellFormed` if its parts do not
    match its type.
    """
    if operand.kind != "aggregate":
        return operand
    assert operand.type is not None
    type, value = layout.resolved(operand.type), 0
    places = layout.places(type)
    parts = [settled(element, layout) for element in operand.elements]
    types = [layout.resolved(part.type) for part in parts if part.type is not None]
    if types != [layout.resolved(element) for element, _ in places]:
        raise NotWellFormed(f"the elements of a constant do not match its type {operand.type}")
    for part, (_, place) in zip(parts, places, strict=True):
        value |= part.value << place
    if value >> MAX_CONSTANT_BITS:
        raise NotWellFormed(f"a constant has more than {MAX_CONSTANT_BITS} bits")
    return Operand("constant", operand.type, operand.text, value=value, offset=operand.offset)


def _joined(cursor: Cursor, token: Token, type: VectorType | ArrayType, elements: list[Operand]) -> Operand:
    """The constant of a vector; if not all elements are constants, only the text is known."""
    last = cursor.tokens[cursor.index - 1]
    text = cursor.source.text[token.offset : last.offset + len(last.text)]
    bits = _scalar_bits(type.element)
    if isinstance(type, ArrayType) and bits not in (8, 16, 32, 64, 128):
        return _gathered(cursor, token, type, elements)
    known = all(element.kind == "constant" for element in elements)
    if not known or bits is None or len(elements) > _MAX_ELEMENTS:
        undefined = elements and all(element.kind == "undef" for element in elements)
        return Operand("undef" if undefined else "other", type, text, offset=token.offset)
    if bits * len(elements) > MAX_CONSTANT_BITS:
        raise cursor.error(f"the constant has more than {MAX_CONSTANT_BITS} bits", token)
    value = 0
    for element in reversed(elements):
        value = value << bits | element.value
    return Operand("constant", type, text, value=value, offset=token.offset)


def _scalar_bits(type: Type) -> int | None:
    if isinstance(type, IntType):
        return type.bits
    return FLOAT_BITS[type.name] if isinstance(type, FloatType) else None


def _number(cursor: Cursor, token: Token, type: Type) -> int:
    text = token.text
    if isinstance(type, IntType):
        if text[0] in "us":
            return _hexadecimal(cursor, token, type)
        if "." in text or "x" in text or text[0] == "+":
            raise cursor.error(f"'{text[:40]}' is not a literal of type {type}", token)
        if len(text) > 4000:
            raise cursor.error(f"the literal has {len(text)} digits, which are too many", token)
        return _fitting(cursor, token, type, int(text))
    if isinstance(type, FloatType):
        return _float(cursor, token, type)
    if isinstance(type, PointerType):
        raise cursor.error("the only literal of a pointer type is null; use inttoptr for a number", token)
    raise cursor.error(f"'{text[:40]}' is not a literal of type {type}", token)


def _hexadecimal(cursor: Cursor, token: Token, type: IntType) -> int:
    """``u0xFF``; ``s0xFF`` has the sign of its highest digit."""
    digits = token.text[3:]
    if len(digits) > 4000:
        raise cursor.error(f"the literal has {len(digits)} digits, which are too many", token)
    value = int(digits, 16)
    if token.text[0] == "s" and value >> 4 * len(digits) - 1:
        value -= 1 << 4 * len(digits)
    return _fitting(cursor, token, type, value)


def _fitting(cursor: Cursor, token: Token, type: IntType, value: int) -> int:
    """The bits of a number."""
    if cursor.exact and not -(1 << type.bits - 1) <= value < 1 << type.bits:
        raise cursor.error(f"{token.text[:40]} does not fit {type}", token)
    return value & (1 << type.bits) - 1


def _float(cursor: Cursor, token: Token, type: FloatType) -> int:
    text = token.text
    if text.startswith("0x"):
        prefix = _HEX_PREFIX.get(type.name)
        if prefix is not None:
            digits = text[3:]
            if text[2] not in "KLMHR" and type.name in ("half", "bfloat") and len(digits) <= 15:
                return _of_double(cursor, token, type, int(text, 16))
            if text[:3] != prefix or len(digits) > _HEX[type.name]:
                raise cursor.error(f"a {type} in hexadecimal must begin with {prefix}", token)
            value = int(digits, 16)
            if type.name == "fp128":  # LLVM writes the low half first
                digits = digits.rjust(32, "0")
                value = int(digits[16:] + digits[:16], 16)
            return value
        if text[2:3] in "KLMHR" or len(text) > 18:
            raise cursor.error(f"a {type} in hexadecimal must have 16 digits", token)
        return _of_double(cursor, token, type, int(text, 16))
    if "." not in text:
        raise cursor.error(f"'{text[:40]}' is an integer, not a literal of type {type}", token)
    if len(text) > 4000:
        raise cursor.error(f"the literal has {len(text)} characters, which are too many", token)
    return _packed(cursor, token, type, float(text))


def _of_double(cursor: Cursor, token: Token, type: FloatType, bits: int) -> int:
    """A number that is written as the bits of a double."""
    if type.name == "double":
        return bits
    if bits >> 52 & 0x7FF != 0x7FF:
        number: float = struct.unpack("<d", bits.to_bytes(8, "little"))[0]
        return _packed(cursor, token, type, number)
    exponent, mantissa = {"half": (5, 10), "bfloat": (8, 7), "float": (8, 23)}[type.name]
    if bits & (1 << 52 - mantissa) - 1:  # a NaN keeps its payload
        raise cursor.error(f"{token.text} cannot be represented exactly as a {type}", token)
    payload = bits >> 52 - mantissa & (1 << mantissa) - 1
    return bits >> 63 << exponent + mantissa | (1 << exponent) - 1 << mantissa | payload


def _packed(cursor: Cursor, token: Token, type: FloatType, number: float) -> int:
    if type.name == "bfloat":
        bits = int.from_bytes(struct.pack("<f", number) if abs(number) < 3.4e38 else b"\0\0\1\0", "little")
        if bits & 0xFFFF:
            raise cursor.error(f"{token.text[:40]} cannot be represented exactly as a bfloat", token)
        return bits >> 16
    form = _PACKED.get(type.name)
    if form is None:
        raise cursor.error(f"a {type} must be written in hexadecimal", token)
    try:
        data = struct.pack(form, number)
    except OverflowError:
        raise cursor.error(f"{token.text[:40]} does not fit {type}", token) from None
    if struct.unpack(form, data)[0] != number:
        raise cursor.error(f"{token.text[:40]} cannot be represented exactly as a {type}", token)
    return int.from_bytes(data, "little")
