"""Operands as users type them."""

from __future__ import annotations

import re
import subprocess

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
        ("0xffffffff", "gfx90a", K.CONSTANT, 193, 1),
        ("0x123456789", "gfx90a", K.CONSTANT, -1, 2),
        ("lit(5)", "gfx90a", K.CONSTANT, -1, 1),
        ("0ffh", "gfx90a", K.CONSTANT, -1, 1),
        ("0x1p-1", "gfx90a", K.CONSTANT, 240, 1),
        ("(1<<2)*4", "gfx90a", K.CONSTANT, 144, 1),
        ("s[2*2]", "gfx90a", K.SGPR, 4, 1),
        ("s[1-1:2-1]", "gfx90a", K.SGPR, 0, 2),
        ("s[010]", "gfx90a", K.SGPR, 8, 1),
        ("s010", "gfx90a", K.SGPR, 10, 1),
        ("s [4 : 5]", "gfx90a", K.SGPR, 4, 2),
        ("[vcc_lo, vcc_hi]", "gfx1100", K.SPECIAL, 106, 2),
        ("[m0]", "gfx900", K.SPECIAL, 124, 1),
        ("off", "gfx900", K.OFF, -1, 0),
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
        ("v[0:13]", "gfx90a", "a range must have 1 to 12, 16 or 32 registers"),
        ("ttmp[0:12]", "gfx90a", "a range must have 1 to 12 or 16 registers"),
        ("s[1:3]", "gfx1100", "the range must start at a multiple of 4"),
        ("v[1:2]", "gfx90a", "the range must start at a multiple of 2"),
        ("flat_scratch", "gfx1030", "gfx1030 has no such register"),
        ("null", "gfx900", "gfx900 has no such register"),
        ("[exec_hi,exec_lo]", "gfx900", "the registers of a list must be of one kind and consecutive"),
        ("0x10000000000000000", "gfx900", "the constant does not fit into 64 bits"),
        ("s[1/0]", "gfx900", "the expression divides by zero"),
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


# Expressions, and what llvm-mc makes of them; the 32-bit constants below pass through an instruction.
EXPRESSIONS = (
    "1==1", "2>1", "1<>2", "1&&2", "0||3", "-7/2", "-7%3", "!5", "~0", "-1>>60", "1<<4+1", "1|2==2", "6&3^1",
    "2*3+4*5", "0x10", "010", "5-3-1", "3!=3", "1<2<3", "--1", "-(2+3)*4", "0b101", "+7",
)
NAMES = (
    "vcc", "vcc_lo", "vcc_hi", "exec", "exec_lo", "exec_hi", "m0", "null", "flat_scratch", "flat_scratch_lo",
    "xnack_mask", "xnack_mask_hi", "scc", "src_scc", "vccz", "src_execz", "shared_base", "src_private_limit",
    "pops_exiting_wave_id", "[vcc]", "[vcc_lo,vcc_hi]", "[flat_scratch_lo,flat_scratch_hi]", "[m0]", "[scc]",
    "s[0:1]", "s[1:2]", "s[1:3]", "s[2:4]", "s[4:8]", "s[100:103]", "s101", "s102", "s105", "s106", "s[104:105]",
    "ttmp15", "ttmp16", "ttmp[4:7]", "ttmp[2:5]", "s[2*2]", "s[1-1:2-1]", "s[010]", "s010", "[s4]", "[s4,s6]",
    "[s[4],s5]", "[s[4:4], s5]", "S1", "VCC", "v[0:12]", "v[0:15]", "v[0:31]", "v[255:256]", "v256", "v255",
    "[v252,v253]", "v[-1]", "v[1:0]", "v[0:1:2]", "1.", ".5", "1e3", "0x.1p10", "08", "0x12345678", "1 << 4",
)
_SYNTAX = re.compile(
    "not available|alignment|out of range|unsupported register size|consecutive|invalid register index|not exceed"
    "|expected|not supported|unknown token|failed parsing"
)


def assemble(lines: list[str], target: str) -> tuple[list[str], dict[int, str]]:
    """Instructions as llvm-mc prints them, and its errors by line (from 0)."""
    result = subprocess.run(
        ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={target}"],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=False,
    )
    errors = {int(m[1]) - 1: m[2] for m in re.finditer(r"<stdin>:(\d+):\d+: error: (.*)", result.stderr)}
    return [
        line.strip() for line in result.stdout.splitlines() if line.startswith("\t") and line[1] != "."
    ], errors


@pytest.mark.llvm
def test_expressions_have_the_assemblers_values() -> None:
    printed, errors = assemble([f"v_mov_b32 v0, {text}" for text in EXPRESSIONS], "gfx90a")
    assert not errors
    values = [line.rpartition(" ")[2] for line in printed]
    ours = [parse_register(text, "gfx90a").value for text in EXPRESSIONS]
    assert ours == [int(value, 0) & 0xFFFFFFFF for value in values]


@pytest.mark.llvm
@pytest.mark.parametrize("target", ["gfx900", "gfx90a", "gfx942", "gfx1013", "gfx1030", "gfx1100", "gfx1200"])
def test_accepts_what_the_assembler_accepts(target: str) -> None:
    """An operand is valid if one of three instructions accepts it, or only rejects its size or kind."""
    templates = ("s_mov_b32 s0, {}", "s_mov_b64 s[0:1], {}", "v_mov_b32 v0, {}")
    _, errors = assemble([t.format(name) for name in NAMES for t in templates], target)
    for i, name in enumerate(NAMES):
        complaints = [errors.get(3 * i + k, "") for k in range(3)]
        accepted = not all(_SYNTAX.search(c) for c in complaints)
        try:
            parse_register(name, target)
        except OperandSyntaxError as error:
            assert not accepted, (name, error.reason, complaints)
        else:
            assert accepted, (name, complaints)


@pytest.mark.llvm
@pytest.mark.parametrize("target", ["gfx900", "gfx1030", "gfx1200"])
def test_codes_are_the_encodings(target: str) -> None:
    """The operand code of special registers and inline constants equals the assembler's encoding."""
    names = [
        "vcc_lo",
        "vcc_hi",
        "exec_lo",
        "exec_hi",
        "m0",
        "scc",
        "shared_base",
        "private_limit",
        "5",
        "-3",
        "0.5",
        "-4.0",
    ]
    for name in names:
        result = subprocess.run(
            ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={target}", "-show-encoding"],
            input=f"s_mov_b32 s0, {name}\n",
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        encoded = re.search(r"encoding: \[0x(..)", result)
        assert encoded is not None
        assert parse_register(name, target).index == int(encoded[1], 16), name


@pytest.mark.parametrize(
    ("text", "target", "code", "dwords"),
    [
        ("tba", "gfx600", 108, 2), ("tma_hi", "gfx803", 111, 1), ("flat_scratch", "gfx700", 104, 2),
        ("flat_scratch_lo", "gfx803", 102, 1), ("xnack_mask", "gfx801", 104, 2), ("s103", "gfx700", 103, 1),
        ("s[100:103]", "gfx600", 100, 4), ("ttmp11", "gfx803", 11, 1), ("m0", "gfx600", 124, 1),
    ],
)
def test_early_registers(text: str, target: str, code: int, dwords: int) -> None:
    """GFX6 to GFX8 have trap handler registers; GFX6 and GFX7 have two more scalar registers."""
    register = parse_register(text, target)
    assert (register.index, register.dwords) == (code, dwords)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("tba", "gfx900"), ("flat_scratch", "gfx600"), ("xnack_mask", "gfx700"), ("s102", "gfx803"), ("s104", "gfx700"),
        ("ttmp12", "gfx803"), ("src_shared_base", "gfx803"), ("null", "gfx700"),
    ],
)
def test_registers_that_came_or_went(text: str, target: str) -> None:
    with pytest.raises(OperandSyntaxError):
        parse_register(text, target)
