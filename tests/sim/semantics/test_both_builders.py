"""Every instruction of these modules, run on one random state by LLVM-compiled code and by the reference builder.

The whole state of the wave must be equal, bit for bit, including NaN payloads, masks, SCC, EXEC and untouched
registers.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from rocdbg.arch.targets import TARGETS
from rocdbg.isa.instruction import Instruction, Operand, OperandKind
from rocdbg.sim.core import layout
from rocdbg.sim.core.reference_builder import ReferenceBuilder
from rocdbg.sim.core.wave import StateBlock, block_of_size
from rocdbg.sim.semantics import registry
from rocdbg.sim.semantics.access import Access, Context
from rocdbg.sim.semantics.registry import Kind
from tests.breadth import some_of

LANES = 32
MODULES = ("valu_", "salu_")
CARRY_IN = re.compile(r"v_(addc|subb|subbrev)_(co_)?u32|_co_ci_|v_cndmask")
CARRY_OUT = re.compile(r"_co_u32|v_(addc|subb|subbrev)_u32|v_subrev_i32|_co_ci_u32|v_div_scale|v_mad(_co)?_[ui]64")
PACKED = re.compile(r"v_pk_|_mix|v_dot\d+_")


def names_compared() -> list[str]:
    """The instructions for which both builders are compared."""
    registry.load()
    return [
        name
        for name in registry.names()
        if registry.lookup(name).function.__module__.rpartition(".")[2].startswith(MODULES)
        and not name.startswith(("v_dual_", "v_mfma_", "v_smfmac_", "v_wmma_", "v_swmmac_"))
        and "_movrel" not in name
        and "_swaprel" not in name
    ]


def _interesting(rng: np.random.Generator, count: int) -> np.ndarray:
    """Dwords that are special cases of floats, halves, counts and masks, mixed with noise."""
    chosen = [0, 1, 0x80000000, 0x7FFFFFFF, 0xFFFFFFFF, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7F800001,
              0x7FC00000, 0x00000400, 0x3C003C00, 0x7C00FC00, 0x7C01FE00, 0x00018001,
              0x7FF00000, 0x3FF00000, 31, 33]
    noise = rng.integers(0, 1 << 32, count, dtype=np.uint32)
    special = rng.choice(np.array(chosen, np.uint32), count)
    small = (rng.standard_normal(count) * 100).astype(np.float32).view(np.uint32)
    return np.choose(rng.integers(0, 3, count), [noise, special, small])


def _vector(name: str) -> Instruction:
    """Sources v0, v8, v16 (with the largest width that any source has), destination v100, masks s[20:21] and s[22:23].
    """
    compare = name.startswith(("v_cmp_", "v_cmpx_", "v_cmps_", "v_cmpsx_"))
    operands = [] if compare else [Operand("vdst", OperandKind.VGPR, 100, 32)]
    if compare or CARRY_OUT.search(name):
        operands.append(Operand("sdst", OperandKind.SGPR, 22, 1))
    for k in range(3):
        mask = k == 2 and CARRY_IN.search(name)
        operands.append(
            Operand(f"src{k}", OperandKind.SGPR if mask else OperandKind.VGPR, 20 if mask else 8 * k, 32)
        )
    packed = bool(PACKED.search(name)) and "fmac" not in name
    modifiers = {"op_sel_hi": 7} if packed else {}
    return Instruction(0, 8, "VOP3P" if packed else "VOP3", name, name, tuple(operands), modifiers, name)


def _scalar(name: str) -> Instruction:
    operands = [Operand("sdst", OperandKind.SGPR, 40, 2)]
    operands += [
        Operand(field, OperandKind.SGPR, 8 * k, 2) for k, field in enumerate(("ssrc0", "ssrc1", "src2"))
    ]
    operands.append(Operand("simm16", OperandKind.IMMEDIATE, value=0x8005))
    return Instruction(0, 4, "SOP2", name, name, tuple(operands), {}, name)


def _state(seed: int) -> StateBlock:
    rng = np.random.default_rng(seed)
    block = block_of_size(layout.state_size(LANES, False))
    state = block.state
    sgprs = state[layout.SGPRS : layout.SGPRS + 512].view(np.uint32)
    sgprs[:106] = _interesting(rng, 106)
    sgprs[layout.VCC_LO] = 0x12345678
    sgprs[layout.EXEC_LO] = 0x5A5AFF0F
    for number in (*range(24), *range(100, 104)):
        offset = layout.vgpr_offset(number, LANES)
        state[offset : offset + 4 * LANES].view(np.uint32)[:] = _interesting(rng, LANES)
    block.cell("limit")[0] = 1 << 40
    block.cell("scc")[0] = seed & 1
    return block


def _copy(block: StateBlock) -> StateBlock:
    made = block_of_size(block.state.size)
    made.state[:], made.engine[:] = block
    return made


USUAL = [("gfx90a", 0x3F0, 0, 16), ("gfx1100", 0x3F0, 5, 16), ("gfx90a", 0x100, 1, 16), ("gfx1030", 0x200, 2, 16)]
"""Target, MODE, and a part (index, number of parts) of the instructions: the usual mode first; other parts with
flushing, without IEEE and DX10_CLAMP.
"""
MORE = [("gfx90a", 0x3F0, 0, 1), ("gfx1100", 0x3F0, 0, 1), ("gfx90a", 0x100, 1, 4), ("gfx1030", 0x200, 2, 4)]


@pytest.mark.truth
@pytest.mark.parametrize("target, mode, part, parts", some_of([*USUAL, *MORE], USUAL))
def test_builders_agree(run, target, mode, part, parts):
    names = names_compared()[part::parts]
    context = Context(TARGETS[target], LANES, layout.Mode(layout.mode_key(mode)))
    instructions = [_scalar(n) if n.startswith(("s_", "v_s_")) else _vector(n) for n in names]
    functions = run.compile(instructions, context)
    optimised = run.compile(instructions, context, optimised=True)
    different = []
    for seed, instruction in enumerate(instructions):
        compiled = _state(seed)
        interpreted, fast = _copy(compiled), _copy(compiled)
        env = np.zeros(layout.ENV_SIZE, np.uint8)
        assert functions[seed](compiled.state.ctypes.data, env.ctypes.data) == 0
        assert optimised[seed](fast.state.ctypes.data, env.ctypes.data) == 0
        if not np.array_equal(compiled.state, fast.state):
            different.append(f"{instruction.name}, optimised")
        builder = ReferenceBuilder(interpreted, LANES)
        semantic = registry.lookup(instruction.name)
        builder.instruction(0, instruction.size)
        exact = semantic.any_rounding or semantic.approximate
        builder.rounding = (0, 0) if exact else (context.mode.round32, context.mode.round16_64)
        if semantic.kind is Kind.LANE:
            builder.lanes()
        semantic.function(Access(builder, instruction, context))
        header = layout.SGPRS  # pc and the instruction count are the dispatcher's business
        if not np.array_equal(compiled.state[header:], interpreted.state[header:]) or (
            compiled.cell("scc")[0] != interpreted.cell("scc")[0]
        ):
            different.append(instruction.name)
    assert not different
