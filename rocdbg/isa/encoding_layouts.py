"""Bit layouts of the instruction encodings, per family of targets.

A layout names the fields of one encoding; the generated tables say how each opcode uses them (operand order, widths,
constants, modifiers). Both the generator and the decoder use these layouts.

Fields of different operands may share bits (the AGPR bit of gfx90a memory instructions, the lsb of VOPD's vdsty). GFX6
to GFX8 are in `rocdbg.isa.encoding_layouts_gfx6`. Other kinds of instructions are in `encoding_layouts_vector`,
`encoding_layouts_memory` and `encoding_layouts_image`.
"""

from __future__ import annotations

from rocdbg.arch.targets import target_by_name
from rocdbg.isa.bit_layout import GFX12, Bits, Layout, Selector, at, extract, extractor, insert, prefixed, width
from rocdbg.isa.encoding_layouts_image import exports, images
from rocdbg.isa.encoding_layouts_memory import buffers, flat_memory, local_memory, scalar_memory
from rocdbg.isa.encoding_layouts_vector import long_vector, short_vector

_SDST = at((16, 7))


def _scalar() -> list[Layout]:
    s0, s1 = at((0, 8)), at((8, 8))
    return [
        prefixed("SOP1", "101111101", 1, (8, 8), operands={"sdst": _SDST, "ssrc0": s0}),
        prefixed("SOPC", "101111110", 1, (16, 7), operands={"ssrc0": s0, "ssrc1": s1}),
        prefixed("SOPP", "101111111", 1, (16, 7), immediates={"simm16": at((0, 16))}),
        prefixed(
            "SOPK",
            "1011",
            1,
            (23, 5),
            opcodes=range(29),
            operands={"sdst": _SDST},
            immediates={"simm16": at((0, 16))},
        ),
        prefixed(
            "SOP2", "10", 1, (23, 7), opcodes=range(96), operands={"sdst": _SDST, "ssrc0": s0, "ssrc1": s1}
        ),
    ]


def layouts(family: str) -> list[Layout]:
    """The layouts of one family, in the order in which they are tried."""
    if family in ("gfx6", "gfx7", "gfx8"):
        from rocdbg.isa.encoding_layouts_gfx6 import layouts_before_gfx9  # few sessions need them

        return layouts_before_gfx9(family)
    return [
        *images(family), *_scalar(), scalar_memory(family), *short_vector(family), *long_vector(family),
        local_memory(family), *flat_memory(family), *buffers(family), *exports(family),
    ]


def family_of(target: str) -> str:
    """The family whose layouts a target uses, by name ("gfx1036" -> "gfx10")."""
    return target_by_name(target).family


__all__ = [
    "GFX12", "Bits", "Layout", "Selector", "extract", "extractor", "family_of", "insert", "layouts",
    "width",
]
