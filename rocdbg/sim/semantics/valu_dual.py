"""VOPD: two vector operations in one instruction. Both read their sources before either writes.

Each half runs the semantic of the plain instruction of the same name on its own operands. Its register writes are
delayed until the other half has read its sources.
"""

from __future__ import annotations

from msgspec.structs import replace

from rocdbg.isa.instruction import Instruction, Operand, OperandKind
from rocdbg.sim.core.builder import Value
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.registry import lookup, semantic

OPERATIONS = (
    "fmac_f32", "fmaak_f32", "fmamk_f32", "mul_f32", "add_f32", "sub_f32", "subrev_f32", "mul_dx9_zero_f32", "mov_b32",
    "cndmask_b32", "max_f32", "min_f32", "max_num_f32", "min_num_f32", "dot2acc_f32_f16", "dot2acc_f32_bf16",
    "add_nc_u32", "lshlrev_b32", "and_b32",
    # gfx125x
    "fma_f32", "sub_nc_u32", "lshrrev_b32", "ashrrev_i32", "bitop2_b32", "max_i32", "min_i32", "fma_f64", "add_f64",
    "mul_f64", "max_num_f64", "min_num_f64",
)
"""The operations of halves: v_dual_NAME does what v_NAME does."""

_LITERAL_THIRD = "fmaak_f32"
_LITERAL_SECOND = "fmamk_f32"


class _Half(Access):
    """One half: collects register writes."""

    def __init__(self, whole: Access, instruction: Instruction) -> None:
        super().__init__(whole.b, instruction, whole.context)
        self.watch = whole.watch
        self.writes: list[tuple[int, Value]] = []

    def _write(self, number: int, word: Value) -> None:
        self.writes.append((number, word))


def _renamed(insn: Instruction, field: str, name: str) -> list[Operand]:
    operand = insn.operand(field)
    return [] if operand is None else [replace(operand, name=name)]


def _half(insn: Instruction, mnemonic: str, letter: str) -> Instruction:
    """The half ``letter`` (x or y) as the plain instruction."""
    name = mnemonic.replace("v_dual_", "v_", 1).removesuffix("_e32")
    literal = _renamed(insn, "literal", "literal")
    first, second = _renamed(insn, f"src0{letter}", "src0"), _renamed(insn, f"vsrc1{letter}", "vsrc1")
    if name.endswith(_LITERAL_THIRD):
        sources = first + second + literal
    elif name.endswith(_LITERAL_SECOND):
        sources = first + literal + second
    else:
        sources = first + second + _renamed(insn, f"vsrc2{letter}", "src2")
    modifiers: dict[str, int | str] = {}
    if name == "v_bitop2_b32":  # the ternary operation, without its third source
        name, modifiers = "v_bitop3_b32", {"bitop3": insn.modifiers.get("bitop3", 0)}
        sources.append(Operand("src2", OperandKind.CONSTANT, 128))
    operands = tuple(_renamed(insn, f"vdst{letter}", "vdst") + sources)
    return replace(insn, encoding="VOP2", mnemonic=mnemonic, name=name, operands=operands, modifiers=modifiers)


def _pair(i: Access) -> None:
    second = i.insn.modifiers["opy"]
    halves = []
    for mnemonic, letter in ((i.name, "x"), (str(second), "y")):
        half = _Half(i, _half(i.insn, mnemonic, letter))
        meaning = lookup(half.name)
        assert meaning is not None, half.name
        if meaning.any_rounding or meaning.approximate:
            with i.b.nearest():
                meaning.function(half)
        else:
            meaning.function(half)
        halves.append(half)
    for half in halves:
        for number, word in half.writes:
            i.b.write_vgpr(number, word)


semantic(*(f"v_dual_{name}" for name in OPERATIONS))(_pair)
