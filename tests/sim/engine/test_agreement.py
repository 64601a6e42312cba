"""The native builder and the reference builder give the same state, from random states.

The programs mix forms on purpose: masks written and read in one run of lane code, scalar instructions in between,
changes of EXEC, partial writes.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from engine_bench import Bench, decode

from rocdbg.sim.core import layout
from rocdbg.sim.core.builder import F16, F32, F64, I1, I8, I16, I32, I64, Op, Type
from rocdbg.sim.core.layout import Mode, Status
from rocdbg.sim.core.reference_builder import ReferenceBuilder, compute, decode_float, encode_float
from rocdbg.sim.semantics.access import Access, Context
from rocdbg.sim.semantics.lanes_dpp import dpp_prepare
from rocdbg.sim.semantics.registry import Kind, lookup
from rocdbg.sim.translator.ir import Writer

pytestmark = pytest.mark.llvm

PROGRAMS = {
    "masks": """
        v_cmp_lt_i32 vcc, v0, v1
        v_cndmask_b32 v4, v0, v1, vcc
        v_cmp_eq_u32 s[4:5], v4, v1
        s_mov_b32 s10, s11
        v_add_co_u32 v5, vcc, v0, v1
        v_addc_co_u32 v6, vcc, v2, v3, vcc
        s_and_b64 s[6:7], vcc, s[4:5]
        v_cndmask_b32 v7, v0, v1, s[6:7]
        v_add_u32 v7, v7, s10
    """,
    "exec": """
        v_mov_b32 v4, v0
        v_cmp_gt_u32 vcc, v0, v1
        s_and_saveexec_b64 s[4:5], vcc
        v_mov_b32 v4, v1
        v_xor_b32 v5, v4, v2
        s_xor_b64 exec, exec, s[4:5]
        v_add_u32 v5, v5, v3
        s_or_b64 exec, exec, s[4:5]
        v_sub_u32 v6, v5, v4
        v_cmpx_lt_u32 exec, v6, v0
        v_mov_b32 v7, 1
    """,
    "scalar": """
        s_add_u32 s0, s1, s2
        s_addc_u32 s3, s4, s5
        s_lshl_b64 s[6:7], s[0:1], 5
        s_mov_b32 s7, s8
        s_or_b64 s[10:11], s[6:7], s[12:13]
        s_mul_i32 s14, s10, s11
        s_cmp_gt_u32 s14, s3
        s_cselect_b64 s[16:17], s[10:11], s[6:7]
        s_bfe_u32 s18, s16, 0x80004
        s_mov_b64 vcc, s[16:17]
        v_cndmask_b32 v4, v0, v1, vcc
        v_mov_b32 v5, vcc_lo
        v_mov_b32 v6, s18
    """,
    "bits": """
        v_lshlrev_b32 v4, 3, v0
        v_ashrrev_i32 v5, v1, v0
        v_bfe_i32 v6, v0, 5, 7
        v_and_or_b32 v7, v0, v1, v2
        v_alignbit_b32 v8, v0, v1, v2
        v_mul_hi_u32 v9, v0, v1
        v_mad_u64_u32 v[10:11], vcc, v0, v1, v[2:3]
        v_bcnt_u32_b32 v12, v0, v1
        v_ffbh_u32 v13, v0
        v_perm_b32 v14, v0, v1, v2
    """,
    "sdwa": """
        v_add_u32_sdwa v4, v0, v1 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_2 src1_sel:WORD_1
        v_add_u32_sdwa v5, v0, sext(v1) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:BYTE_3
        v_sub_u32_sdwa v6, v0, v1 dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:WORD_0 src1_sel:DWORD
        v_mov_b32_sdwa v7, v0 dst_sel:BYTE_3 dst_unused:UNUSED_PAD src0_sel:WORD_1
    """,
    "lanes": """
        v_mov_b32_dpp v4, v0 row_shr:1 row_mask:0xf bank_mask:0xf
        v_add_u32_dpp v5, v0, v1 row_shl:3 row_mask:0xe bank_mask:0xf
        v_readfirstlane_b32 s0, v5
        v_readlane_b32 s1, v4, 17
        v_writelane_b32 v6, s1, 3
        v_add_u32 v6, s0, v6
        v_mov_b32_dpp v6, v6 quad_perm:[1,1,3,3] row_mask:0xf bank_mask:0xf bound_ctrl:0
    """,
}


def reference_run(bench: Bench) -> None:
    """Interpret the bench's code, one instruction at a time, on its own state."""
    builder = ReferenceBuilder(bench.block, bench.wave_size)
    context = Context(bench.target, bench.wave_size, Mode(layout.mode_key(bench.get("mode"))))
    while True:
        pc = bench.get("pc")
        instruction = decode(bench.fetch(pc, 24), bench.target, pc, wave_size=bench.wave_size)
        semantic = lookup(instruction.name)
        assert semantic is not None, instruction.text
        builder.instruction(pc, instruction.size)
        access = Access(builder, instruction, context)
        if semantic.kind is Kind.LANE and "dpp_ctrl" in instruction.modifiers:
            dpp_prepare(access)
        semantic.function(access)
        bench.set("pc", builder.next_pc)
        bench.set("instructions", bench.get("instructions") + 1)
        if builder.status is not Status.CONTINUE:
            assert builder.status is Status.END
            return


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", [1, 2])
def test_builders_agree(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    straight = Bench(PROGRAMS[name] + "\ns_endpgm")
    for number in range(16):
        straight.vgpr(number)[:] = rng.integers(0, 1 << 32, 64, np.uint32) >> rng.integers(0, 32, 64).astype(
            np.uint32
        )
    straight.sgprs[:108] = rng.integers(0, 1 << 32, 108, np.uint32)
    straight.exec = int(rng.integers(0, 1 << 63)) | 1 << 63
    others = [Bench(PROGRAMS[name] + "\ns_endpgm") for _ in range(3)]
    for other in others:
        other.state[:] = straight.state
    stepped, optimised, interpreted = others
    assert straight.run() is Status.END
    optimised.engine.optimise()
    assert optimised.run() is Status.END
    np.testing.assert_array_equal(optimised.state, straight.state)
    while (status := stepped.step()) is Status.BUDGET:
        pass
    assert status is Status.END
    reference_run(interpreted)
    np.testing.assert_array_equal(stepped.state, straight.state)
    np.testing.assert_array_equal(interpreted.state, straight.state)


# -- primitives --------------------

FLOATS = {
    F16: [0, 0x8000, 1, 0x83FF, 0x0400, 0x3C00, 0xBC01, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x3555, 0x4248],
    F32: [0, 1 << 31, 1, 0x007FFFFF, 0x00800000, 0x3F800000, 0xBF800001, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000,
          0x4B800001, 0x33000000, 0x33000001, 0x477FEFFF, 0x477FF000, 0x4F000000, 0xCF000001, 0x387FE000],
    F64: [0, 1 << 63, 1, 0x3FF0000000000000, 0xBFF0000000000001, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000,
          0x7FF8000000000000,
          0x3FF0020000000000, 0x3FF0020000000001, 0x3FF001FFFFFFFFFF, 0x40EFFDFFFFFFFFFF, 0x40EFFE0000000000,
          0x3E60000000000001, 0x3E70000000000000, 0x41DFFFFFFFC00000, 0x36A0000000000000, 0x36A0000000000001],
}
INTEGERS = {
    I1: [0, 1],
    I8: [0, 1, 0x7F, 0x80, 0xFF, 0x5A],
    I16: [0, 1, 0x7FFF, 0x8000, 0xFFFF, 0x1234],
    I32: [0, 1, 31, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x01000001, 0x12345678],
    I64: [0, 1, 63, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, (1 << 53) + 1, 0x123456789ABCDEF0],
}
TWO = [Op.ADD, Op.SUB, Op.MUL, Op.AND, Op.OR, Op.XOR, Op.EQ, Op.NE, Op.ULT, Op.ULE, Op.SLT, Op.SLE, Op.UMIN, Op.UMAX,
       Op.SMIN,
       Op.SMAX, Op.UADD_SAT, Op.USUB_SAT, Op.SADD_SAT, Op.SSUB_SAT]
FLOAT_TWO = [Op.FADD, Op.FSUB, Op.FMUL, Op.FDIV, Op.FEQ, Op.FLT, Op.FLE, Op.FNE, Op.FUNO]
FLOAT_ONE = [Op.SQRT, Op.FLOOR, Op.CEIL, Op.FTRUNC, Op.RINT, Op.FNEG, Op.FABS]
COMPARES = {Op.EQ, Op.NE, Op.ULT, Op.ULE, Op.SLT, Op.SLE, Op.FEQ, Op.FLT, Op.FLE, Op.FNE, Op.FUNO}


def cases() -> list[tuple[Op, Type, list[tuple[Type, int]]]]:
    found: list[tuple[Op, Type, list[tuple[Type, int]]]] = []
    for t, values in INTEGERS.items():
        if t is I1:
            continue
        found += [
            (op, I1 if op in COMPARES else t, [(t, a), (t, b)]) for op in TWO for a in values for b in values
        ]
        found += [(op, t, [(t, a)]) for op in (Op.CTPOP, Op.CTLZ, Op.CTTZ, Op.BITREVERSE) for a in values]
        found += [
            (op, t, [(t, a), (t, n)])
            for op in (Op.SHL, Op.LSHR, Op.ASHR)
            for a in values
            for n in (0, 1, t.bits - 1)
        ]
        found += [
            (op, t, [(t, a), (t, values[-1]), (t, n)])
            for op in (Op.FSHL, Op.FSHR)
            for a in values
            for n in (0, 3, t.bits)
        ]
    for t, values in FLOATS.items():
        found += [
            (op, I1 if op in COMPARES else t, [(t, a), (t, b)])
            for op in FLOAT_TWO
            for a in values
            for b in values
        ]
        found += [(op, t, [(t, a)]) for op in FLOAT_ONE for a in values]
        found += [
            (Op.FMA, t, [(t, a), (t, b), (t, c)])
            for a in values[::2]
            for b in values[1::2]
            for c in values[::3]
        ]
        found += [
            (op, to, [(t, a)]) for op in (Op.FPTOSI, Op.FPTOUI) for to in (I16, I32, I64) for a in values
        ]
        found += [
            (op, t, [(s, a)]) for op in (Op.SITOFP, Op.UITOFP) for s in (I16, I32, I64) for a in INTEGERS[s]
        ]
        found += [(Op.FPTRUNC, to, [(t, a)]) for to in (F16, F32) if to.bits < t.bits for a in values]
        found += [(Op.FPEXT, to, [(t, a)]) for to in (F32, F64) if to.bits > t.bits for a in values]
    return found


class _Function(Writer):
    """One scalar function for all cases, which reads operands from memory so that nothing is folded."""


@pytest.mark.parametrize("optimised", [False, True])
def test_primitives_agree(optimised: bool) -> None:
    import ctypes

    from rocdbg.sim.engine.native_jit import Jit

    jit = Jit(None)
    rows = cases()
    source = np.zeros((len(rows), 3), np.uint64)
    result = np.zeros(len(rows), np.uint64)
    by_signature: dict[tuple[object, ...], list[int]] = {}
    for number, (op, type, args) in enumerate(rows):
        by_signature.setdefault((op, type, tuple(t for t, _ in args)), []).append(number)
        source[number, : len(args)] = [bits for _, bits in args]
    texts = []
    writer = _Function(1)
    for index, (op, type, types) in enumerate(by_signature):
        writer.lines = []
        args = []
        for k, t in enumerate(types):
            name = writer.fresh()
            writer.lines.append(f"{name}.p = getelementptr i64, ptr %in, i64 {k}")
            writer.lines.append(f"{name} = load i64, ptr {name}.p")
            value = writer.const(0, I64)
            value = type_of(writer, name, t)
            args.append(value)
        out = writer.emit(op, type, args).bits()
        wide = out.zext(I64)
        writer.lines.append(f"store i64 {wide.ref}, ptr %out")
        texts.append(
            "\n".join(
                [
                    f"define void @f{index}_{int(optimised)}(ptr %in, ptr %out) {{",
                    *writer.lines,
                    "ret void",
                    "}",
                ]
            )
        )
    text = "\n".join([*sorted(writer.declarations), *texts])
    jit.load(f"primitives{optimised}", lambda: (text, b""), optimised)
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
    for index, numbers in enumerate(by_signature.values()):
        function = call(jit.address(f"f{index}_{int(optimised)}"))
        for number in numbers:
            function(source[number].ctypes.data, result[number:].ctypes.data)
    wrong = []
    for number, (op, type, args) in enumerate(rows):
        want, got = compute(op, type, args), int(result[number])
        nan = type.is_float and op not in (Op.FNEG, Op.FABS) and isinstance(decode_float(want, type), float)
        if nan and math.isnan(decode_float(want, type)):
            if not math.isnan(decode_float(got, type)):
                wrong.append((op, args, hex(want), hex(got)))
        elif want != got:
            wrong.append((op, type, [(t, hex(b)) for t, b in args], hex(want), hex(got)))
    assert not wrong, wrong[:20]


def type_of(writer: Writer, name: str, t: Type):
    from rocdbg.sim.core.builder import INTEGER, Value

    whole = Value(writer, I64, name, True)
    return whole.trunc(INTEGER[t.bits]).bitcast(t)


@pytest.mark.parametrize("type", [F16, F32, F64])
def test_float_codec(type: Type) -> None:
    for bits in FLOATS[type]:
        if not math.isnan(decode_float(bits, type)):
            assert encode_float(decode_float(bits, type), type) == bits
