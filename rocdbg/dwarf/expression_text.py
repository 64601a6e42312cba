"""Expressions as text, written as llvm-dwarfdump writes them."""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.dwarf.decoding import Operation, decode_prefix
from rocdbg.dwarf.operation_table import Operand

__all__ = ["format_expression", "format_operation"]

_SIGNED = frozenset({Operand.S1, Operand.S2, Operand.S4, Operand.S8, Operand.SLEB, Operand.BRANCH})
_BASED = frozenset({"bregx", "aspace_bregx"})


def format_expression(
    data: bytes,
    dialect: str = "amd",
    address_size: int = 8,
    offset_size: int = 4,
    *,
    register_name: Callable[[int], str | None] | None = None,
    type_name: Callable[[int], str | None] | None = None,
    load_bias: int = 0,
) -> str:
    """The expression (A.7.7.1) on one line: "DW_OP_regx 0xa00, DW_OP_LLVM_user DW_OP_LLVM_push_lane".

    `register_name` gives names to DWARF registers and `type_name` to base type entries by their offset in the unit;
    where they are absent or return None, numbers are shown. `load_bias` is added to addresses. Bytes that cannot be
    decoded are shown as "<decoding error>" and their hexadecimal digits. Never raises because of the content of `data`;
    a dialect that does not exist raises `DwarfError`.
    """
    operations, error = decode_prefix(bytes(data), dialect, address_size, offset_size)
    sizes = (dialect, address_size, offset_size)
    texts = [
        format_operation(op, *sizes, register_name=register_name, type_name=type_name, load_bias=load_bias)
        for op in operations
    ]
    if error is not None:
        rest = data[error.offset :]
        texts.append("<decoding error>" + "".join(f" {byte:02x}" for byte in rest))
    return ", ".join(texts) if texts else "<empty>"


def format_operation(
    operation: Operation,
    dialect: str = "amd",
    address_size: int = 8,
    offset_size: int = 4,
    *,
    register_name: Callable[[int], str | None] | None = None,
    type_name: Callable[[int], str | None] | None = None,
    load_bias: int = 0,
) -> str:
    """One operation; arguments as in `format_expression`."""
    info = operation.info
    text = info.name if info.extension is None else f"DW_OP_LLVM_user {info.name}"
    if info.operands == (Operand.EXPRESSION,):
        block = operation.operands[0]
        assert isinstance(block, bytes)
        inner = format_expression(
            block, dialect, address_size, offset_size,
            register_name=register_name, type_name=type_name, load_bias=load_bias,
        )
        return f"{text}({inner})"
    implied = _implied_register(info.meaning)
    if implied is not None and register_name is not None:
        name = register_name(implied)
        if name is not None:
            displacement = operation.operands[0] if operation.operands else None
            return f"{text} {name}" + (_signed(displacement) if isinstance(displacement, int) else "")
    named = False
    for kind, value in zip(info.operands, operation.operands, strict=True):
        if isinstance(value, bytes):
            text += f" {len(value):#x}" + "".join(f" 0x{byte:02x}" for byte in value)
        elif kind is Operand.REGISTER:
            name = register_name(value) if register_name is not None else None
            named = name is not None
            text += f" {name if named else hex(value)}"
        elif kind is Operand.BASE_TYPE:
            text += _base_type(info.meaning, value, type_name)
        elif named and info.meaning in _BASED:
            text += _signed(value)
        elif kind is Operand.ADDRESS:
            text += f" {value + load_bias:#x}"
        elif kind in _SIGNED or info.meaning in _BASED:
            text += f" {_signed(value)}"
        else:
            text += f" {value:#x}"
    return text


def _signed(value: int) -> str:
    """A displacement with its sign; in hexadecimal if decimal digits would be too long to be useful."""
    return f"{value:+d}" if value.bit_length() <= 4096 else f"{value:+#x}"


def _implied_register(meaning: str) -> int | None:
    """The register number that is part of an operation's name."""
    for prefix in ("breg", "reg"):
        if meaning.startswith(prefix) and meaning[len(prefix) :].isdigit():
            return int(meaning[len(prefix) :])
    return None


def _base_type(meaning: str, offset: int, type_name: Callable[[int], str | None] | None) -> str:
    if offset == 0 and meaning in ("convert", "reinterpret"):
        return " 0x0"
    name = type_name(offset) if type_name is not None else None
    if name is None:
        return f" <base_type ref: {offset:#x}>"
    return f' (0x{offset:08x}) "{name}"'
