"""Finds, by forward data flow, values that are still in registers at addresses for which debug information gives no
location.

A claim says that a value is in some registers while the PC is in a range. From there the value is followed: it remains
in a register until an instruction writes that register, and moves with copies. What is known at an instruction is true
on every path to it.

A vector register holds a value for some lanes only. If a claim applies while all lanes that were active at the
function's entry are active, all of them have the value. If it applies in a branch, only the lanes active there have the
value, and the value is dropped at the first instruction that may activate other lanes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from typing import Final, TypeAlias

from msgspec import Struct, field

from rocdbg.analysis.control_flow import Block
from rocdbg.analysis.machine_state import EXEC_HI, EXEC_LO, VCC_LO, Lanes, Saved, State
from rocdbg.analysis.register_effects import BY_CONVENTION, apply, call_target
from rocdbg.analysis.saved_registers import Analysis
from rocdbg.isa import Flow, Instruction, OperandKind
from rocdbg.work import unit

VECTOR: Final = 1 << 16
"""Vector registers are identified by this plus their number (accumulation registers as in ``machine_state``), scalar
registers by their number.
"""
CONSTANT: Final = 1 << 24
"""Base of the places of values that are known numbers: the place is this number plus the index of the value."""
_MOST_VISITS: Final = 64
"""The number of visits to a block after which nothing is claimed in it."""
_UNFOLLOWED: Final = (
    "v_movrel", "s_movrel", "v_swaprel", "s_set_gpr_idx", "s_set_vgpr_msb", "ds_bvh_stack", "s_rfe", "s_cbranch_join",
    "s_cbranch_g_fork", "s_cbranch_i_fork",
)
"""Instructions that write registers which they do not name, or whose successors are not known."""
_RETURN_ADDRESS: Final = (30, 31)


class Claim(Struct, frozen=True):
    """The statement that at the instructions in [low, high), the dwords of a value are in ``places``; an element is
    None if the place of that dword is not known.
    """

    low: int
    high: int
    value: int
    places: tuple[int | None, ...]


Part: TypeAlias = tuple[int, int]
"""A dword of a value: the value's number, and which dword of it."""
_Parts: TypeAlias = frozenset[tuple[Part, bool]]
"""The dwords that a place holds for the active lanes; True with a dword means for all lanes that were active at entry.
"""
_NOTHING: Final[_Parts] = frozenset()


class _Held(Struct):
    """What is known at a point. Known numbers are kept as a bit set of values: they are never overwritten, so there may
    be many.
    """

    places: dict[int, _Parts] = field(default_factory=dict)
    numbers: int = 0
    """Numbers known for the active lanes."""
    everyones: int = 0
    """The subset of ``numbers`` that is known for all lanes that were active at entry."""

    def copy(self) -> _Held:
        """An independent copy."""
        return _Held(dict(self.places), self.numbers, self.everyones)


class Places(Struct, frozen=True):
    """Where values are known at an instruction. ``registers`` maps a dword of a value to the register that holds it;
    ``numbers`` is the bit set of the values that are known numbers.
    """

    registers: dict[Part, int] = field(default_factory=dict)
    numbers: int = 0

    def is_known(self, value: int) -> bool:
        """Whether a value of one dword, or a number, is available."""
        return (value, 0) in self.registers or self.is_number(value)

    def is_number(self, value: int) -> bool:
        """Whether a value is the number that was claimed for it."""
        return bool(self.numbers >> value & 1)


class _Step(Struct):
    """What is claimed before an instruction, and what the instruction does."""

    claimed: tuple[tuple[int, Part], ...]
    numbers: int
    """Values claimed to be a number, as bits."""
    everyone: bool
    """Whether the claims apply to all lanes that were active at entry."""
    written: tuple[int, ...]
    copies: tuple[tuple[int, int, bool], ...]
    """(to, from, whether all lanes active at entry have the value in ``to`` if they had it in ``from``)."""
    widens: bool
    """Whether the instruction may activate lanes."""
    usual: bool
    """Whether only lanes that were active at entry are active."""


class ValueFlow:
    """Where claimed values are at the instructions of a function.

    ``repeats`` means that code may run several times in one call, each time with other values, so nothing is carried
    around a loop. ``targets`` holds the known targets of calls.
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
        self._last: tuple[int, int, _Held] | None = None
        """Block, index and state of the last query: queries often continue from there."""
        blocks = analysis.blocks
        if claims and not any(_is_unfollowed(block, analysis.function.is_kernel, targets) for block in blocks.values()):
            self._prepare(sorted(claims, key=lambda claim: claim.low))
            self._flow()

    def before(self, pc: int) -> Places:
        """Places of all available dwords before the instruction at ``pc`` runs, for active lanes.

        For a ``pc`` inside a call, as in callers' frames, they are the places when the called function begins.
        """
        where = self._places.get(pc & ~3)
        if where is None or where[0] not in self._held:
            return Places()
        start, index = where
        steps = self._steps[start]
        if not steps[index].usual:
            return Places()
        first, held = 0, self._held[start].copy()
        if self._last is not None and self._last[0] == start and self._last[1] <= index:
            _, first, held = self._last
        for step in steps[first:index]:
            _run(step, held)
        self._last = start, index, held
        held = held.copy()
        _claim(steps[index], held)
        if pc & 3:
            for register in _RETURN_ADDRESS:
                held.places.pop(register, None)
        registers = {part: place for place, parts in sorted(held.places.items()) for part, _ in parts}
        return Places(registers, held.numbers)

    # -- what instructions do

    def _prepare(self, claims: list[Claim]) -> None:
        analysis = self._analysis
        current = _Current(claims)
        for start, block in sorted(analysis.blocks.items()):
            known = analysis.states.get(start)
            if known is None:
                continue
            state = known.copy()
            steps: list[_Step] = []
            lost: Iterable[int] | None = None  # the places for which claims must be repeated; None: all places
            was_everyone = False
            for index, instruction in enumerate(block.instructions):
                address = instruction.address
                lanes = state.lanes(analysis.machine.wave_size)
                step = self._effect(instruction, lanes, state)
                step.everyone = lanes is Lanes.ENTRY
                if step.everyone != was_everyone:
                    lost = None
                    was_everyone = step.everyone
                if current.go_to(address):
                    lost = None
                if step.usual:
                    step.claimed = tuple(current.parts(lost))
                    step.numbers = current.numbers if lost is None else 0
                    lost = None if step.widens else step.written
                else:
                    lost = None
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
            return _Step((), 0, False, tuple(written), (), False, usual)
        change = State()  # it starts empty, so that afterwards it has just what the instruction changes
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
        return _Step((), 0, False, changed, tuple(copies), widens, usual)

    # -- paths

    def _flow(self) -> None:
        """Propagate what is known along the paths until nothing changes."""
        held, first = self._held, self._analysis.function.start
        if first not in self._steps:
            return
        held[first] = _Held()
        heap, pending, visits = [first], {first}, dict[int, int]()
        while heap:
            unit()
            start = heappop(heap)
            pending.discard(start)
            visits[start] = visits.get(start, 0) + 1
            if visits[start] > _MOST_VISITS:
                held.clear()
                return
            here = held[start].copy()
            for step in self._steps[start]:
                _run(step, here)
            for successor in self._analysis.blocks[start].successors:
                if successor not in self._steps:
                    continue
                there = _Held() if self._repeats and successor <= start else here
                following = held.get(successor)
                if following is None:
                    held[successor] = there.copy()
                elif not _meet(following, there):
                    continue
                if successor not in pending:
                    pending.add(successor)
                    heappush(heap, successor)


class _Current:
    """The claims in force at an address that only increases."""

    def __init__(self, claims: Sequence[Claim]) -> None:
        self._claims = claims
        self._next = 0
        self._ends: list[tuple[int, int]] = []
        """A heap of the ends of the claims in force, with the indices of the claims."""
        self._parts: dict[int, list[Part]] = {}
        self.numbers = 0

    def go_to(self, address: int) -> bool:
        """Advance to an address. True if claims begin there."""
        while self._ends and self._ends[0][0] <= address:
            self._end(self._claims[heappop(self._ends)[1]])
        before = self._next
        while self._next < len(self._claims) and self._claims[self._next].low <= address:
            claim = self._claims[self._next]
            if claim.high > address:
                heappush(self._ends, (claim.high, self._next))
                for number, place in enumerate(claim.places):
                    if place is not None and place >= CONSTANT:
                        self.numbers |= 1 << place - CONSTANT
                    elif place is not None:
                        self._parts.setdefault(place, []).append((claim.value, number))
            self._next += 1
        return self._next != before

    def _end(self, claim: Claim) -> None:
        for number, place in enumerate(claim.places):
            if place is not None and place >= CONSTANT:
                self.numbers &= ~(1 << place - CONSTANT)
            elif place is not None:
                parts = self._parts[place]
                parts.remove((claim.value, number))
                if not parts:
                    del self._parts[place]

    def parts(self, places: Iterable[int] | None) -> list[tuple[int, Part]]:
        """The claims about some places; by default about all."""
        found = self._parts
        if places is None:
            return [(place, part) for place, parts in found.items() for part in parts]
        return [(place, part) for place in places for part in found.get(place, ())]


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
    """The copy that a move of a scalar register into lanes of a vector register makes."""
    if instruction.name != "v_mov_b32" or instruction.modifiers:
        return []
    source, destination = instruction.operand("src0"), instruction.operand("vdst")
    if source is None or destination is None or source.kind is not OperandKind.SGPR or source.neg or source.abs:
        return []
    if destination.kind is not OperandKind.VGPR or destination.half is not None:
        return []
    return [(VECTOR + destination.index, source.index, everyone)]


def _narrows(instruction: Instruction) -> bool:
    """Whether EXEC after an instruction is a subset of EXEC before it."""
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
    for place, part in step.claimed:
        parts = {(part, False), (part, True)} if step.everyone else {(part, False)}
        held.places[place] = held.places.get(place, _NOTHING) | parts
    held.numbers |= step.numbers
    if step.everyone:
        held.everyones |= step.numbers


def _run(step: _Step, held: _Held) -> None:
    """Update the state to that after an instruction."""
    if step.claimed or step.numbers:
        _claim(step, held)
    places = held.places
    copied = [
        (to, parts if everyone else frozenset(item for item in parts if not item[1]))
        for to, origin, everyone in step.copies if (parts := places.get(origin))
    ] if step.copies else ()
    for register in step.written:
        places.pop(register, None)
    for to, parts in copied:
        places[to] = parts
    if step.widens:
        for place, parts in list(places.items()):
            if not all((part, True) in parts for part, _ in parts):
                places[place] = frozenset(item for item in parts if (item[0], True) in parts)
        held.numbers = held.everyones


def _meet(held: _Held, other: _Held) -> bool:
    """Keep in ``held`` what both states agree on. True if that is less than before."""
    numbers, everyones = held.numbers & other.numbers, held.everyones & other.everyones
    less = numbers != held.numbers or everyones != held.everyones
    held.numbers, held.everyones = numbers, everyones
    for place, parts in list(held.places.items()):
        common = parts & other.places.get(place, _NOTHING)
        if common != parts:
            less = True
            if common:
                held.places[place] = common
            else:
                del held.places[place]
    return less
