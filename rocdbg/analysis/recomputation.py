"""Finds how values that are lost can be recomputed from their inputs, if those still exist.

A claim (``value_flow``) says that a value is in a register from an address on. The preceding instruction that wrote the
register shows how the value was computed. The sources of that instruction become values themselves, claimed at that
instruction, and are followed in turn.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Final, Protocol, Self, TypeVar

from msgspec import Struct, field

from rocdbg.analysis.machine_state import AGPR, EXEC_HI, EXEC_LO, VCC_LO, State
from rocdbg.analysis.register_effects import apply
from rocdbg.analysis.saved_registers import Analysis
from rocdbg.analysis.value_flow import CONSTANT, VECTOR, Claim, Places
from rocdbg.isa import Flow, Instruction, Operand, OperandKind

_MOST_SOURCES: Final = 20_000
"""Limit on the values that are followed in addition to the claimed ones."""
DEEPEST: Final = 6
"""Limit on the depth of computations."""
_MASK: Final = 0xFFFFFFFF


class Bits(Protocol):
    """The operand type of computations: a number, or an object that represents one. Operations do not truncate their
    results to 32 bits.
    """

    def __and__(self, other: int, /) -> Self: ...


_Bits = TypeVar("_Bits", bound=Bits)


class Number(Struct, frozen=True):
    """A constant source."""

    bits: int


class Computation(Struct, frozen=True):
    """How an instruction computes 32 bits from constants and values; values are given by number."""

    name: str
    sources: tuple[int | Number, ...]


class Computations(Struct):
    """Ways to compute values. ``markers`` has, by the number of each computed value, the number of a value that is
    present where the computed one was computed.
    """

    ways: dict[int, list[Computation]] = field(default_factory=dict)
    markers: dict[int, int] = field(default_factory=dict)

    def bits(
        self, value: int, places: Places, read: Callable[[int], _Bits | None], number: Callable[[int], _Bits],
        depth: int = 0,
    ) -> _Bits | None:
        """The 32 bits of a value, recomputed if needed; ``places`` says where parts of values are, ``read`` returns the
        contents of a place.

        ``number`` converts a constant to the operand type.
        """
        place = places.registers.get((value, 0))
        if place is not None:
            return read(place)
        marker = self.markers.get(value)
        if depth >= DEEPEST or (marker is not None and not places.is_number(marker)):
            return None
        for way in self.ways.get(value, ()):
            found = [
                number(source.bits) if isinstance(source, Number)
                else self.bits(source, places, read, number, depth + 1)
                for source in way.sources
            ]
            known = [bits for bits in found if bits is not None]
            if len(known) == len(found):
                result: _Bits = _OPERATIONS[way.name](*known) & _MASK
                return result
        return None


def computations(analysis: Analysis, claims: Sequence[Claim], first: int) -> tuple[Computations, list[Claim]]:
    """Find how claimed values were computed. Also returns claims about their sources, which are numbered from ``first``
    on.
    """
    finder = _Finder(analysis, first)
    for claim in claims:
        place = claim.places[0] if len(claim.places) == 1 else None
        if place is not None and place < CONSTANT and finder.find(claim.low, place, claim.value, 0):
            marker = finder.found.markers.setdefault(claim.value, finder.next)
            finder.next = max(finder.next, marker + 1)
            finder.claims.append(Claim(claim.low, claim.high, marker, (CONSTANT + marker,)))
    return finder.found, finder.claims


class _Writes(Struct):
    """Where a block writes each place: the positions of the instructions, ascending."""

    of: dict[int, list[int]] = field(default_factory=dict)
    calls: list[int] = field(default_factory=list)
    widenings: list[int] = field(default_factory=list)
    """The positions of instructions after which other lanes may be active."""


class _Finder:
    def __init__(self, analysis: Analysis, first: int) -> None:
        self._analysis = analysis
        self._where: dict[int, tuple[int, int]] = {}
        for start, block in analysis.blocks.items():
            if start in analysis.states:
                for index, instruction in enumerate(block.instructions):
                    self._where[instruction.address] = start, index
        self._writes: dict[int, _Writes] = {}
        self._values: dict[tuple[int, int, int], int] = {}
        self._depths: dict[int, int] = {}
        """The depth at which each value was examined."""
        self.found = Computations()
        self.claims: list[Claim] = []
        self.next = first
        self._last = first + _MOST_SOURCES

    def find(self, address: int, place: int, value: int, depth: int) -> bool:
        """Consider the value that a place holds just before the instruction at an address runs, and find how this value
        was computed. Return whether that was found.
        """
        where = self._where.get(address)
        if where is None or depth >= DEEPEST:
            return False
        start, index = where
        writes = self._writes_of(start)
        written = _last_before(writes.of.get(place, ()), index)
        if written < 0 or written <= _last_before(writes.calls, index) or (
            written < _last_before(writes.widenings, index)
        ):
            return False
        way = self._way(self._analysis.blocks[start].instructions[written], place, depth)
        if way is not None:
            ways = self.found.ways.setdefault(value, [])
            if way not in ways:
                ways.append(way)
        return way is not None

    def _writes_of(self, start: int) -> _Writes:
        found = self._writes.get(start)
        if found is None:
            found = self._writes[start] = _Writes()
            for index, instruction in enumerate(self._analysis.blocks[start].instructions):
                if instruction.flow is Flow.CALL:
                    found.calls.append(index)
                    continue
                change = State()
                apply(change, instruction, self._analysis.machine)
                for place in (*change.scalars, *(VECTOR + register for register in change.vectors)):
                    found.of.setdefault(place, []).append(index)
                if {EXEC_LO, EXEC_HI} & change.scalars.keys() or instruction.address in self._analysis.rejoins:
                    found.widenings.append(index)
        return found

    def _way(self, instruction: Instruction, place: int, depth: int) -> Computation | None:
        name = instruction.name
        if name not in _OPERATIONS or instruction.modifiers:
            return None
        destination = instruction.operand("vdst" if place >= VECTOR else "sdst")
        if destination is None or destination.dwords != 1 or _place(destination) != place or destination.half:
            return None
        written = instruction.operands.index(destination)
        skipped = ("vdst", "sdst")
        operands = [operand for index, operand in enumerate(instruction.operands) if index != written]
        sources: list[int | Number] = []
        for operand in operands:
            if operand.name in skipped:
                continue
            if operand.neg or operand.abs or operand.sext or operand.half is not None or operand.dwords != 1:
                return None
            if operand.kind in (OperandKind.CONSTANT, OperandKind.LITERAL):
                sources.append(Number(operand.value & _MASK))
                continue
            origin = _place(operand)
            if origin is None:
                return None
            sources.append(self._value(instruction, origin, depth))
        if len(sources) != _OPERATIONS[name].__code__.co_argcount or self.next > self._last:
            return None
        return Computation(name, tuple(sources))

    def _value(self, instruction: Instruction, place: int, depth: int) -> int:
        """The number of the value at a place before an instruction: within a block, all reads between two writes of the
        place see the same value.
        """
        address = instruction.address
        start, index = self._where[address]
        writes = self._writes_of(start)
        since = max(_last_before(writes.of.get(place, ()), index), _last_before(writes.calls, index))
        key = (0, -1, place) if self._is_never_written(place) else (start, since, place)
        value = self._values.get(key)
        if value is None:
            value = self._values[key] = self.next
            self.next += 1
        self.claims.append(Claim(address, address + instruction.size, value, (place,)))
        if depth < self._depths.get(value, DEEPEST):
            self._depths[value] = depth
            self.find(address, place, value, depth + 1)
        return value

    def _is_never_written(self, place: int) -> bool:
        """Whether a place never changes after entry."""
        return self._written is not None and place not in self._written

    @cached_property
    def _written(self) -> frozenset[int] | None:
        """The places that instructions write; None if calls may write other places."""
        all_writes = [self._writes_of(start) for start in self._analysis.states if start in self._analysis.blocks]
        if any(writes.calls for writes in all_writes):
            return None
        return frozenset(place for writes in all_writes for place in writes.of)


def _last_before(positions: Sequence[int], index: int) -> int:
    """The last of ascending positions before an index; -1 if there is none."""
    found = bisect_left(positions, index)
    return positions[found - 1] if found else -1


def _place(operand: Operand) -> int | None:
    match operand.kind:
        case OperandKind.SGPR:
            return operand.index if operand.index < VCC_LO else None
        case OperandKind.VGPR:
            return VECTOR + operand.index
        case OperandKind.AGPR:
            return VECTOR + AGPR + operand.index
    return None


def _signed(value: Any, bits: int = 32) -> Any:
    value = value & (1 << bits) - 1
    return value - (value >> bits - 1 << bits)


def _low24(value: Any) -> Any:
    return value & 0xFFFFFF


_Binary = Callable[[Any, Any], Any]
_ADD: Final[_Binary] = lambda a, b: a + b  # noqa: E731
_OPERATIONS: Final[dict[str, Callable[..., Any]]] = {
    **dict.fromkeys(
        ("v_add_u32", "v_add_nc_u32", "v_add_co_u32", "s_add_u32", "s_add_i32", "s_add_co_u32", "s_add_co_i32"), _ADD
    ),
    **dict.fromkeys(
        ("v_sub_u32", "v_sub_nc_u32", "v_sub_co_u32", "s_sub_u32", "s_sub_i32", "s_sub_co_u32", "s_sub_co_i32"),
        lambda a, b: a - b,
    ),
    **dict.fromkeys(("v_subrev_u32", "v_subrev_nc_u32", "v_subrev_co_u32"), lambda a, b: b - a),
    **dict.fromkeys(("v_mul_lo_u32", "s_mul_i32"), lambda a, b: a * b),
    "v_mul_u32_u24": lambda a, b: _low24(a) * _low24(b),
    "v_mul_i32_i24": lambda a, b: _signed(a, 24) * _signed(b, 24),
    **dict.fromkeys(("v_and_b32", "s_and_b32"), lambda a, b: a & b),
    **dict.fromkeys(("v_or_b32", "s_or_b32"), lambda a, b: a | b),
    **dict.fromkeys(("v_xor_b32", "s_xor_b32"), lambda a, b: a ^ b),
    **dict.fromkeys(("v_not_b32", "s_not_b32"), lambda a: ~a),
    "v_lshlrev_b32": lambda a, b: b << (a & 31),
    "v_lshrrev_b32": lambda a, b: b >> (a & 31),
    "v_ashrrev_i32": lambda a, b: _signed(b) >> (a & 31),
    "s_lshl_b32": lambda a, b: a << (b & 31),
    "s_lshr_b32": lambda a, b: a >> (b & 31),
    "s_ashr_i32": lambda a, b: _signed(a) >> (b & 31),
    "v_lshl_add_u32": lambda a, b, c: (a << (b & 31)) + c,
    "v_add_lshl_u32": lambda a, b, c: a + b << (c & 31),
    "v_lshl_or_b32": lambda a, b, c: a << (b & 31) | c,
    "v_and_or_b32": lambda a, b, c: a & b | c,
    "v_or3_b32": lambda a, b, c: a | b | c,
    "v_add3_u32": lambda a, b, c: a + b + c,
    "v_xad_u32": lambda a, b, c: (a ^ b) + c,
    "v_mad_u32_u24": lambda a, b, c: _low24(a) * _low24(b) + c,
    "v_mad_i32_i24": lambda a, b, c: _signed(a, 24) * _signed(b, 24) + c,
    **dict.fromkeys(("v_mov_b32", "s_mov_b32"), lambda a: a),
}
"""What instructions compute from unsigned 32-bit sources, by name; only the low 32 bits of the result are used.

All intermediate results except those of ``<<``, ``+``, ``-`` and ``*`` fit into signed 64-bit integers, so that
arithmetic modulo 2^64 gives the same results.
"""
