"""gfx950's scaled conversions against a reference that searches all codes of a small format with fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from rocdbg.isa.instruction import Instruction, Operand, OperandKind

# name: bits, exponent bits, bias, largest code, infinity, NaN code (both without sign)
FORMATS = {
    "fp8": (8, 4, 7, 0x7E, None, 0x7F),
    "bf8": (8, 5, 15, 0x7B, 0x7C, 0x7E),
    "fp6": (6, 2, 1, 0x1F, None, None),
    "bf6": (6, 3, 3, 0x1F, None, None),
    "fp4": (4, 2, 1, 0x07, None, None),
}
WIDE = {"f32": (32, 8, 23), "f16": (16, 5, 10), "bf16": (16, 8, 7)}
SCALES = [127, 127, 120, 130, 1, 254, 0, 255]


def small_value(code: int, name: str) -> Fraction:
    bits, exponent_bits, bias, *_ = FORMATS[name]
    fraction_bits = bits - 1 - exponent_bits
    exponent, fraction = code >> fraction_bits, code & (1 << fraction_bits) - 1
    if exponent:
        fraction |= 1 << fraction_bits
    return Fraction(fraction) * Fraction(2) ** (max(exponent, 1) - bias - fraction_bits)


def nearest(value: Fraction, codes: list[tuple[Fraction, int]]) -> int:
    """The code of the nearest value; an even code for a tie."""
    return min(codes, key=lambda c: (abs(c[0] - value), c[1] & 1))[1]


def wide_parts(bits: int, kind: str) -> tuple[int, Fraction | None]:
    """Sign and magnitude; None: NaN; Fraction(-1): infinity."""
    size, exponent_bits, fraction_bits = WIDE[kind]
    sign, exponent = bits >> size - 1, bits >> fraction_bits & (1 << exponent_bits) - 1
    fraction = bits & (1 << fraction_bits) - 1
    if exponent == (1 << exponent_bits) - 1:
        return sign, None if fraction else Fraction(-1)
    if exponent:
        fraction |= 1 << fraction_bits
    bias = (1 << exponent_bits - 1) - 1
    return sign, Fraction(fraction) * Fraction(2) ** (max(exponent, 1) - bias - fraction_bits)


def narrow(bits: int, kind: str, name: str, scale: int) -> int:
    """The code, with its sign, of a number divided by 2**(scale - 127)."""
    size, _, _, largest, infinity, nan = FORMATS[name]
    sign, value = wide_parts(bits, kind)
    sign <<= size - 1
    if value is None or scale == 255:
        return sign | (largest if nan is None else nan)
    over = infinity if infinity is not None else nan if nan is not None else largest
    if value < 0:
        return sign | over
    value /= Fraction(2) ** (scale - 127)
    # The code after the largest represents what is beyond it.
    codes = [(small_value(c, name), c) for c in range(largest + 2)]
    code = nearest(value, codes)
    return sign | (over if code > largest else code)


def widen(code: int, name: str, kind: str, scale: int) -> int:
    """The bits of a wide format of a small number times 2**(scale - 127)."""
    size, _, _, largest, infinity, nan = FORMATS[name]
    wide, exponent_bits, fraction_bits = WIDE[kind]
    sign, code = code >> size - 1, code & (1 << size - 1) - 1
    top = (1 << exponent_bits) - 1 << fraction_bits
    if scale == 255 or (nan is not None and code > largest and code != infinity):
        return sign << wide - 1 | top | 1 << fraction_bits - 1
    if code == infinity:
        return sign << wide - 1 | top
    value = small_value(code, name) * Fraction(2) ** (scale - 127)
    if value == 0:
        return sign << wide - 1
    bias = (1 << exponent_bits - 1) - 1
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if Fraction(2) ** exponent > value:
        exponent -= 1
    exponent = max(exponent, 1 - bias)
    steps = round(value / Fraction(2) ** (exponent - fraction_bits))
    return sign << wide - 1 | min(((exponent + bias - 1) << fraction_bits) + steps, top)


def samples(kind: str, count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    size, _, fraction_bits = WIDE[kind]
    near = (
        (rng.standard_normal(count) * 2.0 ** rng.integers(-9, 10, count)).astype(np.float32).view(np.uint32)
    )
    if kind == "f16":
        near = near.view(np.float32).astype(np.float16).view(np.uint16).astype(np.uint32)
    elif kind == "bf16":
        near >>= 16
    # Few fraction bits: ties.
    cut = near & ~np.uint32((1 << fraction_bits - 3) - 1)
    noise = rng.integers(0, 1 << size, count, dtype=np.uint32)
    return np.choose(rng.integers(0, 3, count), [near, cut, noise])


def instruction(name: str, operands: list[tuple[str, int, int]], op_sel: int) -> Instruction:
    made = tuple(Operand(field, OperandKind.VGPR, number, dwords) for field, number, dwords in operands)
    return Instruction(0, 8, "VOP3", name, name, made, {"op_sel": op_sel}, name)


def scales(count: int = 64) -> np.ndarray:
    return (np.resize(SCALES, count) << 23).astype(np.uint32)


OLD = np.full(64, 0xA5A5A5A5, np.uint32)


@pytest.mark.parametrize("kind", WIDE)
@pytest.mark.parametrize("name", ["fp8", "bf8", "fp4"])
def test_narrow_pair(run, name, kind):
    half = 4 if name == "fp4" else 8
    low, high = samples(kind, 64, 1), samples(kind, 64, 2)
    op_sel = 0xC if name == "fp4" else 8
    if kind == "f32":
        sources, before = [("src0", 0, 1), ("src1", 1, 1), ("src2", 8, 1)], {0: low, 1: high}
    else:
        sources, before = [("src0", 0, 1), ("src1", 8, 1)], {0: low | high << np.uint32(16)}
    made = instruction(f"v_cvt_scalef32_pk_{name}_{kind}", [("vdst", 100, 1), *sources], op_sel)
    found = run.registers(made, {**before, 8: scales(), 100: OLD}, (100,), "gfx950")[100]
    for lane in range(64):
        scale = SCALES[lane % 8]
        code = narrow(int(low[lane]), kind, name, scale) | narrow(int(high[lane]), kind, name, scale) << half
        shift = 24 if name == "fp4" else 16
        field = (1 << 2 * half) - 1 << shift
        assert hex(found[lane]) == hex(0xA5A5A5A5 & ~field | code << shift), (lane, hex(low[lane]), scale)


@pytest.mark.parametrize("kind", WIDE)
@pytest.mark.parametrize("name", ["fp8", "bf8", "fp4"])
def test_widen_pair(run, name, kind):
    bits = FORMATS[name][0]
    words = np.random.default_rng(3).integers(0, 1 << 32, 64, dtype=np.uint32)
    op_sel, shift = (3, 24) if bits == 4 else (1, 16)
    dwords = 2 if kind == "f32" else 1
    made = instruction(
        f"v_cvt_scalef32_pk_{kind}_{name}", [("vdst", 100, dwords), ("src0", 0, 1), ("src1", 8, 1)], op_sel
    )
    found = run.registers(made, {0: words, 8: scales(), 100: OLD}, (100, 101), "gfx950")
    for lane in range(64):
        codes = [int(words[lane]) >> shift + n * bits & (1 << bits) - 1 for n in range(2)]
        low, high = (widen(code, name, kind, SCALES[lane % 8]) for code in codes)
        wanted = (low, high) if kind == "f32" else (low | high << 16, 0)
        assert (hex(found[100][lane]), hex(found[101][lane])) == tuple(map(hex, wanted)), (lane, codes)


@pytest.mark.parametrize("kind", ["f32", "f16"])
@pytest.mark.parametrize("name", ["fp8", "bf8"])
def test_widen_one(run, name, kind):
    words = np.arange(64, dtype=np.uint32) * 0x04_00_00_00 + 0x7B
    for op_sel in (0, 3 | 8 * (kind == "f16")):
        made = instruction(
            f"v_cvt_scalef32_{kind}_{name}", [("vdst", 100, 1), ("src0", 0, 1), ("src1", 8, 1)], op_sel
        )
        found = run.registers(made, {0: words, 8: scales(), 100: OLD}, (100,), "gfx950")[100]
        for lane in range(64):
            code = int(words[lane]) >> 8 * (op_sel & 3) & 0xFF
            wanted = widen(code, name, kind, SCALES[lane % 8])
            if kind == "f16":
                wanted = wanted << 16 | 0xA5A5 if op_sel else wanted | 0xA5A50000
            assert hex(found[lane]) == hex(wanted), (lane, hex(code))


@pytest.mark.parametrize("kind", WIDE)
@pytest.mark.parametrize("name", ["fp6", "bf6"])
def test_rows_of_32(run, name, kind):
    numbers = [samples(kind, 64, 10 + n) for n in range(32)]
    words = 32 if kind == "f32" else 16
    if kind == "f32":
        # Two sources of 16 registers, interleaved in the result.
        before = {n: numbers[2 * n] for n in range(16)} | {16 + n: numbers[2 * n + 1] for n in range(16)}
        sources, stem = [("src0", 0, 16), ("src1", 16, 16), ("src2", 40, 1)], f"2xpk16_{name}_f32"
    else:
        before = {n: numbers[2 * n] | numbers[2 * n + 1] << np.uint32(16) for n in range(16)}
        sources, stem = [("src0", 0, 16), ("src1", 40, 1)], f"pk32_{name}_{kind}"
    made = instruction(f"v_cvt_scalef32_{stem}", [("vdst", 100, 6), *sources], 0)
    found = run.registers(made, {**before, 40: scales()}, tuple(range(100, 106)), "gfx950")
    back = instruction(
        f"v_cvt_scalef32_pk32_{kind}_{name}", [("vdst", 100, words), ("src0", 0, 6), ("src1", 40, 1)], 0
    )
    packed = {n: found[100 + n] for n in range(6)}
    wide = run.registers(back, {**packed, 40: scales()}, tuple(range(100, 100 + words)), "gfx950")
    for lane in range(64):
        scale = SCALES[lane % 8]
        wanted = sum(narrow(int(v[lane]), kind, name, scale) << 6 * n for n, v in enumerate(numbers))
        row = sum(int(found[100 + n][lane]) << 32 * n for n in range(6))
        assert hex(row) == hex(wanted), lane
        size = WIDE[kind][0]
        widened = sum(widen(row >> 6 * n & 63, name, kind, scale) << size * n for n in range(32))
        assert hex(sum(int(wide[100 + n][lane]) << 32 * n for n in range(words))) == hex(widened), lane


# -- stochastic rounding ---------------------------------------------------------------------------


def stochastic(bits: int, kind: str, name: str, scale: int, seed: int) -> int:
    """Truncate to the source's fraction bits in the small format's exponents, add the seed's top bits, truncate."""
    size, exponent_bits, bias, largest, infinity, nan = FORMATS[name]
    fraction_bits, kept = size - 1 - exponent_bits, WIDE[kind][2]
    sign, value = wide_parts(bits, kind)
    sign <<= size - 1
    if value is None or scale == 255:
        return sign | (largest if nan is None else nan)
    over = infinity if infinity is not None else nan if nan is not None else largest
    if value < 0:
        return sign | over
    value /= Fraction(2) ** (scale - 127)
    exponent = 1 - bias
    while value >= Fraction(2) ** (exponent + 1):
        exponent += 1
    whole = int(value / Fraction(2) ** (exponent - kept)) + (exponent + bias - 1 << kept)
    code = whole + (seed >> 32 - (kept - fraction_bits)) >> kept - fraction_bits
    return sign | (over if code > largest else code)


def next_seed(seed: int) -> int:
    return (seed << 1 & 0xFFFFFFFF) ^ (197 if seed >> 31 else 0)


@pytest.mark.parametrize("kind", WIDE)
@pytest.mark.parametrize("name", ["fp8", "bf8"])
def test_stochastic_one(run, name, kind):
    numbers = samples(kind, 64, 50)
    seeds = np.random.default_rng(4).integers(0, 1 << 32, 64, dtype=np.uint32)
    made = instruction(
        f"v_cvt_scalef32_sr_{name}_{kind}",
        [("vdst", 100, 1), ("src0", 0, 1), ("src1", 1, 1), ("src2", 8, 1)],
        0x4,
    )
    found = run.registers(made, {0: numbers, 1: seeds, 8: scales(), 100: OLD}, (100,), "gfx950")[100]
    for lane in range(64):
        code = stochastic(int(numbers[lane]), kind, name, SCALES[lane % 8], int(seeds[lane]))
        assert hex(found[lane]) == hex(0xA5A500A5 | code << 8), (lane, hex(numbers[lane]))


@pytest.mark.parametrize("kind", WIDE)
@pytest.mark.parametrize("name", ["fp4", "fp6", "bf6"])
def test_stochastic_rows(run, name, kind):
    """Each number uses the seed that v_prng_b32 computes from the previous one."""
    count, bits = (2, 4) if name == "fp4" else (32, 6)
    numbers = [samples(kind, 64, 60 + n) for n in range(count)]
    seeds = np.random.default_rng(5).integers(0, 1 << 32, 64, dtype=np.uint32)
    if kind == "f32":
        before = dict(enumerate(numbers))
    else:
        before = {n: numbers[2 * n] | numbers[2 * n + 1] << np.uint32(16) for n in range(count // 2)}
    stem = f"sr_pk_fp4_{kind}" if name == "fp4" else f"sr_pk32_{name}_{kind}"
    words = 1 if name == "fp4" else 6
    made = instruction(
        f"v_cvt_scalef32_{stem}",
        [("vdst", 100, words), ("src0", 0, len(before)), ("src1", 40, 1), ("src2", 41, 1)],
        0,
    )
    found = run.registers(made, {**before, 40: seeds, 41: scales()}, tuple(range(100, 100 + words)), "gfx950")
    for lane in range(64):
        seed, wanted = int(seeds[lane]), 0
        for n, values in enumerate(numbers):
            wanted |= stochastic(int(values[lane]), kind, name, SCALES[lane % 8], seed) << bits * n
            seed = next_seed(seed)
        assert hex(sum(int(found[100 + n][lane]) << 32 * n for n in range(words))) == hex(wanted), lane


@pytest.mark.parametrize(
    "name, bits, seed, wanted",
    [
        # 1.0 + 1/1024 is f16's next number after 1: exact for any seed.
        ("f16", 0x3F802000, 0xFFFFFFFF, 0x3C01),
        # Three quarters of the way to the next number: up for three quarters of the seeds.
        ("f16", 0x3F801800, 0x3FFFFFFF, 0x3C00),
        ("f16", 0x3F801800, 0x40000000, 0x3C01),
        ("f16", 0xBF801800, 0xFFFFFFFF, 0xBC01),
        ("f16", 0x477FF000, 0xFFFFFFFF, 0x7C00),
        ("f16", 0x477FF000, 0, 0x7BFF),
        ("f16", 0xFF800000, 0, 0xFC00),
        ("f16", 0x7F800001, 0, 0x7E00),
        ("bf16", 0x3F804000, 0xBFFFFFFF, 0x3F80),
        ("bf16", 0x3F804000, 0xC0000000, 0x3F81),
        ("bf16", 0x00014000, 0xC0000000, 0x0002),
        ("bf16", 0x7F7FFFFF, 0xFFFFFFFF, 0x7F80),
    ],
)
def test_stochastic_halves(run, name, bits, seed, wanted):
    made = instruction(f"v_cvt_sr_{name}_f32", [("vdst", 100, 1), ("src0", 0, 1), ("src1", 1, 1)], 0)
    before = {0: np.full(64, bits, np.uint32), 1: np.full(64, seed, np.uint32), 100: OLD}
    found = run.registers(made, before, (100,), "gfx950")[100]
    assert set(map(hex, found)) == {hex(0xA5A50000 | wanted)}
