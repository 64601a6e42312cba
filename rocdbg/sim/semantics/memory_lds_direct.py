"""One element of LDS for all lanes: lds_direct_load (GFX11), ds_direct_load (GFX12), and the operand lds_direct of
earlier targets.

M0[15:0] is its address, M0[18:16] its type. The load writes all four lanes of a quad if one of them is active. As an
operand, the element is read in the lanes that take part.
"""

from __future__ import annotations

import re

from rocdbg.isa.instruction import OperandKind
from rocdbg.isa.operands import special_code
from rocdbg.sim.core.builder import I8, I16, I32, I64, Value
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.memory_common import register, required
from rocdbg.sim.semantics.registry import Kind, semantic

_BYTE, _SHORT, _SIGNED = 0, 1, 4


_REVERSED = re.compile(r"^v_(?!bfrev).*rev_")
"""Vector arithmetic that cannot read the operand lds_direct."""


def _element(i: Access, mask: Value) -> Value:
    """The element that M0 selects, I32; outside lane code. It is read if a lane of ``mask`` takes part."""
    b = i.b
    b.scalar()
    type_ = i.m0.lshr(16) & 7
    size = (type_ & 3).eq(_BYTE).select(i.const(1, I64), (type_ & 3).eq(_SHORT).select(i.const(2, I64), 4))
    b.write_scalar_address((i.m0 & 0xFFFF).zext(I64))
    zero = i.const(0, I64)
    b.call("load_lds", (mask.ne(0).zext(I64), size, zero, zero))
    word = b.read_transfer(0)
    signed = (type_ & _SIGNED).ne(0)
    byte, short = word.trunc(I8), word.trunc(I16)
    return (
        (type_ & 3)
        .eq(_BYTE)
        .select(
            signed.select(byte.sext(I32), byte.zext(I32)),
            (type_ & 3).eq(_SHORT).select(signed.select(short.sext(I32), short.zext(I32)), word),
        )
    )


def lds_direct_prepare(i: Access, kind: Kind) -> None:
    """Read the element before an instruction of vector arithmetic whose src0 is lds_direct. Instructions that move
    single lanes ignore EXEC."""
    operand = i.insn.operand("src0")
    if (
        operand is not None and operand.kind is OperandKind.SPECIAL
        and operand.index == special_code("src_lds_direct", i.target)
        and "sdwa" not in i.insn.modifiers and not _REVERSED.match(i.name)
    ):
        i.lds_direct = _element(i, i.exec if kind is Kind.LANE else i.const(1, I64))


def _direct(i: Access) -> None:
    value = _element(i, i.exec)
    _broadcast(i, register(required(i, "vdst")), value)


def _broadcast(i: Access, vgpr: int, value: Value) -> None:
    """Write a uniform value in all lanes of quads with an active lane."""
    mask = i.exec
    for quad in range(i.wave_size // 4):
        live = (mask.lshr(4 * quad) & 15).ne(0)
        for lane in range(4 * quad, 4 * quad + 4):
            number = i.const(lane)
            i.b.write_lane(vgpr, number, live.select(value, i.b.read_lane(vgpr, number)))


semantic("lds_direct_load", "ds_direct_load", kind=Kind.WAVE)(_direct)
