"""Finds the lanes for which a location list is right, by forward data flow of masks over the code of a function.

Compilers for scalar machines rely on the fact that code after an instruction runs only if the instruction was executed.
On a SIMT machine the code of one branch precedes that of the other, and the wave runs through both if a jump around one
does not pay. LLVM still follows the order of the code: a variable that the first branch assigned is described by that
branch's register in the second branch too, whose lanes have not written the register.

A lane has the value that a list describes from an address on in one of three cases:
* the lane was active at that address;
* it has written the register since (LLVM joins a description that begins after a write with an equal one before it);
* the value that the variable had elsewhere was moved into the register for the lane (compilers place such moves before
  a branch, for the lanes that skip it).

Masks are functions of bits, as in ``lane_positions``: one bit for each comparison of lanes, one for each loop (whether
a lane is still in it). For each mask, the analysis knows lanes that are certainly in it and lanes that may be in it. At
the function's entry, EXEC is taken to be all lanes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from heapq import heappop, heappush
from typing import Final, TypeAlias

from msgspec import Struct

from rocdbg.analysis.advanced_registers import Sum, is_advanced_twice
from rocdbg.analysis.control_flow import Block, predecessors
from rocdbg.analysis.diagrams import Bits, Diagrams, TooLargeError
from rocdbg.analysis.effects import BY_CONVENTION, apply
from rocdbg.analysis.joined_numbers import has_other_numbers
from rocdbg.analysis.machine_state import EXEC_HI, EXEC_LO, VCC_LO, State
from rocdbg.analysis.mask_effects import (
    Effect,
    Kind,
    LaneOf,
    Number,
    OwnLane,
    Place,
    Source,
    effects_of,
    moves,
    vectors_with_masks,
)
from rocdbg.analysis.saved_registers import Analysis
from rocdbg.analysis.scheduled_code import Extent, ScheduledCode, registers_read
from rocdbg.analysis.speculated_values import is_speculated
from rocdbg.analysis.value_flow import CONSTANT, VECTOR
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
_DWORD: Final = 0xFFFF_FFFF
_EXEC: Final = frozenset({EXEC_LO, EXEC_HI})
_NARROWING: Final = ("v_cmpx", "s_and_saveexec", "s_and_b", "s_andn2_b", "s_and_not1_b")

_Masks: TypeAlias = dict[Place, Bits]
"""What is known about places that hold masks; nothing is known about a place that is missing."""


class Held(Struct, frozen=True):
    """What describes a variable at the addresses of ``extent``: a register; a number, as ``CONSTANT`` plus its 32 bits;
    or None, for anything else.
    """

    extent: Extent
    place: int | None


class Gaps(Struct, frozen=True):
    """Addresses at which a description may be wrong for some lane.

    At addresses in ``active`` it may be wrong for an active lane; at those in ``ended``, only for lanes that have ended
    earlier, which are shown at the place where the other lanes will end.
    """

    active: frozenset[int] = frozenset()
    ended: frozenset[int] = frozenset()


class _Crossing(Struct, frozen=True):
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


class _Renaming(Struct, frozen=True):
    """EXEC is represented by the new bit ``variable``; ``allowed`` says for which states the bit's values are possible.
    """

    variable: int
    allowed: int


class LaneCoverage:
    """Determines, for the code of one function, which lanes have what location lists describe."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._wide = analysis.machine.wave_size == 64
        self._written: dict[int, frozenset[int]] = {}
        self._predecessors = predecessors(analysis.blocks)
        self.code = ScheduledCode(analysis, self._predecessors, self.written)
        """The function's code in the order before scheduling, for descriptions that scheduling has moved."""
        self.has_loops = any(source >= start for start, sources in self._predecessors.items() for source in sources)
        self._read_later = self._find_read_later()
        self._forget()
        self._is_known = len(analysis.blocks) <= _MOST_BLOCKS and (self._find_masks() or self._find_masks(1))
        everyone = self._diagrams.true, self._diagrams.true
        self._diverges = any(executing != everyone for executing in self._exec.values()) if self._is_known else any(
            not _EXEC.isdisjoint(self.written(instruction))
            for block in analysis.blocks.values() for instruction in block.instructions
        )

    def _forget(self, effort: int = 0) -> None:
        """Start over without knowing any masks."""
        self._most_nodes, self._most_in_all = _MOST_NODES[effort], _MOST_IN_ALL[effort]
        self._diagrams = Diagrams(lambda one, other: one | other, _weight)
        self._unknown: Bits = (self._diagrams.false, self._diagrams.true)
        self._exec: dict[int, Bits] = {}
        """EXEC before each instruction."""
        self._ends: dict[int, Bits] = {}
        """EXEC at the ends of blocks."""
        self._forgotten: dict[int, int] = {}
        """The bits of comparisons, to which an instruction gives new values, by the instruction's address."""
        self._crossings: dict[tuple[int, int], _Crossing] = {}
        self._vague: set[int] = set()
        """Instructions after which EXEC is not known as one function."""
        self._named: frozenset[int] = frozenset()
        """Instructions after which EXEC is represented by a new bit."""
        self._renamed: dict[int, _Renaming] = {}
        self._heads = {
            start for start, sources in self._predecessors.items()
            if any(source >= start for source in sources) or (effort and len(sources) > 1)
        }
        """Blocks at whose beginning EXEC may differ by the path taken. At the first attempt, those outside loops are
        added when they are found.
        """

    def gaps(self, extents: Sequence[Extent], registers: Collection[int], others: Sequence[Held] = ()) -> Gaps:
        """Find where in ``extents`` some lane may not have what the list describes there.

        ``registers`` are those that the description reads, ``others`` the list's other descriptions. Where masks cannot
        be followed, lanes are assumed to have what is described only up to the next instruction that may activate
        lanes.
        """
        if not self._diverges:
            return Gaps()
        try:
            if self._is_known:
                return _Query(self, extents, registers, others).gaps
        except TooLargeError:
            pass
        return Gaps(self._unfollowed(extents))

    def _unfollowed(self, extents: Sequence[Extent]) -> frozenset[int]:
        """The addresses in the extents, except those between the beginning of an extent and the next instruction that
        may activate lanes.
        """
        found: set[int] = set()
        for block in self._analysis.blocks.values():
            is_known = False
            for instruction in block.instructions:
                address = instruction.address
                if any(low == address for low, _ in extents) and instruction is not block.instructions[0]:
                    is_known = True
                if not is_known and any(low <= address < high for low, high in extents):
                    found.add(address)
                writes = not _EXEC.isdisjoint(self.written(instruction))
                is_known = is_known and not (writes and not instruction.name.startswith(_NARROWING))
        return frozenset(found)

    def has_other_numbers(self, extent: Extent, register: int, others: Sequence[Held], bits: int) -> bool:
        """Whether a register gets numbers none of which equals, in ``bits``, a number that descriptions before the
        extent give.
        """
        numbers = {
            other.place - CONSTANT & bits for other in others
            if other.place is not None and other.place >= CONSTANT and other.extent[0] < extent[0]
        }
        return bool(numbers) and has_other_numbers(
            self._analysis, self._predecessors, self.written, extent, register, lambda number: number & bits in numbers
        )

    def is_speculated(self, extent: Extent, place: int, others: Sequence[Held]) -> bool:
        """Whether a description of a variable by a register or number may belong to an assignment that not every lane
        executes, because code selects between this description's place and the previous one's.
        """
        found = self._analysis.place_of(extent[0])
        before = [other for other in others if other.extent[1] <= extent[0] and other.place is not None]
        if found is None or not before:
            return False
        latest = max(other.extent[1] for other in before)
        earlier = {other.place for other in before if other.extent[1] == latest and other.place is not None}
        instructions = self._analysis.blocks[found[0]].instructions
        return is_speculated(instructions, found[1], place, earlier, self.written)

    def is_advanced_twice(self, described: Sum, others: Sequence[Sum]) -> bool:
        """Whether the constant of a description counts an advance of its register twice
        (`rocdbg.analysis.advanced_registers`).
        """
        return is_advanced_twice(self._analysis, self._predecessors, self.written, described, others)

    # -- functions of bits

    def _not(self, diagram: int) -> int:
        return self._diagrams.choose(diagram, self._diagrams.false, self._diagrams.true)

    def _and(self, one: int, other: int) -> int:
        return self._diagrams.choose(one, other, self._diagrams.false)

    def _or(self, one: int, other: int) -> int:
        return self._diagrams.choose(one, self._diagrams.true, other)

    def _some(self, variable: int, diagram: int) -> int:
        """The diagram that is 1 where ``diagram`` is 1 for some value of a bit."""
        return self._diagrams.substitute(diagram, {variable: self._unknown})

    def _every(self, variable: int, diagram: int) -> int:
        """The diagram that is 1 where ``diagram`` is 1 for both values of a bit."""
        return self._not(self._some(variable, self._not(diagram)))

    def _at_least(self, lanes: int) -> int:
        """Lanes with a property; only some of these lanes if the diagram would grow too large."""
        return self._not(self._diagrams.coarsened(self._not(lanes), self._most_nodes))

    def _bounded(self, sure: int, possible: int) -> Bits:
        return self._at_least(sure), self._diagrams.coarsened(possible, self._most_nodes)

    def _covers(self, lanes: int, mask: int) -> bool:
        return self._diagrams.choose(mask, lanes, self._diagrams.true) == self._diagrams.true

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
                changed |= self.written(instruction)
            own[start] = frozenset(each for each in read if each < VECTOR), frozenset(changed)
        found = {start: read | _EXEC for start, (read, _) in own.items()}
        todo = sorted(blocks)
        pending = set(todo)
        while todo:
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
        """Whether EXEC is known at the end of a block before a block, but not as one function at its beginning."""
        sure, possible = self._exec.get(start, self._unknown)
        ends = [self._ends.get(source, self._unknown) for source in self._predecessors[start]]
        return not self._covers(sure, possible) and any(self._covers(one, other) for one, other in ends)

    def _solve(self, effects: dict[int, dict[int, Effect]]) -> bool:
        blocks, start = self._analysis.blocks, self._analysis.function.start
        self._vague = set()
        everyone: Bits = (self._diagrams.true, self._diagrams.true)
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
            if self._diagrams.count > self._most_in_all:
                return False
            self._ends[begin] = self._executing(state)
            for successor in blocks[begin].successors:
                if successor not in blocks:
                    continue
                crossing = self._crossings[begin, successor] = self._crossing(begin, successor, state)
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
            self._exec[address] = self._executing(state)
            effect = effects.get(address)
            if effect is not None:
                self._apply(effect, state)
            if address in self._analysis.rejoins:
                state[EXEC_LO] = state[EXEC_LO + 1] = (self._diagrams.true, self._diagrams.true)
            elif effect is not None and self._executing(state) != self._exec[address]:
                if address in self._named:
                    self._rename(address, state)
                elif not self._covers(*self._executing(state)):
                    self._vague.add(address)
        return state

    def _rename(self, address: int, state: _Masks) -> None:
        """Let EXEC be a new bit, between the bounds that are known."""
        variable = self._diagrams.variable(("executing", address))
        self._lose_bit(variable, state)
        sure, possible = self._executing(state)
        bit = self._diagrams.bit(variable)
        allowed = self._diagrams.choose(bit, possible, self._not(sure))
        self._renamed[address] = _Renaming(variable, allowed)
        for place, (one, other) in state.items():
            state[place] = self._bounded(self._or(self._not(allowed), one), self._and(allowed, other))
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
        constant = self._diagrams.true if bit else self._diagrams.false
        return constant, constant

    def _combined(self, operation: int, first: Bits, second: Bits) -> Bits:
        """Apply a truth table (bit 2 * first + second) to two masks."""

        def possible(table: int) -> int:
            found = self._diagrams.false
            for row in range(4):
                if table >> row & 1:
                    one = first[1] if row & 2 else self._not(first[0])
                    other = second[1] if row & 1 else self._not(second[0])
                    found = self._or(found, self._and(one, other))
            return found

        return self._not(possible(~operation & 0b1111)), possible(operation)

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
                new[to.register + half] = self._and(one[0], other[0]), self._or(one[1], other[1])
        elif kind is Kind.QUADS and to is not None and to.register is not None:
            for half in range(1 + to.wide):
                sure, _ = self._value(state, effect.first, half)
                new[to.register + half] = sure, self._diagrams.true
        elif kind in (Kind.COMPARE, Kind.NARROW):
            variable = self._set_anew(effect.address, state)
            executing = self._executing(state)
            bit = self._diagrams.bit(variable)
            value = self._and(executing[0], bit), self._and(executing[1], bit)
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
        is_new = self._diagrams.known_variable(("compared", address)) is None  # no mask depends on it
        variable = self._diagrams.variable(("compared", address))
        self._forgotten[address] = variable
        if not is_new:
            self._lose_bit(variable, state)
        return variable

    def _lose_bit(self, variable: int, state: _Masks) -> None:
        support = self._diagrams.support
        for place, (sure, possible) in state.items():
            if variable in support(sure) or variable in support(possible):
                state[place] = self._every(variable, sure), self._some(variable, possible)

    def _crossing(self, start: int, successor: int, state: _Masks) -> _Crossing:
        last = self._analysis.blocks[start].instructions[-1]
        is_jump = successor == last.branch_target
        sure, possible = self._executing(state)
        absent, nobody = self._diagrams.false, False
        if last.branch_target != last.address + last.size and (
            last.name == ("s_cbranch_execz" if is_jump else "s_cbranch_execnz")
        ):
            absent, nobody, sure, possible = sure, True, self._diagrams.false, self._diagrams.false
        if successor not in self._heads:
            return _Crossing(absent, nobody)
        now = self._diagrams.variable(("in the loop", successor))
        then = self._diagrams.variable(("was in the loop", successor))
        earlier = {now: (self._diagrams.bit(then), self._diagrams.bit(then))}
        sure, possible = self._diagrams.substitute(sure, earlier), self._diagrams.substitute(possible, earlier)
        allowed = self._diagrams.choose(self._diagrams.bit(now), possible, self._not(sure))
        return _Crossing(absent, nobody, now, then, allowed)

    def _lanes_crossed(self, lanes: int, crossing: _Crossing) -> int:
        """Lanes that certainly have a property after a crossing."""
        lanes = self._or(lanes, crossing.absent)
        if crossing.now is None:
            return lanes
        earlier = self._diagrams.bit(crossing.then)
        lanes = self._diagrams.substitute(lanes, {crossing.now: (earlier, earlier)})
        return self._every(crossing.then, self._or(self._not(crossing.allowed), lanes))

    def _lanes_renamed(self, lanes: int, address: int) -> int:
        """Lanes that certainly have a property after an instruction that makes EXEC a new bit."""
        renaming = self._renamed[address]
        return self._or(self._not(renaming.allowed), self._every(renaming.variable, lanes))

    def _crossed(self, state: _Masks, crossing: _Crossing, wanted: Collection[int]) -> _Masks:
        found: _Masks = {}
        for place, (sure, possible) in state.items():
            if isinstance(place, int) and place not in wanted:
                continue
            at_most = self._not(self._lanes_crossed(self._not(possible), crossing))
            found[place] = self._bounded(self._lanes_crossed(sure, crossing), at_most)
        if crossing.now is not None:
            bit = self._diagrams.bit(crossing.now)
            found[EXEC_LO] = found[EXEC_LO + 1] = bit, bit
        elif crossing.nobody:
            found[EXEC_LO] = found[EXEC_LO + 1] = self._at_least(crossing.absent), self._diagrams.false
        return found

    def _meet(self, state: _Masks, other: _Masks) -> bool:
        """Keep what both paths agree on. True if that is less than before."""
        less = False
        for place, (sure, possible) in list(state.items()):
            if place not in other:
                del state[place]
                less = True
                continue
            met = self._bounded(self._and(sure, other[place][0]), self._or(possible, other[place][1]))
            if met != (sure, possible):
                state[place] = met
                less = True
        return less

    # -- instructions

    def written(self, instruction: Instruction) -> frozenset[int]:
        """The registers that an instruction writes, numbered as in ``value_flow``."""
        found = self._written.get(instruction.address)
        if found is None:
            change = State()
            apply(change, instruction, self._analysis.machine)
            vectors = (VECTOR + register for register in change.vectors)
            found = self._written[instruction.address] = frozenset((*change.scalars, *vectors))
        return found

    def are_written_before(
        self, registers: Collection[int], address: int, is_silent: Callable[[int], bool]
    ) -> bool:
        """Whether code without a source line that directly precedes an address writes any of some registers.

        The position of a waiting lane is after such code although the lane has yet to execute it, so its registers do
        not yet have what is described at that position.
        """
        wanted, blocks = frozenset(registers), self._analysis.blocks
        place = self._analysis.place_of(address)
        todo, seen = [place] if place is not None else [], set()
        while todo:
            start, index = todo.pop()
            for instruction in reversed(blocks[start].instructions[:index]):
                if not is_silent(instruction.address):
                    break
                if wanted & self.written(instruction):
                    return True
            else:
                for source in self._predecessors.get(start, ()):
                    if source not in seen:
                        seen.add(source)
                        todo.append((source, len(blocks[source].instructions)))
        return False

    def are_written_between(self, registers: Collection[int], begin: int, end: int) -> bool:
        """Whether code on a path from the instruction at ``begin`` to that at ``end`` writes any of some registers.

        Scalar registers belong to the whole wave: code that other lanes execute before a waiting lane continues changes
        them.
        """
        first, last = self._analysis.place_of(begin), self._analysis.place_of(end)
        if first is None or last is None or not registers:
            return False
        wanted, blocks = frozenset(registers), self._analysis.blocks

        def are_in(start: int, low: int = 0, high: int | None = None) -> bool:
            return any(wanted & self.written(instruction) for instruction in blocks[start].instructions[low:high])

        if first[0] == last[0] and first[1] <= last[1]:
            return are_in(first[0], first[1], last[1])
        ahead = self._reached(first[0], last[0], lambda start: blocks[start].successors)
        behind = self._reached(last[0], first[0], lambda start: self._predecessors.get(start, ()))
        between = (ahead & behind) - {first[0], last[0]}
        return are_in(first[0], first[1]) or are_in(last[0], 0, last[1]) or any(map(are_in, between))

    def _reached(self, start: int, end: int, following: Callable[[int], Iterable[int]]) -> set[int]:
        """The blocks on paths from one block that end in another one."""
        found, todo = {start}, [start]
        while todo:
            for block in following(todo.pop()):
                if block not in found and block in self._analysis.blocks:
                    found.add(block)
                    if block != end:
                        todo.append(block)
        return found


class _Query:
    """Follows the lanes that have the value which equal descriptions of a list describe."""

    def __init__(
        self, coverage: LaneCoverage, extents: Sequence[Extent], registers: Collection[int], others: Sequence[Held]
    ) -> None:
        self._of = coverage
        self._extents = sorted(extents)
        self._lows = [low for low, _ in self._extents]
        self._registers = frozenset(registers)
        self._others = others
        self._begun = {other.extent[0]: other.place for other in others}
        self.gaps = Gaps()
        self._ended: set[int] = set()
        blocks = coverage._analysis.blocks
        every = [*self._extents, *(other.extent for other in others)]
        self._concerned = {start for start, block in blocks.items() if self._concerns(block, every)}
        if any(self._concerns(block, self._extents) for block in blocks.values()):
            self._starts = self._restarts()
            self._flow()

    def _is_in(self, address: int) -> bool:
        """Whether an address is in the extents."""
        index = bisect_right(self._lows, address) - 1
        return index >= 0 and address < self._extents[index][1]

    def _concerns(self, block: Block, extents: Sequence[Extent]) -> bool:
        first, end = block.instructions[0].address, block.instructions[-1].address + 1
        return any(low < end and first < high for low, high in extents)

    def _restarts(self) -> frozenset[int]:
        """Where active lanes are known to have the value: at the beginnings of extents, except where the extent only
        continues extents at the ends of all predecessors.
        """
        blocks, before = self._of._analysis.blocks, self._of._predecessors
        found = set()
        for low, _ in self._extents:
            sources = before.get(low, []) if low in blocks else []
            carried = sources and all(self._is_in(blocks[source].instructions[-1].address) for source in sources)
            if not carried:
                found.add(low)
        return frozenset(found)

    def _flow(self) -> None:
        of, blocks, first = self._of, self._of._analysis.blocks, self._of._analysis.function.start
        nobody = of._diagrams.false
        states: dict[int, tuple[int, int]] = {first: (nobody, nobody)}
        heap, pending, gaps = [first], {first}, dict[int, set[int]]()
        while heap:
            unit()
            start = heappop(heap)
            pending.discard(start)
            lanes, moved, gaps[start] = states[start][0], states[start][1], set()
            if lanes != nobody or start in self._concerned:
                lanes, moved, gaps[start] = self._run(blocks[start], lanes, moved)
            for successor in blocks[start].successors:
                crossing = of._crossings.get((start, successor))
                if crossing is None:
                    continue
                there = (
                    of._at_least(of._lanes_crossed(lanes, crossing)), of._at_least(of._lanes_crossed(moved, crossing))
                )
                known = states.get(successor)
                met = there if known is None else (of._and(known[0], there[0]), of._and(known[1], there[1]))
                if met == known:
                    continue
                states[successor] = met
                if successor not in pending:
                    pending.add(successor)
                    heappush(heap, successor)
        self.gaps = Gaps(frozenset(address for found in gaps.values() for address in found), frozenset(self._ended))

    def _run(self, block: Block, lanes: int, moved: int) -> tuple[int, int, set[int]]:
        """Follow a block: return the lanes that have the value at its end, those of them to which the value was moved,
        and the gaps.

        Lanes that leave the extents lose the value at their next instruction, unless it is one of the scalar unit,
        which only selects lanes. A moved value lasts until the list describes another one.
        """
        of = self._of
        gaps: set[int] = set()
        number: int | None = None  # the number that was moved into the register
        following = [*block.instructions[1:], None]
        for instruction, behind in zip(block.instructions, following, strict=True):
            address = instruction.address
            sure, possible = of._exec[address]
            inside = self._is_in(address)
            if address in self._begun:
                lanes, moved = of._and(lanes, of._not(possible)), of._and(moved, of._not(possible))
                if number is not None and self._begun[address] == number:
                    lanes, moved = of._or(lanes, sure), of._or(moved, sure)
            elif not inside and not instruction.encoding.startswith("SOP"):
                lanes = of._and(lanes, of._or(moved, of._not(possible)))
            if address in self._starts:
                lanes = of._or(lanes, sure)
            if inside and not of._covers(lanes, possible):
                gaps.add(address)
            if inside and instruction.flow is Flow.END and not of._covers(lanes, of._diagrams.true):
                self._ended.add(address)
            if address in of._forgotten:
                variable = of._forgotten[address]
                lanes, moved = of._every(variable, lanes), of._every(variable, moved)
            if address in of._renamed:
                lanes, moved = of._lanes_renamed(lanes, address), of._lanes_renamed(moved, address)
            if self._registers & of.written(instruction):
                terms = [term for register, term in moves(instruction) if VECTOR + register in self._registers]
                is_move = any(self._is_move(other, address, term) for term in terms for other in self._others)
                number = CONSTANT + terms[0].value if terms and isinstance(terms[0], Number) else None
                follows = inside and (behind is None or self._is_in(behind.address))
                lanes = of._or(lanes, sure) if follows or is_move else of._and(lanes, of._not(possible))
                moved = of._or(moved, sure) if is_move else of._and(moved, of._not(possible))
        return lanes, moved, gaps

    def _is_move(self, other: Held, address: int, term: object) -> bool:
        """Whether an instruction moves from the place where another description says that the variable is at this
        address.
        """
        low, high = other.extent
        if not low <= address < high or other.place is None or len(self._registers) != 1:
            return False
        if isinstance(term, OwnLane):
            return other.place == VECTOR + term.register
        if isinstance(term, Number):
            return other.place == CONSTANT + (term.value & _DWORD)
        return other.place == term


def _weight(name: Hashable) -> int:
    assert isinstance(name, tuple)
    address: int = name[1]
    return (address & _WEIGHTS) >> 2


def _lose_lanes(state: _Masks, vector: int) -> None:
    for place in [place for place in state if isinstance(place, LaneOf) and place.register == vector]:
        del state[place]
