"""Code objects: sections, symbols, kernels; which parts are lazy, and which parts remain after stripping."""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rocdbg
from rocdbg.codeobject import (
    ChoiceError,
    CodeObject,
    CodeObjectError,
    NoSuchKernelError,
    SymbolType,
    open_file,
    open_modules,
)
from rocdbg.codeobject import code_object as code_object_module
from rocdbg.codeobject.bounded_reader import Source
from rocdbg.codeobject.dynamic_hash import DT_GNU_HASH, dynamic_symbol_count
from rocdbg.codeobject.elf import Elf
from rocdbg.launch.errors import LaunchError

SECOND = "_Z6secondIdEvPT_1S"
KERNELS_AND_DATA = """
.globl one
.globl two
.globl three
.globl missing
.protected one
.type one,@object
.type two,@object
.data
one: .quad missing
two: .quad one
three: .quad 0
"""
EXPORTS_NOTHING = ".globl missing\n.data\n.quad missing\n"


@pytest.fixture
def hip(compiled: Callable[..., Path]) -> Path:
    return compiled("kernels.hip", "gfx90a", 5)


@pytest.mark.llvm
def test_kernels(hip: Path) -> None:
    code_object = open_file(hip)
    assert list(code_object.kernels) == ["first", SECOND]
    assert code_object.kernels["first"] is code_object.kernels["first.kd"]
    assert "helper" not in code_object.kernels
    kernel = code_object.kernels[SECOND]
    assert kernel.metadata is not None and kernel.metadata.name == SECOND
    assert kernel.entry_address == code_object.symbols.get(SECOND).value  # type: ignore[union-attr]
    assert kernel.entry_address % 256 == 0
    assert kernel.kernarg_size == kernel.metadata.kernarg_segment_size == kernel.descriptor.kernarg_size
    with pytest.raises(NoSuchKernelError) as caught:
        code_object.kernels["frist"]
    assert str(caught.value) == f'there is no kernel "frist" in {hip} (did you mean first?)'


@pytest.mark.llvm
def test_descriptor_and_metadata_tell_the_same(compiled: Callable[..., Path]) -> None:
    for processor in ("gfx803", "gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"):
        for kernel in open_file(compiled("kernels.hip", processor, 5)).kernels.values():
            metadata, found = kernel.metadata, kernel.descriptor
            assert metadata is not None
            assert metadata.wavefront_size == found.wave_size
            assert metadata.group_segment_fixed_size == found.group_segment_fixed_size
            assert metadata.private_segment_fixed_size == found.private_segment_fixed_size
            assert metadata.kernarg_segment_size == found.kernarg_size
            assert metadata.vgpr_count <= found.vgpr_count < metadata.vgpr_count + 16
            assert metadata.sgpr_count <= found.sgpr_count


@pytest.mark.llvm
def test_symbols_as_readelf_lists_them(hip: Path) -> None:
    command = ["llvm-readelf-22", "--symbols", "--wide", str(hip)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in text.split("'.symtab'")[1].splitlines()[2:] if line.strip()]
    kinds = {"NOTYPE": 0, "OBJECT": 1, "FUNC": 2}
    bindings = {"LOCAL": 0, "GLOBAL": 1, "WEAK": 2}
    places = {"UND": 0, "ABS": 0xFFF1}
    expected = [
        (r[7] if len(r) > 7 else "", int(r[1], 16), int(r[2], 0), kinds[r[3]], bindings[r[4]],
         places.get(r[6]) if r[6] in places else int(r[6]))
        for r in rows
    ]
    found = open_file(hip).symbols
    assert [(s.name, s.value, s.size, s.type, s.binding, s.section_index) for s in found] == expected
    assert len(expected) > 20


@pytest.mark.llvm
def test_symbol_at_an_address(hip: Path) -> None:
    symbols = open_file(hip).symbols
    first = symbols.get("first")
    assert first is not None and first.type == SymbolType.FUNC
    for offset, name in ((0, "first"), (first.size - 1, "first")):
        found = symbols.at(first.value + offset)
        assert found is not None and found.name == name
    assert symbols.at(first.value + first.size) is None
    assert symbols.at(0) is None
    table = symbols.get("table")
    assert table is not None
    assert symbols.at(table.value + 15) == table


def test_symbol_at_takes_those_with_a_size_before_labels(elf_builder: Any) -> None:
    builder = elf_builder()
    text = builder.section(".text", bytes(256), flags=6)
    start = builder.offset_of(text)
    builder.symbols(
        ("label", start, 0, 0x00, text),
        ("function", start, 16, 0x12, text),
        ("object", start, 16, 0x11, text),
        ("inner", start + 8, 0, 0x00, text),
        ("constant", start + 4, 0, 0x00, 0xFFF1),
    )
    symbols = CodeObject(builder.build()).symbols
    named = {offset: symbols.at(start + offset) for offset in (0, 4, 8, 12, 16)}
    assert {offset: s and s.name for offset, s in named.items()} == {
        0: "object", 4: "object", 8: "object", 12: "object", 16: "inner",
    }


# What GDB 13 calls each address of a section of 24 bytes: symbols as (name, offset, size, global).
_NAMED_AS_GDB_DOES = [
    ("one without a size reaches to the next", [("a", 0, 0, 1), ("b", 8, 0, 0)], "a a a a b b b b b b b b"),
    ("of two the last by name", [("b", 0, 0, 0), ("a", 0, 0, 0)], "b b b b b b b b b b b b"),
    ("global ones first", [("a", 0, 0, 0), ("g", 0, 0, 1), ("z", 0, 0, 0)], "g g g g g g g g g g g g"),
    ("of two global ones the last by name", [("h", 0, 0, 1), ("g", 0, 0, 1)], "h h h h h h h h h h h h"),
    ("a symbol with a size first", [("s", 0, 4, 0), ("t", 0, 0, 1)], "s s t t t t t t t t t t"),
    ("labels in a size", [("k", 0, 12, 1), ("l", 4, 0, 0)], "k k k k k k l l l l l l"),
    ("sizes in a size", [("o", 0, 12, 1), ("i", 4, 4, 0)], "o o i i o o - - - - - -"),
    ("a size behind one without", [("m", 0, 0, 1), ("f", 8, 4, 1)], "m m m m f f - - - - - -"),
    ("the larger of two at one place", [("l", 0, 8, 1), ("m", 0, 4, 1)], "m m l l - - - - - - - -"),
    ("a gap behind a size", [("f", 4, 4, 1), ("x", 16, 0, 0)], "- - f f - - - - x x x x"),
    ("temporary labels have no name", [("k", 0, 0, 1), (".Lx", 8, 0, 0)], "k k k k k k k k k k k k"),
]


@pytest.mark.parametrize(("symbols", "expected"), [row[1:] for row in _NAMED_AS_GDB_DOES],
                         ids=[row[0] for row in _NAMED_AS_GDB_DOES])
def test_every_address_is_named_as_gdb_does(
    symbols: list[tuple[str, int, int, int]], expected: str, elf_builder: Any
) -> None:
    builder = elf_builder()
    text = builder.section(".text", bytes(24), flags=6)
    start = builder.offset_of(text)
    builder.symbols(*((name, start + offset, size, binding << 4, text) for name, offset, size, binding in symbols))
    table = CodeObject(builder.build()).symbols
    found = [table.at(start + offset) for offset in range(0, 24, 2)]
    assert " ".join(symbol.name if symbol is not None else "-" for symbol in found) == expected
    assert table.at(start + 24) is None, "the section ends there"


@pytest.mark.llvm
def test_without_section_headers_or_symtab(hip: Path, tmp_path: Path) -> None:
    """A loader needs neither; kernels, metadata and variables must still be found."""
    for option in ("--strip-all", "--strip-sections"):
        path = tmp_path / "stripped.co"
        subprocess.run(["llvm-objcopy-22", option, str(hip), str(path)], check=True)
        code_object = open_file(path)
        assert list(code_object.kernels) == ["first", SECOND]
        kernel = code_object.kernels["first"]
        assert kernel.metadata is not None and kernel.metadata.group_segment_fixed_size == 256
        assert kernel.descriptor == open_file(hip).kernels["first"].descriptor
        image = code_object.load(0x4000)
        whole = open_file(hip).load(0x4000)
        counter = image.address_of("counter")
        assert counter == whole.address_of("counter")
        assert [bytes(s.data) for s in image.segments][1:] == [bytes(s.data) for s in whole.segments][1:]


@pytest.mark.llvm
@pytest.mark.parametrize("style", ["gnu", "sysv", "both"])
@pytest.mark.parametrize("assembly", [KERNELS_AND_DATA, EXPORTS_NOTHING])
def test_either_hash_table_counts_the_symbols(style: str, assembly: str, tmp_path: Path) -> None:
    """In an object without section headers: undefined symbols come first, and DT_GNU_HASH does not contain them."""
    source, unlinked, linked = (tmp_path / f"hashed{suffix}" for suffix in (".s", ".o", ".co"))
    source.write_text(assembly)
    options = ["-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-c"]
    subprocess.run(["clang-22", *options, str(source), "-o", str(unlinked)], check=True)
    subprocess.run(["ld.lld-22", "-shared", f"--hash-style={style}", str(unlinked), "-o", str(linked)], check=True)
    whole = CodeObject(linked.read_bytes()).dynamic_symbols.names()
    subprocess.run(["llvm-objcopy-22", "--strip-sections", str(linked)], check=True)
    assert CodeObject(linked.read_bytes()).dynamic_symbols.names() == whole
    assert set(whole) == {"", *re.findall(r"\.globl (\w+)", assembly)}


def test_a_hash_table_without_an_end(elf_builder: Any) -> None:
    """One bucket whose chain, from symbol 1 on, is zeros to the end of the file; then a table with more buckets."""
    for buckets, complaint in ((1, "the last chain of the hash table does not end"), (1 << 30, "no 4294967296 bytes of "
    "the file")):
        builder = elf_builder()
        table = builder.section(".gnu.hash", struct.pack("<6I", buckets, 1, 0, 0, 1, 0) + bytes(40))
        at = builder.offset_of(table)
        elf = Elf(Source("bad", builder.build()[: at + 64]))
        with pytest.raises(CodeObjectError, match=complaint):
            dynamic_symbol_count(elf, {DT_GNU_HASH: at})


@pytest.mark.llvm
def test_sections_and_pyelftools_see_the_same(hip: Path) -> None:
    code_object = open_file(hip)
    assert [s.name for s in code_object.elf.iter_sections()] == [
        s.name for s in code_object.container.section_list
    ]
    for name in (".text", ".debug_info", ".note"):
        assert code_object.sections[name].data == code_object.elf.get_section_by_name(name).data()
    assert code_object.sections[".bss"].data == b""


@pytest.mark.llvm
def test_opening_reads_no_tables(hip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening must not cost more for an object of thousands of kernels."""

    def unexpected(*_: object) -> None:
        raise AssertionError("read too early")

    monkeypatch.setattr(code_object_module, "read_metadata", unexpected)
    monkeypatch.setattr(code_object_module, "SymbolTable", unexpected)
    monkeypatch.setattr(code_object_module, "lay_out", unexpected)
    assert str(open_file(hip).target_id) == "gfx90a"


def test_v2_kernel(elf_builder: Any) -> None:
    builder = elf_builder(abi_version=0, flags=0x12C)
    text = builder.section(".text", (256).to_bytes(24, "little").rjust(40, b"\0").ljust(512, b"\0"), flags=6)
    start = builder.offset_of(text)
    builder.symbols(("scale", start, 300, 0x1A, text), ("other", start, 8, 0x12, text))
    code_object = CodeObject(builder.build())
    assert list(code_object.kernels) == ["scale"]
    kernel = code_object.kernels["scale"]
    assert kernel.metadata is None
    assert kernel.descriptor.wave_size == 64
    assert (kernel.descriptor_address, kernel.entry_address) == (start, start + 256)


HOST = """
#define __global__ __attribute__((global))
struct dim3 { unsigned x, y, z; };
typedef struct stream *hipStream_t;
typedef int hipError_t;
extern "C" hipError_t hipLaunchKernel(const void *, dim3, dim3, void **, unsigned long, hipStream_t);
extern "C" hipError_t __hipPopCallConfiguration(dim3 *, dim3 *, unsigned long *, hipStream_t *);
__global__ void KERNEL(int *p) { *p = 1; }
"""


@pytest.mark.llvm
def test_host_library_made_by_clang(tmp_path: Path) -> None:
    """The library has two translation units, each compiled for two processors."""
    objects = []
    for name in ("one", "two"):
        source = tmp_path / f"{name}.hip"
        source.write_text(HOST.replace("KERNEL", name))
        objects.append(str(source.with_suffix(".o")))
        options = "-x hip -nogpuinc -nogpulib --offload-arch=gfx90a --offload-arch=gfx1100 -fPIC -c"
        subprocess.run(["clang-22", *options.split(), str(source), "-o", objects[-1]], check=True)
    library = tmp_path / "host.so"
    subprocess.run(["ld.lld-22", "-shared", *objects, "-o", str(library)], check=True)
    units = open_modules(library, "gfx1100")
    assert [list(unit.kernels) for unit in units] == [["_Z3onePi"], ["_Z3twoPi"]]
    assert [str(unit.target) for unit in units] == ["gfx1100", "gfx1100"]
    with pytest.raises(ChoiceError):
        open_modules(library)
    program = rocdbg.load(library, arch="gfx90a")
    assert list(program.kernels) == ["one", "two"]
    for name in ("one", "_Z3twoPi"):
        out = np.zeros(1, np.int32)
        program.kernels[name].launch(grid=1, workgroup=1, args=[out]).run()
        assert out[0] == 1
    with pytest.raises(LaunchError, match=r"no such kernel in .*host.so; the kernels are one, two"):
        program.kernels["three"]


