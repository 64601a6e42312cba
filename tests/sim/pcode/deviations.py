"""Deviations from the text, and facts that the text omits.

The behaviour of hardware (as measured, or as LLVM's back end and AMD's prose documents describe it) takes precedence
over the pseudocode. ``REPLACED`` gives the texts that replace the document's in the comparison, and the reasons.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from tests.sim.pcode.values import Value
from tests.sim.pcode.words import Entry, Operand, entries, is_rdna

if TYPE_CHECKING:
    from tests.sim.pcode.wave import Wave


@dataclass(frozen=True)
class Replacement:
    """``pattern``: full match of names; ``text`` with {t} for the type suffix of the name (f16, f32, f64)."""

    pattern: str
    text: str
    why: str
    targets: str = ".*"


REPLACED = (
    Replacement(
        r"[SV]_RNDNE_(F\d+)", "D0.{t} = round_even(S0.{t})",
        "floor(x + 0.5) rounds the sum: 0.49999997 would become 1, and -0.2 would lose its sign",
    ),
    Replacement(
        r"[SV]_(?:CEIL)_(F\d+)", "D0.{t} = ceil(S0.{t})", "trunc + 1 loses the sign of ceil(-0.5)",
    ),
    Replacement(r"[SV]_FLOOR_(F\d+)", "D0.{t} = floor(S0.{t})", "as ceil"),
    Replacement(
        r"V_SIN_(F\d+)", "D0.{t} = isNAN(S0.{t}) || in_range(S0.{t}) ? sin_turns(S0.{t}) : 0.0",
        "beyond 256 turns GFX9 gives sin 0 and cos 1", "gfx9.*",
    ),
    Replacement(
        r"V_COS_(F\d+)", "D0.{t} = isNAN(S0.{t}) || in_range(S0.{t}) ? cos_turns(S0.{t}) : 1.0", "as sin", "gfx9.*",
    ),
    Replacement(
        r"V_SIN_(F\d+)", "D0.{t} = sin_turns(S0.{t})", "the product with 2 pi is not rounded: the operand is in turns",
    ),
    Replacement(r"V_COS_(F\d+)", "D0.{t} = cos_turns(S0.{t})", "as sin"),
    Replacement(
        r"V_FREXP_MANT_(F\d+)", "D0.{t} = isNAN(S0.{t}) ? cvtToQuietNAN(S0.{t}) : mantissa(S0.{t})",
        "mantissa() is the frexp mantissa; NaNs come out quiet",
    ),
    Replacement(
        r"V_FREXP_EXP_I32_(F\d+)", "D0.i32 = frexp_exponent(S0.{t})",
        "the exponent field of subnormals is 0, their exponent is not",
    ),
    Replacement(
        r"S_MAX_(I32|U32)", "SCC = S0.{t} > S1.{t}; D0.{t} = SCC ? S0.{t} : S1.{t}",
        "equal operands clear SCC, as random programs run on a gfx1100 showed",
    ),
    Replacement(
        "S_SWAPPC_B64", "jump_addr = S0.i64; D0.i64 = PC + INSTRUCTION_SIZE; PC = jump_addr.i64",
        "the return address is behind a literal too",
    ),
    Replacement(
        "V_CVT_OFF_F32_I4", "D0.f32 = ldexp(i32_to_f32(32'I(signext(S0.i4))), -4)", "the table's contents "
        "are not in the text",
    ),
    Replacement(
        r"V_CVT_(?:RPI|NEAREST)_I32_F32", "D0.i32 = nan_by_sign(S0.f32, nearest_up(S0.f32))",
        "the sum is not rounded; NaN as in floor",
    ),
    Replacement(
        r"V_CVT_(?:FLR|FLOOR)_I32_F32", "D0.i32 = nan_by_sign(S0.f32, floor(S0.f32))", "gfx1201: a NaN gives "
        r"the limit of its sign",
    ),
    Replacement("V_CVT_PK(ACCUM)?_U8_F32|V_CVT_PK_U8_F32", "PK_U8", "gfx1201: rounds as MODE says"),
    Replacement(
        "V_PACK_B32_F16", "D0[31 : 16].f16 = quieted(S1.f16); D0[15 : 0].f16 = quieted(S0.f16)", "gfx1201: "
        "NaNs become quiet",
    ),
    Replacement(
        r"V_CUBE(ID|SC|TC|MA)_F32", "CUBE", "comparisons are made on flushed magnitudes; a doubled zero is +0 "
        r"(gfx1201)",
    ),
    Replacement(
        r"V_DIV_SCALE_(F32|F64)", "D0.{t} = div_scale(S0.{t}, S1.{t}, S2.{t}); VCC.u64[laneId] = "
        r"div_scale_flag(S0.{t}, S1.{t}, S2.{t})",
        "the text's DENORM comparisons do not say what is meant of quotients; measured behaviour (see "
        "sim/semantics/division.py)",
    ),
    Replacement(
        r"V_DIV_FMAS_(F32|F64)", "D0.{t} = div_fmas(S0.{t}, S1.{t}, S2.{t}, VCC.u64[laneId])",
        "the factor is 2**+-64 (f64: 128) by the size of the quotient, and rounded together with the sum",
    ),
    Replacement(
        r"V_(?:MINIMUM|MAXIMUM)_(F\d+)", "MINIMUM", "gfx1201: the first NaN, also before a signaling one",
    ),
    Replacement(
        r"V_PERMLANEX?16(_VAR)?_B32", "PERMLANE",
        "op_sel[0] fetches inactive lanes, op_sel[1] gives 0 for them; else the lane is not written",
    ),
    Replacement(
        r"V_DIV_FIXUP_(F32|F64)", "DIV_FIXUP",
        "a quotient that is NaN comes from an overflow in the refinement and becomes infinity",
    ),
    Replacement(
        r"V_(?:DUAL_)?DOT2(?:ACC|C)?_F32_(F16|BF16)",
        "D0.f32 = fma({t}_to_f32(S0[31 : 16].{t}), {t}_to_f32(S1[31 : 16].{t}),"
        " fma({t}_to_f32(S0[15 : 0].{t}), {t}_to_f32(S1[15 : 0].{t}), S2.f32))",
        "the hardware's internal precision is not public; two fused steps are our model",
    ),
    Replacement(
        "V_DOT2_F16_F16",
        "D0.f16 = fma(S0[31 : 16].f16, S1[31 : 16].f16, fma(S0[15 : 0].f16, S1[15 : 0].f16, S2.f16))", "as above",
    ),
    Replacement(
        r"V_FRACT_(F\d+)", "D0.{t} = below_one(S0.{t} - floor(S0.{t}))",
        "the result stays below 1: the device libraries use the instruction as fract()",
    ),
    Replacement(
        "V_TRIG_PREOP_F64", "D0.f64 = trig_preop(S0.f64, S1.u32[4 : 0])", "1201 bits of 2/pi; the text's PI is f64",
    ),
    Replacement(r"V_FREXP_EXP_I16_(F\d+)", "D0.i16 = frexp_exponent(S0.{t})", "as above"),
)


NOT_COMPARED = {
    r"V_(DUAL_)?DOT2\w*_(F16|BF16)|V_DOT4_F32_\w+": "sums are modelled bit for bit as hardware makes them "
    r"(sim/semantics/dots.py), not as the text has them",
    "S_CBRANCH_(I|G)_FORK|S_CBRANCH_JOIN": "CSP and the stack of masks are tested on their own",
    "V_PK_FMAC_F16": "what neg and abs do to halves where the encoding has them per operand is not known",
    "V_(MAC|MADAK|MADMK|MAD_LEGACY|FMA_LEGACY)_[FIU]16": "modifiers of results that the text puts together from halves",
    "V_CVT_SR_(FP8|BF8)_F32": "gfx1201 was measured to add the random bits otherwise",
    "V_PERMLANE(16|32)_SWAP_B32": "the text leaves out EXEC, which decides as in v_permlane16",
    "V_DIV_FIXUP_(LEGACY_)?F16": "quotients that overflowed are put right as measured, which the text does not do",
    r"V_MOVREL\w+|V_SWAPREL\w+": "DPP forms only: what is moved where is not said",
}


def not_compared(name: str, form: str) -> str:
    """The reason why an instruction is not compared; empty if it is."""
    for pattern, why in NOT_COMPARED.items():
        if re.fullmatch(pattern, name) and ("DPP forms" not in why or "DPP" in form):
            return why
    return ""


@cache
def text_of(entry: Entry, target: str) -> str:
    """The text for the comparison."""
    for row in REPLACED:
        match = re.fullmatch(row.pattern, entry.name)
        if match and re.fullmatch(row.targets, target):
            if row.text == "PK_U8":
                return entry.text.replace("f32_to_u8(S0.f32)", "f32_to_u8(round_by_mode(S0.f32))")
            if row.text == "CUBE":
                text = re.sub(r"abs\((S\d\.f32)\)", r"abs(flushed(\1))", entry.text)
                text = re.sub(r"(S\d\.f32) < 0\.0F", r"flushed(\1) < 0.0F", text)
                return re.sub(r"(S\d\.f32) \* 2\.0F", r"doubled(\1)", text).replace("2.0F * S", "2.0F*S")
            if row.text == "MINIMUM":
                return re.sub(r"isSignalNAN\(", "isNAN(", entry.text)
            if row.text == "PERMLANE":
                return re.sub(
                    r"(VGPR\[(?:row \* 16 \+ i|lane)\]\[VDST\.u32\]) = tmp\[(.*)\]",
                    r"from = \2; if OPSEL[0] || EXEC[from].u1 then \1 = tmp[from] elsif OPSEL[1] then \1 = 32'0U endif",
                    entry.text,
                ).replace("wave32.u1", "WAVE32")
            if row.text == "DIV_FIXUP":
                t = match.group(1).lower()
                last = entry.text.rindex("else")
                infinite = f"elsif isNAN(S0.{t}) then D0.{t} = sign_out ? -INF.{t} : INF.{t} "
                return entry.text[:last] + infinite + entry.text[last:]
            return row.text.replace("{t}", match.group(1).lower() if match.groups() else "")
    if re.fullmatch(r"V_CVT_(PK_)?F32_(FP8|BF8)", entry.name):
        return entry.text.replace("VGPR[laneId][SRC0.u32]", "S0")  # which may be no VGPR
    if "SCALEF32" in entry.name:
        return entry.text.replace("VGPR[laneId][SRC0.u32]", "S0")
    if "V_CVT_SR_" in entry.name:
        text = entry.text.replace("mantissa(", "fraction(")
        return re.sub(r"m = (23'U.*?\));", r"m = exponent(S0.f32) == 255 ? fraction(S0.f32) : \1;", text)
    text = entry.text
    if not is_rdna(target):
        text = re.sub(r"64'F\((S\d\.f\d\d)\) == ([+-])0\.0", r"is_zero\2(\1)", text)
        text = re.sub(r"\((S\d\.f64) == ([+-])0\.0", r"(is_zero\2(\1)", text)
        text = text.replace("is_zero+", "is_plus_zero").replace("is_zero-", "is_minus_zero")
        if "V_MAD_MIX" in entry.name:  # gfx942 and gfx950 have v_fma_mix under these opcodes
            text = text.replace("in[0] * in[1] + in[2]", "fma(in[0], in[1], in[2])")
    return text.replace("wave32.u1", "WAVE32")


_SATURATING = re.compile(
    r"V_((ADD|SUB|SUBREV)_(NC_)?[UI]|MAD_(LEGACY_)?[UI]\d|M?SAD_|PK_(ADD|SUB|MAD)_[UI]|MAD_[UI]\d\d_[UI]\d\d|DOT\d+C?_[UI])"
)


@cache
def saturating_text(entry: Entry, target: str) -> str:
    """The text with the clamp bit set, for integer results: computed without wrapping, then clamped."""
    text = text_of(entry, target)
    if "_CO_" in entry.name:
        full = "0U" if "SUB" in entry.name else "0xffffffffU"
        return text.replace("D0.u32 = tmp.u32", f"D0.u32 = VCC.u64[laneId].u32 == 1U ? {full} : tmp.u32")
    if "QSAD" in entry.name:
        return text.replace("16'B(", "saturate_u16(").replace("32'B(", "saturate_u32(")
    if not _SATURATING.match(entry.name):
        return text
    text = re.sub(r"(?:32|16)'[UI]\(", "64'I(", text)
    text = re.sub(r"\bS[012](?:\[[^]]*\])?\.[ui](?:8|4|16|24|32)\b(?!\[)", r"64'I(\g<0>)", text)
    text = re.sub(r"\b(u|i)(8|4|16)_to_[ui]32\(", "64'I(", text)
    return re.sub(
        r"(D0|tmp\[31 : 16\]|tmp\[15 : 0\])\.([ui])(16|32) = ([^;]+)", r"\1.\2\3 = saturate_\2\3(\4)", text
    )


@cache
def operands(entry: Entry, target: str) -> dict[str, Operand]:
    """The operand rows of an entry. VOP3's rows are taken from the short encoding if there is one, because the table
    has DPP's rows for some.
    """
    if entry.group in ("SOP1", "SOP2", "SOPC") and (
        not entry.name.endswith("_F16") or re.match("S_(CVT|FLOOR|CEIL|TRUNC|RNDNE)_", entry.name)
    ):
        # Scalar operands are 32 bits wide at least: constants of 16-bit integers are not f16.
        wide = {k: Operand(o.format, max(o.bits, 32)) for k, o in entry.operands.items()}
        return {k: Operand("B32", 32) if o.format == "F16" else o for k, o in wide.items()}
    if re.fullmatch(r"V_CVT_(PK_)?F32_(FP8|BF8)", entry.name):
        return {**entry.operands, "src0": Operand("B32", 32)}
    if entry.group not in ("VOP3", "VOP3SD"):
        return entry.operands
    if "CMPX_CLASS_F16" in entry.name:
        return {**entry.operands, "src1": Operand("U16", 16)}  # as in v_cmp_class_f16
    for other in entries(target):
        if other.group in ("VOP1", "VOP2", "VOPC") and other.name == entry.name and other.operands:
            rows = dict(other.operands)
            if "vsrc1" in rows:
                rows["src1"] = rows.pop("vsrc1")
            return {**entry.operands, **rows}
    return entry.operands


def signs_of_bits(name: str) -> bool:
    """neg and abs change the sign bit of an operand that the text reads as bits."""
    return bool(re.match(r"V_(CNDMASK_B(16|32)|MOV_B32)", name))


def keeps_subnormals(name: str) -> bool:
    """MODE's flushing does not affect these instructions."""
    return bool(re.search(r"CMPX?_CLASS|V_CNDMASK|V_MOV|SCALEF32", name))


def flushes_always(name: str) -> bool:
    """Subnormals are zeros, regardless of MODE."""
    return bool(
        re.fullmatch(
            r"V_(S_)?(RCP|RCP_IFLAG|RSQ|SQRT|EXP|LOG)_F32|V_MAD_F32|V_MAC_F32|V_MADAK_F32|V_MADMK_F32|V_FMAC?_DX9_ZERO_F32|V_(FMA|FMAC|MAC|MAD)_LEGACY_F32",
            name,
        )
    )


def plain_packed(name: str) -> bool:
    """VOP3P whose op_sel and neg do not choose halves."""
    return bool(re.search(r"DOT[48]|PK_MOV_B32", name))


def has_result_modifiers(name: str) -> bool:
    return True


def has_float_results(name: str) -> bool:
    return not re.match(r"V_(CNDMASK|MOV|SWAP|PACK_B32_F16)", name)


@cache
def float_parts(text: str) -> dict[tuple[int, int], str]:
    """The parts of a result built in a temporary that are floats: bits [low, width] and kind."""
    found = {}
    for high, low, kind in re.findall(r"(?:tmp|D0)\[(\d+) : (\d+)\]\.(bf16|f16|f32)\s*=", text):
        found[int(low), int(high) - int(low) + 1] = "bf" if kind == "bf16" else "f"
    return found


def keeps_upper_half(name: str, form: str, fields: dict[str, int]) -> bool:
    """GFX9: whether a 16-bit result keeps the upper half: VOP3 instructions with op_sel do."""
    if "LEGACY" in name or form != "VOP3":
        return False
    return bool(
        re.fullmatch(
            r"V_((MAD|MIN3|MAX3|MED3)_[FIU]16|FMA_F16|DIV_FIXUP_F16|(ADD|SUB)_I16|INTERP_P2_F16|BITOP3_B16|M\w+IMUM3_F16)",
            name,
        )
    )


def mode_fields(wave: Wave) -> dict[str, Value]:
    return {}


def hardware_registers(wave: Wave) -> Any:
    return None


def clears_upper_half(entry: Entry) -> bool:
    """Scalar f16 results: the text does not specify the upper half; hardware is assumed to clear it."""
    return entry.operands.get("sdst", Operand("", 32)).bits == 16 and "_PK_" not in entry.name


def wide_result(name: str) -> bool:
    """The result is a register pair that forms one f64."""
    return bool(re.search(r"_F64$|_F64_", name)) and not re.search(r"V_CVT_\w+_F64$|FREXP_EXP", name)


APPROXIMATE = re.compile(r"V_(S_)?(EXP|LOG|RCP|RCP_IFLAG|RSQ|SQRT|SIN|COS|TANH)_(F\d+|BF16)")


@cache
def loose_parts(entry: Entry) -> tuple[tuple[int, int, str, int], ...]:
    """(first bit, width, kind, units in the last place) of result parts compared as floats: any NaN equals
    any other. Not for
    results that are bits or chosen operands."""
    if re.match(r"[SV]_(CNDMASK|MOV|MIN|MAX|MED|CMP|SWAP)", entry.name):
        return ()
    ulps = 1 if APPROXIMATE.fullmatch(entry.name) else 0
    if re.fullmatch(r"V_(RCP|RSQ|SQRT)_F64", entry.name):
        ulps = 4  # hardware gives about 30 bits
    text = entry.text
    parts = {(low, width, kind, ulps) for (low, width), kind in float_parts(text).items()}
    for kind in re.findall(r"(?:D0|tmp)\.(bf16|f16|f32|f64)\b", text):
        parts.add((0, int(kind[-2:]), "bf" if kind == "bf16" else "f", ulps))
    if any(w == 16 for _, w, _, _ in parts):
        parts |= {(16, 16, k, u) for _, w, k, u in parts if w == 16}
        parts |= {(0, 16, k, u) for _, w, k, u in parts if w == 16}
    return tuple(sorted(parts))
