"""Metadata as YAML: llvm-readelf's text of compiled objects, and values that YAML has to quote."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from rocdbg.codeobject import CodeObject, CodeObjectError, open_file
from rocdbg.codeobject.metadata_reader import metadata_text
from rocdbg.codeobject.metadata_text import metadata_lines

ROOT = Path(__file__).resolve().parents[2]
OBJECTS = [*sorted((ROOT / "demo_kernels").glob("*/*.co")), *sorted((ROOT / "tests" / "producers").glob("*.co"))]


def readelf(path: Path) -> list[str]:
    text = subprocess.run(["llvm-readelf-22", "--notes", path], capture_output=True, text=True, check=True).stdout
    return [line.rstrip() for line in text[text.index("---") : text.index("\n...") + 4].splitlines()]


def ours(path: Path) -> list[str]:
    code_object = open_file(path)
    [(_, lines)] = metadata_text(code_object.name, code_object.notes)
    return [line.rstrip() for line in lines]


@pytest.mark.llvm
@pytest.mark.parametrize("path", OBJECTS, ids=lambda path: path.name)
def test_objects(path: Path) -> None:
    assert ours(path) == readelf(path)


@pytest.mark.llvm
@pytest.mark.parametrize("source", ["kernels.hip", "kernels.cl"])
@pytest.mark.parametrize("version", [4, 6])
def test_compiled(source: str, version: int, compiled: Callable[..., Path]) -> None:
    assert ours(compiled(source, "gfx90a", version)) == readelf(compiled(source, "gfx90a", version))


@pytest.mark.parametrize(
    "value",
    [
        {}, [], {"a": {}, "b": []}, {"a": [[1, 2], [{"b": 3}]]}, "", "null", "True", "1", ".5", "a: b", "a #b", "'",
        "-", "int*", "line\nbreak", 'quo"te\x1b', "back\\slash", True, None, 1 << 63, -1, {"x": {"y": {"z": "deep"}}},
        " a", "a ", {1: 2, "1": "2"}, "übung", "@kd", ".inf", ".name",
    ],
)
def test_is_read_back(value: Any) -> None:
    assert yaml.safe_load("\n".join(metadata_lines(value))) == value


def test_bytes_and_order() -> None:
    assert list(metadata_lines({"b": b"\x01\xff", "a": 1, 16: 0, 2: 0})) == [
        "---", "2:               0", "16:              0", "a:               1", "b:               0x01ff", "...",
    ]


def test_nested_as_deeply_as_it_goes(elf_builder: Any) -> None:
    """The metadata is either shown, or refused with a message."""
    for depth in (100, 500, 900, 1020):
        builder = elf_builder()
        builder.note((b"AMDGPU", 32, b"\x81\xa1a" * depth + b"\x01"))
        code_object = CodeObject(builder.build())
        try:
            [(_, lines)] = metadata_text(code_object.name, code_object.notes)
            assert len(lines) == depth + 2
        except CodeObjectError as error:
            assert depth > 100, error
