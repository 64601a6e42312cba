"""Native routines that evaluate expressions (`rocdbg.sim.core.lane_expressions`) for the lanes of a wave in turn.

A routine returns `UNDECIDED` at the first lane that has no value. Everything that becomes a host address is checked
first: offsets of registers when the expression is translated, addresses of memory when they are computed.
"""

from __future__ import annotations

from rocdbg.sim.core import layout
from rocdbg.sim.core.builder import I32, I64, Type, Value
from rocdbg.sim.core.lane_expressions import (
    Apply,
    Cell,
    Choose,
    Constant,
    Field,
    LaneNumber,
    Load,
    Node,
    Require,
    Scalar,
    Space,
    Vector,
    children,
    is_uniform,
)
from rocdbg.sim.core.layout import PAGE_ENTRY_SIZE, PAGE_SHIFT, PAGE_SIZE, WINDOW_SIZE
from rocdbg.sim.translator.routine import Routine

UNDECIDED = 2
"""A routine returns this if an expression has no value."""


class LaneCode(Routine):
    """Emits expressions. ``row``: pointer to the caller's cells."""

    def __init__(self, wave_size: int, vgprs: int) -> None:
        super().__init__(wave_size)
        self.vgprs = vgprs
        self.lane: Value | None = None
        self._kept: dict[int, Value] = {}
        """Values that are the same for all lanes, by identity of their node; emitted before the loop over lanes."""
        self._cells = ""
        self._scratch: Value | None = None

    # -- values that are the same for all lanes --------------------

    def begin(self, node: Node, cells: str) -> None:
        """Emit the values that an expression needs before the loop over lanes; ``cells``: pointer to its first cell."""
        self._cells, self._kept, self._scratch, self.lane = cells, {}, None, None
        if _reaches_private(node):
            self._scratch = self._host_of_scratch()
        self._keep(node)

    def is_kept(self, node: Node) -> bool:
        """Whether a value is emitted before all loops."""
        return is_uniform(node)

    def _keep(self, node: Node) -> None:
        if self.is_kept(node):
            self._kept[id(node)] = self.emit_node(node)
            return
        for child in children(node):
            if not isinstance(child, Constant):
                self._keep(child)

    def _host_of_scratch(self) -> Value:
        """Host address of the wave's private memory, 0 if it has none."""
        offset = self.state("scratch_base") - self.env("window_base")
        legal = offset.ult(WINDOW_SIZE) & self.state("scratch_size").ne(0)
        entry = self._entry(legal.select(offset, self.const(0, I64)))
        host = self.load(self.gep(entry, 0), I64) + (offset & PAGE_SIZE - 1)
        return legal.select(host, self.const(0, I64))

    def _entry(self, offset: Value) -> str:
        """The page table's entry for an offset in the window."""
        return self.pointer(self.env("page_table") + offset.lshr(PAGE_SHIFT) * PAGE_ENTRY_SIZE)

    # -- expressions --------------------

    def emit_node(self, node: Node) -> Value:
        """The value of an expression for `lane`."""
        kept = self._kept.get(id(node))
        if kept is not None:
            return kept
        match node:
            case Constant(type, number):
                return self.const(number, type)
            case LaneNumber():
                return self._lane()
            case Field(name):
                value = self.state(name)
                return value if value.type is I64 else value.zext(I64)
            case Scalar(code):
                return self.load(self.gep("%state", layout.sgpr_offset(code)), I32)
            case Vector(number, accumulator, lane):
                return self._vector(number + (layout.VGPR_COUNT if accumulator else 0), lane)
            case Cell(index):
                return self.load(self.gep(self._cells, 8 * index), I64)
            case Load(type, space, address):
                return self._load(type, space, self.emit_node(address))
            case Apply(op, type, operands):
                return self.emit(op, type, [self.emit_node(operand) for operand in operands])
            case Require(condition, value):
                self.require(self.emit_node(condition))
                return self.emit_node(value)
            case Choose(condition, yes, no):
                return self._choose(self.emit_node(condition), yes, no)

    def _lane(self) -> Value:
        assert self.lane is not None, "a lane's value is asked for outside the loop over lanes"
        return self.lane

    def require(self, condition: Value) -> None:
        """Emit a return of `UNDECIDED` unless a condition holds."""
        ok, bad = self.fresh("ok")[1:], self.fresh("undecided")[1:]
        self.branch_if(condition, ok, bad)
        self.mark(bad)
        self.lines.append(f"ret i32 {UNDECIDED}")
        self.mark(ok)

    def _choose(self, condition: Value, yes: Node, no: Node) -> Value:
        labels = [self.fresh(name)[1:] for name in ("yes", "no", "chosen")]
        self.branch_if(condition, labels[0], labels[1])
        ways: list[tuple[Value, str]] = []
        for label, node in ((labels[0], yes), (labels[1], no)):
            self.mark(label)
            value = self.emit_node(node)
            ways.append((value, self.label))
            self.go(labels[2])
        self.mark(labels[2])
        texts = ", ".join(f"[ {value.ref}, %{label} ]" for value, label in ways)
        type_ = ways[0][0].type
        return self.new(type_, True, f"phi {self.text_type(type_, True)} {texts}")

    def _vector(self, number: int, lane: Node | None) -> Value:
        base = layout.vgpr_offset(number, self.wave_size)
        if lane is None:
            which = self._lane()
        else:
            which = self.emit_node(lane)
            self.require(which.ult(self.wave_size))
        return self.load(self.gep("%state", which.shl(2) + base), I32)

    # -- memory --------------------

    def _load(self, type: Type, space: Space, address: Value) -> Value:
        size = type.bits // 8
        if space is Space.FLAT:
            pointer, stride, legal = self._flat(address, size)
        elif space is Space.LDS:
            pointer, stride, legal = self._lds(address, size)
        elif space is Space.LANE:
            pointer, stride, legal = self._private(address, size)
        elif space is Space.GLOBAL:
            pointer, legal = self._global(address, size)
            stride = self.const(4, I64)
        else:
            pointer, stride = self._private_base() + address, self.const(4, I64)
            legal = self._within(address, size, self.state("scratch_size"))
        self.require(legal)
        if size < 8:
            return self.load(self.pointer(pointer), type)
        low = self.load(self.pointer(pointer), I32).zext(I64)
        return low | self.load(self.pointer(pointer + stride), I32).zext(I64).shl(32)

    @staticmethod
    def _within(start: Value, size: int, limit: Value) -> Value:
        return start.ule(limit) & (start + size).ule(limit)

    def _lds(self, address: Value, size: int) -> tuple[Value, Value, Value]:
        legal = self._within(address, size, self.state("lds_size").zext(I64))
        return self.state("lds_pointer") + address, self.const(4, I64), legal

    def _private_base(self) -> Value:
        assert self._scratch is not None
        return self._scratch

    def _private(self, address: Value, size: int) -> tuple[Value, Value, Value]:
        """Translate a private address. An access that is not aligned and crosses into the next dword is undecided."""
        whole = (address & 3).ule(4 - size) if size <= 4 else (address & 3).eq(0)
        limit = self.state("scratch_size").lshr(self.wave_size.bit_length() - 1)
        legal = self._within(address, size, limit) & whole
        row = address.lshr(2) * (4 * self.wave_size) + self._lane().shl(2) + (address & 3)
        return self._private_base() + row, self.const(4 * self.wave_size, I64), legal

    def _global(self, address: Value, size: int) -> tuple[Value, Value]:
        offset = address - self.env("window_base")
        inside = offset.ult(WINDOW_SIZE)
        entry = self._entry(inside.select(offset, self.const(0, I64)))
        host, low, high = (self.load(self.gep(entry, n * 8), I64) for n in range(3))
        within = offset & PAGE_SIZE - 1
        return host + within, inside & low.ule(within) & (within + size).ule(high)

    def _flat(self, address: Value, size: int) -> tuple[Value, Value, Value]:
        high, low = address.lshr(32), address & 0xFFFFFFFF
        shared = high.eq(self.env("shared_aperture").lshr(32))
        private = high.eq(self.env("private_aperture").lshr(32))
        pointer, legal = self._global(address, size)
        lds, _, lds_legal = self._lds(low, size)
        mine, stride, mine_legal = self._private(low, size)
        return (
            shared.select(lds, private.select(mine, pointer)),
            private.select(stride, self.const(4, I64)),
            shared.select(lds_legal, private.select(mine_legal, legal)),
        )


def _reaches_private(node: Node) -> bool:
    if isinstance(node, Load) and node.space not in (Space.LDS, Space.GLOBAL):
        return True
    return any(_reaches_private(child) for child in children(node))


__all__ = ["UNDECIDED", "LaneCode"]
