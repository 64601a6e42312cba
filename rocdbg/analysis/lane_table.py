"""A table, which can be stored, of where the inactive lanes of a function continue. For each address it has a decision
diagram over the bits of one lane, which can be converted to a location expression for DW_AT_LLVM_lane_pc.

An element of the vector is the address at which a lane continues. It is undefined for lanes that are not in the
function. For lanes whose position is not known, it is a number not less than `UNKNOWN`, which `LaneTable.candidates`
decodes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import pairwise
from typing import Final

import msgspec
from msgspec import Struct, structs

from rocdbg.analysis.lane_masks import HALF, LaneMasks, Slot
from rocdbg.analysis.lane_positions import ANYWHERE, NOT_ENTERED, LanePositions
from rocdbg.analysis.machine_state import EXEC_LO
from rocdbg.analysis.mask_effects import SCC, Compare, LaneOf, Number, OwnLane, OwnSlot, Place, SlotOf, Term
from rocdbg.analysis.unknown_places import UNKNOWN
from rocdbg.arch.dwarf_registers import PC, sgpr_number
from rocdbg.dwarf.operation_assembler import Item, assemble

_DIALECT: Final = "amd"
_PC_BITS: Final = 64
_FORMAT: Final = 4


class LaneTable(Struct, frozen=True, array_like=True):
    """The positions of a function's inactive lanes. Addresses are the file's, ``nodes`` are in the form of
    `Diagrams.content`.

    ``changes`` holds ascending addresses. From each of them on, the element of ``diagrams`` with the same index
    applies, which has one diagram for each half of the wave; ``active`` has the scalar register with the active lanes
    of each half. Variables are indices into ``places``, which are in the order of testing; leaves are indices into
    ``leaves``.
    """

    format: int
    start: int
    end: int
    wave_size: int
    unswizzled: bool
    changes: list[int]
    diagrams: list[tuple[int, ...]]
    active: list[tuple[int, ...]]
    nodes: list[tuple[int, int, int]]
    places: list[list[int | str]]
    leaves: list[list[int]]
    ends: list[int]
    reason: str = ""
    """If the table is empty, the reason."""

    def _index(self, pc: int) -> int | None:
        if not self.start <= pc < self.end or not self.changes:
            return None
        return max(0, bisect_right(self.changes, pc) - 1)

    def candidates(self, element: int) -> list[int]:
        """The addresses that an element not less than `UNKNOWN` may represent; empty if they are not known."""
        number = element - UNKNOWN
        leaf = self.leaves[number] if 0 <= number < len(self.leaves) else []
        return [] if ANYWHERE in leaf else [place for place in leaf if place != NOT_ENTERED]

    def lane_pc(self, pc: int) -> bytes | None:
        """The expression for the vector of the lane PCs of a whole wave before the instruction at ``pc``.

        For a ``pc`` inside a call it applies while the called function runs. None outside the function.
        """
        index = self._index(pc)
        if index is None:
            return None
        halves = self.diagrams[index]
        masks = LaneMasks(self.wave_size, self.unswizzled)
        split = [self._split(masks, diagram, half, index) for half, diagram in enumerate(halves)]
        if None in split:
            masks = LaneMasks(self.wave_size, self.unswizzled)
        for half, found in enumerate(split):
            if found is None or None in split:
                masks.add(self._constant(UNKNOWN + len(self.leaves)), 1)
            else:
                self._select(masks, found)
            masks.add([("regx", PC), ("extend", _PC_BITS, HALF)], 1)
            masks.add(masks.dword(self.active[index][half], half), 1)
            masks.add([("select_bit_piece", _PC_BITS, HALF)], -2)
            if len(halves) > 1:
                masks.add([("piece", _PC_BITS // 8 * HALF)], -half)
        if len(halves) > 1:
            masks.add([("piece_end",)], 0)
        return assemble(*masks.items, dialect=_DIALECT)

    def lane_pc_list(self) -> list[tuple[int, int, bytes]]:
        """The results of `lane_pc` for the whole function, as a location list: first and end address, expression."""
        found: list[tuple[int, int, bytes]] = []
        bounds = [self.start, *self.changes[1:], self.end]
        for low, high in pairwise(bounds):
            data = self.lane_pc(low)
            if data is None or low >= high:
                continue
            if found and found[-1][1:] == (low, data):
                found[-1] = found[-1][0], high, data
            else:
                found.append((low, high, data))
        return found

    def with_places(self, places: Mapping[int, int]) -> LaneTable:
        """Return the table with a single address for each leaf that is a key of ``places``."""
        leaves = [[places[number]] if number in places else leaf for number, leaf in enumerate(self.leaves)]
        return structs.replace(self, leaves=leaves)

    def active_lanes(self, pc: int) -> bytes | None:
        """The expression for the mask of active lanes, if that differs from EXEC; otherwise None."""
        index = self._index(pc)
        if index is None or self.active[index][0] == EXEC_LO:
            return None
        items: list[Item] = []
        for register in self.active[index]:
            if register >= 106:
                return None
            items += [("regx", sgpr_number(register)), ("piece", 4)]
        if len(self.active[index]) > 1:
            items.append(("piece_end",))
            return assemble(*items, dialect=_DIALECT)
        return assemble(items[0], dialect=_DIALECT)

    def entered(self, pc: int) -> tuple[Item, ...] | None:
        """Operations that push the mask of the lanes that are in the function, which is the value that EXEC had when
        the function was called; None if this mask is not known.
        """
        index = self._index(pc)
        if index is None:
            return None
        masks = LaneMasks(self.wave_size, self.unswizzled)
        halves = []
        for half, diagram in enumerate(self.diagrams[index]):
            found = self._split(masks, diagram, half, index)
            if found is None:
                return None
            inside = masks.push(masks.dword(self.active[index][half], half))
            for leaf, mask in found.items():
                places = self.leaves[leaf]
                is_inside = NOT_ENTERED not in places
                if not places or ANYWHERE in places or (len(places) > 1 and not is_inside):
                    return None
                if is_inside:
                    masks.pick(inside)
                    masks.release(inside)
                    masks.pick(mask)
                    inside = masks.combine("or")
                masks.release(mask)
            halves.append(inside)
        masks.pick(halves[0])
        if len(halves) > 1:
            masks.pick(halves[1])
            masks.add([("constu", HALF), ("shl",)], 0)
            masks.combine("or")
        return tuple(masks.items)

    def _split(self, masks: LaneMasks, diagram: int, half: int, index: int) -> dict[int, Slot] | None:
        places = [_place(key) for key in self.places]
        return masks.split(diagram, half, self.nodes, places, self.active[index][half])

    def _select(self, masks: LaneMasks, found: dict[int, Slot]) -> None:
        """Push the vector of a half, in which the lanes that reach a leaf have the leaf's element."""
        for number, (leaf, mask) in enumerate(found.items()):
            masks.add(self._leaf(leaf), 1)
            if number:
                masks.pick(mask)
                masks.add([("select_bit_piece", _PC_BITS, HALF)], -2)

    def _leaf(self, leaf: int) -> list[Item]:
        """The vector that has the same element for all lanes of a half."""
        places = self.leaves[leaf]
        if len(places) == 1 and places[0] >= 0:
            return [("addr", places[0]), ("stack_value",), ("extend", _PC_BITS, HALF)]
        if places and set(places) <= set(self.ends):
            return [("addr", min(places)), ("stack_value",), ("extend", _PC_BITS, HALF)]
        if places == [NOT_ENTERED]:
            return [("undefined",), ("extend", _PC_BITS, HALF)]
        return self._constant(UNKNOWN + leaf)

    @staticmethod
    def _constant(value: int) -> list[Item]:
        return [("const8u", value), ("stack_value",), ("extend", _PC_BITS, HALF)]


def table_of(analysis: LanePositions, unswizzled: bool) -> LaneTable:
    """The table of an analysed function; ``unswizzled`` says whether stack pointers count bytes of the whole wave."""
    diagrams = analysis.diagrams
    changes: list[int] = []
    roots: list[tuple[int, ...]] = []
    active: list[tuple[int, ...]] = []
    for address in analysis.changes():
        positions = analysis.at(address)
        if positions is None:
            continue
        root = tuple(_without_scc(analysis, half.diagram) for half in positions)
        registers = tuple(half.active for half in positions)
        if roots and roots[-1] == root and active[-1] == registers:
            continue
        changes.append(address)
        roots.append(root)
        active.append(registers)
    tested = sorted({variable for root in roots for diagram in root for variable in diagrams.support(diagram)})[::-1]
    places = {variable: number for number, variable in enumerate(tested)}
    numbers: dict[int, int] = {}
    nodes: list[tuple[int, int, int]] = []
    leaves: dict[int, int] = {}
    leaf_places: list[list[int]] = []

    def keep(diagram: int) -> int:
        number = numbers.get(diagram)
        if number is not None:
            return number
        variable, low, high = diagrams.content(diagram)
        if variable < 0:
            leaf = leaves.get(low)
            if leaf is None:
                leaf = leaves[low] = len(leaf_places)
                leaf_places.append(sorted(analysis.candidates(low)))
            node = (-1, leaf, 0)
        else:
            node = (places[variable], keep(low), keep(high))
        number = numbers[diagram] = len(nodes)
        nodes.append(node)
        return number

    found = [tuple(keep(diagram) for diagram in root) for root in roots]
    names = [_key(diagrams.names[variable]) for variable in tested]  # type: ignore[arg-type]
    function = analysis.function
    return LaneTable(
        _FORMAT, function.start, function.end, analysis.wave_size, unswizzled, changes, found, active, nodes, names,
        leaf_places, sorted(analysis.ends),
    )


def no_table(start: int, end: int, wave_size: int, reason: str) -> LaneTable:
    """The table of a function that could not be analysed."""
    return LaneTable(_FORMAT, start, end, wave_size, False, [], [], [], [], [], [], [], reason)


def to_bytes(table: LaneTable) -> bytes:
    """The table in its stored form."""
    return msgspec.msgpack.encode(table)


def from_bytes(data: bytes) -> LaneTable | None:
    """Decode a stored table; None if it was stored in another form."""
    try:
        table = msgspec.msgpack.decode(data, type=LaneTable)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return table if table.format == _FORMAT else None


def _without_scc(analysis: LanePositions, diagram: int) -> int:
    """The positions for either value of SCC, which is not available in a caller's frame."""
    diagrams = analysis.diagrams
    variable = diagrams.known_variable(SCC)
    if variable is None or variable not in diagrams.support(diagram):
        return diagram
    return diagrams.substitute(diagram, {variable: (diagrams.false, diagrams.true)})


def _key(place: Place) -> list[int | str]:
    if isinstance(place, Compare):
        return [3, place.relation, place.type, *_term_key(place.left), *_term_key(place.right)]
    if isinstance(place, LaneOf):
        return [1, place.register, place.lane]
    if isinstance(place, SlotOf):
        return [2, -1 if place.base is None else place.base, place.offset, place.lane]
    return [0, place]


def _term_key(term: Term) -> tuple[int, int, int]:
    match term:
        case Number(value=value):
            return 1, value, 0
        case OwnLane(register=register):
            return 2, register, 0
        case OwnSlot(base=base, offset=offset):
            return 3, -1 if base is None else base, offset
    return 0, term, 0


def _term(kind: int, first: int, second: int) -> Term:
    match kind:
        case 1:
            return Number(first)
        case 2:
            return OwnLane(first)
        case 3:
            return OwnSlot(None if first < 0 else first, second)
    return first


def _place(key: list[int | str]) -> Place:
    numbers = [part for part in key if isinstance(part, int)]
    match numbers[0]:
        case 1:
            return LaneOf(numbers[1], numbers[2])
        case 2:
            return SlotOf(None if numbers[1] < 0 else numbers[1], numbers[2], numbers[3])
        case 3:
            return Compare(str(key[1]), str(key[2]), _term(*numbers[1:4]), _term(*numbers[4:7]))
    return numbers[1]
