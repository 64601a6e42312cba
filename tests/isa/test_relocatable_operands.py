"""Addresses in operands: a linker's results, each part of an address, and names of plain numbers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocdbg import isa
from rocdbg.codeobject.bounded_reader import Source
from rocdbg.codeobject.elf import Elf
from rocdbg.isa.operand_expressions import Value

START = 0x7F00_0010_1000
SYMBOLS = {
    "there": 0x7F02_1234_5678, "low": 0x1000, "N": Value(5), "minus": Value(-1), "doc": Value(0xFFEFFFFF),
    "V1": Value(7), "_start": START,
}
LINKED = {
    "gfx90a": """
        s_add_u32 s4, s4, there@rel32@lo+4
        s_addc_u32 s5, s5, there@rel32@hi+12
        s_mov_b32 s4, there
        s_mov_b32 s4, 8 + there
        v_mov_b32 v0, low@rel32@hi+4
        v_add_f32 v0, there@rel32@lo, v1
        v_add_u32 v0, low, v1
        s_branch _start
        s_cbranch_scc0 _start
    """,
    "gfx1250": """
        s_mov_b64 s[0:1], there
        s_mov_b64 s[0:1], there@abs64
        s_mov_b64 s[0:1], there@rel64+4
        s_mov_b64 s[0:1], low@rel32@lo
        s_add_nc_u64 s[0:1], s[2:3], there+4
        s_cmp_eq_u64 s[0:1], low
        v_mad_u32_u24 v0, v1, there, v2
        s_call_i64 s[0:1], _start
    """,
}
"""Instructions that a linker completes, one after the other from START on."""


@pytest.mark.llvm
@pytest.mark.parametrize("target", LINKED)
def test_as_linked(target: str, tmp_path: Path) -> None:
    lines = [line.strip() for line in LINKED[target].strip().splitlines()]
    source, objects, linked = (tmp_path / name for name in ("k.s", "k.o", "k.co"))
    source.write_text("\n".join([".globl _start", "_start:", *lines, ""]), encoding="utf-8")
    for command in (
        ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={target}", "-filetype=obj", source, "-o", objects],
        ["ld.lld-22", "-static", f"-Ttext={START:#x}", f"--defsym=there={SYMBOLS['there']:#x}",
         f"--defsym=low={SYMBOLS['low']:#x}", objects, "-o", linked],
    ):
        subprocess.run(command, check=True)
    code = Elf(Source("linked", linked.read_bytes())).sections[".text"].data
    at = 0
    for line in lines:
        ours = isa.assemble(line, target, START + at, symbols=SYMBOLS.get)
        assert (line, ours.hex()) == (line, code[at : at + len(ours)].hex())
        at += len(ours)
    assert at == len(code)


@pytest.mark.parametrize(
    ("target", "line", "code"),
    [
        ("gfx90a", "s_mov_b32 s4, there@abs32@lo", "ff0084be 78563412"),  # LLVM 22's linker knows no halves
        ("gfx90a", "s_mov_b32 s4, there@abs32@hi", "ff0084be 027f0000"),
        ("gfx90a", "s_mov_b32 s4, there@abs32@lo-8", "ff0084be 70563412"),
        ("gfx90a", "s_mov_b32 s4, there-8", "ff0084be 6c462412"),  # the document's; llvm-mc: the address's low half
        ("gfx1250", "s_mov_b64 s[0:1], there@abs32@hi", "fe0180be 027f000000000000"),
        ("gfx90a", "s_mov_b32 s4, N", "850084be"),
        ("gfx90a", "s_mov_b32 s4, minus + 10", "890084be"),
        ("gfx90a", "s_nop N", "050080bf"),
        ("gfx90a", "ds_read_b32 v0, v1 offset:N*4", "14006cd8 01000000"),
        ("gfx90a", "s_bfe_i64 s[0:1], doc, s3", "ff030094 ffffefff"),
        ("gfx90a", "v_ceil_f64 v[0:1], doc", "ff30007e ffffefff"),
        ("gfx90a", "v_mov_b32 v0, V1", "8702007e"),  # a symbol of just that name, no register
        ("gfx90a", "v_mov_b32 v0, V2", "0203007e"),
    ],
)
def test_values(target: str, line: str, code: str) -> None:
    assert isa.assemble(line, target, START, symbols=SYMBOLS.get).hex() == code.replace(" ", "")


@pytest.mark.parametrize(
    ("line", "column", "reason"),
    [
        ("s_mov_b32 s4, there@rel32", 15, "`there@rel32': there is no `@rel32' "
         "(there are @rel32@lo, @rel32@hi, @abs32@lo, @abs32@hi, @rel64, @abs64)"),
        ("s_mov_b32 s4, there@gotpcrel32@lo+4", 15, "`there@gotpcrel32@lo+4': `@gotpcrel32@lo' needs a table "
         "entry that only a linker can create"),
        ("s_mov_b32 s4, there@rel64", 15, "`@rel64' has 64 bits, but ssrc0 has only 32"),
        ("s_mov_b32 s4, there@rel32@lo - low", 15, "`there@rel32@lo - low': the only operation on a symbol "
         "with `@rel32@lo' is adding a number"),
        ("s_mov_b32 s4, 4 - there@rel32@lo", 15, "`4 - there@rel32@lo': the only operation on a symbol "
         "with `@rel32@lo' is adding a number"),
        ("s_mov_b32 s4, N@abs32@lo", 15, "`N@abs32@lo': `N' is a number, so `@abs32@lo' cannot be applied to it"),
        ("s_mov_b64 s[0:1], there@abs64", 19, "ssrc0 cannot be an address: only 32-bit integers and branch targets "
         "can"),
        ("v_add_u16 v0, there, v1", 15, "src0 cannot be an address: only 32-bit integers and branch targets can"),
        ("s_branch there@rel32@lo", 10, "`there@rel32@lo' is not an address"),
        ("s_branch there", 10, "the branch target 0x7f0212345678 is too far away from 0x7f0000101000"),
        ("s_nop there", 7, "`there' is an address, but only an absolute number is possible here"),
        ("s_mov_b32 s4, there + low", 15, "ssrc0 cannot be an address: only 32-bit integers and branch targets can"),
        ("s_mov_b32 s4, nowhere@rel32@lo", 15, "`nowhere' is neither a number nor a known symbol"),
    ],
)
def test_errors(line: str, column: int, reason: str) -> None:
    with pytest.raises(isa.AssemblyError) as caught:
        isa.assemble(line, "gfx90a", START, symbols=SYMBOLS.get)
    assert (caught.value.column, caught.value.reason) == (column, reason)
