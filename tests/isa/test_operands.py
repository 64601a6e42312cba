"""Operands as users type them."""

from __future__ import annotations

import pytest

from rocdbg.isa import OperandKind, OperandSyntaxError, parse_register

K = OperandKind


@pytest.mark.parametrize(
    ("text", "target", "kind", "index", "dwords"),
    [
        ("v5", "gfx90a", K.VGPR, 5, 1),
        ("$v[0:3]", "gfx90a", K.VGPR, 0, 4),
        ("v[7]", "gfx90a", K.VGPR, 7, 1),
        ("[v252,v253,v254,v255]", "gfx90a", K.VGPR, 252, 4),
        ("[s4]", "gfx90a", K.SGPR, 4, 1),
        ("$s[4:5]", "gfx1100", K.SGPR, 4, 2),
        ("s105", "gfx1100", K.SGPR, 105, 1),
        ("a31", "gfx908", K.AGPR, 31, 1),
        ("acc[0:1]", "gfx90a", K.AGPR, 0, 2),
        ("ttmp[4:7]", "gfx90a", K.TTMP, 4, 4),
        ("TTMP3", "gfx90a", K.TTMP, 3, 1),
        ("vcc", "gfx90a", K.SPECIAL, 106, 2),
        ("vcc", "gfx1100", K.SPECIAL, 106, 1),
        ("vcc_lo", "gfx1100", K.SPECIAL, 106, 1),
        ("exec", "gfx942", K.SPECIAL, 126, 2),
        ("m0", "gfx1030", K.SPECIAL, 124, 1),
        ("m0", "gfx1100", K.SPECIAL, 125, 1),
        ("null", "gfx1100", K.SPECIAL, 124, 1),
        ("src_shared_base", "gfx90a", K.SPECIAL, 235, 1),
        ("scc", "gfx90a", K.SPECIAL, 253, 1),
        ("flat_scratch", "gfx90a", K.SPECIAL, 102, 2),
        ("64", "gfx90a", K.CONSTANT, 192, 1),
        ("-16", "gfx90a", K.CONSTANT, 208, 1),
        ("0x41", "gfx90a", K.CONSTANT, -1, 1),
        ("-4.0", "gfx90a", K.CONSTANT, 247, 1),
        ("0.15915494", "gfx90a", K.CONSTANT, 248, 1),
    ],
)
def test_registers_and_constants(text: str, target: str, kind: OperandKind, index: int, dwords: int) -> None:
    register = parse_register(text, target)
    assert (register.kind, register.index, register.dwords) == (kind, index, dwords)


def test_wave64_on_gfx11() -> None:
    assert parse_register("exec", "gfx1100", 64).dwords == 2


def test_halves() -> None:
    assert parse_register("v3.h", "gfx1100").half == 1
    assert parse_register("v3.l", "gfx1200").half == 0


@pytest.mark.parametrize(
    ("text", "target", "reason"),
    [
        ("s[1:2]", "gfx90a", "the range must start at a multiple of 2"),
        ("s[2:5]", "gfx90a", "the range must start at a multiple of 4"),
        ("s102", "gfx90a", "gfx90a has registers s0 to s101"),
        ("v256", "gfx90a", "gfx90a has registers v0 to v255"),
        ("v[3:1]", "gfx90a", "the range is empty"),
        ("v[0:13]", "gfx90a", "a range has 1 to 12, 16 or 32 registers"),
        ("a0", "gfx1030", "gfx1030 has no accumulation registers"),
        ("v1.h", "gfx1030", "only vector registers of gfx11 and later have halves"),
        ("[v1,v3]", "gfx90a", "the registers of a list must be of one kind and consecutive"),
        ("[]", "gfx90a", "the list is empty"),
        ("bogus", "gfx90a", "it is neither a register nor a constant"),
        ("", "gfx90a", "it is neither a register nor a constant"),
        ("1e99", "gfx90a", "the constant does not fit into a 32-bit float"),
        ("v[x]", "gfx90a", "`x' is not an integer"),
    ],
)
def test_errors(text: str, target: str, reason: str) -> None:
    with pytest.raises(OperandSyntaxError) as caught:
        parse_register(text, target)
    assert caught.value.reason == reason
    assert str(caught.value) == f"Invalid operand `{text}': {reason}."
