"""The native text of checks at stops (`rocdbg.sim.core.checks`)."""

from __future__ import annotations

from rocdbg import work
from rocdbg.sim.core.builder import I1, I32, I64, Value
from rocdbg.sim.core.checks import ENTRY_WORDS, LOG_HEAD, Check, Condition, record_words
from rocdbg.sim.core.lane_expressions import Node
from rocdbg.sim.core.layout import ENV, WORDS, Status
from rocdbg.sim.translator.lane_code import LaneCode

_STOP, _GO = 1, 0


def check_text(name: str, at: Check, wave_size: int, vgprs: int) -> str:
    """``i32 name(ptr state, ptr env, ptr row)``: 0 if the wave continues, in which case its arrival has been counted.
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
    for number, answer in enumerate(held):
        if at.conditions[number].log is not None:
            continue
        kept = r.pointer(r.load(r.gep("%row", 8 * number), I64))
        due = r.load(answer, I64).ne(0) & r.load(r.gep(kept, 8), I64).eq(0)
        r.when(due, lambda: r.leave(_STOP))
    for number, answer in enumerate(held):
        kept = r.pointer(r.load(r.gep("%row", 8 * number), I64))

        def count(kept: str = kept) -> None:
            r.store(kept, r.load(kept, I64) + 1)
            left = r.gep(kept, 8)
            skips = r.load(left, I64)
            r.store(left, skips - skips.ne(0).zext(I64))

        r.when(r.load(answer, I64).ne(0), count)
    if ends is not None:
        r.store(r.pointer(r.load(r.gep("%row", cell), I64)), r.load(ends, I64))
    r.lines.append(f"ret i32 {_GO}")
    body = [f"define i32 @{name}(ptr %state, ptr %env, ptr %row) #0 {{", "entry:", *r.lines, "}"]
    return "\n".join([*sorted(r.declarations), *r.directed.values(), *body, "attributes #0 = { nounwind }", ""])


def _condition(r: LaneCode, condition: Condition, cell: int, answer: str) -> None:
    """Set ``answer`` to the lanes, of those that the condition is about, for which it holds."""
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


def entry_text(name: str, index: int) -> str:
    """``i32 name(ptr state, ptr env)``, like a block: checks, and executes one instruction if the check allows it."""
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
    return "\n".join([*sorted(r.declarations), *body, "attributes #0 = { nounwind }", ""])


__all__ = ["check_text", "entry_text"]
