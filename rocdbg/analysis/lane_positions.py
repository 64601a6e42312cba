"""Derives from machine code where the inactive lanes of a wave will continue.

An inactive lane waits until an instruction sets its bit of EXEC again. The lane's bits of the masks that the code has
saved determine which instruction that will be: instructions on masks treat the bits of each lane separately, and
comparisons give 0 for inactive lanes. The analysis therefore works backwards from each end of the function and carries
a decision diagram that gives, for the bits of one lane, the instructions at which it may continue. A write to EXEC
becomes a test, a move of a mask renames bits, and a branch that does not depend on the lane unites the sets of its two
paths. Loops are iterated until nothing changes. If the resulting set has one instruction, that is the lane's position;
if it has several, the position is unknown, and they are the candidates.

Instructions without a source line are skipped: a lane that such an instruction activates, perhaps only to wait again,
is followed to the first instruction with a line that it executes.

Spill code and whole-wave code activate all lanes temporarily. A lane does not count as continuing there: in such code,
the register that holds the saved EXEC gives the active lanes (`Window`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import cache
from heapq import heappop, heappush
from typing import Final, TypeAlias

from msgspec import Struct, field

from rocdbg.analysis.control_flow import Block, FunctionCode, blocks_of, decode, jump_targets, predecessors
from rocdbg.analysis.diagrams import Diagrams, TooLargeError
from rocdbg.analysis.machine_state import EXEC_LO, VCC_LO
from rocdbg.analysis.mask_effects import SCC, Effect, Kind, Source, effects_of, vectors_with_masks
from rocdbg.analysis.mask_transfer import Masks, Window, active_register, weight, window_after
from rocdbg.analysis.register_effects import BY_CONVENTION, Clobbers
from rocdbg.analysis.uniform_masks import mark_uniform
from rocdbg.isa import Flow, Instruction
from rocdbg.work import unit

NOT_ENTERED: Final = -1
"""The lane is inactive where the function returns: it has never entered it."""
ANYWHERE: Final = -2
"""The lane may continue at places that are not known."""

_MOST_CANDIDATES: Final = 6
_MOST_VISITS: Final = 200
_MOST_MASKS: Final = 160
_MOST_BLOCKS: Final = 20_000

_MOST_NODES: Final = 2000
"""Limit on the nodes of a diagram: larger ones cannot be evaluated (`rocdbg.analysis.lane_masks`), and would grow from
block to block.
"""
_PATIENCE: Final = 20
"""The number of visits to a block after which the block's sets may only grow, so that the iteration ends."""

Found: TypeAlias = tuple[int, int]
"""The diagram for lanes that are active at a point, and that for lanes that are not; neither tests the mask of active
lanes.
"""


class Positions(Struct, frozen=True):
    """Where the inactive lanes of one half of the wave continue, seen from one instruction.

    ``diagram`` is in the analysis' store. ``active`` is the scalar register that holds the mask of active lanes.
    """

    diagram: int
    active: int


class _Flow(Struct):
    block: Block
    effects: list[Effect]
    windows: list[Window | None]
    """Windows before each effect, and after the last."""
    firsts: list[int | None]
    """For each effect, the first instruction with a source line from it up to and including the next effect; for the
    last one, up to the end of the block.
    """
    found: Found | None = None
    """Diagrams at the first instruction."""
    visits: int = 0


class _Half(Struct):
    """The analysis for the lanes of one half."""

    number: int
    flows: dict[int, _Flow]
    histories: dict[int, list[int]] = field(default_factory=dict)
    """Diagrams before each effect of a block, and after the last."""


class LanePositions:
    """The positions of inactive lanes throughout a function.

    ``silent`` holds the address ranges (first, end), ascending, of code without a source line. ``clobbers(call,
    target)`` returns what the call at an address changes; ``target`` is the called address as far as the call's own
    block determines it (None: unknown). Raises `TooLargeError` if the control flow is too complicated.
    """

    def __init__(
        self, function: FunctionCode, code: bytes, target: str, wave_size: int,
        clobbers: Callable[[int, int | None], Clobbers] = lambda call, target: BY_CONVENTION,
        silent: Sequence[tuple[int, int]] = (),
    ) -> None:
        self.function = function
        self.wave_size = wave_size
        self._silent = silent
        self._sets: list[frozenset[int]] = [frozenset(), frozenset()]  # sets 0 and 1 represent the bits
        self._set_numbers: dict[frozenset[int], int] = {}
        self.diagrams = Diagrams(self._unite, weight)
        instructions = decode(function, code, target, wave_size)
        self._targets = jump_targets(instructions)
        self._clobbers = cache(lambda call: clobbers(call, self._targets.get(call)))
        self._masks = Masks(self.diagrams, self._clobbers)
        self._blocks = blocks_of(function, instructions, self._targets)
        if len(self._blocks) > _MOST_BLOCKS:
            raise TooLargeError("the function has too many blocks")
        self._starts = sorted(self._blocks)
        self._predecessors = predecessors(self._blocks)
        self._ranks = _ranks(self._blocks, self._starts)
        self.ends = {
            block.instructions[-1].address for block in self._blocks.values()
            if block.instructions[-1].flow is Flow.END
        }
        self._bottom = self.diagrams.leaf(self._set(frozenset()))
        vectors = vectors_with_masks(self._blocks, self._is_silent)
        effects = {start: effects_of(block, wave_size == 64, vectors) for start, block in self._blocks.items()}
        self._uniform = mark_uniform(self._blocks, effects, function.start, wave_size == 64, self._clobbers)
        self._halves = [_Half(number, self._windows(effects, number)) for number in range(wave_size // 32)]
        for half in self._halves:
            self._solve(half)

    # -- queries

    def at(self, pc: int) -> tuple[Positions, ...] | None:
        """The positions before the instruction at ``pc``, for each half; None outside the function's code.

        For a ``pc`` inside a call they apply while the called function runs.
        """
        index = bisect_left(self._starts, pc + 1) - 1
        if index < 0 or pc >= self.function.end:
            return None
        block = self._blocks[self._starts[index]]
        if not block.instructions:  # the bytes at its address are not code
            return None
        last = block.instructions[-1]
        if pc >= last.address + last.size:
            return None
        return tuple(self._before(half, self._starts[index], pc) for half in self._halves)

    def changes(self) -> list[int]:
        """The addresses at which the positions may change, ascending, starting with the function's start."""
        found = set(self._starts)
        for flow in self._halves[0].flows.values():
            found |= {effect.after for effect in flow.effects}
        return sorted(address for address in found if address < self.function.end)

    def candidates(self, leaf: int) -> frozenset[int]:
        """The places that a leaf of a diagram represents: addresses, `NOT_ENTERED`, `ANYWHERE`; empty: the lane never
        continues.
        """
        return self._sets[leaf]

    # -- sets of places

    def _set(self, places: frozenset[int]) -> int:
        if len(places) > _MOST_CANDIDATES:
            places = frozenset((ANYWHERE,))
        number = self._set_numbers.get(places)
        if number is None:
            number = self._set_numbers[places] = len(self._sets)
            self._sets.append(places)
        return number

    def _unite(self, one: int, other: int) -> int:
        places = self._sets[one] | self._sets[other]
        return self._set(frozenset((ANYWHERE,)) if ANYWHERE in places else places)

    def _place(self, place: int) -> int:
        return self.diagrams.leaf(self._set(frozenset((place,))))

    # -- windows

    def _windows(self, effects: dict[int, list[Effect]], half: int) -> dict[int, _Flow]:
        """Find all windows by forward data flow from block to block."""
        flows: dict[int, _Flow] = {}
        entry: dict[int, Window | None] = {}
        todo: list[int] = list(reversed(self._starts))  # including blocks that seem unreachable
        while todo:
            unit()
            start = todo.pop()
            if start in flows:
                continue
            window = entry.get(start)
            windows = [window]
            copy: int | None = None
            for effect in effects[start]:
                window, copy = window_after(window, effect, copy, half)
                windows.append(window)
            block = self._blocks[start]
            flows[start] = _Flow(block, effects[start], windows, self._firsts(block, effects[start]))
            for successor in block.successors:
                if successor in self._blocks and successor not in flows:
                    entry.setdefault(successor, window)
                    todo.append(successor)
        return flows

    def _firsts(self, block: Block, effects: list[Effect]) -> list[int | None]:
        found: list[int | None] = []
        instructions = iter(block.instructions)
        last = block.instructions[-1].address
        for end in [*(effect.address for effect in effects), last]:
            first: int | None = None
            for instruction in instructions:
                address = instruction.address
                if first is None and not self._is_silent(instruction):
                    first = address
                if address == end:
                    break
            found.append(first)
        return found

    def _is_silent(self, instruction: Instruction) -> bool:
        """Whether an instruction cannot be a lane's position."""
        if not self._silent or instruction.flow in (Flow.CALL, Flow.END, Flow.INDIRECT):
            return False
        index = bisect_right(self._silent, instruction.address, key=lambda extent: extent[0]) - 1
        return index >= 0 and instruction.address < self._silent[index][1]

    # -- the flow backwards

    def _solve(self, half: _Half) -> None:
        ranks = self._ranks
        pending = set(half.flows)
        heap = sorted((ranks[start], start) for start in pending)
        while heap:
            unit()
            start = heappop(heap)[1]
            if start not in pending:
                continue
            pending.discard(start)
            flow = half.flows[start]
            found = self._behind(half, flow)
            history = [found[1]]
            for index in range(len(flow.effects) - 1, -1, -1):
                found = self._step(half, flow, index, found)
                history.append(found[1])
            history.reverse()
            half.histories[start] = history  # that of the last visit is final: nothing after the block changes any more
            found = self.diagrams.coarsened(found[0], _MOST_NODES), self.diagrams.coarsened(found[1], _MOST_NODES)
            if flow.visits > _PATIENCE and flow.found is not None:
                # the sets only grow, so this ends for any code
                found = (
                    self.diagrams.join(found[0], flow.found[0]), self.diagrams.join(found[1], flow.found[1])
                )
            if found == flow.found:
                continue
            if len(self.diagrams.support(found[0])) > _MOST_MASKS or (
                len(self.diagrams.support(found[1])) > _MOST_MASKS
            ):
                raise TooLargeError("too many masks are live at once")
            flow.found = found
            flow.visits += 1
            if flow.visits > _MOST_VISITS:
                raise TooLargeError("the loops are too complex")
            for before in set(self._predecessors.get(start, ())) - pending:
                pending.add(before)
                heappush(heap, (ranks[before], before))

    def _behind(self, half: _Half, flow: _Flow) -> Found:
        """The diagrams at the end of a block, after its last effect."""
        active, waiting = self._at_end(half, flow)
        first = flow.firsts[-1]
        return (active if first is None else self._place(first), waiting)

    def _at_end(self, half: _Half, flow: _Flow) -> Found:
        last = flow.block.instructions[-1]
        after = last.address + last.size
        if last.flow is Flow.END:
            # if the wave is aborted, its waiting lanes do not continue
            gives_up = not self.function.is_kernel or any(
                instruction.flow is Flow.TRAP and instruction.name == "s_trap" and instruction.operands[0].value == 2
                for instruction in flow.block.instructions
            )
            place = self._bottom if gives_up else self._place(last.address)
            return place, place
        if last.flow is Flow.INDIRECT and not flow.block.successors:
            returns = last.name in ("s_setpc_b64", "s_set_pc_i64") and not self.function.is_kernel
            place = self._place(NOT_ENTERED if returns else ANYWHERE)
            return place, place
        if last.flow is Flow.COND_BRANCH and last.branch_target is not None:
            return self._branch(half, flow, last.name, last.branch_target, after)
        if not flow.block.successors:
            return self._place(ANYWHERE), self._place(ANYWHERE)
        active = waiting = self._bottom
        for successor in flow.block.successors:
            found = self._start_of(half, successor)
            active, waiting = self.diagrams.join(active, found[0]), self.diagrams.join(waiting, found[1])
        return active, waiting

    def _branch(self, half: _Half, flow: _Flow, name: str, target: int, after: int) -> Found:
        """The diagrams before a conditional branch."""
        taken, passed = self._start_of(half, target), self._start_of(half, after)
        condition = name.removeprefix("s_cbranch_")
        if condition in ("scc0", "vccz", "execz"):
            taken, passed = passed, taken
        diagrams, number = self.diagrams, half.number
        found = []
        for active in (1, 0):
            either = diagrams.join(taken[1 - active], passed[1 - active])
            if condition in ("scc0", "scc1"):
                either = diagrams.choose(diagrams.bit(diagrams.variable(SCC)), taken[1 - active], passed[1 - active])
            elif condition in ("vccz", "vccnz", "execz", "execnz"):
                # if the lane's bit is set, it alone decides
                register = (VCC_LO if condition.startswith("vcc") else EXEC_LO) + number
                bit = self._masks.value(Source(register), number, flow.windows[-1], bool(active))
                if condition.startswith("vcc"):
                    either = self._uniform_branch(
                        half, flow, bool(active), taken[1 - active], passed[1 - active], either
                    )
                either = diagrams.choose(bit[0], taken[1 - active], either)
            found.append(either)
        return found[0], found[1]

    def _uniform_branch(
        self, half: _Half, flow: _Flow, active: bool, nonzero: int, zero: int, either: int
    ) -> int:
        """The diagram before a branch on whether VCC is zero, where VCC has the same bit for all lanes or for all
        active lanes.
        """
        diagrams, window = self.diagrams, flow.windows[-1]
        if VCC_LO in self._uniform[flow.block.instructions[0].address]:
            bit = self._masks.value(Source(VCC_LO + half.number), half.number, window, active)
            return diagrams.choose(bit[0], nonzero, diagrams.choose(bit[1], either, zero))
        decides = _decides(flow.effects)
        if decides is None:
            return either
        sure, possible = self._masks.uniform(decides, half.number, window, active)
        # without active lanes VCC is zero in any case
        if active and window is None:
            either = diagrams.choose(sure, nonzero, either)
        return diagrams.choose(possible, either, zero)

    def _start_of(self, half: _Half, start: int) -> Found:
        flow = half.flows.get(start)
        if flow is None:
            return self._place(ANYWHERE), self._place(ANYWHERE)  # the branch leaves the function
        return (self._bottom, self._bottom) if flow.found is None else flow.found

    def _before(self, half: _Half, start: int, pc: int) -> Positions:
        flow, history = half.flows[start], half.histories[start]
        index = bisect_left(flow.effects, pc + 1, key=lambda effect: effect.after)
        return Positions(history[index], active_register(half.number, flow.windows[index]))

    def _step(self, half: _Half, flow: _Flow, index: int, after: Found) -> Found:
        """The diagrams before an effect, from those after it."""
        count = self.diagrams.count
        waiting = self._carry(half, flow, index, after, False)
        first = flow.firsts[index]
        active = self._carry(half, flow, index, after, True) if first is None else self._place(first)
        if self.diagrams.count > count + _MOST_NODES:
            return self.diagrams.coarsened(active, _MOST_NODES), self.diagrams.coarsened(waiting, _MOST_NODES)
        return active, waiting

    def _carry(self, half: _Half, flow: _Flow, index: int, after: Found, active: bool) -> int:
        """The diagram before an effect for a lane that is active there, or for one that is not."""
        effect, diagrams, masks, number = flow.effects[index], self.diagrams, self._masks, half.number
        before, behind = flow.windows[index], flow.windows[index + 1]
        written = masks.written(effect, number, before, active)
        register = active_register(number, behind)
        goes_on = written.get(register)
        if goes_on is None:
            goes_on = masks.value(Source(register), number, before, active)
        sure, possible = goes_on
        result = diagrams.false
        if possible != diagrams.true or sure != possible:
            result = masks.before(effect, number, before, active, written, after[1])
        if possible != diagrams.false:
            there = masks.before(effect, number, before, active, written, after[0])
            either = diagrams.join(there, result) if sure != possible else result
            result = diagrams.choose(sure, there, diagrams.choose(possible, either, result))
        return masks.known(result, number, before, active)


def _decides(effects: list[Effect]) -> tuple[Source, bool] | None:
    """The uniform mask that determines whether VCC is EXEC or 0 at the end of a block (see `Effect.decides`); None if
    there is none.
    """
    for index in range(len(effects) - 1, -1, -1):
        effect = effects[index]
        if effect.writes_exec():
            return None
        if effect.writes_scalar(VCC_LO) or effect.writes_scalar(VCC_LO + 1):
            source = effect.decides[0] if effect.decides is not None else Source()
            if source.register is None:
                return None
            registers = range(source.register, source.register + 1 + source.wide)
            later = effects[index + 1 :]
            is_lost = any(
                other.kind is Kind.CALL or any(map(other.writes_scalar, registers)) for other in later
            )
            return None if is_lost else effect.decides
    return None


def _ranks(blocks: dict[int, Block], starts: list[int]) -> dict[int, int]:
    """Number the blocks so that most successors of a block have lower numbers than it."""
    ranks: dict[int, int] = {}
    seen: set[int] = set()
    for root in starts:
        stack = [(root, iter(blocks[root].successors))] if root not in seen else []
        seen.add(root)
        while stack:
            unit()
            start, successors = stack[-1]
            following = next((other for other in successors if other in blocks and other not in seen), None)
            if following is None:
                ranks[start] = len(ranks)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(blocks[following].successors)))
    return ranks
