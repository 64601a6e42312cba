"""The source of an instruction's result if the instruction only moves a value: another register, or memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from rocdbg.isa.instruction import Instruction, Operand, OperandKind

_REGISTERS = frozenset({OperandKind.VGPR, OperandKind.AGPR, OperandKind.SGPR, OperandKind.SPECIAL, OperandKind.TTMP})
_CONSTANTS = frozenset({OperandKind.CONSTANT, OperandKind.LITERAL, OperandKind.IMMEDIATE})
_VCC = frozenset({106, 107})
_PLAIN = frozenset({
    "v_mov_b32", "v_mov_b64", "v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32", "s_mov_b32",
    "s_mov_b64", "v_accvgpr_read", "v_accvgpr_write",
})
_CHANGING = ("clamp", "omod", "sdwa", "dst_sel")
_LOADS = ("s_load_", "s_buffer_load_", "s_scratch_load_", "ds_read", "ds_load_")
_NO_LOADS = ("ds_read_tr", "ds_load_tr", "ds_read_addtid", "ds_load_addtid")


class Before(Protocol):
    """The state of the wave before the instruction is executed."""

    def dword(self, operand: Operand, offset: int, lane: int) -> int:
        """Return a dword of an operand; for a vector register, in a lane."""

    def scc(self) -> bool:
        """Return the value of SCC."""

    def active(self) -> int:
        """Return the value of EXEC."""

    def permuted(self) -> int:
        """Return the size of the groups of lanes within which ds_bpermute_b32 exchanges values."""


class Source(Struct, frozen=True):
    """A dword of an operand; for a vector register, in a lane."""

    operand: Operand
    dword: int
    lane: int | None


class Loaded(Struct, frozen=True):
    """A dword that an instruction has loaded: the n-th of a lane; ``second``: loaded from its second address."""

    dword: int
    second: bool = False


class End(Struct, frozen=True):
    """The value has no further source; ``why`` is a short reason."""

    why: str


def source_of(
    instruction: Instruction, result: Operand, dword: int, lane: int | None, wave_size: int, before: Before
) -> Source | Loaded | End:
    """Return the source of dword ``dword`` of a result; ``lane``: the lane, for a vector register."""
    name = instruction.name
    if is_load(instruction):
        return _loaded(instruction, dword)
    if "_atomic" in name or name.startswith(("ds_add", "ds_wrxchg", "ds_cmpst", "ds_cmpstore")):
        return End("the old value that an atomic operation returned")
    half = ""
    if instruction.encoding.startswith("VOPD"):
        half = result.name.removeprefix("vdst")
        name = str(instruction.modifiers["opy"]) if half == "y" else name
        name = "v_" + name.removeprefix("v_dual_")
    move = _moved(instruction, name, half, result, dword, lane, wave_size, before)
    if move is None or any(instruction.modifiers.get(word) for word in _CHANGING):
        return End("arithmetic")
    operand, offset, other = move
    if operand.kind in _CONSTANTS:
        return End("a constant")
    if operand.kind not in _REGISTERS or operand.neg or operand.abs or operand.sext or operand.half == 1:
        return End("arithmetic")
    if operand.kind is OperandKind.SPECIAL and operand.index not in _VCC:
        return End(f"the register {operand.text}")
    vector = operand.kind in (OperandKind.VGPR, OperandKind.AGPR)
    return Source(operand, offset, other if vector else None)


def is_load(instruction: Instruction) -> bool:
    """Whether an instruction loads values from memory unchanged, possibly narrower than a dword."""
    name, encoding = instruction.name, instruction.encoding
    if name.startswith(_NO_LOADS) or "_tr_" in name or "format" in name or "_block" in name:
        return False
    if name.startswith(_LOADS):
        return True
    return "_load_" in name and encoding in ("FLAT", "GLOBAL", "SCRATCH", "MUBUF", "VBUFFER", "VFLAT", "VGLOBAL",
                                             "VSCRATCH")


def is_two_addresses(instruction: Instruction) -> bool:
    """Whether an LDS instruction has two addresses, given by its two offsets."""
    return "offset1" in instruction.modifiers or "2addr" in instruction.name or "read2" in instruction.name or (
        "write2" in instruction.name
    )


def second_distance(instruction: Instruction) -> int:
    """Return the number of bytes from its first address to its second."""
    modifiers = instruction.modifiers
    size = 8 if instruction.name.endswith("b64") else 4
    scale = 64 if "st64" in instruction.name or "stride64" in instruction.name else 1
    return (int(modifiers.get("offset1", 0)) - int(modifiers.get("offset0", 0))) * size * scale


def _loaded(instruction: Instruction, dword: int) -> Loaded:
    if is_two_addresses(instruction):
        each = 2 if instruction.name.endswith("b64") else 1
        return Loaded(dword % each, dword >= each)
    return Loaded(dword)


def _moved(
    instruction: Instruction, name: str, half: str, result: Operand, dword: int, lane: int | None, wave_size: int,
    before: Before,
) -> tuple[Operand, int, int | None] | None:
    """Return the operand, its dword and the lane from which a move reads; ``None`` for other instructions."""

    def operand(*words: str) -> Operand:
        return next(found for word in words if (found := instruction.operand(word + half)) is not None)

    if name in _PLAIN:
        if "dpp_ctrl" in instruction.modifiers or "dpp8" in instruction.modifiers:
            other = _dpp_lane(instruction, lane or 0, wave_size, before)
            return None if other is None else (operand("src0"), dword, other)
        return operand("src0", "ssrc0"), dword, lane
    if name == "v_pk_mov_b32":
        chosen = operand(("src0", "src1")[dword])
        return chosen, int(instruction.modifiers.get("op_sel", 0)) >> dword & 1, lane
    if name == "v_swap_b32":
        return operand("src0" if result.name == "vdst" else "vdst"), 0, lane
    if name in ("v_cndmask_b32", "s_cselect_b32", "s_cselect_b64"):
        if name == "v_cndmask_b32":
            mask = instruction.operand("src2" + half) or instruction.operand("vsrc2" + half)
            chosen_one = bool(_bit(mask, lane or 0, before))
            return operand("src1", "vsrc1") if chosen_one else operand("src0"), dword, lane
        return operand("ssrc0" if before.scc() else "ssrc1"), dword, lane
    if name == "v_readfirstlane_b32":
        active = before.active()
        return operand("src0"), 0, (active & -active).bit_length() - 1 if active else 0
    if name == "v_readlane_b32":
        return operand("src0"), 0, before.dword(operand("src1"), 0, 0) % wave_size
    if name == "v_writelane_b32":
        return operand("src0"), 0, None
    if name == "ds_bpermute_b32":
        at = before.dword(operand("addr"), 0, lane or 0) + int(instruction.modifiers.get("offset", 0))
        among = before.permuted()
        other = (lane or 0) // among * among + (at >> 2) % among
        return (operand("data0"), 0, other) if before.active() >> other & 1 else None
    return None


def _bit(mask: Operand | None, lane: int, before: Before) -> int:
    """Return a lane's bit of a mask operand, or of VCC if there is no operand."""
    return before.dword(mask or _VCC_OPERAND, lane // 32, 0) >> lane % 32 & 1


_VCC_OPERAND = Operand("src2", OperandKind.SPECIAL, 106, 2)

_ROW: dict[int, Callable[[int, int], int]] = {
    0: lambda at, n: at + n, 1: lambda at, n: at - n, 2: lambda at, n: (at - n) % 16,
}


def _dpp_lane(instruction: Instruction, lane: int, wave_size: int, before: Before) -> int | None:
    """Return the lane that a DPP move reads; ``None`` if it reads no lane, or in an unsupported way."""
    eight = instruction.modifiers.get("dpp8")
    other: int | None = None
    if eight is not None:
        other = lane & ~7 | int(eight) >> 3 * (lane & 7) & 7
    else:
        control, row, at = int(instruction.modifiers.get("dpp_ctrl", 0)), lane & ~15, lane & 15
        if control <= 0xFF:  # quad_perm
            other = lane & ~3 | control >> 2 * (lane & 3) & 3
        elif 0x101 <= control <= 0x12F and control & 15:  # row_shl, row_shr, row_ror
            place = _ROW[(control >> 4) - 0x10](at, control & 15)
            other = row | place if 0 <= place < 16 else None
        elif control == 0x140:  # row_mirror
            other = row | 15 - at
        elif control == 0x141:  # row_half_mirror
            other = lane & ~7 | 7 - (lane & 7)
        written = int(instruction.modifiers.get("row_mask", 15)) >> lane // 16 & 1
        if not written & int(instruction.modifiers.get("bank_mask", 15)) >> (lane & 15) // 4:
            return None
    if other is None or other >= wave_size:
        return None
    fetches = before.active() >> other & 1 or instruction.modifiers.get("fi")
    return other if fetches else None


__all__ = ["Before", "End", "Loaded", "Source", "is_load", "is_two_addresses", "second_distance", "source_of"]
