"""The native routine of a `checks.Table`: one expression, for the lanes of a wave and for many rows of cells.

Parts that do not depend on cells are computed once for each lane, and kept in arrays. An undecided row does not prevent
the others from being decided.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocdbg.sim.core.builder import I1, I64, Type, Value
from rocdbg.sim.core.checks import (
    ANY_WAVE,
    ROW_HEAD,
    ROW_HOLDS,
    ROW_LANES,
    ROW_UNDECIDED,
    ROW_WAVE,
    TABLE_ACTIVE,
    TABLE_COUNT,
    TABLE_ROWS,
)
from rocdbg.sim.core.lane_expressions import Cell, Choose, Constant, LaneNumber, Node, children, is_uniform
from rocdbg.sim.translator.ir import scalar_type
from rocdbg.sim.translator.lane_code import LaneCode


def table_text(name: str, holds: Node, cells: int, wave_size: int, vgprs: int) -> str:
    """``i32 name(ptr state, ptr env, ptr table)``: returns 0; afterwards the rows of the table's descriptor have their
    results.
    """
    r = _TableCode(wave_size, vgprs)
    r.rows_of(holds, 8 * (ROW_HEAD + cells))
    r.lines.append("ret i32 0")
    body = [f"define i32 @{name}(ptr %state, ptr %env, ptr %table) #0 {{", "entry:", *r.lines, "}"]
    return "\n".join([*sorted(r.declarations), *r.directed.values(), *body, "attributes #0 = { nounwind }", ""])


class _TableCode(LaneCode):
    """Emits the routine. ``undecided``: the label where code continues if an expression has no value."""

    undecided = answer = ""

    def require(self, condition: Value) -> None:
        ok = self.fresh("ok")[1:]
        self.branch_if(condition, ok, self.undecided)
        self.mark(ok)

    def rows_of(self, holds: Node, stride: int) -> None:
        """Evaluate all rows, of ``stride`` bytes each."""
        first = self.pointer(self.load(self.gep("%table", 8 * TABLE_ROWS), I64))
        count = self.load(self.gep("%table", 8 * TABLE_COUNT), I64)
        active = self.load(self.gep("%table", 8 * TABLE_ACTIVE), I64)
        wave, wanted, bad, self.answer = self.state("number"), self.local(), self.local(), self.local()
        for kept in (wanted, bad):
            self.store(kept, self.const(0, I64))

        def mine(row: str) -> Value:
            """The lanes to which a row of the table applies."""
            of = self.load(self.gep(row, 8 * ROW_WAVE), I64)
            lanes = self.load(self.gep(row, 8 * ROW_LANES), I64) & active
            return (of.eq(ANY_WAVE) | of.eq(wave)).select(lanes, self.const(0, I64))

        def add(n: Value) -> None:
            self.store(wanted, self.load(wanted, I64) | mine(self.gep(first, n * stride)))

        self.for_range(count, add)
        self.begin(holds, "")
        columns = self._columns(holds, self.load(wanted, I64), bad)

        def answer(n: Value) -> None:
            row = self.gep(first, n * stride)
            self._answer(holds, row, mine(row), self.load(bad, I64), columns)

        self.for_range(count, answer)

    def is_kept(self, node: Node) -> bool:
        return is_uniform(node) and not _has_cell(node)

    def _columns(self, holds: Node, lanes: Value, bad: str) -> dict[int, tuple[Node, str]]:
        """Arrays, by identity of the node, that hold for each lane the values of parts that do not depend on cells.
        Lanes for which such a part is undecided are added to ``bad``.
        """
        found: dict[int, tuple[Node, str]] = {}
        for node in _fixed(holds):
            if id(node) not in self._kept and id(node) not in found:
                found[id(node)] = node, self._array(node.type)

        def each(lane: Value) -> None:
            self.lane, self.undecided = lane, self.fresh("undecided")[1:]
            done = self.fresh("done")[1:]
            for node, array in found.values():
                value = self.emit_node(node)
                place = self._element(array, node.type, lane)
                self.lines.append(f"store {scalar_type(node.type)} {value.ref}, ptr {place}")
            self.go(done)
            self.mark(self.undecided)
            self.store(bad, self.load(bad, I64) | self.const(1, I64).shl(lane))
            self.go(done)
            self.mark(done)

        if found:
            self.for_lanes(lanes, each)
        self.lane = None
        return found

    def _array(self, type: Type) -> str:
        name = self.fresh("array")
        self.lines.insert(0, f"{name} = alloca [64 x {scalar_type(type)}]")
        return name

    def _element(self, array: str, type: Type, lane: Value) -> str:
        pointer = self.fresh("p")
        self.lines.append(f"{pointer} = getelementptr {scalar_type(type)}, ptr {array}, i64 {lane.ref}")
        return pointer

    def _answer(
        self, holds: Node, row: str, lanes: Value, bad: Value, columns: dict[int, tuple[Node, str]]
    ) -> None:
        answer = self.answer
        before = dict(self._kept)
        self.undecided = self.fresh("undecided")[1:]
        done = self.fresh("done")[1:]
        self._cells = self.gep(row, 8 * ROW_HEAD)
        self.store(answer, self.const(0, I64))
        self.store(self.gep(row, 8 * ROW_UNDECIDED), self.const(0, I64))
        self.require((lanes & bad).eq(0))

        def each(lane: Value) -> None:
            self.lane = lane
            for identity, (node, array) in columns.items():
                self._kept[identity] = self.new(
                    node.type, True, f"load {scalar_type(node.type)}, ptr {self._element(array, node.type, lane)}"
                )
            found = self.emit_node(holds)
            assert found.type is I1
            self.store(answer, self.load(answer, I64) | found.zext(I64).shl(lane))

        self.for_lanes(lanes, each)
        self.lane, self._kept = None, before
        self.store(self.gep(row, 8 * ROW_HOLDS), self.load(answer, I64))
        self.go(done)
        self.mark(self.undecided)
        self.store(self.gep(row, 8 * ROW_UNDECIDED), self.const(1, I64))
        self.go(done)
        self.mark(done)


def _has_cell(node: Node) -> bool:
    return isinstance(node, Cell) or any(map(_has_cell, children(node)))


def _fixed(node: Node) -> Iterator[Node]:
    """The largest parts that every row computes and that have the same value in all rows. The branches of a choice are
    not among them, because the one that is not taken may have no value.
    """
    if not _has_cell(node):
        if not isinstance(node, Constant | LaneNumber) and not is_uniform(node):
            yield node
        return
    for child in (node.condition,) if isinstance(node, Choose) else children(node):
        yield from _fixed(child)


__all__ = ["table_text"]
