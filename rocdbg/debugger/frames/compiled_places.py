"""Where objects are, for any lane of any wave that reaches an instruction, as expressions for the simulator to
translate.

These are the counterparts of DWARF's location descriptions; the numbers in them are expressions
(`rocdbg.sim.core.lane_expressions`). Anything without a counterpart raises `Untranslatable`: the evaluator then has to
evaluate it lane by lane.
"""

from __future__ import annotations

from msgspec import Struct

from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.arch.dwarf_registers import RegisterClass, dwarf_register
from rocdbg.sim.core import layout
from rocdbg.sim.core.builder import I8, I16, I32, I64, Op, Type
from rocdbg.sim.core.lane_expressions import (
    Field,
    LaneNumber,
    Load,
    Node,
    Scalar,
    Space,
    Vector,
    apply,
    constant,
    unsigned,
)

_SPACES = {
    AddressSpace.GLOBAL: Space.GLOBAL, AddressSpace.GENERIC: Space.FLAT, AddressSpace.LOCAL: Space.LDS,
    AddressSpace.PRIVATE_LANE: Space.LANE, AddressSpace.PRIVATE_WAVE: Space.WAVE,
}
_LOADS: dict[int, Type] = {8: I64, 4: I32, 2: I16, 1: I8}


class Untranslatable(Exception):
    """Something that only the evaluator can evaluate; the message names it."""


class Place:
    """A source of bits."""

    def read(self, first: int, bits: int) -> Node:
        """Return bits [first, first + bits), at most 64, zero-extended to an I64. Raises `Untranslatable`."""
        raise NotImplementedError  # abstract: each kind of place defines it

    def moved(self, bits: int) -> Place:
        """Return the place that begins ``bits`` bits later."""
        return Part(self, bits) if bits else self


class Part(Place, Struct, frozen=True):
    """The rest of a place, from a given bit on."""

    whole: Place
    offset: int

    def read(self, first: int, bits: int) -> Node:
        if self.offset + first < 0:
            raise Untranslatable("a place before the beginning of its storage")
        return self.whole.read(self.offset + first, bits)

    def moved(self, bits: int) -> Place:
        return Part(self.whole, self.offset + bits)


class InMemory(Place, Struct, frozen=True):
    """Memory of an address space (DWARF's number) at an address (an I64)."""

    space: int
    address: Node

    def read(self, first: int, bits: int) -> Node:
        byte, shift = divmod(first, 8)
        size = (shift + bits + 7) // 8
        if size > 8:
            raise Untranslatable("bits that reach into nine bytes")
        start = plus(self.address, byte)
        result: Node | None = None
        done = 0
        while done < size:
            step = next(count for count in _LOADS if count <= size - done)
            loaded = unsigned(Load(_LOADS[step], _space(self.space), plus(start, done)), I64)
            result = join(result, loaded, 8 * done)
            done += step
        assert result is not None
        return cut(result, shift, bits, 8 * size)

    def moved(self, bits: int) -> Place:
        if bits % 8:
            return Part(self, bits)
        return InMemory(self.space, plus(self.address, bits // 8))


class InRegister(Place, Struct, frozen=True):
    """A register by its DWARF number, from bit number ``bit`` on; with ``by_lane``, this bit is counted within the
    lane's own dword.
    """

    number: int
    bit: int = 0
    by_lane: bool = False
    wave_size: int = 64

    def moved(self, bits: int) -> Place:
        return InRegister(self.number, self.bit + bits, self.by_lane, self.wave_size)

    def read(self, first: int, bits: int) -> Node:
        first += self.bit
        dword, shift = divmod(first, 32)
        count = (shift + bits + 31) // 32
        if count > 2:
            raise Untranslatable("bits of three dwords of a register")
        result: Node | None = None
        for index in range(count):
            result = join(result, unsigned(self._dword(dword + index), I64), 32 * index)
        assert result is not None
        return cut(result, shift, bits, 32 * count)

    def _dword(self, index: int) -> Node:
        register = dwarf_register(self.number)
        if register.is_vector:
            return self._of_lane(register.index, register.register_class is RegisterClass.AGPR, index)
        if not 0 <= index < register.size // 4:
            raise Untranslatable("bits beyond a register")
        match register.register_class:
            case RegisterClass.SGPR:
                return Scalar(register.index)
            case RegisterClass.VCC:
                return Scalar(layout.VCC_LO + index)
            case RegisterClass.EXEC:
                return Scalar(layout.EXEC_LO + index)
            case RegisterClass.PC:
                whole: Node = Field("pc")
                return unsigned(apply(Op.LSHR, whole, constant(32)) if index else whole, I32)
        raise Untranslatable(f"the register {register.name}")

    def element(self, lane: Node) -> Node | None:
        """Return the dword of the lane whose number is ``lane`` (I32); ``None`` if this is not a whole vector register.
        """
        register = dwarf_register(self.number)
        if not register.is_vector or self.by_lane or self.bit:
            return None
        return Vector(register.index, register.register_class is RegisterClass.AGPR, lane)

    def _of_lane(self, number: int, accumulator: bool, index: int) -> Node:
        if self.by_lane and index == 0:
            return Vector(number, accumulator)
        lane: Node = constant(index)
        if self.by_lane:
            lane = plus(LaneNumber(), index)
        elif not 0 <= index < self.wave_size:
            raise Untranslatable("bits beyond a register")
        return Vector(number, accumulator, lane)


class Number(Place, Struct, frozen=True):
    """A value of up to 64 bits that has no location (an I64)."""

    value: Node
    bits: int = 64

    def read(self, first: int, bits: int) -> Node:
        if first < 0 or first + bits > self.bits:
            raise Untranslatable("bits beyond a value")
        return cut(self.value, first, bits, 64)


class Bytes(Place, Struct, frozen=True):
    """Bytes that the code object contains."""

    data: bytes

    def read(self, first: int, bits: int) -> Node:
        if first < 0 or first + bits > 8 * len(self.data):
            raise Untranslatable("bits beyond a value")
        return constant(int.from_bytes(self.data, "little") >> first & (1 << bits) - 1)


class Nowhere(Place, Struct, frozen=True):
    """An object that was optimized out."""

    def read(self, first: int, bits: int) -> Node:
        raise Untranslatable("a value that is optimized out")


class Pieces(Place, Struct, frozen=True):
    """Places one after the other, each with its number of bits."""

    parts: tuple[tuple[Place, int], ...]

    def read(self, first: int, bits: int) -> Node:
        result: Node | None = None
        start, done = 0, 0
        for place, size in self.parts:
            low, high = max(first, start), min(first + bits, start + size)
            if low < high:
                result = join(result, place.read(low - start, high - low), low - first)
                done += high - low
            start += size
        if result is None or done < bits:
            raise Untranslatable("bits beyond a value's pieces")
        return result


def plus(node: Node, number: int) -> Node:
    """Add a constant to an I64."""
    return apply(Op.ADD, node, constant(number))


def join(low: Node | None, high: Node, bit: int) -> Node:
    """Combine two I64s: ``high``, shifted left by ``bit``, above ``low``."""
    shifted = apply(Op.SHL, high, constant(bit)) if bit else high
    return shifted if low is None else apply(Op.OR, low, shifted)


def cut(value: Node, first: int, bits: int, known: int) -> Node:
    """Extract bits from an I64 in which all bits from ``known`` on are zero."""
    if first:
        value = apply(Op.LSHR, value, constant(first))
    return value if first + bits >= known else apply(Op.AND, value, constant((1 << bits) - 1))


def _space(number: int) -> Space:
    space = _SPACES.get(AddressSpace(number)) if number in _KNOWN else None
    if space is None:
        raise Untranslatable(f"address space {number}")
    return space


_KNOWN = frozenset(int(space) for space in AddressSpace)
