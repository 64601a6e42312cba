"""Finds the lanes for which a location list is right, by forward data flow of masks over the code of a function.

Compilers for scalar machines rely on the fact that code after an instruction runs only if the instruction was executed.
On a SIMT machine the code of one branch precedes that of the other, and the wave runs through both if a jump around one
does not pay. LLVM still follows the order of the code: if the first branch assigns a variable in a register, the
variable is described by this register in the second branch, too, although the lanes of the second branch have not
written the register.

A lane has the value that a list describes from an address on in one of three cases:
* the lane was active at that address;
* it has written the register since (LLVM joins a description that begins after a write with an equal one before it);
* the value that the variable had elsewhere was moved into the register for the lane (compilers place such moves before
  a branch, for the lanes that skip it).

Masks are functions of bits, as in ``lane_positions``: one bit for each comparison of lanes, one for each loop (whether
a lane is still in it). For each mask, the analysis knows lanes that are certainly in it and lanes that may be in it. At
the function's entry, EXEC is assumed to be all lanes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from heapq import heappop, heappush
from typing import Final

from msgspec import Struct

from rocdbg.analysis.advanced_registers import Sum, is_advanced_twice
from rocdbg.analysis.control_flow import Block, predecessors
from rocdbg.analysis.diagrams import TooLargeError
from rocdbg.analysis.followed_masks import FollowedMasks
from rocdbg.analysis.joined_numbers import has_other_numbers
from rocdbg.analysis.machine_state import EXEC_HI, EXEC_LO, State
from rocdbg.analysis.mask_effects import (
    Number,
    OwnLane,
    moves,
)
from rocdbg.analysis.register_effects import apply
from rocdbg.analysis.saved_registers import Analysis
from rocdbg.analysis.scheduled_code import Extent, ScheduledCode
from rocdbg.analysis.speculated_values import is_speculated
from rocdbg.analysis.value_flow import CONSTANT, VECTOR
from rocdbg.isa import Flow, Instruction
from rocdbg.work import unit

_DWORD: Final = 0xFFFF_FFFF
_EXEC: Final = frozenset({EXEC_LO, EXEC_HI})
_NARROWING: Final = ("v_cmpx", "s_and_saveexec", "s_and_b", "s_andn2_b", "s_and_not1_b")

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


class LaneCoverage:
    """Determines, for the code of one function, which lanes hold the values that location lists describe."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._written: dict[int, frozenset[int]] = {}
        self._predecessors = predecessors(analysis.blocks)
        self.code = ScheduledCode(analysis, self._predecessors, self.written)
        """The function's code in the order before scheduling, for descriptions that scheduling has moved."""
        self.has_loops = any(source >= start for start, sources in self._predecessors.items() for source in sources)
        self._masks = FollowedMasks(analysis, self._predecessors, self.written)
        everyone = self._masks.diagrams.true, self._masks.diagrams.true
        known = self._masks.exec_before.values()
        self._diverges = any(executing != everyone for executing in known) if self._masks.is_known else any(
            not _EXEC.isdisjoint(self.written(instruction))
            for block in analysis.blocks.values() for instruction in block.instructions
        )

    def gaps(self, extents: Sequence[Extent], registers: Collection[int], others: Sequence[Held] = ()) -> Gaps:
        """Find where in ``extents`` some lane may not have what the list describes there.

        ``registers`` are those that the description reads, ``others`` the list's other descriptions. Where masks cannot
        be followed, lanes are assumed to have what is described only up to the next instruction that may activate
        lanes.
        """
        if not self._diverges:
            return Gaps()
        try:
            if self._masks.is_known:
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
    """Follows the lanes that have the described value, for a description in a list and all others that are equal to it.
    """

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
        """Where active lanes are known to have the value: at the beginnings of extents. The beginning of a block is
        left out if the ends of all its predecessors are in extents, because it then only continues these.
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
        of, blocks, first = self._of._masks, self._of._analysis.blocks, self._of._analysis.function.start
        nobody = of.diagrams.false
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
                crossing = of.crossings.get((start, successor))
                if crossing is None:
                    continue
                there = (
                    of.at_least(of.lanes_crossed(lanes, crossing)), of.at_least(of.lanes_crossed(moved, crossing))
                )
                known = states.get(successor)
                met = there if known is None else (of.and_(known[0], there[0]), of.and_(known[1], there[1]))
                if met == known:
                    continue
                states[successor] = met
                if successor not in pending:
                    pending.add(successor)
                    heappush(heap, successor)
        self.gaps = Gaps(frozenset(address for found in gaps.values() for address in found), frozenset(self._ended))

    def _run(self, block: Block, lanes: int, moved: int) -> tuple[int, int, set[int]]:
        """Follow a block. Return the lanes that have the value at its end, the subset of these lanes to which the value
        was moved, and the gaps.

        Lanes that leave the extents lose the value at their next instruction, unless it is one of the scalar unit,
        which only selects lanes. A moved value lasts until the list describes another one.
        """
        of = self._of._masks
        gaps: set[int] = set()
        number: int | None = None  # the number that was moved into the register
        following = [*block.instructions[1:], None]
        for instruction, behind in zip(block.instructions, following, strict=True):
            address = instruction.address
            sure, possible = of.exec_before[address]
            inside = self._is_in(address)
            if address in self._begun:
                lanes, moved = of.and_(lanes, of.not_(possible)), of.and_(moved, of.not_(possible))
                if number is not None and self._begun[address] == number:
                    lanes, moved = of.or_(lanes, sure), of.or_(moved, sure)
            elif not inside and not instruction.encoding.startswith("SOP"):
                lanes = of.and_(lanes, of.or_(moved, of.not_(possible)))
            if address in self._starts:
                lanes = of.or_(lanes, sure)
            if inside and not of.covers(lanes, possible):
                gaps.add(address)
            if inside and instruction.flow is Flow.END and not of.covers(lanes, of.diagrams.true):
                self._ended.add(address)
            if address in of.forgotten:
                variable = of.forgotten[address]
                lanes, moved = of.every(variable, lanes), of.every(variable, moved)
            if address in of.renamed:
                lanes, moved = of.lanes_renamed(lanes, address), of.lanes_renamed(moved, address)
            if self._registers & self._of.written(instruction):
                terms = [term for register, term in moves(instruction) if VECTOR + register in self._registers]
                is_move = any(self._is_move(other, address, term) for term in terms for other in self._others)
                number = CONSTANT + terms[0].value if terms and isinstance(terms[0], Number) else None
                follows = inside and (behind is None or self._is_in(behind.address))
                lanes = of.or_(lanes, sure) if follows or is_move else of.and_(lanes, of.not_(possible))
                moved = of.or_(moved, sure) if is_move else of.and_(moved, of.not_(possible))
        return lanes, moved, gaps

    def _is_move(self, other: Held, address: int, term: object) -> bool:
        """Whether an instruction moves a value from the place that another description gives for the variable at this
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
