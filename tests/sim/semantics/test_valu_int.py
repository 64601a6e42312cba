"""Integer and bit instructions of the vector unit against plain Python on random and special operands."""

from __future__ import annotations

import numpy as np
import pytest

MASK = 0xFFFF_FFFF


def signed(value: int, width: int = 32) -> int:
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def clamp(value: int, low: int, high: int) -> int:
    return max(low, min(high, value))


def operands(count: int = 3, seed: int = 1) -> list[np.ndarray]:
    """Special values in all combinations, then noise."""
    rng = np.random.default_rng(seed)
    ends = np.array(
        [0, 1, 2, 31, 32, 33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x00FFFFFF, 0x00800000, 0x10203040],
        np.uint32,
    )
    first = np.repeat(ends, len(ends))
    second = np.tile(ends, len(ends))
    columns = [first, second, np.roll(first, 5)]
    return [
        np.concatenate([columns[k], rng.integers(0, 1 << 32, 240, dtype=np.uint32)]) for k in range(count)
    ]


def byte(value: int, n: int) -> int:
    return value >> 8 * n & 0xFF


def sad(a: int, b: int, masked: bool = False) -> int:
    return sum(abs(byte(a, n) - byte(b, n)) for n in range(4) if not masked or byte(b, n))


def extract_signed(a: int, offset: int, width: int) -> int:
    if not width:
        return 0
    return signed(signed(a) >> offset & (1 << width) - 1, width)


def permute(a: int, b: int, selectors: int) -> int:
    data, result = a << 32 | b, 0
    for n in range(4):
        s = byte(selectors, n)
        if s >= 13:
            picked = 0xFF
        elif s == 12:
            picked = 0
        elif s >= 8:
            picked = 0xFF if data >> (16 * (s - 8) + 15) & 1 else 0
        else:
            picked = byte(data, s)
        result |= picked << 8 * n
    return result


def u24(a: int) -> int:
    return a & 0xFFFFFF


def s24(a: int) -> int:
    return signed(a, 24)


def clz(a: int) -> int:
    return 32 - a.bit_length() if a else -1


def cls(a: int) -> int:
    a = a ^ MASK if a >> 31 else a
    return 32 - a.bit_length() if a else -1


BINARY = {
    "v_add_u32": lambda a, b: a + b,
    "v_sub_u32": lambda a, b: a - b,
    "v_subrev_u32": lambda a, b: b - a,
    "v_add_i32": lambda a, b: a + b,
    "v_mul_lo_u32": lambda a, b: a * b,
    "v_mul_hi_u32": lambda a, b: a * b >> 32,
    "v_mul_hi_i32": lambda a, b: signed(a) * signed(b) >> 32,
    "v_mul_u32_u24": lambda a, b: u24(a) * u24(b),
    "v_mul_i32_i24": lambda a, b: s24(a) * s24(b),
    "v_mul_hi_u32_u24": lambda a, b: u24(a) * u24(b) >> 32,
    "v_mul_hi_i32_i24": lambda a, b: s24(a) * s24(b) >> 32,
    "v_and_b32": lambda a, b: a & b,
    "v_or_b32": lambda a, b: a | b,
    "v_xor_b32": lambda a, b: a ^ b,
    "v_xnor_b32": lambda a, b: ~(a ^ b),
    "v_lshlrev_b32": lambda a, b: b << (a & 31),
    "v_lshrrev_b32": lambda a, b: b >> (a & 31),
    "v_ashrrev_i32": lambda a, b: signed(b) >> (a & 31),
    "v_min_u32": min,
    "v_max_u32": max,
    "v_min_i32": lambda a, b: min(signed(a), signed(b)),
    "v_max_i32": lambda a, b: max(signed(a), signed(b)),
    "v_bfm_b32": lambda a, b: ((1 << (a & 31)) - 1) << (b & 31),
    "v_bcnt_u32_b32": lambda a, b: a.bit_count() + b,
}
TERNARY = {
    "v_mad_u32_u24": lambda a, b, c: u24(a) * u24(b) + c,
    "v_mad_i32_i24": lambda a, b, c: s24(a) * s24(b) + c,
    "v_bfe_u32": lambda a, b, c: a >> (b & 31) & (1 << (c & 31)) - 1,
    "v_bfe_i32": lambda a, b, c: extract_signed(a, b & 31, c & 31),
    "v_bfi_b32": lambda a, b, c: a & b | ~a & c,
    "v_alignbit_b32": lambda a, b, c: (a << 32 | b) >> (c & 31),
    "v_alignbyte_b32": lambda a, b, c: (a << 32 | b) >> 8 * (c & 3),
    "v_add3_u32": lambda a, b, c: a + b + c,
    "v_xad_u32": lambda a, b, c: (a ^ b) + c,
    "v_xor3_b32": lambda a, b, c: a ^ b ^ c,
    "v_or3_b32": lambda a, b, c: a | b | c,
    "v_and_or_b32": lambda a, b, c: a & b | c,
    "v_lshl_add_u32": lambda a, b, c: (a << (b & 31)) + c,
    "v_add_lshl_u32": lambda a, b, c: (a + b) << (c & 31),
    "v_lshl_or_b32": lambda a, b, c: a << (b & 31) | c,
    "v_min3_u32": min,
    "v_max3_i32": lambda a, b, c: max(signed(a), signed(b), signed(c)),
    "v_med3_u32": lambda a, b, c: sorted((a, b, c))[1],
    "v_med3_i32": lambda a, b, c: sorted(map(signed, (a, b, c)))[1],
    "v_minmax_i32": lambda a, b, c: max(min(signed(a), signed(b)), signed(c)),
    "v_sad_u8": lambda a, b, c: sad(a, b) + c,
    "v_msad_u8": lambda a, b, c: sad(a, b, True) + c,
    "v_sad_hi_u8": lambda a, b, c: (sad(a, b) << 16) + c,
    "v_sad_u32": lambda a, b, c: abs(a - b) + c,
    "v_sad_u16": lambda a, b, c: abs((a & 0xFFFF) - (b & 0xFFFF)) + abs((a >> 16) - (b >> 16)) + c,
    "v_lerp_u8": lambda a, b, c: sum(
        (byte(a, n) + byte(b, n) + (byte(c, n) & 1)) // 2 << 8 * n for n in range(4)
    ),
    "v_perm_b32": permute,
    "v_mad_u32_u16": lambda a, b, c: (a & 0xFFFF) * (b & 0xFFFF) + c,
    "v_mad_i32_i16": lambda a, b, c: signed(a, 16) * signed(b, 16) + c,
}
UNARY = {
    "v_not_b32": lambda a: ~a,
    "v_bfrev_b32": lambda a: int(f"{a:032b}"[::-1], 2),
    "v_ffbh_u32": clz,
    "v_ffbl_b32": lambda a: (a & -a).bit_length() - 1,
    "v_ffbh_i32": cls,
    "v_mov_b32": lambda a: a,
}
CLAMPED = {
    "v_add_u32": lambda a, b: min(a + b, MASK),
    "v_sub_u32": lambda a, b: max(a - b, 0),
    "v_subrev_u32": lambda a, b: max(b - a, 0),
    "v_add_i32": lambda a, b: clamp(signed(a) + signed(b), -(1 << 31), (1 << 31) - 1),
    "v_sub_i32": lambda a, b: clamp(signed(a) - signed(b), -(1 << 31), (1 << 31) - 1),
    "v_mad_i32_i24": lambda a, b, c: clamp(s24(a) * s24(b) + signed(c), -(1 << 31), (1 << 31) - 1),
    "v_mad_u32_u24": lambda a, b, c: min(u24(a) * u24(b) + c, MASK),
    "v_sad_u8": lambda a, b, c: min(sad(a, b) + c, MASK),
}


def _check(run, name, function, **more):
    count = function.__code__.co_argcount if hasattr(function, "__code__") else (3 if "3" in name[:7] else 2)
    columns = operands(count)
    if name == "v_perm_b32":
        columns[2][:200] = np.random.default_rng(4).integers(0, 16, 800, dtype=np.uint8).view(np.uint32)
    got = run(name, *columns, **more).value
    want = [function(*row) & MASK for row in zip(*(c.tolist() for c in columns), strict=True)]
    bad = [k for k, (g, w) in enumerate(zip(got.tolist(), want, strict=True)) if g != w]
    assert not bad, [(*(hex(c[k]) for c in columns), hex(got[k]), hex(want[k])) for k in bad[:4]]


@pytest.mark.parametrize("name", [*UNARY, *BINARY, *TERNARY])
def test_operation(run, name):
    _check(run, name, {**UNARY, **BINARY, **TERNARY}[name])


@pytest.mark.parametrize("name", CLAMPED)
def test_clamp_saturates(run, name):
    _check(run, name, CLAMPED[name], modifiers={"clamp": 1})


@pytest.mark.parametrize("name, function", [
    ("v_add_co_u32", lambda a, b, c: a + b),
    ("v_sub_co_u32", lambda a, b, c: a - b),
    ("v_subrev_co_u32", lambda a, b, c: b - a),
    ("v_addc_co_u32", lambda a, b, c: a + b + c),
    ("v_subb_co_u32", lambda a, b, c: a - b - c),
    ("v_subbrev_co_u32", lambda a, b, c: b - a - c),
])
def test_carry_chain(run, name, function):
    a, b = operands(2)
    carry = np.arange(len(a)) % 3 == 0
    takes = not name.endswith(("_add_co_u32", "_sub_co_u32", "_subrev_co_u32"))
    outcome = run(name, a, b, mask_result=True, mask_source=takes, masks={20: carry})
    exact = [function(int(x), int(y), int(c)) for x, y, c in zip(a, b, carry, strict=True)]
    assert outcome.value.tolist() == [e & MASK for e in exact]
    assert outcome.masks[22].tolist() == [not 0 <= e <= MASK for e in exact]


@pytest.mark.parametrize("name, sign", [("v_mad_u64_u32", lambda v, w: v), ("v_mad_i64_i32", signed)])
def test_wide_multiply_add(run, name, sign):
    a, b = operands(2)
    c = np.random.default_rng(9).integers(0, (1 << 64) - 1, len(a), dtype=np.uint64)
    c[:3] = [0, (1 << 64) - 1, 1 << 63]
    outcome = run(name, a, b, c, result="u8", mask_result=True)
    rows = zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
    exact = [sign(x, 32) * sign(y, 32) + sign(z, 64) for x, y, z in rows]
    assert outcome.value.tolist() == [e & (1 << 64) - 1 for e in exact]
    assert outcome.masks[22].tolist() == [bool(e >> 64 & 1) for e in exact]  # bit 64 of the 65-bit sum


@pytest.mark.parametrize("name, function", [
    ("v_lshlrev_b64", lambda n, v: v << n), ("v_lshrrev_b64", lambda n, v: v >> n),
    ("v_ashrrev_i64", lambda n, v: signed(v, 64) >> n),
])
def test_64_bit_shifts_take_the_count_modulo_64(run, name, function):
    counts = np.array([0, 1, 31, 32, 63, 64, 65, 0xFFFFFFFF], np.uint32)
    values = np.full(8, 0x8123456789ABCDEF, np.uint64)
    got = run(name, counts, values, result="u8").value
    assert got.tolist() == [function(int(n) & 63, 0x8123456789ABCDEF) & (1 << 64) - 1 for n in counts]


@pytest.mark.parametrize("name, function", [
    ("v_add_u16", lambda a, b: a + b), ("v_sub_u16", lambda a, b: a - b), ("v_mul_lo_u16", lambda a, b: a * b),
    ("v_lshlrev_b16", lambda a, b: b << (a & 15)), ("v_ashrrev_i16", lambda a, b: signed(b, 16) >> (a & 15)),
    ("v_min_i16", lambda a, b: min(signed(a, 16), signed(b, 16))), ("v_max_u16", max),
])
def test_16_bit(run, name, function):
    rng = np.random.default_rng(8)
    a, b = (rng.integers(0, 1 << 16, 256, dtype=np.uint16) for _ in range(2))
    got = run(name, a, b, result="u2").value
    assert got.tolist() == [function(int(x), int(y)) & 0xFFFF for x, y in zip(a, b, strict=True)]


def test_mbcnt_counts_lanes_below(run):
    ones, zero = np.full(64, MASK, np.uint32), np.zeros(64, np.uint32)
    low = run("v_mbcnt_lo_u32_b32", ones, zero).value
    assert low.tolist() == [min(lane, 32) for lane in range(64)]
    assert run("v_mbcnt_hi_u32_b32", ones, low).value.tolist() == list(range(64))


def test_cndmask_and_swap(run):
    a, b = np.arange(64, dtype=np.uint32), np.arange(64, dtype=np.uint32) + 100
    odd = np.arange(64) % 2 == 1
    assert (
        run("v_cndmask_b32", a, b, mask_source=True, masks={20: odd}).value.tolist()
        == np.where(odd, b, a).tolist()
    )
    one = np.full(64, 0x3F800000, np.uint32)
    negated = run("v_cndmask_b32", one, one, mask_source=True, masks={20: odd}, neg=2).value
    assert negated.tolist() == np.where(odd, 0xBF800000, 0x3F800000).tolist()
    assert run("v_swap_b32", a, old=b).value.tolist() == a.tolist()


@pytest.mark.parametrize("name", ["v_qsad_pk_u16_u8", "v_mqsad_pk_u16_u8"])
def test_sliding_sums(run, name):
    """The window is the bytes 07 to 00, highest first, and each reference byte is 01; sums start at 0."""
    window = np.array([0x0706050403020100], np.uint64)
    reference, totals = np.array([0x01010101], np.uint32), np.zeros(1, np.uint64)
    sums = [sum(abs(k + n - 1) for n in range(4)) for k in range(4)]
    assert run(name, window, reference, totals, result="u8").value[0] == sum(
        s << 16 * k for k, s in enumerate(sums)
    )
