"""LLVM's time for one module is bounded, because it cannot be interrupted: translation stops when the IR gets long."""

from __future__ import annotations

from rocdbg.arch.targets import target_by_name
from rocdbg.isa.decoder import decode
from rocdbg.sim.core.layout import Mode, mode_key
from rocdbg.sim.semantics.access import Context
from rocdbg.sim.translator.blocks import Block
from rocdbg.sim.translator.translate import MAX_BLOCK_LINES, MAX_MODULE_LINES, translate
from rocdbg.sim.translator.wave_builder import WaveBuilder

FMA_F64 = bytes.fromhex("040014d6040d1204")  # v_fma_f64 v[4:5], v[4:5], v[6:7], v[4:5]


def _translated(blocks: int, exceptions: bool) -> tuple[list[int], int]:
    """The number of translated instructions in each of some blocks of 128, and the number of lines of IR."""
    instruction = decode(FMA_F64, "gfx1100")
    assert instruction.name == "v_fma_f64", instruction.text
    context = Context(target_by_name("gfx1100"), 32, Mode(mode_key(0x3F0)), exceptions)
    wanted = [Block(1024 * n, (instruction,) * 128) for n in range(blocks)]
    made = translate(WaveBuilder(32, 8, False, {}), wanted, [f"f{n}" for n in range(blocks)], context)
    return [len(b.instructions) for b in made.blocks], made.text.count("\n")


def test_ordinary_code_is_not_cut() -> None:
    assert _translated(3, False)[0] == [128, 128, 128]


def test_long_code_is_cut() -> None:
    counts, lines = _translated(4, True)
    assert 10 < counts[0] < 128  # the first block always makes progress
    assert counts[-1] == 0  # left for the next module
    assert lines < MAX_MODULE_LINES + 1.5 * MAX_BLOCK_LINES
