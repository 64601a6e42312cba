"""A table of hostile files: each gives a result or an error of one line, and the session continues.

A row is a name, the function that makes the file, and part of the required error (empty: no error is required).
"""

# ruff: noqa: E501  (tables)
from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Callable

import msgpack
import pytest
import zstandard
from file_attacks import bundles, elf_files, metadata_notes
from file_attacks.dwarf_files import (
    BIT_SIZE,
    BYTE_SIZE,
    CONST_VALUE,
    COUNT,
    DATA_BIT_OFFSET,
    ENCODING,
    HIGH,
    HIGH_PC,
    LANGUAGE,
    LOCATION,
    LOW,
    LOW_PC,
    MEMBER_LOCATION,
    NAME,
    SPECIFICATION,
    STMT_LIST,
    TYPE,
    UPPER_BOUND,
    Die,
    Writer,
    block,
    sdata,
    text,
    udata,
)
from file_attacks.kinds import RUNNING, START, STATIC, Attack

from .conftest import Run

Row = tuple[str, Callable[[], bytes], str]
BASE = elf_files.BASE.read_bytes()
COMMANDS = (*STATIC, "ptype T", "ptype/o T", "whatis T", "print sizeof(T)", "print *(T *)0x1a00", "print v", "ptype v", "print &v", "info types .")


def check(run: Run, attack: Attack, expected: str) -> None:
    outcome = run(attack)
    assert outcome.ending == ""
    if expected:
        assert any(expected in error for error in outcome.errors), outcome.errors[:20]
    assert all(error.isprintable() for error in outcome.errors)
    assert all(len(error) < 4000 for error in outcome.errors)


# ELF: headers, sections, symbols, notes


def patched(*changes: tuple[int, str, int]) -> Callable[[], bytes]:
    """The base object with numbers written into it."""

    def make() -> bytes:
        data = bytearray(BASE)
        for at, form, value in changes:
            struct.pack_into(form, data, at, value)
        return bytes(data)

    return make


def with_section(name: str, data: bytes, **fields: int) -> Callable[[], bytes]:
    def make() -> bytes:
        elf = elf_files.Elf.read()
        elf.put(name.encode(), data, **fields)
        return elf.build()

    return make


def symbols(names: bytes, rows: list[tuple[int, int, int, int, int]]) -> Callable[[], bytes]:
    """A symbol table of (name, info, section, value, size)."""

    def make() -> bytes:
        elf = elf_files.Elf.read()
        for section in elf.sections:
            if section.name == b".symtab":
                packed = (elf_files.SYMBOL.pack(n, info, 0, index, value, size) for n, info, index, value, size in rows)
                section.data, section.offset, section.size = bytes(24) + b"".join(packed), None, None
            if section.name == b".strtab":
                section.data, section.offset, section.size = names, None, None
        return elf.build()

    return make


def many_sections() -> bytes:
    """65,000 section headers that all name the whole file."""
    data = bytearray(BASE)
    row = struct.pack("<IIQQQQIIQQ", 0, 7, 0, 0, 0, len(BASE), 0, 0, 1, 0)
    data[40:48] = len(data).to_bytes(8, "little")
    data[60:64] = struct.pack("<HH", 65_000, 1)
    return bytes(data) + bytes(64) + row * 64_999


def unlinked(rows: bytes) -> Callable[[], bytes]:
    def make() -> bytes:
        elf = elf_files.Elf.read()
        elf.body[16:18] = b"\1\0"
        elf.put(b".rela.text", rows, kind=elf_files.SHT_RELA, info=7, link=21)
        return elf.build()

    return make


SHOFF = int.from_bytes(BASE[40:48], "little")
ELF: list[Row] = [
    ("a section table beyond the file", patched((40, "<Q", 1 << 62)), "section headers"),
    ("65,000 sections of the whole file", many_sections, "too many overlap"),
    ("no section of that number for the names", patched((62, "<H", 0xFFFE)), "section headers"),
    ("segments of 2**63 bytes", patched((64 + 40, "<Q", 1 << 63), (64 + 32, "<Q", 1 << 63)), ""),
    ("60,000 segments", patched((56, "<H", 60_000)), "do not fit"),
    ("an image of 2**40 bytes", patched((64 + 56 * 3 + 40, "<Q", 1 << 40)), ""),
    ("an unknown machine flag", patched((48, "<I", 0xFFFFFFFF)), "ELF header"),
    ("a symbol table that is its own string table", patched((SHOFF + 64 * 21 + 40, "<I", 21)), ""),
    ("a hash table that says 2**32 symbols", patched((0x8E0 + 4, "<I", 0xFFFFFFFF)), ""),
    ("names in latin-1", symbols(b"\0caf\xe9\0\xff\xfe.kd\0", [(1, 0x12, 7, 0x1A00, 64), (6, 0x11, 6, 0x940, 64)]), ""),
    ("20,000 symbols in one name", symbols(b"\0" + b"N" * 60_000 + b"\0", [(i + 1, 0x12, 7, 0x1A00, 4) for i in range(20_000)]), "overlap"),
    ("20,000 labels at one address", symbols(b"\0n\0", [(1, 0, 7, 0x1A00 + i % 4, 0) for i in range(20_000)]), ""),
    ("a name without an end", symbols(b"\0" + b"N" * 1000, [(1, 0x12, 7, 0x1A00, 4)]), "string table"),
    ("escapes in a name", symbols(b"\0\x1b[2J\x1b]0;x\x07\0", [(1, 0x12, 7, 0x1A00, 64)]), ""),
    ("LDS of 2**63 bytes", symbols(b"\0lds\0", [(1, 0x11, 0xFF00, 16, 1 << 63)]), ""),
    ("a kernel name of 100 KB", symbols(b"\0" + b"k" * 100_000 + b".kd\0", [(1, 0x11, 6, 0x940, 64)]), ""),
    ("a mangled name of 100 back references", symbols(b"\0_Z" + b"S_" * 100 + b"\0", [(1, 0x12, 7, 0x1A00, 64)]), ""),
    ("relocations of no symbol", unlinked(struct.pack("<QQq", 0, 0xFFFFFFFF << 32 | 3, 0) * 1000), "no symbol"),
    ("relocations outside", unlinked(struct.pack("<QQq", (1 << 64) - 1, 3, -1)), "outside"),
    ("an unknown relocation", unlinked(struct.pack("<QQq", 0, 99, 0)), "unknown type 99"),
    ("a note of 4 GiB", with_section(".note", struct.pack("<III", 4, 0xFFFFFFFF, 32) + b"AMD\0", offset=None, kind=7), ""),
]


@pytest.mark.parametrize(("make", "expected"), [row[1:] for row in ELF], ids=[row[0] for row in ELF])
def test_elf(make: Callable[[], bytes], expected: str, run: Run) -> None:
    check(run, Attack({"file.co": make()}, "file.co", None, COMMANDS), expected)


# Metadata


def packed(value: object, copies: int = 1) -> Callable[[], bytes]:
    return lambda: elf_files.with_note(msgpack.packb({"amdhsa.version": [1, 2], "amdhsa.kernels": [value] * copies}))


def raw(data: bytes) -> Callable[[], bytes]:
    return lambda: elf_files.with_note(data)


def yaml(body: str) -> Callable[[], bytes]:
    return lambda: elf_files.with_note(body.encode("latin-1"), v2=True)


KERNEL = {".name": "saxpy", ".symbol": "saxpy.kd", ".kernarg_segment_size": 32}
LAUGHS = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 60))
METADATA: list[Row] = [
    ("200,000 brackets of YAML", yaml("[" * 200_000), "is nested more than"),
    ("200,000 braces of YAML", yaml("{a: " * 200_000), "is nested more than"),
    ("100,000 dashes of YAML", yaml("- " * 100_000), "is nested more than"),
    ("aliases of aliases", yaml(LAUGHS), "an alias"),
    ("an alias of itself", yaml("Kernels: &a [*a]\n"), "an alias"),
    ("YAML tags of Python", yaml("!!python/object/apply:os.system ['true']"), "not a map"),
    ("5 MB of YAML", yaml("Kernels: [" + "a, " * 1_700_000 + "]"), "the limit is"),
    ("YAML in latin-1", yaml("Version: [1, 0]\nKernels:\n  - Name: caf\xe9\n    SymbolName: caf\xe9@kd\n"), ""),
    ("a YAML key that is a list", yaml("[a, b]: 1\n"), "a key is not text"),
    ("numbers of 9,000 digits", yaml("Version: [" + "9" * 9000 + ", 0]\nKernels: []\n"), "not a number"),
    ("two YAML documents", yaml("a: 1\n---\nb: 2\n"), "more than one document"),
    ("1,000 arrays of 65,535 in each other", raw(b"\xdc\xff\xff" * 1000 + bytes(65_000)), "MsgPack"),
    ("an array of 2**32 values", raw(b"\x81\xaeamdhsa.kernels\xdd\xff\xff\xff\xff"), "MsgPack"),
    ("100,000 arrays in each other", raw(b"\x91" * 100_000), "MsgPack"),
    ("4 million empty maps", raw(b"\xdd" + (4_000_000).to_bytes(4, "big") + b"\x80" * 4_000_000), "maps and arrays"),
    ("a key that is a map", raw(b"\x81\x81\xa1a\1\1"), "MsgPack"),
    ("kernels that are numbers", packed(5), "not a map"),
    ("20,000 kernels of one name", packed(KERNEL, 20_000), ""),
    ("arguments of 2**63 bytes", packed({**KERNEL, ".args": [{".size": 1 << 63, ".offset": 1 << 63, ".value_kind": "by_value"}] * 4}), ""),
    ("a kernarg segment of 2**63 bytes", packed({**KERNEL, ".kernarg_segment_size": 1 << 63}), ""),
    ("an alignment of 2**63", packed({**KERNEL, ".args": [{".size": 8, ".pointee_align": 1 << 63, ".value_kind": "dynamic_shared_pointer"}] * 4}), ""),
    ("negative sizes", packed({**KERNEL, ".group_segment_fixed_size": -1}), "out of range"),
    ("a workgroup of 30 numbers", packed({**KERNEL, ".reqd_workgroup_size": list(range(30))}), "3 are expected"),
    ("names that are no UTF-8", packed({**KERNEL, ".name": b"x"}), "not text"),
]


@pytest.mark.parametrize(("make", "expected"), [row[1:] for row in METADATA], ids=[row[0] for row in METADATA])
def test_metadata(make: Callable[[], bytes], expected: str, run: Run) -> None:
    check(run, Attack({"file.co": make()}, "file.co", None, ("info kernels", "kernel saxpy", *START, "kill")), expected)


# Bundles and compressed sections

ID = b"hipv4-amdgcn-amd-amdhsa--gfx90a"


def bundle(*rows: tuple[int, int, bytes], count: int | None = None, body: bytes = b"") -> bytes:
    table = b"".join(struct.pack("<QQQ", offset, size, len(name)) + name for offset, size, name in rows)
    return bundles.MAGIC + struct.pack("<Q", len(rows) if count is None else count) + table + body


def ccob(data: bytes, version: int, method: int, size: int | None = None) -> bytes:
    stream = zlib.compress(data, 9) if method == 0 else zstandard.ZstdCompressor(level=9).compress(data)
    size = len(data) if size is None else size
    head = struct.pack("<4sHH", b"CCOB", version, method)
    if version == 1:
        return head + struct.pack("<IQ", size, 0) + stream
    return head + struct.pack("<QQQ", 32 + len(stream), size, 0) + stream


def chdr(method: int, size: int, stream: bytes) -> bytes:
    return struct.pack("<IIQQ", method, 0, size, 1) + stream


def debug_info(data: bytes, name: str = ".debug_info", flags: int = elf_files.SHF_COMPRESSED) -> Callable[[], bytes]:
    def make() -> bytes:
        elf = elf_files.Elf.read()
        elf.drop_debug()
        elf.put(name.encode(), data, flags=flags)
        return elf.build()

    return make


BOMB = zstandard.ZstdCompressor().compress(bytes(1 << 28))
LARGE = bundle(body=bytes(1 << 26))
BUNDLES: list[Row] = [
    ("2**60 entries", lambda: bundle(count=1 << 60), "do not fit"),
    ("20,000 entries of the same bytes", lambda: bundle(*[(32, 500_000, ID)] * 20_000, body=bytes(100_000)), "overlaps"),
    ("an id of 2**60 bytes", lambda: bundles.MAGIC + struct.pack("<QQQQ", 1, 0, 0, 1 << 60), "the id of"),
    ("an entry past the end", lambda: bundle((1 << 62, 1 << 62, ID)), "runs past the end"),
    ("an id in latin-1", lambda: bundle((0, 0, b"\xff\xe9")), ""),
    ("10,000 compressed bundles of version 1", lambda: ccob(bundle(), 1, 0) * 10_000, ""),
    ("60,000 empty bundles", lambda: bundle() * 60_000, ""),
    ("8 bundles of 64 MiB", lambda: ccob(LARGE, 3, 0) * 8, "no code object can run on"),
    ("8 bundles of 64 MiB, of version 1", lambda: ccob(LARGE, 1, 0) * 8, "the limit is"),
    ("256 MiB in 8 KB", lambda: ccob(bundle(body=bytes(1 << 28)), 3, 1), "cannot unpack"),
    ("a stream that gives more than it says", lambda: ccob(bundle(body=bytes(1 << 24)), 3, 1, 64), "more than"),
    ("a stream of 2**60 bytes", lambda: ccob(bundle(), 3, 1, 1 << 60), "the limit is"),
    ("a bundle in a bundle", lambda: bundle((32 + 24 + len(ID), 32, ID), body=bundle()), "not an ELF file"),
    ("a compressed bundle in a compressed bundle", lambda: ccob(ccob(bundle(), 3, 1), 3, 1), "not an offload bundle"),
    ("zstd where zlib is said", lambda: struct.pack("<4sHHQQQ", b"CCOB", 3, 0, 100, 64, 0) + BOMB[:68], "damaged"),
    ("a compressed section of 256 MiB in 10 KB", debug_info(chdr(2, 1 << 28, BOMB)), "cannot unpack"),
    ("a compressed section that says 2**60", debug_info(chdr(1, 1 << 60, zlib.compress(b"abc"))), "the limit is"),
    ("a compressed section without a header", debug_info(b"abc"), "fewer than the 24 of the header"),
    ("an unknown compression", debug_info(chdr(77, 3, b"abc")), "unknown compression type 77"),
    ("a .zdebug section that is not", debug_info(b"NOTZ" + bytes(20), ".zdebug_info", 0), "does not begin with ZLIB"),
]


@pytest.mark.parametrize(("make", "expected"), [row[1:] for row in BUNDLES], ids=[row[0] for row in BUNDLES])
def test_bundles(make: Callable[[], bytes], expected: str, run: Run) -> None:
    check(run, Attack({"file": make()}, "file", "gfx90a", ("info functions", "info files")), expected)


# Types


def unit(*dies: Die) -> bytes:
    """The base object with these types, and a variable ``v`` of the first in its kernel."""
    top = Die(0x11).add(NAME, *text(b"saxpy.hip")).add(LANGUAGE, *udata(0x21)).add(STMT_LIST, 0x17, bytes(4))
    top.children += dies
    function = Die(0x2E).add(NAME, *text(b"saxpy")).add(LOW_PC, 0x01, LOW.to_bytes(8, "little")).add(HIGH_PC, *udata(HIGH - LOW))
    variable = Die(0x34).add(NAME, *text(b"v")).add(TYPE, 0x13, dies[0])
    function.children.append(variable.add(LOCATION, *block(b"\x03" + LOW.to_bytes(8, "little"))))
    top.children.append(function)
    info, table = Writer().write(top)
    elf = elf_files.Elf.read()
    kept = {name: section.data for name in (b".debug_line", b".debug_line_str") if (section := elf.get(name))}
    elf.drop_debug()
    for name, data in {**kept, b".debug_info": info, b".debug_abbrev": table}.items():
        elf.put(name, data)
    return elf.build()


def struct_(name: bytes, *members: tuple[int, Die], size: int = 8) -> Die:
    """A class; a member is (tag, type)."""
    die = Die(0x13).add(NAME, *text(name)).add(BYTE_SIZE, *udata(size))
    for tag, type_ in members:
        die.children.append(Die(tag).add(NAME, *text(b"m")).add(TYPE, 0x13, type_).add(MEMBER_LOCATION, *udata(0)))
    return die


def base(size: int = 4, encoding: int = 5, name: bytes = b"T") -> Die:
    return Die(0x24).add(NAME, *text(name)).add(BYTE_SIZE, *udata(size)).add(ENCODING, *udata(encoding))


def array(element: Die, *counts: int) -> Die:
    die = Die(0x01).add(TYPE, 0x13, element)
    die.children += [Die(0x21).add(COUNT, *udata(count)) for count in counts]
    return die


def itself(tag: int) -> bytes:
    die = struct_(b"T")
    die.children.append(Die(tag).add(NAME, *text(b"m")).add(TYPE, 0x13, die).add(MEMBER_LOCATION, *udata(0)))
    return unit(die)


def by_array() -> bytes:
    die = struct_(b"T")
    elements = array(die, 2)
    die.children.append(Die(0x0D).add(NAME, *text(b"m")).add(TYPE, 0x13, elements).add(MEMBER_LOCATION, *udata(0)))
    return unit(die, elements)


def two() -> bytes:
    one, other = struct_(b"T"), struct_(b"U")
    for holder, held in ((one, other), (other, one)):
        holder.children.append(Die(0x0D).add(NAME, *text(b"m")).add(TYPE, 0x13, held).add(MEMBER_LOCATION, *udata(0)))
    return unit(one, other)


def circle(tag: int) -> bytes:
    one, other = Die(tag).add(NAME, *text(b"T")), Die(tag).add(NAME, *text(b"U"))
    one.add(TYPE, 0x13, other)
    other.add(TYPE, 0x13, one)
    return unit(one, other)


def tower(tag: int, count: int, last: Callable[[], Die] = base, twice: bool = False) -> bytes:
    """Types on each other, the innermost first in the file."""
    dies = [last()]
    for number in range(count):
        if tag == 0x13:
            die = struct_(b"T%d" % number, *[(0x0D, dies[-1])] * (2 if twice else 1))
        else:
            die = Die(tag).add(NAME, *text(b"T%d" % number)).add(TYPE, 0x13, dies[-1])
            if tag == 0x15:
                die.children += [Die(0x05).add(TYPE, 0x13, dies[-1]) for _ in range(2)]
        dies.append(die)
    return unit(*reversed(dies)) if count % 2 else unit(dies[-1], *dies[:-1])


def member(**fields: tuple[int, tuple[int, bytes]]) -> bytes:
    inner = base(4, 5, b"int")
    die = Die(0x13).add(NAME, *text(b"T")).add(BYTE_SIZE, *udata(8))
    part = Die(0x0D).add(NAME, *text(b"m")).add(TYPE, 0x13, inner)
    for code, value in fields.values():
        part.add(code, *value)
    die.children.append(part)
    return unit(die, inner)


def named(name: bytes) -> bytes:
    return unit(struct_(name, (0x0D, inner := base(4, 5, name))), inner)


def deep_blocks() -> bytes:
    inner = block_ = Die(0x0B).add(LOW_PC, 0x01, LOW.to_bytes(8, "little")).add(HIGH_PC, *udata(HIGH - LOW))
    for _ in range(3000):
        inner = Die(0x0B, [*inner.attributes], [inner])
    del block_
    top = base()
    function = Die(0x2E).add(NAME, *text(b"f")).add(LOW_PC, 0x01, LOW.to_bytes(8, "little")).add(HIGH_PC, *udata(HIGH - LOW))
    function.children.append(inner)
    return unit(top, function)


def deep_namespaces() -> bytes:
    inner = base()
    first = inner
    for _ in range(3000):
        inner = Die(0x39, [], [inner]).add(NAME, *text(b"n"))
    return unit(struct_(b"S", (0x0D, first)), inner)


def endless() -> bytes:
    one = Die(0x2E).add(SPECIFICATION, 0x13, base())
    other = Die(0x2E).add(SPECIFICATION, 0x13, one)
    one.attributes[0] = (SPECIFICATION, 0x13, other)
    return unit(base(), one, other)


TYPES: list[Row] = [
    ("a class that contains itself", lambda: itself(0x0D), "contains itself"),
    ("a class that is its own base", lambda: itself(0x1C), "contains itself"),
    ("a class of an array of itself", by_array, "contains itself"),
    ("two classes in each other", two, "contains itself"),
    ("typedefs of each other", lambda: circle(0x16), "in terms of itself"),
    ("pointers to each other", lambda: circle(0x0F), "in terms of itself"),
    ("3,000 pointers", lambda: tower(0x0F, 3000), "types are nested more than"),
    ("3,001 typedefs", lambda: tower(0x16, 3001), "types are nested more than"),
    ("3,000 classes in each other", lambda: tower(0x13, 3000), "in each other"),
    ("2**60 members", lambda: tower(0x13, 60, twice=True), "members"),
    ("a function type of 2**60 parameters", lambda: tower(0x15, 60), "a type has more than"),
    ("an array of 3,000 dimensions", lambda: unit(array(inner := base(), *[2] * 3000), inner), "3000 dimensions"),
    ("an array of 2**60 elements", lambda: unit(array(inner := base(), 1 << 60), inner), "max-value-size"),
    ("2**60 elements of no size", lambda: unit(array(inner := base(0), 1 << 60), inner), ""),
    ("an array of 2**60 times 2**60", lambda: unit(array(inner := base(), 1 << 60, 1 << 60), inner), "max-value-size"),
    ("a count of 2**200", lambda: unit(array(inner := base(), 1 << 200), inner), "a bound of"),
    ("a bound of -2**63", lambda: unit(Die(0x01, [(TYPE, 0x13, inner := base())], [Die(0x21).add(UPPER_BOUND, *sdata(-1 << 63))]), inner), ""),
    ("a number of 2**40 bytes", lambda: unit(base(1 << 40)), "a size of"),
    ("a number of no bytes", lambda: unit(base(0)), ""),
    ("a float of 3 bytes", lambda: unit(base(3, 4)), ""),
    ("a complex number of 3 bytes", lambda: unit(base(3, 3)), ""),
    ("a number of an unknown kind", lambda: unit(base(4, 0xFE)), ""),
    ("a class of 2**63 bytes", lambda: unit(struct_(b"T", (0x0D, inner := base()), size=1 << 63), inner), "a size of"),
    ("a class of 2**40 bytes", lambda: unit(struct_(b"T", (0x0D, inner := base()), size=1 << 40), inner), "max-value-size"),
    ("a bit field of 2**60 bits", lambda: member(b=(BIT_SIZE, udata(1 << 60))), "a size of"),
    ("a bit field of no bits", lambda: member(b=(BIT_SIZE, udata(0))), ""),
    ("a bit field of -5 bits", lambda: member(b=(BIT_SIZE, sdata(-5))), "a size of"),
    ("a bit field 2**60 bits away", lambda: member(b=(BIT_SIZE, udata(3)), c=(DATA_BIT_OFFSET, udata(1 << 60))), "offset of"),
    ("a member at -8", lambda: member(b=(MEMBER_LOCATION, sdata(-8))), "offset of"),
    ("a member at 2**63", lambda: member(b=(MEMBER_LOCATION, udata(1 << 63))), "offset of"),
    ("a member at an expression that does not end", lambda: member(b=(MEMBER_LOCATION, block(b"\x2f\xfd\xff"))), ""),
    ("a variable of 2**100 that is a byte", lambda: unit(inner := base(1), Die(0x34).add(NAME, *text(b"v")).add(TYPE, 0x13, inner).add(CONST_VALUE, *udata(1 << 100))), ""),
    ("names in latin-1", lambda: named(b"caf\xe9\xff"), ""),
    ("names of 100,000 brackets", lambda: named(b"T<" * 100_000), ""),
    ("names with escapes", lambda: named(b"\x1b[31m\r\n\x07"), ""),
    ("3,000 blocks in each other", deep_blocks, ""),
    ("3,000 namespaces in each other", deep_namespaces, "nested deeper"),
    ("a function that specifies another that specifies it", endless, ""),
]


@pytest.mark.parametrize(("make", "expected"), [row[1:] for row in TYPES], ids=[row[0] for row in TYPES])
def test_types(make: Callable[[], bytes], expected: str, run: Run) -> None:
    commands = (*COMMANDS, *START, "print v", "ptype v", "print &v", "x/4x &v", *RUNNING[:14], "kill")
    check(run, Attack({"file.co": make()}, "file.co", None, commands), expected)


# Launch files


def launch(*lines: str, head: str = 'file = "saxpy.co"\ngrid = 64', **files: bytes) -> dict[str, bytes]:
    toml = "[launch]\n" + head + "\n" + "\n".join(lines)
    return {"launch.toml": toml.encode("utf-8", "surrogateescape"), "saxpy.co": BASE, **{f"{k}.npy": v for k, v in files.items()}}


def argument(line: str, **files: bytes) -> dict[str, bytes]:
    """A valid launch except for one line of a buffer."""
    rest = ["[[arg]]", "value = 2.0", "[[arg]]", line, "[[arg]]", 'buffer = "f32[64]"', "[[arg]]", "value = 64"]
    return launch(*rest, **files)


def npy(header: str, data: bytes = bytes(256), size: int | None = None) -> bytes:
    raw = header.encode() + b"\n"
    return b"\x93NUMPY\1\0" + (len(raw) if size is None else size).to_bytes(2, "little") + raw + data


def from_file(header: str, data: bytes = bytes(256), size: int | None = None) -> dict[str, bytes]:
    return argument('buffer = "f32[64]"\ninit = "file:data.npy"', data=npy(header, data, size))


def head(line: str) -> dict[str, bytes]:
    return launch(head=line)


SOUND = "{'descr': '<f4', 'fortran_order': False, 'shape': (64,), }"
LAUNCHES: list[tuple[str, dict[str, bytes], str]] = [
    ("no file at all", launch(head="grid = 64"), "missing"),
    ("a file that is itself", head('file = "launch.toml"\ngrid = 64'), "neither an ELF file"),
    ("a directory", head('file = "."\ngrid = 64'), "not a regular file"),
    ("a pipe", head('file = "fifo"\ngrid = 64'), "not a regular file"),
    ("a device", head('file = "/dev/zero"\ngrid = 64'), "not a regular file"),
    ("a NUL in a path", head('file = "a\\u0000b"\ngrid = 64'), "NUL"),
    ("a path of 100,000 letters", head(f'file = "{"a" * 100_000}"\ngrid = 64'), "cannot be read"),
    ("an architecture that is a path", head('file = "{arch}.co"\narch = "../x"\ngrid = 64'), "is not the name of a target"),
    ("a number of 5,000 digits", head(f'file = "saxpy.co"\ngrid = {"9" * 5000}'), "TOML"),
    ("a hexadecimal number of 5,000 digits", head(f'file = "saxpy.co"\ngrid = 0x{"f" * 5000}'), "an integer of 20000 bits"),
    ("a grid of a date", head('file = "saxpy.co"\ngrid = 1979-05-27'), "not a whole number"),
    ("a grid that is not a number", head('file = "saxpy.co"\ngrid = nan'), "not a whole number"),
    ("a grid of tables", head('file = "saxpy.co"\ngrid = {a = 1, b = 2}'), "not a whole number"),
    ("a negative grid", head('file = "saxpy.co"\ngrid = -1'), "must be from 1"),
    ("dynamic LDS of 2**62 bytes", head('file = "saxpy.co"\ngrid = 1\ndynamic_lds = 4611686018427387904'), "out of range"),
    ("20,000 dots", {"launch.toml": b"a." * 20_000 + b"a = 1"}, "64 parts"),
    ("20,000 dots with blanks", {"launch.toml": b"a . " * 20_000 + b"a = 1"}, "64 parts"),
    ("50,000 brackets", {"launch.toml": b"x = " + b"[" * 50_000}, "nested too deeply"),
    ("3,000 tables in each other", {"launch.toml": b"x = " + b"{a = " * 3000 + b"1" + b"}" * 3000}, "nested too deeply"),
    ("latin-1", {"launch.toml": b"[launch]\nfile = 'caf\xe9'"}, "not UTF-8"),
    ("a byte order mark", {"launch.toml": b"\xef\xbb\xbf[launch]"}, "TOML"),
    ("3 MB", {"launch.toml": b"#" * 3_000_000}, "larger than"),
    ("2,000 arguments", launch("[[arg]]\nvalue = 1\n" * 2000), "the limit is 1024"),
    ("an argument that is a number", {"launch.toml": b"arg = 5\n[launch]\nfile = 'x'\ngrid = 1"}, "[[arg]]"),
    ("a buffer of 2**62 elements", argument('buffer = "f32[4611686018427387904]"'), "the limit of a buffer"),
    ("a buffer of 5,000 digits", argument(f'buffer = "f32[{"9" * 5000}]"'), "not a number of elements"),
    ("a buffer of no elements", argument('buffer = "f16[0]"'), ""),
    ("a buffer of -1 elements", argument('buffer = "f32[-1]"'), "ELEMENT[COUNT]"),
    ("1,000 buffers of 256 MiB", launch('[[arg]]\nbuffer = "u8[268435456]"\n' * 1000), "the limit is"),
    ("a buffer of numbers beyond floats", argument(f'buffer = "f32[2]"\ninit = [1.5, {"9" * 400}]'), "too large"),
    ("a buffer of tables", argument('buffer = "f32[1]"\ninit = [{a = 1}]'), "is not a number"),
    ("a list in text of 1,000 brackets", argument(f'buffer = "f32[1]"\ninit = "{"[" * 1000}"'), "is not a list"),
    ("a seed of 5,000 digits", argument(f'buffer = "f32[1]"\ninit = "random:{"9" * 5000}"'), "is not a number"),
    ("a negative seed", argument('buffer = "f32[1]"\ninit = "random:-1"'), "must be from 0"),
    ("contents from a pipe", argument('buffer = "f32[64]"\ninit = "file:fifo"'), "not a regular file"),
    ("contents from a device", argument('buffer = "f32[64]"\ninit = "file:/dev/zero"'), "not a regular file"),
    ("contents from nobody's home", argument('buffer = "f32[64]"\ninit = "file:~nobody-there/x"'), "home directory"),
    ("a value that is not a number", argument("value = nan"), ""),
    ("a value of 20,000 bits", argument(f'value = 0x{"f" * 5000}'), "does not fit"),
    ("a value beyond floats", argument(f'value = 0x{"f" * 256}\ntype = "f32"'), "too large"),
    ("a value of 2**40 bytes", argument('value = [1]\ntype = "bytes[1099511627776]"'), "the limit of a buffer"),
    ("a tolerance beyond floats", argument(f'buffer = "f32[1]"\nrtol = 0x{"f" * 400}'), "too large"),
    ("LDS of 2**62 bytes", argument("local = 4611686018427387904"), "out of range"),
    ("a .npy file of objects", from_file("{'descr': '|O', 'fortran_order': False, 'shape': (64,), }"), "Python objects"),
    ("a .npy file of records", from_file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (64,), }"), "plain numbers"),
    ("a .npy file that calls", from_file("__import__('os').abort()"), "plain numbers"),
    ("a .npy file of 4,000 minus signs", from_file("-" * 4000 + "1"), "plain numbers"),
    ("a .npy file of 2**62 numbers", from_file(SOUND.replace("64", "4611686018427387904")), "by its header"),
    ("a .npy file of 2**80 numbers", from_file(SOUND.replace("64,", "1099511627776, 1099511627776,")), "by its header"),
    ("a .npy file of -1 numbers", from_file(SOUND.replace("64", "-1")), "plain numbers"),
    ("a .npy file of 40 dimensions", from_file(SOUND.replace("64,", "1, " * 40), bytes(4)), "40 dimensions"),
    ("a .npy file cut off", from_file(SOUND, bytes(100)), "there are 100"),
    ("a .npy header of 65,535 bytes", from_file(SOUND, size=65_535), "its header would have 65535 bytes"),
    ("a .npy file of an odd type", from_file(SOUND.replace("<f4", "<f3")), "its type <f3"),
]


@pytest.mark.parametrize(("files", "expected"), [row[1:] for row in LAUNCHES], ids=[row[0] for row in LAUNCHES])
def test_launch_files(files: dict[str, bytes], expected: str, run: Run) -> None:
    commands = ("show launch", "set instruction-budget 20000", "print $x", "run", "info kernels")
    check(run, Attack(files, "launch.toml", None, commands), expected)


def test_a_sound_launch_file_runs(run: Run) -> None:
    """The rows above fail for their own reasons, not because of the file from which they are made."""
    files = argument('name = "x"\nbuffer = "f32[64]"\ninit = "file:data.npy"', data=npy(SOUND))
    outcome = run(Attack(files, "launch.toml", None, ("run",)))
    assert (outcome.ending, outcome.errors) == ("", ())
    assert "exited normally" in outcome.text


def test_sound_types_are_shown(run: Run) -> None:
    inner = base(4, 5, b"int")
    data = unit(struct_(b"T", (0x0D, inner)), inner)
    outcome = run(Attack({"file.co": data}, "file.co", None, ("ptype T",)))
    assert outcome.errors == () and "int m;" in outcome.text


@pytest.mark.parametrize("first", [0, 100_000])
def test_some_numbered_files(first: int) -> None:
    """A short run of `make fuzz-files`."""
    import fuzz_files

    assert fuzz_files.fuzz(first, 1, 91, 60) == 0


@pytest.mark.parametrize("number", [10877095, 11127578, 10994108])
def test_numbers_that_once_failed(number: int) -> None:
    """The inputs have a value on entry outside of frames, a frame base without operations, and a backslash in a template
    parameter.
    """
    import fuzz_files

    assert fuzz_files.fuzz(number, 1, 1, 60) == 0


def test_a_number_stands_for_the_same_file_always() -> None:
    from file_attacks.kinds import NAMES, attack_of

    for number in range(len(NAMES)):
        assert attack_of(number) == attack_of(number)
    assert metadata_notes.tree(random.Random(1)) == metadata_notes.tree(random.Random(1))
