"""Matrix instructions: MFMA and SMFMAC of CDNA, WMMA of GFX11, WMMA and SWMMAC of GFX12. The routines of
`translator.matrix` do the work."""

from __future__ import annotations

import struct
from collections.abc import Callable

from rocdbg.isa.instruction import Operand, OperandKind
from rocdbg.sim.core.builder import I64, Value
from rocdbg.sim.core.layout import VGPR_COUNT, sgpr_offset, vgpr_offset
from rocdbg.sim.data.matrix_shapes import GFX950, SHAPES, ScaleKind
from rocdbg.sim.data.wmma_shapes import GFX11, GFX12, GFX125
from rocdbg.sim.semantics.access import Access, Unsupported
from rocdbg.sim.semantics.float_constants import expand
from rocdbg.sim.semantics.registry import Kind, semantic

_CONSTANTS = (OperandKind.CONSTANT, OperandKind.LITERAL)


def _offset(i: Access, operand: Operand) -> int:
    """Offset of a vector register in the wave's state."""
    if operand.kind not in (OperandKind.VGPR, OperandKind.AGPR):
        raise Unsupported(f"{i.insn.text}: operand {operand.text}")
    number = operand.index + (VGPR_COUNT if operand.kind is OperandKind.AGPR else 0)
    return vgpr_offset(number, i.wave_size)


def _constant(operand: Operand, kind: str) -> int:
    """An inline constant as an accumulator of type ``kind``."""
    if kind == "f64" or operand.kind is OperandKind.LITERAL:
        return operand.value
    bits = expand(operand.index)
    if kind not in ("f16", "bf16"):
        return bits
    if operand.index >= 240:
        number = struct.unpack("<f", struct.pack("<I", bits))[0]
        bits = bits >> 16 if kind == "bf16" else int.from_bytes(struct.pack("<e", number), "little")
    return (bits & 0xFFFF) * 0x10001  # op_sel may select either half


def _call(i: Access, helper: str, control: int, kind: str, *, sparse: bool = False) -> None:
    """Call the routine. ``kind``: the type of accumulators."""
    a, b, c = i.sources[:3]
    d = i.destinations[0]
    accumulator, constant = -1, 0
    if sparse:  # D is also the accumulator; the third source is the index
        accumulator, constant = _offset(i, d), _offset(i, c)
    elif c.kind in _CONSTANTS:
        constant = _constant(c, kind)
    else:
        accumulator = _offset(i, c)
    arguments = (_offset(i, a), _offset(i, b), accumulator, _offset(i, d), constant, control)
    i.b.scalar()
    i.b.call(helper, tuple(_i64(i, argument) for argument in arguments))


def _i64(i: Access, value: int) -> Value:
    return i.const(value - (1 << 64) if value >> 63 > 0 else value, I64)


def _broadcast(i: Access) -> int:
    return i.modifier("cbsz") | i.modifier("abid") << 4 | i.modifier("blgp") << 8


def _cdna(name: str) -> Callable[[Access], None]:
    shape = SHAPES[name]

    def run(i: Access) -> None:
        _call(i, shape.on(i.target.name).helper, _broadcast(i), shape.d, sparse=shape.sparse)

    return run


_ORDER = "which products are added at once is not public"
for _name, _shape in SHAPES.items():
    _why = _ORDER if (_shape.sparse or _name in GFX950) and _shape.d != "i32" else ""
    semantic(_name, kind=Kind.WAVE, approximate=_why)(_cdna(_name))


# -- gfx950: scaled ------------------------------------------------------------------------------------------------

_EXPONENTS = {240: 126, 241: 126, 242: 127, 243: 127, 244: 128, 245: 128, 246: 129, 247: 129, 248: 124}
"""The scale that an inline constant represents: the exponent of the number, by operand code."""


def _scale(i: Access, name: str) -> tuple[ScaleKind, int]:
    """The routine's description of a scale: see `matrix_scaled`."""
    operand = i.insn.operand(name)
    if operand is None:
        return ScaleKind.NONE, 0
    match operand.kind:
        case OperandKind.VGPR | OperandKind.AGPR:
            return ScaleKind.VECTOR, _offset(i, operand)
        case OperandKind.SGPR:
            return ScaleKind.SCALAR, sgpr_offset(operand.index)
        case OperandKind.CONSTANT:
            return ScaleKind.CONSTANT, _EXPONENTS.get(operand.index, 0)
    raise Unsupported(f"{i.insn.text}: operand {operand.text}")


def _scaled(rows: int) -> Callable[[Access], None]:
    def run(i: Access) -> None:
        kind_a, place_a = _scale(i, "scale_src0")
        kind_b, place_b = _scale(i, "scale_src1")
        low, high = i.modifier("op_sel"), i.modifier("op_sel_hi")
        byte_a, byte_b = low & 1 | (high & 1) << 1, low >> 1 & 1 | high & 2
        if kind_a is ScaleKind.NONE:
            byte_a = byte_b = 0
        control = i.modifier("cbsz") | i.modifier("blgp") << 8
        control |= (i.modifier("neg_lo") >> 2 & 1) << 12 | (i.modifier("neg_hi") >> 2 & 1) << 13
        control |= byte_a << 14 | byte_b << 16 | kind_a << 18 | kind_b << 20 | place_a << 22 | place_b << 43
        _call(i, f"matrix_mfma_f8f6f4_{rows}", control, "f32")

    return run


for _rows, _depth in ((16, 128), (32, 64)):
    _size = f"f32_{_rows}x{_rows}x{_depth}_f8f6f4"
    semantic(f"v_mfma_{_size}", f"v_mfma_scale_{_size}", kind=Kind.WAVE, approximate=_ORDER)(_scaled(_rows))


# -- WMMA ----------------------------------------------------------------------------------------------------------


def _wmma(name: str) -> Callable[[Access], None]:
    def run(i: Access) -> None:
        shapes = GFX11 if i.generation == 11 else GFX12 | GFX125 if i.target.is_gfx125 else GFX12
        if name not in shapes:
            raise Unsupported(f"{i.insn.text}: not on {i.target.name}")
        shape = shapes[name]
        control = i.modifier("neg_lo") & 7 | (i.modifier("neg_hi") & 7) << 4
        control |= (i.modifier("op_sel") & 7) << 8 | i.clamp << 12
        _call(i, shape.helper, control, shape.d, sparse=shape.sparse)

    return run


for _name, _wave in {**GFX125, **GFX12, **GFX11}.items():
    _unmeasured = _wave.sparse or _wave.bits == 8 or _name in GFX125
    _why = _ORDER if not _wave.integer and _unmeasured else ""
    semantic(_name, kind=Kind.WAVE, approximate=_why)(_wmma(_name))
