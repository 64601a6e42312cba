"""Recovered values for the lanes of any wave that reaches an instruction: `Recovery.value` for all lanes at once.

All waves at a PC have the same recipe for a variable: which registers still hold its value, how a lost value is
computed again, and what the source text initialises it with. Lanes for which nothing is recovered are left undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rocdbg.addresses import LoadedAddress
from rocdbg.analysis.machine_state import AGPR
from rocdbg.analysis.value_flow import CONSTANT, VECTOR
from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.debugger.frames.compiled_places import InMemory, Nowhere, Number, Part, Pieces, Place, Untranslatable
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.frames.kernel_arguments import passed_argument
from rocdbg.debugger.frames.recovered_values import Followed, Recovery
from rocdbg.debugger.frames.routine_of_frame import routine_of
from rocdbg.debugger.program.source_text import source_expressions as text
from rocdbg.debugger.target.capabilities.target_state import Target
from rocdbg.dwarf.info import Variable
from rocdbg.sim.core.builder import I1, I64, Op
from rocdbg.sim.core.lane_expressions import (
    Choose,
    LaneNumber,
    Node,
    Require,
    Scalar,
    Vector,
    apply,
    constant,
    exec_mask,
    negated,
    unsigned,
)

_DEEPEST = 40
"""How deeply initialisers may name variables that have initialisers themselves."""


class RecoveredPlaces:
    """Places of recovered variables in a frame. ``located`` gives a variable's place from its location.

    ``position`` gives a work-item's position (I64) under the names of `source_expressions.Position`. ``of_dispatch``
    restricts a node to the waves of the frame's dispatch.
    """

    def __init__(
        self, recovery: Recovery, frame: Frame, target: Target, located: Callable[[Variable], Place],
        position: Callable[[str, int], Node], of_dispatch: Callable[[Node], Node],
    ) -> None:
        self._recovery, self._frame, self._target = recovery, frame, target
        self._located, self._position, self._of_dispatch = located, position, of_dispatch
        self._open: set[int] = set()

    def place(self, variable: Variable) -> Place:
        """Return the place of a variable; `Nowhere` if its value cannot be recovered. Raises `Untranslatable`."""
        context = self._frame.context
        thread = context.access.thread
        if context.physical.unwound is not None or context.pc is None:
            raise Untranslatable("a recovered value of an outer frame")
        if not self._recovery.looks_at(self._frame, self._target.wave(thread).exec_mask):
            return Nowhere()
        followed = self._recovery.known_of(self._frame, variable)
        size = variable.type.size
        if followed is None or not size:
            return Nowhere()
        executes = unsigned(apply(Op.LSHR, exec_mask(context.wave_size), LaneNumber()), I1)
        address = self._passed(variable)
        if address is not None:
            argument = InMemory(AddressSpace.GLOBAL, Require(executes, self._of_dispatch(address)))
            return Part(argument, 0)  # a copy of the parameter has no address
        if variable.offset not in followed.numbers:
            return Nowhere()
        bits = self._bits_of(followed, variable, size)
        return bits if isinstance(bits, Nowhere) else Pieces(tuple(
            (Number(Require(executes, node), count), count) for node, count in bits
        ))

    def _passed(self, variable: Variable) -> Node | None:
        """Return the address at which an argument was passed, as `entry_value` finds it."""
        if not variable.is_parameter:
            return None
        frame = self._frame
        routine = routine_of(frame) if frame.scopes else None
        argument = passed_argument(frame.program, routine, variable) if routine is not None else None
        address = self._target.kernarg_address(frame.context.access.thread) if argument is not None else 0
        if argument is None or not address:
            return None
        return constant(address + argument.offset)

    def _bits_of(self, followed: Followed, variable: Variable, size: int) -> list[tuple[Node, int]] | Nowhere:
        """Return the value in parts of at most 64 bits (I64), each with its number of bits."""
        context = self._frame.context
        assert context.pc is not None
        pc = self._frame.program.to_file(LoadedAddress(context.pc))
        number = followed.numbers[variable.offset]
        found = self._in_code(followed, number, size, pc)
        if found is not None:
            return found
        initialiser = followed.initialised(variable, pc)
        if initialiser is None or variable.offset in self._open:
            return Nowhere()
        if len(self._open) > _DEEPEST:
            raise Untranslatable("an initialiser of initialisers")
        self._open.add(variable.offset)
        try:
            value = compiled(initialiser.expression, self._variable, self._position)
        finally:
            self._open.remove(variable.offset)
        return [(apply(Op.AND, value, constant((1 << 8 * min(size, 8)) - 1)), 8 * size)]

    def _in_code(self, followed: Followed, number: int, size: int, pc: int) -> list[tuple[Node, int]] | None:
        """Return the value that machine code still holds, as `recovered_values` finds it."""
        if followed.flow is None:
            return None
        places = followed.flow.before(pc)
        if number in followed.constants and places.is_known(number):
            return [(constant(followed.constants[number] & (1 << 8 * size) - 1), 8 * size)]
        if size <= 4:
            bits = followed.computations.bits(
                number, places, self._dword, lambda value: _Symbol(constant(value))
            )
            return None if bits is None else [(apply(Op.AND, bits.node, constant((1 << 8 * size) - 1)), 8 * size)]
        parts: list[tuple[Node, int]] = []
        for part in range((size + 3) // 4):
            at = places.registers.get((number, part))
            dword = self._dword(at) if at is not None else None
            if dword is None:
                return None
            parts.append((dword.node, min(32, 8 * size - 32 * part)))
        return parts

    @staticmethod
    def _dword(place: int) -> _Symbol | None:
        if place >= CONSTANT:
            return None
        vector = place - VECTOR
        if vector < 0:
            return _Symbol(unsigned(Scalar(place), I64))
        return _Symbol(unsigned(Vector(vector - AGPR, True) if vector >= AGPR else Vector(vector), I64))

    def _variable(self, variable: Variable) -> Node:
        """Return the bits of a variable that an initialiser names (I64)."""
        place = self._located(variable)
        if isinstance(place, Nowhere):
            place = self.place(variable)
        size = variable.type.size or 0
        if not 0 < size <= 8:
            raise Untranslatable("an initialiser of more than a number")
        return place.read(0, 8 * size)


class _Symbol:
    """A number of up to 64 bits (I64) with operators for arithmetic modulo 2^64."""

    __slots__ = ("node",)

    def __init__(self, node: Node) -> None:
        self.node = node

    def _with(self, op: Op, other: _Symbol | int) -> _Symbol:
        return _Symbol(apply(op, self.node, other.node if isinstance(other, _Symbol) else constant(other)))

    def __add__(self, other: _Symbol | int) -> _Symbol:
        return self._with(Op.ADD, other)

    def __sub__(self, other: _Symbol | int) -> _Symbol:
        return self._with(Op.SUB, other)

    def __mul__(self, other: _Symbol | int) -> _Symbol:
        return self._with(Op.MUL, other)

    def __and__(self, other: _Symbol | int) -> _Symbol:
        return self._with(Op.AND, other)

    def __or__(self, other: _Symbol | int) -> _Symbol:
        return self._with(Op.OR, other)

    def __xor__(self, other: _Symbol | int) -> _Symbol:
        return self._with(Op.XOR, other)

    def __lshift__(self, other: _Symbol | int) -> _Symbol:
        return self._with(Op.SHL, other)

    def __rshift__(self, other: _Symbol | int) -> _Symbol:
        return self._with(Op.ASHR, other)

    def __invert__(self) -> _Symbol:
        return self._with(Op.XOR, -1)


# Source text: the counterpart of `source_expressions.evaluate`, which builds a node.


def compiled(
    expression: text.Expression, variable: Callable[[Variable], Node], position: Callable[[str, int], Node]
) -> Node:
    """Return the value of an expression (I64, extended according to its kind), undecided where it is not defined."""
    kind = expression.kind
    match expression:
        case text.Number(_, value):
            return constant(text.converted(value, kind))
        case text.Name(_, named):
            return _converted(variable(named), kind)
        case text.Position(_, what, axis):
            return _converted(position(what, axis), kind)
        case text.Conversion(_, operand):
            return _converted(compiled(operand, variable, position), kind)
        case text.Choice(_, condition, (yes, no)):
            holds = _truth(compiled(condition, variable, position))
            sides = [_converted(compiled(side, variable, position), kind) for side in (yes, no)]
            return Choose(holds, sides[0], sides[1])
        case text.Operation(_, operator, operands):
            return _operation(expression, operator, [compiled(one, variable, position) for one in operands])
    raise Untranslatable("an initialiser of another kind")


def _converted(node: Node, kind: text.Kind) -> Node:
    """Convert as `source_expressions.converted` does; an unsigned 64-bit number keeps its bits."""
    if kind.is_bool:
        return unsigned(_truth(node), I64)
    if kind.size >= 8:
        return node
    lost = constant(64 - 8 * kind.size)
    return apply(Op.ASHR if kind.signed else Op.LSHR, apply(Op.SHL, node, lost), lost)


def _truth(node: Node) -> Node:
    return apply(Op.NE, node, constant(0))


def _operation(expression: text.Operation, name: str, sides: list[Node]) -> Node:
    kind = expression.kind
    first = sides[0]
    if name in ("&&", "||"):
        known = constant(name == "||", I1)
        second = _truth(sides[1])
        chosen = (second, known) if name == "&&" else (known, second)
        return unsigned(Choose(_truth(first), *chosen), I64)
    if len(sides) == 1:
        if name == "!":
            return unsigned(negated(_truth(first)), I64)
        if name == "-":
            return _sum(Op.SUB, constant(0), first, kind)
        return _converted(apply(Op.XOR, first, constant(-1)), kind)
    second = sides[1]
    if name in text.COMPARISONS:
        wide = text.common(expression.operands[0].kind, expression.operands[1].kind)
        left, right = _converted(first, wide), _converted(second, wide)
        if name.startswith(">"):
            left, right = right, left
        return unsigned(apply(_SIGNED[name] if wide.signed else _UNSIGNED[name], left, right), I64)
    if kind.step:
        moved = apply(Op.MUL, second, constant(kind.step))
        return _converted(apply(Op.ADD if name == "+" else Op.SUB, first, moved), kind)
    first = _converted(first, kind)
    if name in ("<<", ">>"):
        op = Op.SHL if name == "<<" else Op.ASHR if kind.signed else Op.LSHR
        inside = apply(Op.ULT, second, constant(8 * kind.size))
        return _converted(Require(inside, apply(op, first, second)), kind)
    second = _converted(second, kind)
    if name in ("/", "%"):
        if kind.signed and kind.size >= 8:
            raise Untranslatable("a division of 64 bits with a sign")
        return _checked(_divided(name, first, second, kind.signed), kind)
    if name in ("+", "-"):
        return _sum(_EXACT[name], first, second, kind)
    if name == "*" and kind.signed and kind.size >= 8 and not all(map(_is_short, expression.operands)):
        raise Untranslatable("a product of 64 bits with a sign")
    return _converted(apply(_EXACT[name], first, second), kind) if kind.size >= 8 or name != "*" else _checked(
        apply(_EXACT[name], first, second), kind
    )


def _is_short(operand: text.Expression) -> bool:
    """Whether a signed 64-bit operand has a value of at most 32 bits, so that products fit."""
    inner = operand.operand.kind if isinstance(operand, text.Conversion) else operand.kind
    if isinstance(operand, text.Number):
        return -(1 << 31) <= operand.value < 1 << 31
    return inner.size < 4 or (inner.size == 4 and inner.signed)


def _sum(op: Op, left: Node, right: Node, kind: text.Kind) -> Node:
    """Return the sum or difference of operands of a kind, undecided where signed numbers overflow."""
    value = apply(op, left, right)
    if not kind.signed or kind.size < 8:
        return _checked(value, kind)
    other = apply(Op.XOR, right, value) if op is Op.ADD else apply(Op.XOR, left, right)
    overflows = apply(Op.SLT, apply(Op.AND, apply(Op.XOR, left, value), other), constant(0))
    return Require(negated(overflows), value)


def _divided(name: str, first: Node, second: Node, is_signed: bool) -> Node:
    """Divide towards zero. Signed numbers have at most 32 bits, and are divided by their absolute values."""
    zero = constant(0)
    if not is_signed:
        return Require(_truth(second), apply(Op.UDIV if name == "/" else Op.UREM, first, second))
    below = [apply(Op.SLT, side, zero) for side in (first, second)]
    sizes = [
        apply(Op.SELECT, less, apply(Op.SUB, zero, side), side, type=I64)
        for less, side in zip(below, (first, second), strict=True)
    ]
    quotient = apply(Op.UDIV, *sizes)
    quotient = apply(Op.SELECT, apply(Op.XOR, *below), apply(Op.SUB, zero, quotient), quotient, type=I64)
    if name == "%":
        quotient = apply(Op.SUB, first, apply(Op.MUL, quotient, second))
    return Require(_truth(second), quotient)


def _checked(value: Node, kind: text.Kind) -> Node:
    """Check as `source_expressions._checked` does. The value must be exact in 64 bits, or unsigned."""
    found = _converted(value, kind)
    return Require(apply(Op.EQ, found, value), found) if kind.signed else found


_EXACT: Mapping[str, Op] = {"+": Op.ADD, "-": Op.SUB, "*": Op.MUL, "&": Op.AND, "|": Op.OR, "^": Op.XOR}
_SIGNED: Mapping[str, Op] = {
    "==": Op.EQ, "!=": Op.NE, "<": Op.SLT, "<=": Op.SLE, ">": Op.SLT, ">=": Op.SLE,
}
_UNSIGNED: Mapping[str, Op] = {**_SIGNED, "<": Op.ULT, "<=": Op.ULE, ">": Op.ULT, ">=": Op.ULE}
