"""What the analyses hold of single instructions, against what the simulator does."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from rocdbg.analysis.control_flow import Block
from rocdbg.analysis.machine_state import State
from rocdbg.analysis.mask_effects import SCC, Effect, Kind, Source, effects_of
from rocdbg.analysis.recomputation import _OPERATIONS
from rocdbg.analysis.register_effects import BY_CONVENTION, Machine, apply
from rocdbg.arch.targets import TARGETS
from rocdbg.debugger.reports.operand_values import operands_of
from rocdbg.isa import Flow
from rocdbg.isa.decoder import DecodeError, decode
from rocdbg.isa.instruction import Instruction, Operand, OperandKind
from rocdbg.sim.core import layout
from rocdbg.sim.core.reference_builder import ReferenceBuilder
from rocdbg.sim.core.wave import StateBlock, block_of_size
from rocdbg.sim.semantics import registry
from rocdbg.sim.semantics.access import Access, Context, Unsupported
from rocdbg.sim.translator.scalar_results import scalar_results

LANES = 64
SGPRS, M0, EXEC = 106, 124, 126
NAMES = ("gfx600", "gfx90a", "gfx1150", "gfx1250")
# Scalar instructions by their opcode: s[40:41] = s[0:1] OP s[8:9], or OP 0x8005.
ENCODINGS = {
    "SOP2": [0x8000_0800 | op << 23 | 40 << 16 for op in range(0x60)],
    "SOPK": [0xB000_8005 | op << 23 | 40 << 16 for op in range(0x1C)],
    "SOP1": [0xBE80_0000 | op << 8 | 40 << 16 for op in range(0x100)],
    "SOPC": [0xBF00_0800 | op << 16 for op in range(0x80)],
}
COMPARISONS = [0x7C00_1100 | op << 17 for op in range(0x100)]
"""VOPC: v0 with v8."""


def instructions(target: str, words: Iterable[int]) -> Iterator[Instruction]:
    """Those that are simulated and do not jump."""
    for word in words:
        try:
            instruction = decode(word.to_bytes(4, "little") + bytes(8), TARGETS[target], 0, wave_size=LANES)
        except DecodeError:
            continue
        if instruction.flow is Flow.NEXT and registry.lookup(instruction.name) is not None:
            yield instruction


def scalar_instructions(target: str) -> Iterator[Instruction]:
    return instructions(target, itertools.chain(*ENCODINGS.values()))


def effect_of(instruction: Instruction) -> Effect | None:
    found = effects_of(Block([instruction], ()), True, frozenset())
    return found[0] if found else None


@pytest.mark.parametrize("target", NAMES)
def test_scc(target: str) -> None:
    """For the analysis of masks, and as `info operands` says."""
    different = []
    for instruction in scalar_instructions(target):
        written = SCC in scalar_results(instruction, TARGETS[target], LANES)
        effect = effect_of(instruction)
        said = {row.name: row.writes for row in operands_of(instruction, LANES, target)}
        if [written] * 2 != [effect is not None and effect.sets_scc, said.get("scc", False)]:
            different.append((instruction.text, "SCC is written" if written else "SCC stays"))
    assert not different


@pytest.mark.parametrize("target", NAMES)
def test_scalar_registers_that_are_forgotten(target: str) -> None:
    """All that may be written: what was known about them is no longer so."""
    different = []
    for instruction in itertools.chain(scalar_instructions(target), instructions(target, COMPARISONS)):
        state = State()
        apply(state, instruction, Machine(LANES, False, lambda address: BY_CONVENTION))
        written = scalar_results(instruction, TARGETS[target], LANES) - {SCC, M0, M0 + 1}
        if not written <= state.scalars.keys():
            different.append((instruction.text, sorted(written - state.scalars.keys())))
    assert not different


def random_state(seed: int) -> StateBlock:
    block = block_of_size(layout.state_size(LANES, False))
    file = sgprs(block)
    file[:SGPRS] = np.random.default_rng(seed).integers(0, 1 << 32, SGPRS, dtype=np.uint32)
    file[EXEC : EXEC + 2] = 0x5A5AFF0F, 0x00FF33CC
    block.cell("scc")[0] = seed & 1
    return block


def sgprs(block: StateBlock) -> np.ndarray:
    return block.state[layout.SGPRS : layout.SGPRS + 4 * layout.SGPR_COUNT].view(np.uint32)


def executed(instruction: Instruction, target: str, block: StateBlock) -> None:
    builder = ReferenceBuilder(block, LANES)
    builder.instruction(0, instruction.size)
    semantic = registry.lookup(instruction.name)
    assert semantic is not None
    if semantic.kind is registry.Kind.LANE:
        builder.lanes()
    semantic.function(Access(builder, instruction, Context(TARGETS[target], LANES, layout.Mode(0))))


def dwords(effect: Effect, before: np.ndarray, scc: int) -> dict[int, int]:
    """The registers whose values an effect says, with these."""

    def read(source: Source, half: int) -> int:
        place = source.place(half)
        return source.constant >> 32 * half & 0xFFFFFFFF if place is None else int(before[place])

    def logic(first: int, second: int) -> int:
        terms = [~first & ~second, ~first & second, first & ~second, first & second]
        return sum(term & 0xFFFFFFFF for n, term in enumerate(terms) if effect.operation >> n & 1)

    found: dict[int, int] = {}
    for half in range(1 + (effect.destination is not None and effect.destination.wide)):
        first, second = read(effect.first, half), read(effect.second, half)
        value = first if scc else second
        if effect.kind is not Kind.SELECT:
            value = logic(first, second)
        assert effect.destination is not None
        place = effect.destination.place(half)
        assert place is not None
        found[place] = value
        if effect.saved is not None:
            saved = effect.saved.place(half)
            assert saved is not None
            found[saved] = second if effect.kind is Kind.SAVE else value
    return found


@pytest.mark.parametrize("target", NAMES)
def test_masks(target: str) -> None:
    """Logic on masks gives what an effect says, and whatever else changes is lost by it."""
    compared = 0
    for seed, instruction in enumerate(scalar_instructions(target)):
        effect = effect_of(instruction)
        if instruction.encoding not in ("SOP1", "SOP2") or effect is None:
            continue
        block = random_state(seed)
        before, scc = sgprs(block).copy(), int(block.cell("scc")[0])
        try:
            executed(instruction, target, block)
        except Unsupported:
            continue
        after = sgprs(block)
        said = dwords(effect, before, scc) if effect.kind in (Kind.LOGIC, Kind.SAVE, Kind.WRITE, Kind.SELECT) else {}
        compared += bool(said)
        assert {place: int(after[place]) for place in said} == said, instruction.text
        for place in np.flatnonzero(after[:M0] != before[:M0]):
            assert effect.writes_scalar(int(place)) or effect.writes_exec(), instruction.text
    assert compared > 20


EDGES = (0, 1, 2, 31, 33, 0x7FFFFF, 0x800000, 0xFFFFFF, 0x1234567, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF)


@pytest.mark.parametrize("name", _OPERATIONS)
def test_recomputed_values(name: str) -> None:
    """A value that is computed again from the sources of an instruction is the instruction's result."""
    operation = _OPERATIONS[name]
    count = operation.__code__.co_argcount
    sources = [np.resize(np.roll(np.repeat(EDGES, len(EDGES) ** k), k), 192).astype(np.uint32) for k in range(count)]
    vector = name.startswith("v_")
    operands = [
        Operand(f"src{k}" if vector else f"ssrc{k}", OperandKind.VGPR if vector else OperandKind.SGPR, 8 * k, 1)
        for k in range(count)
    ]
    kind = OperandKind.VGPR if vector else OperandKind.SGPR
    operands.insert(0, Operand("vdst" if vector else "sdst", kind, 100, 1))
    if vector and "_co_" in name:
        operands.insert(1, Operand("sdst", OperandKind.SGPR, 22, 2))
    instruction = Instruction(0, 8, "VOP3" if vector else "SOP2", name, name, tuple(operands), {}, name)
    for start in range(0, 192, LANES if vector else 3):
        block = random_state(0)
        given = [source[start : start + LANES] for source in sources]
        if vector:
            sgprs(block)[EXEC : EXEC + 2] = 0xFFFFFFFF
            for k, values in enumerate(given):
                registers(block, 8 * k)[:] = values
        else:
            sgprs(block)[: 8 * count : 8] = [int(values[0]) for values in given]
        executed(instruction, "gfx90a", block)
        got = registers(block, 100).tolist() if vector else [int(sgprs(block)[100])]
        expected = [operation(*map(int, row)) & 0xFFFFFFFF for row in zip(*given, strict=True)]
        assert got == expected[: len(got)], given


def registers(block: StateBlock, number: int) -> np.ndarray:
    offset = layout.vgpr_offset(number, LANES)
    return block.state[offset : offset + 4 * LANES].view(np.uint32)
