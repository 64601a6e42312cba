"""Float instructions of the scalar and vector units, and conversions, against NumPy at the edges of their types."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

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
MODE = layout.Mode(layout.mode_key(0x3F0))  # as compilers set it: nearest, no flushing, IEEE
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1.5, -2.5, 3.0, 100.25, 2047.0, 65504.0, 65520.0, -70000.0, 6e-8, -3e-5, 6.1e-5,
          16777217.0, 1e30, -3e38, 1e-40, float("inf"), float("-inf"), float("nan"))
WORDS = (0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x01020304, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 16777217)
F16, F32, F64, U32 = "<f2", "<f4", "<f8", "<u4"


def bfloat(values: Any) -> Any:
    """f32 to bfloat16, ties to even; NaNs stay."""
    bits = np.asarray(values, F32).view(U32).astype(np.uint64)
    rounded = bits + 0x7FFF + (bits >> 16 & 1) >> 16
    return np.where(np.isnan(values), bits >> 16 | 0x40, rounded).astype(U32)


def toward_zero(values: Any) -> Any:
    """f32 to f16 without rounding away from zero."""
    found = np.asarray(values, F32).astype(F16)
    beyond = np.isfinite(values) & (np.abs(found.astype(F64)) > np.abs(values.astype(F64)))
    return np.where(beyond, np.nextafter(found, np.float16(0)), found).astype(F16)


def saturated(values: Any, low: int, high: int) -> Any:
    """Toward zero, and NaN to 0."""
    return np.where(np.isnan(values), 0, np.clip(np.trunc(values.astype(F64)), low, high)).astype(np.int64)


def packed(low: Any, high: Any) -> Any:
    words = [np.ascontiguousarray(half).astype(half.dtype).view("<u2") if half.dtype.itemsize == 2 else half
             for half in (low, high)]
    return words[0].astype(U32) & 0xFFFF | words[1].astype(U32) << 16


# the name, the types of sources and of the result, the formula
Row = tuple[str, tuple[str, ...], str, Callable[..., Any]]
ROWS: list[Row] = []
for _type, _end in ((F16, "f16"), (F32, "f32")):
    for _unit in "sv":
        ROWS += [
            (f"{_unit}_add_{_end}", (_type,) * 2, _type, np.add),
            (f"{_unit}_sub_{_end}", (_type,) * 2, _type, np.subtract),
            (f"{_unit}_mul_{_end}", (_type,) * 2, _type, np.multiply),
            (f"{_unit}_ceil_{_end}", (_type,), _type, np.ceil), (f"{_unit}_floor_{_end}", (_type,), _type, np.floor),
            (f"{_unit}_trunc_{_end}", (_type,), _type, np.trunc), (f"{_unit}_rndne_{_end}", (_type,), _type, np.rint),
            (f"{_unit}_minimum_{_end}", (_type,) * 2, _type, np.minimum),
            (f"{_unit}_maximum_{_end}", (_type,) * 2, _type, np.maximum),
            (f"{_unit}_min_num_{_end}", (_type,) * 2, _type, np.fmin),
            (f"{_unit}_max_num_{_end}", (_type,) * 2, _type, np.fmax),
        ]
    ROWS += [(f"v_subrev_{_end}", (_type,) * 2, _type, lambda a, b: b - a)]
for _name in ("s_cvt", "v_cvt"):
    ROWS += [
        (f"{_name}_f32_i32", (U32,), F32, lambda a: a.view("<i4").astype(F32)),
        (f"{_name}_f32_u32", (U32,), F32, lambda a: a.astype(F32)),
        (f"{_name}_i32_f32", (F32,), U32, lambda a: saturated(a, -1 << 31, (1 << 31) - 1).astype(U32)),
        (f"{_name}_u32_f32", (F32,), U32, lambda a: saturated(a, 0, (1 << 32) - 1).astype(U32)),
        (f"{_name}_f16_f32", (F32,), F16, lambda a: a.astype(F16)),
        (f"{_name}_f32_f16", (F16,), F32, lambda a: a.astype(F32)),
        (f"{_name}_pk_rtz_f16_f32", (F32, F32), U32, lambda a, b: packed(toward_zero(a), toward_zero(b))),
    ]
ROWS += [
    ("s_cvt_hi_f32_f16", (U32,), F32, lambda a: (a >> 16).astype("<u2").view(F16).astype(F32)),
    ("v_add_f64", (F64,) * 2, F64, np.add), ("v_mul_f64", (F64,) * 2, F64, np.multiply),
    ("v_min_num_f64", (F64,) * 2, F64, np.fmin), ("v_max_num_f64", (F64,) * 2, F64, np.fmax),
    ("v_cvt_f32_bf16", (U32,), F32, lambda a: (a << 16).view(F32)),
    ("v_cvt_pk_bf16_f32", (F32, F32), U32, lambda a, b: packed(bfloat(a), bfloat(b))),
    ("v_cvt_pk_f16_f32", (F32, F32), U32, lambda a, b: packed(a.astype(F16), b.astype(F16))),
    *((f"v_cvt_f32_ubyte{n}", (U32,), F32, lambda a, n=n: (a >> 8 * n & 0xFF).astype(F32)) for n in range(4)),
    ("v_cvt_pk_i16_f32", (F32, F32), U32, lambda a, b: packed(*(saturated(v, -32768, 32767) for v in (a, b)))),
    ("v_cvt_pk_u16_f32", (F32, F32), U32, lambda a, b: packed(*(saturated(v, 0, 65535) for v in (a, b)))),
    ("v_cvt_i16_f16", (F16,), "<i2", lambda a: saturated(a, -32768, 32767).astype("<i2")),
    ("v_cvt_u16_f16", (F16,), "<u2", lambda a: saturated(a, 0, 65535).astype("<u2")),
    ("v_cvt_off_f32_i4", (U32,), F32, lambda a: (((a & 15 ^ 8).astype("<i4") - 8) / 16).astype(F32)),
    ("v_pk_add_f16", (F16,) * 2, F16, np.add), ("v_pk_mul_f16", (F16,) * 2, F16, np.multiply),
    ("v_pk_minimum_f16", (F16,) * 2, F16, np.minimum), ("v_pk_maximum_f16", (F16,) * 2, F16, np.maximum),
    ("v_pk_min_num_f16", (F16,) * 2, F16, np.fmin), ("v_pk_max_num_f16", (F16,) * 2, F16, np.fmax),
]


def executed(name: str, sources: list[np.ndarray], result: str) -> np.ndarray:
    """The results of lanes; a scalar instruction is executed once for each."""
    scalar, halves = name.startswith("s_"), name.startswith("v_pk_")
    kind = OperandKind.SGPR if scalar else OperandKind.VGPR
    sizes = [source.dtype.itemsize for source in sources]
    target = np.dtype(result).itemsize
    operands = [Operand("sdst" if scalar else "vdst", kind, 40, max(1, target // 4), bits=32 if halves else 8 * target)]
    for k, size in enumerate(sizes):
        bits = 32 if halves else 8 * size
        operands.append(Operand(f"{'s' * scalar}src{k}", kind, 8 * k, max(1, size // 4), bits=bits))
    modifiers = {"op_sel_hi": 7} if halves else {}
    encoding = "SOP2" if scalar else "VOP3P" if halves else "VOP3"
    instruction = Instruction(0, 8, encoding, name, name, tuple(operands), modifiers, name)
    semantic = registry.lookup(name)
    assert semantic is not None
    block = block_of_size(layout.state_size(WAVE, False))
    block.state[layout.sgpr_offset(layout.EXEC_LO) :][:8] = 255

    def register(number: int) -> np.ndarray:
        at = layout.vgpr_offset(number, WAVE)
        return block.state[at : at + 4 * WAVE].view(U32)

    def run() -> None:
        builder = ReferenceBuilder(block, WAVE)
        builder.instruction(0, 8)
        builder.rounding = (0, 0)
        if not scalar:
            builder.lanes()
        semantic.function(Access(builder, instruction, Context(TARGETS["gfx1201"], WAVE, MODE)))

    words = [source.view(f"<u{source.dtype.itemsize}").astype("<u8") for source in sources]
    if scalar:
        file, found = block.state[layout.SGPRS :][: 4 * layout.SGPR_COUNT].view(U32), []
        for lane in range(len(words[0])):
            for k, values in enumerate(words):
                file[8 * k] = values[lane]
            run()
            found.append(int(file[40]))
        return np.array(found, U32).astype(f"<u{target}").view(result)
    for k, values in enumerate(words):
        values = values | np.roll(values, 1) << 16 if halves else values
        register(8 * k)[:] = values & 0xFFFFFFFF
        register(8 * k + 1)[:] = values >> np.uint64(32)
    run()
    got = register(40).astype("<u8") | register(41).astype("<u8") << np.uint64(32)
    if halves:
        assert np.array_equal(np.roll(got & 0xFFFF, 1), got >> 16 & 0xFFFF), "both halves are alike"
    return got.astype(f"<u{target}").view(result)


@pytest.mark.parametrize(("name", "types", "result", "formula"), ROWS, ids=[row[0] for row in ROWS])
def test_formula(name: str, types: tuple[str, ...], result: str, formula: Callable[..., Any]) -> None:
    with np.errstate(all="ignore"):
        edges = [np.array(WORDS if kind == U32 else FLOATS, F64 if kind != U32 else U32).astype(kind) for kind in types]
        rows = np.array(list(itertools.product(*(range(len(edge)) for edge in edges))))
        rows = rows[:: 11 if len(types) == 2 else 1]  # any edge still occurs in any place
        rows = np.resize(rows, (-(-len(rows) // WAVE) * WAVE, len(types)))
        for start in range(0, len(rows), WAVE):
            sources = [edge[rows[start : start + WAVE, k]] for k, edge in enumerate(edges)]
            got, expected = executed(name, sources, result), formula(*sources).astype(result)
            same = got.view(f"<u{got.itemsize}") == expected.view(f"<u{got.itemsize}")
            if got.dtype.kind == "f":
                same |= np.isnan(got) & np.isnan(expected)
                if "min" in name or "max" in name:  # NumPy takes either zero
                    same |= (got == 0) & (expected == 0)
            wrong = np.flatnonzero(~same)[:3]
            assert not wrong.size, [([source[n] for source in sources], got[n], expected[n]) for n in wrong]
