"""Operands of kinds that few programs use: the registers that an instruction touches, or that it is refused."""

from __future__ import annotations

import pytest

from rocdbg.arch.targets import target_by_name
from rocdbg.isa.instruction import Instruction, Operand, OperandKind
from rocdbg.sim.core import layout
from rocdbg.sim.core.builder import I1, I32, Op
from rocdbg.sim.core.layout import Mode, mode_key
from rocdbg.sim.semantics.access import Context
from rocdbg.sim.translator.blocks import obstacle
from rocdbg.sim.translator.ir import Writer
from tests.sim.forms.touched import Recorder, excess

V, A, S, X = OperandKind.VGPR, OperandKind.AGPR, OperandKind.SGPR, OperandKind.SPECIAL
IMPLIED = {106, 107, 126, 127}


def _touched(target: str, name: str, operands: str, mode: int = 0x3F0) -> tuple[set[int], set[int]] | None:
    """Vector and scalar registers touched, the latter without vcc and exec; None if refused. ``vdst=v5:2 ...``."""
    made = []
    for text in operands.split():
        field, _, register = text.partition("=")
        number, _, dwords = register[1:].partition(":")
        kind = {"v": V, "a": A, "s": S, "x": X}[register[0]]
        made.append(Operand(field, kind, int(number), int(dwords or 1)))
    instruction = Instruction(0, 8, "VOP3", name, name, tuple(made), {}, name)
    recorder = Recorder(64)
    assert not excess(recorder, instruction, Context(target_by_name(target), 64, Mode(mode_key(mode))))
    return (recorder.vectors, recorder.scalars - IMPLIED) if recorder.functions else None


@pytest.mark.parametrize(
    ("target", "name", "operands", "touched"),
    [
        ("gfx90a", "ds_bpermute_b32", "vdst=a8 addr=v1 data0=a2", ({1, 258, 264}, set())),
        ("gfx90a", "ds_permute_b32", "vdst=a8 addr=v1 data0=a2", ({1, 258, 264}, set())),
        ("gfx90a", "ds_swizzle_b32", "vdst=a8 addr=a2", ({258, 264}, set())),
        ("gfx1100", "s_load_b64", "sdata=x124 sbase=s4:2", (set(), {4, 5})),  # null takes nothing
        ("gfx1030", "s_load_dwordx4", "sdata=x125 sbase=s4:2", (set(), {4, 5})),
        ("gfx90a", "s_load_dwordx4", "sdata=x125 sbase=s4:2", None),  # GFX9 has no null
        ("gfx1100", "s_load_b64", "sdata=s105:2 sbase=s4:2", None),  # past the last one
        ("gfx1100", "s_load_b64", "sdata=s8 sbase=s4:2", None),  # one register for two dwords
        ("gfx1100", "s_mov_b64", "sdst=s8:2 ssrc0=x107", None),  # after vcc_hi is ttmp0
        ("gfx1100", "s_mov_b64", "sdst=x127 ssrc0=s8:2", None),  # after exec_hi is nothing
        ("gfx90a", "v_swap_b32", "vdst=v3 src0=x102", None),  # a scalar register is not written as v102
        ("gfx1100", "v_cndmask_b32", "vdst=v3 src0=v1 src1=v2 src2=x235:2", ({1, 2, 3}, set())),
        ("gfx1100", "s_movrels_b32", "sdst=s8 ssrc0=x106", None),
        ("gfx1100", "buffer_load_b32", "vdata=v3 vaddr=v1 srsrc=x124 soffset=s8", None),
        ("gfx1100", "global_load_b64", "vdst=v255 vaddr=v2:2", None),  # one register for two dwords
    ],
)
def test_operands(target: str, name: str, operands: str, touched: tuple[set[int], set[int]] | None) -> None:
    assert _touched(target, name, operands) == touched


@pytest.mark.parametrize("code", [235, 253])
def test_results_to_what_can_only_be_read_are_illegal(code: int) -> None:
    compare = Instruction(0, 8, "VOP3", "v_cmp_lt_f32", "v_cmp_lt_f32", (Operand("sdst", X, code, 2),), {}, "")
    assert obstacle(compare) is layout.Status.ILLEGAL


@pytest.mark.parametrize("mode", [0x3F0, 0x3F1, 0x3F2, 0x3F3])
def test_halves_do_not_depend_on_the_rounding_of_f32(mode: int) -> None:
    assert _touched("gfx1100", "v_add_f16", "vdst=v3 src0=v1 src1=v2", mode) == ({1, 2, 3}, set())


def test_undefined_counts_are_defined() -> None:
    writer = Writer(8)
    value = writer.new(I32, True, "load i32, ptr %p")
    value.shl(value)
    assert "and i32 %v1, 31" in writer.lines[1]
    value.shl(value & 31)
    assert writer.lines[-1].endswith("shl i32 %v1, %v4")  # known to be below 32: not masked again
    value.udiv(value)
    assert "umax" in writer.lines[-2]


def test_primitives_of_other_types_are_errors() -> None:
    writer = Writer(8)
    word, bit = writer.const(1, I32), writer.const(1, I1)
    for arguments in ((word, bit), (word,), (word, word, word)):
        with pytest.raises(TypeError):
            writer.emit(Op.ADD, I32, arguments)
    with pytest.raises(TypeError, match="no lanes"):
        Writer(1).text_type(I32, False)

