"""The builder that records a block of instructions as one LLVM function.

Scalar instructions become straight-line code on scalars, runs of lane code become loops over lanes (`block_registers`),
and anything beyond a few operations becomes a call of a routine (`block_calls`).

The function is ``i32 name(ptr state, ptr env)``; it returns a `layout.Status`.
"""

from __future__ import annotations

from collections.abc import Sequence

from rocdbg.sim.core import layout
from rocdbg.sim.core.builder import I32, I64, Value
from rocdbg.sim.core.layout import WORDS, Status
from rocdbg.sim.core.register_bounds import OVERFLOW, most, pack
from rocdbg.sim.translator.block_calls import BlockCalls


class WaveBuilder(BlockCalls):
    """Records one block. Call `begin`; then, for each instruction, `instruction` and its semantic; then `finish`."""

    def __init__(
        self,
        wave_size: int,
        width: int,
        masked_stores: bool,
        helpers: dict[str, int],
        vgprs: int = layout.VGPR_COUNT,
        has_agprs: bool = True,
    ) -> None:
        super().__init__(wave_size, width, masked_stores, helpers, vgprs, has_agprs)
        self.functions: list[str] = []
        self.ended = False

    # -- blocks --------------------

    def begin(self, name: str, address: int, count: int, needs: int = 0) -> None:
        """Start the block at ``address``, which has ``count`` instructions and names the registers ``needs``."""
        self._counter = 0
        self._name, self._start, self._length = name, address, count
        self._count = 0
        self._begin_registers()
        self._tail = []
        self.ended = False
        self._declared = needs
        at = WORDS
        self.lines = [
            f"define i32 @{name}(ptr %state, ptr %env) #0 {{",
            "entry:",
            f"%p.pc = getelementptr i8, ptr %state, i64 {at['pc'].offset}",
            f"%p.count = getelementptr i8, ptr %state, i64 {at['instructions'].offset}",
            f"%p.limit = getelementptr i8, ptr %state, i64 {at['limit'].offset}",
            "%pc = load i64, ptr %p.pc, align 8",
            "%limit = load i64, ptr %p.limit, align 8",
            "br label %top",
            "top:",
            "%count = load i64, ptr %p.count, align 8",
            f"%count.end = add i64 %count, {count}",
            "%over = icmp ugt i64 %count.end, %limit",
            "br i1 %over, label %budget, label %head",
            "budget:",
            f"ret i32 {int(Status.BUDGET)}",
            "head:",
        ]

    @staticmethod
    def _check_registers(needs: int) -> list[str]:
        return [
            f"%p.bounds = getelementptr i8, ptr %state, i64 {WORDS['register_bounds'].offset}",
            "%bounds = load i64, ptr %p.bounds, align 8",
            f"%needed = add i64 %bounds, {needs}",
            f"%excess = and i64 %needed, {OVERFLOW}",
            "%too.many = icmp ne i64 %excess, 0",
            "br i1 %too.many, label %registers, label %enough",
            "registers:",
            f"ret i32 {int(Status.REGISTERS)}",
            "enough:",
        ]

    def instruction(self, address: int, size: int) -> None:
        """Start the next instruction of the block."""
        self._address, self._size = address, size
        self._forget_accesses()

    def done(self) -> None:
        """Note that the instruction is recorded."""
        self._count += 1

    def snapshot(self) -> object:
        """State to `rollback` to if an instruction must be recorded again."""
        return (
            len(self.lines), self._scalars.copy(), self._run.copy() if self._run else None, dict(self._splats),
            self._label, len(self._tail), self.ended,
        )

    def rollback(self, snapshot: object) -> None:
        assert isinstance(snapshot, tuple)
        length, self._scalars, self._run, self._splats, self._label, tail, self.ended = snapshot
        del self.lines[length:]
        del self._tail[tail:]
        self._forget_accesses()

    def finish(self) -> None:
        """End the block. If its last instruction does not leave the block, control continues at the next instruction.
        """
        if not self.ended:
            self.jump(self.pc() + self._size)
        # On entry the block checks the register needs that it declared, and everything else that it turned out to use.
        needs = most(self._declared, pack(self._touched_vgprs, self._touched_agprs))
        if needs:
            at = self.lines.index("br label %top")
            self.lines[at:at] = self._check_registers(needs)
        self.functions.append("\n".join([*self.lines, *self._tail, "}"]))

    def module(self) -> str:
        """Text of the module with all finished blocks."""
        bits = self.width * 32
        attributes = (
            f'attributes #0 = {{ nounwind "min-legal-vector-width"="{bits}" "prefer-vector-width"="{bits}" }}\n'
            f'attributes #1 = {{ nounwind noinline strictfp "min-legal-vector-width"="{bits}" '
            f'"prefer-vector-width"="{bits}" }}\nattributes #2 = {{ strictfp }}'
        )
        functions = [*self.directed.values(), *self.functions]
        return "\n".join([*sorted(self.declarations), *functions, attributes, ""])

    # -- whole-wave primitives --------------------

    def _vgpr_lane_pointer(self, vgpr: int, lane: Value) -> str:
        self._close()
        byte = (lane & self.wave_size - 1).zext(I64).shl(2) + self.place(vgpr)
        pointer = self.fresh("p")
        self.lines.append(f"{pointer} = getelementptr i8, ptr %state, i64 {byte.ref}")
        return pointer

    def read_lane(self, vgpr: int, lane: Value) -> Value:
        pointer = self._vgpr_lane_pointer(vgpr, lane)
        return self.new(I32, True, f"load i32, ptr {pointer}, align 4")

    def write_lane(self, vgpr: int, lane: Value, value: Value) -> None:
        pointer = self._vgpr_lane_pointer(vgpr, lane)
        self.lines.append(f"store i32 {self.ref(value, True)}, ptr {pointer}, align 4")

    def shuffle(self, vgpr: int, sources: Sequence[int | None], dword: int) -> None:
        self._close()
        vector = f"<{self.wave_size} x i32>"
        source = self._gep("%state", self.place(vgpr))
        target = self._gep("%env", self._data_place(dword))
        old, new = self.fresh(), self.fresh()
        self.lines += [
            f"{old} = load {vector}, ptr {source}, align 4",
            f"{new} = shufflevector {vector} {old}, {vector} zeroinitializer, {self._shuffle_mask(sources)}",
            f"store {vector} {new}, ptr {target}, align 4",
        ]

    def permute_mask(self, mask: Value, sources: Sequence[int | None]) -> Value:
        n = self.wave_size
        bits, moved = self.fresh(), self.fresh()
        self.lines += [
            f"{bits} = bitcast i{n} {mask.ref} to <{n} x i1>",
            f"{moved} = shufflevector <{n} x i1> {bits}, <{n} x i1> zeroinitializer, {self._shuffle_mask(sources)}",
        ]
        return self.new(self.mask_type, True, f"bitcast <{n} x i1> {moved} to i{n}")

    def _shuffle_mask(self, sources: Sequence[int | None]) -> str:
        picks = ", ".join(f"i32 {self.wave_size if s is None else s}" for s in sources)
        return f"<{self.wave_size} x i32> <{picks}>"

    # -- control --------------------

    def jump(self, target: Value) -> None:
        self._end(target, Status.CONTINUE, True)

    def stop(self, status: int, target: Value | None = None, *, counted: bool = True) -> None:
        self._end(target if target is not None else self.pc() + self._size, status, counted)

    def _end(self, target: Value, status: int, counted: bool) -> None:
        self.flush()
        extra = self._length_so_far(counted)
        total = self.fresh()
        self.lines += [
            f"store i64 {target.ref}, ptr %p.pc, align 8",
            f"{total} = add i64 %count, {extra}",
            f"store i64 {total}, ptr %p.count, align 8",
            f"ret i32 {int(status)}",
        ]
        self.ended = True

    def _length_so_far(self, counted: bool) -> int:
        return min(self._count + (1 if counted else 0), self._length)

    def branch(self, condition: Value | None, target: int) -> None:
        there = Value(self, I64, "%pc", True) + (target - self._start)
        if condition is None:
            if target == self._start:
                self._loop(None)
            else:
                self.jump(there)
            return
        following = self.pc() + self._size
        if target == self._start:
            self._loop(condition)
        else:
            self.jump(condition.select(there, following))

    def _loop(self, condition: Value | None) -> None:
        """Emit a branch back to the block's own start. It stays in the block's function, whose head checks the budget
        again.
        """
        self.flush()
        self.lines.append("store i64 %count.end, ptr %p.count, align 8")
        if condition is None:
            self.lines.append("br label %top")
        else:
            following = self.pc() + self._size
            leave = self.fresh("leave")[1:]
            self.lines += [
                f"br i1 {condition.ref}, label %top, label %{leave}",
                f"{leave}:",
                f"store i64 {following.ref}, ptr %p.pc, align 8",
                f"ret i32 {int(Status.CONTINUE)}",
            ]
        self.ended = True
