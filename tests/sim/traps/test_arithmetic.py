"""Arithmetic exceptions: the exceptions of each instruction, sticky bits, traps, and the text of stops.

The table's rules are those of the ISA documents, completed by measurements on gfx1201 where these do not specify the
behaviour.
"""

from __future__ import annotations

import struct

import pytest

from rocdbg.sim.core.arithmetic_exceptions import Cause
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import StopKind

pytestmark = pytest.mark.llvm

NAMES = {
    "invalid": Cause.INVALID,
    "denorm": Cause.DENORMAL,
    "div0": Cause.DIVIDE_BY_ZERO,
    "over": Cause.OVERFLOW,
    "under": Cause.UNDERFLOW,
    "inexact": Cause.INEXACT,
    "intdiv0": Cause.INTEGER_DIVIDE_BY_ZERO,
}

# instruction | v1, v2, v3 (f32, or h: f16, d: f64, or bits) | what it raises
TABLE = """
v_add_f32 v0, v1, v2 | 1.0 2.0 | -
v_add_f32 v0, v1, v2 | 1.0 1e-10 | inexact
v_add_f32 v0, v1, v2 | 3e38 3e38 | over inexact
v_add_f32 v0, v1, v2 | inf -inf | invalid
v_add_f32 v0, v1, v2 | inf 1.0 | -
v_add_f32 v0, v1, v2 | 1.0 -1.0 | -
v_add_f32 v0, v1, v2 | nan 0x1 | -
v_add_f32 v0, v1, v2 | 0x7f800001 1.0 | invalid
v_add_f32 v0, v1, v2 | 0x1 0x2 | denorm
v_add_f32 v0, v1, v2 | inf 0x2 | denorm
v_mul_f32 v0, v1, v2 | 3.0 5.0 | -
v_mul_f32 v0, v1, v2 | 1.1 1.1 | inexact
v_mul_f32 v0, v1, v2 | 3e38 2.0 | over inexact
v_mul_f32 v0, v1, v2 | 0.0 inf | invalid
v_mul_f32 v0, v1, v2 | 0x1 0x1 | denorm under inexact
v_mul_f32 v0, v1, v2 | 0x00800000 0x00800000 | under inexact
# An exact subnormal result is no underflow.
v_mul_f32 v0, v1, v2 | 0x00800000 0.5 | -
# Rounded to the smallest normal number from below, but not tiny: 2**-126 - 2**-151 and closer.
v_mul_f32 v0, v1, v2 | 0x00ffffff 0.5 | under inexact
v_mul_f32 v0, v1, v2 clamp | 1.1 1.1 | -
v_fma_f32 v0, v1, v2, v3 | 1.1 1.1 1.0 | inexact
v_fma_f32 v0, v1, v2, v3 | 2.0 3.0 -6.0 | -
v_fma_f32 v0, v1, v2, v3 | inf 1.0 -inf | invalid
v_fma_f32 v0, v1, v2, v3 | 0.0 inf nan | -
v_fma_f32 v0, v1, v2, v3 | 3e38 3e38 1.0 | over inexact
v_fma_f16 v0, v1, v2, v3 | 1.0h 0x0001 0x3c00 | denorm inexact
v_fma_f16 v0, v1, v2, v3 | 300.0h 300.0h 0.0h | over inexact
v_add_f16 v0, v1, v2 | 1.0h 2.0h | -
# v[1:2] is the smallest subnormal number, v[2:3] is 1.
v_add_f64 v[4:5], v[1:2], v[2:3] | 1 0 0x3ff00000 | denorm inexact
v_sqrt_f32 v0, v1 | -1.0 | invalid
v_sqrt_f32 v0, v1 | 4.0 | -
v_sqrt_f32 v0, v1 | 2.0 | inexact
v_sqrt_f32 v0, v1 | -0.0 | -
v_rcp_f32 v0, v1 | 0.0 | div0
v_rcp_f32 v0, v1 | 4.0 | -
v_rcp_f32 v0, v1 | 3.0 | inexact
v_rcp_f32 v0, v1 | inf | -
v_rcp_iflag_f32 v0, v1 | 0.0 | intdiv0
v_rcp_iflag_f32 v0, v1 | 3.0 | -
v_rcp_iflag_f32 v0, v1 | 0x7f800001 | -
v_rsq_f32 v0, v1 | 0.0 | div0
v_rsq_f32 v0, v1 | 16.0 | -
v_rsq_f32 v0, v1 | 8.0 | inexact
v_rsq_f32 v0, v1 | -4.0 | invalid
v_log_f32 v0, v1 | 8.0 | -
v_log_f32 v0, v1 | 0.0 | div0
v_log_f32 v0, v1 | -1.0 | invalid
v_log_f32 v0, v1 | 3.0 | inexact
v_exp_f32 v0, v1 | 3.0 | -
v_exp_f32 v0, v1 | 0.5 | inexact
v_exp_f32 v0, v1 | 200.0 | over inexact
v_sin_f32 v0, v1 | 0.25 | -
v_sin_f32 v0, v1 | 0.1 | inexact
v_cos_f32 v0, v1 | inf | invalid
v_cmp_lt_f32 vcc, v1, v2 | 1.0 2.0 | -
v_cmp_lt_f32 vcc, v1, v2 | 1.0 nan | -
v_cmp_lt_f32 vcc, v1, v2 | 1.0 0x7f800001 | invalid
v_cmp_lt_f32 vcc, v1, v2 | 1.0 0x1 | denorm
# Among compared numbers infinities hide subnormal ones.
v_cmp_lt_f32 vcc, v1, v2 | inf 0x1 | -
v_cmp_class_f32 vcc, v1, v2 | 0x7f800001 0x1 | -
v_max_f32 v0, v1, v2 | 1.0 0x7f800001 | invalid
v_max_f32 v0, v1, v2 | 1.0 nan | -
v_cvt_i32_f32 v0, v1 | 3.0 | -
v_cvt_i32_f32 v0, v1 | 3.5 | inexact
v_cvt_i32_f32 v0, v1 | 3e9 | invalid
v_cvt_u32_f32 v0, v1 | 3e9 | -
v_cvt_u32_f32 v0, v1 | -1.0 | invalid
v_cvt_u32_f32 v0, v1 | nan | invalid
v_cvt_f32_i32 v0, v1 | 16777217 | inexact
v_cvt_f32_i32 v0, v1 | 16777216 | -
v_cvt_f16_f32 v0, v1 | 1.0 | -
v_cvt_f16_f32 v0, v1 | 1e6 | over inexact
v_cvt_f16_f32 v0, v1 | 1e-9 | under inexact
v_div_fixup_f32 v0, v1, v2, v3 | inf 0.0 1.0 | div0
v_div_fixup_f32 v0, v1, v2, v3 | 1.0 0.0 0.0 | invalid
v_div_fixup_f32 v0, v1, v2, v3 | 1.0 inf inf | invalid
v_div_fixup_f32 v0, v1, v2, v3 | inf 1e-10 1e38 | over inexact
v_div_fixup_f32 v0, v1, v2, v3 | 2.0 2.0 4.0 | -
v_div_fixup_f32 v0, v1, v2, v3 | 0.0 3e38 0x1 | denorm under inexact
v_mov_b32 v0, v1 | 0x7f800001 | -
v_cndmask_b32 v0, v1, v2, vcc | 0x1 0x2 | -
v_ldexp_f32 v0, v1, v2 | 1.5 2 | -
v_ldexp_f32 v0, v1, v2 | 1.5 200 | over inexact
v_add_nc_u32 v0, v1, v2 | 0x7f800001 1 | -
"""


def number(text: str) -> int:
    if text.endswith("h"):
        return struct.unpack("<H", struct.pack("<e", float(text[:-1])))[0]
    if "." in text or "inf" in text or text == "nan" or ("e" in text and not text.startswith("0x")):
        return struct.unpack("<I", struct.pack("<f", float(text)))[0]
    return int(text, 0) & 0xFFFFFFFF


def rows():
    for line in TABLE.strip().splitlines():
        if not line.startswith("#"):
            instruction, sources, raised = (part.strip() for part in line.split("|"))
            yield instruction, sources.split(), raised


def spelled(instruction: str, target: str) -> str:
    """An instruction of the table, under the name that the target's assembler uses."""
    names = {"gfx90a": {"v_add_nc_u32": "v_add_u32"}, "gfx1201": {"v_max_f32": "v_max_num_f32"}}
    name, rest = instruction.split(" ", 1)
    return f"{names[target].get(name, name)} {rest.replace('vcc', 'vcc_lo') if target == 'gfx1201' else rest}"


@pytest.mark.parametrize("target", ["gfx90a", "gfx1201"])
def test_sticky_bits(assembled, target):
    """All rows in one kernel: the bits are cleared before each instruction and kept in an SGPR after it."""
    register = "HW_REG_TRAPSTS" if target == "gfx90a" else "HW_REG_WAVE_EXCP_FLAG_USER"
    table = list(rows())
    code = []
    for index, (instruction, sources, _) in enumerate(table):
        if target == "gfx90a" and instruction.startswith("v_add_f64"):
            continue  # pairs are aligned there
        for k, source in enumerate(sources):
            code.append(f"v_mov_b32 v{k + 1}, {number(source):#x}")
        code.append(f"s_setreg_imm32_b32 hwreg({register}, 0, 7), 0")
        code.append(spelled(instruction, target))
        code.append(f"s_getreg_b32 s4, hwreg({register}, 0, 7)")
        code.append(f"v_mov_b32 v10, s4\nv_writelane_b32 v{11 + index // 32}, s4, {index % 32}")
    kernel = assembled(
        target,
        "\n".join([*code, ".globl done", "done:"]),
        items=1,
        directives=(".amdhsa_float_denorm_mode_32 3",),
    )
    stop = kernel.dispatch.run(RunOptions(stop_pcs=frozenset((kernel.at("done"),))))
    assert stop.kind is StopKind.BREAKPOINT, stop
    differences = []
    for index, (instruction, sources, raised) in enumerate(table):
        if target == "gfx90a" and instruction.startswith("v_add_f64"):
            continue
        flags = int(kernel.wave.vgpr(11 + index // 32)[index % 32])
        found = " ".join(name for name, cause in NAMES.items() if flags >> cause & 1) or "-"
        if found != raised:
            differences.append(f"{instruction} | {' '.join(sources)} | {raised}: found {found}")
    assert differences == []
