"""Descriptions whose constant includes a step that their register has already made."""

from __future__ import annotations

import pytest

from rocdbg.analysis.advanced_registers import Sum, step_of
from rocdbg.analysis.control_flow import FunctionCode
from rocdbg.analysis.lane_coverage import LaneCoverage
from rocdbg.analysis.register_effects import BY_CONVENTION, Machine
from rocdbg.analysis.saved_registers import analyse
from rocdbg.analysis.value_flow import VECTOR
from rocdbg.debugger.frames.described_places import has_replaced_operand, sum_of
from rocdbg.dwarf.decoding import decode
from rocdbg.dwarf.operation_assembler import Item, assemble
from rocdbg.isa import assemble as assemble_code
from rocdbg.isa import disassemble

V7 = VECTOR + 7
LANE = ("push_lane", "lit4", "mul", "offset", ("deref_size", 4))

# (target, instruction, register, what it adds)
STEPS = [
    ("gfx90a", "v_add_u32_e32 v7, -1, v7", V7, -1), ("gfx90a", "v_add_u32_e64 v7, v7, 5", V7, 5),
    ("gfx900", "v_add_co_u32_e32 v7, vcc, 3, v7", V7, 3), ("gfx900", "v_subrev_u32 v7, 3, v7", V7, -3),
    ("gfx1100", "v_sub_nc_u32_e64 v7, v7, 3", V7, -3), ("gfx1100", "v_sub_nc_u32 v7, 3, v7", V7, None),
    ("gfx1100", "v_dual_mov_b32 v4, v8 :: v_dual_add_nc_u32 v7, 4, v7", V7, 4),
    ("gfx1100", "v_dual_mov_b32 v4, v8 :: v_dual_add_nc_u32 v7, 4, v7", VECTOR + 4, None),
    ("gfx90a", "s_add_i32 s2, s2, -1", 2, -1), ("gfx90a", "s_addk_i32 s2, 0x64", 2, 100),
    ("gfx1201", "s_addk_co_i32 s2, -7", 2, -7), ("gfx1201", "s_sub_co_i32 s2, s2, 3", 2, -3),
    ("gfx90a", "v_add_u32_e32 v7, v6, v7", V7, None), ("gfx90a", "v_add_u32_e32 v7, 3, v6", V7, None),
    ("gfx90a", "v_add_f32_e32 v7, 1.0, v7", V7, None), ("gfx90a", "v_mul_lo_u32 v7, v7, 3", V7, None),
]


@pytest.mark.parametrize(("target", "line", "register", "step"), STEPS)
def test_what_an_instruction_adds(target: str, line: str, register: int, step: int | None) -> None:
    instruction = next(iter(disassemble(assemble_code(line, target), target, address=0)))
    assert step_of(instruction, register) == (None if step is None else step & 0xFFFF_FFFF)


# (instructions, the constant before the first, the instruction after which another constant is, is it too much)
ONE = "v_add_u32 v7, -1, v7"
OTHER = "v_mov_b32 v1, v2"
END = "s_endpgm"
ADVANCED = {
    "the step again": ([ONE, OTHER, END], -1, 1, -2, True),
    "the register itself, and the step again": ([ONE, OTHER, END], 0, 1, -1, True),
    "assigned, as the register advances": ([ONE, OTHER, END], -1, 1, -1, False),
    "not assigned yet": ([ONE, OTHER, END], -1, 1, 0, False),
    "a step of another size": ([ONE, OTHER, END], -1, 1, -3, False),
    "the register is something else": (["v_mov_b32 v7, v3", OTHER, END], -1, 1, -2, False),
    "the register is not advanced": ([OTHER, OTHER, END], -1, 1, -2, False),
    "a step by nothing": (["v_add_u32 v7, 0, v7", OTHER, END], -1, 1, -1, False),
    "in the only block before": (["v_add_u32 v7, 2, v7", "s_cbranch_vccz 1", OTHER, END], 0, 2, 2, True),
}


@pytest.mark.parametrize("name", ADVANCED)
def test_descriptions_with_two_steps(name: str) -> None:
    lines, before, behind, constant, is_too_much = ADVANCED[name]
    code, starts = b"", list[int]()
    for line in lines:
        starts.append(len(code))
        code += assemble_code(line, "gfx90a")
    function = FunctionCode(0, len(code), is_kernel=True)
    found = LaneCoverage(analyse(function, code, "gfx90a", Machine(64, True, lambda address: BY_CONVENTION)))
    described = Sum((starts[behind], len(code)), V7, constant)
    assert found.is_advanced_twice(described, [Sum((0, starts[1]), V7, before), described]) == is_too_much
    assert not found.is_advanced_twice(described, [Sum((0, starts[1]), V7 + 1, before)])


SUMS: list[tuple[list[Item], tuple[int, int] | None]] = [
    ([("regx", 2567), *LANE[:-1]], (V7, 0)),
    ([("regx", 2567), *LANE, "stack_value"], (V7, 0)),
    ([("regx", 2567), *LANE, ("consts", -2), "plus", "stack_value"], (V7, -2)),
    ([("regx", 2567), *LANE, "lit3", "minus", "stack_value"], (V7, -3)),
    ([("regx", 2567), *LANE, ("plus_uconst", 9), "stack_value"], (V7, 9)),
    ([("regx", 2567), *LANE, "lit3", "mul", "stack_value"], None),
    ([("regx", 2567), *LANE, "lit3", "plus"], None),
    (["lit3", "stack_value"], None),
    (["stack_value"], None),
    ([("regx", 2567), *LANE, ("regx", 2568), *LANE, "plus", "stack_value"], None),
]


@pytest.mark.parametrize(("items", "expected"), SUMS)
def test_sums_of_registers_and_constants(items: list[Item], expected: tuple[int, int] | None) -> None:
    assert sum_of(decode(assemble(*items, dialect="amd"), "amd"), 64) == expected


REPLACED: list[tuple[list[Item], bool]] = [
    ([("regx", 2567), *LANE, "lit0", "or", "stack_value"], True),
    ([("regx", 2567), *LANE, ("constu", 0), "xor", "stack_value"], True),
    ([("regx", 2567), *LANE, "lit7", "or", "stack_value"], False),
    ([("regx", 2567), *LANE, "lit0", "ne", "stack_value"], False),
    (["lit0", "stack_value"], False),
]


@pytest.mark.parametrize(("items", "expected"), REPLACED)
def test_operands_that_were_replaced(items: list[Item], expected: bool) -> None:
    assert has_replaced_operand(decode(assemble(*items, dialect="amd"), "amd")) == expected
