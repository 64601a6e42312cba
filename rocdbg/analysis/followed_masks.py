"""Which lanes may execute each instruction of a function, as functions of the outcomes of comparisons.

Masks are followed from block to block. A mask is two decision diagrams (`rocdbg.analysis.diagrams`) over a lane's bits:
the lanes that certainly have the bit, and those that may have it. The bits are the results of comparisons, and EXEC
where it cannot be computed from them, as at the heads of loops.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from heapq import heappop, heappush
from typing import Final, TypeAlias

from msgspec import Struct

from rocdbg.analysis.control_flow import Block
from rocdbg.analysis.diagrams import Bits, Diagrams, TooLargeError
from rocdbg.analysis.machine_state import EXEC_HI, EXEC_LO, VCC_LO
from rocdbg.analysis.mask_effects import (
    Effect,
    Kind,
    LaneOf,
    Place,
    Source,
    effects_of,
    vectors_with_masks,
)
from rocdbg.analysis.register_effects import BY_CONVENTION
from rocdbg.analysis.saved_registers import Analysis
from rocdbg.analysis.scheduled_code import registers_read
from rocdbg.analysis.value_flow import VECTOR
from rocdbg.isa import Flow, Instruction
from rocdbg.work import unit

_MOST_VISITS: Final = 64
_MOST_BLOCKS: Final = 1_000
_MOST_ATTEMPTS: Final = 20
_MOST_NODES: Final = (400, 24)
"""Limits on the nodes of a diagram: for the first attempt, and for the second, which is made if the first takes too
many nodes in all.
"""
_MOST_IN_ALL: Final = (40_000, 150_000)
_WEIGHTS: Final = 0x3FFF_FFFF
_EXEC: Final = frozenset({EXEC_LO, EXEC_HI})

_Masks: TypeAlias = dict[Place, Bits]
"""What is known about places that hold masks; nothing is known about a place that is missing."""


class Crossing(Struct, frozen=True):
    """What is known when control passes from a block to a successor.

    ``absent`` lanes do not exist there. ``nobody`` means that no lane is active. At the head of a loop, and where paths
    join, the bit ``now`` gets a new value, and ``then`` is its previous value; ``allowed`` says which combinations of
    the two are possible.
    """

    absent: int
    nobody: bool = False
    now: int | None = None
    then: int = 0
    allowed: int = 0


class Renaming(Struct, frozen=True):
    """EXEC is represented by the new bit ``variable``; ``allowed`` says for which states the bit's values are possible.
    """

    variable: int
    allowed: int


class FollowedMasks:
    """The masks of a function's code.

    ``predecessors`` gives the blocks before each block, and ``written`` the registers that an instruction writes. With
    ``is_known``, EXEC is known before each instruction, but before some of them only within bounds. Without it, nothing
    is known about masks.
    """

    def __init__(
        self, analysis: Analysis, predecessors: dict[int, list[int]], written: Callable[[Instruction], frozenset[int]]
    ) -> None:
        self._analysis, self._predecessors, self._written = analysis, predecessors, written
        self._wide = analysis.machine.wave_size == 64
        self._read_later: dict[int, frozenset[int]] = {}
        self._forget()
        self.is_known: bool = len(analysis.blocks) <= _MOST_BLOCKS and self._follow()

    def _follow(self) -> bool:
        self._read_later = self._find_read_later()
        return self._find_masks() or self._find_masks(1)

    def _forget(self, effort: int = 0) -> None:
        """Start over without knowing any masks."""
        self._most_nodes, self._most_in_all = _MOST_NODES[effort], _MOST_IN_ALL[effort]
        self.diagrams = Diagrams(lambda one, other: one | other, _weight)
        self._unknown: Bits = (self.diagrams.false, self.diagrams.true)
        self.exec_before: dict[int, Bits] = {}
        """EXEC before each instruction."""
        self._ends: dict[int, Bits] = {}
        """EXEC at the ends of blocks."""
        self.forgotten: dict[int, int] = {}
        """The bits of comparisons, to which an instruction gives new values, by the instruction's address."""
        self.crossings: dict[tuple[int, int], Crossing] = {}
        self._vague: set[int] = set()
        """Instructions after which EXEC is not known as one function."""
        self._named: frozenset[int] = frozenset()
        """Instructions after which EXEC is represented by a new bit."""
        self.renamed: dict[int, Renaming] = {}
        self._heads = {
            start for start, sources in self._predecessors.items()
            if any(source >= start for source in sources) or (effort and len(sources) > 1)
        }
        """Blocks at whose beginning EXEC may differ by the path taken. At the first attempt, those outside loops are
        added when they are found.
        """

    # -- functions of bits

    def not_(self, diagram: int) -> int:
        return self.diagrams.choose(diagram, self.diagrams.false, self.diagrams.true)

    def and_(self, one: int, other: int) -> int:
        return self.diagrams.choose(one, other, self.diagrams.false)

    def or_(self, one: int, other: int) -> int:
        return self.diagrams.choose(one, self.diagrams.true, other)

    def _some(self, variable: int, diagram: int) -> int:
        """The diagram that is 1 where ``diagram`` is 1 for some value of a bit."""
        return self.diagrams.substitute(diagram, {variable: self._unknown})

    def every(self, variable: int, diagram: int) -> int:
        """The diagram that is 1 where ``diagram`` is 1 for both values of a bit."""
        return self.not_(self._some(variable, self.not_(diagram)))

    def at_least(self, lanes: int) -> int:
        """Lanes with a property; only some of these lanes if the diagram would grow too large."""
        return self.not_(self.diagrams.coarsened(self.not_(lanes), self._most_nodes))

    def _bounded(self, sure: int, possible: int) -> Bits:
        return self.at_least(sure), self.diagrams.coarsened(possible, self._most_nodes)

    def covers(self, lanes: int, mask: int) -> bool:
        return self.diagrams.choose(mask, lanes, self.diagrams.true) == self.diagrams.true

    # -- masks

    def _find_read_later(self) -> dict[int, frozenset[int]]:
        """The scalar registers that the code from each block on may read before it writes them: masks in other
        registers need not be followed.
        """
        blocks = self._analysis.blocks
        own: dict[int, tuple[frozenset[int], frozenset[int]]] = {}
        for start, block in blocks.items():
            read, changed = set[int](), set[int]()
            for instruction in block.instructions:
                if instruction.flow is Flow.CALL:  # masks that a call does not preserve are lost anyway
                    continue
                read |= registers_read(instruction) - changed
                changed |= self._written(instruction)
            own[start] = frozenset(each for each in read if each < VECTOR), frozenset(changed)
        found = {start: read | _EXEC for start, (read, _) in own.items()}
        todo = sorted(blocks)
        pending = set(todo)
        while todo:
            unit()
            start = todo.pop()
            pending.discard(start)
            later = frozenset[int]().union(*(found[each] for each in blocks[start].successors if each in found))
            wanted = found[start] | (later - own[start][1])
            if wanted != found[start]:
                found[start] = wanted
                more = [each for each in self._predecessors.get(start, ()) if each not in pending]
                pending.update(more)
                todo += more
        return found

    def _find_masks(self, effort: int = 0) -> bool:
        """Find EXEC before each instruction; False if the code is too complex."""
        self._forget(effort)
        blocks = self._analysis.blocks
        if self._analysis.function.start not in blocks:
            return False
        vectors = vectors_with_masks(blocks, lambda instruction: False)
        effects = {
            begin: {effect.address: effect for effect in effects_of(block, self._wide, vectors)}
            for begin, block in blocks.items()
        }
        try:
            for _ in range(_MOST_ATTEMPTS):
                if not self._solve(effects):
                    return False
                more = {
                    start for start, sources in self._predecessors.items()
                    if len(sources) > 1 and start not in self._heads and self._is_vague(start)
                }
                if more:
                    self._heads |= {min(more)}
                elif effort and not self._vague <= self._named:
                    self._named |= self._vague
                else:
                    break
        except TooLargeError:
            return False
        return True  # even where some are vague

    def _is_vague(self, start: int) -> bool:
        """Whether EXEC is known at the end of one of a block's predecessors, but is not known as a single function at
        the beginning of the block itself.
        """
        sure, possible = self.exec_before.get(start, self._unknown)
        ends = [self._ends.get(source, self._unknown) for source in self._predecessors[start]]
        return not self.covers(sure, possible) and any(self.covers(one, other) for one, other in ends)

    def _solve(self, effects: dict[int, dict[int, Effect]]) -> bool:
        blocks, start = self._analysis.blocks, self._analysis.function.start
        self._vague = set()
        everyone: Bits = (self.diagrams.true, self.diagrams.true)
        states: dict[int, _Masks] = {start: {EXEC_LO: everyone, EXEC_LO + 1: everyone}}
        heap, pending, visits = [start], {start}, dict[int, int]()
        while heap:
            unit()
            begin = heappop(heap)
            pending.discard(begin)
            visits[begin] = visits.get(begin, 0) + 1
            if visits[begin] > _MOST_VISITS:
                return False
            state = self._run(blocks[begin], effects[begin], dict(states[begin]))
            if self.diagrams.count > self._most_in_all:
                return False
            self._ends[begin] = self._executing(state)
            for successor in blocks[begin].successors:
                if successor not in blocks:
                    continue
                crossing = self.crossings[begin, successor] = self._crossing(begin, successor, state)
                there = self._crossed(state, crossing, self._read_later[successor])
                following = states.get(successor)
                if following is None:
                    states[successor] = there
                elif not self._meet(following, there):
                    continue
                if successor not in pending:
                    pending.add(successor)
                    heappush(heap, successor)
        return True

    def _run(self, block: Block, effects: dict[int, Effect], state: _Masks) -> _Masks:
        for instruction in block.instructions:
            address = instruction.address
            self.exec_before[address] = self._executing(state)
            effect = effects.get(address)
            if effect is not None:
                self._apply(effect, state)
            if address in self._analysis.rejoins:
                state[EXEC_LO] = state[EXEC_LO + 1] = (self.diagrams.true, self.diagrams.true)
            elif effect is not None and self._executing(state) != self.exec_before[address]:
                if address in self._named:
                    self._rename(address, state)
                elif not self.covers(*self._executing(state)):
                    self._vague.add(address)
        return state

    def _rename(self, address: int, state: _Masks) -> None:
        """Let EXEC be a new bit, between the bounds that are known."""
        variable = self.diagrams.variable(("executing", address))
        self._lose_bit(variable, state)
        sure, possible = self._executing(state)
        bit = self.diagrams.bit(variable)
        allowed = self.diagrams.choose(bit, possible, self.not_(sure))
        self.renamed[address] = Renaming(variable, allowed)
        for place, (one, other) in state.items():
            state[place] = self._bounded(self.or_(self.not_(allowed), one), self.and_(allowed, other))
        state[EXEC_LO] = state[EXEC_LO + 1] = bit, bit

    def _executing(self, state: _Masks) -> Bits:
        low = state.get(EXEC_LO, self._unknown)
        return low if not self._wide or state.get(EXEC_LO + 1) == low else self._unknown

    def _value(self, state: _Masks, source: Source, half: int) -> Bits:
        place = source.place(half)
        if place is not None:
            return state.get(place, self._unknown)
        bit = source.bit(half)
        if bit is None:
            return self._unknown
        constant = self.diagrams.true if bit else self.diagrams.false
        return constant, constant

    def _combined(self, operation: int, first: Bits, second: Bits) -> Bits:
        """Apply a truth table (bit 2 * first + second) to two masks."""

        def possible(table: int) -> int:
            found = self.diagrams.false
            for row in range(4):
                if table >> row & 1:
                    one = first[1] if row & 2 else self.not_(first[0])
                    other = second[1] if row & 1 else self.not_(second[0])
                    found = self.or_(found, self.and_(one, other))
            return found

        return self.not_(possible(~operation & 0b1111)), possible(operation)

    def _apply(self, effect: Effect, state: _Masks) -> None:
        kind, to, saved = effect.kind, effect.destination, effect.saved
        executing = self._executing(state)
        new: dict[Place, Bits] = {}
        if kind in (Kind.LOGIC, Kind.SAVE, Kind.WRITE) and to is not None and to.register is not None:
            for half in range(1 + to.wide):
                first, second = self._value(state, effect.first, half), self._value(state, effect.second, half)
                value = first if effect.first == effect.second and effect.operation == 0b1100 else self._combined(
                    effect.operation, first, second
                )
                if saved is not None and saved.register is not None:
                    new[saved.register + half] = second if kind is Kind.SAVE else value
                new[to.register + half] = value
        elif kind is Kind.SELECT and to is not None and to.register is not None:
            for half in range(1 + to.wide):
                one, other = self._value(state, effect.first, half), self._value(state, effect.second, half)
                new[to.register + half] = self.and_(one[0], other[0]), self.or_(one[1], other[1])
        elif kind is Kind.QUADS and to is not None and to.register is not None:
            for half in range(1 + to.wide):
                sure, _ = self._value(state, effect.first, half)
                new[to.register + half] = sure, self.diagrams.true
        elif kind in (Kind.COMPARE, Kind.NARROW):
            variable = self._set_anew(effect.address, state)
            executing = self._executing(state)
            bit = self.diagrams.bit(variable)
            value = self.and_(executing[0], bit), self.and_(executing[1], bit)
            if to is not None and to.register is not None:
                new |= {to.register + half: value for half in range(1 + to.wide)}
            if kind is Kind.NARROW:
                new |= {EXEC_LO: value, EXEC_LO + 1: value}
        elif kind is Kind.READ_LANE and to is not None and to.register is not None and effect.lane is not None:
            new[to.register] = state.get(LaneOf(effect.vector, effect.lane), self._unknown)
        elif kind is Kind.WRITE_LANE and effect.lane is not None:
            new[LaneOf(effect.vector, effect.lane)] = self._value(state, effect.first, 0)
        else:
            self._lose(effect, state)
        for vector in effect.results:
            _lose_lanes(state, vector)
        state |= {place: self._bounded(*value) for place, value in new.items()}

    def _lose(self, effect: Effect, state: _Masks) -> None:
        for register in effect.lost:
            state.pop(register, None)
        if effect.kind is Kind.CALL:
            for register in (*BY_CONVENTION.scalars, VCC_LO, VCC_LO + 1):
                if register not in (EXEC_LO, EXEC_LO + 1):
                    state.pop(register, None)
            for place in [place for place in state if isinstance(place, LaneOf)]:
                if place.register in BY_CONVENTION.vectors:
                    del state[place]
        elif effect.kind in (Kind.WRITE_LANE, Kind.COPY):
            _lose_lanes(state, effect.vector)
        elif effect.kind is Kind.LOAD:
            for vector in range(effect.vector, effect.vector + effect.count):
                _lose_lanes(state, vector)

    def _set_anew(self, address: int, state: _Masks) -> int:
        """Return the bit of a comparison, after making all masks independent of the bit's previous value."""
        is_new = self.diagrams.known_variable(("compared", address)) is None  # no mask depends on it
        variable = self.diagrams.variable(("compared", address))
        self.forgotten[address] = variable
        if not is_new:
            self._lose_bit(variable, state)
        return variable

    def _lose_bit(self, variable: int, state: _Masks) -> None:
        support = self.diagrams.support
        for place, (sure, possible) in state.items():
            if variable in support(sure) or variable in support(possible):
                state[place] = self.every(variable, sure), self._some(variable, possible)

    def _crossing(self, start: int, successor: int, state: _Masks) -> Crossing:
        last = self._analysis.blocks[start].instructions[-1]
        is_jump = successor == last.branch_target
        sure, possible = self._executing(state)
        absent, nobody = self.diagrams.false, False
        if last.branch_target != last.address + last.size and (
            last.name == ("s_cbranch_execz" if is_jump else "s_cbranch_execnz")
        ):
            absent, nobody, sure, possible = sure, True, self.diagrams.false, self.diagrams.false
        if successor not in self._heads:
            return Crossing(absent, nobody)
        now = self.diagrams.variable(("in the loop", successor))
        then = self.diagrams.variable(("was in the loop", successor))
        earlier = {now: (self.diagrams.bit(then), self.diagrams.bit(then))}
        sure, possible = self.diagrams.substitute(sure, earlier), self.diagrams.substitute(possible, earlier)
        allowed = self.diagrams.choose(self.diagrams.bit(now), possible, self.not_(sure))
        return Crossing(absent, nobody, now, then, allowed)

    def lanes_crossed(self, lanes: int, crossing: Crossing) -> int:
        """Lanes that certainly have a property after a crossing."""
        lanes = self.or_(lanes, crossing.absent)
        if crossing.now is None:
            return lanes
        earlier = self.diagrams.bit(crossing.then)
        lanes = self.diagrams.substitute(lanes, {crossing.now: (earlier, earlier)})
        return self.every(crossing.then, self.or_(self.not_(crossing.allowed), lanes))

    def lanes_renamed(self, lanes: int, address: int) -> int:
        """Lanes that certainly have a property after an instruction that makes EXEC a new bit."""
        renaming = self.renamed[address]
        return self.or_(self.not_(renaming.allowed), self.every(renaming.variable, lanes))

    def _crossed(self, state: _Masks, crossing: Crossing, wanted: Collection[int]) -> _Masks:
        found: _Masks = {}
        for place, (sure, possible) in state.items():
            if isinstance(place, int) and place not in wanted:
                continue
            at_most = self.not_(self.lanes_crossed(self.not_(possible), crossing))
            found[place] = self._bounded(self.lanes_crossed(sure, crossing), at_most)
        if crossing.now is not None:
            bit = self.diagrams.bit(crossing.now)
            found[EXEC_LO] = found[EXEC_LO + 1] = bit, bit
        elif crossing.nobody:
            found[EXEC_LO] = found[EXEC_LO + 1] = self.at_least(crossing.absent), self.diagrams.false
        return found

    def _meet(self, state: _Masks, other: _Masks) -> bool:
        """Keep what both paths agree on. True if that is less than before."""
        less = False
        for place, (sure, possible) in list(state.items()):
            if place not in other:
                del state[place]
                less = True
                continue
            met = self._bounded(self.and_(sure, other[place][0]), self.or_(possible, other[place][1]))
            if met != (sure, possible):
                state[place] = met
                less = True
        return less


def _weight(name: Hashable) -> int:
    assert isinstance(name, tuple)
    address: int = name[1]
    return (address & _WEIGHTS) >> 2


def _lose_lanes(state: _Masks, vector: int) -> None:
    for place in [place for place in state if isinstance(place, LaneOf) and place.register == vector]:
        del state[place]
