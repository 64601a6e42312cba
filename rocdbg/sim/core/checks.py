"""Checks at stops: whether a wave that comes to an instruction stops there is found out by native code.

A `Check` stands at a pc and has conditions. Where one of them holds, or cannot be decided, the wave stops with BREAK
and nothing is counted: the caller evaluates it. Else what is to be counted is counted, the instruction is
executed, and the wave goes on without leaving native code.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from rocdbg.sim.core.lane_expressions import Node

MAX_CONDITIONS = 1_000
"""Conditions at one pc."""


class Counter(Struct, eq=False):
    """Counts the arrivals for which a condition held: ``hits`` of them, of which ``skips`` more do not stop.

    Several conditions may share one.
    """

    hits: int = 0
    skips: int = 0


class Log(Struct, eq=False):
    """What conditions have collected, in order of arrivals: records of u64 words.

    A record is the condition's ``tag``, the number of the wave, how many instructions that had executed, the mask of
    lanes, what is the same for all of them, and each value for all of them.
    """

    words: list[NDArray[np.uint64]] = field(default_factory=list)


RECORD_HEAD = 4
"""Words of a record before the values."""


class Condition(Struct, frozen=True, eq=False):
    """One reason to stop at a pc, or with a ``log`` to collect in it ``shared`` and ``values`` (I64) and go on.

    ``active``: an expression that is the same for all lanes, the mask of those that are there; of them those in
    ``lanes`` are asked. ``holds`` is a condition (I1) for each; without one the wave's arrival is enough. ``cells``
    are the expression's. ``wave``: only that one stops. ``shared`` are expressions that are the same for all lanes.
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
    """Whether only the first lane is collected."""


def record_words(condition: Condition, wave_size: int) -> int:
    """Words of the longest record of a condition that collects."""
    return RECORD_HEAD + len(condition.shared) + wave_size * len(condition.values)


class Check(Struct, frozen=True, eq=False):
    """What decides at one pc; any of the conditions stops the wave."""

    conditions: tuple[Condition, ...]


ENTRY_WORDS = 3
"""Words (u64) of an entry of `check_table.CheckTable`: the function of one instruction, the check's routine, and
its row, that is the addresses of the conditions' counters, all their cells, and the address of what is collected."""
LOG_HEAD, LOG_WORDS = 2, 1 << 20
"""What an engine collects in: two words, how many are used and how many there are, and then these. A wave for whose
records there may not be room stops instead."""
