"""The registers that an instruction writes, and the lanes, beyond what its operands and EXEC show.

`may_write` and `source_lane` only need the instruction and EXEC. If `is_chosen`, the wave's state determines the
registers or lanes: `chosen` resolves them when the wave is before the instruction.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from rocdbg.arch.dwarf_registers import register_number
from rocdbg.arch.targets import Generation, Target
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.isa.instruction import Instruction, Operand, OperandKind
from rocdbg.isa.operands import FILE_NAMES
from rocdbg.isa.result_operands import results
from rocdbg.sim.core.layout import GPR_IDX_EN
from rocdbg.sim.semantics.access import INDEX_BIT
from rocdbg.sim.semantics.lanes_dpp import dpp8_sources, dpp_sources, mask_lanes
from rocdbg.sim.semantics.registry import Kind, lookup
from rocdbg.sim.translator.scalar_results import scalar_results

_NUMBERS = (OperandKind.CONSTANT, OperandKind.LITERAL, OperandKind.IMMEDIATE)
_RELATIVE = {
    "v_movrels_b32": ("v_mov_b32", False, True),
    "v_movreld_b32": ("v_mov_b32", True, False),
    "v_movrelsd_b32": ("v_mov_b32", True, True),
    "v_movrelsd_2_b32": ("v_mov_b32", True, True),
    "v_swaprel_b32": ("v_swap_b32", True, True),
    "s_movrels_b32": ("s_mov_b32", False, True),
    "s_movrels_b64": ("s_mov_b64", False, True),
    "s_movreld_b32": ("s_mov_b32", True, False),
    "s_movreld_b64": ("s_mov_b64", True, False),
    "s_movrelsd_2_b32": ("s_mov_b32", True, True),
}
"""Moves whose registers M0 selects: for each, the equivalent instruction with fixed registers, and whether M0 selects
its destination and its source.
"""
_HALVES = frozenset(("v_movrelsd_2_b32", "v_swaprel_b32", "s_movrelsd_2_b32"))
"""The moves for which M0 contains separate numbers for destination and source."""
_SCALARS = 106
"""The number of SGPRs among which M0 can select."""
_ROW_BCAST15, _ROW_SHARE0 = 0x142, 0x150


class Wanted(Struct, frozen=True):
    """Registers of a kind (special ones by operand code), and the lane of their dwords; None for scalar registers."""

    kind: OperandKind
    numbers: range
    lane: int | None

    @property
    def codes(self) -> frozenset[int]:
        """The operand codes of special registers."""
        return frozenset(self.numbers)

    def overlaps(self, kind: OperandKind, first: int, dwords: int) -> bool:
        """Whether any of the wanted registers is in a run of registers."""
        return kind is self.kind and first < self.numbers.stop and self.numbers.start < first + dwords


def may_write(instruction: Instruction, wanted: Wanted, wave_size: int, indexed: bool, target: Target) -> bool:
    """Whether it writes any of the registers in some state. ``indexed``: the program may set GFX9's index mode."""
    if instruction.name == "v_writelane_b32":
        select = instruction.operand("src1")
        if select is not None and select.kind in _NUMBERS and select.value % wave_size != wanted.lane:
            return False  # many registers may be spilled into lanes of this one
    if instruction.name.startswith("v_permlane") and instruction.name.endswith("_swap_b32"):
        return _swaps(instruction, wanted)
    if _RELATIVE.get(instruction.name, ("", False))[1]:
        vector = instruction.name.startswith("v_")
        return wanted.kind is (OperandKind.VGPR if vector else OperandKind.SGPR)
    if indexed and wanted.kind is OperandKind.VGPR and _is_indexable(instruction):
        return True
    return _names(instruction, wanted) or (wanted.kind is OperandKind.SPECIAL and (
        not wanted.codes.isdisjoint(scalar_results(instruction, target, wave_size))
    ))


def is_chosen(instruction: Instruction, indexed: bool) -> bool:
    """Whether `chosen` has to be called."""
    name = instruction.name
    return name in _RELATIVE or name == "v_writelane_b32" or name.startswith("s_cmov") or (
        indexed and _is_indexable(instruction)
    )


def chosen(instruction: Instruction, wanted: Wanted, state: WaveRegisters) -> bool:
    """Whether an instruction for which `may_write` is true writes one of the registers in the wave's current state."""
    if instruction.name == "v_writelane_b32":
        select = instruction.operand("src1")
        here = select is not None and state.dword(select, 0, 0) % state.wave_size == wanted.lane
        return here and _names(instruction, wanted)
    if instruction.name.startswith("s_cmov"):
        return state.scc() and _names(instruction, wanted)
    return _names(resolved(instruction, state), wanted)


def resolved(instruction: Instruction, state: WaveRegisters) -> Instruction:
    """Return the instruction with the registers that M0 selects now; the instruction itself if M0 selects none."""
    name, by = instruction.name, dict[str, int]()
    if name in _RELATIVE:
        name, to, source = _RELATIVE[name]
        m0 = state.special("m0")
        low, high = (m0 & 0x3FF, m0 >> 16 & 0x3FF) if instruction.name in _HALVES else (m0, m0)
        by = {"vdst": high, "sdst": high} if to else {}
        by |= {"src0": low, "ssrc0": low} if source else {}
    elif _is_indexable(instruction) and state.special("mode") >> GPR_IDX_EN & 1:
        m0 = state.special("m0")
        by = {word: m0 & 0xFF for word, bit in INDEX_BIT.items() if m0 >> 12 + bit & 1}
    if not by:
        return instruction
    operands = tuple(_moved(one, by[one.name]) if one.name in by else one for one in instruction.operands)
    return replace(instruction, name=name, operands=operands)


def _moved(operand: Operand, by: int) -> Operand:
    """Return the operand ``by`` registers further. An invalid scalar register is not written, and reads as s0."""
    if operand.kind not in (OperandKind.VGPR, OperandKind.SGPR):
        return operand
    index = operand.index + by
    if operand.kind is OperandKind.SGPR and (by % operand.dwords or index + operand.dwords > _SCALARS):
        index = -operand.dwords if operand.name == "sdst" else 0
    return replace(operand, index=index)


def source_lane(instruction: Instruction, lane: int, wave_size: int, target: Target) -> int | None:
    """Return the lane that must be active besides ``lane`` for ``lane`` to get a result; ``lane`` itself if there is no
    such lane. Return None if a DPP form never gives ``lane`` a result.
    """
    modifiers = instruction.modifiers
    if "dpp_ctrl" not in modifiers:
        return lane
    masks = int(modifiers.get("row_mask", 15)), int(modifiers.get("bank_mask", 15))
    if not mask_lanes(*masks, wave_size) >> lane & 1:
        return None
    if modifiers.get("bound_ctrl"):
        return lane
    source = moved_lane(instruction, lane, wave_size, target)
    return lane if source is not None and modifiers.get("fi") else source


def moved_lane(instruction: Instruction, lane: int, wave_size: int, target: Target) -> int | None:
    """Return the lane from which a lane's source comes in a DPP form; None if that is outside the wave or row."""
    modifiers = instruction.modifiers
    if "dpp8" in modifiers:
        return dpp8_sources(int(modifiers["dpp8"]), wave_size)[lane]
    control = int(modifiers["dpp_ctrl"])
    if control == _ROW_BCAST15 and target.generation >= Generation.GFX10:
        control = _ROW_SHARE0
    return dpp_sources(control, wave_size)[lane]


def _names(instruction: Instruction, wanted: Wanted) -> bool:
    extra = 1 if instruction.modifiers.get("tfe") else 0  # a status dword after the data
    return any(wanted.overlaps(one.kind, one.index, one.dwords + extra) for one in results(instruction))


def _swaps(instruction: Instruction, wanted: Wanted) -> bool:
    """Whether an exchange of rows gives the lane a value of another lane: in the destination, the odd rows receive
    such values, and in the source, the even rows do.
    """
    row = 16 if "16" in instruction.name else 32
    odd = bool((wanted.lane or 0) & row)
    return any(
        wanted.overlaps(one.kind, one.index, 1) for one in results(instruction) if odd is (one.name == "vdst")
    )


def _is_indexable(instruction: Instruction) -> bool:
    """Whether the index mode may apply to the instruction's result, as it does for vector arithmetic."""
    if not instruction.name.startswith("v_"):
        return False
    semantic = lookup(instruction.name)
    return semantic is not None and semantic.kind is Kind.LANE and any(
        one.kind is OperandKind.VGPR and one.name == "vdst" for one in results(instruction)
    )


# The contents of an instruction's operands, in a wave that is about to execute it.
VECTORS = (OperandKind.VGPR, OperandKind.AGPR)


class WaveRegisters:
    """The contents of a wave's registers at the target's position."""

    def __init__(self, inferior: Inferior, thread: int) -> None:
        self._target, self._thread = inferior.need_target(), thread
        self.wave_size = inferior.wave(thread).lane_count

    def dword(self, operand: Operand, offset: int, lane: int) -> int:
        """Return a dword of an operand; 0 if the operand cannot be read."""
        if operand.kind in (OperandKind.CONSTANT, OperandKind.LITERAL, OperandKind.IMMEDIATE):
            return operand.value >> 32 * offset & 0xFFFF_FFFF
        if operand.kind is OperandKind.SPECIAL:
            name, at = {106: ("vcc", 0), 107: ("vcc", 1), 126: ("exec", 0), 127: ("exec", 1)}.get(
                operand.index, ("", 0)
            )
            if not name:
                return (self._target.read_special(self._thread, "m0") or 0) if operand.text == "m0" else 0
            offset += at
            if offset and self.wave_size == 32:  # the upper half is a register of its own, not part of the mask
                return self.special(f"{name}_hi")
        else:
            name = f"{FILE_NAMES[operand.kind]}{operand.index + offset}"
            offset = lane if operand.kind in VECTORS else 0
        if name.startswith("ttmp"):
            return self._target.read_special(self._thread, name) or 0
        data = self._target.read_register(self._thread, register_number(name, self.wave_size))
        return int.from_bytes(data[4 * offset : 4 * offset + 4], "little")

    def special(self, name: str) -> int:
        """Return the value of a register that has no DWARF number; 0 if the wave does not have it."""
        return self._target.read_special(self._thread, name) or 0

    def scc(self) -> bool:
        """Return the value of SCC."""
        return bool(self._target.read_special(self._thread, "scc"))

    def active(self) -> int:
        """Return the value of EXEC."""
        data = self._target.read_register(self._thread, register_number("exec", self.wave_size))
        return int.from_bytes(data, "little")

    def permuted(self) -> int:
        """The size of the groups of lanes within which ds_bpermute_b32 exchanges values: half a wave on GFX10 and
        GFX11.
        """
        halves = self._target.architecture.generation in (Generation.GFX10, Generation.GFX11)
        return 32 if halves else self.wave_size


__all__ = [
    "VECTORS", "Wanted", "WaveRegisters", "chosen", "is_chosen", "may_write", "moved_lane", "resolved",
    "source_lane",
]
