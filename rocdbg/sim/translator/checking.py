"""The native text of checks at stops (`rocdbg.sim.core.checks`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rocdbg import work
from rocdbg.sim.core.builder import I1, I32, I64, Value
from rocdbg.sim.core.checks import (
    DESCRIPTOR_WORDS,
    ENTRY_WORDS,
    LOG_HEAD,
    ROW_COUNTER,
    ROW_HOLDS,
    ROW_UNDECIDED,
    TABLE_ACTIVE,
    TABLE_COUNT,
    TABLE_ROUTINE,
    TABLE_ROWS,
    TABLE_STRIDE,
    Check,
    Condition,
    record_words,
)
from rocdbg.sim.core.lane_expressions import Node
from rocdbg.sim.core.layout import ENV, WORDS, Status
from rocdbg.sim.translator.lane_code import UNDECIDED, LaneCode

_STOP, _GO = 1, 0
_ATTRIBUTES = "attributes #0 = { nounwind }\n"


def check_text(name: str, at: Check, wave_size: int, vgprs: int) -> str:
    """``i32 name(ptr state, ptr env, ptr row)``: returns 0 if the wave continues, in which case its arrival has been
    counted.
    """
    r = LaneCode(wave_size, vgprs)
    held: list[str] = []
    cell = 8 * len(at.conditions)
    for condition in at.conditions:
        work.unit()
        answer = r.local()
        r.store(answer, r.const(0, I64))
        held.append(answer)
        _condition(r, condition, cell, answer)
        cell += 8 * len(condition.cells)
    ends = _collect(r, at, held, cell) if any(c.log is not None for c in at.conditions) else None
    if at.tables:
        _look_at_tables(r, at, cell + 8)
    for number, answer in enumerate(held):
        if at.conditions[number].log is not None:
            continue
        kept = r.pointer(r.load(r.gep("%row", 8 * number), I64))
        due = r.load(answer, I64).ne(0) & r.load(r.gep(kept, 8), I64).eq(0)
        r.when(due, lambda: r.leave(_STOP))
    for number, answer in enumerate(held):
        kept = r.pointer(r.load(r.gep("%row", 8 * number), I64))

        r.when(r.load(answer, I64).ne(0), partial(_count, r, kept))
    if at.tables:
        _each_row(r, cell + 8, lambda row: _count_row(r, row))
    if ends is not None:
        r.store(r.pointer(r.load(r.gep("%row", cell), I64)), r.load(ends, I64))
    r.lines.append(f"ret i32 {_GO}")
    body = [f"define i32 @{name}(ptr %state, ptr %env, ptr %row) #0 {{", "entry:", *r.lines, "}"]
    return "\n".join([*sorted(r.declarations), *r.directed.values(), *body, _ATTRIBUTES])


def _condition(r: LaneCode, condition: Condition, cell: int, answer: str) -> None:
    """Set ``answer`` to the lanes for which a condition holds, among the lanes to which it applies."""
    cells = r.gep("%row", cell)
    r.begin(condition.active, cells)
    lanes = r.emit_node(condition.active) & condition.lanes
    if condition.wave is not None:
        lanes = r.state("number").eq(condition.wave).select(lanes, r.const(0, I64))
    if condition.holds is None:
        r.store(answer, lanes)
        return
    holds = condition.holds
    r.begin(holds, cells)

    def each(lane: Value) -> None:
        r.lane = lane
        found = r.emit_node(holds)
        assert found.type is I1
        r.store(answer, r.load(answer, I64) | found.zext(I64).shl(lane))

    r.for_lanes(lanes, each)
    r.lane = None


def _look_at_tables(r: LaneCode, at: Check, place: int) -> None:
    """Call the tables' routines, and leave if a row is undecided or stops the wave. ``place`` is the offset, in the
    check's row, of the address of its descriptors.
    """
    assert at.active is not None
    r.begin(at.active, "%row")
    active = r.emit_node(at.active)

    def answer(table: str) -> None:
        r.store(r.gep(table, 8 * TABLE_ACTIVE), active)
        routine = r.pointer(r.load(r.gep(table, 8 * TABLE_ROUTINE), I64))
        r.new(I32, True, f"call i32 {routine}(ptr %state, ptr %env, ptr {table})")

    _each_table(r, place, answer)

    def look(row: str) -> None:
        r.when(r.load(r.gep(row, 8 * ROW_UNDECIDED), I64).ne(0), lambda: r.leave(UNDECIDED))
        skips = r.load(r.gep(r.pointer(r.load(r.gep(row, 8 * ROW_COUNTER), I64)), 8), I64)
        r.when(r.load(r.gep(row, 8 * ROW_HOLDS), I64).ne(0) & skips.eq(0), lambda: r.leave(_STOP))

    _each_row(r, place, look)


def _count_row(r: LaneCode, row: str) -> None:
    counter = r.pointer(r.load(r.gep(row, 8 * ROW_COUNTER), I64))
    r.when(r.load(r.gep(row, 8 * ROW_HOLDS), I64).ne(0), lambda: _count(r, counter))


def _count(r: LaneCode, counter: str) -> None:
    r.store(counter, r.load(counter, I64) + 1)
    left = r.gep(counter, 8)
    skips = r.load(left, I64)
    r.store(left, skips - skips.ne(0).zext(I64))


def _each_table(r: LaneCode, place: int, body: Callable[[str], None]) -> None:
    """Run ``body`` for the descriptor of each of a check's tables."""
    head = r.pointer(r.load(r.gep("%row", place), I64))
    r.for_range(r.load(head, I64), lambda n: body(r.gep(head, n * (8 * DESCRIPTOR_WORDS) + 8)))


def _each_row(r: LaneCode, place: int, body: Callable[[str], None]) -> None:
    """Run ``body`` for each row of a check's tables."""

    def rows(table: str) -> None:
        first = r.pointer(r.load(r.gep(table, 8 * TABLE_ROWS), I64))
        stride = r.load(r.gep(table, 8 * TABLE_STRIDE), I64)
        r.for_range(r.load(r.gep(table, 8 * TABLE_COUNT), I64), lambda n: body(r.gep(first, n * stride)))

    _each_table(r, place, rows)


def _collect(r: LaneCode, at: Check, held: list[str], last: int) -> str:
    """Write the records of conditions that collect; returns a pointer to the log's count of words. The count is not
    updated yet, so a routine that leaves early has collected nothing."""
    log = r.pointer(r.load(r.gep("%row", last), I64))
    used = r.local()
    r.store(used, r.load(log, I64))
    most = sum(record_words(c, r.wave_size) for c in at.conditions if c.log is not None)
    r.when((r.load(used, I64) + most).ugt(r.load(r.gep(log, 8), I64)), lambda: r.leave(_STOP))
    cell = 8 * len(at.conditions)

    def put(value: Value) -> None:
        at_word = r.load(used, I64)
        r.store(r.gep(log, (at_word + LOG_HEAD) * 8), value)
        r.store(used, at_word + 1)

    for number, condition in enumerate(at.conditions):
        if condition.log is not None:
            lanes = r.load(held[number], I64)
            if condition.first_only:
                lanes = lanes & (r.const(0, I64) - lanes)
            kept = r.pointer(r.load(r.gep("%row", 8 * number), I64))

            def record(condition: Condition = condition, lanes: Value = lanes, cell: int = cell) -> None:
                for word in (r.const(condition.tag, I64), r.state("number"), r.state("instructions"), lanes):
                    put(word)
                for value in condition.shared:
                    r.begin(value, r.gep("%row", cell))
                    put(r.emit_node(value))
                for value in condition.values:
                    r.begin(value, r.gep("%row", cell))

                    def each(lane: Value, value: Node = value) -> None:
                        r.lane = lane
                        put(r.emit_node(value))

                    r.for_lanes(lanes, each)
                    r.lane = None

            r.when(lanes.ne(0) & r.load(r.gep(kept, 8), I64).eq(0), record)
        cell += 8 * len(condition.cells)
    return used


def entries_text(name: str, first: int, count: int) -> str:
    """The functions ``name_N`` of ``count`` entries, which are numbered from ``first`` on."""
    return "\n".join([*(_entry_text(f"{name}_{n}", n) for n in range(first, first + count)), _ATTRIBUTES])


def _entry_text(name: str, index: int) -> str:
    """``i32 name(ptr state, ptr env)``, callable like a block. It performs the check, and executes one instruction if
    the wave does not stop.
    """
    r = LaneCode(64, 0)
    state = {word: r.gep("%state", WORDS[word].offset) for word in ("instructions", "limit")}
    entry = r.gep(r.pointer(r.load(r.gep("%env", ENV["checks"].offset), I64)), index * 8 * ENTRY_WORDS)
    instruction, routine, row = (r.load(r.gep(entry, 8 * n), I64) for n in range(ENTRY_WORDS))
    left = r.load(state["instructions"], I64).ult(r.load(state["limit"], I64))
    r.when(~left, lambda: r.leave(int(Status.BUDGET)))
    r.when(instruction.eq(0), lambda: r.leave(int(Status.MISS)))
    decided = r.new(I32, True, f"call i32 {r.pointer(routine)}(ptr %state, ptr %env, ptr {r.pointer(row)})")
    r.when(decided.ne(_GO), lambda: r.leave(int(Status.BREAK)))
    status = r.new(I32, True, f"call i32 {r.pointer(instruction)}(ptr %state, ptr %env)")
    refused = status.eq(int(Status.REGISTERS))
    r.lines.append(f"ret i32 {refused.select(r.const(int(Status.ILLEGAL), I32), status).ref}")
    body = [f"define i32 @{name}(ptr %state, ptr %env) #0 {{", "entry:", *r.lines, "}"]
    assert not r.declarations
    return "\n".join(body)


__all__ = ["check_text", "entries_text"]
