"""Tables of conditions: conditions that differ only in their numbers share one table, because there may be thousands.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from rocdbg.sim.core.checks import ANY_WAVE, Counter, Table
from rocdbg.sim.core.lane_expressions import Cell, Node, with_cells

FEW = 8
"""If a place has at most this many conditions, and at most this many places have conditions, each condition is compiled
by itself, because such code is a little faster.
"""
_UNCOUNTED = Counter()
"""The counter of conditions that stop their wave at every hit, so that native code has nothing to count."""
_ALL_LANES = (1 << 64) - 1
_MOST_KEPT = 1_000


class _Rows(Struct):
    """The rows of a table under construction."""

    node: Node
    cells: list[tuple[int, ...]] = field(default_factory=list)
    lanes: list[int] = field(default_factory=list)
    waves: list[int] = field(default_factory=list)
    counters: list[Counter] = field(default_factory=list)


class TableMaker:
    """Groups conditions by expression. ``kept`` caches expressions in which numbers have replaced cells."""

    def __init__(self, kept: dict[object, tuple[Node, Node]]) -> None:
        self._kept = kept
        self._by_node: dict[int, _Rows] = {}
        self._asked: set[tuple[int, tuple[int, ...], int, int]] = set()

    def __len__(self) -> int:
        """Return the number of tables."""
        return len(self._by_node)

    def add(
        self, node: Node, cells: tuple[int, ...], lane: int | None = None, wave: int | None = None,
        counter: Counter | None = None,
    ) -> None:
        """Add a condition. Without a counter, the wave stops wherever the condition holds, and nothing is counted."""
        lanes = _ALL_LANES if lane is None else 1 << lane & _ALL_LANES
        self.add_for(node, cells, lanes, ANY_WAVE if wave is None else wave & ANY_WAVE, counter)

    def add_for(
        self, node: Node, cells: tuple[int, ...], lanes: int, wave: int, counter: Counter | None = None
    ) -> None:
        """Add a condition, as `add` does, for a mask of lanes and a wave's number or `ANY_WAVE`."""
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
        """Return the tables of all conditions; each has its rows in the order in which they were added."""
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
        """Return the expression in which numbers replace the cells that are the same in all rows: parts of the
        expression that then depend on no cell are computed only once for all rows.
        """
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
