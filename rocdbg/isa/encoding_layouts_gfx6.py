"""Bit layouts of the encodings of GFX6, GFX7 and GFX8 (see `rocdbg.isa.encoding_layouts` for later ones).

GFX8 moved the fields of VOP3, VINTRP, EXP, DS and of scalar loads to GFX9's positions, and introduced SDWA and DPP.
"""

from __future__ import annotations

from rocdbg.isa.bit_layout import Bits, Layout, Selector

_SRC = ((0, 9),)


def _prefixed(name: str, prefix: str, dwords: int, opcode: Bits, operands: dict[str, Bits], **rest: object) -> Layout:
    """A layout that the first bits of its first dword identify."""
    low = 32 - len(prefix)
    mask, value = ((1 << len(prefix)) - 1) << low, int(prefix, 2) << low
    encoding = str(rest.pop("encoding", name))
    return Layout(name, encoding, mask, value, dwords, opcode, operands, **rest)  # type: ignore[arg-type]


def _scalar() -> list[Layout]:
    s0, s1, destination = ((0, 8),), ((8, 8),), ((16, 7),)
    number = {"simm16": ((0, 16),)}
    return [
        _prefixed("SOP1", "101111101", 1, ((8, 8),), {"sdst": destination, "ssrc0": s0}),
        _prefixed("SOPC", "101111110", 1, ((16, 7),), {"ssrc0": s0, "ssrc1": s1}),
        _prefixed("SOPP", "101111111", 1, ((16, 7),), {}, immediates=number),
        _prefixed("SOPK", "1011", 1, ((23, 5),), {"sdst": destination}, opcodes=range(29), immediates=number),
        _prefixed(
            "SOP2", "10", 1, ((23, 7),), {"sdst": destination, "ssrc0": s0, "ssrc1": s1}, opcodes=range(96)
        ),
    ]


def _scalar_memory(family: str) -> Layout:
    if family == "gfx8":
        return _prefixed(
            "SMEM", "110000", 2, ((18, 8),), {"sbase": ((0, 6),), "sdata": ((6, 7),), "soffset": ((32, 7),)},
            modifiers={"cpol": ((16, 1),)}, immediates={"offset": ((32, 20),)}, operand_cases={"soffset": (0,)},
            selectors=(Selector("imm", ((17, 1),)),),
        )
    # GFX7 only: if the offset field has the code of a literal, a dword follows the instruction.
    return _prefixed(
        "SMRD", "11000", 1, ((22, 5),), {"sdata": ((15, 7),), "sbase": ((9, 6),), "soffset": ((0, 8),)},
        immediates={"offset": ((0, 8),)}, operand_cases={"soffset": (0,)}, selectors=(Selector("imm", ((8, 1),)),),
    )


def _vector32(family: str) -> list[Layout]:
    """VOP1, VOP2, VOPC and, on GFX8, their SDWA and DPP forms."""
    vsrc1, vdst = ((9, 8),), ((17, 8),)
    result = []
    for name, prefix, opcode, operands in (
        ("VOP1", "0111111", ((9, 8),), {"vdst": vdst}),
        ("VOPC", "0111110", ((17, 8),), {"vsrc1": vsrc1}),
        ("VOP2", "0", ((25, 6),), {"vdst": vdst, "vsrc1": vsrc1}),
    ):
        legal = range(62) if name == "VOP2" else None
        result.append(_prefixed(name, prefix, 1, opcode, {"src0": _SRC, **operands}, opcodes=legal))
        if family != "gfx8":
            continue
        sdwa: dict[str, Bits] = {
            "src0_sel": ((48, 3),), "src0_sext": ((51, 1),), "src0_neg": ((52, 1),), "src0_abs": ((53, 1),),
        }
        dpp: dict[str, Bits] = {
            "dpp_ctrl": ((40, 9),), "bound_ctrl": ((51, 1),), "bank_mask": ((56, 4),), "row_mask": ((60, 4),),
            "src0_neg": ((52, 1),), "src0_abs": ((53, 1),),
        }
        if name != "VOP1":
            sdwa |= {
                "src1_sel": ((56, 3),), "src1_sext": ((59, 1),), "src1_neg": ((60, 1),), "src1_abs": ((61, 1),),
            }
            dpp |= {"src1_neg": ((54, 1),), "src1_abs": ((55, 1),)}
        if name != "VOPC":
            sdwa |= {"dst_sel": ((40, 3),), "dst_unused": ((43, 2),)}
        sdwa["clamp"] = ((45, 1),)
        for form, modifiers, code in (("SDWA", sdwa, 249), ("DPP", dpp, 250)):
            result.append(
                _prefixed(
                    f"{name}_{form}", prefix, 2, opcode, {"src0": ((32, 8),), **operands}, encoding=name, opcodes=legal,
                    modifiers=modifiers, src0=(code,),
                )
            )
    return result


def _vop3(family: str) -> list[Layout]:
    """VOP3, with and without a scalar destination."""
    new = family == "gfx8"
    opcode: Bits = ((16, 10),) if new else ((17, 9),)
    clamp: Bits = ((15, 1),) if new else ((11, 1),)
    sources: dict[str, Bits] = {f"src{i}": ((32 + 9 * i, 9),) for i in range(3)}
    modifiers: dict[str, Bits] = {"abs": ((8, 3),), "clamp": clamp, "omod": ((59, 2),), "neg": ((61, 3),)}
    signs: dict[str, Bits] = {"omod": ((59, 2),), "neg": ((61, 3),)}
    if new:
        modifiers["high"] = ((40, 1),)
        signs = {"clamp": clamp, **signs}
    return [
        _prefixed(
            "VOP3SD", "110100", 2, opcode, {"vdst": ((0, 8),), "sdst": ((8, 7),), **sources}, encoding="VOP3",
            modifiers=signs,
        ),
        _prefixed("VOP3", "110100", 2, opcode, {"vdst": ((0, 8),), **sources}, modifiers=modifiers),
    ]


def _memory(family: str) -> list[Layout]:
    new = family == "gfx8"
    # In GFX8's instructions, LLVM also interprets the bits that select AGPRs from gfx90a on, and offsets in flat
    # instructions.
    acc: Bits = ((25, 1),) if new else ()
    registers: dict[str, Bits] = {
        "addr": ((32, 8),), "data0": ((40, 8), *acc), "data1": ((48, 8), *acc), "vdst": ((56, 8), *acc),
    }
    result = [
        _prefixed(
            "DS", "110110", 2, ((17, 8),) if new else ((18, 8),), registers,
            modifiers={"gds": ((16, 1),) if new else ((17, 1),)},
            immediates={"offset": ((0, 16),), "offset0": ((0, 8),), "offset1": ((8, 8),)},
        )
    ]
    if family != "gfx6":
        acc = ((55, 1),) if new else ()
        result.append(
            _prefixed(
                "FLAT", "110111", 2, ((18, 7),),
                {"vaddr": ((32, 8),), "vdata": ((40, 8), *acc), "vdst": ((56, 8), *acc)},
                modifiers={"cpol": ((16, 2),)}, immediates={"offset": ((0, 13),)} if new else {},
                selectors=(Selector("return", ((16, 1),)),),
            )
        )
    operands: dict[str, Bits] = {
        "vdata": ((40, 8),), "vaddr": ((32, 8),), "srsrc": ((48, 5),), "soffset": ((56, 8),),
    }
    offset: dict[str, Bits] = {"offset": ((0, 12),)}
    cases: tuple[Selector, ...] = (Selector("offen", ((12, 1),)), Selector("idxen", ((13, 1),)))
    if not new:
        cases += (Selector("addr64", ((15, 1),)),)
    cases += (Selector("tfe", ((55, 1),)),)
    far: Bits = ((14, 1), (54, 1))
    return [
        *result,
        _prefixed(
            "MUBUF", "111000", 2, ((18, 7),), operands, modifiers={"cpol": ((14, 1), (17, 1)) if new else far},
            immediates=offset, selectors=(*cases, Selector("lds", ((16, 1),))),
        ),
        _prefixed(
            "MTBUF", "111010", 2, ((15, 4),) if new else ((16, 3),), operands,
            modifiers={"cpol": far, "format": ((19, 7),)}, immediates=offset, selectors=cases,
        ),
    ]


def _graphics(family: str) -> list[Layout]:
    new = family == "gfx8"
    prefix = "110001" if new else "111110"
    target: dict[str, Bits] = {"tgt": ((4, 6),)}
    modifiers: dict[str, Bits] = {"done": ((11, 1),), "vm": ((12, 1),)}
    plain, pairs = (
        target | {f"vsrc{i}": ((32 + 8 * (i // step), 8), (i, 1)) for i in range(4)} for step in (1, 2)
    )
    low = int(prefix, 2) << 26
    return [
        Layout("EXP", "EXP", 0xFC000400, low, 2, (), plain, modifiers),
        Layout("EXP_COMPR", "EXP", 0xFC000400, low | 1 << 10, 2, (), pairs, modifiers),
        _prefixed(
            "VINTRP", "110101" if new else "110010", 1, ((16, 2),),
            {"vdst": ((18, 8),), "vsrc": ((0, 8),), "attr": ((8, 2), (10, 6))},
        ),
    ]


def _image(family: str) -> Layout:
    modifiers: dict[str, Bits] = {
        "dmask": ((8, 4),), "unorm": ((12, 1),), "tfe": ((16, 1),), "lwe": ((17, 1),), "cpol": ((13, 1), (25, 1)),
        "da": ((14, 1),), "r128": ((15, 1),),
    }
    if family == "gfx8":
        modifiers["d16"] = ((63, 1),)
    return _prefixed(
        "MIMG", "111100", 2, ((18, 7),),
        {"vdata": ((40, 8),), "vaddr0": ((32, 8),), "srsrc": ((48, 5),), "ssamp": ((53, 5),)}, modifiers=modifiers,
    )


def layouts_before_gfx9(family: str) -> list[Layout]:
    """The layouts of ``gfx6``, ``gfx7`` or ``gfx8``, in the order in which they are tried."""
    return [
        _image(family), *_scalar(), _scalar_memory(family), *_vector32(family), *_vop3(family), *_memory(family),
        *_graphics(family),
    ]
