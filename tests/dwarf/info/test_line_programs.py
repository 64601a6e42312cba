"""Line number programs that no compiler writes: every operation, in headers of all versions, against llvm-dwarfdump."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocdbg.dwarf.info.errors import DebugInfoError
from rocdbg.dwarf.info.line_header import read_line_header
from rocdbg.dwarf.info.line_program import BASIC_BLOCK, EPILOGUE_BEGIN, IS_STMT, PROLOGUE_END, run
from rocdbg.dwarf.info.sections import Sections
from tests.dwarf.info.test_forms import leb, leb_u

PROGRAMS = 120
Row = tuple[int, int, int, int, int, int, frozenset[str]]
"""Address, line, column, file, ISA, discriminator, flags."""
FLAGS = {
    IS_STMT: "is_stmt", BASIC_BLOCK: "basic_block", PROLOGUE_END: "prologue_end", EPILOGUE_BEGIN: "epilogue_begin",
}
STANDARD = bytes((0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1))
"""The number of operands of each operation from DW_LNS_copy on."""
LLVM_ROW = re.compile(r"^0x([0-9a-f]{16}) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +\d+ *(.*)$", re.MULTILINE)


def table(choose: random.Random) -> bytes:
    """A table with a header of any version, and a program with some sequences."""
    version = choose.choice((2, 3, 4, 5))
    base = choose.choice((10, 13, 13, 16))
    many = bytes((choose.choice((1, 3, 3)),)) if version >= 4 else b""
    parameters = bytes((choose.choice((1, 4)),)) + many + bytes(
        (choose.randrange(2), choose.choice((0xFB, 0xFF, 0)), choose.randrange(8, 16), base)
    ) + (STANDARD + b"\2\0\1")[: base - 1]
    if version >= 5:  # no columns and no directories or files
        body, head = parameters + bytes((1, 1, 8, 1)) + b"dir\0" + bytes((1, 1, 8, 1)) + b"a.c\0", bytes((8, 0))
    else:
        body, head = parameters + b"dir\0\0" + b"a.c\0\1\0\0\0", b""
    program = b"".join(sequence(choose, base, choose.randrange(1 << 40)) for _ in range(choose.randrange(1, 4)))
    rest = version.to_bytes(2, "little") + head + len(body).to_bytes(4, "little") + body + program
    return len(rest).to_bytes(4, "little") + rest


def sequence(choose: random.Random, base: int, address: int) -> bytes:
    """Operations from an address to an end; addresses ascend, lines stay positive."""
    def extended(code: int, data: bytes = b"") -> bytes:
        return b"\0" + leb_u(1 + len(data)) + bytes((code,)) + data

    operations = {
        "special": lambda: bytes((choose.randrange(base, 256),)),
        "copy": lambda: b"\1",
        "advance_pc": lambda: b"\2" + leb_u(choose.choice((0, 1, 5, 300))),
        "advance_line": lambda: b"\3" + leb(choose.choice((1, 7, 200, 5000))),
        "set_file": lambda: b"\4" + leb_u(choose.choice((0, 1, 2, 200))),
        "set_column": lambda: b"\5" + leb_u(choose.choice((0, 1, 127, 128, 9000))),
        "negate_stmt": lambda: b"\6",
        "basic_block": lambda: b"\7",
        "const_add_pc": lambda: b"\x08",
        "fixed_advance_pc": lambda: b"\x09" + choose.choice((0, 3, 0x1234)).to_bytes(2, "little"),
        "set_address": lambda: b"",
        "discriminator": lambda: extended(4, leb_u(choose.choice((0, 1, 300)))),
        "vendor": lambda: extended(0x80, b"ab"),
    }
    if base > 10:
        operations |= {
            "prologue_end": lambda: b"\x0a", "epilogue_begin": lambda: b"\x0b",
            "set_isa": lambda: b"\x0c" + leb_u(choose.choice((0, 1, 100))),
        }
    if base > 13:
        operations |= {
            "two operands": lambda: b"\x0d\x81\1\5", "no operand": lambda: b"\x0e", "one operand": lambda: b"\x0f\x80\1"
        }
    data = extended(2, address.to_bytes(8, "little")) + b"\3" + leb(2000) + b"\1"
    for name in choose.choices(list(operations), k=choose.randrange(2, 25)):
        if name == "set_address":
            address += 1 << 24
            data += extended(2, address.to_bytes(8, "little"))
        else:
            data += operations[name]()
    return data + extended(1)


def llvms_rows(section: bytes, folder: Path) -> list[Row]:
    text = '.section .debug_line,"",@progbits\n' + "".join(f".byte {byte}\n" for byte in section)
    made = folder / "lines.o"
    command = ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", "-filetype=obj", "-o", str(made)]
    subprocess.run(command, input=text, text=True, check=True)
    shown = subprocess.run(
        ["llvm-dwarfdump-22", "--debug-line", str(made)], check=True, capture_output=True, text=True
    ).stdout
    return [
        (int(address, 16), *map(int, numbers), frozenset(flags.split()))  # type: ignore[misc]
        for address, *numbers, flags in LLVM_ROW.findall(shown)
    ]


def our_rows(section: bytes) -> Iterator[Row]:
    at = 0
    sections = Sections({".debug_line": section})
    while at < len(section):
        header = read_line_header(sections, at, 8, "/src")
        for found in run(section, header.program, header):
            for row in found.rows:
                flags = frozenset(text for flag, text in FLAGS.items() if row.flags & flag)
                yield row.address, row.line, row.column, row.file, row.isa, row.discriminator, flags
            yield found.end, 0, 0, 0, 0, 0, frozenset({"end_sequence"})
        at = header.end


@pytest.mark.llvm
def test_every_operation_as_llvm_runs_it(tmp_path: Path) -> None:
    choose = random.Random(6)
    section = b"".join(table(choose) for _ in range(PROGRAMS))
    wanted = [
        (row[0], 0, 0, 0, 0, 0, frozenset({"end_sequence"})) if "end_sequence" in row[6] else row
        for row in llvms_rows(section, tmp_path)
    ]
    assert len(wanted) > 800
    assert list(our_rows(section)) == wanted


def header_of(tables: bytes, version: int = 4) -> bytes:
    """A table without a program, whose header ends after its tables of directories and files."""
    rest = bytes((1, 1, 1, 0xFB, 14, 1)) + tables
    inner = version.to_bytes(2, "little") + len(rest).to_bytes(4, "little") + rest
    return len(inner).to_bytes(4, "little") + inner


HEAD = len(header_of(b""))
# (bytes, how many of them count as read, what is wrong). 100 bytes of another table follow.
DAMAGED_HEADERS = [
    (header_of(b"\0\0"), HEAD + 2, None),
    (header_of(b"dir\0\0a.c\0\1\0\0\0"), HEAD + 13, None),
    (header_of(b"dir\0\0a.c\0\1\0"), HEAD + 11, "truncated"),
    (header_of(b"dir\0\0" + b"a" * 50), HEAD + 55, "truncated"),
    (header_of(b"", version=7), 6, "version 7"),
    (b"\xff\0\0\0" + header_of(b"\0\0")[4:], 4, "beyond the section's end"),
]


@pytest.mark.parametrize(("data", "read", "problem"), DAMAGED_HEADERS)
def test_bytes_read_of_damaged_headers(data: bytes, read: int, problem: str | None) -> None:
    """The bytes of damaged tables count as read, too, because tables may overlap."""
    counted: list[int] = []
    sections = Sections({".debug_line": data + bytes(100)})
    if problem is None:
        read_line_header(sections, 0, 8, "/src", counted.append)
    else:
        with pytest.raises(DebugInfoError, match=problem):
            read_line_header(sections, 0, 8, "/src", counted.append)
    assert counted == [read]
