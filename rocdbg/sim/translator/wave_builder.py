"""The builder that records a block of instructions as one LLVM function.

Form of the code: scalar instructions are straight-line code on scalars, with SGPRs cached in SSA values; a
*run* of lane code is one loop over chunks of ``width`` lanes. VGPRs used in a run are loaded once per
chunk, live in SSA values, and are stored under EXEC at the chunk's end. Lane masks are collected chunk by
chunk into integers.

Uniform code that comes while a run is open goes before the run's loop. That is sound because values are
SSA: lane code has captured what it read. What would break it closes the run first: reading a mask the run
is collecting, writing EXEC, leaving the block.

The function is ``i32 name(ptr state, ptr env)``; it returns a `layout.Status`.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from rocdbg.sim import layout
from rocdbg.sim.builder import I1, I32, I64, INTEGER, Builder, Type, Value
from rocdbg.sim.layout import ENV, EXEC_LO, HEADER, Status
from rocdbg.sim.register_bounds import OVERFLOW, most, pack
from rocdbg.sim.semantics.access import Unsupported
from rocdbg.sim.translator.helpers import seen_by
from rocdbg.sim.translator.ir import Writer


class RunConflict(Exception):
    """Lane code wants, as a scalar, a mask that the open run is still collecting: close the run and try again."""


class LaneCodeError(Exception):
    """A semantic that does not work lane by lane asks for what lanes hold."""


class PlaceError(Unsupported):
    """A semantic names a register, or a place of the transfer buffer, that does not exist. Decoder or semantic should
    have refused the instruction; it ends here at the latest, because every place becomes an offset in host memory."""


_SCALARS = layout.EXCEPTION_MASKS + 14
"""Scalar registers by operand code, and the masks of arithmetic exceptions behind them."""


class _Run(Struct):
    """Lane code being collected."""

    exec: Value
    body: list[str] = field(default_factory=list)
    vgprs: dict[int, Value] = field(default_factory=dict)
    dirty: set[int] = field(default_factory=set)
    masks: dict[int, Value] = field(default_factory=dict)
    lane: Value | None = None

    def copy(self) -> _Run:
        return _Run(
            self.exec, list(self.body), dict(self.vgprs), set(self.dirty), dict(self.masks), self.lane
        )


class _Scalars(Struct):
    """Scalar registers held in SSA values."""

    words: dict[int, Value] = field(default_factory=dict)
    pairs: dict[int, Value] = field(default_factory=dict)
    dirty_words: set[int] = field(default_factory=set)
    dirty_pairs: set[int] = field(default_factory=set)
    scc: Value | None = None
    scc_dirty: bool = False

    def copy(self) -> _Scalars:
        return _Scalars(
            dict(self.words),
            dict(self.pairs),
            set(self.dirty_words),
            set(self.dirty_pairs),
            self.scc,
            self.scc_dirty,
        )


class WaveBuilder(Writer, Builder):
    """Records one block. Use: `begin`, then per instruction `instruction` and its semantic, then `finish`."""

    def __init__(
        self,
        wave_size: int,
        width: int,
        masked_stores: bool,
        helpers: dict[str, int],
        vgprs: int = layout.VGPR_COUNT,
        has_agprs: bool = True,
    ) -> None:
        """``vgprs``: VGPRs that instructions of the target can name; AGPRs follow them where there are some."""
        super().__init__(min(width, wave_size))
        self.wave_size = wave_size
        self.vgprs, self.has_agprs = vgprs, has_agprs
        self.masked_stores = masked_stores
        self.helpers = helpers
        self.functions: list[str] = []
        self.called: set[str] = set()
        """Routines of the runtime that the blocks call."""
        self.watched = False
        """Whether memory accesses are shown to the routines of `tracking`."""
        self._start = 0
        self._address = 0
        self._size = 0
        self._count = 0
        self.in_lane_code = False
        self.ended = False

    # -- blocks --------------------

    def begin(self, name: str, address: int, count: int, needs: int = 0) -> None:
        """Start the block at ``address``, which has ``count`` instructions and names the registers ``needs``."""
        self._counter = 0
        self._name, self._start, self._length = name, address, count
        self._count = 0
        self._scalars = _Scalars()
        self._run: _Run | None = None
        self._splats = {}
        self._tail: list[str] = []
        self._label = "head"
        self.ended = False
        self._declared, self._touched_vgprs, self._touched_agprs = needs, 0, 0
        at = HEADER
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
            f"%p.bounds = getelementptr i8, ptr %state, i64 {HEADER['register_bounds'].offset}",
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

    def done(self) -> None:
        """The instruction is recorded."""
        self._count += 1

    def snapshot(self) -> object:
        """State to `rollback` to when an instruction has to be recorded again."""
        return (
            len(self.lines), self._scalars.copy(), self._run.copy() if self._run else None, dict(self._splats),
            self._label, len(self._tail), self.ended,
        )

    def rollback(self, snapshot: object) -> None:
        assert isinstance(snapshot, tuple)
        length, self._scalars, self._run, self._splats, self._label, tail, self.ended = snapshot
        del self.lines[length:]
        del self._tail[tail:]

    def finish(self) -> None:
        """End the block; if no instruction did, it continues with the next one."""
        if not self.ended:
            self.jump(self.pc() + self._size)
        # What the block declares to need is checked as it is entered, and so is whatever else it turned out to touch.
        needs = most(self._declared, pack(self._touched_vgprs, self._touched_agprs))
        if needs:
            at = self.lines.index("br label %top")
            self.lines[at:at] = self._check_registers(needs)
        self.functions.append("\n".join([*self.lines, *self._tail, "}"]))

    # -- places in host memory --------------------

    def place(self, number: int, count: int = 1) -> int:
        """Offset in the state of ``count`` consecutive vector registers from ``number`` on (AGPR n is 256 + n).

        All offsets of vector registers that are known at translation come from here: what is named is noted as needed.
        """
        end = number + count
        last = self.vgprs if number < self.vgprs else self.vgprs + (layout.VGPR_COUNT if self.has_agprs else 0)
        if number < 0 or count < 1 or end > last:
            raise PlaceError(f"vector registers {number} to {end - 1} of {last}")
        if number < self.vgprs:
            self._touched_vgprs = max(self._touched_vgprs, end)
        else:
            self._touched_agprs = max(self._touched_agprs, end - self.vgprs)
        return layout.vgpr_offset(number, self.wave_size)

    @staticmethod
    def _scalar_place(code: int, dwords: int = 1) -> int:
        """Offset in the state of scalar registers."""
        if not 0 <= code <= _SCALARS - dwords or (code < layout.SGPR_COUNT < code + dwords):
            raise PlaceError(f"scalar registers {code} to {code + dwords - 1}")
        return layout.sgpr_offset(code)

    @staticmethod
    def _data_place(dword: int) -> int:
        """Offset in the environment of a dword of the transfer buffer."""
        if not 0 <= dword < layout.MAX_DATA:
            raise PlaceError(f"dword {dword} of the transfer buffer")
        return layout.ENV_DATA + dword * 256

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

    # -- runs --------------------

    def lane_lines(self) -> list[str]:
        if self._run is None:
            raise TypeError("a lane's value is used outside lane code")
        return self._run.body

    def lanes(self) -> None:
        self.in_lane_code = True
        if self._run is None:
            self._run = _Run(self.read_sgpr(EXEC_LO, self.wave_size // 32))

    def scalar(self) -> None:
        self.in_lane_code = False
        self._close()

    def soft_scalar(self) -> None:
        """Begin a scalar instruction: the run stays open as long as nothing needs its results."""
        self.in_lane_code = False

    def collects(self, code: int) -> bool:
        """Whether the open run is collecting a mask that shares a register with the one in SGPR ``code``."""
        return self._run is not None and any(abs(code - m) < self.wave_size // 32 for m in self._run.masks)

    def _open(self) -> _Run:
        if self._run is None:
            raise LaneCodeError
        return self._run

    def _close(self) -> None:
        run = self._run
        if run is None:
            return
        if not run.dirty and not run.masks and not any("store" in line for line in run.body):
            self._run = None
            return
        self._store_vgprs(run)
        k = self.fresh("run")[1:]
        wave, width = INTEGER[self.wave_size], self.width
        t = wave.name
        body, latch, leave = f"{k}.body", f"{k}.latch", f"{k}.exit"
        head = [
            f"br label %{k}",
            f"{k}:",
            f"%{k}.lane = phi i32 [ 0, %{self._label} ], [ %{k}.next, %{latch} ]",
        ]
        tail: list[str] = []
        results: list[tuple[int, str]] = []
        for code, bits in run.masks.items():
            acc = f"%{k}.m{code}"
            head.append(f"{acc} = phi {t} [ 0, %{self._label} ], [ {acc}.out, %{latch} ]")
            run.body += self._collect(acc, self.ref(bits, False), f"%{k}.at")
            tail.append(f"{acc}.out = phi {t} [ {acc}, %{k} ], [ {acc}.new, %{body} ]")
            results.append((code, f"{acc}.out"))
        head += [
            f"%{k}.at = zext i32 %{k}.lane to {t}"
            if self.wave_size == 64
            else f"%{k}.at = add i32 %{k}.lane, 0",
            f"%{k}.shifted = lshr {t} {run.exec.ref}, %{k}.at",
            f"%{k}.bits = trunc {t} %{k}.shifted to i{width}"
            if width < self.wave_size
            else f"%{k}.bits = add {t} %{k}.shifted, 0",
            f"%{k}.any = icmp ne i{width} %{k}.bits, 0",
            f"br i1 %{k}.any, label %{body}, label %{latch}",
            f"{body}:",
            f"%{k}.active = bitcast i{width} %{k}.bits to <{width} x i1>",
            f"%{k}.byte = mul i32 %{k}.lane, 4",
            f"%{k}.state = getelementptr i8, ptr %state, i32 %{k}.byte",
            f"%{k}.env = getelementptr i8, ptr %env, i32 %{k}.byte",
            f"%{k}.env8 = getelementptr i8, ptr %{k}.env, i32 %{k}.byte",
        ]
        tail += [
            f"%{k}.next = add i32 %{k}.lane, {width}",
            f"%{k}.more = icmp ult i32 %{k}.next, {self.wave_size}",
            f"br i1 %{k}.more, label %{k}, label %{leave}",
            f"{leave}:",
        ]
        self.lines += head
        self.lines += [line.replace("%RUN.", f"%{k}.") for line in run.body]
        self.lines += [f"br label %{latch}", f"{latch}:", *tail]
        self._label = leave
        self._run = None
        for code, name in results:
            self.write_sgpr(code, Value(self, wave, name, True))

    def _collect(self, acc: str, bits: str, at: str) -> list[str]:
        wave, width = f"i{self.wave_size}", self.width
        lines = [f"{acc}.b = bitcast <{width} x i1> {bits} to i{width}"]
        if width < self.wave_size:
            lines += [
                f"{acc}.z = zext i{width} {acc}.b to {wave}",
                f"{acc}.s = shl {wave} {acc}.z, {at}",
                f"{acc}.new = or {wave} {acc}, {acc}.s",
            ]
        else:
            lines.append(f"{acc}.new = or {wave} {acc}, {acc}.b")
        return lines

    def _store_vgprs(self, run: _Run) -> None:
        vector = f"<{self.width} x i32>"
        for number in sorted(run.dirty):
            value = self.ref(run.vgprs[number], False)
            pointer = self._vgpr_pointer(number)
            if self.masked_stores:
                name = f"llvm.masked.store.v{self.width}i32.p0"
                self.declare(name, "void", [vector, "ptr", "i32", f"<{self.width} x i1>"])
                run.body.append(
                    f"call void @{name}({vector} {value}, ptr {pointer}, i32 4, <{self.width} x i1> %RUN.active)"
                )
            else:
                old, new = self.fresh(), self.fresh()
                run.body += [
                    f"{old} = load {vector}, ptr {pointer}, align 4",
                    f"{new} = select <{self.width} x i1> %RUN.active, {vector} {value}, {vector} {old}",
                    f"store {vector} {new}, ptr {pointer}, align 4",
                ]

    def _vgpr_pointer(self, number: int) -> str:
        pointer = self.fresh("p")
        self._open().body.append(f"{pointer} = getelementptr i8, ptr %RUN.state, i64 {self.place(number)}")
        return pointer

    # -- lane state --------------------

    def lane_id(self) -> Value:
        run = self._open()
        if run.lane is None:
            first = self.fresh("i")
            vector = f"<{self.width} x i32>"
            run.body.append(f"{first} = insertelement {vector} poison, i32 %RUN.lane, i32 0")
            spread = self.new(
                I32,
                False,
                f"shufflevector {vector} {first}, {vector} poison, <{self.width} x i32> zeroinitializer",
            )
            steps = "<" + ", ".join(f"i32 {n}" for n in range(self.width)) + ">"
            run.lane = self.new(I32, False, f"add {vector} {spread.ref}, {steps}")
        return run.lane

    def lane_bit(self, mask: Value) -> Value:
        self._open()
        wave, width = f"i{self.wave_size}", self.width
        shifted, small = self.fresh(), self.fresh()
        body = self._open().body
        body.append(f"{shifted} = lshr {wave} {mask.ref}, %RUN.at")
        if width == self.wave_size:
            small = shifted
        else:
            body.append(f"{small} = trunc {wave} {shifted} to i{width}")
        return self.new(I1, False, f"bitcast i{width} {small} to <{width} x i1>")

    def active(self) -> Value:
        self._open()
        return Value(self, I1, "%RUN.active", False)

    def read_vgpr(self, number: int) -> Value:
        run = self._open()
        value = run.vgprs.get(number)
        if value is None:
            pointer = self._vgpr_pointer(number)
            value = self.new(I32, False, f"load <{self.width} x i32>, ptr {pointer}, align 4")
            run.vgprs[number] = value
        return value

    def write_vgpr(self, number: int, value: Value) -> None:
        run = self._open()
        self.place(number)
        run.vgprs[number] = value
        run.dirty.add(number)

    def _indexed_pointer(self, number: int, offset: Value) -> tuple[str, Value]:
        """Pointer to the chunk of VGPR ``number + offset`` (or of v0), and whether the wave has that register."""
        index = offset + number
        exists = index.ult(self.read_field("vgpr_limit")) & offset.ule(0x7FFFFFFF)
        byte = exists.select(index, 0).zext(I64) * (4 * self.wave_size) + layout.vgpr_offset(
            0, self.wave_size
        )
        pointer = self.fresh("p")
        self._open().body.append(f"{pointer} = getelementptr i8, ptr %RUN.state, i64 {byte.ref}")
        return pointer, exists

    def read_vgpr_at(self, number: int, offset: Value) -> Value:
        if self._open().dirty:
            raise TypeError("indexed read of registers while lane code holds changed ones")
        pointer, _ = self._indexed_pointer(number, offset)
        return self.new(I32, False, f"load <{self.width} x i32>, ptr {pointer}, align 4")

    def write_vgpr_at(self, number: int, offset: Value, value: Value) -> None:
        pointer, exists = self._indexed_pointer(number, offset)
        old = self.new(I32, False, f"load <{self.width} x i32>, ptr {pointer}, align 4")
        kept = (self.active() & exists).select(value, old)
        self._open().body.append(
            f"store <{self.width} x i32> {self.ref(kept, False)}, ptr {pointer}, align 4"
        )

    def read_lane_mask(self, code: int) -> Value:
        run = self._open()
        if code in run.masks:
            return run.masks[code]
        return self.lane_bit(self.read_sgpr(code, self.wave_size // 32))

    def write_lane_mask(self, code: int, bit: Value) -> None:
        run = self._open()
        span = self.wave_size // 32
        self._scalar_place(code, span)
        for other in list(run.masks):
            if other != code and abs(other - code) < span:
                raise RunConflict
        t = f"<{self.width} x i1>"
        run.masks[code] = self.new(I1, False, f"and {t} {self.ref(bit, False)}, %RUN.active")

    def read_data(self, dword: int) -> Value:
        pointer = self.fresh("p")
        offset = self._data_place(dword)
        self._open().body.append(f"{pointer} = getelementptr i8, ptr %RUN.env, i64 {offset}")
        return self.new(I32, False, f"load <{self.width} x i32>, ptr {pointer}, align 4")

    def write_data(self, dword: int, value: Value) -> None:
        self._store_env("%RUN.env", self._data_place(dword), value)

    def write_address(self, address: Value) -> None:
        self._store_env("%RUN.env8", layout.ENV_ADDRESS, address)

    def _store_env(self, base: str, offset: int, value: Value) -> None:
        pointer = self.fresh("p")
        name = self.ref(value, False)
        body = self._open().body
        body.append(f"{pointer} = getelementptr i8, ptr {base}, i64 {offset}")
        body.append(f"store {self.text_type(value.type, False)} {name}, ptr {pointer}, align 4")

    # -- scalar state --------------------

    def _guard(self, code: int, dwords: int) -> None:
        """Scalar access to ``dwords`` registers at ``code``: nothing the open run collects may be concerned."""
        if self._run is None:
            return
        span = self.wave_size // 32
        if any(code < m + span and m < code + dwords for m in self._run.masks):
            if self.in_lane_code:
                raise RunConflict
            self._close()

    def read_sgpr(self, code: int, dwords: int = 1) -> Value:
        self._guard(code, dwords)
        s = self._scalars
        if dwords == 2:
            return self._read_pair(code)
        word = s.words.get(code)
        if word is not None:
            return word
        if code in s.pairs:
            word = s.pairs[code].trunc(I32)
        elif code - 1 in s.pairs:
            word = s.pairs[code - 1].lshr(32).trunc(I32)
        else:
            word = self.load_state(self._scalar_place(code), I32)
        s.words[code] = word
        return word

    def _read_pair(self, code: int) -> Value:
        s = self._scalars
        pair = s.pairs.get(code)
        if pair is None:
            known = (
                code in s.words
                or code + 1 in s.words
                or code - 1 in s.dirty_pairs
                or code + 1 in s.dirty_pairs
            )
            if known:
                low, high = self.read_sgpr(code), self.read_sgpr(code + 1)
                pair = low.zext(I64) | high.zext(I64).shl(32)
            else:
                pair = self.load_state(self._scalar_place(code, 2), I64)
            s.pairs[code] = pair
        return pair

    def write_sgpr(self, code: int, value: Value) -> None:
        dwords = value.type.bits // 32
        self._scalar_place(code, dwords)
        self._guard(code, dwords)
        if self._run is not None and code < EXEC_LO + 2 and code + dwords > EXEC_LO:
            if self.in_lane_code:
                raise RunConflict
            self._close()
        s = self._scalars
        for base in (code - 1, code, code + 1) if dwords == 2 else (code - 1, code):
            if base in s.dirty_pairs and not (base == code and dwords == 2):
                for half in (base, base + 1):
                    self.read_sgpr(half)
                    s.dirty_words.add(half)
                s.dirty_pairs.discard(base)
        for base in (code - 1, code, code + 1) if dwords == 2 else (code - 1, code):
            s.pairs.pop(base, None)
            s.dirty_pairs.discard(base)
        for n in range(code, code + dwords):
            s.words.pop(n, None)
            s.dirty_words.discard(n)
        if dwords == 2:
            s.pairs[code] = value
            s.dirty_pairs.add(code)
        else:
            s.words[code] = value
            s.dirty_words.add(code)

    def read_scc(self) -> Value:
        s = self._scalars
        if s.scc is None:
            s.scc = self.load_state(HEADER["scc"].offset, I32).ne(0)
        return s.scc

    def write_scc(self, bit: Value) -> None:
        if not bit.uniform:
            raise TypeError("SCC takes a uniform value")
        self._scalars.scc, self._scalars.scc_dirty = bit, True

    def read_field(self, name: str) -> Value:
        if name == "instructions":  # memory holds the count at the block's start
            return Value(self, I64, "%count", True) + self._count
        return self.load_state(HEADER[name].offset, INTEGER[HEADER[name].size * 8])

    def write_field(self, name: str, value: Value) -> None:
        self.store_state(HEADER[name].offset, value)

    def read_env(self, name: str) -> Value:
        pointer = self._gep("%env", ENV[name].offset)
        t = INTEGER[ENV[name].size * 8]
        return self.new(t, True, f"load {t.name}, ptr {pointer}, align 4")

    def _settle(self) -> None:
        """The transfer buffer is used outside of lane code: an open run, whose code comes later, may have to read from
        it what is there now, or to write what is wanted."""
        if self._run is None:
            return
        if self.in_lane_code:
            raise RunConflict
        self._close()

    def read_transfer(self, dword: int, lane: int = 0) -> Value:
        self._settle()
        pointer = self._gep("%env", self._data_place(dword) + lane * 4)
        return self.new(I32, True, f"load i32, ptr {pointer}, align 4")

    def write_scalar_address(self, address: Value) -> None:
        self._settle()
        pointer = self._gep("%env", layout.ENV_ADDRESS)
        self.lines.append(f"store i64 {address.ref}, ptr {pointer}, align 8")

    def write_scalar_data(self, dword: int, value: Value) -> None:
        self._settle()
        pointer = self._gep("%env", self._data_place(dword))
        self.lines.append(f"store i32 {value.ref}, ptr {pointer}, align 4")

    def load_state(self, offset: int, type: Type) -> Value:
        pointer = self._gep("%state", offset)
        return self.new(type, True, f"load {type.name}, ptr {pointer}, align 4")

    def store_state(self, offset: int, value: Value) -> None:
        pointer = self._gep("%state", offset)
        self.lines.append(f"store {value.type.name} {self.ref(value, True)}, ptr {pointer}, align 4")

    def _gep(self, base: str, offset: int) -> str:
        pointer = self.fresh("p")
        self.lines.append(f"{pointer} = getelementptr i8, ptr {base}, i64 {offset}")
        return pointer

    def pc(self) -> Value:
        here = Value(self, I64, "%pc", True)
        return here + (self._address - self._start)

    def flush(self) -> None:
        """Bring the state in memory up to date with everything recorded."""
        self._close()
        s = self._scalars
        for code in sorted(s.dirty_words):
            self.store_state(layout.sgpr_offset(code), s.words[code])
        for code in sorted(s.dirty_pairs):
            self.store_state(layout.sgpr_offset(code), s.pairs[code])
        if s.scc_dirty and s.scc is not None:
            self.store_state(HEADER["scc"].offset, s.scc.zext(I32))
        s.dirty_words.clear()
        s.dirty_pairs.clear()
        s.scc_dirty = False

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

    def call(self, helper: str, args: Sequence[Value]) -> None:
        self.flush()
        self.in_lane_code = False
        self.called.add(helper)
        slot = self._gep("%env", layout.ENV_HELPERS + self.helpers[helper] * 8)
        function, status, failed = self.fresh("f"), self.fresh(), self.fresh()
        texts = ["ptr %state", "ptr %env", *(f"i64 {a.zext(I64).ref}" for a in args)]
        fault, go = self.fresh("fault")[1:], self.fresh("go")[1:]
        self.lines += [
            f"{function} = load ptr, ptr {slot}, align 8",
            f"{status} = call i32 {function}({', '.join(texts)})",
            f"{failed} = icmp ne i32 {status}, 0",
            f"br i1 {failed}, label %{fault}, label %{go}",
            f"{go}:",
        ]
        self._label = go
        if self.watched and (watcher := seen_by(helper)) is not None:
            self._show(watcher, texts)
        self._tail += [
            f"{fault}:",
            *self._leave_text(self._address, self._count),
            f"ret i32 {int(Status.FAULT)}",
        ]

    def _show(self, watcher: str, arguments: Sequence[str]) -> None:
        """Call a routine of `tracking` with an access's arguments and the instruction's pc."""
        self.called.add(watcher)
        slot = self._gep("%env", layout.ENV_HELPERS + self.helpers[watcher] * 8)
        function, at = self.fresh("f"), self.fresh()
        self.lines += [
            f"{function} = load ptr, ptr {slot}, align 8",
            f"{at} = add i64 %pc, {self._address - self._start}",
            f"call i32 {function}({', '.join([*arguments, f'i64 {at}'])})",
        ]

    def _leave_text(self, address: int, count: int) -> list[str]:
        """Text that stores pc and the instruction count on the way out."""
        at, total = self.fresh(), self.fresh()
        return [
            f"{at} = add i64 %pc, {address - self._start}",
            f"store i64 {at}, ptr %p.pc, align 8",
            f"{total} = add i64 %count, {count}",
            f"store i64 {total}, ptr %p.count, align 8",
        ]

    # -- control --------------------

    def jump(self, target: Value) -> None:
        self._end(target, Status.CONTINUE, True)

    def stop(self, status: int, target: Value | None = None, *, counted: bool = True) -> None:
        self._end(target if target is not None else self.pc() + self._size, status, counted)

    def leave_if(self, condition: Value, status: int) -> None:
        self.flush()
        self.in_lane_code = False
        leave, go = self.fresh("leave")[1:], self.fresh("go")[1:]
        self.lines += [f"br i1 {condition.ref}, label %{leave}, label %{go}", f"{go}:"]
        self._label = go
        self._tail += [
            f"{leave}:",
            *self._leave_text(self._address + self._size, self._count + 1),
            f"ret i32 {int(status)}",
        ]

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
        """A branch back to the block's own start stays in native code; the head checks the limit again."""
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
