"""Expressions over one lane of a wave. The debugger, which knows the source, passes them to the engine.

An expression is a tree of typed nodes. Its leaves are what a wave holds (registers, memory, fields of its state), the
number of the lane, constants, and *cells*: numbers that the caller may change between runs. It may be *undecided*: a
`Require` whose condition fails, or memory that cannot be read, gives no value, and the caller must find the answer
itself or report an error. A translated expression therefore need not cover every corner case of its source.

`rocdbg.sim.translator.lane_code` translates expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import TypeAlias

from msgspec import Struct

from rocdbg.sim.core.builder import FLOAT, I1, I32, I64, I128, INTEGER, Op, Type
from rocdbg.sim.core.layout import EXEC_LO, SGPR_COUNT, WORDS
from rocdbg.sim.translator.ir import well_typed

MAX_NODES = 4_000
"""Maximum number of nodes in an expression; each becomes a few instructions for every lane."""
MAX_DEPTH = 150


class LaneExpressionError(Exception):
    """An expression that has no meaning, or is too large: the caller evaluates it in another way."""


class Space(IntEnum):
    """The address space of a load."""

    FLAT = 0
    """Global memory, or LDS and private memory in their apertures."""
    LDS = 1
    """Offset in the workgroup's LDS."""
    LANE = 2
    """Offset in the lane's private memory."""
    WAVE = 3
    """Offset in the wave's private memory, all lanes interleaved."""
    GLOBAL = 4
    """Global memory alone."""


class Constant(Struct, frozen=True):
    """A number; integers are wrapped to the type."""

    type: Type
    value: int | float


class LaneNumber(Struct, frozen=True):
    """The number of the lane (I64)."""

    @property
    def type(self) -> Type:
        return I64


class Field(Struct, frozen=True):
    """A field of the wave's state (`layout.WORDS`), zero-extended to I64."""

    name: str

    @property
    def type(self) -> Type:
        return I64


class Scalar(Struct, frozen=True):
    """A scalar register, identified by its operand code (I32)."""

    code: int

    @property
    def type(self) -> Type:
        return I32


class Vector(Struct, frozen=True):
    """The lane's dword of a vector register (I32). If ``lane`` is given, the dword of that lane instead; undecided if
    there is no such lane.
    """

    number: int
    accumulator: bool = False
    lane: Node | None = None

    @property
    def type(self) -> Type:
        return I32


class Cell(Struct, frozen=True):
    """The number at ``index`` among the numbers that the caller provides (I64)."""

    index: int

    @property
    def type(self) -> Type:
        return I64


class Load(Struct, frozen=True):
    """Memory at an address (I64); undecided if it cannot be read. Addresses are not truncated to the size of the space.
    """

    type: Type
    space: Space
    address: Node


class Apply(Struct, frozen=True):
    """A primitive of `rocdbg.sim.core.builder`. The count of a shift must be less than the width, and a divisor must
    not be 0.
    """

    op: Op
    type: Type
    operands: tuple[Node, ...]


class Choose(Struct, frozen=True):
    """``condition ? yes : no``; the branch not taken is not evaluated."""

    condition: Node
    yes: Node
    no: Node

    @property
    def type(self) -> Type:
        return self.yes.type


class Require(Struct, frozen=True):
    """``value`` where ``condition`` holds, else undecided."""

    condition: Node
    value: Node

    @property
    def type(self) -> Type:
        return self.value.type


Node: TypeAlias = Constant | LaneNumber | Field | Scalar | Vector | Cell | Load | Apply | Choose | Require


# -- construction --------------------


def constant(value: int, type: Type = I64) -> Constant:
    """An integer, wrapped to its type."""
    return Constant(type, value & (1 << type.bits) - 1)


def number_of(node: Node) -> int | None:
    """The unsigned value of an integer node that is constant; ``None`` if it is not."""
    if isinstance(node, Constant) and not node.type.is_float:
        return int(node.value)
    return None


def apply(op: Op, *operands: Node, type: Type | None = None) -> Node:
    """Apply a primitive, whose result has the type of its operands by default. Constant operands are folded."""
    first = operands[0].type
    result = type if type is not None else I1 if op in _COMPARES else first
    if not well_typed(op, result, [operand.type for operand in operands]):
        names = ", ".join(operand.type.name for operand in operands)
        raise LaneExpressionError(f"{op.name} of {names} to {result.name}")
    numbers = [number_of(operand) for operand in operands]
    left, right = numbers[0], numbers[-1]
    if left is not None and right is not None and op in _FOLDED:
        return constant(_FOLDED[op](left, right), result)
    if right == 0 and op in (Op.ADD, Op.SUB, Op.OR, Op.XOR, Op.SHL, Op.LSHR, Op.ASHR):
        return operands[0]
    if left == 0 and op in (Op.ADD, Op.OR, Op.XOR):
        return operands[1]
    if op is Op.ADD and right is not None:  # chains of displacements
        inner = operands[0]
        if isinstance(inner, Apply) and inner.op is Op.ADD and (below := number_of(inner.operands[1])) is not None:
            return apply(Op.ADD, inner.operands[0], constant(below + right, result))
    return Apply(op, result, operands)


_COMPARES = frozenset({
    Op.EQ, Op.NE, Op.ULT, Op.ULE, Op.SLT, Op.SLE, Op.FEQ, Op.FLT, Op.FLE, Op.FNE, Op.FUNO,
})
_FOLDED: dict[Op, Callable[[int, int], int]] = {
    Op.ADD: lambda a, b: a + b, Op.SUB: lambda a, b: a - b, Op.MUL: lambda a, b: a * b, Op.AND: lambda a, b: a & b,
    Op.OR: lambda a, b: a | b, Op.XOR: lambda a, b: a ^ b, Op.EQ: lambda a, b: int(a == b),
    Op.NE: lambda a, b: int(a != b), Op.ULT: lambda a, b: int(a < b), Op.ULE: lambda a, b: int(a <= b),
    Op.SHL: lambda a, b: a << min(b, 128), Op.LSHR: lambda a, b: a >> b, Op.ZEXT: lambda a, b: a,
    Op.TRUNC: lambda a, b: a,
}


def unsigned(node: Node, type: Type) -> Node:
    """An integer in another width, zero-extended."""
    if node.type is type:
        return node
    return apply(Op.ZEXT if node.type.bits < type.bits else Op.TRUNC, node, type=type)


def signed(node: Node, type: Type) -> Node:
    """An integer in another width, sign-extended."""
    if node.type is type:
        return node
    value = number_of(node)
    if value is not None:
        return constant(value - ((value >> node.type.bits - 1) << node.type.bits), type)
    return apply(Op.SEXT if node.type.bits < type.bits else Op.TRUNC, node, type=type)


def both(*conditions: Node) -> Node:
    """Whether all conditions hold; all of them are evaluated."""
    result = conditions[0]
    for condition in conditions[1:]:
        result = apply(Op.AND, result, condition)
    return result


def negated(condition: Node) -> Node:
    """Whether a condition does not hold."""
    return apply(Op.XOR, condition, constant(1, I1))


def exec_mask(wave_size: int) -> Node:
    """EXEC (I64)."""
    low = unsigned(Scalar(EXEC_LO), I64)
    if wave_size == 32:
        return low
    return apply(Op.OR, low, apply(Op.SHL, unsigned(Scalar(EXEC_LO + 1), I64), constant(32)))


def with_cells(node: Node, cells: Mapping[int, int | Cell]) -> Node:
    """An expression with cells replaced by numbers (u64), or by other cells."""
    match node:
        case Cell(index):
            found = cells[index]
            return found if isinstance(found, Cell) else constant(found)
        case Vector(number, accumulator, lane):
            return Vector(number, accumulator, with_cells(lane, cells) if lane is not None else None)
        case Load(type, space, address):
            return Load(type, space, with_cells(address, cells))
        case Apply(op, type, operands):
            return apply(op, *(with_cells(operand, cells) for operand in operands), type=type)
        case Choose(condition, yes, no):
            return Choose(with_cells(condition, cells), with_cells(yes, cells), with_cells(no, cells))
        case Require(condition, value):
            return Require(with_cells(condition, cells), with_cells(value, cells))
    return node


# -- inspection --------------------


def children(node: Node) -> tuple[Node, ...]:
    """The operands of an expression."""
    match node:
        case Vector(_, _, lane):
            return (lane,) if lane is not None else ()
        case Load(_, _, address):
            return (address,)
        case Apply(_, _, operands):
            return operands
        case Choose(condition, yes, no):
            return condition, yes, no
        case Require(condition, value):
            return condition, value
    return ()


def is_uniform(node: Node) -> bool:
    """Whether a tree has the same value for all lanes and cannot be undecided, so that it can always be computed."""
    if isinstance(node, LaneNumber | Vector | Load | Choose | Require):
        return False
    return all(is_uniform(child) for child in children(node))


# -- validation --------------------


def check(node: Node, vgprs: int, has_agprs: bool) -> int:
    """The number of cells that an expression needs. Raises `LaneExpressionError` for one that names something that does
    not exist.

    ``vgprs``: the number of vector registers in a wave's state. Every number that becomes an offset into host memory is
    checked here.
    """
    waiting: list[tuple[Node, int]] = [(node, 0)]
    count = cells = 0
    while waiting:
        current, depth = waiting.pop()
        count += 1
        if count > MAX_NODES or depth > MAX_DEPTH:
            raise LaneExpressionError("the expression is too large")
        below: tuple[Node, ...] = ()
        match current:
            case Constant(type=type):
                _number_type(type)
            case Field(name):
                if name not in WORDS:
                    raise LaneExpressionError(f"a wave has no field {name}")
            case Scalar(code):
                if not 0 <= code < SGPR_COUNT:
                    raise LaneExpressionError(f"there is no scalar register {code}")
            case Vector(number, accumulator, lane):
                if not 0 <= number < (256 if accumulator else vgprs) or (accumulator and not has_agprs):
                    raise LaneExpressionError(f"there is no vector register {number}")
                below = (lane,) if lane is not None else ()
            case Cell(index):
                if not 0 <= index < MAX_NODES:
                    raise LaneExpressionError(f"there is no cell {index}")
                cells = max(cells, index + 1)
            case Load(type, _, address):
                if type.is_float or type not in (INTEGER[8], INTEGER[16], I32, I64) or address.type is not I64:
                    raise LaneExpressionError(f"a load of {type.name} at {address.type.name}")
                below = (address,)
            case Apply(op, type, operands):
                if not well_typed(op, type, [operand.type for operand in operands]):
                    raise LaneExpressionError(f"{op.name} to {type.name}")
                below = operands
            case Choose(condition, yes, no):
                if condition.type is not I1 or yes.type is not no.type:
                    raise LaneExpressionError("a choice between two types")
                below = (condition, yes, no)
            case Require(condition, value):
                if condition.type is not I1:
                    raise LaneExpressionError("an invalid condition")
                below = (condition, value)
        waiting.extend((child, depth + 1) for child in below)
    return cells


def _number_type(type: Type) -> None:
    if type not in (I1, I128, *INTEGER.values(), *FLOAT.values()):
        raise LaneExpressionError(f"a constant of {type.name}")


__all__ = [
    "MAX_DEPTH", "MAX_NODES", "Apply", "Cell", "Choose", "Constant", "Field", "LaneExpressionError", "LaneNumber",
    "Load", "Node", "Require", "Scalar", "Space", "Vector", "apply", "both", "check", "children", "constant",
    "exec_mask", "is_uniform", "negated", "number_of", "signed", "unsigned", "with_cells",
]
