"""Rows of random call frame instructions, against llvm-dwarfdump."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg import dwarf
from rocdbg.dwarf.cfi_rule_types import (
    CfaRegister,
    OffsetRule,
    RegisterRule,
    SameValueRule,
    UndefinedRule,
    ValOffsetRule,
)
from rocdbg.dwarf.operation_assembler import sleb128 as sleb
from rocdbg.dwarf.operation_assembler import uleb128 as uleb

LOW = (16, 17, 33, 34, 40, 62)
REGISTERS = (*LOW, 2560)
SPACES = (3, 5, 6)
FUNCTIONS = 150
SIZE = 0x400


def program(rng: random.Random, is_cie: bool) -> bytes:
    """A program that breaks no rule: states are nested, and there is always a CFA to change."""

    def register() -> bytes:
        return uleb(rng.choice(REGISTERS))

    def unsigned() -> bytes:
        return uleb(rng.randrange(40))

    def signed() -> bytes:
        return sleb(rng.randrange(-40, 40))

    def space() -> bytes:
        return uleb(rng.choice(SPACES))

    rules: list[Callable[[], bytes]] = [
        lambda: bytes([0x80 | rng.choice(LOW)]) + unsigned(),  # offset
        lambda: b"\x05" + register() + unsigned(),  # offset_extended
        lambda: b"\x11" + register() + signed(),  # offset_extended_sf
        lambda: b"\x07" + register(),  # undefined
        lambda: b"\x08" + register(),  # same_value
        lambda: b"\x09" + register() + uleb(rng.randrange(41, 44)),  # register
        lambda: b"\x14" + register() + unsigned(),  # val_offset
        lambda: b"\x15" + register() + signed(),  # val_offset_sf
        lambda: b"\x0c" + register() + unsigned(),  # def_cfa
        lambda: b"\x12" + register() + signed(),  # def_cfa_sf
        lambda: b"\x30" + register() + unsigned() + space(),  # LLVM_def_aspace_cfa
        lambda: b"\x31" + register() + signed() + space(),  # LLVM_def_aspace_cfa_sf
        lambda: b"\x0d" + register(),  # def_cfa_register
        lambda: b"\x0e" + unsigned(),  # def_cfa_offset
        lambda: b"\x13" + signed(),  # def_cfa_offset_sf
        lambda: b"\x00",  # nop
    ]
    rows: list[Callable[[], bytes]] = [
        lambda: bytes([0x40 | rng.randrange(1, 9)]),  # advance_loc
        lambda: b"\x02" + bytes([rng.randrange(1, 20)]),  # advance_loc1
        lambda: b"\x03" + rng.randrange(1, 20).to_bytes(2, "little"),  # advance_loc2
        lambda: bytes([0xC0 | rng.choice(LOW)]),  # restore
        lambda: b"\x06" + register(),  # restore_extended
    ]
    out = bytearray()
    depth = 0
    for _ in range(rng.randrange(1, 16)):
        if is_cie or rng.random() < 0.5:
            out += rng.choice(rules)()
        elif depth and rng.random() < 0.3:
            out += b"\x0b"  # restore_state
            depth -= 1
        elif rng.random() < 0.3:
            out += b"\x0a"  # remember_state
            depth += 1
        else:
            out += rng.choice(rows)()
    return bytes(out)


def entry(body: bytes, wide: bool) -> bytes:
    body += bytes(-(len(body) + (12 if wide else 4)) % 8)
    return (b"\xff\xff\xff\xff" + len(body).to_bytes(8, "little") if wide else len(body).to_bytes(4, "little")) + body


def section(rng: random.Random) -> bytes:
    """A CIE and an FDE for each function, in both formats, with all kinds of factors."""
    out = bytearray()
    for number in range(1, FUNCTIONS + 1):
        wide = rng.random() < 0.3
        word = 8 if wide else 4
        version = rng.choice((3, 4))
        header = bytes([version, 0]) + (b"\x08\x00" if version == 4 else b"")
        header += uleb(rng.choice((1, 2, 4))) + sleb(rng.choice((4, -4, -8, 1))) + uleb(16)
        cie = len(out)
        out += entry(b"\xff" * word + header + b"\x30" + uleb(32) + uleb(8) + uleb(6) + program(rng, True), wide)
        start = (number << 16).to_bytes(8, "little") + SIZE.to_bytes(8, "little")
        out += entry(cie.to_bytes(word, "little") + start + program(rng, False), wide)
    return bytes(out)


def words(row: dwarf.Row) -> str:
    """A row as llvm-dwarfdump writes it."""
    cfa = row.cfa
    assert isinstance(cfa, CfaRegister)
    plus = f"{cfa.displacement:+d}" if cfa.displacement or cfa.address_space is not None else ""
    text = f"reg{cfa.register}{plus}" + (f" in addrspace{cfa.address_space}" if cfa.address_space is not None else "")
    rules = []
    for number, rule in sorted(row.rules.items()):
        match rule:
            case UndefinedRule():
                shown = "undefined"
            case SameValueRule():
                shown = "same"
            case OffsetRule(offset):
                shown = f"[CFA{f'{offset:+d}' if offset else ''}]"
            case ValOffsetRule(offset):
                shown = f"CFA{f'{offset:+d}' if offset else ''}"
            case RegisterRule(other):
                shown = f"reg{other}"
            case _:
                shown = repr(rule)
        rules.append(f"reg{number}={shown}")
    return f"{text}: {', '.join(rules)}" if rules else text


@pytest.mark.llvm
@pytest.mark.parametrize("seed", range(3))
def test_rows(seed: int, tmp_path: Path) -> None:
    data = section(random.Random(seed))
    lines = (f".byte {','.join(map(str, data[at : at + 64]))}" for at in range(0, len(data), 64))
    (tmp_path / "frames.s").write_text("\n".join(['.section .debug_frame,"",@progbits', *lines, ""]))
    made = tmp_path / "frames.o"
    subprocess.run(
        ["llvm-mc-22", "-triple", "amdgcn-amd-amdhsa", "-filetype=obj", tmp_path / "frames.s", "-o", made],
        check=True, timeout=60,
    )
    elf = bytearray(made.read_bytes())
    elf[18:20] = b"\0\0"  # of no machine: registers are numbers then
    made.write_bytes(elf)
    run = subprocess.run(
        ["llvm-dwarfdump-22", "--debug-frame", made], capture_output=True, text=True, check=True, timeout=60
    )
    theirs = {int(pc, 16): row for pc, row in re.findall(r"^  0x([0-9a-f]+): CFA=(.*)$", run.stdout, re.MULTILINE)}
    theirs = {pc: row for pc, row in theirs.items() if pc & 0xFFFF < SIZE}
    assert len(theirs) > FUNCTIONS
    frames = dwarf.parse_frames(data)
    for _ in range(2):  # computed, then kept
        assert {pc: words(row) for pc in theirs if (row := frames.row(pc)) is not None} == theirs
