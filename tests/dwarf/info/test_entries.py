"""Entries, attributes and line rows compared with llvm-dwarfdump, over languages, versions and targets."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.dwarf.info import (
    Address,
    Constant,
    DebugInfo,
    Die,
    Exprloc,
    Flag,
    Loclist,
    Reference,
    Rnglist,
    SectionOffset,
    String,
)
from rocdbg.dwarf.info.lines import LineTable

pytestmark = pytest.mark.llvm

BUILDS = [
    pytest.param(source, (f"-O{level}", f"-gdwarf-{version}"), arch, id=f"{source}-O{level}-v{version}-{arch}")
    for source, arch, level, version in [
        ("shapes.hip", "gfx90a", 0, 5),
        ("shapes.hip", "gfx90a", 0, 4),
        ("shapes.hip", "gfx90a", 2, 5),
        ("shapes.hip", "gfx942", 2, 4),
        ("shapes.hip", "gfx1030", 0, 5),
        ("shapes.hip", "gfx1100", 2, 5),
        ("plain.cl", "gfx90a", 0, 5),
        ("plain.cl", "gfx1100", 2, 4),
        ("plain.cl", "gfx942", 0, 3),
        ("plain.cl", "gfx942", 2, 2),
    ]
]


def dumped(path: Path, *options: str) -> str:
    return subprocess.run(
        ["llvm-dwarfdump-22", *options, str(path)], check=True, capture_output=True, text=True
    ).stdout


def walk(die: Die, parent: int | None = None) -> list[tuple[int, int | None, Die]]:
    found = [(die.offset, parent, die)]
    for child in die.children:
        found += walk(child, die.offset)
    return found


TAG_LINE = re.compile(r"^0x([0-9a-f]{8}): ( *)DW_TAG_(\w+)$")
ATTRIBUTE_LINE = re.compile(r"^ +DW_AT_(\w+) \[(?:DW_FORM_)?(\w+)\](?: *\t?\((.*))?")


@pytest.mark.parametrize(("source", "options", "arch"), BUILDS)
def test_tree_agrees_with_llvm(
    build: Callable[..., Path], opened: Callable[..., DebugInfo], source: str, options: tuple[str, ...], arch: str
) -> None:
    expected = []
    stack: list[tuple[int, int]] = []
    for line in dumped(build(source, *options, arch=arch), "--debug-info").splitlines():
        match = TAG_LINE.match(line)
        if match:
            offset, indent = int(match[1], 16), len(match[2])
            while stack and stack[-1][0] >= indent:
                stack.pop()
            expected.append((offset, stack[-1][1] if stack else None))
            stack.append((indent, offset))
    info = opened(source, *options, arch=arch)
    tree = [entry for unit in info.units for entry in walk(unit.top)]
    assert [(offset, parent) for offset, parent, _ in tree] == expected
    for _, parent, die in tree:
        assert (None if die.parent is None else die.parent.offset) == parent


# Entry, form and printed value of every attribute that has a plain rendering.
@pytest.mark.parametrize(("source", "options", "arch"), BUILDS)
def test_attributes_agree_with_llvm(
    build: Callable[..., Path], opened: Callable[..., DebugInfo], source: str, options: tuple[str, ...], arch: str
) -> None:
    info = opened(source, *options, arch=arch)
    compared = 0
    die: Die | None = None
    values: list[object] = []
    for line in dumped(build(source, *options, arch=arch), "--debug-info", "-v").splitlines():
        start = re.match(r"^0x([0-9a-f]{8}): +DW_TAG_\w+ \[\d+\]", line)
        if start:
            assert not values
            die = info.die(int(start[1], 16))
            values = list(die.attributes.values())
            continue
        match = ATTRIBUTE_LINE.match(line)
        if match is None or die is None:
            continue
        value, text = values.pop(0), match[3] or ""
        if match[1] in ("decl_file", "call_file"):
            continue
        compared += 1
        match value:
            case String(value=string):
                assert f'"{string}"' in text
            case Reference(offset=offset):
                assert re.search(rf"0x0*{offset:x}\b", text), (line, value)
            case Flag(value=flag):
                assert flag == ("true" in text or "0x01" in text or match[2] == "flag_present"), line
            case Address(value=address):
                assert re.search(rf"0x0*{address:x}\)", text), line
            case Constant(value=number):
                if re.match(r"-?\d+\)$|0x[0-9a-f]+\)$", text):
                    assert number == int(text[:-1], 0), line
            case Loclist(offset=offset) | Rnglist(offset=offset):
                assert re.search(rf"0x0*{offset:x}\b", text), line
            case SectionOffset(offset=offset):
                assert re.search(rf"0x0*{offset:x}\)", text), line
            case Exprloc():
                assert text
            case _:
                pytest.fail(f"{line}: {value}")
    assert compared > 100


ROW = re.compile(r"^0x([0-9a-f]{16}) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +\d+ *(.*)$")


def llvm_rows(path: Path) -> list[tuple[int, int, int, int, bool, bool, bool]]:
    """Address, line, column, file, is_stmt, prologue_end, end_sequence."""
    rows = []
    for line in dumped(path, "--debug-line").splitlines():
        match = ROW.match(line)
        if match:
            flags = match[7].split()
            rows.append((
                int(match[1], 16), int(match[2]), int(match[3]), int(match[4]), "is_stmt" in flags,
                "prologue_end" in flags, "end_sequence" in flags,
            ))
    return rows


@pytest.mark.parametrize(("source", "options", "arch"), BUILDS)
def test_line_rows_agree_with_llvm(
    build: Callable[..., Path], opened: Callable[..., DebugInfo], source: str, options: tuple[str, ...], arch: str
) -> None:
    expected = llvm_rows(build(source, *options, arch=arch))
    assert expected
    table, = opened(source, *options, arch=arch).line_tables
    rows = []
    for sequence in table.sequences:
        for index, raw in enumerate(sequence.rows):
            row = table.line_row(sequence, index)
            rows.append((row.address, row.line, row.column, raw.file, row.is_stmt, row.prologue_end))
        rows.append((sequence.end,))
    by_sequence: list[list[tuple[int, ...]]] = [[]]
    for row in expected:
        if row[-1]:
            by_sequence[-1].append((row[0],))
            by_sequence.append([])
        else:
            by_sequence[-1].append(row[:-1])
    assert rows == [row for part in sorted(part for part in by_sequence if part) for row in part]


@pytest.mark.parametrize(("source", "options", "arch"), BUILDS)
def test_quick_lookup_agrees_with_whole_program(
    opened: Callable[..., DebugInfo], sections: Callable[..., dict[str, bytes]], source: str,
    options: tuple[str, ...], arch: str,
) -> None:
    whole, = opened(source, *options, arch=arch).line_tables
    end = max(sequence.end for sequence in whole.sequences)
    info = DebugInfo(sections(source, *options, arch=arch))
    quick, = info.line_tables
    assert isinstance(quick, LineTable)
    for pc in range(whole.sequences[0].low, end, 4):
        inside = any(sequence.low <= pc < sequence.end for sequence in whole.sequences)
        if inside:
            assert quick.row_at(pc) == whole.row_at(pc)
            assert "sequences" not in quick.__dict__, "the whole program was run"
    assert quick.row_at(end) is None


def test_unit_facts(opened: Callable[..., DebugInfo]) -> None:
    unit, = opened("shapes.hip", "-O0").units
    assert (unit.version, unit.name, unit.comp_dir, unit.language_name) == (5, "shapes.hip", "/src", "c++")
    assert "clang version 22" in unit.producer
    assert (unit.augmentation, unit.dialect) == ("", "llvm22")
    assert unit.file(0) == unit.files[0]
    assert (unit.files[0].name, unit.files[0].path) == ("shapes.hip", "/src/shapes.hip")
    assert len(unit.files[0].md5 or b"") == 16
    plain, = opened("plain.cl", "-O0", "-gdwarf-4").units
    assert (plain.version, plain.language_name) == (4, "opencl")
    assert [file.name for file in plain.files if file.basename == "plain.cl"] == ["plain.cl"]


def test_debug_addr_is_the_units_part(opened: Callable[..., DebugInfo]) -> None:
    unit, = opened("shapes.hip", "-O2").units
    assert unit.debug_addr == [unit.indexed_address(index) for index in range(len(unit.debug_addr))]
    assert {function.low_pc for function in opened("shapes.hip", "-O2").functions_matching("kern")} <= set(
        unit.debug_addr
    )


def test_embedded_source(opened: Callable[..., DebugInfo]) -> None:
    info = opened("plain.cl", "-O0", "-gdwarf-5", "-gembed-source")
    file, = info.files_named("plain.cl")
    assert file.source is not None
    assert file.source.splitlines()[2] == "typedef struct { int a; float b; } Pair;"


def test_files_by_name(opened: Callable[..., DebugInfo]) -> None:
    info = opened("plain.cl", "-O0")
    for name in ("plain.cl", "src/plain.cl", "/src/plain.cl"):
        assert [file.path for file in info.files_named(name)] == ["/src/plain.cl"]
    for name in ("lain.cl", "other/plain.cl", ""):
        assert info.files_named(name) == []
