"""Bit layouts of the instruction encodings, per family of targets.

A layout names the fields of one encoding; what each opcode makes of them (operand order, widths, constants,
which modifiers exist) is in the generated tables. Both the generator and the decoder read these layouts.

Fields of different operands may share bits (the AGPR bit of gfx90a memory instructions, the lsb of
VOPD's vdsty). GFX6 to GFX8 are in `rocdbg.isa.formats_gfx6`.
"""

from __future__ import annotations

from rocdbg.isa.layout import Bits, Layout, Selector, extract, extractor, insert, width

GFX12 = ("gfx12", "gfx125")
"""Families with the memory encodings of GFX12."""


def _prefix(bits: str) -> tuple[int, int]:
    return ((1 << len(bits)) - 1) << (32 - len(bits)), int(bits, 2) << (32 - len(bits))


def _layout(name: str, prefix: str, dwords: int, opcode: tuple[int, int], **rest: object) -> Layout:
    mask, value = _prefix(prefix)
    return Layout(name, str(rest.pop("encoding", name)), mask, value, dwords, (opcode,), **rest)  # type: ignore[arg-type]


def _b(*ranges: tuple[int, int]) -> Bits:
    return ranges


_SDST = _b((16, 7))
_DPP16 = {
    "dpp_ctrl": (8, 9),
    "fi": (18, 1),
    "bound_ctrl": (19, 1),
    "bank_mask": (24, 4),
    "row_mask": (28, 4),
}


def _scalar(gfx: int) -> list[Layout]:
    s0, s1 = _b((0, 8)), _b((8, 8))
    return [
        _layout("SOP1", "101111101", 1, (8, 8), operands={"sdst": _SDST, "ssrc0": s0}),
        _layout("SOPC", "101111110", 1, (16, 7), operands={"ssrc0": s0, "ssrc1": s1}),
        _layout("SOPP", "101111111", 1, (16, 7), immediates={"simm16": _b((0, 16))}),
        _layout(
            "SOPK",
            "1011",
            1,
            (23, 5),
            opcodes=range(29),
            operands={"sdst": _SDST},
            immediates={"simm16": _b((0, 16))},
        ),
        _layout(
            "SOP2", "10", 1, (23, 7), opcodes=range(96), operands={"sdst": _SDST, "ssrc0": s0, "ssrc1": s1}
        ),
    ]


def _smem(family: str) -> Layout:
    operands = {"sbase": _b((0, 6)), "sdata": _b((6, 7)), "soffset": _b((57, 7))}
    if family.startswith("gfx9"):
        return _layout(
            "SMEM",
            "110000",
            2,
            (18, 8),
            operands=operands | {"soffset_lo": _b((32, 7))},
            operand_cases={"soffset_lo": (0, 0)},
            modifiers={"cpol": _b((15, 2))},
            immediates={"offset": _b((32, 21))},
            selectors=(Selector("imm", _b((17, 1))), Selector("soffset_en", _b((14, 1)))),
        )
    if family in GFX12:
        return _layout(
            "SMEM",
            "111101",
            2,
            (13, 6),
            operands=operands,
            modifiers={"cpol": _b((20, 5)), "scale_offset": _b((56, 1))},
            immediates={"offset": _b((32, 24))},
            selectors=(Selector("soffset_off", _b((57, 7)), (124,)),),
        )
    cpol = _b((14, 1), (16, 1)) if family.startswith("gfx10") else _b((13, 2))
    null = 125 if family.startswith("gfx10") else 124
    return _layout(
        "SMEM",
        "111101",
        2,
        (18, 8),
        operands=operands,
        modifiers={"cpol": cpol},
        immediates={"offset": _b((32, 21))},
        selectors=(Selector("soffset_off", _b((57, 7)), (null,)),),
    )


def _vector32(family: str) -> list[Layout]:
    """VOP1, VOP2, VOPC and their SDWA and DPP forms."""
    src0, vsrc1, vdst = _b((0, 9)), _b((9, 8)), _b((17, 8))
    base = {
        "VOP1": ("0111111", (9, 8), {"vdst": vdst}),
        "VOPC": ("0111110", (17, 8), {"vsrc1": vsrc1}),
        "VOP2": ("0", (25, 6), {"vdst": vdst, "vsrc1": vsrc1}),
    }
    layouts = []
    for name, (prefix, opcode, ops) in base.items():
        _lo, _ = opcode
        if name == "VOP2":
            opcode = (25, 6)
        legal = range(62) if name == "VOP2" else None
        layouts.append(_layout(name, prefix, 1, opcode, opcodes=legal, operands={"src0": src0, **ops}))
        two = "vsrc1" in ops
        if family.startswith(("gfx9", "gfx10")):
            sdwa_ops = dict(ops) | {"src0": _b((32, 8), (55, 1))}
            sdwa_ops = {k: v for k, v in sdwa_ops.items() if k != "vsrc1"}
            mods = {
                "src0_sel": _b((48, 3)),
                "src0_sext": _b((51, 1)),
                "src0_neg": _b((52, 1)),
                "src0_abs": _b((53, 1)),
            }
            if two:
                sdwa_ops["vsrc1"] = _b((9, 8), (63, 1))
                mods |= {
                    "src1_sel": _b((56, 3)),
                    "src1_sext": _b((59, 1)),
                    "src1_neg": _b((60, 1)),
                    "src1_abs": _b((61, 1)),
                }
            if name == "VOPC":
                sdwa_ops["sdst"] = _b((40, 8))
            else:
                mods |= {
                    "dst_sel": _b((40, 3)),
                    "dst_unused": _b((43, 2)),
                    "clamp": _b((45, 1)),
                    "omod": _b((46, 2)),
                }
            layouts.append(
                _layout(
                    name + "_SDWA",
                    prefix,
                    2,
                    opcode,
                    encoding=name,
                    opcodes=legal,
                    operands=sdwa_ops,
                    modifiers=mods,
                    src0=(249,),
                )
            )
        if name == "VOPC" and family.startswith(("gfx9", "gfx10")):
            continue
        dpp_ops = dict(ops) | {"src0": _b((32, 8))}
        mods = {k: _b((lo + 32, w)) for k, (lo, w) in _DPP16.items()}
        mods |= {"src0_neg": _b((52, 1)), "src0_abs": _b((53, 1))}
        if two:
            mods |= {"src1_neg": _b((54, 1)), "src1_abs": _b((55, 1))}
        layouts.append(
            _layout(
                name + "_DPP",
                prefix,
                2,
                opcode,
                encoding=name,
                opcodes=legal,
                operands=dpp_ops,
                modifiers=mods,
                src0=(250,),
            )
        )
        if not family.startswith("gfx9"):
            layouts.append(
                _layout(
                    name + "_DPP8",
                    prefix,
                    2,
                    opcode,
                    encoding=name,
                    opcodes=legal,
                    operands=dpp_ops,
                    modifiers={"fi": _b((0, 2))},
                    immediates={"dpp8": _b((40, 24))},
                    src0=(233, 234),
                )
            )
    return layouts


def _vop3(family: str) -> list[Layout]:
    """VOP3 (with and without scalar destination), VOP3P, MAI and their DPP forms."""
    gfx9 = family.startswith("gfx9")
    true16 = family in ("gfx11", *GFX12)
    prefix3 = "110100" if gfx9 else "110101"
    prefixp = "110100111" if gfx9 else "11001100"
    opcode3 = (16, 10)
    opcodep = (16, 8) if family == "gfx125" else (16, 7)
    opcodes3 = range(0x380) if gfx9 else None  # VOP3P has the rest
    half = [_b((11 + i, 1)) if true16 else () for i in range(4)]
    vdst = _b((0, 8)) + half[3]
    src = [_b((32 + 9 * i, 9)) + half[i] for i in range(3)]
    plain = {"vdst": vdst, "src0": src[0], "src1": src[1], "src2": src[2]}
    scalar = {
        "vdst": _b((0, 8)),
        "sdst": _b((8, 7)),
        "src0": _b((32, 9)),
        "src1": _b((41, 9)),
        "src2": _b((50, 9)),
    }
    mods = {
        "abs": _b((8, 3)),
        "op_sel": _b((11, 4)),
        "clamp": _b((15, 1)),
        "omod": _b((59, 2)),
        "neg": _b((61, 3)),
    }
    if not true16:
        mods["high"] = _b((40, 1))
    mods_s = {"clamp": _b((15, 1)), "omod": _b((59, 2)), "neg": _b((61, 3))}
    packed = {
        "vdst": _b((0, 8)),
        "src0": _b((32, 9)),
        "src1": _b((41, 9)),
        "src2": _b((50, 9)),
    }
    mods_p = {
        "neg_hi": _b((8, 3)),
        "op_sel": _b((11, 3)),
        "op_sel_hi": _b((59, 2), (14, 1)),
        "clamp": _b((15, 1)),
        "neg_lo": _b((61, 3)),
    }
    layouts = [
        _layout(
            "VOP3SD",
            prefix3,
            2,
            opcode3,
            encoding="VOP3",
            opcodes=opcodes3,
            operands=scalar,
            modifiers=mods_s,
        ),
        _layout("VOP3", prefix3, 2, opcode3, opcodes=opcodes3, operands=plain, modifiers=mods),
    ]
    if gfx9:
        mai = {
            "vdst": _b((0, 8), (15, 1)),
            "src0": _b((32, 9), (59, 1)),
            "src1": _b((41, 9), (60, 1)),
            "src2": _b((50, 9), (15, 1)),
        }
        matrix = (45, 46, *range(52, 128)) if family == "gfx940" else tuple(range(64, 128))
        others = tuple(code for code in range(64) if code not in matrix)
        mods_m = {"cbsz": _b((8, 3)), "abid": _b((11, 4)), "blgp": _b((61, 3))}
        if family == "gfx940":
            layouts.append(_scaled_matrix(mai))
        layouts.append(
            _layout(
                "VOP3P_MAI",
                prefixp,
                2,
                (16, 7),
                encoding="VOP3P",
                operands=mai,
                modifiers=mods_m,
                opcodes=matrix,
            )
        )
        layouts.append(
            _layout("VOP3P", prefixp, 2, (16, 7), operands=packed, modifiers=mods_p, opcodes=others)
        )
    else:
        if family == "gfx125":
            layouts.append(_scaled_wave_matrix(packed, mods_p))
        layouts.append(_layout("VOP3P", prefixp, 2, opcodep, operands=packed, modifiers=mods_p))
        # LLVM decodes these three in their gfx9 encoding, too.
        layouts.append(
            _layout(
                "VOP3P_GFX9", "110100111", 2, (16, 7), encoding="VOP3P", operands=packed, modifiers=mods_p,
                opcodes=range(32, 35),
            )
        )
    if true16:
        dpp = {k: _b((lo + 64, w)) for k, (lo, w) in _DPP16.items()}
        for name, prefix, opcode, ops, extra in (
            ("VOP3SD", prefix3, opcode3, scalar, mods_s),
            ("VOP3", prefix3, opcode3, plain, mods),
            ("VOP3P", prefixp, opcodep, packed, mods_p),
        ):
            enc = "VOP3" if name == "VOP3SD" else name
            dops = dict(ops) | {"src0": _b((64, 8)) + (half[0] if name == "VOP3" else ())}
            layouts.append(
                _layout(
                    name + "_DPP",
                    prefix,
                    3,
                    opcode,
                    encoding=enc,
                    operands=dops,
                    modifiers=extra | dpp,
                    src0=(250,),
                    src0_dword=1,
                )
            )
            layouts.append(
                _layout(
                    name + "_DPP8",
                    prefix,
                    3,
                    opcode,
                    encoding=enc,
                    operands=dops,
                    modifiers=extra | {"fi": _b((32, 2))},
                    immediates={"dpp8": _b((72, 24))},
                    src0=(233, 234),
                    src0_dword=1,
                )
            )
        layouts.append(
            _layout(
                "VINTERP",
                "11001101",
                2,
                (16, 7),
                operands=plain,
                modifiers={
                    "wait_exp": _b((8, 3)),
                    "op_sel": _b((11, 4)),
                    "clamp": _b((15, 1)),
                    "neg": _b((61, 3)),
                },
            )
        )
        layouts.append(
            _layout(
                "LDSDIR",
                "11001110",
                1,
                (20, 2),
                operands={"vdst": _b((0, 8)), "attr": _b((8, 8))},
                modifiers={"wait_vdst": _b((16, 4))}
                | ({"wait_vm_vsrc": _b((23, 1))} if family in GFX12 else {}),
            )
        )
        layouts.append(
            Layout(
                "VOPD",
                "VOPD",
                0xFC000000,
                0xC8000000,
                2,
                _b((22, 4), (17, 5)),
                {
                    "vdstx": _b((56, 8)),
                    "src0x": _b((0, 9)),
                    "vsrc1x": _b((9, 8)),
                    "vdsty": _b((49, 7), (56, 1)),
                    "src0y": _b((32, 9)),
                    "vsrc1y": _b((41, 8)),
                },
            )
        )
        if family == "gfx125":
            layouts.append(_dual_3())
    return layouts


def _scaled_matrix(mai: dict[str, Bits]) -> Layout:
    """v_mfma_scale_*: a matrix instruction after eight bytes that hold the scales; bit 75 tells LLVM so."""
    moved = {name: tuple((low + 64, size) for low, size in bits) for name, bits in mai.items()}
    return Layout(
        "VOP3PX", "VOP3P", 0xFFFF0000 | 0xFF800000 << 64, 0xD3AC0000 | 0xD3800800 << 64, 4, _b((80, 7)),
        {**moved, "scale_src0": _b((32, 9)), "scale_src1": _b((41, 9))},
        {
            "op_sel": _b((11, 3)), "op_sel_hi": _b((59, 2), (14, 1)), "neg_lo": _b((61, 3)), "neg_hi": _b((8, 3)),
            "cbsz": _b((72, 3)), "blgp": _b((125, 3)),
        },
        opcodes=(45, 46),
    )


_DUAL = (0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 17, 18, 19, 20, 21, 22, 23, 24, 32, 33, 34, 35, 36)
"""Operations of VOPD3: those from 32 on, of 64 bits, in the first half only; 18, 23 and 24 in the second only."""


def _dual_3() -> Layout:
    """Two operations with up to three sources each."""
    return Layout(
        "VOPD3", "VOPD", 0xFF000000, 0xCF000000, 3, _b((12, 6), (18, 6)),
        {
            "src0x": _b((0, 9)), "vsrc1x": _b((48, 8)), "vsrc2x": _b((56, 8)), "vdstx": _b((64, 8)),
            "src0y": _b((32, 9)), "vsrc1y": _b((72, 8)), "vsrc2y": _b((80, 8)), "vdsty": _b((88, 8)),
        },
        {"neg": _b((41, 6))}, {"bitop3": _b((80, 8))},
        opcodes=tuple(x << 6 | y for x in _DUAL for y in _DUAL if y < 32 and x not in (18, 23, 24)),
    )


def _scaled_wave_matrix(packed: dict[str, Bits], modifiers: dict[str, Bits]) -> Layout:
    """v_wmma_scale_*: v_wmma_ld_scale_paired_* (its operands are the scales), then the matrix instruction."""

    def moved(fields: dict[str, Bits]) -> dict[str, Bits]:
        return {name: tuple((low + 64, size) for low, size in bits) for name, bits in fields.items()}

    return Layout(
        "VOP3PX", "VOP3P", 0xFF000000 | 0xFF000000 << 64, 0xCC000000 | 0xCC000000 << 64, 4, _b((80, 8), (16, 8)),
        {**moved(packed), "scale_src0": _b((32, 9)), "scale_src1": _b((41, 9))},
        {
            **moved(modifiers),
            "matrix_a_scale": _b((11, 1)), "matrix_b_scale": _b((59, 1)), "matrix_a_scale_fmt": _b((61, 2)),
            "matrix_b_scale_fmt": _b((8, 2)), "matrix_a_reuse": _b((13, 1)), "matrix_b_reuse": _b((14, 1)),
        },
        opcodes=(0x3533, 0x3588, 0x3A33, 0x3A88),
    )


def _ds(family: str) -> Layout:
    acc = _b((25, 1)) if family.startswith("gfx9") else ()  # AGPRs, although only gfx90a and later allow them
    opcode = (17, 8) if family.startswith("gfx9") else (18, 8)
    gds = {} if family in GFX12 else {"gds": _b((16, 1) if family.startswith("gfx9") else (17, 1))}
    return _layout(
        "DS",
        "110110",
        2,
        opcode,
        operands={
            "addr": _b((32, 8)),
            "data0": _b((40, 8)) + acc,
            "data1": _b((48, 8)) + acc,
            "vdst": _b((56, 8)) + acc,
        },
        modifiers=gds,
        immediates={"offset": _b((0, 16)), "offset0": _b((0, 8)), "offset1": _b((8, 8))},
    )


def _flat(family: str) -> list[Layout]:
    result = []
    acc = _b((55, 1)) if family.startswith("gfx9") else ()
    for seg, name in enumerate(("FLAT", "SCRATCH", "GLOBAL")):
        if family in GFX12:
            value = (0xEC, 0xED, 0xEE)[seg] << 24
            selectors = [Selector("saddr_off", _b((0, 7)), (124,)), Selector("return", _b((52, 1)))]
            mods = {"cpol": _b((50, 5)), "nv": _b((7, 1)), "scale_offset": _b((48, 1))}
            if name == "SCRATCH":
                selectors.append(Selector("sve", _b((49, 1))))
            result.append(
                Layout(
                    name,
                    name,
                    0xFF000000,
                    value,
                    3,
                    _b((14, 7)),
                    {"saddr": _b((0, 7)), "vdst": _b((32, 8)), "vdata": _b((55, 8)), "vaddr": _b((64, 8))},
                    mods,
                    {"offset": _b((72, 24))},
                    tuple(selectors),
                )
            )
            continue
        off = {"gfx10": (125, 127), "gfx11": (124,)}.get(family, (127,))
        seg_shift = 16 if family == "gfx11" else 14
        mods = {
            "gfx9": {"cpol": _b((16, 2))},
            "gfx90a": {"cpol": _b((16, 2), (25, 1))},
            "gfx940": {"cpol": _b((16, 2), (25, 1))},
            "gfx10": {"cpol": _b((16, 2), (12, 1))},
            "gfx11": {"cpol": _b((13, 3))},
        }[family]
        selectors = []
        if name != "FLAT":
            selectors.append(Selector("saddr_off", _b((48, 7)), off))
        if name != "SCRATCH":
            selectors.append(Selector("return", _b((14 if family == "gfx11" else 16, 1))))
        if name == "SCRATCH" and family in ("gfx940", "gfx11"):
            selectors.append(Selector("sve", _b((13, 1) if family == "gfx940" else (55, 1))))
        if family not in ("gfx11", "gfx940") or (family == "gfx940" and name != "SCRATCH"):
            selectors.append(Selector("lds", _b((13, 1))))
        operands = {
            "vaddr": _b((32, 8)),
            "vdata": _b((40, 8)) + acc,
            "vdst": _b((56, 8)) + acc,
            "saddr": _b((48, 7)),
        }
        result.append(
            Layout(
                name,
                name,
                0xFC000000 | 3 << seg_shift,
                0xDC000000 | seg << seg_shift,
                2,
                _b((18, 7)),
                operands,
                mods,
                {"offset": _b((0, 12 if family == "gfx10" else 13))},
                tuple(selectors),
            )
        )
    return result


def _buffer(family: str) -> list[Layout]:
    sel: tuple[Selector, ...]
    if family in GFX12:
        ops = {"soffset": _b((0, 7)), "vdata": _b((32, 8)), "srsrc": _b((41, 9)), "vaddr": _b((64, 8))}
        sel = (Selector("offen", _b((62, 1))), Selector("idxen", _b((63, 1))), Selector("tfe", _b((22, 1))))
        return [
            Layout("MTBUF", "MTBUF", 0xFC200000, 0xC4200000, 3, _b((14, 4)), ops,
                   {"cpol": _b((50, 5)), "nv": _b((7, 1)), "format": _b((55, 7))}, {"offset": _b((72, 23))}, sel),
            Layout("MUBUF", "MUBUF", 0xFC200000, 0xC4000000, 3, _b((14, 7)), ops,
                   {"cpol": _b((50, 5)), "nv": _b((7, 1))}, {"offset": _b((72, 23))}, sel),
        ]
    ops = {"vdata": _b((40, 8)), "vaddr": _b((32, 8)), "srsrc": _b((48, 5)), "soffset": _b((56, 8))}
    if family in ("gfx90a", "gfx940"):
        ops["vdata"] = _b((40, 8), (55, 1))
    if family == "gfx11":
        sel = (
            Selector("offen", _b((54, 1))),
            Selector("idxen", _b((55, 1))),
            Selector("tfe", _b((53, 1))),
        )
        cpol, cpol_t = _b((12, 3)), _b((12, 3))
    else:
        sel = (Selector("offen", _b((12, 1))), Selector("idxen", _b((13, 1))))
        if family not in ("gfx90a", "gfx940"):
            sel += (Selector("tfe", _b((55, 1))),)
        cpol = {
            "gfx9": _b((14, 1), (17, 1)), "gfx90a": _b((14, 2), (17, 1)), "gfx940": _b((14, 2), (17, 1)),
            "gfx10": _b((14, 2), (54, 1)),
        }[family]
        cpol_t = {
            "gfx9": _b((14, 1), (54, 1)), "gfx90a": _b((14, 1), (54, 1), (53, 1)), "gfx940": _b((14, 1),
            (54, 1), (53, 1)),
            "gfx10": _b((14, 2), (54, 1)),
        }[family]
    lds = (Selector("lds", _b((16, 1))),) if family != "gfx11" else ()
    mubuf_op = _b((18, 8)) if family in ("gfx10", "gfx11") else _b((18, 7))
    mtbuf_op = _b((15, 4)) if family != "gfx10" else _b((16, 3), (53, 1))
    return [
        Layout("MUBUF", "MUBUF", 0xFC000000, 0xE0000000, 2, mubuf_op, ops, {"cpol": cpol}, {"offset":
        _b((0, 12))}, sel + lds),
        Layout(
            "MTBUF", "MTBUF", 0xFC000000, 0xE8000000, 2, mtbuf_op, ops,
            {"cpol": cpol_t, "format": _b((19, 7))}, {"offset": _b((0, 12))}, sel,
        ),
    ]


def _export(family: str) -> list[Layout]:
    prefix = "110001" if family.startswith("gfx9") else "111110"
    enable = [_b((i, 1)) for i in range(4)]
    operands = {"tgt": _b((4, 6))} | {f"vsrc{i}": _b((32 + 8 * i, 8)) + enable[i] for i in range(4)}
    modifiers = {"done": _b((11, 1))}
    if family in ("gfx11", *GFX12):
        modifiers["row_en"] = _b((13, 1))
    else:
        modifiers["vm"] = _b((12, 1))
    mask, value = _prefix(prefix)
    if family in ("gfx11", *GFX12):
        result = [Layout("EXP", "EXP", mask, value, 2, (), operands, modifiers)]
    else:
        pairs = {"tgt": _b((4, 6))} | {f"vsrc{i}": _b((32 + 8 * (i // 2), 8)) + enable[i] for i in range(4)}
        result = [
            Layout("EXP", "EXP", mask | 1 << 10, value, 2, (), operands, modifiers),
            Layout("EXP_COMPR", "EXP", mask | 1 << 10, value | 1 << 10, 2, (), pairs, modifiers),
        ]
    if family.startswith(("gfx9", "gfx10")) and family not in ("gfx90a", "gfx940"):
        result.append(
            _layout(
                "VINTRP",
                "110101" if family.startswith("gfx9") else "110010",
                1,
                (16, 2),
                operands={"vdst": _b((18, 8)), "vsrc": _b((0, 8)), "attr": _b((8, 2), (10, 6))},
            )
        )
    return result


def _tensor() -> Layout:
    """GFX1250 has no images, but moves tensors: descriptors in two or four groups of scalar registers."""
    return Layout(
        "TENSOR", "VIMAGE", 0xFC400007 | 0xFF << 56, 0xD0400001 | 0x7C << 56, 3, _b((14, 8)),
        {f"vaddr{i}": _b((64 + 8 * i, 8)) for i in range(4)},
        {"r128": _b((4, 1)), "cpol": _b((50, 5)), "nv": _b((7, 1))}, {},
        (Selector("two", _b((80, 16)), (0x7C7C,)),), opcodes=range(0xC0, 0xC8),
    )


def _image(family: str) -> list[Layout]:
    """MIMG, or VIMAGE and VSAMPLE. MIMG with addresses in separate registers is longer: layouts of their own."""
    if family == "gfx125":
        return [_tensor()]
    if family in GFX12:
        common = {
            "dim": _b((0, 3)),
            "r128": _b((4, 1)),
            "d16": _b((5, 1)),
            "a16": _b((6, 1)),
            "dmask": _b((22, 4)),
        }
        ops = {
            "vdata": _b((32, 8)),
            **{f"vaddr{i}": _b((64 + 8 * i, 8)) for i in range(4)},
            "srsrc": _b((41, 9)),
        }
        cpol = {"cpol": _b((50, 5))}
        return [
            Layout("VIMAGE", "VIMAGE", 0xFC000000, 0xD0000000, 3, _b((14, 8)), ops | {"vaddr4": _b((56, 8))},
                   common | cpol | {"tfe": _b((55, 1)), "nv": _b((7, 1))}),
            Layout("VSAMPLE", "VSAMPLE", 0xFC000000, 0xE4000000, 3, _b((14, 8)), ops | {"ssamp": _b((55, 9))},
                   common | cpol | {"tfe": _b((3, 1)), "nv": _b((7, 1)), "unorm": _b((13, 1)), "lwe": _b((40, 1))}),
        ]
    ops = {"vdata": _b((40, 8)), "vaddr0": _b((32, 8)), "srsrc": _b((48, 5)), "ssamp": _b((53, 5))}
    mods = {
        "dmask": _b((8, 4)),
        "unorm": _b((12, 1)),
        "tfe": _b((16, 1)),
        "lwe": _b((17, 1)),
        "d16": _b((63, 1)),
    }
    if family in ("gfx9", "gfx90a", "gfx940"):
        mods |= {"cpol": _b((13, 1), (25, 1)), "da": _b((14, 1)), "a16": _b((15, 1))}
        if family != "gfx9":
            del mods["tfe"]
            mods["cpol"] = _b((13, 1), (25, 1), (7, 1))
            ops["vdata"] = _b((40, 8), (16, 1))
        mask, value = _prefix("111100")
        return [Layout("MIMG", "MIMG", mask, value, 2, _b((18, 7)), ops, mods)]
    if family == "gfx10":
        mods |= {
            "dim": _b((3, 3)), "cpol": _b((13, 1), (25, 1), (7, 1)), "r128": _b((15, 1)), "a16": _b((62, 1)),
        }
        opcode, separate, lengths = _b((18, 7), (0, 1)), (1, 2), range(4)
    else:
        mods = {
            "dmask": _b((8, 4)), "tfe": _b((53, 1)), "d16": _b((17, 1)), "dim": _b((2, 3)), "a16": _b((16, 1)),
            "unorm": _b((7, 1)), "lwe": _b((54, 1)), "cpol": _b((12, 3)), "r128": _b((15, 1)),
        }
        ops["ssamp"] = _b((58, 5))
        opcode, separate, lengths = _b((18, 8)), (0, 1), range(2)
    result = []
    for length in lengths:
        mask = 0xFC000000 | insert((separate,), -1)
        extra = {f"vaddr{i}": _b((56 + 8 * i, 8)) for i in range(1, 4 * length + 1)}
        name = f"MIMG_NSA{length}" if length else "MIMG"
        value = 0xF0000000 | insert((separate,), length)
        result.append(Layout(name, "MIMG", mask, value, 2 + length, opcode, ops | extra, mods))
    return result


def layouts(family: str) -> list[Layout]:
    """The layouts of one family, in the order in which they are tried."""
    if family in ("gfx6", "gfx7", "gfx8"):
        from rocdbg.isa.formats_gfx6 import layouts_before_gfx9  # few sessions need them

        return layouts_before_gfx9(family)
    return [
        *_image(family), *_scalar(0), _smem(family), *_vector32(family), *_vop3(family), _ds(family), *_flat(family),
        *_buffer(family), *_export(family),
    ]


def family_of(target: str) -> str:
    """The family whose layouts a target uses, by name ("gfx1036" -> "gfx10")."""
    if target in ("gfx90a", "gfx942", "gfx950", "gfx940", "gfx941"):
        return "gfx90a" if target == "gfx90a" else "gfx940"
    if target.endswith("-generic"):
        return "gfx940" if target.startswith("gfx9-4") else target.partition("-")[0]
    return "gfx125" if target in ("gfx1250", "gfx1251") else target[:-2]


__all__ = [
    "GFX12", "Bits", "Layout", "Selector", "extract", "extractor", "family_of", "insert", "layouts",
    "width",
]
