"""Packed bfloat16 arithmetic, and arithmetic that mixes f32 with halves of registers: op_sel chooses a half, op_sel_hi
the type (or the second half's source), neg_lo and neg_hi change signs.
"""

from __future__ import annotations

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

WAVE = 32
FIELDS = ("op_sel", "op_sel_hi", "neg_lo", "neg_hi")


def executed(name: str, sources: np.ndarray, modifiers: dict[str, int], old: int) -> np.ndarray:
    block = block_of_size(layout.state_size(WAVE, False))
    block.state[layout.sgpr_offset(layout.EXEC_LO) :][:4] = 255
    at = layout.vgpr_offset(0, WAVE)
    registers = block.state[at : at + 4 * 4 * WAVE].view(np.uint32).reshape(4, WAVE)
    registers[: len(sources)], registers[3] = sources, old
    operands = [Operand("vdst", OperandKind.VGPR, 3)]
    operands += [Operand(f"src{k}", OperandKind.VGPR, k) for k in range(len(sources))]
    builder = ReferenceBuilder(block, WAVE)
    builder.instruction(0, 8)
    builder.rounding = (0, 0)
    builder.lanes()
    semantic = registry.lookup(name)
    assert semantic is not None
    context = Context(TARGETS["gfx1250"], WAVE, layout.Mode(layout.mode_key(0xF0)))
    instruction = Instruction(0, 8, "VOP3P", name, name, tuple(operands), modifiers, name)
    semantic.function(Access(builder, instruction, context))
    return registers[3]


def half(words: np.ndarray, high: int, bfloat: bool) -> np.ndarray:
    bits = words >> 16 * high & 0xFFFF
    return (bits << 16).view(np.float32) if bfloat else bits.astype(np.uint16).view(np.float16).astype(np.float32)


def narrowed(values: np.ndarray, bfloat: bool) -> np.ndarray:
    """Numbers to halves, ties to even."""
    if not bfloat:
        return values.astype(np.float16).view(np.uint16).astype(np.uint32)
    bits = values.astype(np.float32).view(np.uint32)
    return bits + 0x7FFF + (bits >> 16 & 1) >> 16


def drawn(name: str, inverted: bool, singles: bool, bfloat: bool) -> tuple[np.ndarray, dict[str, int], int]:
    """Numbers of few bits, whose products and sums are exact in f32; modifiers; and what the result's register holds.
    With ``inverted``, the modifiers have the opposite bits.
    """
    chance = np.random.default_rng(sum(name.encode()))
    numbers = (chance.integers(1, 256, (2, 3, WAVE)) * chance.choice([-1, 1], (2, 3, WAVE)) / 16).astype(np.float32)
    low, high = (narrowed(part, bfloat) for part in numbers)
    words = low | high << 16
    modifiers = {field: int(chance.integers(8)) ^ 7 * inverted for field in FIELDS}
    for k in range(3):
        if singles and not modifiers["op_sel_hi"] >> k & 1:
            words[k] = numbers[0, k].view(np.uint32)
    return words, modifiers, int(chance.integers(1 << 32))


def sign_changed(values: np.ndarray, negative: int, absolute: int = 0) -> np.ndarray:
    values = np.abs(values) if absolute else values
    return -values if negative else values


PACKED: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b, "mul": lambda a, b: a * b, "fma": lambda a, b, c: a * b + c,
    "min_num": np.minimum, "max_num": np.maximum,
}


@pytest.mark.parametrize("type", ["f16", "bf16"])
@pytest.mark.parametrize("operation", PACKED)
def test_packed(operation: str, type: str) -> None:
    formula, bfloat = PACKED[operation], type == "bf16"
    count = 3 if operation == "fma" else 2
    name = f"v_pk_{operation}_{type}"
    for inverted in (False, True):
        words, modifiers, old = drawn(name, inverted, False, bfloat)
        got, expected = executed(name, words[:count], modifiers, old), np.zeros(WAVE, np.uint32)
        for part, (selects, signs) in enumerate((("op_sel", "neg_lo"), ("op_sel_hi", "neg_hi"))):
            sources = [
                sign_changed(half(words[k], modifiers[selects] >> k & 1, bfloat), modifiers[signs] >> k & 1)
                for k in range(count)
            ]
            expected |= narrowed(formula(*sources), bfloat) << 16 * part
        assert np.array_equal(got, expected), modifiers


@pytest.mark.parametrize(
    "name",
    [
        "v_fma_mix_f32", "v_fma_mixlo_f16", "v_fma_mixhi_f16", "v_mad_mix_f32", "v_mad_mixlo_f16", "v_mad_mixhi_f16",
        "v_fma_mix_f32_bf16", "v_fma_mixlo_bf16", "v_fma_mixhi_bf16",
    ],
)
def test_mixed(name: str) -> None:
    bfloat = name.endswith("bf16")
    for inverted in (False, True):
        words, modifiers, old = drawn(name, inverted, True, bfloat)
        sources = []
        for k in range(3):
            bits = {field: value >> k & 1 for field, value in modifiers.items()}
            value = half(words[k], bits["op_sel"], bfloat) if bits["op_sel_hi"] else words[k].view(np.float32)
            sources.append(sign_changed(value, bits["neg_lo"], bits["neg_hi"]))
        result = sources[0] * sources[1] + sources[2]
        if "mixlo" in name:
            expected = narrowed(result, bfloat) | old & 0xFFFF0000
        elif "mixhi" in name:
            expected = narrowed(result, bfloat) << 16 | old & 0xFFFF
        else:
            expected = result.view(np.uint32)
        assert np.array_equal(executed(name, words, modifiers, old), expected), modifiers
