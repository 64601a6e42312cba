"""Integer instructions of the vector unit against formulas over Python's integers, at the edges of operands."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import numpy as np
import pytest

from rocdbg.arch.targets import TARGETS
from rocdbg.isa.instruction import Instruction, Operand, OperandKind
from rocdbg.sim.core import layout
from rocdbg.sim.core.reference_builder import ReferenceBuilder
from rocdbg.sim.core.wave import block_of_size
from rocdbg.sim.semantics import registry
from rocdbg.sim.semantics.access import Access, Context

WAVE = 64
Formula = Callable[..., int]


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (value >> bits - 1 << bits)


def first(flags: list[bool]) -> int:
    return flags.index(True) if True in flags else -1


def digits(value: int) -> list[bool]:
    return [bool(value >> n & 1) for n in range(32)]


def leading_signs(value: int) -> int:
    return first([bit != digits(value)[31] for bit in digits(value)[::-1]])


def byte(value: int, n: int) -> int:
    return value >> 8 * n & 0xFF


def sad(a: int, b: int, width: int) -> int:
    mask = (1 << width) - 1
    return sum(abs((a >> n & mask) - (b >> n & mask)) for n in range(0, 32, width))


def permuted(a: int, b: int, selectors: int) -> int:
    def one(select: int) -> int:
        if select >= 13:
            return 0xFF
        if select == 12:
            return 0
        if select >= 8:
            return 0xFF * ((a << 32 | b) >> 16 * (select - 8) + 15 & 1)
        return byte(a << 32 | b, select)

    return sum(one(byte(selectors, n)) << 8 * n for n in range(4))


def field(value: int, offset: int, width: int, is_signed: bool) -> int:
    offset, width = offset & 31, width & 31
    found = (signed(value, 32) if is_signed else value) >> offset & (1 << width) - 1
    return signed(found, width) if is_signed and width else found


def limited(value: int, low: int, high: int) -> int:
    return max(low, min(high, value))


def both_limited(value: int, count: int, other: int, low: int, high: int) -> int:
    found = [limited(signed(v, 32) >> (count & 31), low, high) & 0xFF for v in (value, other)]
    return found[0] | found[1] << 8


def middle(*values: int) -> int:
    return sorted(values)[1]


# The name, bits of the sources and of the result, the formula, and flags. A result beyond the bits wraps, and saturates
# with the clamp bit: "u" as an unsigned number, "i" as a signed one. "s": the sources are signed; "c": only with clamp.
Row = tuple[str, tuple[int, ...], int, Formula, str]
ROWS: list[Row] = []
for _n, _names in ((16, ("nc_{}16", "{}16")), (32, ("nc_{}32",)), (64, ("nc_{}64",))):
    for _name in _names:
        for _kind in "ui" if _n != 64 else "u":
            _end = _name.format(_kind)
            ROWS += [
                (f"v_add_{_end}", (_n, _n), _n, lambda a, b: a + b, _kind),
                (f"v_sub_{_end}", (_n, _n), _n, lambda a, b: a - b, _kind),
            ]
            if _kind == "u" and _n != 64:
                ROWS.append((f"v_subrev_{_end}", (_n, _n), _n, lambda a, b: b - a, "u"))
for _n in (16, 32, 64):
    for _kind in "ui":
        _end = f"_{_kind}{_n}"
        _s = "s" * (_kind == "i")
        ROWS += [
            (f"v_min{_end}", (_n, _n), _n, min, _s), (f"v_max{_end}", (_n, _n), _n, max, _s),
        ]
        if _n < 64:
            ROWS += [
                (f"v_min3{_end}", (_n,) * 3, _n, min, _s), (f"v_max3{_end}", (_n,) * 3, _n, max, _s),
                (f"v_med3{_end}", (_n,) * 3, _n, middle, _s),
            ]
        if _n == 32:
            ROWS += [
                (f"v_minmax{_end}", (_n,) * 3, _n, lambda a, b, c: max(min(a, b), c), _s),
                (f"v_maxmin{_end}", (_n,) * 3, _n, lambda a, b, c: min(max(a, b), c), _s),
            ]
        if _n == 16:
            ROWS += [
                (f"v_pk_min{_end}", (_n, _n), _n, min, _s), (f"v_pk_max{_end}", (_n, _n), _n, max, _s),
                (f"v_pk_min3{_end}", (_n,) * 3, _n, min, _s), (f"v_pk_max3{_end}", (_n,) * 3, _n, max, _s),
                (f"v_pk_add{_end}", (_n, _n), _n, lambda a, b: a + b, _kind),
                (f"v_pk_sub{_end}", (_n, _n), _n, lambda a, b: a - b, _kind),
                (f"v_pk_mad{_end}", (_n,) * 3, _n, lambda a, b, c: a * b + c, _kind),
                (f"v_mad{_end}", (_n,) * 3, _n, lambda a, b, c: a * b + c, _kind),
            ]
for _n in (16, 32, 64):
    ROWS += [
        (f"v_lshlrev_b{_n}", (_n if _n < 64 else 32, _n), _n, lambda a, b, n=_n: b << a % n, ""),
        (f"v_lshrrev_b{_n}", (_n if _n < 64 else 32, _n), _n, lambda a, b, n=_n: b >> a % n, ""),
        (f"v_ashrrev_i{_n}", (_n if _n < 64 else 32, _n), _n, lambda a, b, n=_n: signed(b, n) >> a % n, ""),
    ]
for _n in (16, 32):
    ROWS += [
        (f"v_and_b{_n}", (_n, _n), _n, lambda a, b: a & b, ""), (f"v_or_b{_n}", (_n, _n), _n, lambda a, b: a | b, ""),
        (f"v_xor_b{_n}", (_n, _n), _n, lambda a, b: a ^ b, ""), (f"v_not_b{_n}", (_n,), _n, lambda a: ~a, ""),
    ]
ROWS += [
    ("v_pk_lshlrev_b16", (16, 16), 16, lambda a, b: b << a % 16, ""),
    ("v_pk_lshrrev_b16", (16, 16), 16, lambda a, b: b >> a % 16, ""),
    ("v_pk_ashrrev_i16", (16, 16), 16, lambda a, b: signed(b, 16) >> a % 16, ""),
    ("v_pk_mul_lo_u16", (16, 16), 16, lambda a, b: a * b, ""),
    ("v_mul_lo_u16", (16, 16), 16, lambda a, b: a * b, ""),
    ("v_mul_lo_u32", (32, 32), 32, lambda a, b: a * b, ""),
    ("v_mul_hi_u32", (32, 32), 32, lambda a, b: a * b >> 32, ""),
    ("v_mul_hi_i32", (32, 32), 32, lambda a, b: a * b >> 32, "s"),
    ("v_mul_u64", (64, 64), 64, lambda a, b: a * b, ""),
    ("v_mul_u32_u24", (32, 32), 32, lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF), ""),
    ("v_mul_hi_u32_u24", (32, 32), 32, lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF) >> 32, ""),
    ("v_mul_i32_i24", (32, 32), 32, lambda a, b: signed(a, 24) * signed(b, 24), ""),
    ("v_mul_hi_i32_i24", (32, 32), 32, lambda a, b: signed(a, 24) * signed(b, 24) >> 32, ""),
    ("v_mad_u32_u24", (32,) * 3, 32, lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c, "u"),
    ("v_mad_i32_i24", (32,) * 3, 32, lambda a, b, c: signed(a, 24) * signed(b, 24) + c, "i"),
    ("v_mad_u32", (32,) * 3, 32, lambda a, b, c: a * b + c, "u"),
    ("v_mad_u32_u16", (16, 16, 32), 32, lambda a, b, c: a * b + c, "u"),
    ("v_mad_i32_i16", (16, 16, 32), 32, lambda a, b, c: a * b + c, "i"),
    ("v_mad_nc_u64_u32", (32, 32, 64), 64, lambda a, b, c: a * b + c, "u"),
    ("v_mad_nc_i64_i32", (32, 32, 64), 64, lambda a, b, c: a * b + c, "i"),
    ("v_add_max_u32", (32,) * 3, 32, lambda a, b, c: max(limited(a + b, 0, 0xFFFFFFFF), c), "c"),
    ("v_add_min_u32", (32,) * 3, 32, lambda a, b, c: min((a + b) & 0xFFFFFFFF, c), ""),
    ("v_add_max_i32", (32,) * 3, 32, lambda a, b, c: max(signed(a + b, 32), signed(c, 32)), ""),
    ("v_add_min_i32", (32,) * 3, 32, lambda a, b, c: min(limited(a + b, -1 << 31, (1 << 31) - 1), c), "sc"),
    ("v_sad_u8", (32,) * 3, 32, lambda a, b, c: sad(a, b, 8) + c, "u"),
    ("v_sad_u16", (32,) * 3, 32, lambda a, b, c: sad(a, b, 16) + c, "u"),
    ("v_sad_u32", (32,) * 3, 32, lambda a, b, c: sad(a, b, 32) + c, "u"),
    ("v_sad_hi_u8", (32,) * 3, 32, lambda a, b, c: (sad(a, b, 8) << 16) + c, "u"),
    ("v_msad_u8", (32,) * 3, 32, lambda a, b, c: c + sum(
        abs(byte(a, n) - byte(b, n)) for n in range(4) if byte(b, n)), "u"),
    ("v_lerp_u8", (32,) * 3, 32, lambda a, b, c: sum(
        (byte(a, n) + byte(b, n) + (byte(c, n) & 1) >> 1) << 8 * n for n in range(4)), ""),
    ("v_perm_b32", (32,) * 3, 32, permuted, ""),
    ("v_alignbit_b32", (32,) * 3, 32, lambda a, b, c: (a << 32 | b) >> (c & 31), ""),
    ("v_alignbyte_b32", (32,) * 3, 32, lambda a, b, c: (a << 32 | b) >> 8 * (c & 3), ""),
    ("v_bfe_u32", (32,) * 3, 32, lambda a, b, c: field(a, b, c, False), ""),
    ("v_bfe_i32", (32,) * 3, 32, lambda a, b, c: field(a, b, c, True), ""),
    ("v_bfi_b32", (32,) * 3, 32, lambda a, b, c: a & b | ~a & c, ""),
    ("v_bfm_b32", (32, 32), 32, lambda a, b: (1 << (a & 31)) - 1 << (b & 31), ""),
    ("v_bfrev_b32", (32,), 32, lambda a: int(f"{a:032b}"[::-1], 2), ""),
    ("v_ffbh_u32", (32,), 32, lambda a: first(digits(a)[::-1]), ""),
    ("v_ffbl_b32", (32,), 32, lambda a: first(digits(a)), ""),
    ("v_ffbh_i32", (32,), 32, leading_signs, ""),
    ("v_bcnt_u32_b32", (32, 32), 32, lambda a, b: a.bit_count() + b, ""),
    ("v_add3_u32", (32,) * 3, 32, lambda a, b, c: a + b + c, ""),
    ("v_xad_u32", (32,) * 3, 32, lambda a, b, c: (a ^ b) + c, ""),
    ("v_lshl_add_u32", (32,) * 3, 32, lambda a, b, c: (a << (b & 31)) + c, ""),
    ("v_add_lshl_u32", (32,) * 3, 32, lambda a, b, c: a + b << (c & 31), ""),
    ("v_lshl_or_b32", (32,) * 3, 32, lambda a, b, c: a << (b & 31) | c, ""),
    ("v_lshl_add_u64", (64, 32, 64), 64, lambda a, b, c: (a << (b & 7)) + c, ""),
    ("v_and_or_b32", (32,) * 3, 32, lambda a, b, c: a & b | c, ""),
    ("v_or3_b32", (32,) * 3, 32, lambda a, b, c: a | b | c, ""),
    ("v_xor3_b32", (32,) * 3, 32, lambda a, b, c: a ^ b ^ c, ""),
    ("v_xnor_b32", (32, 32), 32, lambda a, b: ~(a ^ b), ""),
    ("v_sat_pk_u8_i16", (32,), 16, lambda a: sum(
        limited(signed(a >> 16 * n, 16), 0, 255) << 8 * n for n in range(2)), ""),
    ("v_ashr_pk_i8_i32", (32,) * 3, 16, lambda a, b, c: both_limited(a, c, b, -128, 127), ""),
    ("v_ashr_pk_u8_i32", (32,) * 3, 16, lambda a, b, c: both_limited(a, c, b, 0, 255), ""),
    ("v_prng_b32", (32,), 32, lambda a: a << 1 ^ (197 if a >> 31 else 0), ""),
    ("v_cvt_i32_i16", (16,), 32, lambda a: a, "s"),
    ("v_cvt_u32_u16", (16,), 32, lambda a: a, ""),
    ("v_cvt_pk_u16_u32", (32, 32), 32, lambda a, b: min(a, 0xFFFF) | min(b, 0xFFFF) << 16, ""),
    ("v_cvt_pk_i16_i32", (32, 32), 32, lambda a, b: limited(a, -32768, 32767) & 0xFFFF | limited(
        b, -32768, 32767) << 16, "s"),
]
EDGES = {
    16: (0, 1, 2, 7, 15, 16, 17, 255, 256, 0x7FFE, 0x7FFF, 0x8000, 0x8001, 0xFFFE, 0xFFFF, 0x1234),
    32: (0, 1, 2, 4, 7, 8, 13, 31, 32, 33, 0xFFFF, 0x8000, 0x7FFFFF, 0x800000, 0xFFFFFF, 0x7FFFFFFF, 0x80000000,
         0x80000001, 0xFFFFFFFE, 0xFFFFFFFF, 0x0C0B0A0D, 0x03060801, 0x12345678, 0x80FF7F01),
    64: (0, 1, 2, 5, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1,
         0x123456789ABC),
}


def operands_of(sources: tuple[int, ...], name: str) -> list[tuple[int, ...]]:
    """As many as fill two waves: all pairs of edges, if there are not more, otherwise some."""
    every = list(itertools.product(*(EDGES[bits] for bits in sources)))
    if len(every) > 2 * WAVE:
        return random.Random(name).sample(every, 2 * WAVE)
    return (every * WAVE)[: -(-len(every) // WAVE) * WAVE]


def executed(name: str, sources: tuple[int, ...], result: int, rows: list[tuple[int, ...]], clamp: bool) -> list[int]:
    """The results of lanes."""
    packed = name.startswith("v_pk_")
    sizes = [max(1, bits // 32) for bits in sources]
    operands = [Operand("vdst", OperandKind.VGPR, 100, max(1, result // 32), bits=32 if packed else result)]
    for k, (bits, size) in enumerate(zip(sources, sizes, strict=True)):
        operands.append(Operand(f"src{k}", OperandKind.VGPR, 8 * k, size, bits=32 if packed else bits))
    modifiers = {"clamp": int(clamp)} | ({"op_sel_hi": 7} if packed else {})
    instruction = Instruction(0, 8, "VOP3P" if packed else "VOP3", name, name, tuple(operands), modifiers, name)
    context = Context(TARGETS["gfx90a"], WAVE, layout.Mode(0))
    block = block_of_size(layout.state_size(WAVE, False))

    def register(number: int) -> np.ndarray:
        at = layout.vgpr_offset(number, WAVE)
        return block.state[at : at + 4 * WAVE].view(np.uint32)

    block.state[layout.sgpr_offset(layout.EXEC_LO) :][:8] = 255
    for k, size in enumerate(sizes):
        for dword in range(size):
            values = [row[k] >> 32 * dword & 0xFFFFFFFF for row in rows]
            if packed:  # the other half has the next lane's numbers
                values = [value | values[(n + 1) % WAVE] << 16 for n, value in enumerate(values)]
            register(8 * k + dword)[:] = values
    builder = ReferenceBuilder(block, WAVE)
    builder.instruction(0, 8)
    builder.lanes()
    semantic = registry.lookup(name)
    assert semantic is not None
    semantic.function(Access(builder, instruction, context))
    words = zip(register(100).tolist(), register(101).tolist(), strict=True)
    mask = (1 << (32 if packed else result)) - 1
    return [(low | high << 32) & mask for low, high in words]


@pytest.mark.parametrize(("name", "sources", "result", "formula", "flags"), ROWS, ids=[row[0] for row in ROWS])
def test_formula(name: str, sources: tuple[int, ...], result: int, formula: Formula, flags: str) -> None:
    is_signed = "s" in flags or "i" in flags
    mask = (1 << result) - 1
    every = operands_of(sources, name)
    for clamp in (False, True) if set("ui") & set(flags) else (("c" in flags),):
        for start in range(0, len(every), WAVE):
            rows = every[start : start + WAVE]
            expected = []
            for row in rows:
                value = formula(*(signed(v, n) if is_signed else v for v, n in zip(row, sources, strict=True)))
                if clamp and "i" in flags:
                    value = limited(value, -1 << result - 1, (1 << result - 1) - 1)
                elif clamp and "u" in flags:
                    value = limited(value, 0, mask)
                expected.append(value & mask)
            if name.startswith("v_pk_"):
                expected = [value | expected[(n + 1) % WAVE] << 16 for n, value in enumerate(expected)]
            got = executed(name, sources, result, rows, clamp)
            wrong = [row for row, a, b in zip(rows, got, expected, strict=True) if a != b]
            assert not wrong, [tuple(map(hex, row)) for row in wrong[:3]]
