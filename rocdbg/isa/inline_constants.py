"""Values of inline constants and literals in an operand's own width.

Operand types: ``f16 bf16 b16`` (16 bits), ``v2f16 v2bf16 b32`` (32 bits; ``b32`` also represents f32 and
packed integers, whose inline
constants are the same), ``f64 b64``.
"""

from __future__ import annotations

from collections.abc import Sequence

from rocdbg.isa.operands import FLOAT_CONSTANTS, INV_2PI, float_bits

_FORMATS = {
    "f16": "f16", "v2f16": "f16", "bf16": "bf16", "v2bf16": "bf16", "b16": "f32", "b32": "f32", "f64":
    "f64", "b64": "f64",
}
_WIDTHS = {"f16": 16, "bf16": 16, "b16": 16, "f64": 64, "b64": 64}


def inline_code(code: int, texts: Sequence[str | None]) -> int:
    """The operand code of an inline constant, from its code in a vector of texts: in SDWA forms vector registers come
    first, and the highest of nine bits marks everything else."""
    return code & (0xFF if len(texts) == 512 and texts[0] == "v0" else 0x1FF)


def constant_bits(code: int, kind: str, text: str) -> int | None:
    """Bits of the inline constant with an operand code in an operand of type ``kind``; None if the code is not a
    constant."""
    mask = (1 << _WIDTHS.get(kind, 32)) - 1
    if 128 <= code <= 192:
        return code - 128
    if 193 <= code <= 208:
        return (192 - code) & mask
    if text.startswith("0x") and int(text.partition("/*")[0], 16) != code:
        # LLVM prints the 16 bits that an integer operand receives, except for v_fmac in DPP forms, where it prints the
        # code.
        return int(text.partition("/*")[0], 16) & mask
    if 240 <= code <= 247:
        return float_bits(FLOAT_CONSTANTS[code], _FORMATS[kind]) & mask
    if code == 248:
        return INV_2PI[_FORMATS[kind]] & mask
    return None


def literal_value(value: int, kind: str, name: str) -> tuple[int, int]:
    """A 32-bit literal in an operand of type ``kind`` of instruction ``name``: its bits, and their number.

    The literal is the high half of a 64-bit float; for 64-bit integers it is extended, with its sign if they are
    signed.
    """
    if kind == "f64":
        return value << 32, 64
    if kind == "b64":
        extend = "_i64" in name and value >> 31
        return value | (0xFFFFFFFF00000000 if extend else 0), 64
    if kind in ("f16", "bf16", "b16"):
        return value & 0xFFFF, 16
    return value, 32


def constant_type(name: str, operand: str, dwords: int, known: dict[tuple[str, str], str]) -> str:
    """Operand type if the encoding allows no literal that would show it: from the 32-bit encoding, otherwise from the
    name."""
    same = known.get((name, operand)) or (known.get((name, "vsrc1")) if operand == "src1" else None)
    if (
        operand == "src1"
        and same is None
        and (name, "src0") in known
        and "ldexp" not in name
        and "class" not in name
    ):
        same = known[name, "src0"]
    if same is not None and (same.endswith("64") == (dwords == 2)):
        return same
    if dwords >= 2:
        if name.startswith("v_pk_") or (dwords > 2 and "f64" not in name):
            return "b32"
        return "f64" if "f64" in name else "b64"
    if name.startswith(("v_pk_", "v_dot2_")) and operand != "src2":
        return "v2bf16" if "bf16" in name else "v2f16" if "f16" in name else "b32"
    if name.startswith(("v_cvt_pk_fp8_f16", "v_cvt_pk_bf8_f16")):
        return "v2f16"
    if name.startswith("v_pk_"):
        return "v2bf16" if name.endswith("bf16") else "v2f16" if name.endswith("f16") else "b32"
    if name.endswith("_bf16") and "cvt" not in name:
        return "bf16"
    if name.endswith("_f16") and ("cvt" not in name or name.startswith("v_cvt_pknorm_")):
        return "f16"
    if name.endswith(("_i16", "_u16", "_b16")) and "cvt" not in name:
        accumulator = operand == "src2" and "32_" in name  # v_mad_u32_u16, v_dot2_i32_i16
        return "b32" if accumulator or name == "v_sad_u16" else "b16"
    return "b32"
