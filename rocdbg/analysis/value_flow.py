"""Where values are in registers beyond the addresses for which debug information says so: forward data flow.

A claim says that a value is in some registers while the PC is in a range. From there the value is followed: it stays
where no instruction writes, and moves with copies. What is known at an instruction holds on every path to it.

A vector register holds a value for some lanes only. Where a claim holds while all lanes of the entry are active, all of
them have the value; where it holds in a branch, only those active there have it, and that is forgotten with the first
instruction that may activate others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from rocdbg.analysis.control_flow import Block
from rocdbg.analysis.effects import BY_CONVENTION, apply, call_target
from rocdbg.analysis.machine_state import EXEC_HI, EXEC_LO, VCC_LO, Lanes, Saved, State
from rocdbg.analysis.saved_registers import Analysis
from rocdbg.isa import Flow, Instruction, OperandKind

VECTOR: Final = 1 << 16
"""Vector registers go by this plus their number (accumulation registers' as in ``machine_state``), scalar registers by
their number."""
CONSTANT: Final = 1 << 24
"""The place of a value that is a number: this plus the value's."""
_MOST_VISITS: Final = 64
"""Visits of a block after which nothing is claimed."""
_UNFOLLOWED: Final = (
    "v_movrel", "s_movrel", "v_swaprel", "s_set_gpr_idx", "s_set_vgpr_msb", "ds_bvh_stack", "s_rfe", "s_cbranch_join",
    "s_cbranch_g_fork", "s_cbranch_i_fork",
)
"""Instructions that write registers which they do not name, or whose successors are not known."""
_RETURN_ADDRESS: Final = (30, 31)


class Claim(Struct, frozen=True):
    """At the instructions in [low, high) the dwords of a value are in ``places``; None: that dword is not known."""

    low: int
    high: int
    value: int
    places: tuple[int | None, ...]


Part: TypeAlias = tuple[int, int]
"""A dword of a value: the value's number, and which dword of it."""
_Held: TypeAlias = dict[int, frozenset[tuple[Part, bool]]]
"""What places hold for the active lanes; and, with True, what they hold for all lanes that were active at entry."""
_NOTHING: Final[frozenset[tuple[Part, bool]]] = frozenset()


class _Step(Struct):
    """What happens at an instruction: what is claimed before it, and what it does."""

    claimed: tuple[tuple[int, Part, bool], ...]
    written: tuple[int, ...]
    copies: tuple[tuple[int, int, bool], ...]
    """(to, from, whether all lanes of the entry have it if they had it before)."""
    widens: bool
    """Whether lanes may become active."""
    usual: bool
    """Whether the active lanes are lanes that were active at entry."""


class ValueFlow:
    """Where claimed values are at the instructions of a function.

    ``repeats`` says that code may run several times for one call, each time with other values: nothing is then carried
    around a loop. ``targets`` is where calls go, as far as that is known.
    """

    def __init__(
        self, analysis: Analysis, claims: Sequence[Claim], targets: dict[int, int], *, repeats: bool
    ) -> None:
        self._analysis = analysis
        self._targets = targets
        self._repeats = repeats
        self._steps: dict[int, list[_Step]] = {}
        self._held: dict[int, _Held] = {}
        self._places: dict[int, tuple[int, int]] = {}
        blocks = analysis.blocks
        if claims and not any(_is_unfollowed(block, analysis.function.is_kernel, targets) for block in blocks.values()):
            self._prepare(sorted(claims, key=lambda claim: claim.low))
            self._flow()

    def before(self, pc: int) -> dict[Part, int]:
        """Places of the dwords that are somewhere when the instruction at ``pc`` is about to run, for active lanes.

        For a ``pc`` inside a call, as callers' frames have it: when the called function begins.
        """
        where = self._places.get(pc & ~3)
        if where is None or where[0] not in self._held:
            return {}
        start, index = where
        steps = self._steps[start]
        if not steps[index].usual:
            return {}
        held = dict(self._held[start])
        for step in steps[:index]:
            _run(step, held)
        _claim(steps[index], held)
        if pc & 3:
            for register in _RETURN_ADDRESS:
                held.pop(register, None)
        return {part: place for place, parts in sorted(held.items()) for part, _ in parts}

    # -- what instructions do

    def _prepare(self, claims: list[Claim]) -> None:
        analysis = self._analysis
        next_claim, current = 0, list[Claim]()
        for start, block in sorted(analysis.blocks.items()):
            known = analysis.states.get(start)
            if known is None:
                continue
            state = known.copy()
            steps: list[_Step] = []
            lost = True  # what is claimed has to be said (again)
            for index, instruction in enumerate(block.instructions):
                address = instruction.address
                lanes = state.lanes(analysis.machine.wave_size)
                while next_claim < len(claims) and claims[next_claim].low <= address:
                    current.append(claims[next_claim])
                    next_claim += 1
                    lost = True
                if any(claim.high <= address for claim in current):
                    current = [claim for claim in current if claim.high > address]
                step = self._effect(instruction, lanes, state)
                if lost and step.usual:
                    step.claimed = tuple(
                        (place, (claim.value, number), lanes is Lanes.ENTRY)
                        for claim in current for number, place in enumerate(claim.places) if place is not None
                    )
                lost = bool(step.written) or step.widens or not step.usual or lanes is not Lanes.ENTRY
                steps.append(step)
                for part in range(0, instruction.size, 4):
                    self._places[address + part] = (start, index)
                analysis.step(state, instruction)
            self._steps[start] = steps

    def _effect(self, instruction: Instruction, lanes: Lanes, state: State) -> _Step:
        usual = lanes in (Lanes.ENTRY, Lanes.SUBSET)
        if instruction.flow is Flow.CALL:
            target = call_target(state, instruction)
            target = self._targets.get(instruction.address) if target is None else target
            clobbers = BY_CONVENTION if target is None else self._analysis.machine.clobbers(target)
            written = {*(clobbers.scalars & BY_CONVENTION.scalars), *_RETURN_ADDRESS}
            destination = instruction.operand("sdst")
            if destination is not None:
                written |= set(range(destination.index, destination.index + destination.dwords))
            written |= {VECTOR + register for register in clobbers.vectors & BY_CONVENTION.vectors}
            return _Step((), tuple(written), (), False, usual)
        change = State()  # nothing is known before: what is afterwards is what the instruction does
        apply(change, instruction, self._analysis.machine)
        copies: list[tuple[int, int, bool]] = []
        for register, value in change.scalars.items():
            if isinstance(value, Saved) and value.register < VCC_LO:
                copies.append((register, value.register, True))
        if usual:
            everyone = lanes is Lanes.ENTRY
            for register, vector in change.vectors.items():
                if vector.active is not None:
                    copies.append((VECTOR + register, VECTOR + vector.active, everyone))
            copies += _from_scalar(instruction, everyone)
        widens = bool({EXEC_LO, EXEC_HI} & change.scalars.keys()) and not _narrows(instruction)
        widens = widens or instruction.address in self._analysis.rejoins
        changed = (*change.scalars, *(VECTOR + register for register in change.vectors))
        return _Step((), changed, tuple(copies), widens, usual)

    # -- paths

    def _flow(self) -> None:
        """Carry what is held along the paths until nothing changes."""
        held, first = self._held, self._analysis.function.start
        if first not in self._steps:
            return
        held[first] = {}
        pending, visits = {first}, dict[int, int]()
        while pending:
            start = min(pending)
            pending.discard(start)
            visits[start] = visits.get(start, 0) + 1
            if visits[start] > _MOST_VISITS:
                held.clear()
                return
            here = dict(held[start])
            for step in self._steps[start]:
                _run(step, here)
            for successor in self._analysis.blocks[start].successors:
                if successor not in self._steps:
                    continue
                there = {} if self._repeats and successor <= start else here
                following = held.get(successor)
                if following is None:
                    held[successor] = dict(there)
                    pending.add(successor)
                elif _meet(following, there):
                    pending.add(successor)


def _is_unfollowed(block: Block, is_kernel: bool, targets: dict[int, int]) -> bool:
    last = block.instructions[-1]
    if is_kernel and last.flow is Flow.INDIRECT and last.address not in targets:
        return True
    for instruction in block.instructions:
        if instruction.illegal or instruction.name.startswith(_UNFOLLOWED) or "tfe" in instruction.modifiers:
            return True
        link = instruction.operand("sdst") if instruction.flow is Flow.CALL else None
        if link is not None and link.index != _RETURN_ADDRESS[0]:
            return True
    return False


def _from_scalar(instruction: Instruction, everyone: bool) -> list[tuple[int, int, bool]]:
    """A move of a scalar register into lanes of a vector register."""
    if instruction.name != "v_mov_b32" or instruction.modifiers:
        return []
    source, destination = instruction.operand("src0"), instruction.operand("vdst")
    if source is None or destination is None or source.kind is not OperandKind.SGPR or source.neg or source.abs:
        return []
    if destination.kind is not OperandKind.VGPR or destination.half is not None:
        return []
    return [(VECTOR + destination.index, source.index, everyone)]


def _narrows(instruction: Instruction) -> bool:
    """Whether what an instruction leaves of EXEC is a part of what that was."""
    name = instruction.name
    if name.startswith(("v_cmpx", "s_and_saveexec")):
        return True
    sources = [instruction.operand(field) for field in ("ssrc0", "ssrc1")]
    are_exec = [source is not None and source.text.startswith("exec") for source in sources]
    destination = instruction.operand("sdst")
    if destination is None or destination.index != EXEC_LO or not destination.text.startswith("exec"):
        return False
    if name in ("s_and_b64", "s_and_b32"):
        return any(are_exec)
    return name in ("s_andn2_b64", "s_andn2_b32", "s_and_not1_b64", "s_and_not1_b32") and are_exec[0]


def _claim(step: _Step, held: _Held) -> None:
    for place, part, everyone in step.claimed:
        parts = {(part, False), (part, True)} if everyone else {(part, False)}
        held[place] = held.get(place, _NOTHING) | parts


def _run(step: _Step, held: _Held) -> None:
    """Change what is held to what is after an instruction."""
    if step.claimed:
        _claim(step, held)
    copied = [
        (to, parts if everyone else frozenset(item for item in parts if not item[1]))
        for to, origin, everyone in step.copies if (parts := held.get(origin))
    ] if step.copies else ()
    for register in step.written:
        held.pop(register, None)
    for to, parts in copied:
        held[to] = parts
    if step.widens:
        for place, parts in list(held.items()):
            if not all((part, True) in parts for part, _ in parts):
                held[place] = frozenset(item for item in parts if (item[0], True) in parts)


def _meet(held: _Held, other: _Held) -> bool:
    """Keep what both hold. True when that is less than ``held`` was."""
    less = False
    for place, parts in list(held.items()):
        common = parts & other.get(place, _NOTHING)
        if common != parts:
            less = True
            if common:
                held[place] = common
            else:
                del held[place]
    return less
