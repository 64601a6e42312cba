"""The registers of a wave in the code of a block: SSA values that are loaded when first read and stored when needed.

SGPRs and SCC are held across the block. A *run* of lane code is one loop over chunks of ``width`` lanes: VGPRs used in
it are loaded once per chunk, live in SSA values, and are stored under EXEC at the chunk's end. Lane masks are collected
chunk by chunk into integers.

Uniform code recorded while a run is open is placed before the run's loop. This is correct because values are in SSA
form: lane code keeps the values that it has already read. Operations that would break this close the run first: reading
a mask that the run is collecting, writing EXEC, leaving the block.
"""

from __future__ import annotations

from msgspec import Struct, field

from rocdbg.sim.core import layout
from rocdbg.sim.core.builder import I1, I32, I64, INTEGER, Builder, Type, Value
from rocdbg.sim.core.layout import ENV, EXEC_LO, WORDS
from rocdbg.sim.semantics.access import Unsupported
from rocdbg.sim.translator.ir import Writer


class RunConflict(Exception):
    """Lane code reads as a scalar a mask that the open run is still collecting. The run must be closed, and the
    instruction recorded again.
    """


class LaneCodeError(Exception):
    """A semantic uses per-lane values outside lane code."""


class PlaceError(Unsupported):
    """A semantic names a register, or a place in the transfer buffer, that does not exist. The decoder or the semantic
    should have rejected the instruction. This check is the last line of defence, because every place becomes an offset
    in host memory.
    """


_SCALARS = layout.EXCEPTION_MASKS + 14
"""Scalar registers by operand code, and the masks of arithmetic exceptions after them."""


class _Run(Struct):
    """Lane code being collected."""

    exec: Value
    body: list[str] = field(default_factory=list)
    vgprs: dict[int, Value] = field(default_factory=dict)
    dirty: set[int] = field(default_factory=set)
    masks: dict[int, Value] = field(default_factory=dict)
    lane: Value | None = None

    def copy(self) -> _Run:
        return _Run(self.exec, list(self.body), dict(self.vgprs), set(self.dirty), dict(self.masks), self.lane)


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
            dict(self.words), dict(self.pairs), set(self.dirty_words), set(self.dirty_pairs), self.scc, self.scc_dirty
        )


class BlockRegisters(Writer, Builder):
    """The part of the builder that reads and writes registers and other places in host memory."""

    def __init__(self, wave_size: int, width: int, masked_stores: bool, vgprs: int, has_agprs: bool) -> None:
        """``vgprs``: number of VGPRs that instructions of the target can name; AGPRs follow them if there are any."""
        super().__init__(min(width, wave_size))
        self.wave_size = wave_size
        self.vgprs, self.has_agprs = vgprs, has_agprs
        self.masked_stores = masked_stores
        self.in_lane_code = False
        self._start = self._address = self._size = 0
        """Addresses of the block and of the current instruction, and the instruction's size."""
        self._count = 0
        """Number of the block's instructions before this one."""
        self._begin_registers()

    def _begin_registers(self) -> None:
        """Reset the record of what has been read and written."""
        self._scalars = _Scalars()
        self._run: _Run | None = None
        self._splats = {}
        self._halves: dict[str, tuple[Value, Value]] = {}
        """The two halves of 64-bit values that were put together from two dwords, by the name of the value."""
        self._label = "head"
        self._touched_vgprs = self._touched_agprs = 0

    # -- places in host memory --------------------

    def place(self, number: int, count: int = 1) -> int:
        """Offset in the state of ``count`` consecutive vector registers from ``number`` on (AGPR n is 256 + n).

        All offsets of vector registers that are known at translation time come from here, and the registers are
        recorded as needed.
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
            skipped = "" if self._all_active(run) else f"[ {acc}, %{k} ], "
            tail.append(f"{acc}.out = phi {t} {skipped}[ {acc}.new, %{body} ]")
            results.append((code, f"{acc}.out"))
        head.append(
            f"%{k}.at = zext i32 %{k}.lane to {t}" if self.wave_size == 64 else f"%{k}.at = add i32 %{k}.lane, 0"
        )
        if self._all_active(run):
            head += [f"br label %{body}", f"{body}:"]
        else:
            head += [
                f"%{k}.shifted = lshr {t} {run.exec.ref}, %{k}.at",
                f"%{k}.bits = trunc {t} %{k}.shifted to i{width}"
                if width < self.wave_size
                else f"%{k}.bits = add {t} %{k}.shifted, 0",
                f"%{k}.any = icmp ne i{width} %{k}.bits, 0",
                f"br i1 %{k}.any, label %{body}, label %{latch}",
                f"{body}:",
                *self._lanes_of_bits(f"%{k}.active", f"%{k}.shifted"),
            ]
        head += [
            f"%{k}.byte = mul i32 %{k}.lane, 4",
            f"%{k}.state = getelementptr i8, ptr %state, i32 %{k}.byte",
        ]
        if any("%RUN.env" in line for line in run.body):
            head += [
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

    def _lanes_of_bits(self, lanes: str, bits: str) -> list[str]:
        """Lines that define a vector of conditions from the lowest bits of a mask. A cast would give the same vector:
        on processors without registers for such vectors, LLVM makes the same code from it, but takes much longer.
        """
        wave, width = f"i{self.wave_size}", self.width
        if self.masked_stores:
            low = [] if width == self.wave_size else [f"{lanes}.low = trunc {wave} {bits} to i{width}"]
            return [*low, f"{lanes} = bitcast i{width} {f'{lanes}.low' if low else bits} to <{width} x i1>"]
        vector = f"<{width} x i32>"
        each = "<" + ", ".join(f"i32 {1 << n}" for n in range(width)) + ">"
        low = [f"{lanes}.low = trunc {wave} {bits} to i32"] if self.wave_size > 32 else []
        return [
            *low,
            f"{lanes}.first = insertelement {vector} poison, i32 {f'{lanes}.low' if low else bits}, i32 0",
            f"{lanes}.all = shufflevector {vector} {lanes}.first, {vector} poison, <{width} x i32> zeroinitializer",
            f"{lanes}.own = and {vector} {lanes}.all, {each}",
            f"{lanes} = icmp eq {vector} {lanes}.own, {each}",
        ]

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

    def _all_active(self, run: _Run) -> bool:
        """Whether EXEC is known to have all bits set, as where compilers spill registers of inactive lanes, too."""
        return self.constant(run.exec) == (1 << self.wave_size) - 1

    def _store_vgprs(self, run: _Run) -> None:
        vector = f"<{self.width} x i32>"
        for number in sorted(run.dirty):
            value = self.ref(run.vgprs[number], False)
            pointer = self._vgpr_pointer(number)
            if self._all_active(run):
                run.body.append(f"store {vector} {value}, ptr {pointer}, align 4")
            elif self.masked_stores:
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
            same = f"shufflevector {vector} {first}, {vector} poison, <{self.width} x i32> zeroinitializer"
            spread = self.new(I32, False, same)
            steps = "<" + ", ".join(f"i32 {n}" for n in range(self.width)) + ">"
            run.lane = self.new(I32, False, f"add {vector} {spread.ref}, {steps}")
        return run.lane

    def lane_bit(self, mask: Value) -> Value:
        self._open()
        shifted, lanes = self.fresh(), self.fresh()
        body = self._open().body
        body.append(f"{shifted} = lshr i{self.wave_size} {mask.ref}, %RUN.at")
        body += self._lanes_of_bits(lanes, shifted)
        return Value(self, I1, lanes, False)

    def active(self) -> Value:
        if self._all_active(self._open()):
            return self.const(1, I1)
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
        byte = exists.select(index, 0).zext(I64) * (4 * self.wave_size) + layout.vgpr_offset(0, self.wave_size)
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
        self._open().body.append(f"store <{self.width} x i32> {self.ref(kept, False)}, ptr {pointer}, align 4")

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
        run.masks[code] = bit & self.active()

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
        """Raise RunConflict, or close the run, if a scalar access to ``dwords`` registers at ``code`` concerns a mask
        that the open run collects.
        """
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
            pair = s.pairs[code]
            halves = self._halves.get(str(pair.ref))
            word = halves[0] if halves is not None else pair.trunc(I32)
        elif code - 1 in s.pairs:
            pair = s.pairs[code - 1]
            halves = self._halves.get(str(pair.ref))
            word = halves[1] if halves is not None else pair.lshr(32).trunc(I32)
        else:
            word = self.load_state(self._scalar_place(code), I32)
        s.words[code] = word
        return word

    def _read_pair(self, code: int) -> Value:
        s = self._scalars
        pair = s.pairs.get(code)
        if pair is None:
            if any(word in s.words for word in (code, code + 1)) or {code - 1, code + 1} & s.dirty_pairs:
                low, high = self.read_sgpr(code), self.read_sgpr(code + 1)
                pair = low.zext(I64) | high.zext(I64).shl(32)
                self._halves[str(pair.ref)] = low, high
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
            s.scc = self.load_state(WORDS["scc"].offset, I32).ne(0)
        return s.scc

    def write_scc(self, bit: Value) -> None:
        if not bit.uniform:
            raise TypeError("SCC takes a uniform value")
        self._scalars.scc, self._scalars.scc_dirty = bit, True

    def read_field(self, name: str) -> Value:
        if name == "instructions":  # memory holds the count at the block's start
            return Value(self, I64, "%count", True) + self._count
        return self.load_state(WORDS[name].offset, INTEGER[WORDS[name].size * 8])

    def write_field(self, name: str, value: Value) -> None:
        self.store_state(WORDS[name].offset, value)

    def read_env(self, name: str) -> Value:
        pointer = self._gep("%env", ENV[name].offset)
        t = INTEGER[ENV[name].size * 8]
        return self.new(t, True, f"load {t.name}, ptr {pointer}, align 4")

    def _settle(self) -> None:
        """Prepare for a use of the transfer buffer outside lane code by closing an open run. Its code would otherwise
        be placed later, although it may have to read the buffer's current contents or write what this use reads.
        """
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
        """Store everything recorded so far to the state in memory."""
        self._close()
        s = self._scalars
        for code in sorted(s.dirty_words):
            self.store_state(layout.sgpr_offset(code), s.words[code])
        for code in sorted(s.dirty_pairs):
            self.store_state(layout.sgpr_offset(code), s.pairs[code])
        if s.scc_dirty and s.scc is not None:
            self.store_state(WORDS["scc"].offset, s.scc.zext(I32))
        s.dirty_words.clear()
        s.dirty_pairs.clear()
        s.scc_dirty = False
