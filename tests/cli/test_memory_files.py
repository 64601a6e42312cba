"""`dump`, `append` and `restore`: files of every format, written and read back, and files with misleading contents."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rocdbg.cli.repl import run_statement
from rocdbg.cli.shell import Shell
from rocdbg.debugger.reports.hex_record_files import Chunk, RecordFormatError, read_records, to_ihex, to_srec

MakeShell = Callable[..., tuple[Shell, io.StringIO]]

# what GDB 13 writes for int arr[8] = {1, 2, 3, 1, 2, 3, 0x01020304, 9} at 0x404020, and for (int) 5
BYTES = b"".join(n.to_bytes(4, "little") for n in (1, 2, 3, 1, 2, 3, 0x01020304, 9))
IHEX = b""":020000040040BA\r
:104020000100000002000000030000000100000089\r
:1040300002000000030000000403020109000000""" + b"68\r\n:00000001FF\r\n"
SREC = b"""S0090000612E73726563BA\r
S2144040200100000002000000030000000100000044\r
S2144040300200000003000000040302010900000023\r
S804000000FB\r
"""


def test_records_are_those_of_gdb() -> None:
    assert to_ihex(Chunk(0x404020, BYTES), "a.hex") == IHEX
    assert to_srec(Chunk(0x404020, BYTES), "a.srec") == SREC
    assert to_ihex(Chunk(0, b"\5\0\0\0"), "v") == b":0400000005000000F7\r\n:00000001FF\r\n"
    assert to_srec(Chunk(0, b"\5\0\0\0"), "v.srec") == (
        b"S0090000762E73726563A5\r\nS107000005000000F3\r\nS9030000FC\r\n"
    )


@pytest.mark.parametrize("write", [to_ihex, to_srec])
@pytest.mark.parametrize(
    ("address", "size"), [(0, 0), (0, 1), (0, 17), (0xFFF8, 40), (0x1FFFF, 70000), (0xFFFFFFF0, 16), (0x123456, 33)]
)
def test_records_come_back(write: Callable[[Chunk, str], bytes], address: int, size: int) -> None:
    chunk = Chunk(address, bytes(i * 7 & 0xFF for i in range(size)))
    assert read_records(write(chunk, "x"), "x") == ([chunk] if size else [])


@pytest.mark.parametrize("write", [to_ihex, to_srec])
def test_an_address_of_64_bits_has_no_record(write: Callable[[Chunk, str], bytes]) -> None:
    with pytest.raises(RecordFormatError, match=r"x: 64-bit address 0x100000000 out of range"):
        write(Chunk(0xFFFFFFFF, b"ab"), "x")


@pytest.mark.parametrize(
    "text",
    [
        b"", b":", b":0", b"::", b":0400000005000000F8", b":0500000005000000F7", b":00000009F7", b"S",
        b"S1", b"S10700000500000000", b"Sx", b"S1\xff\xff", b"S30300FC", b"\x7fELF", b"S107000005000000F3\nhello",
        b":0400000005000000F7\nS107000005000000F3", b"%07", b"@00404020 01 00",
    ],
)
def test_other_files_are_refused(text: bytes) -> None:
    with pytest.raises(RecordFormatError, match="is not a recognized file format"):
        read_records(text, "f")


@pytest.fixture
def stopped(make_shell: MakeShell) -> tuple[Shell, io.StringIO]:
    shell, text = make_shell("spaces/spaces.toml")
    shell.run_line("tbreak 44")
    shell.run_line("run")
    text.truncate(0)
    text.seek(0)
    return shell, text


def says(stopped: tuple[Shell, io.StringIO], line: str) -> str:
    shell, text = stopped
    text.truncate(0)
    text.seek(0)
    run_statement(shell, line, lambda prompt: "end")
    return text.getvalue()


def test_values_of_every_format(stopped: tuple[Shell, io.StringIO], tmp_path: Path) -> None:
    for format_ in ("", "binary", "ihex", "srec", "verilog", "npy"):
        said = says(stopped, f"dump {format_} value {tmp_path}/{format_ or 'raw'} (int)5")
        warning = "warning: value is not an lval: address assumed to be zero\n"
        assert said == (warning if format_ in ("ihex", "srec", "verilog") else "")
    assert (tmp_path / "verilog").read_bytes() == b"@00000000\r\n05 00 00 00\r\n"  # as GDB writes it
    assert (tmp_path / "raw").read_bytes() == (tmp_path / "binary").read_bytes() == b"\5\0\0\0"
    array = np.load(tmp_path / "npy")
    assert array.dtype == np.int32
    assert array.shape == ()
    assert array == 5
    assert says(stopped, f"append value {tmp_path}/raw (short)7") == ""
    assert (tmp_path / "raw").read_bytes() == b"\5\0\0\0\7\0"


def test_memory_there_and_back(stopped: tuple[Shell, io.StringIO], tmp_path: Path) -> None:
    file = tmp_path / "weights.npy"
    assert says(stopped, f"dump npy value {file} nodes[0].weight") == ""
    assert np.load(file).tolist() == [0.5, 1.5, -2.25]
    np.save(file, np.array([4, 5, 6], np.float32))
    assert says(stopped, f"restore {file} nodes[0].weight").startswith(f"Restoring array {file} into memory (0x")
    assert says(stopped, "print nodes[0].weight") == "$1 = {4, 5, 6}\n"
    raw = tmp_path / "raw"
    assert says(stopped, f"dump memory {raw} &nodes[0] &nodes[2]") == ""
    before = raw.read_bytes()
    says(stopped, "set var nodes[1].key = 99")
    assert says(stopped, "print nodes[1].key") == "$2 = 99\n"
    size = len(before) // 2
    # of the file the second half alone
    assert says(stopped, f"restore {raw} binary nodes {size} {2 * size}").startswith(f"Restoring binary file {raw}")
    says(stopped, f"dump memory {raw} &nodes[0] &nodes[2]")
    assert raw.read_bytes() == before


def test_each_lane_has_its_own_private_memory(stopped: tuple[Shell, io.StringIO], tmp_path: Path) -> None:
    file = tmp_path / "f"
    says(stopped, "set var hops = 11")
    says(stopped, f"dump binary memory {file} &hops &hops+1")
    assert file.read_bytes() == b"\x0b\0\0\0"
    says(stopped, "lane 3")
    says(stopped, "set var hops = 22")
    said = says(stopped, f"restore {file} binary &hops")
    assert said.startswith(f"Restoring binary file {file} into memory (")
    assert says(stopped, "print hops") == "$1 = 11\n"


def test_srec_and_ihex_of_local_memory(stopped: tuple[Shell, io.StringIO], tmp_path: Path) -> None:
    for format_ in ("srec", "ihex"):
        file = tmp_path / format_
        assert says(stopped, f"dump {format_} memory {file} local#0x10 local#0x34") == ""
        assert says(stopped, f"dump binary memory {file}.raw local#0x10 local#0x34") == ""
        [chunk] = read_records(file.read_bytes(), "f")
        assert chunk == Chunk(0x10, (tmp_path / f"{format_}.raw").read_bytes())
        said = says(stopped, f"restore {file} local#0 0x14 0x18")
        assert said == "Restoring section .sec1 (0x10 to 0x34) into memory (0x14 to 0x18)\n"
        assert says(stopped, f"restore {file} local#0 0x34 0x38") == "skipping section .sec1...\n"


def test_hostile_arrays(stopped: tuple[Shell, io.StringIO], tmp_path: Path) -> None:
    file = tmp_path / "a.npy"

    def header(text: str) -> bytes:
        return b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text.encode()

    for shape in ("(9999999999999,)", "(1099511627776, 1099511627776)"):
        file.write_bytes(header(f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}\n") + bytes(8))
        assert "ends before its array does (8 of " in says(stopped, f"restore {file} nodes")
    file.write_bytes(header("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}\n") + bytes(8))
    assert "contains Python objects" in says(stopped, f"restore {file} nodes")
    for text in (b"\x93NUMPY", b"\x93NUMPY\1\0", header("(" * 5000), header("{}"), b"\x93NUMPY\x09\0\0\0"):
        file.write_bytes(text)
        assert "is not a NumPy array file that can be read" in says(stopped, f"restore {file} nodes")
    file.write_bytes(header("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}\n") + bytes(8))
    assert "restoring" not in says(stopped, f"restore {file} nodes").lower()


def test_fortran_order_becomes_that_of_c(stopped: tuple[Shell, io.StringIO], tmp_path: Path) -> None:
    file = tmp_path / "a.npy"
    np.save(file, np.asfortranarray(np.arange(3, dtype=np.float32).reshape(1, 3) + np.zeros((1, 1), np.float32)))
    says(stopped, f"restore {file} nodes[0].weight")
    assert says(stopped, "print nodes[0].weight") == "$1 = {0, 1, 2}\n"


def test_a_failed_dump_leaves_the_file(stopped: tuple[Shell, io.StringIO], tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"kept")
    assert says(stopped, f"dump memory {file} 0 16") == "Cannot access memory at address 0x0\n"
    assert says(stopped, f"dump ihex memory {file} nodes nodes+1").startswith(f"{file}: 64-bit address 0x7f")
    assert says(stopped, f"dump memory {file} nodes nodes+99999999").startswith("Invalid memory address range (more")
    assert file.read_bytes() == b"kept"
    assert says(stopped, f"dump value {tmp_path}/no/such 1") == f"{tmp_path}/no/such: No such file or directory.\n"
    assert says(stopped, f"dump value {tmp_path} 1") == f"{tmp_path}: Is a directory.\n"
    assert says(stopped, f"dump tekhex value {file} 1").startswith("Files in tekhex format cannot be written")


def test_find_in_any_space_and_over_chunks(stopped: tuple[Shell, io.StringIO]) -> None:
    assert says(stopped, "find local#0, +16, 0x12345678") == "Pattern not found.\n"
    says(stopped, "set var {int}local#0x20 = 0x12345678")
    assert says(stopped, "find local#0, +64, 0x12345678") == "local#0x20\n1 pattern found.\n"
    assert says(stopped, "print *(int *)$_ == 0x12345678") == "$1 = true\n"
