"""DWARF location expressions as places for any lane: the counterpart of `rocdbg.dwarf.evaluate_location` for one lane.

Operations that producers use to describe variables have a translation; all others raise `Untranslatable`.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from rocdbg.addresses import LoadedAddress
from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.arch.dwarf_registers import dwarf_register
from rocdbg.debugger.frames.compiled_places import (
    Bytes,
    InMemory,
    InRegister,
    Nowhere,
    Number,
    Pieces,
    Place,
    Untranslatable,
    plus,
)
from rocdbg.debugger.frames.frame_context import FrameContext
from rocdbg.dwarf.context import Expression, ExpressionLike, LocationList
from rocdbg.dwarf.decoding import Operation, decode
from rocdbg.dwarf.location import LocationDescription
from rocdbg.dwarf.location import Place as DwarfPlace
from rocdbg.dwarf.storage import RegisterStorage
from rocdbg.dwarf.typed_values import BaseType
from rocdbg.sim.core.builder import I64, Op
from rocdbg.sim.core.lane_expressions import (
    Apply,
    LaneNumber,
    Node,
    Require,
    apply,
    constant,
    number_of,
    unsigned,
)

_MAX_OPERATIONS = 200


def compile_location(what: ExpressionLike, context: FrameContext) -> Place:
    """Return the place that an expression gives for any lane at the context's PC. Raises `Untranslatable`.

    The evaluator must have evaluated the expression in a context at this PC: well-formedness is not checked again.
    """
    if isinstance(what, LocationList):
        pc = context.pc
        matching = what.matching(LoadedAddress(pc - context.load_bias)) if pc is not None else []
        if not matching and pc is not None:
            return Nowhere()
        if len(matching) != 1:
            raise Untranslatable("a location list with several entries here" if matching else "no location here")
        what = Expression(matching[0], what.dialect or "amd")
    if not isinstance(what, Expression):
        raise Untranslatable("an expression without a dialect")
    return _Stack(context, what.dialect).run(what.data)


def registers_extent(place: Place, context: FrameContext, size: int, extent: Callable[
    [LocationDescription, int], LocationDescription
]) -> Place:
    """Return the part of ``size`` bytes at a place in a register; ``extent`` applies the producer's conventions."""
    if not isinstance(place, InRegister):
        return place
    register = dwarf_register(place.number)
    storage = RegisterStorage(context.access, context.architecture, place.number, 8 * register.size)
    whole = LocationDescription(DwarfPlace(storage, place.bit))
    kept = extent(whole, size)
    if kept is whole:
        return place
    if kept.is_undefined:
        return Nowhere()
    known = next((part.bits for part in kept.fragments(8 * size)), 0)
    return Pieces(((place, known), (Nowhere(), 8 * size - known)))


class _Typed(Struct, frozen=True):
    """An integer of a base type, sign- or zero-extended to an I64."""

    node: Node
    bits: int
    signed: bool

    def same(self, node: Node) -> _Typed:
        """Return a result of this type from the low bits of ``node``."""
        return _Typed(_extended(node, self.bits, self.signed), self.bits, self.signed)


_Entry = Node | Place | _Typed | list[tuple[Place, int]]
"""A stack entry: a number of the generic type (I64) or of a base type, a location, or an unfinished composite."""


class _Stack:
    """The stack of one expression."""

    def __init__(self, context: FrameContext, dialect: str) -> None:
        self.context, self.dialect = context, dialect
        self.entries: list[_Entry] = []

    def run(self, data: bytes) -> Place:
        operations = decode(data, self.dialect, 8, self.context.offset_size)
        if len(operations) > _MAX_OPERATIONS:
            raise Untranslatable("a long location expression")
        for operation in operations:
            self._execute(operation)
        if not self.entries:
            return Nowhere()
        return self._location(self.entries[-1])

    def _execute(self, operation: Operation) -> None:
        meaning = operation.info.meaning
        numbers = [operand for operand in operation.operands if isinstance(operand, int)]
        if (number := operation.literal) is not None:
            self.entries.append(constant(number))
        elif (number := operation.register) is not None:
            self.entries.append(self._register(number))
        elif (meaning in _BINARY or meaning in _COMPARE) and any(isinstance(e, _Typed) for e in self.entries[-2:]):
            self._typed(meaning, self._pop(), self._pop())
        elif meaning in _BINARY:
            right, left = self._number(), self._number()
            self.entries.append(_shift(meaning, left, right) if meaning in _SHIFTS else apply(
                _BINARY[meaning], left, right))
        elif meaning in _COMPARE:
            right, left = self._number(), self._number()
            op, swapped = _COMPARE[meaning]
            first, second = (right, left) if swapped else (left, right)
            self.entries.append(unsigned(apply(op, first, second), I64))
        elif (handler := _HANDLERS.get(meaning)) is not None:
            handler(self, numbers, operation)
        else:
            raise Untranslatable(f"the location operation {operation.name}")

    def _register(self, number: int) -> Place:
        context = self.context
        if context.physical.unwound is not None or context.architecture.register_size(number) is None:
            raise Untranslatable("a register of an outer frame")
        register = dwarf_register(number)
        if register.wave_size not in (None, context.wave_size):
            raise Untranslatable("a register of another wave size")
        return InRegister(number, wave_size=context.wave_size)

    # -- popping entries

    def _pop(self) -> _Entry:
        if not self.entries:
            raise Untranslatable("an empty stack")
        return self.entries.pop()

    def _number(self) -> Node:
        entry = self._pop()
        if isinstance(entry, InMemory) and entry.space == AddressSpace.GLOBAL:
            return entry.address
        if isinstance(entry, Place | list):
            raise Untranslatable("a location that is used as a number")
        if isinstance(entry, _Typed):
            raise Untranslatable("a number of a base type")
        return entry

    def _typed(self, meaning: str, right: _Entry, left: _Entry) -> None:
        """An operation on two integers of one base type."""
        if not isinstance(left, _Typed) or not isinstance(right, _Typed) or (
            (left.bits, left.signed) != (right.bits, right.signed)
        ):
            raise Untranslatable("numbers of different types")
        if meaning in _COMPARE:
            if left.bits == 64 and not left.signed and meaning not in ("eq", "ne"):
                raise Untranslatable("a comparison of 64 bits without a sign")
            op, swapped = _COMPARE[meaning]
            first, second = (right.node, left.node) if swapped else (left.node, right.node)
            self.entries.append(unsigned(apply(op, first, second), I64))
            return
        count = number_of(right.node)
        if meaning in _SHIFTS and (meaning != "shl" or count is None or count >= left.bits):
            raise Untranslatable("a shift of a typed number")
        self.entries.append(left.same(apply(_BINARY[meaning], left.node, right.node)))

    def _location(self, entry: _Entry) -> Place:
        if isinstance(entry, _Typed):
            raise Untranslatable("a number of a base type")
        if isinstance(entry, list):
            return Pieces(tuple(entry))
        return entry if isinstance(entry, Place) else InMemory(AddressSpace.GLOBAL, entry)

    # -- operations

    def frame_base(self, numbers: list[int], _: Operation) -> None:
        base = self.context.frame_base
        if base is None or isinstance(base, LocationDescription):
            raise Untranslatable("the frame base")
        place = compile_location(base, self.context)
        if not isinstance(place, InMemory):
            raise Untranslatable("a frame base in a register")
        self.entries.append(place.moved(8 * numbers[0]))

    def address(self, numbers: list[int], _: Operation) -> None:
        self.entries.append(InMemory(AddressSpace.GLOBAL, constant(numbers[0] + self.context.load_bias)))

    def indexed_address(self, numbers: list[int], _: Operation) -> None:
        self.entries.append(InMemory(AddressSpace.GLOBAL, constant(self.context.indexed_address(numbers[0]))))

    def in_space(self, _: list[int], __: Operation) -> None:
        number = number_of(self._number())
        if number is None:
            raise Untranslatable("an address space that is computed")
        space = self.context.architecture.address_space(number, self.dialect)
        if space is None or space.lane is not None:
            raise Untranslatable(f"address space {number}")
        address = apply(Op.AND, self._number(), constant((1 << space.address_bits) - 1))
        self.entries.append(InMemory(space.number if space.alias is None else space.alias, address))

    def offset(self, _: list[int], __: Operation) -> None:
        self._offset(self._number(), 8)

    def bit_offset(self, _: list[int], __: Operation) -> None:
        self._offset(self._number(), 1)

    def constant_offset(self, numbers: list[int], _: Operation) -> None:
        self._offset(constant(numbers[0]), 8)

    def _offset(self, displacement: Node, scale: int) -> None:
        place = self._location(self._pop())
        number = number_of(displacement)
        if number is not None:
            number -= (number >> 63) << 64
            self.entries.append(place.moved(scale * number))
        elif isinstance(place, InMemory) and scale == 8:
            self.entries.append(InMemory(place.space, apply(Op.ADD, place.address, displacement)))
        elif isinstance(place, InRegister) and not place.by_lane and _is_of_lane(displacement, 32 // scale):
            self.entries.append(InRegister(place.number, place.bit, True, place.wave_size))
        else:
            raise Untranslatable("an offset that is computed")

    def fetch(self, numbers: list[int], _: Operation) -> None:
        bits = min(64, 8 * numbers[0]) if numbers else 64
        self.entries.append(self._location(self._pop()).read(0, bits))

    def lane(self, _: list[int], __: Operation) -> None:
        self.entries.append(LaneNumber())

    def stack_value(self, _: list[int], __: Operation) -> None:
        if self.entries and isinstance(self.entries[-1], _Typed):
            typed = self.entries.pop()
            assert isinstance(typed, _Typed)
            if typed.bits % 8:
                raise Untranslatable("a size that is not whole bytes")
            self.entries.append(Number(typed.node, typed.bits))
        else:
            self.entries.append(Number(self._number()))

    def convert(self, numbers: list[int], _: Operation) -> None:
        entry = self.entries[-1] if self.entries else None
        node = entry.node if isinstance(entry, _Typed) else None
        if node is None:
            node = self._number()
        else:
            self.entries.pop()
        if not numbers[0]:
            self.entries.append(node)
            return
        type_, _context = self.context.die(numbers[0], True)
        if not isinstance(type_, BaseType) or type_.encoding not in _INTEGERS or not (
            type_.vector_size is None and 0 < type_.bit_size <= 64
        ):
            raise Untranslatable("a conversion to a type that is not an integer")
        self.entries.append(_Typed(constant(0), type_.bit_size, type_.is_signed).same(node))

    def implicit_value(self, _: list[int], operation: Operation) -> None:
        data = operation.operands[0]
        assert isinstance(data, bytes)
        self.entries.append(Bytes(data))

    def piece(self, numbers: list[int], operation: Operation) -> None:
        bits = numbers[0] if operation.info.meaning == "bit_piece" else 8 * numbers[0]
        if not self.entries or isinstance(self.entries[-1], list):
            part: Place = Nowhere()
        else:
            part = self._location(self._pop())
            if operation.info.meaning == "bit_piece":
                part = part.moved(numbers[1])
        if self.entries and isinstance(self.entries[-1], list):
            self.entries[-1].append((part, bits))
        else:
            self.entries.append([(part, bits)])

    def piece_end(self, _: list[int], __: Operation) -> None:
        self.entries.append(self._location(self._pop()))

    def undefined(self, _: list[int], __: Operation) -> None:
        self.entries.append(Nowhere())

    def plus_constant(self, numbers: list[int], _: Operation) -> None:
        self.entries.append(plus(self._number(), numbers[0]))

    def negate(self, _: list[int], operation: Operation) -> None:
        value = self._number()
        if operation.info.meaning == "not":
            self.entries.append(apply(Op.XOR, value, constant(-1)))
        else:
            self.entries.append(apply(Op.SUB, constant(0), value))

    def rearrange(self, numbers: list[int], operation: Operation) -> None:
        depth = {"dup": 1, "over": 2, "pick": (numbers or [0])[0] + 1, "swap": 2, "rot": 3, "drop": 1}
        meaning = operation.info.meaning
        if len(self.entries) < depth[meaning]:
            raise Untranslatable("an empty stack")
        if meaning == "drop":
            self.entries.pop()
        elif meaning == "swap":
            self.entries[-2:] = [self.entries[-1], self.entries[-2]]
        elif meaning == "rot":
            third, second, first = self.entries[-3:]
            self.entries[-3:] = [first, third, second]
        else:
            self.entries.append(self.entries[-depth[meaning]])

    def nothing(self, _: list[int], __: Operation) -> None:
        pass


def _extended(node: Node, bits: int, signed: bool) -> Node:
    """Sign- or zero-extend the low bits of a number to an I64."""
    if bits == 64:
        return node
    if not signed:
        return apply(Op.AND, node, constant((1 << bits) - 1))
    return apply(Op.ASHR, apply(Op.SHL, node, constant(64 - bits)), constant(64 - bits))


def _is_of_lane(node: Node, stride: int) -> bool:
    """Whether a number is the lane's number times ``stride``."""
    if not isinstance(node, Apply) or not isinstance(node.operands[0], LaneNumber):
        return False
    factor = number_of(node.operands[1])
    if factor is None:
        return False
    return (factor if node.op is Op.MUL else 1 << factor if node.op is Op.SHL and factor < 64 else 0) == stride


def _shift(meaning: str, left: Node, right: Node) -> Node:
    """Shift; a count of 64 or more raises `Untranslatable` if constant, and is undecided if only known at run time."""
    count = number_of(right)
    if count is not None and count >= 64:
        raise Untranslatable("a shift by the whole width")
    value = apply(_BINARY[meaning], left, right)
    return value if count is not None else Require(apply(Op.ULT, right, constant(64)), value)


_INTEGERS = frozenset({"DW_ATE_signed", "DW_ATE_signed_char", "DW_ATE_unsigned", "DW_ATE_unsigned_char"})
_SHIFTS = frozenset({"shl", "shr", "shra"})
_BINARY = {
    "plus": Op.ADD, "minus": Op.SUB, "mul": Op.MUL, "and": Op.AND, "or": Op.OR, "xor": Op.XOR, "shl": Op.SHL,
    "shr": Op.LSHR, "shra": Op.ASHR,
}
_COMPARE = {
    "eq": (Op.EQ, False), "ne": (Op.NE, False), "lt": (Op.SLT, False), "le": (Op.SLE, False), "gt": (Op.SLT, True),
    "ge": (Op.SLE, True),
}
_HANDLERS: dict[str, Callable[[_Stack, list[int], Operation], None]] = {
    "fbreg": _Stack.frame_base, "addr": _Stack.address, "addrx": _Stack.indexed_address,
    "form_aspace_address": _Stack.in_space, "offset": _Stack.offset, "bit_offset": _Stack.bit_offset,
    "offset_uconst": _Stack.constant_offset, "deref": _Stack.fetch, "deref_size": _Stack.fetch,
    "push_lane": _Stack.lane, "stack_value": _Stack.stack_value, "convert": _Stack.convert,
    "implicit_value": _Stack.implicit_value,
    "piece": _Stack.piece, "bit_piece": _Stack.piece, "piece_end": _Stack.piece_end, "undefined": _Stack.undefined,
    "plus_uconst": _Stack.plus_constant, "neg": _Stack.negate, "not": _Stack.negate, "nop": _Stack.nothing,
    **dict.fromkeys(("dup", "over", "pick", "swap", "rot", "drop"), _Stack.rearrange),
}
