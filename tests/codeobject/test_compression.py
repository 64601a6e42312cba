"""Compressed debug sections: output of compilers and objcopy, and data that only looks like it."""

from __future__ import annotations

import struct
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from rocdbg.codeobject import CodeObject, CodeObjectError, open_file
from rocdbg.codeobject.compression import Budget
from rocdbg.dwarf.info import DebugInfo
from rocdbg.launch.debug_sections import DebugSections, has_debug_info

TEXT = b"debug information " * 100
COMPRESSED = 0x800


def zlib_section(data: bytes, size: int | None = None) -> bytes:
    return struct.pack("<IIQQ", 1, 0, len(data) if size is None else size, 1) + zlib.compress(data)


def zstd_section(data: bytes) -> bytes:
    return struct.pack("<IIQQ", 2, 0, len(data), 1) + zstandard.ZstdCompressor().compress(data)


def gnu_section(data: bytes) -> bytes:
    return b"ZLIB" + len(data).to_bytes(8, "big") + zlib.compress(data)


@pytest.mark.parametrize(
    ("name", "flags", "data"),
    [
        (".debug_info", 0, TEXT),
        (".debug_info", COMPRESSED, zlib_section(TEXT)),
        (".debug_info", COMPRESSED, zstd_section(TEXT)),
        (".debug_info", COMPRESSED, zlib_section(b"")),
        (".zdebug_info", 0, gnu_section(TEXT)),
    ],
    ids=["plain", "zlib", "zstd", "empty", "zdebug"],
)
def test_section_is_known_by_its_usual_name(name: str, flags: int, data: bytes, elf_builder: Any) -> None:
    builder = elf_builder()
    builder.section(name, data, flags=flags)
    code_object = CodeObject(builder.build())
    sections = DebugSections(code_object)
    assert list(sections) == [".debug_info"]
    assert sections[".debug_info"] in (TEXT, b"")
    assert has_debug_info(code_object)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (zlib_section(TEXT, 5), "more than 5 bytes, but the header states 5"),
        (zlib_section(TEXT, 9999), "unpacks to 1800 bytes, but the header states 9999"),
        (zlib_section(TEXT)[:-10], "unpacks to .* bytes, but the header states 1800"),
        (zlib_section(TEXT, 1 << 50), "the limit is"),
        (zlib_section(TEXT, 1 << 25), "cannot unpack to the 33554432"),
        (struct.pack("<IIQQ", 3, 0, 5, 1) + b"12345", "unknown compression type 3"),
        (b"short", "fewer than the 24 of the header"),
    ],
    ids=["longer", "shorter", "cut", "2**50", "ratio", "method", "no header"],
)
def test_what_is_not_as_it_says(data: bytes, reason: str, elf_builder: Any) -> None:
    builder = elf_builder()
    builder.section(".debug_info", data, flags=COMPRESSED)
    sections = DebugSections(CodeObject(builder.build()))
    for _ in range(2):  # the second time it is known
        with pytest.raises(CodeObjectError, match=reason) as caught:
            sections[".debug_info"]
        assert caught.value.section == "section .debug_info"


def test_sections_share_a_budget(elf_builder: Any) -> None:
    builder = elf_builder()
    builder.section(".debug_info", zlib_section(TEXT), flags=COMPRESSED)
    section = CodeObject(builder.build()).sections[".debug_info"]
    budget = Budget(len(TEXT) + 10)
    assert section.uncompressed(budget) == TEXT
    with pytest.raises(CodeObjectError, match="the limit is 10"):
        section.uncompressed(budget)


@pytest.mark.llvm
@pytest.mark.parametrize("method", ["zlib", "zstd"])
def test_what_objcopy_compresses(method: str, compiled: Callable[..., Path], tmp_path: Path) -> None:
    plain = compiled("kernels.hip", "gfx90a", 5)
    packed = tmp_path / "packed.co"
    subprocess.run(["llvm-objcopy-22", f"--compress-debug-sections={method}", plain, packed], check=True)
    wanted, found = (DebugSections(open_file(path)) for path in (plain, packed))
    assert dict(found) == dict(wanted)
    names = [[f.display_name for f in DebugInfo(sections).functions_matching()] for sections in (wanted, found)]
    assert names[0] and names[0] == names[1]
    assert any(section.flags & COMPRESSED for section in open_file(packed).sections.values())
