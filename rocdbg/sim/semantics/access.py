"""The argument of a semantic. It gives the instruction's operands as typed values, with all modifiers applied.

``src(k)`` counts the *sources* of the encoding: 0 is src0/ssrc0, 1 is src1/vsrc1/ssrc1, 2 is src2;
``dst(0)`` is vdst (or sdst where there is no vdst), ``dst(1)`` the sdst beside a vdst (carry out). For
fmaak/fmamk forms the literal is a source in text order. A source that the text does not show (src2 of fmac,
vcc of cndmask_e32) is found where the encoding implies it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.isa.instruction import Instruction, Operand, OperandKind
from rocdbg.sim.core.builder import F16, F32, F64, FLOAT, I1, I8, I16, I32, I64, Builder, Op, Type, Value
from rocdbg.sim.core.builder import Operand as ValueOrNumber
from rocdbg.sim.core.layout import EXEC_LO, SCRATCH_ADDRESSES, SGPR_COUNT, VCC_LO, VGPR_COUNT, Mode

if TYPE_CHECKING:
    from rocdbg.arch.targets import Generation, Target
    from rocdbg.sim.semantics.exceptions import Watch

DESTINATIONS = frozenset(("vdst", "sdst", "vdstx", "vdsty"))
SOURCES = (
    "src0",
    "vsrc0",
    "ssrc0",
    "sdata",
    "vsrc1",
    "src1",
    "ssrc1",
    "src2",
    "literal",
    "src0x",
    "vsrc1x",
    "src0y",
    "vsrc1y",
)
_NULL_GFX10, _NULL_GFX11 = 125, 124
LDS_DIRECT = 254
"""Operand code of the LDS element that M0 selects, before gfx90a and GFX11."""
INDEX_BIT = {"src0": 0, "vsrc0": 0, "src1": 1, "vsrc1": 1, "src2": 2, "vdst": 3}
"""Which bit of M0[15:12] makes an operand's register number relative, in vector arithmetic."""

_TRANSCENDENTAL = re.compile(r"v_(s_)?(rcp|rsq|sqrt|exp|log|sin|cos)_")
"""Names of instructions that round to nearest in every MODE."""
_EXPONENT = {16: 0x7C00, 32: 0x7F800000, 64: 0x7FF << 52}
"""The exponent field of a float with this many bits."""


class Context(Struct, frozen=True):
    """The static facts under which a block is translated."""

    target: Target
    wave_size: int
    mode: Mode
    exceptions: bool = False
    """Whether instructions record the arithmetic exceptions that they raise (`rocdbg.sim.semantics.exceptions`)."""
    watching: bool = False
    """Whether watched words are compared after instructions that may change them (`rocdbg.sim.core.watched_words`)."""
    touching: bool = False
    """Whether every access is compared, too."""
    noted: bool = False
    """Whether each store must be a call of a routine, so that it can be recorded (`translator.store_notes`)."""

    @property
    def generation(self) -> Generation:
        return self.target.generation

    @property
    def m0(self) -> int:
        """Operand code of M0."""
        return 125 if self.generation >= 11 else 124

    @property
    def null(self) -> int:
        """Operand code of NULL, or -1."""
        if self.generation < 10:
            return -1
        return _NULL_GFX11 if self.generation >= 11 else _NULL_GFX10


class Unsupported(Exception):
    """A semantic raises this if it cannot be exact for this form of the instruction. A wave that reaches the
    instruction stops with UNSUPPORTED.
    """


def vector_number(operand: Operand, dwords: int = 1) -> int:
    """The builder's number of the first of ``dwords`` vector registers of an operand: AGPR n is 256 + n. Raises an
    error for an operand that is not a vector register, or has fewer dwords."""
    if operand.kind not in (OperandKind.VGPR, OperandKind.AGPR):
        raise Unsupported(f"operand {operand.text} is not a vector register")
    if dwords > operand.dwords:
        raise Unsupported(f"operand {operand.text} does not have {dwords} registers")
    return operand.index + (VGPR_COUNT if operand.kind is OperandKind.AGPR else 0)


class Access:
    """Operands and state as an instruction's semantic sees them."""

    def __init__(self, builder: Builder, insn: Instruction, context: Context) -> None:
        self.b = builder
        self.insn = insn
        self.context = context
        self.sources = tuple(o for o in insn.operands if o.name in SOURCES)
        self.destinations = tuple(o for o in insn.operands if o.name in DESTINATIONS)
        if "sdst" in (o.name for o in self.destinations) and any(o.name == "vdst" for o in self.destinations):
            self.destinations = tuple(sorted(self.destinations, key=lambda o: o.name == "sdst"))
        self.write_mask: Value | None = None
        """The lanes that a DPP form may write (uniform mask), in addition to the restriction by EXEC; None for all."""
        self.dpp_source: int | None = None
        """The dword of the transfer buffer that holds src0 with permuted lanes (DPP forms)."""
        self.dpp_valid: Value | None = None
        """The lanes whose permuted src0 is valid and is not read as 0 (DPP forms); None for all."""
        self.lds_direct: Value | None = None
        """The element of LDS that M0 selects, I32, if that is src0."""
        self.watch: Watch | None = None
        """Collects arithmetic exceptions if `Context.exceptions` is set."""
        builder.keeps_signaling = context.generation < 12 and not context.mode.ieee
        self._write_indexed = False
        self._infinite: Value | None = None
        """Whether a float source was infinite (I1), which is recorded if FP16_OVFL is set."""

    # -- static facts --------------------

    @property
    def name(self) -> str:
        return self.insn.name

    @property
    def generation(self) -> Generation:
        return self.context.generation

    @property
    def target(self) -> Target:
        return self.context.target

    @property
    def wave_size(self) -> int:
        return self.context.wave_size

    @property
    def mode(self) -> Mode:
        return self.context.mode

    def modifier(self, name: str, default: int = 0) -> int:
        """An integer control field of the instruction."""
        value = self.insn.modifiers.get(name, default)
        if not isinstance(value, int):
            raise TypeError(f"modifier {name} of {self.insn.text} is not an integer")
        return value

    @property
    def clamp(self) -> bool:
        """The clamp bit. `dst` applies it to float results; integer semantics saturate themselves."""
        return bool(self.modifier("clamp"))

    def imm(self, name: str = "simm16") -> int:
        """An immediate field, unsigned as encoded."""
        operand = self.insn.operand(name)
        if operand is None:
            raise TypeError(f"{self.insn.text} has no operand {name}")
        return operand.value

    @property
    def simm16(self) -> int:
        """The signed 16-bit immediate."""
        value = self.imm() & 0xFFFF
        return value - 0x10000 if value & 0x8000 else value

    def const(self, value: int | float, type: Type = I32) -> Value:
        return self.b.const(value, type)

    # -- sources --------------------

    def src(self, k: int, type: Type = I32, *, flush: bool | None = None) -> Value:
        """Source ``k``: modifiers applied (abs, neg, sext, op_sel, SDWA and DPP selection, constants).

        16-bit types read the low half, or the half that op_sel, SDWA or a true16 register names. Float sources are
        flushed (subnormal to zero) as MODE says unless ``flush=False``. I1 is not a register type: see `src_mask`.
        """
        operand = self.sources[k]
        raw = self._integer(operand, type.bits, k)
        return self._modify(operand, raw, type, flush)

    def raw_operand(self, operand: Operand, bits: int = 32) -> Value:
        """Any register or constant operand as an integer of 8, 16, 32 or 64 bits, without source modifiers."""
        return self._register(operand, bits)

    def src_half(self, k: int, half: int, type: Type = F16, *, flush: bool | None = None) -> Value:
        """The half of packed source ``k`` used for result half ``half`` (0 low, 1 high): op_sel/op_sel_hi and
        neg_lo/neg_hi.

        16-bit types take a half of the dword; 32-bit types a dword of the pair (v_pk_*_f32).
        """
        select = self.modifier("op_sel_hi" if half else "op_sel") >> k & 1
        operand = self.sources[k]
        if type.bits == 32:
            if operand.kind in (OperandKind.CONSTANT, OperandKind.LITERAL):
                raw = self.b.const(
                    operand.value >> (32 * select if operand.bits > 32 or operand.dwords > 1 else 0), I32
                )
            else:
                raw = self.dword(operand, select)
        else:
            raw = (
                self._register(operand, 32).lshr(16 * select).trunc(I16)
                if select
                else self._register(operand, 32).trunc(I16)
            )
        if not type.is_float:
            return raw
        value = self._flush_in(raw.bitcast(type), flush)
        self._note_infinity(value)
        return -value if self.modifier("neg_hi" if half else "neg_lo") >> k & 1 else value

    def src_mask(self, k: int | None = None) -> Value:
        """This lane's bit of lane-mask source ``k`` (VCC if None or not among the operands), I1."""
        if k is None or k >= len(self.sources):
            return self.b.read_lane_mask(VCC_LO)
        operand = self.sources[k]
        if operand.kind in (OperandKind.CONSTANT, OperandKind.LITERAL):
            return self.b.lane_bit(self.b.const(operand.value, self.b.mask_type))
        return self._mask_bit(operand)

    def old(self, k: int = 0, type: Type = I32, *, flush: bool | None = None) -> Value:
        """The value of destination ``k`` before the instruction, for accumulators."""
        operand = self.destinations[k]
        raw = self._integer(operand, type.bits, None)
        return self.taken(raw.bitcast(type), flush=flush) if type.is_float else raw

    def taken(self, value: Value, *, flush: bool | None = None) -> Value:
        """Treat a value that the semantic made itself as a float source: flush it as MODE says, and record it for
        exceptions.
        """
        value = self._flush_in(value, flush)
        self._note_infinity(value)
        return value

    def limited(self, half: Value) -> Value:
        """Apply FP16_OVFL to one of several f16 results; it depends on the sources that were read since the previous
        result.
        """
        if half.type is F16 and self._infinite is not None:
            half, self._infinite = self._limit_half(half, self._infinite), None
        return half

    # -- destinations --------------------

    def dst(self, k: int, value: Value, *, flush: bool | None = None, preserve: bool | None = None) -> None:
        """Write destination ``k``. The type of ``value`` is the width.

        Float results get omod, the flush that MODE requires, and clamp, in this order. 16-bit results go to the half
        that op_sel or a true16 register names; the other half becomes 0 on GFX9 and earlier and is kept on GFX10+,
        unless ``preserve`` overrides that. SDWA's dst_sel and dst_unused override both. 64-bit values write a pair. An
        SGPR destination takes the value if it is uniform.
        """
        if value.type.is_float:
            value = self._finish_float(value, flush)
        self._store(self.destinations[k], value, preserve)

    def dst_packed(self, low: Value, high: Value, *, flush: bool | None = None) -> None:
        """Write two 16-bit results (F16 or I16) into destination 0, or two F32/I32 into its pair."""
        if low.type.is_float:
            low, high = self._finish_float(low, flush), self._finish_float(high, flush)
        wide = I64 if low.type.bits == 32 else I32
        self._store(
            self.destinations[0], low.bits().zext(wide) | high.bits().zext(wide).shl(low.type.bits), None
        )

    def dst_mask(self, k: int | None, bit: Value) -> None:
        """Write this lane's bit of lane-mask destination ``k`` (None or absent: VCC); inactive lanes get 0."""
        code = VCC_LO
        if k is not None and k < len(self.destinations):
            code = self.scalar_code(self.destinations[k], self.wave_size // 32)
        if code != self.context.null:
            if self.write_mask is not None:
                bit = bit & self.b.lane_bit(self.write_mask)
            self.b.write_lane_mask(code, bit)

    # -- scalar state --------------------

    @property
    def scc(self) -> Value:
        """SCC, I1."""
        return self.b.read_scc()

    def set_scc(self, bit: Value) -> None:
        self.b.write_scc(bit)

    @property
    def mask_type(self) -> Type:
        return self.b.mask_type

    @property
    def exec(self) -> Value:
        """EXEC as an integer of the wave's width."""
        return self.b.read_sgpr(EXEC_LO, self.wave_size // 32)

    def set_exec(self, mask: Value) -> None:
        self.b.write_sgpr(EXEC_LO, mask)

    @property
    def vcc(self) -> Value:
        """VCC as an integer of the wave's width."""
        return self.b.read_sgpr(VCC_LO, self.wave_size // 32)

    @property
    def m0(self) -> Value:
        return self.b.read_sgpr(self.context.m0)

    @property
    def lane(self) -> Value:
        """Number of this lane, I32 (lane semantics only)."""
        return self.b.lane_id()

    @property
    def pc(self) -> Value:
        """Address of this instruction, I64."""
        return self.b.pc()

    @property
    def next_pc(self) -> Value:
        """Address of the next instruction, I64."""
        return self.b.pc() + self.insn.size

    # -- operands in detail --------------------

    def _integer(self, operand: Operand, bits: int, k: int | None) -> Value:
        """The operand's bits before neg/abs, with selections (op_sel, SDWA, DPP) applied."""
        if k is not None:
            if k == 0 and self.dpp_source is not None and operand.kind is OperandKind.VGPR:
                word = self._permuted(0)
                if bits == 64:
                    return word.zext(I64) | self._permuted(1).zext(I64).shl(32)
                return self._narrow(word, bits, operand, k)
            if k in (0, 1) and "sdwa" in self.insn.modifiers and f"src{k}_sel" in self.insn.modifiers:
                return self._sdwa_select(operand, self.modifier(f"src{k}_sel"), bits)
            if bits <= 16 and operand.kind not in (OperandKind.CONSTANT, OperandKind.LITERAL):
                return self._narrow(self.dword(operand, 0), bits, operand, k)
        elif bits <= 16:
            return self._narrow(self.dword(operand, 0), bits, operand, 3)
        return self._register(operand, bits)

    def _permuted(self, n: int) -> Value:
        assert self.dpp_source is not None
        word = self.b.read_data(self.dpp_source + n)
        return word if self.dpp_valid is None else self.b.lane_bit(self.dpp_valid).select(word, 0)

    def _narrow(self, word: Value, bits: int, operand: Operand, k: int) -> Value:
        if bits > 16:
            return word.zext(I64) if bits == 64 else word
        packed = self.insn.encoding == "VOP3P"
        if operand.half is not None:
            high = operand.half
        else:
            high = 0 if packed else self.modifier("op_sel") >> k & 1
        if high:
            word = word.lshr(16)
        return word.trunc(I16 if bits == 16 else I8)

    def _sdwa_select(self, operand: Operand, select: int, bits: int) -> Value:
        word = self._register(operand, 32)
        if select == 6:
            part: Value = word
        elif select < 4:
            part = (word.lshr(8 * select) if select else word).trunc(I8)
        else:
            part = (word.lshr(16) if select == 5 else word).trunc(I16)
        if part.type.bits >= bits:
            return part if part.type.bits == bits else part.trunc(I16 if bits == 16 else I8)
        wide = {16: I16, 32: I32, 64: I64}[bits]
        return part.sext(wide) if operand.sext else part.zext(wide)

    def _register(self, operand: Operand, bits: int) -> Value:
        if operand.kind in (
            OperandKind.CONSTANT,
            OperandKind.LITERAL,
            OperandKind.IMMEDIATE,
            OperandKind.LABEL,
        ):
            return self.b.const(operand.value, {8: I8, 16: I16, 32: I32, 64: I64}[bits])
        if bits == 64:
            if operand.kind in (OperandKind.SGPR, OperandKind.TTMP, OperandKind.SPECIAL):
                return self._scalar(operand, 2)
            return self.dword(operand, 0).zext(I64) | self.dword(operand, 1).zext(I64).shl(32)
        word = self.dword(operand, 0)
        return word if bits == 32 else word.trunc(I16 if bits == 16 else I8)

    def dword(self, operand: Operand, n: int) -> Value:
        """Dword ``n`` of a register or constant operand, without modifiers; lanes permuted for a DPP source."""
        if operand.kind in (OperandKind.VGPR, OperandKind.AGPR):
            number = vector_number(operand, n + 1) + n
            if self.dpp_source is not None and operand is self.sources[0]:
                return self._permuted(n)
            if operand.kind is OperandKind.VGPR and self._is_indexed(operand):
                return self.b.read_vgpr_at(number, self._index)
            return self.b.read_vgpr(number)
        if operand.kind in (OperandKind.CONSTANT, OperandKind.LITERAL, OperandKind.IMMEDIATE):
            return self.b.const(operand.value >> 32 * n, I32)
        if n == 0:
            return self._scalar(operand, 1)
        if operand.kind is OperandKind.SPECIAL and n == 1:
            return self._scalar(operand, 2).lshr(32).trunc(I32)
        code = self.scalar_code(operand, n + 1)
        return self.b.const(0, I32) if code == self.context.null else self.b.read_sgpr(code + n)

    # -- GFX9's register indexing --------------------

    def _is_indexed(self, operand: Operand) -> bool:
        """Whether the register number is relative to M0 (MODE.GPR_IDX_EN)."""
        return self.context.mode.indexed >> INDEX_BIT.get(operand.name, 4) & 1 != 0

    @property
    def _index(self) -> Value:
        return self.m0 & 0xFF

    def scalar_code(self, operand: Operand, dwords: int = 1) -> int:
        """The hardware operand code of the first of ``dwords`` scalar registers, all of one kind, or of NULL.

        Raises an error for an operand that is not a register (or reserved, as 125 is on GFX9), or extends past the last
        one.
        """
        code = operand.index + (self.target.first_ttmp if operand.kind is OperandKind.TTMP else 0)
        if operand.kind in (OperandKind.SGPR, OperandKind.TTMP, OperandKind.SPECIAL):
            if code == self.context.null:
                return code
            if dwords > operand.dwords:
                raise Unsupported(f"{self.insn.text}: operand {operand.text} does not have {dwords} registers")
            if code >= 0 and code + dwords <= self._scalars_end(code):
                return code
        raise Unsupported(f"{self.insn.text}: operand {operand.text} is not a scalar register")

    def _scalars_end(self, code: int) -> int:
        """One past the last code of the group of registers that contains ``code``; 0 if it is not a register's code."""
        if code == self.context.m0:
            return code + 1
        if EXEC_LO <= code < SGPR_COUNT:
            return SGPR_COUNT
        return next((end for end in (VCC_LO, VCC_LO + 2, VCC_LO + 18) if code < end), 0)

    def _scalar(self, operand: Operand, dwords: int) -> Value:
        wide = I64 if dwords == 2 else I32
        code = operand.index
        if operand.kind is not OperandKind.SPECIAL or code < SGPR_COUNT:
            code = self.scalar_code(operand, dwords)
            return self.b.const(0, wide) if code == self.context.null else self.b.read_sgpr(code, dwords)
        if code == 253:
            return self.b.read_scc().zext(wide)
        if code in (251, 252):
            return (self.vcc if code == 251 else self.exec).eq(0).zext(wide)
        if code in (235, 237):
            aperture = self.b.read_env("shared_aperture" if code == 235 else "private_aperture")
            # A 32-bit read of an aperture base gives its high half (the low half is 0).
            return aperture if dwords == 2 else aperture.lshr(32).trunc(I32)
        if code in (236, 238):
            aperture = self.b.read_env("shared_aperture" if code == 236 else "private_aperture") | 0xFFFF_FFFF
            return aperture if dwords == 2 else aperture.lshr(32).trunc(I32)
        if code in (230, 231) and self.context.target.is_gfx125:
            base = self.b.const(SCRATCH_ADDRESSES, I64)
            return base if dwords == 2 else base.lshr(32 * (code - 230)).trunc(I32)
        if code == 239:
            return self.b.const(0, wide)  # POPS_EXITING_WAVE_ID: pixel waves do not exist here
        if code == LDS_DIRECT and dwords == 1 and operand.name == "src0" and self.lds_direct is not None:
            return self.lds_direct
        raise Unsupported(f"operand {operand.text}")

    def _mask_bit(self, operand: Operand) -> Value:
        dwords = self.wave_size // 32
        if operand.kind is OperandKind.SPECIAL and (operand.index >= SGPR_COUNT or operand.index == self.context.null):
            return self.b.lane_bit(self._scalar(operand, dwords))
        return self.b.read_lane_mask(self.scalar_code(operand, dwords))

    def _modify(self, operand: Operand, raw: Value, type: Type, flush: bool | None) -> Value:
        if not type.is_float:
            if (
                operand.abs or operand.neg
            ):  # bit operations on a float operand (v_cndmask_b32, v_mov_b32 with modifiers)
                value = raw.bitcast(FLOAT[type.bits])
                return self._signs(operand, value).bits()
            return raw
        value = self._signs(operand, self._flush_in(raw.bitcast(type), flush))
        self._note_infinity(value)
        return value

    @staticmethod
    def _signs(operand: Operand, value: Value) -> Value:
        if operand.abs:
            value = value.fabs()
        return -value if operand.neg else value

    # -- float rules --------------------

    def _flush_in(self, value: Value, flush: bool | None) -> Value:
        wanted = self.mode.flush_inputs32 if value.type is F32 else self.mode.flush_inputs16_64
        wanted = wanted if flush is None else flush
        if self.watch is not None:
            self.watch.source(value, wanted)
        return self.flush(value) if wanted else value

    def flush(self, value: Value) -> Value:
        """Make subnormals zeros of the same sign."""
        bits = value.bits()
        sign = 1 << value.type.bits - 1
        return (bits & _EXPONENT[value.type.bits]).eq(0).select(bits & sign, bits).bitcast(value.type)

    def _flushes(self, type: Type, flush: bool | None) -> bool:
        """Whether subnormal results become zeros; ``flush`` overrides MODE."""
        if flush is not None:
            return flush
        return self.mode.flush_outputs32 if type is F32 else self.mode.flush_outputs16_64

    def _scales(self, flushes: bool) -> bool:
        """Whether output modifiers have an effect: before GFX12 they are ignored if subnormals may be results or MODE
        requests IEEE behaviour.
        """
        if self.generation >= 12:
            return True
        return not self.mode.ieee and (flushes or self.name in ("v_sin_f32", "v_cos_f32"))

    def drops_tiny(self, type: Type, flush: bool | None = None) -> bool:
        """Whether subnormal results become zeros, including because of output modifiers."""
        flushes = self._flushes(type, flush)
        return flushes or (self.modifier("omod") != 0 and self._scales(flushes))

    def without_tiny(self, result: Value, tiny: Value) -> Value:
        """``result``, or a zero of its sign where it is ``tiny`` (I1); for results that MODE flushes."""
        if self.watch is not None:
            self.watch.flushed(result)
        return tiny.select(result.bits() & 1 << result.type.bits - 1, result.bits()).bitcast(result.type)

    def _finish_float(self, value: Value, flush: bool | None) -> Value:
        wanted = self._flushes(value.type, flush)
        omod, watch = self.modifier("omod"), self.watch
        if watch is not None:
            watch.result(value)
        limited = value.type is F16 and self.mode.fp16_overflow and not self.name.startswith("v_div_fixup")
        if limited and self._infinite is not None:
            value = self._limit_half(value, self._infinite)
        if omod and self._scales(wanted):
            scaled = self._scale_result(value, {1: 2.0, 2: 4.0, 3: 0.5}[omod])
            value = self._limit_half(scaled, value.fabs().eq(float("inf"))) if limited else scaled
        if wanted:
            if watch is not None:
                watch.flushed(value)
            value = self.flush(value)
        if self.clamp:
            value = self.clamp_float(value)
        return value

    def _scale_result(self, value: Value, factor: float) -> Value:
        """Apply output modifiers to the rounded result: zeros and subnormals become +0; a value that halving makes
        subnormal becomes a zero of its sign (measured on gfx1201, gfx1030 and gfx1010)."""
        exponent = value.bits() & _EXPONENT[value.type.bits]
        small = exponent.eq(0)
        rounding = self.mode.round32 if value.type is F32 else self.mode.round16_64  # matters for overflow
        if _TRANSCENDENTAL.match(self.name):
            rounding = 0
        operands = (value, self.b.const(factor, value.type))
        with self.b.nearest():
            if rounding:
                product = self.b.emit_directed(Op.FMUL, value.type, operands, rounding)
            else:
                product = self.b.emit(Op.FMUL, value.type, operands)
        scaled = self.flush(product)
        if factor < 1:  # the exponent decreases by one, so no result is rounded up to a normal number
            lowest = _EXPONENT[value.type.bits] & -_EXPONENT[value.type.bits]
            zero = (value.bits() & 1 << value.type.bits - 1).bitcast(value.type)
            scaled = exponent.eq(lowest).select(zero, scaled)
        if self.watch is not None:
            self.watch.scaled(value, scaled)
        return value.is_nan().select(value, small.select(0.0, scaled))

    def _note_infinity(self, source: Value) -> None:
        if self.mode.fp16_overflow:
            infinite = source.fabs().eq(float("inf"))
            self._infinite = infinite if self._infinite is None else self._infinite | infinite

    @staticmethod
    def _limit_half(value: Value, before: Value) -> Value:
        """Apply FP16_OVFL: a result that became infinite, even by division by zero, becomes the largest number; one
        that was infinite ``before`` (I1) is unchanged."""
        overflowed = value.fabs().eq(float("inf")) & ~before
        bits = value.bits()
        return overflowed.select(bits & 0x8000 | 0x7BFF, bits).bitcast(F16)

    def clamp_float(self, value: Value) -> Value:
        """Clamp to [0, 1]. NaN becomes 0 if MODE has DX10_CLAMP set, and always from GFX12 on; otherwise it is
        unchanged.
        """
        zero = self.b.const(0.0, value.type)
        upper = value.fgt(1.0).select(1.0, value)
        if self.mode.dx10_clamp or self.generation >= 12:
            return upper.fgt(0.0).select(upper, zero)
        return upper.fle(0.0).select(zero, upper)

    # -- stores --------------------

    def _store(self, operand: Operand, value: Value, preserve: bool | None) -> None:
        value = value.bits()
        if operand.kind in (OperandKind.VGPR, OperandKind.AGPR):
            self._store_vector(operand, value, preserve)
            return
        code = self.scalar_code(operand, -(-value.type.bits // 32))
        if code == self.context.null:
            return
        if value.type.bits < 32:
            value = value.zext(I32)
        if not value.uniform:
            raise Unsupported(f"{self.insn.text}: a value that differs by lane cannot be written to a scalar register")
        self.b.write_sgpr(code, value)

    def _store_vector(self, operand: Operand, value: Value, preserve: bool | None) -> None:
        base = vector_number(operand, -(-value.type.bits // 32))
        self._write_indexed = operand.kind is OperandKind.VGPR and self._is_indexed(operand)
        if value.type is I1:
            value = value.zext(I32)
        if (
            "sdwa" in self.insn.modifiers
            and "dst_sel" in self.insn.modifiers
            and self.modifier("dst_sel") != 6
        ):
            self._write(base, self._sdwa_merge(base, value))
            return
        if value.type.bits < 32:
            self._write(base, self._place_half(base, operand, value, preserve))
        elif value.type is I32:
            self._write(base, value)
        else:
            for n in range(value.type.bits // 32):
                self._write(base + n, (value.lshr(32 * n) if n else value).trunc(I32))

    def _place_half(self, base: int, operand: Operand, value: Value, preserve: bool | None) -> Value:
        wide = value.zext(I32)
        if operand.half is not None:
            high, keep = operand.half, True
        else:
            high = self.modifier("op_sel") >> 3 & 1 if self.insn.encoding != "VOP3P" else 0
            keep = bool(high) or ("op_sel" in self.insn.modifiers) or self.generation >= 10
        if preserve is not None and operand.half is None and not high:
            keep = preserve
        if high:
            return self._before(base) & 0xFFFF | wide.shl(16)
        return self._before(base) & 0xFFFF0000 | wide if keep else wide

    def _sdwa_merge(self, base: int, value: Value) -> Value:
        select, unused = self.modifier("dst_sel"), self.modifier("dst_unused")
        width, shift = (8, 8 * select) if select < 4 else (16, 16 * (select - 4))
        small = value.zext(I32) if value.type.bits < 32 else value.trunc(I32)
        field = (1 << width) - 1
        part = small & field
        placed = part.shl(shift) if shift else part
        if unused == 0:  # UNUSED_PAD
            return placed
        if unused == 1:  # UNUSED_SEXT: copies of the sign above, zeros below
            sign = (1 << 32) - (1 << (shift + width))
            negative = (part & 1 << (width - 1)).ne(0)
            return negative.select(placed | (sign & 0xFFFFFFFF), placed) if sign & 0xFFFFFFFF else placed
        return self._before(base) & ~(field << shift) & 0xFFFFFFFF | placed  # UNUSED_PRESERVE

    def _before(self, number: int) -> Value:
        """The value of a destination register before the instruction."""
        if self._write_indexed:
            return self.b.read_vgpr_at(number, self._index)
        return self.b.read_vgpr(number)

    def _write(self, number: int, word: Value) -> None:
        if self.write_mask is not None:
            word = self.b.lane_bit(self.write_mask).select(word, self._before(number))
        if self._write_indexed:
            self.b.write_vgpr_at(number, self._index, word)
        else:
            self.b.write_vgpr(number, word)


__all__ = [
    "F16",
    "F32",
    "F64",
    "I1",
    "I8",
    "I16",
    "I32",
    "I64",
    "Access",
    "Context",
    "Unsupported",
    "ValueOrNumber",
    "vector_number",
]
