"""Bit layouts of images, tensors, exports and interpolation."""

from __future__ import annotations

from rocdbg.isa.bit_layout import GFX12, Layout, Selector, at, insert, prefix, prefixed


def _tensor() -> Layout:
    """GFX1250's tensor move instructions, whose descriptors are in two or four groups of scalar registers; there are no
    image instructions.
    """
    return Layout(
        "TENSOR", "VIMAGE", 0xFC400007 | 0xFF << 56, 0xD0400001 | 0x7C << 56, 3, at((14, 8)),
        {f"vaddr{i}": at((64 + 8 * i, 8)) for i in range(4)},
        {"r128": at((4, 1)), "cpol": at((50, 5)), "nv": at((7, 1))}, {},
        (Selector("two", at((80, 16)), (0x7C7C,)),), opcodes=range(0xC0, 0xC8),
    )


def images(family: str) -> list[Layout]:
    """MIMG, or VIMAGE and VSAMPLE. MIMG with addresses in separate registers is longer and has layouts of its own."""
    if family == "gfx125":
        return [_tensor()]
    if family in GFX12:
        common = {
            "dim": at((0, 3)),
            "r128": at((4, 1)),
            "d16": at((5, 1)),
            "a16": at((6, 1)),
            "dmask": at((22, 4)),
        }
        ops = {
            "vdata": at((32, 8)),
            **{f"vaddr{i}": at((64 + 8 * i, 8)) for i in range(4)},
            "srsrc": at((41, 9)),
        }
        cpol = {"cpol": at((50, 5))}
        return [
            Layout("VIMAGE", "VIMAGE", 0xFC000000, 0xD0000000, 3, at((14, 8)), ops | {"vaddr4": at((56, 8))},
                   common | cpol | {"tfe": at((55, 1)), "nv": at((7, 1))}),
            Layout("VSAMPLE", "VSAMPLE", 0xFC000000, 0xE4000000, 3, at((14, 8)), ops | {"ssamp": at((55, 9))},
                   common | cpol | {"tfe": at((3, 1)), "nv": at((7, 1)), "unorm": at((13, 1)), "lwe": at((40, 1))}),
        ]
    ops = {"vdata": at((40, 8)), "vaddr0": at((32, 8)), "srsrc": at((48, 5)), "ssamp": at((53, 5))}
    mods = {
        "dmask": at((8, 4)),
        "unorm": at((12, 1)),
        "tfe": at((16, 1)),
        "lwe": at((17, 1)),
        "d16": at((63, 1)),
    }
    if family in ("gfx9", "gfx90a", "gfx940"):
        mods |= {"cpol": at((13, 1), (25, 1)), "da": at((14, 1)), "a16": at((15, 1))}
        if family != "gfx9":
            del mods["tfe"]
            mods["cpol"] = at((13, 1), (25, 1), (7, 1))
            ops["vdata"] = at((40, 8), (16, 1))
        mask, value = prefix("111100")
        return [Layout("MIMG", "MIMG", mask, value, 2, at((18, 7)), ops, mods)]
    if family == "gfx10":
        mods |= {
            "dim": at((3, 3)), "cpol": at((13, 1), (25, 1), (7, 1)), "r128": at((15, 1)), "a16": at((62, 1)),
        }
        opcode, separate, lengths = at((18, 7), (0, 1)), (1, 2), range(4)
    else:
        mods = {
            "dmask": at((8, 4)), "tfe": at((53, 1)), "d16": at((17, 1)), "dim": at((2, 3)), "a16": at((16, 1)),
            "unorm": at((7, 1)), "lwe": at((54, 1)), "cpol": at((12, 3)), "r128": at((15, 1)),
        }
        ops["ssamp"] = at((58, 5))
        opcode, separate, lengths = at((18, 8)), (0, 1), range(2)
    result = []
    for length in lengths:
        mask = 0xFC000000 | insert((separate,), -1)
        extra = {f"vaddr{i}": at((56 + 8 * i, 8)) for i in range(1, 4 * length + 1)}
        name = f"MIMG_NSA{length}" if length else "MIMG"
        value = 0xF0000000 | insert((separate,), length)
        result.append(Layout(name, "MIMG", mask, value, 2 + length, opcode, ops | extra, mods))
    return result


def exports(family: str) -> list[Layout]:
    """EXP and VINTRP."""
    highest = "110001" if family.startswith("gfx9") else "111110"
    enable = [at((i, 1)) for i in range(4)]
    operands = {"tgt": at((4, 6))} | {f"vsrc{i}": at((32 + 8 * i, 8)) + enable[i] for i in range(4)}
    modifiers = {"done": at((11, 1))}
    if family in ("gfx11", *GFX12):
        modifiers["row_en"] = at((13, 1))
    else:
        modifiers["vm"] = at((12, 1))
    mask, value = prefix(highest)
    if family in ("gfx11", *GFX12):
        result = [Layout("EXP", "EXP", mask, value, 2, (), operands, modifiers)]
    else:
        pairs = {"tgt": at((4, 6))} | {f"vsrc{i}": at((32 + 8 * (i // 2), 8)) + enable[i] for i in range(4)}
        result = [
            Layout("EXP", "EXP", mask | 1 << 10, value, 2, (), operands, modifiers),
            Layout("EXP_COMPR", "EXP", mask | 1 << 10, value | 1 << 10, 2, (), pairs, modifiers),
        ]
    if family.startswith(("gfx9", "gfx10")) and family not in ("gfx90a", "gfx940"):
        result.append(
            prefixed(
                "VINTRP",
                "110101" if family.startswith("gfx9") else "110010",
                1,
                (16, 2),
                operands={"vdst": at((18, 8)), "vsrc": at((0, 8)), "attr": at((8, 2), (10, 6))},
            )
        )
    return result
