"""Scalar integer instructions of 32 and 64 bits against formulas over Python's integers, at the edges of operands."""

from __future__ import annotations

import itertools
import operator
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


def signed(value: int, bits: int) -> int:
    return value - (value >> bits - 1 << bits)


def field(value: int, control: int, bits: int, is_signed: bool) -> int:
    """Offset in the low bits of the control, width in bits 22:16; what lies beyond the top is zeros, or the sign."""
    offset, width = control % bits, control >> 16 & 0x7F
    rest = (signed(value, bits) if is_signed else value) >> offset
    if width >= bits or not width:
        return rest if width else 0
    found = rest & (1 << width) - 1
    return signed(found, width) if is_signed else found


def groups(value: int, bits: int) -> list[bool]:
    return [bool(value >> 4 * n & 15) for n in range(bits // 4)]


def first(flags: list[bool]) -> int:
    return flags.index(True) if True in flags else -1


def digits(value: int, bits: int) -> list[bool]:
    return [bool(value >> n & 1) for n in range(bits)]


# name with {} for the number of bits, widths of the sources (0: that number) and of the result, the formula over the
# sources and the number of bits, what SCC becomes (None: it stays; else over the result)
NOT_ZERO = bool
FORMULAS: list[tuple[str, tuple[int, ...], int, Callable[..., int], Callable[[int], bool] | None]] = [
    ("s_bfe_u{}", (0, 32), 0, lambda a, b, n: field(a, b, n, False), NOT_ZERO),
    ("s_bfe_i{}", (0, 32), 0, lambda a, b, n: field(a, b, n, True), NOT_ZERO),
    ("s_bfm_b{}", (32, 32), 0, lambda a, b, n: (1 << a % n) - 1 << b % n, None),
    ("s_lshl_b{}", (0, 32), 0, lambda a, b, n: a << b % n, NOT_ZERO),
    ("s_lshr_b{}", (0, 32), 0, lambda a, b, n: a >> b % n, NOT_ZERO),
    ("s_ashr_i{}", (0, 32), 0, lambda a, b, n: signed(a, n) >> b % n, NOT_ZERO),
    ("s_not_b{}", (0,), 0, lambda a, n: ~a, NOT_ZERO),
    ("s_andn2_b{}", (0, 0), 0, lambda a, b, n: a & ~b, NOT_ZERO),
    ("s_orn2_b{}", (0, 0), 0, lambda a, b, n: a | ~b, NOT_ZERO),
    ("s_nand_b{}", (0, 0), 0, lambda a, b, n: ~(a & b), NOT_ZERO),
    ("s_nor_b{}", (0, 0), 0, lambda a, b, n: ~(a | b), NOT_ZERO),
    ("s_xnor_b{}", (0, 0), 0, lambda a, b, n: ~(a ^ b), NOT_ZERO),
    ("s_brev_b{}", (0,), 0, lambda a, n: int(f"{a:0{n}b}"[::-1], 2), None),
    ("s_bcnt0_i32_b{}", (0,), 32, lambda a, n: n - a.bit_count(), NOT_ZERO),
    ("s_bcnt1_i32_b{}", (0,), 32, lambda a, n: a.bit_count(), NOT_ZERO),
    ("s_ff0_i32_b{}", (0,), 32, lambda a, n: first(digits(~a, n)), None),
    ("s_ff1_i32_b{}", (0,), 32, lambda a, n: first(digits(a, n)), None),
    ("s_flbit_i32_b{}", (0,), 32, lambda a, n: first(digits(a, n)[::-1]), None),
    ("s_wqm_b{}", (0,), 0, lambda a, n: sum(15 << 4 * k for k, one in enumerate(groups(a, n)) if one), NOT_ZERO),
    ("s_quadmask_b{}", (0,), 0, lambda a, n: sum(1 << k for k, one in enumerate(groups(a, n)) if one), NOT_ZERO),
]
VALUES = {
    32: (0, 1, 0x80000000, 0x7FFFFFFF, 0xFFFFFFFF, 0x00100200, 0x9ABCDEF1),
    64: (0, 1, 1 << 63, (1 << 63) - 1, (1 << 64) - 1, 1 << 32, 0xFFFFFFFF, 0x9ABC00001234DEF0),
}
COUNTS = (0, 1, 31, 32, 33, 63, 64, 0x80000005)
CONTROLS = tuple(
    width << 16 | offset for width in (0, 1, 31, 32, 33, 63, 64, 127) for offset in (0, 1, 31, 32, 63)
)


def executed(
    name: str, widths: tuple[int, ...], sources: tuple[int, ...], width: int, scc: int, constant: int | None = None
) -> tuple[int, int]:
    """The result, and SCC."""
    operands = [Operand("sdst", OperandKind.SGPR, 40, width // 32, bits=width)]
    for k, bits in enumerate(widths):
        operands.append(Operand(f"ssrc{k}", OperandKind.SGPR, 8 * k, bits // 32, bits=bits))
    if constant is not None:
        operands = [Operand("sdst", OperandKind.SGPR, 0, 1), Operand("simm16", OperandKind.IMMEDIATE, value=constant)]
    instruction = Instruction(0, 4, "SOP2", name, name, tuple(operands), {}, name)
    block = block_of_size(layout.state_size(WAVE, False))
    file = block.state[layout.SGPRS : layout.SGPRS + 4 * layout.SGPR_COUNT].view(np.uint32)
    for k, value in enumerate(sources):
        file[8 * k : 8 * k + 2] = value & 0xFFFFFFFF, value >> 32
    block.cell("scc")[0] = scc
    builder = ReferenceBuilder(block, WAVE)
    builder.instruction(0, 4)
    semantic = registry.lookup(name)
    assert semantic is not None
    semantic.function(Access(builder, instruction, Context(TARGETS["gfx90a"], WAVE, layout.Mode(0))))
    return int(file[40]) | (int(file[41]) << 32 if width == 64 else 0), int(block.cell("scc")[0])


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize(("name", "sources", "result", "formula", "becomes"), FORMULAS, ids=[f[0] for f in FORMULAS])
def test_formula(
    name: str, sources: tuple[int, ...], result: int, formula: Callable[..., int],
    becomes: Callable[[int], bool] | None, bits: int,
) -> None:
    widths, width = tuple(size or bits for size in sources), result or bits
    pools = [VALUES[bits], CONTROLS if "bfe" in name else COUNTS if sources[-1] else VALUES[bits]]
    pools[0] = COUNTS if sources[0] else pools[0]
    for turn, given in enumerate(itertools.product(*pools[: len(sources)])):
        scc = turn & 1
        expected = formula(*given, bits) & (1 << width) - 1
        got = executed(name.format(bits), widths, given, width, scc)
        assert got == (expected, scc if becomes is None else becomes(expected)), list(map(hex, given))


RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq, "lg": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}


@pytest.mark.parametrize("relation", RELATIONS)
def test_compares(relation: str) -> None:
    """The constants of SOPK are signed where the numbers are."""
    compare = RELATIONS[relation]
    numbers = (0, 1, 2, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFF8000, 0xFFFFFFFF)
    for turn, (a, b) in enumerate(itertools.product(numbers, repeat=2)):
        scc = turn & 1
        constant = b & 0xFFFF
        for kind in "iu":
            x, y, z = (signed(v, n) if kind == "i" else v for v, n in ((a, 32), (b, 32), (constant, 16)))
            assert executed(f"s_cmp_{relation}_{kind}32", (32, 32), (a, b), 32, scc) == (0, compare(x, y)), (a, b)
            name = f"s_cmpk_{relation}_{kind}32"
            assert executed(name, (), (a,), 32, scc, constant) == (0, compare(x, z)), (kind, a, constant)
        if relation in ("eq", "lg"):
            wide = a << 32 | b, b << 32 | a
            assert executed(f"s_cmp_{relation}_u64", (64, 64), wide, 32, scc) == (0, compare(*wide)), wide


@pytest.mark.parametrize("bits", [32, 64])
def test_bits(bits: int) -> None:
    for turn, (value, count) in enumerate(itertools.product(VALUES[bits], COUNTS)):
        for wanted in (0, 1):
            got = executed(f"s_bitcmp{wanted}_b{bits}", (bits, 32), (value, count), 32, turn & 1)
            assert got == (0, value >> count % bits & 1 == wanted), (value, count)
