"""Facts inside a long block are the same in whatever order they are requested, and each request is cheap."""

from __future__ import annotations

import random

from rocdbg.analysis.control_flow import FunctionCode
from rocdbg.analysis.machine_state import State
from rocdbg.analysis.register_effects import BY_CONVENTION, Machine
from rocdbg.analysis.saved_registers import Analysis, analyse
from rocdbg.isa import assemble
from rocdbg.isa.instruction import Instruction

LINES = ("v_mov_b32 v{0}, v{1}", "s_mov_b32 s{0}, s{1}", "v_mov_b32 v{1}, v{0}", "s_add_u32 s{1}, s{0}, 4")


def code_of_one_block(count: int) -> bytes:
    choose = random.Random(1)
    lines = [choose.choice(LINES).format(choose.randrange(40), choose.randrange(40)) for _ in range(count)]
    return b"".join(assemble(line, "gfx90a") for line in [*lines, "s_endpgm"])


def analysis_of(code: bytes) -> Analysis:
    return analyse(FunctionCode(0, len(code), is_kernel=True), code, "gfx90a",
                   Machine(64, False, lambda address: BY_CONVENTION))


def test_any_order() -> None:
    code = code_of_one_block(300)
    straight = analysis_of(code)
    (block,) = straight.blocks.values()
    state, expected = straight.states[0].copy(), {}
    for instruction in block.instructions:
        expected[instruction.address] = state.copy()
        straight.step(state, instruction)
    shuffled = random.Random(2).sample([*expected], len(expected))
    for order in (sorted(expected), sorted(expected, reverse=True), shuffled):
        asked = analysis_of(code)
        for address in order:
            found = asked.before(address)
            assert found is not None
            assert found[0] == expected[address], hex(address)
            found[0].set_vector(3, found[0].vector(5))  # it is the caller's own


class Counted(Analysis):
    steps = 0

    def step(self, state: State, instruction: Instruction) -> None:
        Counted.steps += 1
        super().step(state, instruction)


def test_steps_grow_with_the_block() -> None:
    found = {}
    for count in (500, 2000):
        whole = analysis_of(code_of_one_block(count))
        counted = Counted(whole.function, whole.machine, whole.blocks, whole.states)
        counted.finish()
        Counted.steps = 0
        for instruction in whole.blocks[0].instructions:
            counted.before(instruction.address)
        found[count] = Counted.steps
    assert found[2000] < 5 * found[500]
