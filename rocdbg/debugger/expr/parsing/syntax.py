"""The syntax tree of an expression: plain data, in which no type is resolved and nothing is evaluated."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct


class TypeName(Struct, frozen=True):
    """A type as written: specifiers (``unsigned int``, ``struct S``) and derivations, outermost last.

    ``tag`` is ``struct``, ``union``, ``class``, ``enum`` or "". A derivation is ``*``, ``&``, ``&&``, a qualifier,
    a tuple of parameter types for a function, or a number of elements for an array (-1 for ``[]``).
    """

    name: str
    tag: str = ""
    derivations: Derivations = ()
    is_const: bool = False
    is_volatile: bool = False


class TypeOf(Struct, frozen=True):
    """``typeof(expression)`` or ``decltype``: the type of an expression, then derivations."""

    operand: Expression
    derivations: Derivations = ()


AnyTypeName: TypeAlias = TypeName | TypeOf
VARIADIC = TypeName("...")
"""Ends the parameters of a function that accepts further arguments."""
Derivation: TypeAlias = "str | int | tuple[AnyTypeName, ...]"
Derivations: TypeAlias = tuple[Derivation, ...]


class Integer(Struct, frozen=True):
    """An integer literal; its size, suffix and radix determine its type."""

    value: int
    suffix: str = ""
    radix: int = 10


class Float(Struct, frozen=True):
    """A floating-point literal."""

    value: float
    suffix: str = ""


class Char(Struct, frozen=True):
    """A character constant; ``prefix`` is "", ``L``, ``u`` or ``U``."""

    value: int
    prefix: str = ""


class String(Struct, frozen=True):
    """A string literal, without its final null; ``prefix`` is "", ``L``, ``u`` or ``U``."""

    value: bytes
    prefix: str = ""


class Bool(Struct, frozen=True):
    """``true`` or ``false``."""

    value: bool


class Name(Struct, frozen=True):
    """A name, possibly qualified (``ns::x``); ``global_`` if it begins with ``::``."""

    name: str
    global_: bool = False


class ScopedName(Struct, frozen=True):
    """``'file.c'::name`` or ``function::name``."""

    scope: str
    name: str


class Dollar(Struct, frozen=True):
    """``$``, ``$$``, ``$3``, ``$$2``, ``$foo``: history, register, convenience variable."""

    name: str


class RegisterRange(Struct, frozen=True):
    """``$s[4:5]``: consecutive registers of a register file as one value. ``$s[4]``, without ``last``, is one register.
    """

    file: str
    first: Expression
    last: Expression | None


class RegisterList(Struct, frozen=True):
    """``$[s4,s5]``, ``$[vcc_lo,vcc_hi]``: consecutive registers, each given by name.

    ``text`` is the expression as typed. If the names are variables of the program, the text instead means an element of
    the last value in the history, and ``otherwise`` is the tree of that meaning.
    """

    elements: tuple[Registers, ...]
    text: str
    otherwise: Expression | None


class RegisterHalf(Struct, frozen=True):
    """``$v1.l``, ``$v[1].h``: the low or high 16 bits of each lane's dword."""

    whole: Dollar | RegisterRange | RegisterList | RegisterHalf
    half: str


Registers = Dollar | RegisterRange | RegisterList | RegisterHalf


class Unary(Struct, frozen=True):
    """``- + ! ~ * &`` and prefix ``++ --``."""

    operator: str
    operand: Expression


class Postfix(Struct, frozen=True):
    """Postfix ``++`` and ``--``."""

    operator: str
    operand: Expression


class Binary(Struct, frozen=True):
    """A binary operator, including ``@`` and ``,``."""

    operator: str
    left: Expression
    right: Expression


class Assign(Struct, frozen=True):
    """``=`` (operator "") and compound assignment (operator ``+`` for ``+=``)."""

    operator: str
    left: Expression
    right: Expression


class Conditional(Struct, frozen=True):
    """``a ? b : c``."""

    condition: Expression
    then: Expression
    otherwise: Expression


class Cast(Struct, frozen=True):
    """``(type) x``, ``type(x)``; ``kind`` is ``static`` for ``static_cast`` and so on."""

    type: AnyTypeName
    operand: Expression
    kind: str = ""


class Sizeof(Struct, frozen=True):
    """``sizeof x``, ``sizeof (type)``; ``align`` for ``alignof``."""

    operand: Expression
    align: bool = False


class Index(Struct, frozen=True):
    """``a[i]``."""

    base: Expression
    index: Expression


class Member(Struct, frozen=True):
    """``a.b`` and ``a->b``."""

    base: Expression
    name: str
    arrow: bool = False


class Call(Struct, frozen=True):
    """``f(...)``: a call of a function of the program, or of a convenience function."""

    function: Expression
    arguments: tuple[Expression, ...]


class TypedMemory(Struct, frozen=True):
    """``{type} address``."""

    type: AnyTypeName
    address: Expression


class ArrayLiteral(Struct, frozen=True):
    """``{1, 2, 3}``."""

    elements: tuple[Expression, ...]


class SpaceAddress(Struct, frozen=True):
    """``local#0x10``: an address in a named address space."""

    space: str
    address: Expression


class TypeExpression(Struct, frozen=True):
    """A type in the place of an expression: ``ptype float *``, ``sizeof(int)``."""

    type: AnyTypeName


Expression: TypeAlias = (
    Integer | Float | Char | String | Bool | Name | ScopedName | Dollar | RegisterRange | RegisterList | RegisterHalf
    | Unary | Postfix | Binary | Assign | Conditional | Cast | Sizeof | Index | Member | Call
    | TypedMemory | ArrayLiteral | SpaceAddress | TypeExpression
)
