"""Matrix instructions: MFMA and SMFMAC of CDNA, WMMA of GFX11. The work is done by `translator.matrix`."""

from __future__ import annotations

from rocdbg.isa.instruction import Operand, OperandKind
from rocdbg.sim.builder import I64, Value
from rocdbg.sim.layout import VGPR_COUNT, vgpr_offset
from rocdbg.sim.semantics.access import Access, Unsupported
from rocdbg.sim.semantics.registry import Kind, SemanticFunction, semantic
from rocdbg.sim.translator.matrix_shapes import SHAPES, WMMA, Model

_CONSTANTS = (OperandKind.CONSTANT, OperandKind.LITERAL)


def _offset(i: Access, operand: Operand) -> Value:
    """Where a vector register lies in the wave's state."""
    if operand.kind not in (OperandKind.VGPR, OperandKind.AGPR):
        raise Unsupported(f"{i.insn.text}: operand {operand.text}")
    number = operand.index + (VGPR_COUNT if operand.kind is OperandKind.AGPR else 0)
    return i.const(vgpr_offset(number, i.wave_size), I64)


def _call(i: Access, control: int, *, sparse: bool = False) -> None:
    a, b, c = i.sources
    d = i.destinations[0]
    constant = i.const(0, I64)
    if sparse:  # the accumulator is D; the third source is the index
        accumulator, constant = _offset(i, d), _offset(i, c)
    elif c.kind in _CONSTANTS:
        accumulator, constant = i.const(-1, I64), i.const(c.value, I64)
    else:
        accumulator = _offset(i, c)
    i.b.scalar()
    i.b.call(
        f"matrix_{i.name[2:]}",
        (_offset(i, a), _offset(i, b), accumulator, _offset(i, d), constant, i.const(control, I64)),
    )


def _cdna(name: str) -> SemanticFunction:
    shape = SHAPES[name]

    def run(i: Access) -> None:
        if shape.model is Model.FLUSHING and i.target.name == "gfx908":
            raise Unsupported(f"{i.insn.text}: MI100 adds exactly, which is not modelled")
        control = i.modifier("cbsz") | i.modifier("abid") << 4 | i.modifier("blgp") << 8
        _call(i, control, sparse=shape.sparse)

    return run


def _wmma(i: Access) -> None:
    control = i.modifier("neg_lo") & 7 | (i.modifier("neg_hi") & 7) << 4
    _call(i, control | (i.modifier("op_sel") & 7) << 8 | i.clamp << 12)


_SPARSE = "which products are added at once is not public"
for _name, _shape in SHAPES.items():
    _why = _SPARSE if _shape.sparse and _shape.d != "i32" else ""
    semantic(_name, kind=Kind.WAVE, approximate=_why)(_cdna(_name))
for _name in WMMA:
    _why = (
        ""
        if "_i32_" in _name
        else "products are added one after the other; the hardware's order is not public"
    )
    semantic(_name, kind=Kind.WAVE, approximate=_why)(_wmma)
