"""Determines the scalar registers that an instruction writes, whether or not its operands name them.

The semantic is run with a builder that records what is written; nothing is compiled.
"""

from __future__ import annotations

from rocdbg.arch.targets import Target
from rocdbg.isa.instruction import Instruction
from rocdbg.isa.operands import SPECIAL_CODES
from rocdbg.sim.core import layout
from rocdbg.sim.core.builder import Value
from rocdbg.sim.semantics.access import Context, Unsupported
from rocdbg.sim.semantics.registry import lookup
from rocdbg.sim.translator.translate import execute
from rocdbg.sim.translator.wave_builder import WaveBuilder

SCC = SPECIAL_CODES["src_scc"]


class _AnySlot(dict[str, int]):
    """Gives every routine a slot; the routines are never called."""

    def __missing__(self, name: str) -> int:
        return 0


class _Noted(WaveBuilder):
    """Records the operand codes that are written."""

    def __init__(self, target: Target, wave_size: int) -> None:
        self.codes: set[int] = set()
        super().__init__(wave_size, 8, False, _AnySlot(), target.vgpr_file, target.has_agprs)

    def write_sgpr(self, code: int, value: Value) -> None:
        self.codes.update(range(code, code + value.type.bits // 32))
        super().write_sgpr(code, value)

    def write_lane_mask(self, code: int, bit: Value) -> None:
        self.codes.update(range(code, code + self.wave_size // 32))
        super().write_lane_mask(code, bit)

    def write_scc(self, bit: Value) -> None:
        self.codes.add(SCC)
        super().write_scc(bit)


def scalar_results(instruction: Instruction, target: Target, wave_size: int) -> frozenset[int]:
    """The operand codes of the dwords that an instruction may write: SGPRs, VCC, M0, EXEC, SCC.

    Results of loads, which routines write, and registers that M0 selects are not included. Empty for an instruction
    that cannot be simulated.
    """
    semantic = lookup(instruction.name)
    if semantic is None:
        return frozenset()
    builder = _Noted(target, wave_size)
    builder.begin("noted", instruction.address, 1)
    try:
        execute(builder, instruction, semantic, Context(target, wave_size, layout.Mode(0)))
        builder.flush()
    except Unsupported:
        return frozenset()
    return frozenset(builder.codes)


__all__ = ["SCC", "scalar_results"]
