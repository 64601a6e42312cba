"""Rewrites the expressions that GCC writes for AMD GPUs, with GCC's meaning, into the form of the specification.

GCC keeps an address in a pair of scalar registers and the stack in global memory: s16 and s17 are the stack pointer,
and s18 and s19 hold the return address. For such a pair GCC writes `DW_OP_bregx s17+0, 32, shl, DW_OP_bregx s16+0,
plus`, although according to the specification, a 32-bit register cannot hold an address. It describes the return
address as saved at the place that a pair points to, and means that the pair itself holds it. It has no rule for the
stack pointer, whose value in the caller is the canonical frame address.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from msgspec.structs import replace

from rocdbg.dwarf.architecture import architecture_by_name
from rocdbg.dwarf.cfi_rule_types import CfaExpression, ExpressionRule, Rule
from rocdbg.dwarf.cfi_unwinding import Row
from rocdbg.dwarf.decoding import Operation, decode
from rocdbg.dwarf.errors import DecodeError
from rocdbg.dwarf.lane_values import based_register
from rocdbg.dwarf.operation_assembler import Item, assemble, encode_operation

__all__ = ["gcc_row", "location"]

_STACK_POINTER: Final = (48, 49)
"""s16 and s17."""
_PAIR: Final = ("const1u", "shl", "plus")


@lru_cache(maxsize=4096)
def location(data: bytes, dialect: str) -> bytes:
    """Return the location of an object, in the form of the specification: a scalar register on which GCC bases an
    address stands for the pair of which it is the lower register.

    What cannot be decoded (for example because of 64-bit DWARF offsets) is left to the evaluator.
    """
    try:
        operations = decode(data, dialect)
    except DecodeError:
        return data
    is_value = bool(operations) and operations[-1].info.meaning == "stack_value"
    out = []
    for operation, following in zip(operations, (*operations[1:], None), strict=False):
        loads = following is not None and following.info.meaning.startswith("deref")
        out.append(_read(operation, dialect) if is_value and not loads else _read_pair(operation, dialect))
    return b"".join(out)


def _read_pair(operation: Operation, dialect: str) -> bytes:
    based = _scalar(operation)
    if based is None:
        return encode_operation(operation.info, operation.operands)
    register, displacement = based
    high: list[Item] = [("regx", register + 1), ("deref_size", 4), ("const1u", 32), "shl"]
    return assemble(*high, ("regx", register), ("deref_size", 4), "plus", *_plus(displacement), dialect=dialect)


@lru_cache(maxsize=4096)
def _zero_extended(data: bytes, dialect: str) -> bytes:
    """The expression, rewritten if it bases addresses on 32-bit registers; unchanged otherwise."""
    return b"".join(_read(operation, dialect) for operation in _operations(data, dialect)) or data


def _operations(data: bytes, dialect: str) -> list[Operation]:
    try:
        return decode(data, dialect)
    except DecodeError:
        return []


def _read(operation: Operation, dialect: str) -> bytes:
    based = _scalar(operation)
    if based is None:
        return encode_operation(operation.info, operation.operands)
    register, displacement = based
    return assemble(("regx", register), ("deref_size", 4), *_plus(displacement), dialect=dialect)


def _scalar(operation: Operation) -> tuple[int, int] | None:
    """Register and displacement if an operation is based on a 32-bit register."""
    based = based_register(operation)
    return None if based is None or architecture_by_name("amdgcn").register_size(based[0]) != 4 else based


def _plus(displacement: int) -> list[Item]:
    return [("consts", displacement), "plus"] if displacement else []


def _pair(operations: Sequence[Operation]) -> int | None:
    """The lower register of the pair with which an expression begins."""
    if len(operations) < 5 or tuple(operations[i].info.meaning for i in (1, 2, 4)) != _PAIR:
        return None
    high, low = based_register(operations[0]), based_register(operations[3])
    if high is None or low is None or high != (low[0] + 1, 0) or low[1] or operations[1].operands != (32,):
        return None
    return low[0]


def gcc_row(row: Row) -> Row:
    """Return a row of rules as GCC means it. Other rows are returned unchanged, even if one has an invalid expression:
    evaluating it reports the error.
    """
    if not isinstance(row.cfa, CfaExpression) or _pair(_operations(row.cfa.expression, row.dialect)) is None:
        return row
    rules: dict[int, Rule] = {
        number: replace(rule, expression=_zero_extended(rule.expression, row.dialect))
        if isinstance(rule, ExpressionRule) else rule
        for number, rule in row.rules.items()
    }
    link = row.rules.get(row.return_address_register)
    if isinstance(link, ExpressionRule):
        operations = _operations(link.expression, row.dialect)
        low = _pair(operations)
        if low is not None and len(operations) == 5:
            halves = [("call_frame_entry_reg", low), ("piece", 4), ("call_frame_entry_reg", low + 1), ("piece", 4)]
            rules[row.return_address_register] = ExpressionRule(assemble(*halves, dialect=row.dialect))
    low, high = _STACK_POINTER
    rules.setdefault(low, ExpressionRule(assemble("stack_value", dialect=row.dialect)))
    rules.setdefault(high, ExpressionRule(assemble("stack_value", "lit4", "offset", dialect=row.dialect)))
    return replace(row, cfa=CfaExpression(_zero_extended(row.cfa.expression, row.dialect)), rules=rules)
