"""The rules of call frame information: how the CFA and a register are found (A.6.4.1)."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class CfaRegister:
    """The CFA is in `address_space` (None: the default one) at the contents of `register` + `displacement` bytes."""

    register: int
    displacement: int
    address_space: int | None = None


@dataclass(frozen=True, slots=True)
class CfaExpression:
    """The CFA is the location that an expression gives."""

    expression: bytes


CfaRule = CfaRegister | CfaExpression


@dataclass(frozen=True, slots=True)
class UndefinedRule:
    """"undefined": the register has no recoverable value in the calling frame."""


@dataclass(frozen=True, slots=True)
class SameValueRule:
    """"same value": the register has not been modified."""


@dataclass(frozen=True, slots=True)
class OffsetRule:
    """"offset(N)": saved `offset` bytes from the CFA."""

    offset: int


@dataclass(frozen=True, slots=True)
class ValOffsetRule:
    """"val_offset(N)": the value is the address `offset` bytes from the CFA."""

    offset: int


@dataclass(frozen=True, slots=True)
class RegisterRule:
    """"register(R)": kept in another register."""

    register: int


@dataclass(frozen=True, slots=True)
class ExpressionRule:
    """"expression(E)": saved at the location an expression gives."""

    expression: bytes


@dataclass(frozen=True, slots=True)
class ValExpressionRule:
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
