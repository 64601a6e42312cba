"""DPP: src0 of a vector instruction comes from another lane.

`dpp_prepare` does the permutation before the instruction's own semantic runs: it puts the permuted source into the
transfer buffer, and records in `Access` where it is, which lanes read 0, and which lanes may write.
"""

from __future__ import annotations

from rocdbg.arch.lane_sets import all_lanes, lane_mask
from rocdbg.arch.targets import Generation
from rocdbg.isa.instruction import OperandKind
from rocdbg.sim.semantics.access import Access, Unsupported

_DATA = 28
"""First dword of the transfer buffer used for permuted sources."""

ROW = 16


def dpp_sources(control: int, wave_size: int) -> list[int | None]:
    """Source lane of each lane for a 9-bit dpp_ctrl; None where the source would be outside.

    The encodings of GFX8..GFX9 and GFX10+ are disjoint, except row_newbcast (gfx90a) and row_share (GFX10+), which are
    the same operation.
    """
    lanes = range(wave_size)
    if control < 0x100:
        return [lane & ~3 | control >> 2 * (lane & 3) & 3 for lane in lanes]
    amount = control & 15
    kind = control & 0x1F0
    if kind == 0x100 and amount:
        return [lane + amount if lane % ROW + amount < ROW else None for lane in lanes]
    if kind == 0x110 and amount:
        return [lane - amount if lane % ROW >= amount else None for lane in lanes]
    if kind == 0x120 and amount:
        return [lane & ~15 | (lane - amount) & 15 for lane in lanes]
    if control in (0x130, 0x138):
        step = 1 if control == 0x130 else -1
        return [lane + step if 0 <= lane + step < wave_size else None for lane in lanes]
    if control in (0x134, 0x13C):
        step = 1 if control == 0x134 else -1
        return [(lane + step) % wave_size for lane in lanes]
    if control == 0x140:
        return [lane & ~15 | 15 - (lane & 15) for lane in lanes]
    if control == 0x141:
        return [lane & ~7 | 7 - (lane & 7) for lane in lanes]
    if control == 0x142:
        return [(lane & ~15) - 1 if lane >= ROW else None for lane in lanes]
    if control == 0x143:
        return [31 if lane >= 32 else None for lane in lanes]
    if kind == 0x150:
        return [lane & ~15 | amount for lane in lanes]
    if kind == 0x160:
        return [lane ^ amount for lane in lanes]
    raise Unsupported(f"dpp_ctrl {control:#x}")


def dpp8_sources(selectors: int, wave_size: int) -> list[int | None]:
    """Source lane of each lane for DPP8: three bits per lane of each group of eight."""
    return [lane & ~7 | selectors >> 3 * (lane & 7) & 7 for lane in range(wave_size)]


def mask_lanes(row_mask: int, bank_mask: int, wave_size: int) -> int:
    """The lanes that row_mask and bank_mask (4 bits each) leave enabled."""
    return lane_mask(
        lane
        for lane in range(wave_size)
        if row_mask >> (lane // ROW & 3) & 1 and bank_mask >> (lane % ROW // 4) & 1
    )


def dpp_prepare(i: Access) -> None:
    """Permute src0 of a DPP form. A source lane outside the row, or inactive without fetch-inactive, reads as 0 with
    bound_ctrl (and in DPP8); otherwise the lane does not write."""
    if not i.sources:  # v_nop
        return
    b, n = i.b, i.wave_size
    operand = i.sources[0]
    if operand.kind is not OperandKind.VGPR:
        raise Unsupported(f"DPP source {operand.text}")
    eight = "dpp8" in i.insn.modifiers
    control = i.modifier("dpp_ctrl")
    if control == 0x142 and i.target.generation >= Generation.GFX10:
        control = 0x150  # row_bcast15 no longer exists: gfx1100 takes the first lane of the row.
    sources = dpp8_sources(i.modifier("dpp8"), n) if eight else dpp_sources(control, n)
    everything = all_lanes(n)
    enabled = everything if eight else mask_lanes(i.modifier("row_mask", 15), i.modifier("bank_mask", 15), n)
    inside = lane_mask(lane for lane, source in enumerate(sources) if source is not None)
    for dword in range(operand.dwords):
        b.shuffle(operand.index + dword, sources, _DATA + dword)
    i.dpp_source = _DATA
    if i.modifier("fi"):
        valid = b.const(inside, b.mask_type)
    else:
        valid = b.permute_mask(i.exec, sources)
    if eight or i.modifier("bound_ctrl"):
        i.dpp_valid = valid
        if enabled != everything:
            i.write_mask = b.const(enabled, b.mask_type)
    else:
        i.write_mask = valid & enabled
