"""The rules of call frame information: how the CFA and a register are found (A.6.4.1)."""

from __future__ import annotations

from msgspec import Struct

__all__ = [
    "CfaExpression",
    "CfaRegister",
    "CfaRule",
    "ExpressionRule",
    "OffsetRule",
    "RegisterRule",
    "Rule",
    "SameValueRule",
    "UndefinedRule",
    "ValExpressionRule",
    "ValOffsetRule",
]


class CfaRegister(Struct, frozen=True):
    """The CFA is in `address_space` (None: the default one) at the contents of `register` + `displacement` bytes."""

    register: int
    displacement: int
    address_space: int | None = None


class CfaExpression(Struct, frozen=True):
    """The CFA is the location that an expression gives."""

    expression: bytes


CfaRule = CfaRegister | CfaExpression


class UndefinedRule(Struct, frozen=True):
    """"undefined": the register has no recoverable value in the calling frame."""


class SameValueRule(Struct, frozen=True):
    """"same value": the register has not been modified."""


class OffsetRule(Struct, frozen=True):
    """"offset(N)": saved `offset` bytes from the CFA."""

    offset: int


class ValOffsetRule(Struct, frozen=True):
    """"val_offset(N)": the value is the address `offset` bytes from the CFA."""

    offset: int


class RegisterRule(Struct, frozen=True):
    """"register(R)": kept in another register."""

    register: int


class ExpressionRule(Struct, frozen=True):
    """"expression(E)": saved at the location an expression gives."""

    expression: bytes


class ValExpressionRule(Struct, frozen=True):
    """"val_expression(E)": the value is what an expression gives."""

    expression: bytes


Rule = (
    UndefinedRule
    | SameValueRule
    | OffsetRule
    | ValOffsetRule
    | RegisterRule
    | ExpressionRule
    | ValExpressionRule
)
