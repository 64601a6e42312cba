"""The compiler's index of names: read as llvm-dwarfdump reads it; lookups give the same results with and without it."""

from __future__ import annotations

import random
import re
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.dwarf.info import DebugInfo, DebugInfoError
from rocdbg.dwarf.info.name_index import (
    NameIndex,
    is_known_augmentation,
    name_hash,
    names_of_entries,
    read_name_indexes,
)
from rocdbg.dwarf.info.sections import Sections as Opened
from tests.dwarf.info.conftest import SOURCES, command, debug_sections

Sections = dict[str, bytes]
INDEXED = ("-gpubnames",)

# name, hash as llvm-dwarfdump-22 --debug-names gives it
HASHES = [
    ("", 5381), ("helper", 0x01D853E5), ("counter", 0xD3F53965), ("int", 0x0B888030),
    ("unsigned int", 0xB23C93CD), ("point", 0x102863EF), ("COUNTER", 0xD3F53965),
    ("\u0130", 177678), ("\u0131", 177678),
]


@pytest.mark.parametrize(("name", "value"), HASHES)
def test_hash(name: str, value: int) -> None:
    assert name_hash(name) == value


AUGMENTATIONS = [
    ("", True), ("LLVM0700", True), ("[amdgpu:v0.0]", True), ("[amdgpu:v0.7:feature-a=on,feature-b=3]", True),
    ("[amdgpu:v1.0]", False), ("[amdgpu:v0.0][abc:v0.0]", False), ("[abc:v0.0]", False), ("[amdgpu:v0]", False),
    ("[amdgpu:v0.0", False), ("[amdgpu:v0.0]x", False), ("GDB3", False), ("LLVM0800", False),
]


@pytest.mark.parametrize(("text", "known"), AUGMENTATIONS)
def test_augmentation(text: str, known: bool) -> None:
    assert is_known_augmentation(text) is known


# An index made by hand: two names in bucket 1 of 2, one of them with two entries.


def uleb(*values: int) -> bytes:
    assert all(value < 0x80 for value in values)
    return bytes(values)


def index(augmentation: bytes = b"[amdgpu:v0.0]", wide: bool = False, buckets: int = 1, foreign: int = 0) -> Sections:
    """``ab`` is a type at 0x10 of unit 0x100 and a variable at 0x20 of unit 0x200 inside it; ``c`` is at 0x30 of a
    type unit."""
    size = 8 if wide else 4
    offset = "<Q" if wide else "<I"
    abbreviations = (
        uleb(1, 0x13, 1, 0x0B, 3, 0x13, 4, 0x19, 5, 0x07, 0, 0)  # unit, entry, parent not indexed, hash
        + uleb(2, 0x34, 1, 0x0B, 3, 0x13, 4, 0x13, 0, 0)  # the parent's place
        + uleb(3, 0x24, 2, 0x0B, 3, 0x13, 0, 0)  # a type unit
        + uleb(0)
    )
    pool = (
        uleb(1, 0) + struct.pack("<IQ", 0x10, 0x1122334455667788)
        + uleb(2, 1) + struct.pack("<II", 0x20, 0) + b"\0"
        + uleb(3, foreign) + struct.pack("<I", 0x30) + b"\0"
    )
    hashes = struct.pack("<II", name_hash("ab"), name_hash("c")) if buckets else b""
    body = struct.pack(
        "<HHIIIIIII", 5, 0, 2, 1, 1, buckets, 2, len(abbreviations), len(augmentation)
    ) + augmentation + b"\0" * (-len(augmentation) % 4)
    body += struct.pack(offset, 0x100) + struct.pack(offset, 0x200) + struct.pack(offset, 0x300)
    body += struct.pack("<Q", 0xFEED)
    body += struct.pack("<I", 1) * buckets + hashes
    body += struct.pack(offset, 1) + struct.pack(offset, 4) + struct.pack(offset, 0) + struct.pack(offset, 25)
    body += abbreviations + pool
    length = b"\xff" * 4 + struct.pack("<Q", len(body)) if size == 8 else struct.pack("<I", len(body))
    return {".debug_names": length + body, ".debug_str": b"\0ab\0c\0"}


@pytest.mark.parametrize("wide", [False, True], ids=["32-bit", "64-bit"])
@pytest.mark.parametrize("buckets", [1, 0], ids=["hashed", "not hashed"])
def test_by_hand(wide: bool, buckets: int) -> None:
    sections = index(wide=wide, buckets=buckets)
    twice = {**sections, ".debug_names": sections[".debug_names"] * 2}
    _, found = read_name_indexes(Opened(twice))
    assert (found.offset, found.offset_size) == (len(sections[".debug_names"]), 8 if wide else 4)
    assert (found.augmentation, found.is_usable) == ("[amdgpu:v0.0]", True)
    assert (found.compile_units, found.local_type_units) == ((0x100, 0x200), (0x300,))
    assert found.foreign_type_units == (0xFEED,)
    assert [(name.number, name.text) for name in found.names] == [(1, "ab"), (2, "c")]
    first, second = found.entries_named("ab")
    assert (first.tag, first.unit_offset, first.die_offset) == (0x13, 0x100, 0x110)
    assert (first.parent, first.type_hash, first.attributes[4]) == (None, 0x1122334455667788, 1)
    assert (second.tag, second.unit_offset, second.die_offset, second.parent) == (0x34, 0x200, 0x220, 0)
    assert found.entry_at(second.parent or 0) == first
    assert [entry.die_offset for entry in found.entries_named("c")] == [0x330]
    assert found.entries_named("AB") == found.entries_named("d") == []
    assert names_of_entries(Opened(sections)) == {0x110: ["ab"], 0x220: ["ab"], 0x330: ["c"]}


def test_type_unit_of_another_file() -> None:
    (found,) = read_name_indexes(Opened(index(foreign=1)))
    (entry,) = found.entries_named("c")
    assert (entry.unit_offset, entry.die_offset, entry.signature) == (None, None, 0xFEED)


def test_unknown_augmentation_is_not_used() -> None:
    sections = Opened(index(augmentation=b"[abc:v0.0]"))
    assert not read_name_indexes(sections)[0].is_usable
    assert names_of_entries(sections) == {}


def test_index_of_other_units_is_not_used() -> None:
    sections = Opened(index())
    assert len(names_of_entries(sections, [0, 0x100, 0x200, 0x300])) == 3
    assert names_of_entries(sections, [0, 0x100, 0x200]) == {}


# place in the 32-bit index, new bytes, reason
DAMAGE = [
    (0, b"\xf0\xff\xff\xff", "is reserved"),
    (0, b"\x00\x10\x00\x00", "beyond the section's end"),
    (0, b"\x04\x00\x00\x00", "ends too early"),
    (4, b"\x06\x00", "version 6"),
    (8, b"\xff\xff\xff\x7f", "a table of 2147483647 rows"),
    (20, b"\xff\xff\xff\xff", "a table of 4294967295 rows"),
    (24, b"\xff\xff\xff\x0f", "a table of 268435455 rows"),
    (32, b"\xff\xff\xff\xff", "bytes are needed"),
    (72, b"\x09\x00\x00\x00", "bucket 0 starts at name 9"),
    (84, b"\x99\x00\x00\x00", "no string at this offset"),
    (92, b"\x99\x00\x00\x00", "beyond the entry pool"),
    (92, b"\x02\x00\x00\x00", "abbreviation 16 is not defined"),
    (100, b"\x02", "is defined twice"),
    (103, b"\x16", "form 0x16, which cannot be used"),
    (103, b"\x7e", "form 0x7e, which cannot be used"),
]


@pytest.mark.parametrize(("place", "data", "reason"), DAMAGE)
def test_damage(place: int, data: bytes, reason: str) -> None:
    sections = index()
    damaged = bytearray(sections[".debug_names"])
    damaged[place:place + len(data)] = data
    sections[".debug_names"] = bytes(damaged)
    with pytest.raises(DebugInfoError, match=reason):
        for found in read_name_indexes(Opened(sections)):
            list(found.items())
            found.entries_named("ab")
    if "bucket" not in reason:
        assert names_of_entries(Opened(sections)) == {}


@pytest.mark.parametrize("seed", range(20))
def test_any_damage_is_told(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(50):
        sections = index(wide=chance.random() < 0.5, buckets=chance.randrange(2))
        data = bytearray(sections[".debug_names"])
        for _ in range(chance.choice((1, 3, 10))):
            data[chance.randrange(len(data))] = chance.randrange(256)
        sections[".debug_names"] = bytes(data)[:chance.choice((len(data), chance.randrange(len(data))))]
        try:
            for found in read_name_indexes(Opened(sections)):
                list(found.items())
                found.entries_named("ab")
        except DebugInfoError as error:
            assert error.section in (".debug_names", ".debug_str")


# Compilers' indexes

ENTRY = re.compile(r"Entry @ (\S+) \{(.*?)\}", re.S)


def dumped(path: Path) -> list[tuple[str, int, int, int, int | None]]:
    """Name, hash, offset of the entry, entry in its unit, offset of the parent, as llvm-dwarfdump prints them."""
    text = subprocess.run(
        ["llvm-dwarfdump-22", "--debug-names", str(path)], check=True, capture_output=True, text=True
    ).stdout
    rows: list[tuple[str, int, int, int, int | None]] = []
    for part in re.split(r"  Name \d+ \{", text)[1:]:
        name = re.search(r'Hash: (\S+)\s+String: \S+ "(.*)"', part)
        assert name is not None
        for place, entry in ENTRY.findall(part):
            die = re.search(r"DW_IDX_die_offset: (\S+)", entry)
            parent = re.search(r"DW_IDX_parent: Entry @ (\S+)", entry)
            assert die is not None
            rows.append((
                name[2], int(name[1], 16), int(place, 16), int(die[1], 16), int(parent[1], 16) if parent else None
            ))
    return rows


@pytest.fixture(scope="session")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Two sources in one object: an index for each unit, or (``--debug-names``) one for both."""

    def link(*options: str) -> Path:
        folder = tmp_path_factory.mktemp("linked")
        objects = []
        for number, source in enumerate(("shapes.hip", "plain.cl")):
            path = folder / f"{number}.o"
            arguments = (*INDEXED, "-c", "-fgpu-rdc") if source.endswith(".hip") else (*INDEXED, "-c")
            made = command(source, "gfx90a", arguments)
            subprocess.run([*made, "-emit-llvm", "-o", str(path) + ".bc"], check=True, cwd=SOURCES)
            subprocess.run(
                ["clang-22", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-x", "ir", "-c", "-nogpulib", "-g",
                 str(path) + ".bc", "-o", str(path)], check=True,
            )
            objects.append(str(path))
        done = folder / "linked.co"
        subprocess.run(["ld.lld-22", "-shared", *options, *objects, "-o", str(done)], check=True)
        return done

    return link


def check_as_dumped(path: Path) -> list[NameIndex]:
    found = read_name_indexes(Opened(debug_sections(path)))
    rows = []
    for own in found:
        for name, entry in own.items():
            assert name.hash == name_hash(name.text)
            assert entry in own.entries_named(name.text)
            assert entry.die_offset is not None and entry.unit_offset is not None
            parent = None if entry.parent is None else own.pool + entry.parent
            rows.append((name.text, name.hash, own.pool + entry.offset, entry.die_offset - entry.unit_offset, parent))
    assert sorted(rows, key=str) == sorted(dumped(path), key=str)
    assert rows
    return found


def answers(sections: Sections) -> dict[str, object]:
    """The results for all names, requested in all forms in which a user can write them."""
    info = DebugInfo(sections)
    entities = [*info.functions_matching(), *info.global_variables_matching()]
    names = {entity.name for entity in entities} | {entity.qualified_name for entity in entities}
    names |= {entity.linkage_name for entity in entities}
    names |= {str(type_) for type_ in info.types_matching()} | {"get", "nothing", "Row<float,3>", "::add"}
    names |= {name.partition("<")[0] for name in names if name}
    fresh = DebugInfo(sections)
    return {
        name: (
            [found.offset for found in fresh.functions_named(name)],
            [found.offset for found in fresh.variables_named(name)],
            [(str(found), found.offset) for found in fresh.types_named(name)],
        )
        for name in sorted(filter(None, names))
    }


def check_same_answers(sections: Sections) -> None:
    without = {name: data for name, data in sections.items() if name != ".debug_names"}
    assert names_of_entries(Opened(sections))
    expected = answers(without)
    assert any(functions for functions, _, _ in expected.values())  # type: ignore[misc]
    assert answers(sections) == expected


@pytest.mark.llvm
@pytest.mark.parametrize(
    ("source", "options"),
    [("shapes.hip", ("-O0",)), ("shapes.hip", ("-O2",)), ("shapes.hip", ("-O0", "-fdebug-types-section")),
     ("plain.cl", ("-O0",)), ("shapes.hip", ("-O2", "-gsimple-template-names"))],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)
def test_of_clang(source: str, options: tuple[str, ...], build: Callable[..., Path]) -> None:
    path = build(source, *INDEXED, *options)
    (found,) = check_as_dumped(path)
    assert found.augmentation == "LLVM0700"
    assert len(found.local_type_units) > 1 or "-fdebug-types-section" not in options
    check_same_answers(debug_sections(path))


@pytest.mark.llvm
@pytest.mark.parametrize(("options", "count"), [((), 2), (("--debug-names",), 1)], ids=["one each", "merged"])
def test_of_two_units(options: tuple[str, ...], count: int, linked: Callable[..., Path]) -> None:
    path = linked(*options)
    found = check_as_dumped(path)
    assert len(found) == count
    assert sum(len(own.compile_units) for own in found) == 2
    check_same_answers(debug_sections(path))


@pytest.mark.llvm
def test_index_of_one_unit_only(linked: Callable[..., Path]) -> None:
    sections = debug_sections(linked())
    first, _ = read_name_indexes(Opened(sections))
    check_same_answers({**sections, ".debug_names": sections[".debug_names"][:first.end]})


@pytest.mark.llvm
def test_damaged_index_is_not_used(sections: Callable[..., Sections]) -> None:
    sound = sections("shapes.hip", *INDEXED, "-O2")
    expected = answers({name: data for name, data in sound.items() if name != ".debug_names"})
    damaged = {**sound, ".debug_names": sound[".debug_names"][:-3]}
    assert names_of_entries(Opened(damaged)) == {}
    assert answers(damaged) == expected


# places of a form and of its value in the 32-bit index: a signed form, and the number -1
NEGATIVE = [((103, 0x0D), (-31, 0x7F), "no compile unit -1"), ((125, 0x0D), (-6, 0x7F), "no type unit -1")]


@pytest.mark.parametrize(("form", "number", "reason"), NEGATIVE)
def test_units_have_no_negative_numbers(form: tuple[int, int], number: tuple[int, int], reason: str) -> None:
    sections = index()
    damaged = bytearray(sections[".debug_names"])
    for place, byte in (form, number):
        damaged[place] = byte
    (found,) = read_name_indexes(Opened({**sections, ".debug_names": bytes(damaged)}))
    with pytest.raises(DebugInfoError, match=reason):
        list(found.items())
