"""The syntax tree of an expression: plain data, no types resolved, nothing evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class TypeName:
    """A type as written: specifiers (``unsigned int``, ``struct S``) and derivations, outermost last.

    ``tag`` is ``struct``, ``union``, ``class``, ``enum`` or "". A derivation is ``*``, ``&``, ``&&``,
    a tuple of parameter types for a function, or a number of elements for an array (-1 for ``[]``).
    """

    name: str
    tag: str = ""
    derivations: Derivations = ()
    is_const: bool = False
    is_volatile: bool = False


@dataclass(frozen=True, slots=True)
class TypeOf:
    """``typeof(expression)`` or ``decltype``: the type of an expression, then derivations."""

    operand: Expression
    derivations: Derivations = ()


AnyTypeName: TypeAlias = TypeName | TypeOf
Derivation: TypeAlias = "str | int | tuple[AnyTypeName, ...]"
Derivations: TypeAlias = tuple[Derivation, ...]


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer literal; the suffix and radix decide its type."""

    value: int
    suffix: str = ""
    radix: int = 10


@dataclass(frozen=True, slots=True)
class Float:
    """A floating literal."""

    value: float
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class Char:
    """A character constant."""

    value: int


@dataclass(frozen=True, slots=True)
class String:
    """A string literal, without its final null."""

    value: bytes


@dataclass(frozen=True, slots=True)
class Bool:
    """``true`` or ``false``."""

    value: bool


@dataclass(frozen=True, slots=True)
class NullPointer:
    """``nullptr``."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name, maybe qualified (``ns::x``); ``global_`` when it starts with ``::``."""

    name: str
    global_: bool = False


@dataclass(frozen=True, slots=True)
class ScopedName:
    """``'file.c'::name`` or ``function::name``."""

    scope: str
    name: str


@dataclass(frozen=True, slots=True)
class Dollar:
    """``$``, ``$$``, ``$3``, ``$$2``, ``$foo``: history, register, convenience variable."""

    name: str


@dataclass(frozen=True, slots=True)
class RegisterRange:
    """``$s[4:5]``: consecutive registers of a file as one value."""

    file: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Unary:
    """``- + ! ~ * &`` and prefix ``++ --``."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Postfix:
    """Postfix ``++`` and ``--``."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary:
    """A binary operator, ``@`` and ``,`` included."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Assign:
    """``=`` (operator "") and compound assignment (operator ``+`` for ``+=``)."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Conditional:
    """``a ? b : c``."""

    condition: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Cast:
    """``(type) x``, ``type(x)``; ``reinterpret`` for ``reinterpret_cast``."""

    type: AnyTypeName
    operand: Expression
    reinterpret: bool = False


@dataclass(frozen=True, slots=True)
class Sizeof:
    """``sizeof x``, ``sizeof (type)``; ``align`` for ``alignof``."""

    operand: Expression
    align: bool = False


@dataclass(frozen=True, slots=True)
class Index:
    """``a[i]``."""

    base: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class Member:
    """``a.b`` and ``a->b``."""

    base: Expression
    name: str
    arrow: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """``f(...)``; only convenience functions can be called."""

    function: Expression
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class TypedMemory:
    """``{type} address``."""

    type: AnyTypeName
    address: Expression


@dataclass(frozen=True, slots=True)
class ArrayLiteral:
    """``{1, 2, 3}``."""

    elements: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class SpaceAddress:
    """``local#0x10``: an address in a named address space."""

    space: str
    address: Expression


@dataclass(frozen=True, slots=True)
class TypeExpression:
    """A type where an expression is expected: ``ptype float *``, ``sizeof(int)``."""

    type: AnyTypeName


Expression: TypeAlias = (
    Integer | Float | Char | String | Bool | NullPointer | Name | ScopedName | Dollar | RegisterRange
    | Unary | Postfix | Binary | Assign | Conditional | Cast | Sizeof | Index | Member | Call
    | TypedMemory | ArrayLiteral | SpaceAddress | TypeExpression
)
