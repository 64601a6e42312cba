"""The checks of an engine: their native routines, and the memory that the routines share with Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from rocdbg import work
from rocdbg.sim.core.checks import (
    DESCRIPTOR_WORDS,
    ENTRY_WORDS,
    LOG_HEAD,
    LOG_WORDS,
    MAX_CONDITIONS,
    ROW_COUNTER,
    ROW_HEAD,
    ROW_HOLDS,
    ROW_LANES,
    ROW_UNDECIDED,
    ROW_WAVE,
    TABLE_ACTIVE,
    TABLE_COUNT,
    TABLE_ROUTINE,
    TABLE_ROWS,
    TABLE_STRIDE,
    Answers,
    Check,
    Counter,
    Log,
    Table,
)
from rocdbg.sim.core.guarded import guarded
from rocdbg.sim.core.lane_expressions import LaneExpressionError, Node, check
from rocdbg.sim.core.layout import MAX_CHECK_ENTRIES

if TYPE_CHECKING:
    from rocdbg.arch.targets import Target
    from rocdbg.sim.engine.native_jit import Generation, Jit

_MOST_NAMES = 1_000
_ENTRIES = 16
"""How many entries have their functions compiled together."""
_OPTIMISED = 64
"""The number of rows from which on a table's routine is optimised; compiling it then takes four times as long."""


class _Kept(Struct):
    """A counter, and its words in memory: hits and skips."""

    counter: Counter
    words: NDArray[np.uint64]
    address: int


class _Tables(Struct):
    """A check's tables in memory: the number of descriptors, the descriptors, and the rows of each table."""

    words: NDArray[np.uint64]
    rows: list[NDArray[np.uint64]]

    @property
    def address(self) -> int:
        """Host address of the number of descriptors."""
        return int(self.words.ctypes.data)

    def descriptor(self, number: int) -> NDArray[np.uint64]:
        """The words of a descriptor."""
        first = 1 + number * DESCRIPTOR_WORDS
        return self.words[first : first + DESCRIPTOR_WORDS]


class _Placed(Struct, eq=False):
    """A check in memory: its routine, its row, its tables and its counters by identity."""

    at: Check
    routine: int
    row: NDArray[np.uint64]
    tables: _Tables | None
    counters: dict[int, _Kept]
    words: tuple[int, int] = (0, 0)
    """The words that an entry holds: the addresses of routine and row."""

    def __post_init__(self) -> None:
        self.words = self.routine, int(self.row.ctypes.data)


class CheckTable:
    """The checks of one engine.

    An *entry* is a native function that replaces the function of a block in the engine's table, for one pc and MODE
    key. It evaluates the check of that pc and then executes one instruction, whose function `set_instruction` sets.
    """

    def __init__(self, target: Target, wave_size: int, jit: Jit) -> None:
        self._target, self._wave_size, self._jit = target, wave_size, jit
        self._table = guarded(MAX_CHECK_ENTRIES * ENTRY_WORDS * 8).view(np.uint64)
        self._entries: dict[tuple[int, int], int] = {}
        self._functions: dict[int, int] = {}
        self._addresses: dict[str, int] = {}
        """The addresses of linked routines by name."""
        self._placed: dict[int, _Placed] = {}
        self._counters: list[_Kept] = []
        self._collected: NDArray[np.uint64] | None = None
        self._log: Log | None = None
        self._names: dict[object, tuple[str, object]] = {}
        self._table_names: dict[tuple[int, int], tuple[str, Node]] = {}

    @property
    def address(self) -> int:
        """Host address of the entries, as native code reads them."""
        return int(self._table.ctypes.data)

    @property
    def pcs(self) -> frozenset[int]:
        """The pcs that have checks."""
        return frozenset(self._placed)

    def set(self, checks: Mapping[int, Check], generation: Generation) -> None:
        """Replace all checks; their routines are linked in ``generation``. Raises `LaneExpressionError`."""
        counters: dict[int, _Kept] = {}
        before = self._placed
        placed = {pc: before[pc] for pc, at in checks.items() if pc in before and before[pc].at is at}
        for known in placed.values():
            counters.update(known.counters)
        for kept in counters.values():
            kept.words[0], kept.words[1] = kept.counter.hits, kept.counter.skips
        routines: dict[int, int] = {}
        for pc, at in checks.items():
            if pc not in placed:
                if id(at) not in routines:  # many pcs may share a check
                    routines[id(at)] = self._routine(at, generation)
                placed[pc] = self._place(at, routines[id(at)], counters, generation)
        fresh = {pc for pc, now in placed.items() if before.get(pc) is not now}
        self._placed = placed
        self._counters = list(counters.values())
        for (_, pc), index in self._entries.items() if fresh else ():
            if pc in fresh:
                self._fill(index, pc)

    def _place(
        self, at: Check, routine: int, counters: dict[int, _Kept], generation: Generation
    ) -> _Placed:
        """Place a check in memory. ``counters`` holds the counters that are already in memory, by identity; the check's
        counters are added.
        """
        own: dict[int, _Kept] = {}

        def address(counter: Counter) -> int:
            known = own.get(id(counter))
            if known is None:
                known = counters.get(id(counter))
                if known is None:
                    words = np.array((counter.hits, counter.skips), np.uint64)
                    known = counters[id(counter)] = _Kept(counter, words, int(words.ctypes.data))
                own[id(counter)] = known
            return known.address

        words = [address(condition.counter) for condition in at.conditions]
        for condition in at.conditions:
            words += (number & (1 << 64) - 1 for number in condition.cells)
        tables = self._in_memory(at.tables, address, generation) if at.tables else None
        words += self._log_address(at), tables.address if tables is not None else 0
        return _Placed(at, routine, np.array(words, np.uint64), tables, own)

    def link_again(self, generation: Generation) -> None:
        """Link the checks of the last `set` again, because the generation of their routines is gone."""
        self._functions.clear()
        self._addresses.clear()
        self.collect()
        checks = {pc: known.at for pc, known in self._placed.items()}
        self._placed = {}
        self.set(checks, generation)

    def decide(
        self, tables: Sequence[Table], lanes: int, call: Callable[[int, int], bool], generation: Generation
    ) -> list[Answers] | None:
        """Evaluate tables for one wave and its active lanes. ``call(routine, descriptor)`` calls a routine for the
        wave; if it fails, the result is ``None``. Raises `LaneExpressionError`.
        """
        made = self._in_memory(tables, lambda _: 0, generation)
        for number in range(len(tables)):
            work.unit()
            descriptor = made.descriptor(number)
            descriptor[TABLE_ACTIVE] = lanes
            if not call(int(descriptor[TABLE_ROUTINE]), int(descriptor.ctypes.data)):
                return None
        return [Answers(rows[:, ROW_HOLDS], rows[:, ROW_UNDECIDED] != 0) for rows in made.rows]

    def _in_memory(
        self, tables: Sequence[Table], counter: Callable[[Counter], int], generation: Generation
    ) -> _Tables:
        """Place tables in memory as their routines read them."""
        made = _Tables(np.zeros(1 + len(tables) * DESCRIPTOR_WORDS, np.uint64), [])
        made.words[0] = len(tables)
        for number, table in enumerate(tables):
            count, cells = table.cells.shape
            rows = np.zeros((count, ROW_HEAD + cells), np.uint64)
            rows[:, ROW_LANES], rows[:, ROW_WAVE], rows[:, ROW_HEAD:] = table.lanes, table.waves, table.cells
            rows[:, ROW_COUNTER] = [counter(each) for each in table.counters]
            made.rows.append(rows)
            descriptor = made.descriptor(number)
            descriptor[TABLE_ROUTINE] = self._table_routine(table.holds, cells, count >= _OPTIMISED, generation)
            descriptor[TABLE_ROWS], descriptor[TABLE_COUNT] = rows.ctypes.data, count
            descriptor[TABLE_STRIDE] = rows.itemsize * (ROW_HEAD + cells)
        return made

    def _table_routine(self, holds: Node, cells: int, optimised: bool, generation: Generation) -> int:
        """The native routine of a table."""
        known = self._table_names.get((id(holds), cells))
        if known is None:
            if len(self._table_names) > _MOST_NAMES:
                self._table_names.clear()
            if check(holds, self._target.vgpr_file, self._target.has_agprs) > cells:
                raise LaneExpressionError(f"{cells} cells are too few for an expression")
            name = self._jit.key("table", self._wave_size, self._target.vgpr_file, holds, cells)
            known = self._table_names[id(holds), cells] = name, holds
        name = f"{known[0]}{'o' * optimised}"

        def make() -> tuple[str, bytes]:
            from rocdbg.sim.translator.table_routine import table_text

            return table_text(f"t{name}", holds, cells, self._wave_size, self._target.vgpr_file), b""

        return self._linked(f"t{name}", name, make, optimised, generation)

    def _linked(
        self, symbol: str, name: str, make: Callable[[], tuple[str, bytes]], optimised: bool, generation: Generation
    ) -> int:
        """The address of a routine; its module is loaded if it is not."""
        address = self._addresses.get(symbol)
        if address is None:
            self._jit.load(name, make, optimised, generation)
            address = self._addresses[symbol] = generation.address(symbol)
        return address

    def collect(self) -> None:
        """Update the `Counter` objects, and append to the logs, from the data that native code has written."""
        for kept in self._counters:
            kept.counter.hits, kept.counter.skips = kept.words.tolist()
        if self._log is not None and self._collected is not None and self._collected[0]:
            self._log.words.append(self._collected[LOG_HEAD : LOG_HEAD + int(self._collected[0])].copy())
            self._collected[0] = 0

    def _log_address(self, at: Check) -> int:
        """Address of a check's log buffer (see `LOG_HEAD`), 0 if it has none."""
        logs = [condition.log for condition in at.conditions if condition.log is not None]
        if not logs:
            return 0
        if self._log is not logs[0]:
            self.collect()
            self._log = logs[0]
        if self._collected is None:
            self._collected = guarded((LOG_HEAD + LOG_WORDS) * 8).view(np.uint64)
            self._collected[1] = LOG_WORDS
        return int(self._collected.ctypes.data)

    def _fill(self, index: int, pc: int) -> None:
        self._table[index * ENTRY_WORDS + 1 : index * ENTRY_WORDS + 3] = self._placed[pc].words

    def entry(self, key: int, pc: int, generation: Generation) -> int:
        """The native function that performs the check at a pc under a MODE key; 0 if there are too many entries."""
        index = self._entries.get((key, pc))
        if index is None:
            index = len(self._entries)
            if index >= MAX_CHECK_ENTRIES:
                return 0
            self._entries[key, pc] = index
            self._table[index * ENTRY_WORDS] = 0
        self._fill(index, pc)
        if index in self._functions:
            return self._functions[index]
        first = index - index % _ENTRIES
        name = self._jit.key("check entries", self._wave_size, first, _ENTRIES)

        def make() -> tuple[str, bytes]:
            from rocdbg.sim.translator.checking import entries_text

            return entries_text(f"c{name}", first, _ENTRIES), b""

        self._jit.load(name, make, False, generation)
        self._functions[index] = generation.address(f"c{name}_{index}")
        return self._functions[index]

    def has_instruction(self, key: int, pc: int) -> bool:
        """Whether the entry knows how to execute the instruction."""
        index = self._entries.get((key, pc))
        return index is not None and bool(self._table[index * ENTRY_WORDS])

    def set_instruction(self, key: int, pc: int, function: int) -> bool:
        """Set the function that the entry calls to execute one instruction; False if there is no entry because the
        table is full.
        """
        index = self._entries.get((key, pc))
        if index is not None:
            self._table[index * ENTRY_WORDS] = function
        return index is not None

    def forget_instructions(self, gone: Callable[[int], bool] = lambda pc: True) -> None:
        """Forget the functions that execute the instructions at pcs for which ``gone`` holds."""
        for (_, pc), index in self._entries.items():
            if gone(pc):
                self._table[index * ENTRY_WORDS] = 0

    def _name(self, at: Check) -> str:
        """The name of a check's routine; also checks that there is room for its cells. Large expressions that are
        passed again as the same objects are not examined again.
        """
        nodes = [
            tuple(node for node in (c.active, c.holds, *c.values, *c.shared) if node is not None)
            for c in at.conditions
        ]
        rest = tuple(
            (c.holds is None, len(c.cells), c.lanes, c.wave, len(c.values), c.log is not None, c.tag, c.first_only)
            for c in at.conditions
        )
        nodes.append((at.active,) if at.tables and at.active is not None else ())
        key = tuple(tuple(map(id, each)) for each in nodes), rest
        known = self._names.get(key)
        if known is None:
            if len(self._names) > _MOST_NAMES:
                self._names.clear()
            known = self._names[key] = self._named(at), nodes
        return known[0]

    def _named(self, at: Check) -> str:
        for condition in at.conditions:
            needed = 0
            for node in (condition.active, condition.holds, *condition.values, *condition.shared):
                if node is not None:
                    needed = max(needed, check(node, self._target.vgpr_file, self._target.has_agprs))
            if needed > len(condition.cells):
                raise LaneExpressionError(f"{len(condition.cells)} cells for an expression that has {needed}")
        shape: list[object] = [
            (
                c.active, c.holds, len(c.cells), c.lanes, c.wave, c.values, c.shared, c.log is not None, c.tag,
                c.first_only,
            )
            for c in at.conditions
        ]
        if at.tables:
            assert at.active is not None
            if check(at.active, self._target.vgpr_file, self._target.has_agprs):
                raise LaneExpressionError("there are no cells for active lanes")
            shape.append(at.active)
        return self._jit.key("check", self._wave_size, self._target.vgpr_file, shape)

    def _routine(self, at: Check, generation: Generation) -> int:
        """The native routine of a check."""
        if len(at.conditions) > MAX_CONDITIONS:
            raise LaneExpressionError(f"{len(at.conditions)} conditions at one place")
        name = self._name(at)

        def make() -> tuple[str, bytes]:
            from rocdbg.sim.translator.checking import check_text

            return check_text(f"c{name}", at, self._wave_size, self._target.vgpr_file), b""

        return self._linked(f"c{name}", name, make, True, generation)
