"""Bit layouts of vector instructions: VOP1 to VOP3P, matrices, dual instructions, their DPP and SDWA forms."""

from __future__ import annotations

from rocdbg.isa.bit_layout import GFX12, Bits, Layout, at, prefixed

_DPP16 = {
    "dpp_ctrl": (8, 9),
    "fi": (18, 1),
    "bound_ctrl": (19, 1),
    "bank_mask": (24, 4),
    "row_mask": (28, 4),
}


def short_vector(family: str) -> list[Layout]:
    """VOP1, VOP2, VOPC and their SDWA and DPP forms."""
    src0, vsrc1, vdst = at((0, 9)), at((9, 8)), at((17, 8))
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
        layouts.append(prefixed(name, prefix, 1, opcode, opcodes=legal, operands={"src0": src0, **ops}))
        two = "vsrc1" in ops
        if family.startswith(("gfx9", "gfx10")):
            sdwa_ops = dict(ops) | {"src0": at((32, 8), (55, 1))}
            sdwa_ops = {k: v for k, v in sdwa_ops.items() if k != "vsrc1"}
            mods = {
                "src0_sel": at((48, 3)),
                "src0_sext": at((51, 1)),
                "src0_neg": at((52, 1)),
                "src0_abs": at((53, 1)),
            }
            if two:
                sdwa_ops["vsrc1"] = at((9, 8), (63, 1))
                mods |= {
                    "src1_sel": at((56, 3)),
                    "src1_sext": at((59, 1)),
                    "src1_neg": at((60, 1)),
                    "src1_abs": at((61, 1)),
                }
            if name == "VOPC":
                sdwa_ops["sdst"] = at((40, 8))
            else:
                mods |= {
                    "dst_sel": at((40, 3)),
                    "dst_unused": at((43, 2)),
                    "clamp": at((45, 1)),
                    "omod": at((46, 2)),
                }
            layouts.append(
                prefixed(
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
        dpp_ops = dict(ops) | {"src0": at((32, 8))}
        mods = {k: at((lo + 32, w)) for k, (lo, w) in _DPP16.items()}
        mods |= {"src0_neg": at((52, 1)), "src0_abs": at((53, 1))}
        if two:
            mods |= {"src1_neg": at((54, 1)), "src1_abs": at((55, 1))}
        layouts.append(
            prefixed(
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
                prefixed(
                    name + "_DPP8",
                    prefix,
                    2,
                    opcode,
                    encoding=name,
                    opcodes=legal,
                    operands=dpp_ops,
                    modifiers={"fi": at((0, 2))},
                    immediates={"dpp8": at((40, 24))},
                    src0=(233, 234),
                )
            )
    return layouts


def long_vector(family: str) -> list[Layout]:
    """VOP3 (with and without scalar destination), VOP3P, MAI and their DPP forms."""
    gfx9 = family.startswith("gfx9")
    true16 = family in ("gfx11", *GFX12)
    prefix3 = "110100" if gfx9 else "110101"
    prefixp = "110100111" if gfx9 else "11001100"
    opcode3 = (16, 10)
    opcodep = (16, 8) if family == "gfx125" else (16, 7)
    opcodes3 = range(0x380) if gfx9 else None  # other opcodes are in VOP3P
    half = [at((11 + i, 1)) if true16 else () for i in range(4)]
    vdst = at((0, 8)) + half[3]
    src = [at((32 + 9 * i, 9)) + half[i] for i in range(3)]
    plain = {"vdst": vdst, "src0": src[0], "src1": src[1], "src2": src[2]}
    scalar = {
        "vdst": at((0, 8)),
        "sdst": at((8, 7)),
        "src0": at((32, 9)),
        "src1": at((41, 9)),
        "src2": at((50, 9)),
    }
    mods = {
        "abs": at((8, 3)),
        "op_sel": at((11, 4)),
        "clamp": at((15, 1)),
        "omod": at((59, 2)),
        "neg": at((61, 3)),
    }
    if not true16:
        mods["high"] = at((40, 1))
    mods_s = {"clamp": at((15, 1)), "omod": at((59, 2)), "neg": at((61, 3))}
    packed = {
        "vdst": at((0, 8)),
        "src0": at((32, 9)),
        "src1": at((41, 9)),
        "src2": at((50, 9)),
    }
    mods_p = {
        "neg_hi": at((8, 3)),
        "op_sel": at((11, 3)),
        "op_sel_hi": at((59, 2), (14, 1)),
        "clamp": at((15, 1)),
        "neg_lo": at((61, 3)),
    }
    layouts = [
        prefixed(
            "VOP3SD",
            prefix3,
            2,
            opcode3,
            encoding="VOP3",
            opcodes=opcodes3,
            operands=scalar,
            modifiers=mods_s,
        ),
        prefixed("VOP3", prefix3, 2, opcode3, opcodes=opcodes3, operands=plain, modifiers=mods),
    ]
    if gfx9:
        mai = {
            "vdst": at((0, 8), (15, 1)),
            "src0": at((32, 9), (59, 1)),
            "src1": at((41, 9), (60, 1)),
            "src2": at((50, 9), (15, 1)),
        }
        matrix = (45, 46, *range(52, 128)) if family == "gfx940" else tuple(range(64, 128))
        others = tuple(code for code in range(64) if code not in matrix)
        mods_m = {"cbsz": at((8, 3)), "abid": at((11, 4)), "blgp": at((61, 3))}
        if family == "gfx940":
            layouts.append(_scaled_matrix(mai))
        layouts.append(
            prefixed(
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
            prefixed("VOP3P", prefixp, 2, (16, 7), operands=packed, modifiers=mods_p, opcodes=others)
        )
    else:
        if family == "gfx125":
            layouts.append(_scaled_wave_matrix(packed, mods_p))
        layouts.append(prefixed("VOP3P", prefixp, 2, opcodep, operands=packed, modifiers=mods_p))
        # LLVM also decodes these three instructions in their gfx9 encoding.
        layouts.append(
            prefixed(
                "VOP3P_GFX9", "110100111", 2, (16, 7), encoding="VOP3P", operands=packed, modifiers=mods_p,
                opcodes=range(32, 35),
            )
        )
    if true16:
        dpp = {k: at((lo + 64, w)) for k, (lo, w) in _DPP16.items()}
        for name, prefix, opcode, ops, extra in (
            ("VOP3SD", prefix3, opcode3, scalar, mods_s),
            ("VOP3", prefix3, opcode3, plain, mods),
            ("VOP3P", prefixp, opcodep, packed, mods_p),
        ):
            enc = "VOP3" if name == "VOP3SD" else name
            dops = dict(ops) | {"src0": at((64, 8)) + (half[0] if name == "VOP3" else ())}
            layouts.append(
                prefixed(
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
                prefixed(
                    name + "_DPP8",
                    prefix,
                    3,
                    opcode,
                    encoding=enc,
                    operands=dops,
                    modifiers=extra | {"fi": at((32, 2))},
                    immediates={"dpp8": at((72, 24))},
                    src0=(233, 234),
                    src0_dword=1,
                )
            )
        layouts.append(
            prefixed(
                "VINTERP",
                "11001101",
                2,
                (16, 7),
                operands=plain,
                modifiers={
                    "wait_exp": at((8, 3)),
                    "op_sel": at((11, 4)),
                    "clamp": at((15, 1)),
                    "neg": at((61, 3)),
                },
            )
        )
        layouts.append(
            prefixed(
                "LDSDIR",
                "11001110",
                1,
                (20, 2),
                operands={"vdst": at((0, 8)), "attr": at((8, 8))},
                modifiers={"wait_vdst": at((16, 4))}
                | ({"wait_vm_vsrc": at((23, 1))} if family in GFX12 else {}),
            )
        )
        layouts.append(
            Layout(
                "VOPD",
                "VOPD",
                0xFC000000,
                0xC8000000,
                2,
                at((22, 4), (17, 5)),
                {
                    "vdstx": at((56, 8)),
                    "src0x": at((0, 9)),
                    "vsrc1x": at((9, 8)),
                    "vdsty": at((49, 7), (56, 1)),
                    "src0y": at((32, 9)),
                    "vsrc1y": at((41, 8)),
                },
            )
        )
        if family == "gfx125":
            layouts.append(_dual_3())
    return layouts


def _scaled_matrix(mai: dict[str, Bits]) -> Layout:
    """v_mfma_scale_*: eight bytes with the scales, then a matrix instruction, in which bit 75 is set for LLVM."""
    moved = {name: tuple((low + 64, size) for low, size in bits) for name, bits in mai.items()}
    return Layout(
        "VOP3PX", "VOP3P", 0xFFFF0000 | 0xFF800000 << 64, 0xD3AC0000 | 0xD3800800 << 64, 4, at((80, 7)),
        {**moved, "scale_src0": at((32, 9)), "scale_src1": at((41, 9))},
        {
            "op_sel": at((11, 3)), "op_sel_hi": at((59, 2), (14, 1)), "neg_lo": at((61, 3)), "neg_hi": at((8, 3)),
            "cbsz": at((72, 3)), "blgp": at((125, 3)),
        },
        opcodes=(45, 46),
    )


_DUAL = (0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 17, 18, 19, 20, 21, 22, 23, 24, 32, 33, 34, 35, 36)
"""Operations of VOPD3: the 64-bit ones, from 32 on, only in the first half; 18, 23 and 24 only in the second."""


def _dual_3() -> Layout:
    """Two operations with up to three sources each."""
    return Layout(
        "VOPD3", "VOPD", 0xFF000000, 0xCF000000, 3, at((12, 6), (18, 6)),
        {
            "src0x": at((0, 9)), "vsrc1x": at((48, 8)), "vsrc2x": at((56, 8)), "vdstx": at((64, 8)),
            "src0y": at((32, 9)), "vsrc1y": at((72, 8)), "vsrc2y": at((80, 8)), "vdsty": at((88, 8)),
        },
        {"neg": at((41, 6))}, {"bitop3": at((80, 8))},
        opcodes=tuple(x << 6 | y for x in _DUAL for y in _DUAL if y < 32 and x not in (18, 23, 24)),
    )


def _scaled_wave_matrix(packed: dict[str, Bits], modifiers: dict[str, Bits]) -> Layout:
    """v_wmma_scale_*: v_wmma_ld_scale_paired_*, whose operands are the scales, then the matrix instruction."""

    def moved(fields: dict[str, Bits]) -> dict[str, Bits]:
        return {name: tuple((low + 64, size) for low, size in bits) for name, bits in fields.items()}

    return Layout(
        "VOP3PX", "VOP3P", 0xFF000000 | 0xFF000000 << 64, 0xCC000000 | 0xCC000000 << 64, 4, at((80, 8), (16, 8)),
        {**moved(packed), "scale_src0": at((32, 9)), "scale_src1": at((41, 9))},
        {
            **moved(modifiers),
            "matrix_a_scale": at((11, 1)), "matrix_b_scale": at((59, 1)), "matrix_a_scale_fmt": at((61, 2)),
            "matrix_b_scale_fmt": at((8, 2)), "matrix_a_reuse": at((13, 1)), "matrix_b_reuse": at((14, 1)),
        },
        opcodes=(0x3533, 0x3588, 0x3A33, 0x3A88),
    )
