"""The number of registers that a wave has, and the detection of instructions that name others.

The manuals allow such an instruction to read other registers or do nothing, depending on the generation; here it is an
illegal instruction, with a message that says what is wrong. A block is checked as a whole when it is entered
(`Status.REGISTERS`); if it names registers that the wave does not have, its instructions are executed one by one up to
the first that names such a register.

Bounds and needs are packed: 16 bits each for VGPRs, AGPRs and SGPRs. A wave's bounds hold 0x7FFF minus its registers,
so the sum with a block's needs has the top bit of a field set if the block needs too many, and 0 means that there are
no bounds.
"""

from __future__ import annotations

from collections.abc import Iterable

from rocdbg.arch.targets import TARGETS, Generation, Target
from rocdbg.isa.instruction import Instruction, OperandKind
from rocdbg.sim.core.layout import VGPR_COUNT

_SHIFT = {OperandKind.VGPR: 0, OperandKind.AGPR: 16, OperandKind.SGPR: 32}
_PREFIX = {OperandKind.VGPR: "v", OperandKind.AGPR: "a", OperandKind.SGPR: "s"}
_NAMES = {OperandKind.VGPR: "VGPRs", OperandKind.AGPR: "AGPRs", OperandKind.SGPR: "SGPRs"}
_MOST = 0x7FFF
OVERFLOW = 0x8000_8000_8000
"""Bits of the sum of bounds and needs that are set if there are too many."""

MOST_GRANULE = max(target.vgpr_allocation(size) for target in TARGETS.values() for size in target.wave_sizes)
"""VGPRs are allocated in multiples of at most this number."""
_FEWEST = 4
"""No wave has fewer VGPRs."""
_FEWEST_SCALARS = 16
"""No wave has fewer SGPRs."""


def bounds(target: Target, wave_size: int, vgprs: int, agprs: int, sgprs: int) -> int:
    """The packed bounds of a wave whose kernel requested this many registers.

    Allocation rounds up, but no wave gets more VGPRs than instructions can name: the wave's state has no room for more.
    From GFX10 on every wave has all SGPRs.
    """
    granule = target.vgpr_allocation(wave_size)
    counts = [min(-(-vgprs // granule) * granule, target.vgpr_file), agprs]
    unit = target.sgpr_granule or 16
    counts.append(-(-sgprs // unit) * unit if target.generation < Generation.GFX10 else _MOST)
    return sum(_MOST - min(count, _MOST) << 16 * n for n, count in enumerate(counts))


def needs(instructions: Iterable[Instruction]) -> int:
    """The packed number of registers that instructions name; 0 if every wave has them."""
    last = dict.fromkeys(_SHIFT, 0)
    for instruction in instructions:
        for operand in instruction.operands:
            if operand.kind in last:
                last[operand.kind] = max(last[operand.kind], operand.index + max(1, operand.dwords))
    return pack(*(last[kind] for kind in _SHIFT))


def pack(vgprs: int, agprs: int, sgprs: int = 0) -> int:
    """Packed needs; 0 if every wave has this many registers."""
    if vgprs <= _FEWEST and not agprs and sgprs <= _FEWEST_SCALARS:
        return 0
    return vgprs | agprs << 16 | sgprs << 32


def most(one: int, other: int) -> int:
    """The field-wise maximum of two packed needs."""
    return sum(max(one >> shift & _MOST, other >> shift & _MOST) << shift for shift in _SHIFT.values())


def exists(instruction: Instruction, target: Target) -> bool:
    """Whether a target has all the vector registers that an instruction names, including the last one of each tuple.
    Encodings can name a tuple that begins with v255, after which there is no register.
    """
    files = {OperandKind.VGPR: target.vgpr_file, OperandKind.AGPR: VGPR_COUNT if target.has_agprs else 0}
    return all(
        operand.index + max(1, operand.dwords) <= files[operand.kind]
        for operand in instruction.operands
        if operand.kind in files
    )


def excess(instruction: Instruction, bounds: int) -> str | None:
    """The violation if an instruction exceeds a wave's bounds, such as ``v40 is past the wave's 32 VGPRs``; else None.
    """
    for operand in instruction.operands:
        if operand.kind not in _SHIFT:
            continue
        count = _MOST - (bounds >> _SHIFT[operand.kind] & _MOST)
        last = operand.index + max(1, operand.dwords) - 1
        if last >= count:
            return f"{_PREFIX[operand.kind]}{last} is past the wave's {count} {_NAMES[operand.kind]}"
    return None


__all__ = ["OVERFLOW", "bounds", "excess", "exists", "most", "needs", "pack"]
