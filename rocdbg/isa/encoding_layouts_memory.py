"""Bit layouts of instructions that access memory: scalar, local, flat and through buffers."""

from __future__ import annotations

from rocdbg.isa.bit_layout import GFX12, Layout, Selector, at, prefixed


def scalar_memory(family: str) -> Layout:
    """SMEM."""
    operands = {"sbase": at((0, 6)), "sdata": at((6, 7)), "soffset": at((57, 7))}
    if family.startswith("gfx9"):
        return prefixed(
            "SMEM",
            "110000",
            2,
            (18, 8),
            operands=operands | {"soffset_lo": at((32, 7))},
            operand_cases={"soffset_lo": (0, 0)},
            modifiers={"cpol": at((15, 2))},
            immediates={"offset": at((32, 21))},
            selectors=(Selector("imm", at((17, 1))), Selector("soffset_en", at((14, 1)))),
        )
    if family in GFX12:
        return prefixed(
            "SMEM",
            "111101",
            2,
            (13, 6),
            operands=operands,
            modifiers={"cpol": at((20, 5)), "scale_offset": at((56, 1))},
            immediates={"offset": at((32, 24))},
            selectors=(Selector("soffset_off", at((57, 7)), (124,)),),
        )
    cpol = at((14, 1), (16, 1)) if family.startswith("gfx10") else at((13, 2))
    null = 125 if family.startswith("gfx10") else 124
    return prefixed(
        "SMEM",
        "111101",
        2,
        (18, 8),
        operands=operands,
        modifiers={"cpol": cpol},
        immediates={"offset": at((32, 21))},
        selectors=(Selector("soffset_off", at((57, 7)), (null,)),),
    )


def local_memory(family: str) -> Layout:
    """DS."""
    acc = at((25, 1)) if family.startswith("gfx9") else ()  # selects AGPRs, although only gfx90a and later permit them
    opcode = (17, 8) if family.startswith("gfx9") else (18, 8)
    gds = {} if family in GFX12 else {"gds": at((16, 1) if family.startswith("gfx9") else (17, 1))}
    return prefixed(
        "DS",
        "110110",
        2,
        opcode,
        operands={
            "addr": at((32, 8)),
            "data0": at((40, 8)) + acc,
            "data1": at((48, 8)) + acc,
            "vdst": at((56, 8)) + acc,
        },
        modifiers=gds,
        immediates={"offset": at((0, 16)), "offset0": at((0, 8)), "offset1": at((8, 8))},
    )


def flat_memory(family: str) -> list[Layout]:
    """FLAT, SCRATCH and GLOBAL."""
    result = []
    acc = at((55, 1)) if family.startswith("gfx9") else ()
    for seg, name in enumerate(("FLAT", "SCRATCH", "GLOBAL")):
        if family in GFX12:
            value = (0xEC, 0xED, 0xEE)[seg] << 24
            selectors = [Selector("saddr_off", at((0, 7)), (124,)), Selector("return", at((52, 1)))]
            mods = {"cpol": at((50, 5)), "nv": at((7, 1)), "scale_offset": at((48, 1))}
            if name == "SCRATCH":
                selectors.append(Selector("sve", at((49, 1))))
            result.append(
                Layout(
                    name,
                    name,
                    0xFF000000,
                    value,
                    3,
                    at((14, 7)),
                    {"saddr": at((0, 7)), "vdst": at((32, 8)), "vdata": at((55, 8)), "vaddr": at((64, 8))},
                    mods,
                    {"offset": at((72, 24))},
                    tuple(selectors),
                )
            )
            continue
        off = {"gfx10": (125, 127), "gfx11": (124,)}.get(family, (127,))
        seg_shift = 16 if family == "gfx11" else 14
        mods = {
            "gfx9": {"cpol": at((16, 2))},
            "gfx90a": {"cpol": at((16, 2), (25, 1))},
            "gfx940": {"cpol": at((16, 2), (25, 1))},
            "gfx10": {"cpol": at((16, 2), (12, 1))},
            "gfx11": {"cpol": at((13, 3))},
        }[family]
        selectors = []
        if name != "FLAT":
            selectors.append(Selector("saddr_off", at((48, 7)), off))
        if name != "SCRATCH":
            selectors.append(Selector("return", at((14 if family == "gfx11" else 16, 1))))
        if name == "SCRATCH" and family in ("gfx940", "gfx11"):
            selectors.append(Selector("sve", at((13, 1) if family == "gfx940" else (55, 1))))
        if family not in ("gfx11", "gfx940") or (family == "gfx940" and name != "SCRATCH"):
            selectors.append(Selector("lds", at((13, 1))))
        operands = {
            "vaddr": at((32, 8)),
            "vdata": at((40, 8)) + acc,
            "vdst": at((56, 8)) + acc,
            "saddr": at((48, 7)),
        }
        result.append(
            Layout(
                name,
                name,
                0xFC000000 | 3 << seg_shift,
                0xDC000000 | seg << seg_shift,
                2,
                at((18, 7)),
                operands,
                mods,
                {"offset": at((0, 12 if family == "gfx10" else 13))},
                tuple(selectors),
            )
        )
    return result


def buffers(family: str) -> list[Layout]:
    """MUBUF and MTBUF."""
    sel: tuple[Selector, ...]
    if family in GFX12:
        ops = {"soffset": at((0, 7)), "vdata": at((32, 8)), "srsrc": at((41, 9)), "vaddr": at((64, 8))}
        sel = (Selector("offen", at((62, 1))), Selector("idxen", at((63, 1))), Selector("tfe", at((22, 1))))
        return [
            Layout("MTBUF", "MTBUF", 0xFC200000, 0xC4200000, 3, at((14, 4)), ops,
                   {"cpol": at((50, 5)), "nv": at((7, 1)), "format": at((55, 7))}, {"offset": at((72, 23))}, sel),
            Layout("MUBUF", "MUBUF", 0xFC200000, 0xC4000000, 3, at((14, 7)), ops,
                   {"cpol": at((50, 5)), "nv": at((7, 1))}, {"offset": at((72, 23))}, sel),
        ]
    ops = {"vdata": at((40, 8)), "vaddr": at((32, 8)), "srsrc": at((48, 5)), "soffset": at((56, 8))}
    if family in ("gfx90a", "gfx940"):
        ops["vdata"] = at((40, 8), (55, 1))
    if family == "gfx11":
        sel = (
            Selector("offen", at((54, 1))),
            Selector("idxen", at((55, 1))),
            Selector("tfe", at((53, 1))),
        )
        cpol, cpol_t = at((12, 3)), at((12, 3))
    else:
        sel = (Selector("offen", at((12, 1))), Selector("idxen", at((13, 1))))
        if family not in ("gfx90a", "gfx940"):
            sel += (Selector("tfe", at((55, 1))),)
        cpol = {
            "gfx9": at((14, 1), (17, 1)), "gfx90a": at((14, 2), (17, 1)), "gfx940": at((14, 2), (17, 1)),
            "gfx10": at((14, 2), (54, 1)),
        }[family]
        cpol_t = {
            "gfx9": at((14, 1), (54, 1)), "gfx90a": at((14, 1), (54, 1), (53, 1)), "gfx940": at((14, 1),
            (54, 1), (53, 1)),
            "gfx10": at((14, 2), (54, 1)),
        }[family]
    lds = (Selector("lds", at((16, 1))),) if family != "gfx11" else ()
    mubuf_op = at((18, 8)) if family in ("gfx10", "gfx11") else at((18, 7))
    mtbuf_op = at((15, 4)) if family != "gfx10" else at((16, 3), (53, 1))
    return [
        Layout("MUBUF", "MUBUF", 0xFC000000, 0xE0000000, 2, mubuf_op, ops, {"cpol": cpol}, {"offset":
        at((0, 12))}, sel + lds),
        Layout(
            "MTBUF", "MTBUF", 0xFC000000, 0xE8000000, 2, mtbuf_op, ops,
            {"cpol": cpol_t, "format": at((19, 7))}, {"offset": at((0, 12))}, sel,
        ),
    ]
