"""Runs an instruction's pseudocode on a wave.

`Executor` reads operands out of the word's fields (not through the decoder), applies source and result modifiers by the
types the text uses, and runs the text for each active lane, or once if the text is about the whole wave.
"""

from __future__ import annotations

import re
from typing import Any

from tests.sim.pcode import deviations
from tests.sim.pcode import functions as f
from tests.sim.pcode import values as v
from tests.sim.pcode.language import Scope, compile_text
from tests.sim.pcode.scope import inserted
from tests.sim.pcode.sources import constant, dpp_source, float_type, split_type
from tests.sim.pcode.values import Value
from tests.sim.pcode.wave import EXEC, VCC, Bit, Cell, Fields, File, Inconclusive, LaneMask, Register, Wave
from tests.sim.pcode.words import Word, entries, is_rdna, m0_code, null_code


class Executor:
    """One instruction on one wave."""

    def __init__(self, wave: Wave, word: Word) -> None:
        self.wave, self.word = wave, word
        self.entry, self.fields, self.form = word.entry, word.fields, word.form
        self.rdna = is_rdna(wave.target)
        self.halves = self.rdna and not wave.target.startswith("gfx10")
        chosen = deviations.saturating_text if word.fields.get("clamp") else deviations.text_of
        self.text = chosen(self.entry, wave.target)
        self.packed = self.entry.group == "VOP3P"
        self.types = {n: float_type(self.text, f"S{n}") for n in range(3)}

    # -- operands --------------------

    def operand_bits(self, n: int) -> tuple[int, str]:
        names = {0: ("src0", "vsrc0", "ssrc0"), 1: ("src1", "vsrc1", "ssrc1"), 2: ("src2", "ssrc2")}[n]
        rows = deviations.operands(self.entry, self.wave.target)
        for name in names:
            if name in rows:
                return rows[name].bits, rows[name].format
        return 32, "ANY"

    def raw_source(self, n: int, lane: int, number: int | None = None) -> int:
        """The operand's bits before modifiers."""
        bits, kind = self.operand_bits(n)
        wave, fields = self.wave, self.fields
        if self.form.endswith("SDWA") and n < 2:
            return self.sdwa(n, lane, max(bits, 32))
        if n == 0 and (number is not None or "VSRC1" in self.form):
            code = number if number is not None else 0
        else:
            name = ("src0", "src1" if "src1" in fields else "vsrc1", "src2")[n]
            if self.entry.group.startswith("SOP"):
                name = f"ssrc{n}"
            code = fields[name]
            if name == "vsrc1":
                code += 256
        wide = max(bits, 32)
        if code >= 256:
            half = 0
            if bits == 16 and self.halves and not self.form.startswith("VOP3") and code & 128:
                code, half = code & ~128, 16
            return wave.vgpr(code - 256, lane, wide) >> half
        return self.scalar(code, bits, kind)

    def scalar(self, code: int, bits: int, kind: str) -> int:
        wave = self.wave
        wide = max(bits, 32)
        if code == 255 or 128 <= code <= 208 or 240 <= code <= 248:
            return constant(code, bits, kind, self.word.literal, wave.target)
        if code == 253:
            return wave.scc
        null = null_code(wave.target)
        if code == null:
            return 0
        return wave.sgpr(code, wide)

    def sdwa(self, n: int, lane: int, bits: int) -> int:
        fields = self.fields
        code = fields["src0" if n == 0 else "vsrc1"]
        raw = self.wave.sgpr(code) if fields.get(f"s{n}") else self.wave.vgpr(code, lane)
        select = fields[f"src{n}_sel"]
        width, shift = (8, 8 * select) if select < 4 else (16, 16 * (select - 4)) if select < 6 else (32, 0)
        part = raw >> shift & (1 << width) - 1
        if fields[f"sext{n}"] and part >> width - 1:
            part |= (1 << bits) - (1 << width)
        return part

    def source(self, n: int, lane: int, register: int | None = None) -> Value:
        """Source ``n`` with modifiers. ``register``: 256 + VGPR to read instead (DPP)."""
        bits, _ = self.operand_bits(n)
        raw = self.raw_source(n, lane, register)
        kind, halves = self.types[n]
        fields = self.fields
        if self.packed:
            return self.packed_source(n, raw, max(bits, 32), kind)
        select = fields.get("opsel", 0) if self.form.startswith("VOP3") else 0
        if bits == 16 and not halves and select >> n & 1 and self.is_register(n, register):
            raw >>= 16
        size = v.FORMATS[split_type(kind)].width if kind else bits
        negate, absolute = self.modifiers(n)
        if kind and not halves:
            value = Value(*split_type(kind), raw & (1 << size) - 1)
            value = self.float_source(value, negate, absolute)
            return Value(
                "b", max(bits, 32), raw & ~((1 << size) - 1) & (1 << max(bits, 32)) - 1 | int(value.raw)
            )  # type: ignore[call-overload]
        if (negate or absolute) and deviations.signs_of_bits(self.entry.name):
            sign = 1 << bits - 1
            raw = raw & ~sign if absolute else raw
            raw = raw ^ sign if negate else raw
        if kind and halves:
            for low in (0, 16):
                part = Value(*split_type(kind), raw >> low & 0xFFFF)
                raw = raw & ~(0xFFFF << low) | int(self.float_source(part, negate, absolute).raw) << low  # type: ignore[call-overload]
        return Value("b", max(bits, 32), raw & (1 << max(bits, 32)) - 1)

    def is_register(self, n: int, register: int | None) -> bool:
        if register is not None:
            return True
        code = self.fields[("src0", "src1", "src2")[n]]
        return code >= 256 or code < 128

    def modifiers(self, n: int) -> tuple[int, int]:
        fields = self.fields
        if self.form.startswith("VOP3"):
            return fields.get("neg", 0) >> n & 1, fields.get("abs", 0) >> n & 1
        return fields.get(f"neg{n}", 0), fields.get(f"abs{n}", 0)

    def float_source(self, value: Value, negate: int, absolute: int) -> Value:
        if (
            self.wave.flush_in(value.bits) and not deviations.keeps_subnormals(self.entry.name)
        ) or deviations.flushes_always(self.entry.name):
            value = v.flushed(value)
        raw = int(value.raw)  # type: ignore[call-overload]
        sign = 1 << value.bits - 1
        raw = raw & ~sign if absolute else raw
        return Value(value.kind, value.bits, raw ^ sign if negate else raw)

    def packed_source(self, n: int, raw: int, bits: int, kind: str) -> Value:
        """Halves chosen by op_sel and op_sel_hi, negated by neg and neg_hi."""
        fields = self.fields
        name = self.entry.name
        negate, absolute = fields["neg"] >> n & 1, fields["neg_hi"] >> n & 1
        if "_MIX" in name and fields["opsel_hi"] >> n & 1 and self.fields[f"src{n}"] < 256:
            code = self.fields[f"src{n}"]
            if (
                128 <= code <= 208 or 240 <= code <= 248
            ):  # an inline constant is a half where a half is requested
                raw = constant(code, 16, "F16", None, self.wave.target)
        if "_MIX" in name:  # an f32 or, as op_sel_hi says, a half; neg_hi is abs
            low, kind = 0, "f32"
            if fields["opsel_hi"] >> n & 1:
                low, kind = 16 * (fields["opsel"] >> n & 1), "f16"
            width = int(kind[1:])
            value = self.float_source(Value("f", width, raw >> low & (1 << width) - 1), negate, absolute)
            return inserted(Value("b", 32, raw), low, width, value)
        if deviations.plain_packed(name) or (n == 2 and "DOT" in name and not kind):
            return Value("b", bits, raw)
        size = 32 if bits == 64 else 16
        picked = 0
        for half in (0, 1):
            select = fields["opsel_hi" if half else "opsel"] >> n & 1
            if kind == "f32" and "DOT" in name:
                select = half
            part = raw >> size * select & (1 << size) - 1
            if (kind and kind != "f32") or (kind == "f32" and size == 32):
                value = Value(*split_type(kind), part)
                negate = fields["neg_hi" if half else "neg"] >> n & 1
                part = int(self.float_source(value, negate, 0).raw)  # type: ignore[call-overload]
            picked |= part << size * half
        if kind == "f32" and size == 16:
            value = self.float_source(Value("f", 32, raw & 0xFFFFFFFF), negate, 0)
            return Value("b", 32, value.raw)
        return Value("b", bits, picked)

    # -- results --------------------

    def finish(self, raw: int, low: int, width: int, kind: str) -> int:
        """A float result with omod, flushing and clamp applied."""
        value = Value(kind, width, raw >> low & (1 << width) - 1)
        omod = self.fields.get("omod", 0) if deviations.has_result_modifiers(self.entry.name) else 0
        rounding = self.wave.rounding[0 if width == 32 else 1]
        if omod and self.applies_omod(width):
            scaled = self.scaled(value, omod, rounding)
            return self.clamped(raw, low, scaled)
        if (
            self.wave.flush_out(width) and not deviations.keeps_subnormals(self.entry.name)
        ) or deviations.flushes_always(self.entry.name):
            value = v.flushed(value)
        return self.clamped(raw, low, value)

    def applies_omod(self, width: int) -> bool:
        """Before GFX12, MODE must flush subnormal results and not request IEEE."""
        flushes = self.wave.flush_out(width) or deviations.flushes_always(self.entry.name)
        return self.wave.target.startswith("gfx12") or (flushes and not self.wave.ieee)

    @staticmethod
    def scaled(value: Value, omod: int, rounding: int) -> Value:
        """omod on a rounded result: zero and subnormals become +0; results that halving makes subnormal become a zero
        of their sign.
        """
        if v.unpack(value)[0] != v.FINITE:
            return value
        if v.is_subnormal(value) or not int(value.raw) & (1 << value.bits - 1) - 1:  # type: ignore[call-overload]
            return Value(value.kind, value.bits, 0)
        form = v.format_of(value)
        if omod == 3 and int(value.raw) >> form.fraction_bits & (1 << form.exponent_bits) - 1 == 1:  # type: ignore[call-overload]
            return Value(value.kind, value.bits, int(value.raw) & 1 << value.bits - 1)  # type: ignore[call-overload]
        factor = v.from_float({1: 2.0, 2: 4.0, 3: 0.5}[omod], value.kind, value.bits, 0)
        return v.flushed(v.multiply(value.kind, value.bits, value, factor, rounding))

    def clamped(self, raw: int, low: int, value: Value) -> int:
        kind, width = value.kind, value.bits
        if self.fields.get("clamp", 0):
            if v.is_nan(value):
                value = Value(kind, width, 0) if self.wave.clamps_nan else value
            else:
                number = v.to_float(value)
                if number <= 0:
                    value = Value(kind, width, 0)
                elif number >= 1:
                    value = v.from_float(1.0, kind, width, 0)
        mask = (1 << width) - 1 << low
        return raw & ~mask | int(value.raw) << low  # type: ignore[call-overload]

    # -- running --------------------

    def scope(self, names: dict[str, Any]) -> Scope:
        wave = self.wave
        fields = self.fields
        base = dict(f.NAMES)
        base.update(self.library())
        ocp = wave.target not in ("gfx942",)
        base.update(fp8_to_f32=f.from_fp8(ocp), bf8_to_f32=f.from_bf8(ocp))
        saturate = bool(wave.mode >> 23 & 1)
        if "SCALEF32" in self.entry.name:
            base.update(f.scale_conversions(saturate))
        base.update(f32_to_fp8=f.to_fp8(ocp, saturate), f32_to_bf8=f.to_bf8(ocp, saturate), float32=f.float32)
        base.update(
            WAVE_MODE=Fields(IEEE=Value("u", 1, wave.ieee), **deviations.mode_fields(wave)),
            WAVE_STATUS=Fields(PRIV=Value("u", 1, 0)),
            TRAPSTS=Fields(),
            INST=Fields(**{k.upper(): Value("u", 3, fields.get(k, 0)) for k in ("omod", "abs", "neg")}),
            WAVE32=Value("u", 1, int(wave.size == 32)), WAVE64=Value("u", 1, int(wave.size == 64)),
            OPSEL=Value("u", 4, fields.get("opsel", 0)), OPSEL_HI=Value("u", 3, fields.get("opsel_hi", 0)),
            NEG=Value("u", 3, fields.get("neg", 0)), NEG_HI=Value("u", 3, fields.get("neg_hi", 0)),
            SRC0=Value("u", 32, fields.get("src0", fields.get("ssrc0", 0)) & (255 if "src0" in fields else 127)),
            SRC1=Value("u", 32, fields.get("ssrc1", fields.get("src1", 0) & 255)),
            VDST=Value("u", 32, fields.get("vdst", 0)), DST=Value("u", 32, fields.get("sdst", fields.get("vdst", 0))),
            INSTRUCTION_SIZE=Value("i", 64, len(self.word.code)),
            M0=Register(wave.m0, 32), PC=Register(wave.pc, 64),
            SIMM32=self.literal("SIMM32", 32),
            SIMM16=Value("b", 16, fields["simm16"]) if "simm16" in fields else self.literal("SIMM16", 16),
            SDWA_SRC0_SEL=Value("u", 3, fields.get("src0_sel", 0)),
            __given__=frozenset(("S", "OFFSET", "OFFSET0", "OFFSET1", "DATA0", "VDST")),
        )
        base.update(names)
        return Scope(base, (0, 0) if deviations.APPROXIMATE.fullmatch(self.entry.name) else wave.rounding)

    def literal(self, name: str, bits: int) -> Value:
        """The literal of v_fmaak and similar instructions is a float source too."""
        raw = (self.word.literal or 0) & (1 << bits) - 1
        kind, _ = float_type(self.text, name)
        if not kind:
            return Value("b", bits, raw)
        size = split_type(kind)[1]
        value = self.float_source(Value(*split_type(kind), raw & (1 << size) - 1), 0, 0)
        return Value("b", bits, value.raw)

    def library(self) -> dict[str, Any]:
        """Instructions called by name from other instructions' texts."""

        def run(text: str, scope: Scope) -> None:
            scope.names["D0"] = register = Register(0, 64)
            compile_text(text)(scope)
            scope.names["D0"] = register.load()

        found = _LIBRARIES.get(self.wave.target)
        if found is None:
            found = {}
            for e in entries(self.wave.target):
                if e.group in ("VOP2", "VOP3") and re.match(r"V_(MIN|MAX|MED|SAD)", e.name):
                    text = deviations.text_of(e, self.wave.target)
                    found.setdefault(e.name.lower(), f.instruction_function(text, run))
            _LIBRARIES[self.wave.target] = found
        return found

    def run(self) -> None:
        group = self.entry.group
        if group == "VOPD":
            raise Inconclusive("dual words are not made")
        if group.startswith("SOP") or self.entry.name.startswith("V_S_"):
            self.run_scalar()
        elif re.search(r"VGPR\[(?!laneId)", self.text) or "READFIRSTLANE" in self.entry.name:
            self.run_wave()
        else:
            self.run_lanes()

    def run_scalar(self) -> None:
        wave, fields, entry = self.wave, self.fields, self.entry
        names: dict[str, Any] = {}
        rows = deviations.operands(entry, wave.target)
        bits_d = (
            max(32, rows["sdst"].bits)
            if "sdst" in rows
            else 32
            if "vdst" in fields
            else 64
            if ".u64" in self.text or ".b64" in self.text
            else 32
        )
        destination = fields.get("sdst", fields.get("vdst"))
        d0 = Register(wave.sgpr(destination, bits_d) if destination is not None else 0, bits_d)
        names["D0"] = d0
        for n in range(2):
            if f"ssrc{n}" in fields or (n == 0 and "src0" in fields):
                names[f"S{n}"] = self.source(n, 0)
        if entry.name.startswith("S_") and deviations.clears_upper_half(entry):
            d0.written |= 0xFFFF0000
        if entry.group == "SOPK":
            simm = Value("b", 16, fields["simm16"])
            if "CMPK" in entry.name:
                names["S0"], names["S1"] = Value("b", 32, wave.sgpr(destination or 0)), simm
            elif "CALL" not in entry.name:
                names["S0"] = Value("b", 32, wave.sgpr(destination or 0)) if "SETREG" in entry.name else simm
        exec_ = Register(wave.sgpr(EXEC, 64), 64)
        scc = Register(wave.scc, 1)
        vcc = Register(wave.sgpr(VCC, 64), 64)
        names.update(
            EXEC=exec_, SCC=scc, VCC=vcc, EXEC_LO=Register(wave.sgpr(EXEC), 32),
            VCCZ=Value("u", 1, int(wave.sgpr(VCC, wave.size) == 0)), EXECZ=Value("u", 1, int(wave.exec == 0)),
            SGPR=File(lambda n: Cell(lambda b: wave.sgpr(n, b), lambda b, raw: wave.set_sgpr(n, b, raw))),
            HW_REGISTERS=deviations.hardware_registers(wave),
        )
        scope = self.scope(names)
        compile_text(self.text)(scope)
        if exec_.written:
            wave.set_sgpr(EXEC, 64, exec_.raw)
        for (low, width), kind in d0.floats.items():
            d0.raw = self.finish(d0.raw, low, width, kind)
        if entry.name.startswith("S_") and deviations.clears_upper_half(entry):
            d0.raw &= 0xFFFF
        if d0.written and destination is not None:
            wave.set_sgpr(destination, bits_d, d0.raw)
        wave.scc = scc.raw
        pc = scope.names["PC"]
        wave.pc = pc.raw if pc.written else wave.pc + len(self.word.code)
        m0 = scope.names["M0"]
        if m0.written:
            wave.sgprs[m0_code(wave.target)] = m0.raw

    def run_wave(self) -> None:
        wave, fields = self.wave, self.fields
        before = [list(column) for column in wave.vgprs]
        names: dict[str, Any] = {}
        scalar = "READ" in self.entry.name
        d0 = Register(0, 32)
        if "src0" in fields and "READ" not in self.entry.name and "WRITELANE" not in self.entry.name:
            names["S0"] = Value("b", 32, 0)
        if "WRITELANE" in self.entry.name:
            names["S0"] = Value("b", 32, self.scalar(fields["src0"], 32, "B32"))
        for n in (1, 2):
            if f"src{n}" in fields:
                names[f"S{n}"] = Value(
                    "b", 32, self.scalar(fields[f"src{n}"], 32, "B32") if fields[f"src{n}"] < 256 else 0
                )

        def cell(lane: int) -> File:
            return File(
                lambda n: Cell(lambda b: wave.vgpr(n, lane, b), lambda b, raw: wave.set_vgpr(n, lane, b, raw))
            )

        names.update(
            D0=d0, VGPR=File(cell),
            EXEC=Value("u", 64, wave.exec), EXEC_LO=Value("u", 32, wave.exec & 0xFFFFFFFF),
        )
        compile_text(self.text)(self.scope(names))
        if scalar:
            wave.vgprs = before
            wave.set_sgpr(fields["vdst"], 32, d0.raw)

    def run_lanes(self) -> None:
        wave, fields, entry = self.wave, self.fields, self.entry
        rows = deviations.operands(entry, wave.target)
        compare = entry.group == "VOPC" or "V_CMP" in entry.name
        bits_d = max(32, rows["vdst"].bits) if "vdst" in rows and not compare else 32
        ports = _Ports(self, compare)
        results: list[tuple[int, int, int, int]] = []
        active = wave.exec
        for lane in range(wave.size):
            if not active >> lane & 1:
                continue
            sources = self.lane_sources(lane)
            if sources is None:
                continue
            values, writable = sources
            names: dict[str, Any] = {f"S{n}": value for n, value in values.items()}
            names["S"] = [values.get(n, Value("b", 32, 0)) for n in range(3)]
            d0 = (
                Register(
                    wave.vgpr(fields["vdst"] & (127 if self.half_of_result() else 255), lane, bits_d), bits_d
                )
                if not compare
                else None
            )
            if d0 is not None and self.half_of_result() == 1:
                d0.raw >>= 16
            if d0 is not None and self.fields_high():
                d0.raw = d0.raw >> 16
            if d0 is not None and re.search(r"FMAC|MAC_|DOT2(ACC|C)", entry.name):
                self.flush_accumulator(d0)
                names["S2"] = d0.load()
            writes: list[tuple[int, int, int]] = []
            own = self.registers_of(lane, writes)

            names.update(
                laneId=Value("u", 32, lane), laneID=Value("u", 32, lane),
                D0=ports.d0 if compare else d0, D=d0, VCC=ports.vcc, EXEC=ports.exec, D1=Bit(ports.vcc, lane),
                VGPR=File(lambda _, own=own: own), SCC=Value("u", 1, wave.scc),
            )
            swap = (
                Register(int(values[0].raw), 32)
                if "S0.b32 = tmp" in self.text or "S0.b16 = tmp" in self.text
                else None
            )  # type: ignore[call-overload]
            if swap is not None:
                names["S0"] = swap
            scope = self.scope(names)
            compile_text(self.text)(scope)
            if not writable:
                continue
            if d0 is not None and d0.written:
                number = fields["vdst"] & (127 if self.half_of_result() else 255)
                results.append((number, lane, bits_d, self.result(d0, lane)))
            if swap is not None:
                wave.set_vgpr(*results.pop())
                self.write_swapped(lane, swap.raw, results)
            for n, b, raw in writes:
                results.append((n, lane, b, raw))
        for number, lane, bits, raw in results:
            wave.set_vgpr(number, lane, bits, raw)
        ports.commit(active)

    def registers_of(self, lane: int, writes: list[tuple[int, int, int]]) -> File:
        """VGPR[laneId]; writes are recorded as (register, bits, value)."""
        return File(
            lambda n: Cell(
                lambda bits: self.wave.vgpr(n, lane, bits), lambda bits, raw: writes.append((n, bits, raw))
            )
        )

    def flush_accumulator(self, d0: Register) -> None:
        """The old destination is a source too."""
        kind, halves = float_type(self.text, "D0")
        if not kind or deviations.keeps_subnormals(self.entry.name):
            return
        size = split_type(kind)[1]
        for low in (0, 16) if halves else (0,):
            value = Value(*split_type(kind), d0.raw >> low & (1 << size) - 1)
            raw = int(self.float_source(value, 0, 0).raw)  # type: ignore[call-overload]
            d0.raw = d0.raw & ~((1 << size) - 1 << low) | raw << low

    def write_swapped(self, lane: int, raw: int, results: list[tuple[int, int, int, int]]) -> None:
        number = self.fields["src0"] - 256
        if "B16" in self.entry.name:
            half = 16 * (number >> 7)
            number &= 127
            old = self.wave.vgpr(number, lane)
            raw = old & ~(0xFFFF << half) | (raw & 0xFFFF) << half
        results.append((number, lane, 32, raw & 0xFFFFFFFF))

    def half_of_result(self) -> int:
        """RDNA's 16-bit results outside VOP3: 0 no 16-bit result, else 1 upper, 2 lower half."""
        rows = deviations.operands(self.entry, self.wave.target)
        if not self.halves or self.form.startswith("VOP3") or "vdst" not in rows or rows["vdst"].bits != 16:
            return 0
        return 1 if self.fields["vdst"] & 128 else 2

    def fields_high(self) -> bool:
        """VOP3's op_sel writes the upper half of a 16-bit result."""
        rows = deviations.operands(self.entry, self.wave.target)
        sixteen = "vdst" in rows and rows["vdst"].bits == 16
        return (
            sixteen
            and self.form.startswith("VOP3")
            and not self.packed
            and bool(self.fields.get("opsel", 0) & 8)
        )

    def result(self, d0: Register, lane: int) -> int:
        entry, wave = self.entry, self.wave
        raw, bits = d0.raw, d0.bits
        if deviations.has_float_results(entry.name):
            ranges = dict(d0.floats)
            if not ranges:
                ranges = dict(deviations.float_parts(self.text))
            for (low, width), kind in ranges.items():
                raw = self.finish(raw, low, width, kind)
        if (
            "vdst" in (rows := deviations.operands(entry, wave.target))
            and rows["vdst"].bits == 16
            and "_MIX" not in entry.name
        ):
            number = self.fields["vdst"] & (127 if self.half_of_result() else 255)
            old = wave.vgpr(number, lane)
            small = raw & 0xFFFF
            if self.form.endswith("SDWA"):
                return self.sdwa_result(old, small, 16)
            if self.half_of_result() == 1 or self.fields_high():
                return old & 0xFFFF | small << 16
            if self.rdna or self.keeps_half():
                return old & 0xFFFF0000 | small
            return small
        if self.form.endswith("SDWA"):
            return self.sdwa_result(wave.vgpr(self.fields["vdst"], lane), raw, bits)
        return raw

    def keeps_half(self) -> bool:
        return deviations.keeps_upper_half(self.entry.name, self.form, self.fields)

    def sdwa_result(self, old: int, raw: int, bits: int) -> int:
        if "dst_sel" not in self.fields:
            return raw
        select, unused = self.fields["dst_sel"], self.fields["dst_unused"]
        if select == 6:
            return raw
        width, shift = (8, 8 * select) if select < 4 else (16, 16 * (select - 4))
        part = raw & (1 << width) - 1
        if unused == 0:
            return part << shift
        if unused == 1:
            high = (1 << 32) - (1 << shift + width) if part >> width - 1 else 0
            return part << shift | high
        return old & ~((1 << width) - 1 << shift) | part << shift

    # -- DPP --------------------

    def lane_sources(self, lane: int) -> tuple[dict[int, Value], bool] | None:
        """The sources of a lane, and whether it may write; None: the lane does nothing."""
        fields = self.fields
        values: dict[int, Value] = {}
        for n in (1, 2):
            if (f"src{n}" in fields or (n == 1 and "vsrc1" in fields)) and self.has_source(n):
                values[n] = self.source(n, lane)
        if "src0" not in fields:
            return values, True
        if not self.form.endswith(("DPP16", "DPP8")):
            values[0] = self.source(0, lane)
            return values, True
        other, writable = self.dpp_lane(lane)
        if other is None:
            if not writable:
                return None
            values[0] = self._zero_source()
        else:
            values[0] = self.source(0, other, 256 + fields["src0"])
        return values, writable

    def has_source(self, n: int) -> bool:
        if n == 2 and re.search(r"FMAC|MAC_|DOT2(ACC|C)", self.entry.name):
            return False
        return f"S{n}" in self.text or "S[i]" in self.text

    def _zero_source(self) -> Value:
        register = self.raw_source
        self.raw_source = lambda n, lane, number=None: 0  # type: ignore[method-assign]
        try:
            return self.source(0, 0, 256)
        finally:
            self.raw_source = register  # type: ignore[method-assign]

    def dpp_lane(self, lane: int) -> tuple[int | None, bool]:
        """(source lane or None for 0, whether this lane writes)."""
        fields, wave = self.fields, self.wave
        if self.form.endswith("DPP8"):
            source = lane & ~7 | fields["lanes"] >> 3 * (lane & 7) & 7
            if not fields["fi"] and not wave.exec >> source & 1:
                return None, True
            return source, True
        row, bank = lane // 16, lane // 4 % 4
        enabled = bool(fields["row_mask"] >> row % 4 & 1 and fields["bank_mask"] >> bank & 1)
        if self.wave.size == 32 and self.rdna:
            enabled = bool(fields["row_mask"] >> row & 1 and fields["bank_mask"] >> bank & 1)
        source, valid = dpp_source(fields["ctrl"], lane, wave.size)
        if valid and not (fields["fi"] or wave.exec >> source & 1):
            valid_read = False
        else:
            valid_read = valid
        if not enabled:
            return None, False
        if valid_read:
            return source, True
        if not valid:
            return None, bool(fields["bound_ctrl"])
        # A source lane that EXEC has off: 0 with bound_ctrl, else the lane is not written.
        return None, bool(fields["bound_ctrl"])


class _Ports:
    """The lane masks that an instruction reads and writes; VCC represents the encoding's own operands."""

    def __init__(self, executor: Executor, compare: bool) -> None:
        self.executor = executor
        wave, fields, name = executor.wave, executor.fields, executor.entry.name
        self.cmpx = "V_CMPX" in name
        source = VCC
        self.target = VCC
        if executor.form.startswith("VOP3"):
            if "src2" in fields and (
                "_CO_CI_" in name or "CNDMASK" in name or "ADDC_CO" in name or "SUBB" in name
            ):
                source = fields["src2"]
            self.target = fields.get("sdst", VCC)
            if compare:
                self.target = fields["vdst"]
        elif compare and executor.form.endswith("SDWA") and fields["sdst"] >= 0:
            self.target = fields["sdst"]
        self.vcc = LaneMask(wave.sgpr(source, wave.size) if source < 128 else 0)
        self.d0 = LaneMask(0)
        self.exec = LaneMask(wave.exec)

    def commit(self, active: int) -> None:
        executor = self.executor
        wave = executor.wave
        for mask in (self.vcc, self.d0):
            if mask.touched or (
                mask is self.d0 and "D0.u64[laneId]" in executor.text and not self._to_exec_only()
            ):
                if self._to_exec_only():
                    continue
                wave.set_sgpr(self.target, wave.size, mask.new & active)
        carries = re.search(r"VCC\.u64\[laneId\] = ", executor.text) or re.search(r"\bD1\.", executor.text)
        if carries and not self.vcc.touched:
            wave.set_sgpr(self.target, wave.size, 0)
        if self.cmpx:
            wave.set_sgpr(EXEC, wave.size, self.exec.new & active)

    def _to_exec_only(self) -> bool:
        return self.cmpx and self.executor.rdna


_LIBRARIES: dict[str, dict[str, Any]] = {}
