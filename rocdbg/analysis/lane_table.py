"""Where the inactive lanes of a function go on, as a table that can be kept: by address, a decision diagram for the
bits of one lane, and what it says as a location expression, the kind that DW_AT_LLVM_lane_pc has.

An element of the vector is the address a lane goes on at; undefined for lanes that are not in the function; for lanes
whose place is not known a number from `UNKNOWN` on, which `LaneTable.candidates` understands.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import pairwise
from typing import Final

import msgspec
from msgspec import Struct, structs

from rocdbg.analysis.comparisons import compared
from rocdbg.analysis.lane_positions import ANYWHERE, NOT_ENTERED, LanePositions
from rocdbg.analysis.machine_state import AGPR, EXEC_LO, VCC_LO
from rocdbg.analysis.mask_effects import (
    SCC,
    Compare,
    LaneOf,
    Number,
    OwnLane,
    OwnSlot,
    Place,
    SlotOf,
    Term,
)
from rocdbg.analysis.unknown_places import UNKNOWN
from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.arch.registers import (
    EXEC_32,
    EXEC_64,
    PC,
    VCC_32,
    VCC_64,
    register_number,
    sgpr_number,
    vgpr_number,
)
from rocdbg.dwarf.encoding import Item, assemble

_DIALECT: Final = "amd"
_PC_BITS: Final = 64
_HALF: Final = 32
_MOST_ITEMS: Final = 20_000
_DEEPEST: Final = 200
"""Entries on the stack: DW_OP_pick reaches 255."""
_FORMAT: Final = 3


class LaneTable(Struct, frozen=True, array_like=True):
    """The positions of a function's inactive lanes. Addresses are the file's, ``nodes`` as `Diagrams.content` has them.

    ``changes``: ascending addresses from which on the diagrams of the same index in ``diagrams`` hold, one for each
    half of the wave; ``active``: the scalar register with the active lanes of that half, there. Variables are
    indices of ``places``, leaves of ``leaves``.
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
    """Why there are no positions at all, if there are none."""

    def _index(self, pc: int) -> int | None:
        if not self.start <= pc < self.end or not self.changes:
            return None
        return max(0, bisect_right(self.changes, pc) - 1)

    def candidates(self, element: int) -> list[int]:
        """The addresses an element from `UNKNOWN` on may stand for; empty when they are not known."""
        number = element - UNKNOWN
        leaf = self.leaves[number] if 0 <= number < len(self.leaves) else []
        return [] if ANYWHERE in leaf else [place for place in leaf if place != NOT_ENTERED]

    def lane_pc(self, pc: int) -> bytes | None:
        """The expression of the vector of lane PCs, before the instruction at ``pc``, for all lanes of a wave.

        For a ``pc`` inside a call it holds while the called function runs. None outside the function.
        """
        index = self._index(pc)
        if index is None:
            return None
        items: list[Item] = []
        halves = self.diagrams[index]
        for half, diagram in enumerate(halves):
            before = len(items)
            if not self._emit(diagram, half, items):
                items[before:] = self._constant(UNKNOWN + len(self.leaves))
            items += [("regx", PC), ("extend", _PC_BITS, _HALF)]
            items += self._dword(self.active[index][half], half)
            items.append(("select_bit_piece", _PC_BITS, _HALF))
            if len(halves) > 1:
                items.append(("piece", _PC_BITS // 8 * _HALF))
        if len(halves) > 1:
            items.append(("piece_end",))
        return assemble(*items, dialect=_DIALECT)

    def lane_pc_list(self) -> list[tuple[int, int, bytes]]:
        """What `lane_pc` gives for all of the function, as a location list: first and end address, expression."""
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
        """The table with one address for each of the leaves in ``places``, by their numbers."""
        leaves = [[places[number]] if number in places else leaf for number, leaf in enumerate(self.leaves)]
        return structs.replace(self, leaves=leaves)

    def active_lanes(self, pc: int) -> bytes | None:
        """The expression of the mask of active lanes, where EXEC is something else; None elsewhere."""
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
        """Operations that push the mask of the lanes that are in the function; None when that is not known.

        That is what EXEC was when the function was called.
        """
        index = self._index(pc)
        if index is None:
            return None
        items: list[Item] = []
        for half, diagram in enumerate(self.diagrams[index]):
            if not self._emit_entered(diagram, half, items):
                return None
            items += [*self._dword(self.active[index][half], half), ("or",)]
            if half:
                items += [("constu", _HALF), ("shl",), ("or",)]
        return tuple(items)

    def _emit_entered(self, diagram: int, half: int, items: list[Item]) -> bool:
        """Append operations that push the lanes, among the inactive ones of a half, that are in the function."""
        if len(items) > _MOST_ITEMS:
            return False
        variable, low, high = self.nodes[diagram]
        if variable < 0:
            places = self.leaves[low]
            inside = NOT_ENTERED not in places
            if not places or ANYWHERE in places or (len(places) > 1 and not inside):
                return False
            items.append(("constu", 0xFFFFFFFF if inside else 0))
            return True
        mask = self._dword(_place(self.places[variable]), half)
        if not self._emit_entered(high, half, items):
            return False
        items += [*mask, ("and",)]
        if not self._emit_entered(low, half, items):
            return False
        items += [*mask, ("not",), ("and",), ("or",)]
        return True

    def _emit(self, diagram: int, half: int, items: list[Item]) -> bool:
        """Append what gives the elements of a diagram; False when that would be too much."""
        before = len(items)
        # comparisons are made once, below everything else on the stack
        comparisons: dict[int, int] = {}
        for variable in sorted(self._tested(diagram)):
            place = _place(self.places[variable])
            if isinstance(place, Compare):
                comparisons[variable] = len(comparisons)
                items += self._compared(place, half)
        depth = len(comparisons)

        def emit(number: int) -> bool:
            nonlocal depth
            if len(items) - before > _MOST_ITEMS or depth > _DEEPEST:
                return False
            variable, low, high = self.nodes[number]
            if variable < 0:
                items.extend(self._leaf(low))
                depth += 1
                return True
            if not emit(low) or not emit(high):
                return False
            if variable in comparisons:
                items.append(("pick", depth - 1 - comparisons[variable]))
            else:
                items.extend(self._dword(_place(self.places[variable]), half))
            items.append(("select_bit_piece", _PC_BITS, _HALF))
            depth -= 1
            return True

        if not emit(diagram):
            return False
        items.extend([("swap",), ("drop",)] * len(comparisons))
        return True

    def _tested(self, diagram: int) -> set[int]:
        """The variables that a diagram tests."""
        seen: set[int] = set()
        found: set[int] = set()
        todo = [diagram]
        while todo:
            number = todo.pop()
            variable, low, high = self.nodes[number]
            if variable >= 0 and number not in seen:
                seen.add(number)
                found.add(variable)
                todo += (low, high)
        return found

    def _leaf(self, leaf: int) -> list[Item]:
        places = self.leaves[leaf]
        if len(places) == 1 and places[0] >= 0:
            return [("addr", places[0]), ("stack_value",), ("extend", _PC_BITS, _HALF)]
        if places and set(places) <= set(self.ends):
            return [("addr", min(places)), ("stack_value",), ("extend", _PC_BITS, _HALF)]
        if places == [NOT_ENTERED]:
            return [("undefined",), ("extend", _PC_BITS, _HALF)]
        return self._constant(UNKNOWN + leaf)

    @staticmethod
    def _constant(value: int) -> list[Item]:
        return [("const8u", value), ("stack_value",), ("extend", _PC_BITS, _HALF)]

    def _dword(self, place: Place, half: int) -> list[Item]:
        """What gives the contents of a place, 32 bits of a mask."""
        if isinstance(place, int):
            register, offset = _scalar_number(place, self.wave_size)
            whole: list[Item] = [("regx", register)]
            if offset:
                whole.append(("offset_uconst", offset))
            return [*whole, ("deref_size", 4)]
        if isinstance(place, LaneOf):
            return self._lane(place.register, place.lane)
        if isinstance(place, Compare):
            return self._compared(place, half)
        return self._slot(place.base, place.offset, place.lane)

    def _compared(self, place: Compare, half: int) -> list[Item]:
        """What gives the lanes of a half for which a comparison holds."""
        items: list[Item] = [("lit0",)]
        for bit in range(_HALF):
            lane = _HALF * half + bit
            left, right = self._term(place.left, lane), self._term(place.right, lane)
            items += [*compared(place.relation, place.type, left, right), ("constu", bit), ("shl",), ("or",)]
        return items

    def _term(self, term: Term, lane: int) -> list[Item]:
        """What gives a term of a comparison for one lane, unsigned."""
        match term:
            case Number(value=value):
                return [("constu", value)]
            case OwnLane(register=register):
                return self._lane(register, lane)
            case OwnSlot(base=base, offset=offset):
                return self._slot(base, offset, lane)
        return self._dword(term, 0)

    def _lane(self, register: int, lane: int) -> list[Item]:
        number = (
            register_number(f"a{register - AGPR}", self.wave_size) if register >= AGPR
            else vgpr_number(register, self.wave_size)
        )
        return [("regx", number), ("offset_uconst", 4 * lane), ("deref_size", 4)]

    def _slot(self, base: int | None, offset: int, lane: int) -> list[Item]:
        scale = self.wave_size
        items: list[Item] = []
        behind = offset * scale + 4 * lane
        if base is not None:
            items += [("regx", sgpr_number(base)), ("deref_size", 4)]
            if not self.unswizzled:
                items += [("constu", scale), ("mul",)]
            items += [("consts", behind), ("plus",)]
        else:
            items += [("constu", behind)]
        return [*items, (f"lit{int(AddressSpace.PRIVATE_WAVE)}",), ("form_aspace_address",), ("deref_size", 4)]


def table_of(analysis: LanePositions, unswizzled: bool) -> LaneTable:
    """The table of an analysed function; ``unswizzled``: stack pointers count bytes of the whole wave."""
    diagrams = analysis.diagrams
    changes: list[int] = []
    found: list[tuple[int, ...]] = []
    active: list[tuple[int, ...]] = []
    numbers: dict[int, int] = {}
    nodes: list[tuple[int, int, int]] = []
    places: dict[int, int] = {}
    leaves: dict[int, int] = {}
    names: list[list[int | str]] = []
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
            low, high = keep(low), keep(high)
            name = diagrams.names[variable]
            place = places.get(variable)
            if place is None:
                place = places[variable] = len(names)
                names.append(_key(name))  # type: ignore[arg-type]
            node = (place, low, high)
        number = numbers[diagram] = len(nodes)
        nodes.append(node)
        return number

    for address in analysis.changes():
        positions = analysis.at(address)
        if positions is None:
            continue
        kept = tuple(keep(_without_scc(analysis, half.diagram)) for half in positions)
        registers = tuple(half.active for half in positions)
        if found and found[-1] == kept and active[-1] == registers:
            continue
        changes.append(address)
        found.append(kept)
        active.append(registers)
    function = analysis.function
    return LaneTable(
        _FORMAT, function.start, function.end, analysis.wave_size, unswizzled, changes, found, active, nodes, names,
        leaf_places, sorted(analysis.ends),
    )


def no_table(start: int, end: int, wave_size: int, reason: str) -> LaneTable:
    """The table of a function that could not be analysed."""
    return LaneTable(_FORMAT, start, end, wave_size, False, [], [], [], [], [], [], [], reason)


def to_bytes(table: LaneTable) -> bytes:
    """The table in the form it is kept in."""
    return msgspec.msgpack.encode(table)


def from_bytes(data: bytes) -> LaneTable | None:
    """A table that was kept; None when it is of another form."""
    try:
        table = msgspec.msgpack.decode(data, type=LaneTable)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return table if table.format == _FORMAT else None


def _without_scc(analysis: LanePositions, diagram: int) -> int:
    """SCC can be asked of no caller: the positions whatever it is."""
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


def _scalar_number(register: int, wave_size: int) -> tuple[int, int]:
    """The DWARF register of a mask in scalar registers, and the offset in it."""
    if register >= EXEC_LO:
        return (EXEC_32 if wave_size == 32 else EXEC_64), 4 * (register - EXEC_LO)
    if register >= VCC_LO:
        return (VCC_32 if wave_size == 32 else VCC_64), 4 * (register - VCC_LO)
    return sgpr_number(register), 0
