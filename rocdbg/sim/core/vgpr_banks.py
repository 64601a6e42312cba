"""Determines which of gfx125x's 1024 VGPRs an operand means: its field names one of 256, and MODE has two more bits for
it.

``s_set_vgpr_msb`` sets four such pairs of bits, one for each of the four places that operands have (`_PLACES` lists
them by encoding). In the instruction's immediate, place 0 is in bits 1:0; in MODE, from bit `layout.VGPR_MSB` on, place
3 comes first.
"""

from __future__ import annotations

from msgspec.structs import replace

from rocdbg.isa.instruction import Instruction, Operand, OperandKind

_VALU = {"src0": 0, "src1": 1, "vsrc1": 1, "src2": 2, "vdst": 3}
_HALF = {"src0": 0, "vsrc1": 1, "vsrc2": 2, "vdst": 3}
_VECTOR_MEMORY = {"vaddr": 0, "vdata": 1, "vdst": 3}
_BUFFER = {"vaddr": 0, "vdata": 3}

_PLACES: dict[str, dict[str, int]] = {
    **dict.fromkeys(("VOP1", "VOP2", "VOPC", "VOP3", "VOP3P"), _VALU),
    "VOPD": {f"{name}{half}": place for name, place in _HALF.items() for half in "xy"},
    "DS": {"addr": 0, "data0": 1, "data1": 2, "vdst": 3},
    **dict.fromkeys(("FLAT", "GLOBAL", "SCRATCH"), _VECTOR_MEMORY),
    **dict.fromkeys(("MUBUF", "MTBUF"), _BUFFER),
}
"""Place by encoding and operand. The scales of matrix instructions are always among the first 256."""


def in_banks(instruction: Instruction, mode: int) -> Instruction:
    """The instruction with the numbers that its vector registers have under MODE's bits from `layout.VGPR_MSB` on."""
    places = _PLACES.get(instruction.encoding)
    if places is None or not mode:
        return instruction
    banks = mode >> 2 | mode << 6
    # The register after fmamk's constant is its third source.
    if "fmamk" in instruction.name:
        places = {**places, "vsrc1": 2, "vsrc1x": 2}
    if "fmamk" in str(instruction.modifiers.get("opy")):
        places = {**places, "vsrc1y": 2}

    def placed(operand: Operand) -> Operand:
        bank = banks >> 2 * places.get(operand.name, 0) & 3 if operand.name in places else 0
        if operand.kind is not OperandKind.VGPR or not bank:
            return operand
        return replace(operand, index=operand.index + 256 * bank)

    return replace(instruction, operands=tuple(map(placed, instruction.operands)))


__all__ = ["in_banks"]
