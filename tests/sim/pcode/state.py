"""Random wave states with interesting values, and their comparison."""

from __future__ import annotations

import random
import re

import numpy as np
from numpy.typing import NDArray

from rocdbg.sim.core import layout
from tests.sim.pcode import deviations
from tests.sim.pcode import values as v
from tests.sim.pcode.values import Value
from tests.sim.pcode.wave import Wave
from tests.sim.pcode.words import Entry, Word, m0_code

VGPRS = 64

F16 = (0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x83FF, 0x0400, 0x3C00, 0xBC00, 0x3800, 0x3E00, 0xC100, 0x7BFF, 0xFBFF,
       0x7C00, 0xFC00, 0x7E00, 0xFE01, 0x7C01, 0xFD00, 0x4100, 0x3555, 0x5640, 0x8400, 0x3FFF, 0x0200)
F32 = (0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x80800000, 0x3F800000,
       0xBF800000, 0x3F000000, 0xBF000000, 0x3EFFFFFF, 0x3FC00000, 0x40200000, 0xC0600000, 0x7F7FFFFF,
       0xFF7FFFFF, 0x7F800000,
       0xFF800000, 0x7FC00000, 0xFFC12345, 0x7F800001, 0xFFA00000, 0x4F000000, 0xCF000000, 0x4F800000, 0x46FFFE00,
       0x477FFF00, 0x477FF000, 0x33000000, 0x38800000, 0x40490FDB, 0x3E22F983, 0x4B800001, 0x5F000000,
       0x00400000)
F64 = (0, 1 << 63, 1, 1 << 63 | 1, 0x000FFFFFFFFFFFFF, 0x0010000000000000, 0x3FF0000000000000, 0xBFF0000000000000,
       0x3FE0000000000000, 0x3FF8000000000000, 0x4004000000000000, 0xC00C000000000000, 0x7FEFFFFFFFFFFFFF,
       0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0xFFF8000000012345, 0x7FF0000000000001,
       0xFFF4000000000000, 0x41DFFFFFFFC00000, 0x41E0000000000000, 0xC1E0000000000000, 0x41EFFFFFFFE00000,
       0x47EFFFFFE0000000,
       0x36A0000000000000, 0x380FFFFFC0000000, 0x47EFFFFFF0000000, 0x3FDFFFFFFFFFFFFF, 0x43E0000000000000)
I32 = (0, 1, 2, 3, 7, 15, 16, 31, 32, 33, 63, 64, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFF,
       0x800000,
       0xFFFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFF8000, 0x7FFF8000, 0x80008000,
       0xFF00FF00, 0x0A0B0C0D,
       0x00080003, 0x00100000, 0x001F0010)


def _half(rng: random.Random) -> int:
    roll = rng.random()
    if roll < 0.5:
        return rng.choice(F16)
    return rng.getrandbits(16) if roll < 0.7 else rng.getrandbits(1) << 15 | rng.randrange(0x3000, 0x4C00)


def _single(rng: random.Random) -> int:
    roll = rng.random()
    if roll < 0.5:
        return rng.choice(F32)
    if roll < 0.65:
        return rng.getrandbits(32)
    return rng.getrandbits(1) << 31 | rng.randrange(0x3D000000, 0x43000000)


def _double(rng: random.Random) -> int:
    roll = rng.random()
    if roll < 0.5:
        return rng.choice(F64)
    if roll < 0.65:
        return rng.getrandbits(64)
    return rng.getrandbits(1) << 63 | rng.randrange(0x3FA << 52, 0x420 << 52)


def _integer(rng: random.Random) -> int:
    return rng.choice(I32) if rng.random() < 0.5 else rng.getrandbits(rng.choice((8, 16, 32, 32)))


def fill(target: str, size: int, seed: int, mode: int) -> Wave:
    """v0-v7 f32, v8-v15 pairs of f16, v16-v31 f64, v32-v63 integers; scalars mixed alike."""
    rng = random.Random(seed)
    columns: list[list[int]] = []
    for _ in range(8):
        columns.append([_single(rng) for _ in range(size)])
    for _ in range(8):
        columns.append([_half(rng) | _half(rng) << 16 for _ in range(size)])
    for _ in range(8):
        row = [_double(rng) for _ in range(size)]
        columns.append([x & 0xFFFFFFFF for x in row])
        columns.append([x >> 32 for x in row])
    for _ in range(VGPRS - 32):
        columns.append([_integer(rng) for _ in range(size)])
    sgprs = [0] * 128
    for n in range(106):
        sgprs[n] = rng.choice((_single, _integer, _integer))(rng)
        if n % 8 == 6:
            double = _double(rng)
            sgprs[n] = double & 0xFFFFFFFF
        if n % 8 == 7:
            sgprs[n] = _double(rng) >> 32
        if n % 8 == 4:
            sgprs[n] = _half(rng) | _half(rng) << 16
    for code in (106, 107):
        sgprs[code] = rng.getrandbits(32)
    mask = rng.choice(
        (
            (1 << size) - 1,
            rng.getrandbits(size),
            rng.getrandbits(size),
            rng.getrandbits(size) & rng.getrandbits(size),
        )
    )
    sgprs[126], sgprs[127] = mask & 0xFFFFFFFF, mask >> 32
    sgprs[m0_code(target)] = _integer(rng)
    return Wave(target, size, columns, sgprs, rng.getrandbits(1), mode, 0)


def prepare(wave: Wave, word: Word, rng: random.Random) -> None:
    """Values with which an instruction is meaningful: indices in range."""
    name = word.entry.name
    code = m0_code(wave.target)
    if "MOVREL" in name or "SWAPREL" in name or "GPR_IDX" in name:
        wave.sgprs[code] = rng.randrange(8) * 2 | (
            rng.randrange(8) * 2 << 16 if "_2_" in name or "SWAP" in name else 0
        )
    if "SCALEF32" in name:  # what becomes of NaNs is not in the text
        wave.vgprs = [[_finite(x) for x in column] for column in wave.vgprs]
        wave.sgprs[:106] = [_finite(x) for x in wave.sgprs[:106]]


def _finite(dword: int) -> int:
    """The dword with changed exponents, so that neither the f32 nor the halves in it are infinite or NaN (bf16 has the
    f32's exponent).
    """
    for shift in (0, 16):
        if dword >> shift + 10 & 31 == 31:
            dword ^= 1 << shift + 14
        if dword >> shift + 7 & 255 == 255:
            dword ^= 1 << shift + 14
    return dword


def copied(wave: Wave) -> Wave:
    return Wave(
        wave.target,
        wave.size,
        [list(c) for c in wave.vgprs],
        list(wave.sgprs),
        wave.scc,
        wave.mode,
        wave.pc,
        dict(wave.memory),
    )


def store(block: NDArray[np.uint8], wave: Wave) -> None:
    block[:] = 0
    block[layout.SGPRS : layout.SGPRS + 512].view(np.uint32)[:] = wave.sgprs
    start = layout.vgpr_offset(0, wave.size)
    vectors = np.array(wave.vgprs, np.uint64).astype(np.uint32)
    block[start : start + vectors.nbytes].view(np.uint32)[:] = vectors.reshape(-1)
    block[layout.HEADER["scc"].offset] = wave.scc


def load(block: NDArray[np.uint8], like: Wave) -> Wave:
    start = layout.vgpr_offset(0, like.size)
    count = VGPRS * like.size * 4
    vectors = block[start : start + count].view(np.uint32).reshape(VGPRS, like.size).tolist()
    sgprs = block[layout.SGPRS : layout.SGPRS + 512].view(np.uint32).tolist()
    scc = int(block[layout.HEADER["scc"].offset])
    mode = int(block[layout.HEADER["mode"].offset :][:4].view("<u4")[0])
    return Wave(like.target, like.size, vectors, sgprs, scc, mode, 0, like.memory)


def difference(before: Wave, want: Wave, got: Wave, entry: Entry, word: Word) -> str:
    """The first difference as text; empty if there is none."""
    if want.scc != got.scc:
        return f"scc: want {want.scc} got {got.scc}; {_scalars(before, word)}"
    if want.pc != got.pc:
        return f"pc: want {want.pc:#x} got {got.pc:#x}"
    for n in range(128):
        if want.sgprs[n] != got.sgprs[n] and not (n >= 108 and n not in (124, 125, 126, 127)):
            if same(entry, [want.sgprs[n]], [got.sgprs[n]], word):
                continue
            return f"s{n}: want {want.sgprs[n]:#x} got {got.sgprs[n]:#x}; {_scalars(before, word)}"
    for n in range(VGPRS):
        if want.vgprs[n] == got.vgprs[n]:
            continue
        for lane in range(want.size):
            a, b = want.vgprs[n][lane], got.vgprs[n][lane]
            if a == b:
                continue
            first = (
                n - 1
                if deviations.wide_result(entry.name) and n > 0 and n - word.fields.get("vdst", n) == 1
                else n
            )
            wants = [want.vgprs[m][lane] for m in range(first, min(first + 2, VGPRS))]
            gots = [got.vgprs[m][lane] for m in range(first, min(first + 2, VGPRS))]
            if same(entry, wants, gots, word):
                continue
            return f"v{n} lane {lane}: want {a:#010x} got {b:#010x}; {_lane(before, word, lane)}"
    return ""


def same(entry: Entry, want: list[int], got: list[int], word: Word) -> bool:
    """Whether results are equal, except for NaN payloads or the last bit where the text does not specify them."""
    for low, width, kind, ulps in deviations.loose_parts(entry):
        a, b = (sum(x << 32 * n for n, x in enumerate(row)) for row in (want, got))
        mask = (1 << width) - 1
        x, y = Value(kind, width, a >> low & mask), Value(kind, width, b >> low & mask)
        if v.is_nan(x) and v.is_nan(y):
            continue
        if re.match(r"[SV]_(SIN|COS)_", entry.name) and not (int(x.raw) | int(y.raw)) << 1 & mask:  # type: ignore[call-overload]
            continue  # the sign of a zero at a quarter turn
        smallest = 1 << v.FORMATS[kind, width].fraction_bits
        if int(x.raw) & mask >> 1 == smallest and int(y.raw) & mask >> 1 == 0:  # type: ignore[call-overload]
            continue  # tiny before it was rounded up to the smallest normal number, so flushed
        if x.raw != y.raw and abs(int(x.raw) - int(y.raw)) > ulps:  # type: ignore[call-overload]
            return False
    return bool(deviations.loose_parts(entry))


def _scalars(wave: Wave, word: Word) -> str:
    parts = [
        f"{n}={c}" + (f":{wave.sgpr(c, 64):#x}" if c < 106 and n.startswith(("s", "vdst")) else "")
        for n, c in word.fields.items() if c or n == "src0"
    ]
    return (
        " ".join(parts)
        + (f" literal {word.literal:#x}" if word.literal is not None else "")
        + f" scc {wave.scc}"
    )


def _lane(wave: Wave, word: Word, lane: int) -> str:
    parts = []
    for name, code in word.fields.items():
        if (name in ("src0", "src1", "src2") and code >= 256 and code - 256 < 255) or name in (
            "vsrc1",
            "vdst",
        ):
            number = (code - 256 if code >= 256 else code) & 127
            if number < VGPRS - 1:
                parts.append(f"{name} v{number}={wave.vgpr(number, lane, 64):#018x}")
                continue
        if name in ("src0", "src1", "src2") and code < 106:
            parts.append(f"{name} s{code}={wave.sgpr(code, 64):#018x}")
            continue
        if code or name == "src0":
            parts.append(f"{name}={code}")
    return " ".join(parts) + (f" literal {word.literal:#x}" if word.literal is not None else "")
