"""Checks at stops: native code decides whether a wave that reaches an instruction stops there.

A `Check` belongs to a pc and has conditions. If one of them holds or cannot be decided, the wave stops with BREAK,
nothing is counted, and the caller evaluates the conditions. Otherwise the counters are updated, the instruction is
executed, and the wave continues without leaving native code.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from rocdbg.sim.core.lane_expressions import Node

MAX_CONDITIONS = 1_000
"""The most conditions at one pc."""


class Counter(Struct, eq=False):
    """Counts the arrivals for which a condition held (``hits``); the next ``skips`` of them do not stop.

    Several conditions may share a counter.
    """

    hits: int = 0
    skips: int = 0


class Log(Struct, eq=False):
    """What conditions have collected, in order of arrival: records of u64 words.

    A record consists of the condition's ``tag``, the number of the wave, the number of instructions that the wave had
    executed, the mask of lanes, the values shared by all lanes, and then each per-lane value for all lanes.
    """

    words: list[NDArray[np.uint64]] = field(default_factory=list)


RECORD_HEAD = 4
"""Words of a record before the values."""


class Condition(Struct, frozen=True, eq=False):
    """One reason to stop at a pc. With a ``log``, the wave does not stop: ``shared`` and ``values`` (I64) are collected
    in it.

    * ``active`` is an expression with the same value for all lanes: the mask of the lanes that are at this place. Of
      these, only the lanes in ``lanes`` are tested.
    * ``holds`` is a condition (I1) for each lane; if there is none, the arrival of the wave suffices.
    * ``cells`` holds the values of the expressions' cells.
    * With ``wave``, only that wave stops.
    * ``shared`` holds expressions that have the same value for all lanes.
    """

    active: Node
    holds: Node | None
    counter: Counter
    cells: tuple[int, ...] = ()
    lanes: int = (1 << 64) - 1
    wave: int | None = None
    values: tuple[Node, ...] = ()
    shared: tuple[Node, ...] = ()
    log: Log | None = None
    tag: int = 0
    first_only: bool = False
    """Whether per-lane values are collected for the first lane only."""


def record_words(condition: Condition, wave_size: int) -> int:
    """Words of the longest record of a condition that collects."""
    return RECORD_HEAD + len(condition.shared) + wave_size * len(condition.values)


class Table(Struct, frozen=True, eq=False):
    """Many conditions that share one expression (I1) for each lane and differ in its cells. Each condition is a row.

    For each condition, ``cells`` has a row of cells (u64), ``lanes`` the lanes to which it applies (u64), and ``waves``
    the number of the wave to which it applies (u64), or `ANY_WAVE`. Rows may share a counter.
    """

    holds: Node
    cells: NDArray[np.uint64]
    lanes: NDArray[np.uint64]
    waves: NDArray[np.uint64]
    counters: tuple[Counter, ...]


class Check(Struct, frozen=True, eq=False):
    """What is decided at one pc; any of the conditions stops the wave.

    ``active`` applies to the conditions in ``tables``, as `Condition.active` does to other conditions.
    """

    conditions: tuple[Condition, ...]
    tables: tuple[Table, ...] = ()
    active: Node | None = None

    def plus(self, *conditions: Condition) -> Check:
        """The check with more conditions."""
        return Check((*self.conditions, *conditions), self.tables, self.active)


class Answers(Struct, frozen=True, eq=False):
    """The results of a table's rows for one wave at its current pc: the lanes (u64) for which each row holds, and
    whether it is undecided (its lanes then have no meaning).
    """

    lanes: NDArray[np.uint64]
    undecided: NDArray[np.bool_]


ENTRY_WORDS = 3
"""Words (u64) of an entry of `check_table.CheckTable`: the one-instruction function, the check's routine, and the
check's row: the addresses of the conditions' counters, all their cells, the address of the log buffer, and that of the
check's descriptors."""
ANY_WAVE = (1 << 64) - 1
ROW_HOLDS, ROW_UNDECIDED, ROW_LANES, ROW_WAVE, ROW_COUNTER, ROW_HEAD = range(6)
"""Words (u64) of a row of a `Table` in memory: its result, whether it is undecided, its lanes and wave, the address of
its counter, and then its cells.
"""
DESCRIPTOR_WORDS = 5
TABLE_ROUTINE, TABLE_ROWS, TABLE_COUNT, TABLE_STRIDE, TABLE_ACTIVE = range(DESCRIPTOR_WORDS)
"""Words (u64) of a `Table`'s descriptor: the addresses of its routine and of its rows, the number of rows, the bytes of
a row, and the active lanes, which are stored there before the routine is called. In memory, the number of a check's
descriptors precedes them.
"""
LOG_HEAD, LOG_WORDS = 2, 1 << 20
"""The layout of an engine's log buffer: two words, the number of words used and the number available, and then these
words. A wave whose records might not fit stops instead."""
