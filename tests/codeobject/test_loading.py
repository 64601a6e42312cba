"""Loading: segments, symbols, relocations, LDS."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocdbg.codeobject import CodeObject, CodeObjectError, LoadedImage, UnresolvedSymbolError

RELA, REL = 4, 9
REL16 = 14
ALLOC_WRITE = 3
OBJECT, FUNC = 0x11, 0x12


def relocatable(
    elf_builder: Any, kind: int, addend: int = 0, symbol: int = 2, offset: int = 8, in_field: bytes = b""
) -> CodeObject:
    """An unlinked object: .data of 32 bytes 0xEE relocated once; symbol 1 in .text, 2 in .data, 3 undefined,
    4 undefined and weak, 5 absolute, 6 in LDS, 7 common. ``in_field``: the addend in the place itself."""
    builder = elf_builder(type=1)
    text = builder.section(".text", bytes(64), flags=6)
    content = b"\xee" * offset + in_field if in_field else b""
    data = builder.section(".data", content.ljust(32, b"\xee"), flags=ALLOC_WRITE)
    table = builder.symbols(
        ("f", 16, 8, FUNC, text),
        ("d", 4, 4, OBJECT, data),
        ("elsewhere", 0, 0, 0x10, 0),
        ("maybe", 0, 0, 0x20, 0),
        ("constant", 0x1234567890, 0, 0x10, 0xFFF1),
        ("shared", 16, 40, OBJECT, 0xFF00),
        ("spare", 8, 24, OBJECT, 0xFFF2),
        ("shared2", 4, 4, OBJECT, 0xFF00),
    )
    records = struct.pack("<QQq", offset, symbol << 32 | kind, addend)
    if in_field:
        builder.section(".rel.data", records[:16], kind=REL, flags=0, link=table, info=data, entry_size=16)
    else:
        builder.section(".rela.data", records, kind=RELA, flags=0, link=table, info=data, entry_size=24)
    return CodeObject(builder.build(), name="x.o")


# .text at 0, .data at 0x1000, the common symbol at 0x2000, the GOT after it; the relocated place is 0x1008.
BASE = 0x7_0000_0000


@pytest.mark.parametrize(
    ("name", "kind", "symbol", "addend", "expected", "size"),
    [
        ("ABS32_LO", 1, 2, 0x10, (BASE + 0x1014) & 0xFFFFFFFF, 4),
        ("ABS32_HI", 2, 2, 0x10, (BASE + 0x1014) >> 32, 4),
        ("ABS64", 3, 2, -4, BASE + 0x1000, 8),
        ("ABS64 absolute", 3, 5, 0, 0x1234567890, 8),
        ("ABS64 weak", 3, 4, 0, 0, 8),
        ("ABS64 common", 3, 7, 0, BASE + 0x2000, 8),
        ("ABS32 LDS", 6, 6, 0, 0, 4),
        ("ABS32 second LDS", 6, 8, 0, 40, 4),
        ("REL32", 4, 1, 0, (0x10 - 0x1008) & 0xFFFFFFFF, 4),
        ("REL64", 5, 1, 0, (0x10 - 0x1008) & 0xFFFFFFFFFFFFFFFF, 8),
        ("GOTPCREL", 7, 2, 4, 0x2018 + 4 - 0x1008, 4),
        ("GOTPCREL32_LO", 8, 2, 4, 0x2018 + 4 - 0x1008, 4),
        ("GOTPCREL32_HI", 9, 2, 4, 0, 4),
        ("REL32_LO", 10, 1, 0, (0x10 - 0x1008) & 0xFFFFFFFF, 4),
        ("REL32_HI", 11, 1, 0, 0xFFFFFFFF, 4),
        ("RELATIVE64", 13, 0, 0x40, BASE + 0x40, 8),
        ("REL16", 14, 1, 4, ((0x10 - 0x1008) // 4) & 0xFFFF, 2),
        ("REL16 behind", 14, 1, 12, ((0x10 - 0x1008) // 4 + 2) & 0xFFFF, 2),
        ("REL16 before", 14, 1, -8, ((0x10 - 0x1008) // 4 - 3) & 0xFFFF, 2),
        ("REL32 before", 4, 1, -8, (0x10 - 0x1008 - 8) & 0xFFFFFFFF, 4),
    ],
)
def test_relocation(
    name: str, kind: int, symbol: int, addend: int, expected: int, size: int, elf_builder: Any
) -> None:
    code_object = relocatable(elf_builder, kind, addend, symbol)
    image = code_object.load(BASE)
    data = read(image, BASE + 0x1000, 32)
    assert data == b"\xee" * 8 + expected.to_bytes(size, "little") + b"\xee" * (24 - size)
    held = (addend - 4) // 4 if kind == REL16 else addend  # a branch counts dwords from the instruction after it
    in_field = held.to_bytes(size, "little", signed=True)
    image = relocatable(elf_builder, kind, 0, symbol, in_field=in_field).load(BASE)
    assert read(image, BASE + 0x1000, 32) == data
    if "GOT" in name:
        assert int.from_bytes(read(image, BASE + 0x2018, 8), "little") == BASE + 0x1004


def test_layout_of_an_unlinked_object(elf_builder: Any) -> None:
    image = relocatable(elf_builder, 0).load(0x10000)
    assert [(s.name, s.address, len(s.data), s.writable, s.executable) for s in image.segments] == [
        (".text", 0x10000, 64, False, True),
        (".data", 0x11000, 32, True, False),
        ("common", 0x12000, 24, True, False),
    ]
    assert image.address_of("f") == 0x10010
    assert image.address_of("constant") == 0x1234567890
    assert {name: (v.offset, v.size) for name, v in image.lds.items()} == {
        "shared": (0, 40),
        "shared2": (40, 4),
    }
    assert image.lds_size == 44


def test_resolver_and_undefined_symbols(elf_builder: Any) -> None:
    code_object = relocatable(elf_builder, 3, 8, 3)
    image = code_object.load(0, lambda name: 0x5000 if name == "elsewhere" else None)
    assert read(image, 0x1008, 8) == (0x5008).to_bytes(8, "little")
    with pytest.raises(UnresolvedSymbolError) as caught:
        code_object.load(0)
    assert str(caught.value) == "x.o: undefined symbol elsewhere"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": 12}, "x.o: section .rela.data: relocation 0 has the unknown type 12"),
        ({"kind": 3, "symbol": 99}, "x.o: .symtab: there is no symbol 99: the table has 9"),
        (
            {"kind": 3, "offset": 0x4000},
            "x.o: relocations: a relocation at 0x5000 lies outside the loaded segments",
        ),
        (
            {"kind": 3, "offset": 30},
            "x.o: relocations: a relocation at 0x101e lies outside the loaded segments",
        ),
        (
            {"kind": 14, "symbol": 2, "addend": 1 << 20},
            "x.o: relocations: the distance 1048572 from 0x1008 cannot be expressed by R_AMDGPU_REL16",
        ),
    ],
)
def test_bad_relocation(arguments: dict[str, int], message: str, elf_builder: Any) -> None:
    code_object = relocatable(elf_builder, **arguments)
    with pytest.raises(CodeObjectError) as caught:
        code_object.load(0)
    assert str(caught.value) == message


def test_base_must_be_aligned(elf_builder: Any) -> None:
    with pytest.raises(CodeObjectError) as caught:
        relocatable(elf_builder, 0).load(0x10010)
    assert str(caught.value) == "x.o: cannot be loaded at 0x10010: the address must be a multiple of 0x1000"


@pytest.mark.llvm
def test_linked_object(compiled: Callable[..., Path]) -> None:
    """counter = 7, indirect = &counter, table = {1, 2, 3, 4}, zeros in .bss: see kernels.hip."""
    code_object = CodeObject(compiled("kernels.hip", "gfx90a", 5).read_bytes())
    base = 0x7FFF_0000_0000
    image = code_object.load(base)
    assert image.size == code_object.memory_size
    counter = image.address_of("counter")
    assert read(image, counter, 4) == (7).to_bytes(4, "little")
    assert read(image, image.address_of("indirect"), 8) == counter.to_bytes(8, "little")
    assert read(image, image.address_of("table"), 16) == struct.pack("<4f", 1, 2, 3, 4)
    assert read(image, image.address_of("zeros"), 256) == bytes(256)
    kernel = code_object.kernels["first"]
    code = read(image, base + kernel.entry_address, kernel.code_size or 0)
    assert code == code_object.read(kernel.entry_address, 272)[: len(code)]
    modes = {(s.writable, s.executable) for s in image.segments}
    assert modes == {(False, False), (False, True), (True, False)}
    assert image.address_of("first") == base + kernel.entry_address


@pytest.mark.llvm
def test_unlinked_compiler_output(assemble: Callable[..., Path]) -> None:
    """A pointer fetched through the GOT, as clang does for a variable of another unit."""
    text = """
    .text
    f: s_getpc_b64 s[0:1]
    s_add_u32 s0, s0, other@gotpcrel32@lo+4
    s_addc_u32 s1, s1, other@gotpcrel32@hi+12
    .globl other
    """
    code_object = CodeObject(assemble(text, "gfx90a").read_bytes())
    image = code_object.load(0x1000, {"other": 0xABCD_0000_1234}.get)
    low, high = struct.unpack("<8xI4xI", read(image, 0x1000, 20))
    slot = 0x1004 + (low | high << 32)
    assert int.from_bytes(read(image, slot, 8), "little") == 0xABCD_0000_1234


def read(image: LoadedImage, address: int, size: int) -> bytes:
    """Bytes of an image, which must be in one segment."""
    for segment in image.segments:
        start = address - segment.address
        if start >= 0 and start + size <= len(segment.data):
            return bytes(segment.data[start : start + size])
    raise AssertionError(f"{address:#x} is in no segment")
