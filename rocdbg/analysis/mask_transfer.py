"""Derives a lane's mask bits before an instruction from those after it, by substitution in decision diagrams."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from collections.abc import Set as AbstractSet

from msgspec import Struct

from rocdbg.analysis.diagrams import Bits, Diagrams
from rocdbg.analysis.machine_state import EXEC_LO, STACK_POINTER, VCC_LO
from rocdbg.analysis.mask_effects import (
    SCC,
    Compare,
    Effect,
    Kind,
    LaneOf,
    Number,
    OwnLane,
    OwnSlot,
    Place,
    SlotOf,
    Source,
    Term,
)
from rocdbg.analysis.register_effects import BY_CONVENTION, Clobbers

_NOT_MASKS = (124, 125)
"""Operand codes of m0 and null (the target determines which is which): neither holds a mask."""


class Window(Struct, frozen=True):
    """A stretch of code where EXEC temporarily selects other lanes for housekeeping; the register ``saved`` holds the
    lanes that are active as far as the source is concerned.

    ``all_lanes`` means that EXEC selects all lanes.
    """

    saved: int
    all_lanes: bool


def active_register(half: int, window: Window | None) -> int:
    """The scalar register that holds the active lanes of a half: EXEC or, with a window, the register to which it was
    saved.
    """
    return EXEC_LO + half if window is None else window.saved


def weight(name: Hashable) -> int:
    """How early diagrams test a place; larger weights come first. Masks that are about to be used are in scalar
    registers, and outer regions use lower lanes of vector registers.

    Comparisons that the lanes have yet to make come last.
    """
    if isinstance(name, Compare):
        return 0
    return name.lane + 1 if isinstance(name, LaneOf | SlotOf) else 65


class Masks:
    """Applies the effects of instructions to one lane's bits.

    ``clobbers`` gives what the call at an address changes. ``half`` says which 32 lanes the lane belongs to, ``active``
    whether it is active before the instruction.
    """

    def __init__(self, diagrams: Diagrams, clobbers: Callable[[int], Clobbers]) -> None:
        self._diagrams = diagrams
        self._clobbers = clobbers
        self._any: Bits = (diagrams.false, diagrams.true)
        self._constants: dict[bool, Bits] = {
            False: (diagrams.false, diagrams.false), True: (diagrams.true, diagrams.true)
        }
        self._compares: set[int] = set()
        """The variables that represent comparisons."""
        self._written: dict[tuple[int, int, bool], dict[int, Bits]] = {}

    def value(self, source: Source, half: int, window: Window | None, active: bool) -> Bits:
        """The lane's bit of a source."""
        place = source.place(half)
        if place is None:
            bit = source.bit(half)
            return self._any if bit is None else self._constants[bit]
        if place == active_register(half, window):
            return self._constants[active]
        if place == EXEC_LO + half and window is not None and window.all_lanes:
            return self._constants[True]
        if place in _NOT_MASKS:
            return self._any
        found = self._bit(place)
        return found, found

    def uniform(self, decides: tuple[Source, bool], half: int, window: Window | None, active: bool) -> Bits:
        """The bit of a uniform mask, or its opposite."""
        source, is_inverted = decides
        sure, possible = self.value(source, half, window, active)
        if not is_inverted:
            return sure, possible
        choose, false, true = self._diagrams.choose, self._diagrams.false, self._diagrams.true
        return choose(possible, false, true), choose(sure, false, true)

    def known(self, diagram: int, half: int, window: Window | None, active: bool) -> int:
        """Fill in the known bits of EXEC, and of the register to which it was saved, in a diagram."""
        support = self._diagrams.support(diagram)
        values: dict[int, Bits] = {}
        variable = self._diagrams.known_variable(active_register(half, window))
        if variable is not None and variable in support:
            values[variable] = self._constants[active]
        if window is not None and window.all_lanes:
            variable = self._diagrams.known_variable(EXEC_LO + half)
            if variable is not None and variable in support:
                values[variable] = self._constants[True]
        return self._diagrams.substitute(diagram, values) if values else diagram

    def written(self, effect: Effect, half: int, window: Window | None, active: bool) -> dict[int, Bits]:
        """The bits that an effect writes into scalar registers."""
        key = effect.address, half, active
        found = self._written.get(key)
        if found is None:
            found = self._written[key] = self._write(effect, half, window, active)
        return found

    def before(
        self, effect: Effect, half: int, window: Window | None, active: bool, written: Mapping[int, Bits],
        diagram: int,
    ) -> int:
        """The diagram before an effect; ``written`` holds the bits that it writes into scalar registers."""
        diagrams = self._diagrams
        support = diagrams.support(diagram)
        if not support:
            return diagram
        changes: dict[int, Bits] = {}
        for register, bits in written.items():
            variable = diagrams.known_variable(register)
            if variable is not None and variable in support:
                changes[variable] = bits
        for variable in self._concerned(effect, written, support):
            name = diagrams.names[variable]
            found: Bits | None = None
            if isinstance(name, Compare):
                found = self._compare(name, effect, half, window, written, active)
            elif effect.kind is Kind.CALL:
                found = self._any if self._is_lost(name, effect) else None
            elif isinstance(name, SlotOf):
                found = self._slot(name, effect, window, written)
            elif isinstance(name, LaneOf):
                found = self._lane(name, effect, half, window)
            if found is not None:
                changes[variable] = found
        return diagrams.substitute(diagram, changes) if changes else diagram

    def _concerned(
        self, effect: Effect, written: Mapping[int, Bits], support: frozenset[int]
    ) -> AbstractSet[int]:
        """The tested variables that an effect may change in other ways than by writing scalar registers."""
        kind = effect.kind
        if kind is Kind.WRITE_LANE and effect.lane is not None:
            variable = self._diagrams.known_variable(LaneOf(effect.vector, effect.lane))
            found = support & self._compares if self._compares else set()
            return found | {variable} if variable is not None and variable in support else found
        if kind in _ON_VECTORS or kind is Kind.CALL or effect.results or not _STACK.isdisjoint(written):
            return support
        return support & self._compares if self._compares else _NONE

    def _bit(self, name: Place) -> int:
        return self._diagrams.bit(self._diagrams.variable(name))

    # -- scalar registers

    def _write(self, effect: Effect, half: int, window: Window | None, active: bool) -> dict[int, Bits]:
        kind = effect.kind
        changes: dict[int, Bits] = dict.fromkeys(effect.lost, self._any)
        if effect.sets_scc:
            is_known = effect.condition is not None and kind is Kind.LOST
            changes[SCC] = self._comparison(effect.condition) if effect.condition and is_known else self._any
        if kind not in _ON_SCALARS:
            return changes
        diagrams = self._diagrams
        result = self._result(effect, half, window, active)
        if effect.sets_scc and kind in (Kind.LOGIC, Kind.SAVE, Kind.WRITE):
            # SCC is set if any lane has the bit
            if effect.is_uniform or (effect.decides is not None and active and window is None):
                changes[SCC] = result
            elif effect.decides is not None:
                changes[SCC] = diagrams.false, self.uniform(effect.decides, half, window, active)[1]
            else:
                changes[SCC] = result[0], diagrams.true
        old_exec = self.value(Source(EXEC_LO + half), half, window, active)
        for register, bits in (
            (effect.saved, old_exec if kind is Kind.SAVE else result), (effect.destination, result)
        ):
            if register is None or register.register is None:  # damaged code may name a constant as its destination
                continue
            place, other = register.place(half), register.place(1 - half)
            assert place is not None
            assert other is not None
            if other != place:
                changes[other] = self._any  # the bits of other lanes say nothing about this lane
            changes[place] = bits
        if kind is Kind.NARROW:
            changes[EXEC_LO + half] = result
        return changes

    def _result(self, effect: Effect, half: int, window: Window | None, active: bool) -> Bits:
        diagrams, kind = self._diagrams, effect.kind
        first = self.value(effect.first, half, window, active)
        if kind is Kind.SELECT:
            second, scc = self.value(effect.second, half, window, active), self._bit(SCC)
            return diagrams.choose(scc, first[0], second[0]), diagrams.choose(scc, first[1], second[1])
        if kind in (Kind.COMPARE, Kind.NARROW):
            selected = self.value(Source(EXEC_LO + half), half, window, active)
            if effect.condition is not None and selected == self._constants[True]:
                return self._comparison(effect.condition)
            return diagrams.false, selected[1]
        if kind is Kind.QUADS:
            return first[0], diagrams.true
        if kind is Kind.READ_LANE:
            assert effect.lane is not None
            found = self._bit(LaneOf(effect.vector, effect.lane))
            return found, found
        return self._operation(effect.operation, first, self.value(effect.second, half, window, active))

    def _operation(self, table: int, first: Bits, second: Bits) -> Bits:
        """Apply a truth table to two bits."""
        diagrams = self._diagrams

        def apply(one: int, other: int) -> int:
            rows = [diagrams.true if table >> row & 1 else diagrams.false for row in range(4)]
            low = diagrams.choose(other, rows[1], rows[0])
            high = diagrams.choose(other, rows[3], rows[2])
            return diagrams.choose(one, high, low)

        results = {apply(one, other) for one in first for other in second}
        if len(results) == 1:
            found = results.pop()
            return found, found
        # a bit may be unknown: combine all four cases
        sure, possible = diagrams.true, diagrams.false
        for result in results:
            sure = diagrams.choose(result, sure, diagrams.false)
            possible = diagrams.choose(result, diagrams.true, possible)
        return sure, possible

    # -- vector registers, slots, calls

    def _is_lost(self, name: object, effect: Effect) -> bool:
        """Whether a call may change a place."""
        if isinstance(name, SlotOf):
            return False
        clobbers = self._clobbers(effect.address)
        if isinstance(name, LaneOf):
            return name.register in clobbers.vectors and name.register in BY_CONVENTION.vectors
        return name in (SCC, 30, 31, VCC_LO, VCC_LO + 1) or (
            name in clobbers.scalars and name in BY_CONVENTION.scalars
        )

    def _lane(self, name: LaneOf, effect: Effect, half: int, window: Window | None) -> Bits | None:
        distance = name.register - effect.vector
        all_lanes = window is not None and window.all_lanes
        match effect.kind:
            case Kind.WRITE_LANE if distance == 0:
                if effect.lane is None:
                    return self._any
                if effect.lane != name.lane:
                    return None
                register = effect.first.register
                if register is not None and register not in _NOT_MASKS:
                    found = self._bit(register)
                    return found, found
                return self.value(effect.first, half, window, False)
            case Kind.COPY if distance == 0:
                found = self._bit(LaneOf(effect.other, name.lane))
                return (found, found) if all_lanes else self._any
            case Kind.LOAD if 0 <= distance < effect.count:
                found = self._bit(SlotOf(effect.base, effect.offset + 4 * distance, name.lane))
                return (found, found) if all_lanes else self._any
        return self._any if name.register in effect.results else None

    def _slot(
        self, name: SlotOf, effect: Effect, window: Window | None, written: Mapping[int, Bits]
    ) -> Bits | None:
        if effect.kind in _ON_SCALARS or effect.kind is Kind.LOST:
            # slots are relative to a base register: once it has changed, they are other slots
            return self._any if name.base in written else None
        if effect.kind is not Kind.STORE or name.base != effect.base:
            return None
        distance = (name.offset - effect.offset) // 4
        if not 0 <= distance < effect.count:
            return None
        if effect.vector < 0 or window is None or not window.all_lanes:
            return self._any
        found = self._bit(LaneOf(effect.vector + distance, name.lane))
        return found, found


    # -- comparisons

    def _compare(
        self, name: Compare, effect: Effect, half: int, window: Window | None, written: Mapping[int, Bits],
        active: bool,
    ) -> Bits | None:
        """Express a comparison in the state before an effect; None if the effect does not change any part of it."""
        left = self._term(name.left, effect, window, written, active)
        right = self._term(name.right, effect, window, written, active)
        if left is None or right is None:
            return self._any
        if left == name.left and right == name.right:
            return None
        return self._comparison(Compare(name.relation, name.type, left, right))

    def _comparison(self, name: Compare) -> Bits:
        self._compares.add(self._diagrams.variable(name))
        found = self._bit(name)
        return found, found

    def _term(
        self, term: Term, effect: Effect, window: Window | None, written: Mapping[int, Bits], active: bool
    ) -> Term | None:
        """Express a term in the state before an effect; None if that is not known."""
        if isinstance(term, Number):
            return term
        if isinstance(term, int):
            return self._scalar_term(term, effect, written)
        kind = effect.kind
        if isinstance(term, OwnLane) and kind is Kind.CALL:
            # by convention, functions preserve all vector registers in lanes that did not call them
            return None if active or window is not None else term
        if isinstance(term, OwnSlot) and term.base is not None and term.base in written:
            return None
        # the instruction changes vector registers and memory only for active lanes, unless it is in a window
        if not active and window is None:
            return term
        is_done = window is None or window.all_lanes
        if isinstance(term, OwnLane):
            distance = term.register - effect.vector
            if kind is Kind.WRITE_LANE and distance == 0:
                return None
            if kind is Kind.COPY and distance == 0:
                return OwnLane(effect.other) if is_done else None
            if kind is Kind.LOAD and 0 <= distance < effect.count:
                return OwnSlot(effect.base, effect.offset + 4 * distance) if is_done else None
            if term.register in effect.results:
                return effect.results[term.register] if is_done else None
            return term
        if kind is Kind.STORE and term.base == effect.base:
            distance = (term.offset - effect.offset) // 4
            if 0 <= distance < effect.count:
                return OwnLane(effect.vector + distance) if is_done and effect.vector >= 0 else None
        return None if kind is Kind.STORE_ANYWHERE or (kind is Kind.CALL and active) else term

    def _scalar_term(self, register: int, effect: Effect, written: Mapping[int, Bits]) -> Term | None:
        if effect.kind is Kind.CALL:
            clobbers = self._clobbers(effect.address).scalars
            return None if register in clobbers or register >= VCC_LO else register
        if register not in written:
            return register
        is_copy = effect.kind is Kind.LOGIC and effect.operation == 0b1100
        if not is_copy or effect.destination is None or effect.destination.register is None:
            return None
        half = register - effect.destination.register
        if not 0 <= half <= effect.destination.wide:
            return None
        origin = effect.first.place(half)
        if origin is not None:
            return origin if origin < VCC_LO else None
        return Number(effect.first.constant >> 32 * half & 0xFFFFFFFF)


_NONE: frozenset[int] = frozenset()
_ON_SCALARS = frozenset({
    Kind.LOGIC, Kind.SAVE, Kind.WRITE, Kind.SELECT, Kind.COMPARE, Kind.NARROW, Kind.QUADS, Kind.READ_LANE,
})
_STACK = frozenset({STACK_POINTER, STACK_POINTER + 1})
_ON_VECTORS = frozenset({Kind.WRITE_LANE, Kind.COPY, Kind.LOAD, Kind.STORE})


def window_after(
    window: Window | None, effect: Effect, copy: int | None, half: int
) -> tuple[Window | None, int | None]:
    """The window after an effect, and the register to which EXEC was last copied in this block."""
    if not effect.writes_exec():
        if window is not None and effect.writes_scalar(window.saved):
            return None, None
        if effect.kind is Kind.LOGIC and effect.operation == 0b1100 and effect.destination is not None and (
            effect.first.place(half) == EXEC_LO + half
        ):
            return window, effect.destination.place(half)
        if copy is not None and effect.writes_scalar(copy):
            copy = None
        return window, copy
    turns_on = effect.first.register is None and effect.first.bit(half) is True
    if effect.kind is Kind.SAVE and turns_on and effect.operation in (0b1110, 0b0110):
        all_lanes = effect.operation == 0b1110
        if window is not None:
            return Window(window.saved, all_lanes), None
        assert effect.saved is not None
        saved = effect.saved.place(half)
        assert saved is not None
        return Window(saved, all_lanes), None
    if effect.kind is Kind.LOGIC and effect.operation == 0b1100 and turns_on:
        if window is not None:
            return Window(window.saved, True), None
        if copy is not None:
            return Window(copy, True), None
    return None, None
