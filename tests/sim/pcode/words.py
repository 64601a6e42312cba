"""Machine words for every instruction of the pseudocode's tables, and the values of their fields.

Written from the ISA documents' microcode formats, independently of `rocdbg.isa`: the oracle reads its
operands here, so a
fault in the decoder shows as a difference too.
"""

from __future__ import annotations

import importlib
import random
import re
from dataclasses import dataclass, field, replace
from functools import cache

from rocdbg.isa.encoding_table import base_name, load

FAMILIES = {"gfx1100": "rdna3", "gfx1101": "rdna3", "gfx1102": "rdna3", "gfx1200": "rdna4", "gfx1201": "rdna4",
            "gfx942": "cdna", "gfx950": "cdna",
            "gfx1010": "rdna3", "gfx1030": "rdna3", "gfx1150": "rdna3", "gfx1151": "rdna3",
            "gfx90a": "cdna", "gfx908": "cdna", "gfx906": "cdna", "gfx900": "cdna"}
"""The text for each target."""

RELATED = frozenset(("gfx1010", "gfx1030", "gfx1150", "gfx1151", "gfx90a", "gfx908", "gfx906", "gfx900"))
"""Targets for which the text is not written, but which have most of the opcodes."""


@dataclass(frozen=True)
class Operand:
    """The tables' description of an operand: format name, bits."""

    format: str
    bits: int


@dataclass(frozen=True)
class Entry:
    """One instruction of one encoding class of the tables."""

    group: str  # VOP1, VOP2, VOP3, SOP1, DS ...
    name: str  # V_ADD_F32
    opcode: int
    text: str
    operands: dict[str, Operand] = field(compare=False, hash=False)


@dataclass
class Word:
    """An instruction word: its instruction and its fields as numbers. ``form``: VOP2, VOP2_SDWA, VOP3_DPP8 ..."""

    entry: Entry
    form: str
    fields: dict[str, int]
    code: bytes
    literal: int | None = None


@cache
def entries(target: str) -> tuple[Entry, ...]:
    """All instructions of a target's text."""
    family = FAMILIES[target]
    base = "tinygrad.runtime.autogen.amd"
    texts = importlib.import_module(f"{base}.{family}.str_pcode").PCODE
    operands = importlib.import_module(f"{base}.{family}.operands").OPERANDS
    found = []
    for member, text in texts.items():
        group = type(member).__name__.removesuffix("Op")
        group = {"VGLOBAL": "GLOBAL", "VFLAT": "FLAT", "VSCRATCH": "SCRATCH", "VBUFFER": "MUBUF"}.get(
            group, group
        )
        name = member.name.removesuffix("_E32").removesuffix("_E64")
        rows = {
            k: Operand(row[0].name.removeprefix("FMT_").removeprefix("NUM_"), row[1])
            for k, row in operands.get(member, {}).items()
        }
        found.append(Entry(group, name, member.value, text, rows))
    if not target.startswith("gfx10"):
        return tuple(found)
    # GFX10 has other opcodes: they are looked up by name.
    opcodes: dict[tuple[str, str], int] = {}
    for layout, known in load(target)["rows"].items():
        for number, row in known.items():
            opcodes.setdefault((layout, base_name(row[0]).upper()), int(number))
    return tuple(replace(e, opcode=opcodes[e.group, e.name]) for e in found if (e.group, e.name) in opcodes)


def m0_code(target: str) -> int:
    """Operand code of M0; GFX11 exchanged it with NULL's."""
    return 125 if is_rdna(target) and not target.startswith("gfx10") else 124


def null_code(target: str) -> int:
    """Operand code of NULL, -1 where there is none."""
    return 249 - m0_code(target) if is_rdna(target) else -1


def is_rdna(target: str) -> bool:
    return FAMILIES[target] != "cdna"


FLOAT_CONSTANTS = {240: 0.5, 241: -0.5, 242: 1.0, 243: -1.0, 244: 2.0, 245: -2.0, 246: 4.0, 247: -4.0}
INVERSE_TWO_PI = {16: 0x3118, 32: 0x3E22F983, 64: 0x3FC45F306DC9C882}


class Maker:
    """Makes random words for one target."""

    def __init__(self, target: str, rng: random.Random, wave_size: int) -> None:
        self.target, self.rng, self.wave_size = target, rng, wave_size
        self.rdna = is_rdna(target)
        self.gfx12 = FAMILIES[target] == "rdna4"
        self.literal: int | None = None
        self.halves = self.rdna and not target.startswith("gfx10")
        """Whether 16-bit operands may be upper halves."""

    # -- operands --------------------

    def vgpr(self, bits: int, kind: str = "", half: bool = False) -> int:
        """A register whose contents suit the type: see ``state.fill``. ``half``: bit 7 may select the upper half."""
        rng = self.rng
        if bits <= 16:
            number = rng.choice((0, 4, 8, 9, 10, 11, 12, 13, 14, 15))
            return number | (128 if half and self.halves and bits == 16 and rng.random() < 0.4 else 0)
        if bits <= 32:
            if kind.startswith("PK2"):
                return rng.choice((8, 9, 10, 11, 12, 13, 14, 15, 3))
            if kind == "F32":
                return rng.choice((0, 1, 2, 3, 4, 5, 6, 7, 7, 12, 33))
            return rng.choice((0, 1, 2, 9, 32, 33, 34, 35, 36, 37, 38, 39))
        if bits == 64 and kind == "F64":
            return rng.choice((16, 18, 20, 22, 24, 26, 28, 30))
        return rng.choice((16, 20, 24, 32, 34, 36, 0)) if bits <= 64 else rng.choice((16, 20, 24, 32))

    def sgpr(self, bits: int) -> int:
        step = max(1, min(4, bits // 32))
        if self.rng.random() < 0.12 and bits <= 64:
            return 106  # VCC
        return self.rng.randrange(0, 32 // step - 1) * step

    def source(
        self, bits: int, kind: str, *, literal: bool = True, scalar: bool = True, half: bool = False
    ) -> int:
        """A 9-bit source: register, inline constant or literal."""
        rng = self.rng
        roll = rng.random()
        if roll < 0.5 or not scalar:
            return 256 + self.vgpr(bits, kind, half)
        if roll < 0.68:
            return self.sgpr(bits)
        if roll < 0.9 or not literal:
            return self.constant()
        if self.literal is None:
            self.literal = self.make_literal()
        return 255

    def constant(self) -> int:
        rng = self.rng
        if rng.random() < 0.4:
            return rng.choice((240, 241, 242, 243, 244, 245, 246, 247, 248, 248))
        return rng.choice((128, 129, 130, 144, 160, 192, 193, 194, 208))

    def make_literal(self) -> int:
        rng = self.rng
        return rng.choice(
            (
                rng.getrandbits(32),
                0x3FC00000,
                0x12345678,
                0xFFFF8001,
                0x80000000,
                0x3C00,
                0x7FC00001,
                rng.getrandbits(16),
            )
        )

    def scalar_source(self, bits: int, *, literal: bool = True) -> int:
        roll = self.rng.random()
        if roll < 0.55:
            return self.sgpr(bits)
        if roll < 0.85 or not literal:
            return self.rng.choice((self.constant(), 126 if bits <= 64 else 0, self.constant()))
        if self.literal is None:
            self.literal = self.make_literal()
        return 255

    # -- words --------------------

    def make(self, entry: Entry, form: str) -> Word | None:
        """A random word, or None if the form does not exist."""
        self.literal = None
        maker = getattr(self, "_" + entry.group.lower(), None)
        if maker is None:
            return None
        return maker(entry, form)  # type: ignore[no-any-return]

    def word(
        self, entry: Entry, form: str, fields: dict[str, int], size: int, value: int, extra: int | None = None
    ) -> Word:
        code = value.to_bytes(size, "little")
        if extra is not None:
            code += extra.to_bytes(4, "little")
        elif self.literal is not None:
            code += self.literal.to_bytes(4, "little")
        return Word(entry, form, fields, code, self.literal)

    def signs(self, entry: Entry, n: int) -> bool:
        """Whether the assembler accepts neg and abs for source ``n``, as it does for floats."""
        name = f"S{n}"
        if "CNDMASK_B32" in entry.name and n < 2:
            return True
        row = self.rows(entry).get(f"src{n}") or self.rows(entry).get({0: "vsrc0", 1: "vsrc1"}.get(n, ""))
        if row is not None and re.search(r"^[UIB]\d", row.format):
            return "_MIX" in entry.name
        return (
            bool(re.search(rf"\b{name}(\[[^]]*\])?\.(bf16|f16|f32|f64)\b", entry.text))
            or "_MIX" in entry.name
        )

    def rows(self, entry: Entry) -> dict[str, Operand]:
        from tests.sim.pcode.deviations import operands

        return operands(entry, self.target)

    def opsel(self, entry: Entry, names: list[str]) -> int:
        """Random op_sel bits for the operands that are 16 bits wide."""
        rows = self.rows(entry)
        allowed = sum(1 << n for n, name in enumerate(names) if name in rows and rows[name].bits == 16)
        if "vdst" in rows and rows["vdst"].bits == 16:
            allowed |= 8
        if self.gfx12 and re.search(r"V_CVT_(PK_)?F32_[FB]F?P?8", entry.name):
            allowed = 1 if "PK" in entry.name else 3
        if self.gfx12 and re.search(r"V_CVT_(PK|SR)_[FB]F?P?8", entry.name):
            allowed = 8 if "PK" in entry.name else 12
        return self.rng.choice((0, self.rng.getrandbits(4))) & allowed

    def bits_of(self, entry: Entry, name: str) -> tuple[int, str]:
        rows = self.rows(entry)
        row = rows.get(name) or rows.get({"vsrc1": "src1", "src1": "vsrc1", "src0": "vsrc0"}.get(name, name))
        return (row.bits, row.format) if row else (32, "ANY")

    def _sop1(self, e: Entry, form: str) -> Word:
        f = {
            "sdst": self.sgpr(self.bits_of(e, "sdst")[0]),
            "ssrc0": self.scalar_source(self.bits_of(e, "ssrc0")[0]),
        }
        if "MOVREL" in e.name or "GETPC" in e.name:
            f["ssrc0"] = self.sgpr(self.bits_of(e, "ssrc0")[0]) & 15
            f["sdst"] &= 14
        return self.word(e, form, f, 4, 0xBE800000 | f["sdst"] << 16 | e.opcode << 8 | f["ssrc0"])

    def _sop2(self, e: Entry, form: str) -> Word:
        f = {n: self.scalar_source(self.bits_of(e, n)[0]) for n in ("ssrc0", "ssrc1")}
        f["sdst"] = self.sgpr(self.bits_of(e, "sdst")[0])
        if "FMAAK" in e.name or "FMAMK" in e.name:
            self.literal = self.literal or self.make_literal()
        return self.word(
            e, form, f, 4, 0x80000000 | e.opcode << 23 | f["sdst"] << 16 | f["ssrc1"] << 8 | f["ssrc0"]
        )

    def _sopc(self, e: Entry, form: str) -> Word:
        f = {n: self.scalar_source(self.bits_of(e, n)[0]) for n in ("ssrc0", "ssrc1")}
        return self.word(e, form, f, 4, 0xBF000000 | e.opcode << 16 | f["ssrc1"] << 8 | f["ssrc0"])

    def _sopk(self, e: Entry, form: str) -> Word:
        f = {
            "sdst": self.sgpr(self.bits_of(e, "sdst")[0]),
            "simm16": self.rng.choice((0, 1, 0x7FFF, 0x8000, 0xFFFF, self.rng.getrandbits(16))),
        }
        if "CALL" in e.name:
            f["simm16"] &= 0xFF
        return self.word(e, form, f, 4, 0xB0000000 | e.opcode << 23 | f["sdst"] << 16 | f["simm16"])

    def _sopp(self, e: Entry, form: str) -> Word:
        f = {"simm16": self.rng.choice((1, 3, 0x3F, 0xFFFD))}
        return self.word(e, form, f, 4, 0xBF800000 | e.opcode << 16 | f["simm16"])

    def _vop1(self, e: Entry, form: str) -> Word | None:
        return self._vector(e, form, ("src0",))

    def _vop2(self, e: Entry, form: str) -> Word | None:
        return self._vector(e, form, ("src0", "vsrc1"))

    def _vopc(self, e: Entry, form: str) -> Word | None:
        return self._vector(e, form, ("src0", "vsrc1"))

    def _vop3(self, e: Entry, form: str) -> Word | None:
        return self._three(e, form, e.opcode, ("src0", "src1", "src2"))

    def _vop3sd(self, e: Entry, form: str) -> Word | None:
        return self._three(e, form, e.opcode, ("src0", "src1", "src2"), sdst=True)

    def _vector(self, e: Entry, form: str, names: tuple[str, ...]) -> Word | None:
        group = e.group
        if form.startswith("VOP3"):
            if not self.rdna and "MAD" in e.name and ("MK" in e.name or "AK" in e.name):
                return None
            offset = {"VOP1": 0x180 if self.rdna else 0x140, "VOP2": 0x100, "VOPC": 0}[group]
            carry = "_CO_" in e.name and group == "VOP2"
            return self._three(e, form, offset + e.opcode, ("src0", "src1"), sdst=carry)
        f: dict[str, int] = {}
        bits, kind = self.bits_of(e, "src0")
        if "READFIRSTLANE" in e.name:
            f["src0"] = 256 + self.vgpr(32)
        elif form in ("VOP1", "VOP2", "VOPC"):
            if "AK" in e.name[-10:] or "MK" in e.name[-10:]:
                self.literal = self.make_literal()
            f["src0"] = self.source(bits, kind, half=True)
        else:
            f["src0"] = self.vgpr(bits, kind, half=form.endswith(("DPP16", "DPP8")))
        if len(names) > 1:
            b1, k1 = self.bits_of(e, "vsrc1")
            f["vsrc1"] = self.vgpr(b1, k1, half=not form.endswith("SDWA"))
        if group != "VOPC":
            bits_d, kind_d = self.bits_of(e, "vdst")
            f["vdst"] = self.vgpr(bits_d, kind_d, half=not form.endswith("SDWA"))
            if "READFIRSTLANE" in e.name:
                f["vdst"] = self.sgpr(32)
        src0, extra = self._tail(form, f, e)
        value = {
            "VOP1": 0x7E000000 | f.get("vdst", 0) << 17 | e.opcode << 9,
            "VOP2": e.opcode << 25 | f.get("vdst", 0) << 17 | f.get("vsrc1", 0) << 9,
            "VOPC": 0x7C000000 | e.opcode << 17 | f.get("vsrc1", 0) << 9,
        }[group]
        return self.word(e, form, f, 4, value | src0, extra)

    def _tail(self, form: str, f: dict[str, int], entry: Entry) -> tuple[int, int | None]:
        """The src0 field and the following dword, for SDWA and DPP."""
        rng, group = self.rng, entry.group
        if form.endswith("DPP8"):
            f["fi"] = rng.getrandbits(1)
            f["lanes"] = rng.getrandbits(24)
            return 233 + f["fi"], f["lanes"] << 8 | f["src0"]
        if form.endswith("DPP16"):
            f.update(
                row_mask=rng.choice((15, 15, rng.getrandbits(4))),
                bank_mask=rng.choice((15, 15, rng.getrandbits(4))),
            )
            f.update(
                bound_ctrl=rng.getrandbits(1),
                fi=rng.getrandbits(1) if self.rdna else 0,
                ctrl=self._dpp_ctrl(),
            )
            for name in ("abs0", "neg0", "abs1", "neg1"):
                chosen = (
                    rng.random() < 0.2 and self.signs(entry, int(name[-1])) and "MOV_B16" not in entry.name
                )
                f[name] = int(chosen and not form.startswith("VOP3"))
            extra = (
                f["row_mask"] << 28
                | f["bank_mask"] << 24
                | f["abs1"] << 23
                | f["neg1"] << 22
                | f["abs0"] << 21
            )
            extra |= (
                f["neg0"] << 20 | f["bound_ctrl"] << 19 | f["fi"] << 18 | f["ctrl"] << 8 | f["src0"] & 0xFF
            )
            return 250, extra
        if form.endswith("SDWA"):
            for name in ("src0_sel", "src1_sel", "dst_sel"):
                f[name] = rng.choice((0, 1, 2, 3, 4, 5, 6, 6, 6))
            f["dst_unused"] = rng.randrange(3)
            for name in ("sext0", "neg0", "abs0", "sext1", "neg1", "abs1", "clamp"):
                allowed = name == "clamp" or self.signs(entry, int(name[-1])) != name.startswith("sext")
                f[name] = int(rng.random() < 0.2 and allowed)
            f["omod"] = rng.choice((0, 0, 0, 1, 2, 3)) if group != "VOPC" else 0
            if rng.random() < 0.3:
                f["s0"], f["src0"] = 1, self.sgpr(32)
            if "vsrc1" in f and rng.random() < 0.3:
                f["s1"], f["vsrc1"] = 1, self.sgpr(32)
            extra = f["src0"] | f["src0_sel"] << 16 | f["sext0"] << 19 | f["neg0"] << 20 | f["abs0"] << 21
            extra |= f.get("s0", 0) << 23
            if "vsrc1" in f:
                extra |= (
                    f["src1_sel"] << 24
                    | f["sext1"] << 27
                    | f["neg1"] << 28
                    | f["abs1"] << 29
                    | f.get("s1", 0) << 31
                )
            if group == "VOPC":
                f["clamp"] = 0
                f["sdst"] = rng.choice((-1, 20, 22))
                extra |= 0 if f["sdst"] < 0 else f["sdst"] << 8 | 1 << 15
            else:
                extra |= f["dst_sel"] << 8 | f["dst_unused"] << 11 | f["clamp"] << 13 | f["omod"] << 14
            return 249, extra
        return f["src0"], None

    def _dpp_ctrl(self) -> int:
        rng = self.rng
        n = rng.randrange(1, 16)
        common = [rng.getrandbits(8), 0x100 | n, 0x110 | n, 0x120 | n, 0x140, 0x141]
        if self.rdna:
            return rng.choice([*common, 0x150 | n, 0x160 | n])
        return rng.choice([*common, 0x130, 0x134, 0x138, 0x13C, 0x142, 0x143, 0x150 | n])

    def _three(
        self, e: Entry, form: str, opcode: int, names: tuple[str, ...], sdst: bool = False
    ) -> Word | None:
        rng = self.rng
        f: dict[str, int] = {}
        literal = self.rdna and form == "VOP3"
        for name in names:
            known = (
                name in e.operands
                or (name == "src1" and "vsrc1" in e.operands)
                or (name == "src0" and "vsrc0" in e.operands)
            )
            if not known and name == "src2":
                f[name] = 0
                continue
            bits, kind = self.bits_of(e, name if name in e.operands or name != "src1" else "vsrc1")
            f[name] = self.source(
                bits, kind, literal=literal, scalar=name != "src1" or form == "VOP3" or self.gfx12
            )
        used = [n for n in ("src0", "src1", "src2") if n in f]
        if (
            "_CO_CI_" in e.name
            or "CNDMASK" in e.name
            or (not self.rdna and ("ADDC" in e.name or "SUBB" in e.name))
        ):
            f["src2"] = rng.choice((20, 22, 106))
            used = [n for n in used if n != "src2"]
        for name in ("src0", "src1", "src2"):
            f.setdefault(name, 0)
        f["vdst"] = (
            self.sgpr(64) if e.group == "VOPC" or "V_CMP" in e.name else self.vgpr(*self.bits_of(e, "vdst"))
        )
        if "READLANE" in e.name or "READFIRST" in e.name or e.name.startswith("V_S_"):
            f["vdst"] = self.sgpr(32)
            if "READ" in e.name:
                f["src0"] = 256 + self.vgpr(32)
        if "V_CMPX" in e.name and self.rdna:
            f["vdst"] = 126
        if sdst:
            f["sdst"] = rng.choice((20, 22, 106))
        if re.search(r"V_PERMLANEX?16_(VAR_)?B32", e.name):
            f["src0"] = 256 + self.vgpr(32)
        if "LANE_B32" in e.name and "src1" in names and f["src1"] >= 256:
            f["src1"] = self.sgpr(32)
        f["clamp"] = int(rng.random() < 0.2 and "64_" not in e.name)
        f["omod"] = rng.choice((0, 0, 0, 0, 1, 2, 3))
        f["abs"] = (
            0 if sdst else sum(1 << n for n in range(len(used)) if rng.random() < 0.15 and self.signs(e, n))
        )
        f["neg"] = sum(1 << n for n in range(len(used)) if rng.random() < 0.2 and self.signs(e, n))
        f["opsel"] = self.opsel(e, used)
        if e.group == "VOPC" or "V_CMP" in e.name:
            f["opsel"] &= 7
        if "BITOP3" in e.name:
            f.update(abs=rng.getrandbits(3), neg=rng.getrandbits(3), omod=rng.getrandbits(2), clamp=0)
        src0, extra = f["src0"], None
        if form != "VOP3":
            f["src0"] = self.vgpr(*self.bits_of(e, "src0"))
            src0, extra = self._tail(form, f, e)
        low = (0xD4000000 if self.rdna else 0xD0000000) | opcode << 16 | f["vdst"] | f["clamp"] << 15
        low |= f["sdst"] << 8 if sdst else f["opsel"] << 11 | f["abs"] << 8
        high = f["neg"] << 29 | f["omod"] << 27 | f["src2"] << 18 | f["src1"] << 9 | src0
        return self.word(e, form, f, 8, high << 32 | low, extra)

    def _vop3p(self, e: Entry, form: str) -> Word | None:
        rng = self.rng
        if "MFMA" in e.name or "WMMA" in e.name or "SMFMAC" in e.name or "SWMMAC" in e.name:
            return None
        f: dict[str, int] = {}
        for name in ("src0", "src1", "src2"):
            if name not in e.operands:
                f[name] = 0
                continue
            literal = self.rdna and form == "VOP3P" and "_MIX" not in e.name
            vgpr = name == "src1" and form != "VOP3P" and not self.gfx12
            f[name] = self.source(*self.bits_of(e, name), literal=literal, scalar=not vgpr)
        f["vdst"] = self.vgpr(*self.bits_of(e, "vdst"))
        f["clamp"] = int(rng.random() < 0.2)
        f["opsel"] = rng.choice((0, 0, rng.getrandbits(3)))
        f["opsel_hi"] = rng.choice((7, 7, rng.getrandbits(3)))
        signed = sum(1 << n for n in range(3) if self.signs(e, n))
        f["neg"] = rng.choice((0, 0, rng.getrandbits(3))) & (3 if "_IU" in e.name else signed)
        f["neg_hi"] = rng.choice((0, 0, rng.getrandbits(3))) & signed
        src0, extra = f["src0"], None
        if form != "VOP3P":
            f["src0"] = self.vgpr(*self.bits_of(e, "src0"))
            src0, extra = self._tail("VOP3" + form[5:], f, e)
        low = (0xCC000000 if self.rdna else 0xD3800000) | e.opcode << 16 | f["vdst"] | f["clamp"] << 15
        low |= (f["opsel_hi"] >> 2) << 14 | f["opsel"] << 11 | f["neg_hi"] << 8
        high = f["neg"] << 29 | (f["opsel_hi"] & 3) << 27 | f["src2"] << 18 | f["src1"] << 9 | src0
        return self.word(e, form, f, 8, high << 32 | low, extra)


def forms(entry: Entry, target: str) -> list[str]:
    """The encodings that an instruction may have; the decoder determines whether it has them."""
    rdna = is_rdna(target)
    if target.startswith("gfx10"):
        if (g := entry.group) in ("VOP1", "VOP2", "VOPC"):
            return [g, f"{g}_SDWA", f"{g}_DPP16", f"{g}_DPP8", "VOP3"]
        return ["VOP3"] if g in ("VOP3", "VOP3SD") else [g]
    three = ["VOP3", "VOP3_DPP16", "VOP3_DPP8"] if rdna else ["VOP3"]
    match entry.group:
        case "VOP1" | "VOP2" | "VOPC":
            g = entry.group
            return [g, f"{g}_DPP16", f"{g}_DPP8", *three] if rdna else [g, f"{g}_SDWA", f"{g}_DPP16", *three]
        case "VOP3" | "VOP3SD":
            return three
        case "VOP3P":
            return ["VOP3P", "VOP3P_DPP16", "VOP3P_DPP8"] if rdna else ["VOP3P"]
        case _:
            return [entry.group]
