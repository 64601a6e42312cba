"""Conditions by the thousand: those that are one expression with other numbers become one table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from rocdbg.sim.core.checks import ANY_WAVE, Counter, Table
from rocdbg.sim.core.lane_expressions import Cell, Node, with_cells

FEW = 8
"""Conditions at a place, and places, that are compiled one by one: such code is a little faster."""
_UNCOUNTED = Counter()
"""For conditions that stop their wave wherever they hold, so that nothing is counted natively."""
_ALL_LANES = (1 << 64) - 1
_MOST_KEPT = 1_000


class _Rows(Struct):
    """The rows of a table that is being made."""

    node: Node
    cells: list[tuple[int, ...]] = field(default_factory=list)
    lanes: list[int] = field(default_factory=list)
    waves: list[int] = field(default_factory=list)
    counters: list[Counter] = field(default_factory=list)


class TableMaker:
    """Collects conditions by their expression. ``kept`` remembers expressions with numbers in their cells."""

    def __init__(self, kept: dict[object, tuple[Node, Node]]) -> None:
        self._kept = kept
        self._by_node: dict[int, _Rows] = {}
        self._asked: set[tuple[int, tuple[int, ...], int, int]] = set()

    def __len__(self) -> int:
        """How many tables there are."""
        return len(self._by_node)

    def add(
        self, node: Node, cells: tuple[int, ...], lane: int | None = None, wave: int | None = None,
        counter: Counter | None = None,
    ) -> None:
        """Add a condition. Without a counter the wave stops where it holds, and nothing is counted."""
        lanes = _ALL_LANES if lane is None else 1 << lane & _ALL_LANES
        self.add_for(node, cells, lanes, ANY_WAVE if wave is None else wave & ANY_WAVE, counter)

    def add_for(
        self, node: Node, cells: tuple[int, ...], lanes: int, wave: int, counter: Counter | None = None
    ) -> None:
        """As `add`, for a mask of lanes and a wave's number or `ANY_WAVE`."""
        if counter is None:
            same = id(node), cells, lanes, wave
            if same in self._asked:
                return
            self._asked.add(same)
        rows = self._by_node.get(id(node))
        if rows is None:
            rows = self._by_node[id(node)] = _Rows(node)
        rows.cells.append(cells)
        rows.lanes.append(lanes)
        rows.waves.append(wave)
        rows.counters.append(counter if counter is not None else _UNCOUNTED)

    def tables(self) -> tuple[Table, ...]:
        """The tables of all conditions, each with the rows in the order in which they were added."""
        return tuple(map(self._table, self._by_node.values()))

    def _table(self, rows: _Rows) -> Table:
        count = len(rows.cells)
        cells: NDArray[np.uint64] = np.array(
            [[number & _ALL_LANES for number in row] for row in rows.cells], np.uint64
        ).reshape(count, -1)
        varies = [bool(np.any(cells[:, column] != cells[0, column])) for column in range(cells.shape[1])]
        node = self._with_numbers(rows.node, [int(number) for number in cells[0]], varies)
        return Table(
            node, np.ascontiguousarray(cells[:, varies]), np.array(rows.lanes, np.uint64),
            np.array(rows.waves, np.uint64), tuple(rows.counters),
        )

    def _with_numbers(self, node: Node, first: Sequence[int], varies: Sequence[bool]) -> Node:
        """The expression with those of its cells that are the same in all rows as numbers: what depends on no cell is
        computed once for all rows."""
        key = id(node), tuple(None if vary else number for number, vary in zip(first, varies, strict=True))
        known = self._kept.get(key)
        if known is None:
            if len(self._kept) > _MOST_KEPT:
                self._kept.clear()
            places = [number for number, vary in enumerate(varies) if vary]
            cells: dict[int, int | Cell] = dict(enumerate(first))
            cells.update((place, Cell(number)) for number, place in enumerate(places))
            known = self._kept[key] = node, with_cells(node, cells)
        return known[1]


__all__ = ["FEW", "TableMaker"]
