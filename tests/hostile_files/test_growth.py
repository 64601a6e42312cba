"""Small files that would take time or memory proportional to the square of their size: their parts overlap, or are
shared.

Each row would take far more than the 5 s of processor time that a child has if its limit did not exist.
"""

# ruff: noqa: E501  (tables)
from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path

import msgpack
import pytest
import zstandard
from file_attacks import bundles, elf_files
from file_attacks.dwarf_files import HIGH, LOW
from file_attacks.kinds import START, STATIC, Attack
from file_attacks.numbers import uleb

from rocdbg.codeobject import CodeObject, list_entries
from rocdbg.codeobject.bounded_reader import Source
from rocdbg.codeobject.compression import ZSTD, inflate_some
from rocdbg.codeobject.demangle import demangle
from rocdbg.codeobject.elf_notes import Note
from rocdbg.codeobject.errors import CodeObjectError
from rocdbg.codeobject.metadata_reader import read_metadata
from rocdbg.codeobject.yaml_reader import YamlDamage, read_yaml
from rocdbg.debugger.base.engine_settings import Settings
from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.program.source_files import MAX_SOURCE_SIZE, SourceError, SourceFiles
from rocdbg.debugger.reports import memory_files
from rocdbg.debugger.reports.hex_record_files import MAX_CHUNKS, RecordFormatError, read_records
from rocdbg.debugger.reports.memory_files import restored
from rocdbg.debugger.target import host_frames
from rocdbg.dwarf.info.errors import DebugInfoError
from rocdbg.dwarf.info.model import SourceFile
from rocdbg.dwarf.info.split_units import CU_INDEX, Contribution, SplitName, contributions
from rocdbg.errors import Error
from rocdbg.launch.debug_files import DebugFiles, SplitDebugFiles
from rocdbg.launch.errors import LaunchError
from rocdbg.launch.launch_file import parse_launch, read_launch_file
from rocdbg.launch.npy_file import read_npy
from rocdbg.llvmdi import reader
from rocdbg.llvmdi.errors import ReadError
from rocdbg.llvmdi.placement import read_placement
from rocdbg.regular_file import FileAccessError, read_regular
from rocdbg.toml_text import TomlError, parse_toml

from .conftest import Run
from .test_hostile_files import check

ID = b"hipv4-amdgcn-amd-amdhsa--gfx90a"


# Debug information


def abbreviation(code: int, tag: int, children: bool, *attributes: tuple[int, int]) -> bytes:
    row = uleb(code) + uleb(tag) + bytes((children,))
    return row + b"".join(uleb(at) + uleb(form) + b"\0" * (form == 0x21) for at, form in attributes) + b"\0\0"


def unit(entries: bytes, abbreviations: int = 0) -> bytes:
    body = struct.pack("<HBBI", 5, 1, 8, abbreviations) + entries
    return struct.pack("<I", len(body)) + body


def with_debug(**sections: bytes) -> bytes:
    elf = elf_files.Elf.read()
    elf.drop_debug()
    for name, data in sections.items():
        elf.put(f".{name}".encode(), data)
    return elf.build()


TOP = abbreviation(1, 0x11, True, (0x11, 0x01))
START_OF_UNIT = b"\1" + LOW.to_bytes(8, "little")


def abbreviations(count: int, end: bytes = b"\0") -> bytes:
    """Units whose tables of abbreviations begin in each other."""
    rows = [abbreviation(number + 1, 0x11, False) for number in range(count)]
    at = [0]
    for row in rows:
        at.append(at[-1] + len(row))
    info = b"".join(unit(uleb(number + 1), at[number]) for number in range(count))
    return with_debug(debug_info=info, debug_abbrev=b"".join(rows) + end)


def attributes(count: int) -> bytes:
    """Entries of one byte with many attributes, which take no space."""
    table = TOP + abbreviation(2, 0x34, False, (0x03, 0x21), *[(0x2000 + number % 100, 0x21) for number in range(count)])
    return with_debug(debug_info=unit(START_OF_UNIT + b"\2" * count + b"\0"), debug_abbrev=table + b"\0")


def range_lists(count: int) -> bytes:
    """Functions that share a list of ranges."""
    table = TOP + abbreviation(2, 0x2E, False, (0x03, 0x08), (0x55, 0x17))
    entries = b"".join(b"\2f%d\0" % (number % 100) + bytes(4) for number in range(count))
    ranges = b"".join(b"\7" + (LOW + number % 64).to_bytes(8, "little") + b"\1" for number in range(count)) + b"\0"
    return with_debug(debug_info=unit(START_OF_UNIT + entries + b"\0"), debug_abbrev=table + b"\0", debug_rnglists=ranges)


def location_lists(count: int, end: bytes = b"\0") -> bytes:
    """Variables that share a list of locations."""
    table = TOP + abbreviation(2, 0x2E, True, (0x03, 0x08), (0x11, 0x01), (0x12, 0x0F)) + abbreviation(3, 0x34, False, (0x03, 0x08), (0x02, 0x17))
    entries = b"\2saxpy\0" + LOW.to_bytes(8, "little") + uleb(HIGH - LOW)
    entries += b"".join(b"\3v%d\0" % number + bytes(4) for number in range(count)) + b"\0"
    places = b"".join(b"\4" + uleb(number % 64) + uleb(number % 64 + 1) + b"\2\x30\x9f" for number in range(count)) + end
    return with_debug(debug_info=unit(START_OF_UNIT + entries + b"\0"), debug_abbrev=table + b"\0", debug_loclists=places)


def line_tables(count: int) -> bytes:
    """Units whose line tables overlap each other."""
    table = abbreviation(1, 0x11, False, (0x10, 0x17))
    parameters = bytes((1, 1, 1, 0xFB, 14, 1, 0, 0))
    size = 10 + len(parameters)
    lines = b"".join(struct.pack("<IHI", 6 + len(parameters) + number * size, 4, len(parameters)) + parameters for number in reversed(range(count)))
    info = b"".join(unit(b"\1" + (number * size).to_bytes(4, "little")) for number in range(count))
    return with_debug(debug_info=info, debug_abbrev=table + b"\0", debug_line=lines)


STATIC_COMMANDS = (*STATIC, "info scope saxpy", "info variables", "disassemble saxpy")
DEBUG: list[tuple[str, Callable[[], bytes], tuple[str, ...], str]] = [
    ("abbreviation tables in each other", lambda: abbreviations(4000), STATIC_COMMANDS, ""),
    ("abbreviation tables in each other without an end", lambda: abbreviations(6000, b""), STATIC_COMMANDS, ""),
    ("4,000 attributes without bytes", lambda: attributes(4000), STATIC_COMMANDS, "more than 128 attributes"),
    ("functions of one range list", lambda: range_lists(2000), STATIC_COMMANDS, ""),
    ("variables of one location list", lambda: location_lists(800), (*STATIC_COMMANDS, *START, "kill"), ""),
    ("variables of one list without an end", lambda: location_lists(2000, b""), STATIC_COMMANDS, ""),
    ("line tables in each other", lambda: line_tables(4000), STATIC_COMMANDS, ""),
    ("8,000 units without anything", lambda: with_debug(debug_info=unit(b"\1") * 8000, debug_abbrev=abbreviation(1, 0x11, False) + b"\0"), ("disassemble saxpy",) * 3, ""),
]


@pytest.mark.parametrize(("make", "commands", "expected"), [row[1:] for row in DEBUG], ids=[row[0] for row in DEBUG])
def test_debug_information(make: Callable[[], bytes], commands: tuple[str, ...], expected: str, run: Run) -> None:
    outcome = run(Attack({"file.co": make()}, "file.co", None, commands))
    assert outcome.ending == ""
    assert expected in outcome.text + " ".join(outcome.errors)


# Containers and ELF


def host(name: bytes, data: bytes) -> bytes:
    """An executable of another machine with one section."""
    names = b"\0.shstrtab\0" + name + b"\0"
    row = struct.Struct("<IIQQQQIIQQ")
    table = 64 + len(data) + len(names)
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 2, 62, 1, 0, 0, table, 0, 64, 0, 0, 64, 3, 1)
    rows = bytes(64) + row.pack(1, 3, 0, 0, 64 + len(data), len(names), 0, 0, 1, 0) + row.pack(11, 1, 0, 0, 64, len(data), 0, 0, 1, 0)
    return head + data + names + rows


def unlinked(*sections: tuple[int, int, bytes, int, int], names: bytes = b"\0") -> bytes:
    """A relocatable object: type, flags, bytes, link and info of each section; all sections have the same name."""
    row = struct.Struct("<IIQQQQIIQQ")
    body, rows, at = [], [bytes(64)], 64
    for kind, flags, data, link, info in (*sections, (3, 0, names, 0, 0)):
        rows.append(row.pack(min(1, len(names) - 1), kind, flags, 0, at, len(data), link, info, 1, 24))
        body.append(data)
        at += len(data)
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1\x40\2", 1, 224, 1, 0, 0, at, 0x3F, 64, 0, 0, 64, len(rows), len(rows) - 1)
    return head + b"".join(body) + b"".join(rows)


def images() -> bytes:
    """An offload binary whose images share all of their strings."""
    count, entry = 4096, struct.Struct("<HHIQQQQ")
    strings = 32 + count * entry.size
    text = strings + 24 * count
    body = entry.pack(1, 4, 0, strings, count, 0, 0) * count + struct.pack("<QQQ", text, text, 1) * count + b"triple\0"
    return struct.pack("<4sIQQQ", b"\x10\xff\x10\xad", 2, 32 + len(body), 32, count) + body


def embedded() -> bytes:
    """Headers of code objects that share a table of segments, the last of which is larger than the file."""
    count, segments = 4000, 4096
    table = 64 * count
    head = b"\x7fELF\2\1\1\x40\2"
    rows = b"".join(struct.pack("<16sHHIQQQIHHHHHH", head, 3, 224, 1, 0, table - 64 * number, 0, 0x3F, 64, 56, segments, 64, 0, 0) for number in range(count))
    return host(b".data", rows + bytes(56 * (segments - 1)) + struct.pack("<8xQ16xQ16x", 1 << 62, 1 << 62))


def zstandard_bundles() -> bytes:
    stream = zstandard.ZstdCompressor(level=19).compress(bundles.MAGIC + bytes(8 + (30 << 20)))
    return (struct.pack("<4sHHQQQ", b"CCOB", 3, 1, 32 + len(stream), 1 << 20, 0) + stream) * 1000


OBJECTS: list[tuple[str, Callable[[], bytes], str]] = [
    ("strings that images share", images, "strings do not fit"),
    ("16 MiB of padding", lambda: host(b".llvm.offloading", bytes(16 << 20)), ""),
    ("code objects that share segments", embedded, "contains no AMDGPU code"),
    ("1,000 bundles of 30 MiB in a kilobyte", zstandard_bundles, "no code object can run on"),
    ("30,000 tables of relocations", lambda: unlinked((1, 3, bytes(2 << 20), 0, 0), (2, 0, bytes(24), 3, 0), (3, 0, b"\0", 0, 0), *[(9, 0, b"", 2, 1)] * 30_000), ""),
    ("a million notes", lambda: unlinked((7, 0, bytes(12_000_000), 0, 0)), "more than 65536 notes"),
]


@pytest.mark.parametrize(("make", "expected"), [row[1:] for row in OBJECTS], ids=[row[0] for row in OBJECTS])
def test_objects(make: Callable[[], bytes], expected: str, run: Run) -> None:
    check(run, Attack({"file.co": make()}, "file.co", "gfx90a", ("info files", "info kernels", "info functions")), expected)


def test_entries_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocdbg.codeobject.finding_code_objects._MOST_ENTRIES", 100)
    path = tmp_path / "file"
    for count in (100, 101):
        path.write_bytes(bundles.MAGIC + struct.pack("<Q", count) + bytes(24) * count)
        if count == 100:
            assert len(list_entries(path)) == count
    with pytest.raises(CodeObjectError, match="more than 100 code objects"):
        list_entries(path)


def test_values_of_yaml_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocdbg.codeobject.yaml_reader._MOST", 20)
    read_yaml("Kernels: [" + "a," * 10 + "]")
    with pytest.raises(YamlDamage, match="more than 20 values"):
        read_yaml("Kernels: [" + "a," * 20 + "]")


def test_tables_of_relocations_for_debug_information(run: Run) -> None:
    tables = [(9, 0, bytes(16), 2, 1)] * 300
    make = unlinked((1, 0, bytes(64), 0, 0), (2, 0, bytes(24), 3, 0), (3, 0, b"\0", 0, 0), *tables, names=b"\0.debug_info\0")
    check(run, Attack({"file.co": make}, "file.co", None, ("info functions", "info types")), "300 relocation tables")


def test_symbols_within_each_other() -> None:
    """A symbol that contains all others: a search takes the logarithm of their number."""
    count = 1 << 14
    rows = [(0x10000, 1 << 40), *((0x10000 + 64 * number, 32) for number in range(1, count))]
    symbols = bytes(24) + b"".join(struct.pack("<IBBHQQ", 1, 2, 0, 1, start, size) for start, size in rows)
    table = CodeObject(unlinked((1, 6, bytes(64), 0, 0), (2, 0, symbols, 3, 0), (3, 0, b"\0a\0", 0, 0))).symbols
    index = table._by_address

    class Counted(list[int]):
        looks = 0

        def __getitem__(self, at: int) -> int:  # type: ignore[override]
            Counted.looks += 1
            return super().__getitem__(at)

    index.highest_ends[:] = [Counted(ends) for ends in index.highest_ends]
    for number in (1, 2, count // 2, count - 1):
        found = table.at(0x10000 + 64 * number + 40)
        assert found is not None and found.size == 1 << 40
        inner = table.at(0x10000 + 64 * number + 8)
        assert inner is not None and inner.size == 32
    assert Counted.looks < 8 * 3 * 15


def test_nested_symbols_are_found_as_by_search() -> None:
    import random

    rng = random.Random(7)
    rows = [(rng.randrange(1, 200), rng.choice((0, 0, 1, 3, 20, 90))) for _ in range(120)]
    symbols = bytes(24) + b"".join(struct.pack("<IBBHQQ", 1, 2, 0, 1, start, size) for start, size in rows)
    table = CodeObject(unlinked((1, 6, bytes(300), 0, 0), (2, 0, symbols, 3, 0), (3, 0, b"\0a\0", 0, 0))).symbols
    for address in range(300):
        around = [(start, size) for start, size in rows if start <= address < start + size]
        found = table.extent_at(address)
        if around:
            assert found is not None and found[1] == max(around)[0] and found[0].size
        elif found is not None:
            assert not found[0].size and found[1] == max(start for start, _ in rows if start <= address)


def test_names_of_many_letters() -> None:
    for name in ("_Z" + "S" * 500_000, "_Z" + "T1" * 250_000):
        assert demangle(name) == name
    assert demangle("_Z1fP1AS0_") == "f(A*, A*)"


def test_hidden_arrays_of_metadata_are_counted() -> None:
    """A length that begins inside data that looks like another length."""
    level = b"\x92\xa4\xdd\0\0\0\xdd" + (1 << 20).to_bytes(4, "big")
    note = Note("AMDGPU", 32, b"\x81\xaeamdhsa.kernels" + level * 400 + b"\xc0" * (1 << 20), 0, "note")
    with pytest.raises(CodeObjectError, match="do not fit into the data"):
        read_metadata("file", [note])


def test_notes_are_limited_together() -> None:
    note = Note("AMDGPU", 32, msgpack.packb({"a": bytes(15 << 20)}), 0, "note")
    with pytest.raises(CodeObjectError, match="the notes have more than"):
        read_metadata("file", [Note("other", 1, bytes(18 << 20), 0, "note"), note])


def test_no_more_is_unpacked_than_asked_for() -> None:
    stream = zstandard.ZstdCompressor(level=19).compress(bytes(range(256)) * 4096)
    source = Source("file", b"xx" + stream + b"behind")
    assert inflate_some(source, 2, 2 + len(stream), 300, ZSTD, "part") == (bytes(range(256)) * 2)[:300]
    assert len(inflate_some(source, 2, 2 + len(stream), 1 << 21, ZSTD, "part")) == 1 << 20
    with pytest.raises(CodeObjectError, match="damaged"):
        inflate_some(source, 5, 2 + len(stream), 300, ZSTD, "part")


# Paths


def test_files_without_an_end_are_refused() -> None:
    """Files in /proc have the size 0."""
    with pytest.raises(FileAccessError, match="has more bytes than its size of 0 says"):
        read_regular("/proc/self/pagemap", 1 << 30)
    assert read_regular("/proc/self/cmdline", 1 << 20) == Path("/proc/self/cmdline").read_bytes()


def test_a_file_that_would_have_to_be_waited_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An example is the kernel's message file: reading returns None instead of waiting."""
    import io

    import rocdbg.regular_file

    class Waiting(io.BytesIO):
        def fileno(self) -> int:
            return file.fileno()

        def read(self, size: int | None = -1) -> bytes:
            return None  # type: ignore[return-value]

    path = tmp_path / "file"
    path.write_bytes(b"abc")
    with path.open("rb") as file:
        monkeypatch.setattr(rocdbg.regular_file, "open_regular", lambda name, limit: Waiting())
        with pytest.raises(FileAccessError, match="cannot be read without waiting"):
            read_regular(path, 100)


# Files named by others


def package_index(units: int, slots: int, parts: Callable[[int], tuple[int, int]]) -> bytes:
    """.debug_cu_index with one column, of string offsets."""
    data = struct.pack("<HHIII", 5, 0, 1, units, slots)
    data += struct.pack(f"<{slots}Q", *range(1, units + 1), *[0] * (slots - units))
    data += struct.pack(f"<{slots}I", *range(1, units + 1), *[0] * (slots - units)) + struct.pack("<I", 6)
    return data + b"".join(struct.pack("<I", parts(number)[side]) for side in (0, 1) for number in range(units))


def test_parts_of_packages_may_overlap_only_within_limits() -> None:
    name = ".debug_str_offsets.dwo"
    strings = bytes(100_000)

    def units(parts: Callable[[int], tuple[int, int]]) -> list[Contribution]:
        package = {CU_INDEX: package_index(100, 128, parts), name: strings}
        return list(contributions(package, CU_INDEX).values())

    assert all(len(each[name]) == 90_000 for each in units(lambda number: (5, 90_000)))  # units of one file share them
    assert sum(len(each[name]) for each in units(lambda number: (number * 1000, 1000))) == 100_000
    with pytest.raises(DebugInfoError, match="overlap"):
        [each[name] for each in units(lambda number: (number, 90_000))]


def test_a_package_of_empty_slots() -> None:
    with pytest.raises(DebugInfoError, match="do not fit"):
        contributions({CU_INDEX: package_index(1, 100_000, lambda number: (0, 0))}, CU_INDEX)


def test_a_split_object_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The result is the same for any spelling of its path."""
    (tmp_path / "a").mkdir()
    (tmp_path / "x.dwo").write_bytes(elf_files.BASE.read_bytes())
    read: list[Path] = []
    files = DebugFiles()
    monkeypatch.setattr(files, "sections", lambda path: read.append(path) or {})
    code_object = CodeObject(elf_files.BASE.read_bytes(), path=tmp_path / "file.co")
    split = SplitDebugFiles(files, code_object)
    split._read[tmp_path / "file.co.dwp"] = None
    for number in range(50):
        split.find(SplitName("a/../" * number + "x.dwo", str(tmp_path), number, 0))
    assert len(read) == 1


def fake_disassembler(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    tool = folder / "llvm-dis"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    monkeypatch.setattr(reader, "_DISASSEMBLERS", ("llvm-dis",))
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    bitcode = folder / "module.bc"
    bitcode.write_bytes(b"BC\xc0\xde" + bytes(60))
    return bitcode


def test_text_of_bitcode_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_SIZE", 10_000)
    bitcode = fake_disassembler(tmp_path, "exec yes", monkeypatch)
    with pytest.raises(ReadError, match="the text of the module has more than 10000 bytes"):
        reader.read(bitcode)


def test_the_time_of_llvm_dis_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_MOST_SECONDS", 0.05)
    bitcode = fake_disassembler(tmp_path, "exec sleep 600", monkeypatch)
    with pytest.raises(ReadError, match=r"took more than 0\.05 seconds"):
        reader.read(bitcode)


def test_llvm_dis_gets_the_bytes_that_were_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """llvm-dis does not get a path, which may name another file by then."""
    bitcode = fake_disassembler(tmp_path, 'test "$*" = "-o - -" && test "$(wc -c)" = 64 && echo "!0 = !{}"', monkeypatch)
    assert list(reader.read(bitcode).nodes) == ["0"]


# Files for `restore`, and launch files


def test_files_of_records_have_few_parts() -> None:
    def record(address: int) -> bytes:
        data = bytes((1, address >> 8, address & 255, 0, 7))
        return b":" + (data + bytes((-sum(data) & 255,))).hex().encode() + b"\n"

    sound = b"".join(record(2 * number) for number in range(MAX_CHUNKS))
    assert len(read_records(sound, "x.hex")) == MAX_CHUNKS
    with pytest.raises(RecordFormatError, match="has more than 16384 separate address ranges"):
        read_records(sound + record(1 << 15), "x.hex")


EMPTY = "{'descr': '<f4', 'fortran_order': True, 'shape': (0, 9223372036854775807), }\n"


def test_arrays_without_elements_have_any_extents(tmp_path: Path) -> None:
    path = tmp_path / "empty.npy"
    path.write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(EMPTY)) + EMPTY.encode())
    assert read_npy(path, 100).size == 0
    with pytest.raises(DebuggerError, match="Start must be less than end"):
        list(restored(path.read_bytes(), "empty.npy", False, 0, None, None))


@pytest.mark.parametrize("line", [f"load = {['a.co'] * 257}", f"user_data = {[1] * 1025}"], ids=("load", "user_data"))
def test_lists_of_a_launch_are_limited(line: str) -> None:
    with pytest.raises(LaunchError, match="the limit is"):
        parse_launch(f'[launch]\nfile = "a.co"\ngrid = 1\n{line}\n', Path("launch.toml"))


def test_restore_does_not_wait_for_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files in /proc may be regular and make their readers wait."""
    opened: list[str] = []
    monkeypatch.setattr(memory_files, "read_regular", lambda path, limit: opened.append(str(path)) or b"abc")
    assert memory_files.read_file(Path("/proc/self/status")) == b"abc"
    assert opened == ["/proc/self/status"]


@pytest.mark.parametrize("kind", ["fifo", "device", "large"])
def test_source_files_are_regular_and_of_limited_size(kind: str, tmp_path: Path) -> None:
    """A path in DWARF may name anything; opening a FIFO would wait for its writer."""
    path = tmp_path / "f.c"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "device":
        path = Path("/dev/zero")
    else:
        with path.open("wb") as file:
            file.truncate(MAX_SOURCE_SIZE + 1)
    files = SourceFiles(Settings())
    with pytest.raises(SourceError, match=r"No such file or directory|is larger than can be read"):
        files.text(SourceFile(path.name, str(path.parent), str(path)))


def test_toml_is_not_nested_deeper_than_its_readers_expect() -> None:
    """Nesting that the parser itself accepts."""
    assert parse_toml("x = " + "[" * 60 + "]" * 60)
    for text in ("x = " + "[" * 80 + "]" * 80, "x = " + "{a = " * 80 + "1" + "}" * 80):
        with pytest.raises(TomlError, match="nested too deeply"):
            parse_toml(text)


@pytest.mark.parametrize(
    ("read", "size"), [(read_placement, 1 << 24), (reader.read, 1 << 26), (read_launch_file, 2 << 20)], ids=("placement", "module", "launch")
)
def test_files_have_a_largest_size(read: Callable[[Path], object], size: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("wb") as file:
        file.truncate(size + 1)
    with pytest.raises(Error, match="larger than"):
        read(path)


def test_modules_of_programs_are_regular_files(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def refuse(path: str, limit: int) -> None:
        opened.append(path)
        raise FileAccessError(path, "is not a regular file")

    monkeypatch.setattr(host_frames, "open_regular", refuse)
    assert host_frames._open("/proc/self/cmdline") is None
    assert opened == ["/proc/self/cmdline"]
