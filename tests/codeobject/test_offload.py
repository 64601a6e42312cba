"""Offload bundles and their containers; the choice among entries."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocdbg.codeobject import ChoiceError, CodeObjectError, list_entries, open_file, open_modules
from rocdbg.codeobject.bounded_reader import Source
from rocdbg.codeobject.compression import Budget
from rocdbg.codeobject.offload_bundles import read_bundle

ID = "hipv4-amdgcn-amd-amdhsa--"
HOST = ("host-x86_64-unknown-linux--", b"")
FLAGS = {
    "gfx90a": 0x53F,
    "gfx90a:xnack+": 0x73F,
    "gfx90a:xnack-": 0x63F,
    "gfx1100": 0x41,
    "gfx11-generic": 0x01000054,
    "gfx1030": 0x36,
}


@pytest.fixture
def entries(elf_builder: Any) -> Callable[..., list[tuple[str, bytes]]]:
    """Bundle entries with a tiny code object for each target id."""

    def make(*ids: str) -> list[tuple[str, bytes]]:
        return [HOST, *((ID + i, elf_builder(flags=FLAGS[i]).build()) for i in ids)]

    return make


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("method", [0, 1])
def test_compressed(
    version: int, method: int, entries: Any, make_bundle: Any, make_ccob: Any, tmp_path: Path
) -> None:
    """Two bundles in one file with padding between: each must be found, whole."""
    path = tmp_path / "two.hipfb"
    first = make_ccob(make_bundle(*entries("gfx90a", "gfx1030")), version, method)
    second = make_ccob(make_bundle(*entries("gfx1100")), version, method)
    path.write_bytes(first.ljust(4096, b"\0") + second)
    assert [(e.id, e.uri.offset, e.uri.size) for e in list_entries(path) if e.size] == [
        (ID + "gfx90a", 0, len(first)),
        (ID + "gfx1030", 0, len(first)),
        (ID + "gfx1100", 4096, len(second)),
    ]
    found = open_file(path, "gfx1100")
    assert str(found.target_id) == "gfx1100"
    assert str(found.uri) == f"file://{path}#offset=4096&size={len(second)}"
    assert open_file(str(found.uri)).source.data == found.source.data


@pytest.mark.parametrize("method", [0, 1])
def test_bomb(method: int, make_ccob: Any) -> None:
    data = make_ccob(bytes(32 << 20), 3, method)
    assert len(data) < 1 << 16
    with pytest.raises(CodeObjectError, match="the data unpacks to 33554432 bytes; the limit is 1048576"):
        read_bundle(Source("bomb", data), 0, Budget(1 << 20))
    lying = bytearray(data)
    struct.pack_into("<Q", lying, 16, 1000)
    with pytest.raises(CodeObjectError, match="the data unpacks to more than 1000 bytes, but the header states 1000"):
        read_bundle(Source("bomb", bytes(lying)), 0, Budget(1 << 20))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((4, b"\x09\0"), "compressed bundle at offset 0x4: unknown version 9; expected 1 to 3"),
        ((6, b"\x07\0"), "compressed bundle at offset 0x6: unknown compression method 7; expected 0 (zlib) or 1 "
        "(zstd)"),
        ((8, b"\xff\xff"), "compressed bundle at offset 0x0: its size is stated as 65535 bytes, which do not fit into "
        "the file of "),
        ((36, b"\0\0\0\0"), "compressed bundle at offset 0x20: the compressed data is damaged: "),
    ],
)
def test_damaged_ccob(
    change: tuple[int, bytes], message: str, entries: Any, make_bundle: Any, make_ccob: Any
) -> None:
    data = bytearray(make_ccob(make_bundle(*entries("gfx90a")), 3, 0))
    offset, replacement = change
    data[offset : offset + len(replacement)] = replacement
    with pytest.raises(CodeObjectError) as caught:
        read_bundle(Source("x", bytes(data)), 0)
    assert str(caught.value).startswith(f"x: {message}")


@pytest.mark.parametrize(
    ("held", "request_id", "chosen"),
    [
        (["gfx90a"], None, "gfx90a"),
        (["gfx90a", "gfx1100"], "gfx1100", "gfx1100"),
        (["gfx90a:xnack+", "gfx90a:xnack-"], "gfx90a:xnack-", "gfx90a:xnack-"),
        (["gfx90a:xnack+", "gfx90a:xnack-"], "gfx90a:sramecc+:xnack-", "gfx90a:xnack-"),
        (["gfx90a:xnack+"], "gfx90a", "gfx90a:xnack+"),
        (["gfx90a"], "gfx90a:xnack-", "gfx90a"),
        (["gfx11-generic"], "gfx1101", "gfx11-generic"),
        (["gfx11-generic", "gfx1100"], "gfx1100", "gfx1100"),
    ],
)
def test_choice(
    held: list[str], request_id: str | None, chosen: str, entries: Any, make_bundle: Any, tmp_path: Path
) -> None:
    path = tmp_path / "b.hipfb"
    path.write_bytes(make_bundle(*entries(*held), align=256))
    found = open_file(path, request_id)
    assert str(found.target_id) == chosen
    assert found.uri is not None
    again = open_file(str(found.uri))
    assert again.source.data == found.source.data
    assert again.uri == found.uri


def test_no_or_several_fitting_entries(entries: Any, make_bundle: Any, tmp_path: Path) -> None:
    path = tmp_path / "b.hipfb"
    path.write_bytes(make_bundle(*entries("gfx90a:xnack+", "gfx90a:xnack-")))
    listed = [str(entry) for entry in list_entries(path)]
    assert listed[1].startswith(f"{ID}gfx90a:xnack+ (file://{path}#offset=")
    with pytest.raises(
        ChoiceError, match=r"the file contains several code objects; choose one by its target id or URI; found "
    ) as c:
        open_file(path)
    assert c.value.available == listed[1:]
    with pytest.raises(ChoiceError, match=r"several code objects can run on gfx90a; choose one by its URI") as c:
        open_file(path, "gfx90a")
    assert c.value.available == listed[1:]
    with pytest.raises(ChoiceError, match=r"no code object can run on gfx1100; found host-x86_64") as c:
        open_file(path, "gfx1100")
    assert c.value.available == listed


def test_plain_code_object_of_another_target(elf_builder: Any, tmp_path: Path) -> None:
    path = tmp_path / "k.co"
    path.write_bytes(elf_builder(flags=FLAGS["gfx1030"]).build())
    assert open_file(path).uri == open_file(path, "gfx1030").uri
    with pytest.raises(ChoiceError) as caught:
        open_file(path, "gfx1100")
    assert str(caught.value) == f"{path}: no code object can run on gfx1100; found gfx1030 (file://{path})"


def test_host_library(
    entries: Any, make_bundle: Any, make_ccob: Any, elf_builder: Any, tmp_path: Path
) -> None:
    """The section .hip_fatbin has a page-aligned bundle for each of three translation units; two are compressed."""
    fatbin = make_bundle(*entries("gfx90a", "gfx1100"), align=4096)
    for method in (0, 1):
        fatbin = fatbin.ljust(-(-len(fatbin) // 4096) * 4096, b"\0")
        fatbin += make_ccob(make_bundle(*entries("gfx90a", "gfx1100")), 2 + method, method)
    host = elf_builder(machine=62, os_abi=0, abi_version=0)
    host.section(".text", bytes(100))
    host.section(".hip_fatbin", fatbin, align=4096)
    path = tmp_path / "lib.so"
    path.write_bytes(host.build())
    assert [e.id.removeprefix(ID) for e in list_entries(path) if e.size] == ["gfx90a", "gfx1100"] * 3
    units = open_modules(path, "gfx1100")
    assert [str(unit.target_id) for unit in units] == ["gfx1100"] * 3
    assert len({str(unit.uri) for unit in units}) == 3


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (b"hello", "the file is neither an ELF file, nor an offload bundle, nor an archive of these"),
        (b"\x7fELF", "ELF header at offset 0x0: 6 bytes are needed, but the file ends at 0x4"),
        (b"__CLANG_OFFLOAD_BUNDLE__", "bundle at offset 0x18: 8 bytes are needed, but the file ends at 0x18"),
        (
            b"__CLANG_OFFLOAD_BUNDLE__" + b"\xff" * 8,
            f"bundle at offset 0x0: {2**64 - 1} entries do not fit into the file",
        ),
        (b"CCOB\x02\0", "compressed bundle at offset 0x0: 8 bytes are needed, but the file ends at 0x6"),
    ],
)
def test_not_a_container(content: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(content)
    with pytest.raises(CodeObjectError) as caught:
        open_file(path)
    assert str(caught.value) == f"{path}: {reason}"


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    for path, reason in (
        (tmp_path, "is not a regular file"),
        (Path("/dev/zero"), "is not a regular file"),
        (tmp_path / "none", "cannot be read: No such file or directory"),
    ):
        with pytest.raises(CodeObjectError) as caught:
            open_file(path)
        assert str(caught.value) == f"{path}: {reason}"


@pytest.mark.llvm
@pytest.mark.parametrize("options", [[], ["-compress"], ["-bundle-align=4096"]])
def test_bundler(options: list[str], compiled: Callable[..., Path], tmp_path: Path) -> None:
    """The output of clang-offload-bundler is recovered byte for byte, also from a host library."""
    ids = ["gfx90a", "gfx1100"]
    inputs = [compiled("kernels.hip", i, 5) for i in ids]
    path = tmp_path / "b.hipfb"
    command = ["clang-offload-bundler-22", "-type=o", "-input=/dev/null", f"-output={path}", *options]
    command += ["-targets=" + ",".join(["host-x86_64-unknown-linux--", *(ID + i for i in ids)])]
    subprocess.run([*command, *(f"-input={file}" for file in inputs)], check=True)
    source = tmp_path / "host.s"
    source.write_text(f'.section .hip_fatbin,"a",@progbits\n.p2align 12\n.incbin "{path}"\n')
    object_file, library = tmp_path / "host.o", tmp_path / "host.so"
    assembler = [
        "llvm-mc-22",
        "-triple",
        "x86_64-linux-gnu",
        "-filetype=obj",
        str(source),
        "-o",
        str(object_file),
    ]
    subprocess.run(assembler, check=True)
    subprocess.run(["ld.lld-22", "-shared", str(object_file), "-o", str(library)], check=True)
    for container in (path, object_file, library):
        for target_id, original in zip(ids, inputs, strict=True):
            assert open_file(container, target_id).source.data == original.read_bytes()
