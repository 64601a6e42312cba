"""Finds where a function keeps the contents that registers had at entry, for each of its instructions, by forward data
flow.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Final

from msgspec import Struct, field

from rocdbg.analysis.control_flow import Block, FunctionCode, blocks_of, decode, jump_targets
from rocdbg.analysis.machine_state import EXEC_HI, EXEC_LO, Saved, State
from rocdbg.analysis.reconvergence import rejoining
from rocdbg.analysis.register_effects import BY_CONVENTION, Clobbers, Machine, apply, call_target, link
from rocdbg.isa import Flow, Instruction
from rocdbg.work import unit

_MOST_VISITS: Final = 64
"""Limit on the visits of a block; each visit can only lose knowledge."""
_STRIDE = 32
"""Instructions between two cached states of a block: compilers make blocks of thousands of instructions."""


class Analysis(Struct):
    """The analysed function: blocks by address, and the block of each instruction."""

    function: FunctionCode
    machine: Machine
    blocks: dict[int, Block] = field(default_factory=dict)
    states: dict[int, State] = field(default_factory=dict)
    """What is known at the beginning of each reachable block."""
    rejoins: frozenset[int] = frozenset()
    """Instructions after which exactly the lanes active at entry are active again."""
    _places: dict[int, tuple[int, int]] = field(default_factory=dict)
    _waypoints: dict[int, list[State]] = field(default_factory=dict)
    """Cached by block: what is known before every `_STRIDE`-th instruction, up to the last one that was queried."""

    def before(self, pc: int) -> tuple[State, Instruction] | None:
        """What is known when the instruction at ``pc`` is about to run, and that instruction.

        For a ``pc`` inside a call instruction, as in callers' frames, it is what is known when the called function
        begins. None outside the function and in unreachable code.
        """
        place = self._places.get(pc & ~3)
        if place is None:
            return None
        block = self.blocks[place[0]]
        known = self.states.get(place[0])
        if known is None:
            return None
        waypoints = self._waypoints.setdefault(place[0], [known])
        nearest = min(place[1] // _STRIDE, len(waypoints) - 1)
        state = waypoints[nearest].copy()
        for index in range(nearest * _STRIDE, place[1]):
            self.step(state, block.instructions[index])
            if index + 1 == len(waypoints) * _STRIDE:
                waypoints.append(state.copy())
        instruction = block.instructions[place[1]]
        if pc != instruction.address and instruction.flow is Flow.CALL:
            link(state, instruction)
        return state, instruction

    def place_of(self, pc: int) -> tuple[int, int] | None:
        """The block of the instruction that contains ``pc``, and its index there; None outside the function."""
        return self._places.get(pc & ~3)

    def call_target(self, call: int) -> int | None:
        """The target of the call at an address, if all paths to it agree on one."""
        found = self.before(call)
        return None if found is None else call_target(*found)

    def step(self, state: State, instruction: Instruction) -> None:
        """Change ``state`` to what is known after an instruction of this function."""
        apply(state, instruction, self.machine)
        if instruction.address in self.rejoins:
            state.set_scalar(EXEC_LO, Saved(EXEC_LO))
            state.set_scalar(EXEC_HI, Saved(EXEC_HI))

    def finish(self) -> None:
        """Record the block of each instruction."""
        for start, block in self.blocks.items():
            for index, instruction in enumerate(block.instructions):
                for part in range(0, instruction.size, 4):
                    self._places[instruction.address + part] = (start, index)

    def clobbers(self) -> Clobbers:
        """The registers that may have changed when the function returns."""
        scalars: set[int] = set()
        vectors: set[int] = set()
        for start, block in self.blocks.items():
            last = block.instructions[-1]
            if start not in self.states or last.flow is not Flow.INDIRECT or block.successors:
                continue
            state = self.states[start].copy()
            for instruction in block.instructions[:-1]:
                self.step(state, instruction)
            target = last.operand("ssrc0")
            link = self.function.link
            if target is None or state.scalar(target.index) != Saved(link) or (
                state.scalar(target.index + 1) != Saved(link + 1)
            ):
                # a tail call: the called function returns to this function's caller
                there = call_target(state, last)
                if there is None or any(state.scalar(register) != Saved(register) for register in (link, link + 1)):
                    return BY_CONVENTION
                found = self.machine.clobbers(there)
                scalars |= found.scalars
                vectors |= found.vectors
            scalars |= {register for register in state.scalars if register <= EXEC_HI}
            vectors |= {
                register for register in state.vectors if state.vector(register).active != register
            }
        return Clobbers(frozenset(scalars), frozenset(vectors))


def analyse(function: FunctionCode, code: bytes, target: str, machine: Machine) -> Analysis:
    """Analyse a function; ``code`` holds its bytes. Truncated code is analysed as far as possible."""
    instructions = decode(function, code, target, machine.wave_size)
    blocks = blocks_of(function, instructions, jump_targets(instructions))
    analysis = Analysis(function, machine, blocks, rejoins=rejoining(blocks, function.start, machine.wave_size == 64))
    if function.start in blocks:
        _flow(analysis)
    analysis.finish()
    return analysis


def _flow(analysis: Analysis) -> None:
    """Propagate what is known along all paths until nothing changes."""
    states = analysis.states
    states[analysis.function.start] = State()
    heap, pending = [analysis.function.start], {analysis.function.start}
    visits: dict[int, int] = {}
    while heap:
        unit()
        start = heappop(heap)
        pending.discard(start)
        block = analysis.blocks[start]
        visits[start] = visits.get(start, 0) + 1
        if visits[start] > _MOST_VISITS:
            continue
        state = states[start].copy()
        for instruction in block.instructions:
            analysis.step(state, instruction)
        for successor in block.successors:
            if successor not in analysis.blocks:
                continue
            following = states.get(successor)
            if following is None:
                states[successor] = state.copy()
            elif not following.merge(state):
                continue
            if successor not in pending:
                pending.add(successor)
                heappush(heap, successor)


class Functions:
    """Analyses of functions, each made once; ``find`` gives the function at an address, ``read`` its
    bytes."""

    def __init__(
        self, find: Callable[[int], FunctionCode | None], read: Callable[[int, int], bytes], target: str,
        wave_size: int, unswizzled: bool, pointer: Callable[[int], int | None] = lambda address: None,
    ) -> None:
        self.find = find
        self._read = read
        self._target = target
        self._machine = Machine(wave_size, unswizzled, self.clobbers, pointer)
        self._analyses: dict[int, Analysis] = {}
        self._clobbers: dict[int, Clobbers] = {}

    def at(self, pc: int) -> Analysis | None:
        """The analysis of the function at ``pc``; None where there is no function."""
        function = self.find(pc)
        if function is None:
            return None
        analysis = self._analyses.get(function.start)
        if analysis is None:
            code = self._read(function.start, function.end - function.start)
            analysis = self._analyses[function.start] = analyse(function, code, self._target, self._machine)
        return analysis

    def clobbers(self, address: int) -> Clobbers:
        """What the function that begins at an address may change; if that is not known, what the convention allows it
        to change.

        Compilers keep values in registers that a visible callee does not actually change (inter-procedural register
        allocation), so variables of callers would be lost if only the calling convention were considered.
        """
        known = self._clobbers.get(address)
        if known is None:
            known = self._clobbers[address] = BY_CONVENTION  # used for recursive calls
            try:
                function = self.find(address)
                if function is not None and function.start == address:
                    analysis = self.at(address)
                    if analysis is not None:
                        known = analysis.clobbers()
            except KeyboardInterrupt:  # the analysis is incomplete
                del self._clobbers[address]
                raise
            self._clobbers[address] = known
        return known
