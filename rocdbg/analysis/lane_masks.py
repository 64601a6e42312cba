"""Converts decision diagrams to DWARF operations that compute which lanes of a wave reach which leaf.

From the root down, each node gets the mask of the lanes that reach it, and splits it by the bits of the register that
it tests. A node with many incoming paths is computed once, so the number of operations is proportional to the number of
nodes, not of paths. All masks remain on the stack, where `DW_OP_pick` finds them; nothing needs to be removed, because
only the top entry is the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rocdbg.analysis.comparisons import compared
from rocdbg.analysis.machine_state import AGPR, EXEC_LO, VCC_LO
from rocdbg.analysis.mask_effects import Compare, LaneOf, Number, OwnLane, OwnSlot, Place, SlotOf, Term
from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.arch.dwarf_registers import EXEC_32, EXEC_64, VCC_32, VCC_64, register_number, sgpr_number, vgpr_number
from rocdbg.dwarf.operation_assembler import Item
from rocdbg.work import unit

HALF: Final = 32
"""Number of lanes per mask."""
_MOST_ITEMS: Final = 30_000
"""Limit on operations: an evaluation may take 40000 steps, and finding the registers of callers takes an unknown number
of them.
"""
_FARTHEST: Final = 230
"""How deep in the stack a mask may be before it is copied to the top: DW_OP_pick reaches depth 255."""
_MOST_KEPT: Final = 180
"""How many masks may be needed at the same time; each is copied to the top again as the stack grows."""
_OWN: Final = "own"
"""The lane's dword of a vector register whose location is on the stack."""
_DEEPER: Final = {
    **dict.fromkeys(("regx", "constu", "consts", "lit0", "dup", "over", f"lit{int(AddressSpace.PRIVATE_WAVE)}"), 1),
    **dict.fromkeys(("swap", "deref_size", "offset_uconst"), 0),
}
"""The number of entries that each comparison operation pushes. Operations that are not listed pop two entries and push
one.
"""


class Slot:
    """A stack entry that is kept for later use; its position changes when it is copied to the top."""

    __slots__ = ("place",)

    def __init__(self, place: int) -> None:
        self.place = place


class LaneMasks:
    """The operations written so far, and which of their stack entries are still needed.

    ``unswizzled``: stack pointers count bytes of the whole wave.
    """

    def __init__(self, wave_size: int, unswizzled: bool) -> None:
        self.items: list[Item] = []
        self._wave_size = wave_size
        self._unswizzled = unswizzled
        self._depth = 0
        self._kept: dict[Slot, None] = {}

    # -- the stack

    def add(self, items: Iterable[Item], entries: int) -> None:
        """Append operations, and the number of entries by which they grow the stack."""
        self.items += items
        self._depth += entries

    def push(self, items: Iterable[Item]) -> Slot:
        """Append operations that push one entry, and keep it for later use."""
        slot = Slot(self._depth)
        self._kept[slot] = None
        self.add(items, 1)
        return slot

    def pick(self, slot: Slot) -> None:
        """Push a copy of an entry."""
        self.add([("pick", self._depth - 1 - slot.place)], 1)

    def combine(self, operation: str) -> Slot:
        """Replace the top two entries with one, and keep it for later use."""
        self._depth -= 2
        return self.push([(operation,)])

    def release(self, slot: Slot) -> None:
        """Mark an entry as no longer needed."""
        self._kept.pop(slot, None)

    def _bring_up(self) -> None:
        """Copy all needed entries to the top, if one lies too deep."""
        if not self._kept or self._depth - min(slot.place for slot in self._kept) < _FARTHEST:
            return
        for slot in sorted(self._kept, key=lambda slot: slot.place):
            place = self._depth
            self.pick(slot)
            slot.place = place

    @property
    def is_too_much(self) -> bool:
        """Whether there are too many operations for an evaluation, or too many entries to be reached."""
        return len(self.items) > _MOST_ITEMS or len(self._kept) > _MOST_KEPT

    # -- diagrams

    def split(
        self, diagram: int, half: int, nodes: Sequence[tuple[int, int, int]], places: Sequence[Place], active: int
    ) -> dict[int, Slot] | None:
        """Push, for each leaf of a diagram, the mask of a half's lanes that reach it; None if that takes too many
        operations.

        The masks cover the lanes that are not in ``active``, the scalar register with the mask of active lanes.

        ``nodes`` are in the form of `Diagrams.content`, except that variables are indices of ``places``: a node's index
        is less than those of the nodes below it.
        """
        masks: dict[int, Slot] = {diagram: self.push([("constu", 0xFFFFFFFF)])}
        variable = -1
        tested: Slot | None = None
        below = _nodes_below(diagram, nodes)
        for number in below:
            self._bring_up()
            if self.is_too_much:
                return None
            if nodes[number][0] != variable:
                if tested is not None:
                    self.release(tested)
                variable = nodes[number][0]
                place = places[variable]
                tested = self.push(
                    self._compared(place, half, active) if isinstance(place, Compare) else self.dword(place, half)
                )
            assert tested is not None
            mask = masks.pop(number)
            self.pick(mask)
            self.pick(tested)
            high = self.combine("and")
            self.pick(mask)
            self.pick(high)
            low = self.combine("xor")
            self.release(mask)
            for child, part in zip(nodes[number][1:], (low, high), strict=True):
                other = masks.get(child)
                if other is not None:
                    self.pick(part)
                    self.pick(other)
                    self.release(part)
                    self.release(other)
                    part = self.combine("or")
                masks[child] = part
        if tested is not None:
            self.release(tested)
        return {nodes[number][1]: slot for number, slot in masks.items()}

    # -- tested values

    def dword(self, place: int | LaneOf | SlotOf, half: int) -> list[Item]:
        """Operations that push the contents of a place, 32 bits of a mask."""
        if isinstance(place, int):
            register, offset = _scalar_number(place, self._wave_size)
            whole: list[Item] = [("regx", register)]
            if offset:
                whole.append(("offset_uconst", offset))
            return [*whole, ("deref_size", 4)]
        if isinstance(place, LaneOf):
            return [*self._vector(place.register), ("offset_uconst", 4 * place.lane), ("deref_size", 4)]
        return self._slot(place.base, place.offset, place.lane)

    def _compared(self, place: Compare, half: int, active: int) -> list[Item]:
        """Operations that push the mask of a half's inactive lanes for which a comparison is true.

        In frames of callers, the contents of vector registers may be lost for active lanes: their dwords count as 0.
        """
        if isinstance(place.left, int | Number) and isinstance(place.right, int | Number):
            found = compared(place.relation, place.type, self._term(place.left, 0), self._term(place.right, 0))
            return [*found, ("neg",), ("constu", 0xFFFFFFFF), ("and",)]
        items: list[Item] = []
        vectors: list[int] = []
        for term in (place.left, place.right):
            if isinstance(term, OwnLane) and term.register not in vectors:
                vectors.append(term.register)
                items += [
                    *self._vector(term.register), *([("offset_uconst", 4 * HALF * half)] if half else []),
                    ("lit0",), ("stack_value",), ("extend", 32, HALF), *self.dword(active, half),
                    ("select_bit_piece", 32, HALF),
                ]
        items.append(("lit0",))
        for bit in range(HALF):
            lane = HALF * half + bit
            left, right = self._term(place.left, lane), self._term(place.right, lane)
            depth = 1
            for item in compared(place.relation, place.type, left, right):
                if item[0] == _OWN:
                    items.append(("pick", depth + len(vectors) - 1 - vectors.index(int(item[1]))))
                    if bit:
                        items.append(("offset_uconst", 4 * bit))
                    items.append(("deref_size", 4))
                    depth += 1
                else:
                    items.append(item)
                    depth += _DEEPER.get(str(item[0]), -1)
            items += [("constu", bit), ("shl",), ("or",)]
        for _ in vectors:
            items += [("swap",), ("drop",)]
        return items

    def _term(self, term: Term, lane: int) -> list[Item]:
        """Operations that push a term of a comparison for one lane, unsigned; `_OWN` represents the lane's dword of the
        vector register whose location is on the stack.
        """
        match term:
            case Number(value=value):
                return [("constu", value)]
            case OwnLane(register=register):
                return [(_OWN, register)]
            case OwnSlot(base=base, offset=offset):
                return self._slot(base, offset, lane)
        return self.dword(term, 0)

    def _vector(self, register: int) -> list[Item]:
        return [("regx", (
            register_number(f"a{register - AGPR}", self._wave_size) if register >= AGPR
            else vgpr_number(register, self._wave_size)
        ))]

    def _slot(self, base: int | None, offset: int, lane: int) -> list[Item]:
        scale = self._wave_size
        items: list[Item] = []
        behind = offset * scale + 4 * lane
        if base is not None:
            items += [("regx", sgpr_number(base)), ("deref_size", 4)]
            if not self._unswizzled:
                items += [("constu", scale), ("mul",)]
            items += [("consts", behind), ("plus",)]
        else:
            items += [("constu", behind)]
        return [*items, (f"lit{int(AddressSpace.PRIVATE_WAVE)}",), ("form_aspace_address",), ("deref_size", 4)]


def _nodes_below(diagram: int, nodes: Sequence[tuple[int, int, int]]) -> list[int]:
    """The inner nodes of a diagram, each before those below it."""
    seen: set[int] = set()
    todo = [diagram]
    while todo:
        unit()
        number = todo.pop()
        if nodes[number][0] >= 0 and number not in seen:
            seen.add(number)
            todo += nodes[number][1:]
    return sorted(seen, key=lambda number: (nodes[number][0], number))


def _scalar_number(register: int, wave_size: int) -> tuple[int, int]:
    """The DWARF register that contains a mask in scalar registers, and the mask's offset in it."""
    if register >= EXEC_LO:
        return (EXEC_32 if wave_size == 32 else EXEC_64), 4 * (register - EXEC_LO)
    if register >= VCC_LO:
        return (VCC_32 if wave_size == 32 else VCC_64), 4 * (register - VCC_LO)
    return sgpr_number(register), 0
