"""Compiled objects that are kept between runs: the key includes everything that determines them."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.compilations import Compilations

COMMAND = ["cc", "-c", "a.c", "-o", "a.o"]


class Place:
    """A folder of sources, and a count of the commands that actually ran."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.kept = Compilations(folder / "kept", folder / "work")
        (folder / "kept").mkdir()
        self.work = folder / "work"
        self.work.mkdir()
        self.runs = 0
        self.kept._run = self._fake
        self.output = b"object"

    def _fake(self, command: list[str], **named: Any) -> subprocess.CompletedProcess[Any]:
        self.runs += 1
        if "-o" in command and "-" not in command:
            (self.work / command[command.index("-o") + 1]).write_bytes(self.output)
        return subprocess.CompletedProcess(command, 1 if "bad.c" in command else 0, "said", "")

    def compile(self, command: list[str] = COMMAND, **named: Any) -> subprocess.CompletedProcess[Any]:
        return self.kept.run(command, cwd=self.work, check=True, **named)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr("shutil.which", lambda tool: "/bin/sh")
    found = Place(tmp_path)
    (found.work / "a.c").write_text('#include "a.h"\nint a;\n')
    (found.work / "a.h").write_text('#include "b.h"\n')
    (found.work / "b.h").write_text("int b;\n")
    return found


def test_the_same_command_runs_once(place: Place) -> None:
    for _ in range(3):
        (place.work / "a.o").unlink(missing_ok=True)
        place.compile()
        assert (place.work / "a.o").read_bytes() == b"object"
    assert place.runs == 1


@pytest.mark.parametrize("file", ["a.c", "a.h", "b.h"])
def test_another_source_or_header_is_compiled(place: Place, file: str) -> None:
    place.compile()
    (place.work / file).write_text("int c;\n")
    place.compile()
    assert place.runs == 2


def test_other_arguments_environment_and_input(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.compile()
    place.compile([*COMMAND, "-O2"])
    place.compile(input="x", text=True)
    monkeypatch.setenv("CPATH", "/x")
    place.compile()
    assert place.runs == 4


@pytest.mark.parametrize(
    "command",
    [
        ["ls", "-o", "a.o"], ["cc", "-c", "a.c"], [*COMMAND, "-gsplit-dwarf"], [*COMMAND, "-MD"], [*COMMAND, "@more"],
        ["cc", "bad.c", "-o", "a.o"],
    ],
    ids=" ".join,
)
def test_what_is_not_known_or_fails_always_runs(place: Place, command: list[str]) -> None:
    place.compile(command)
    place.compile(command)
    assert place.runs == 2


@pytest.mark.parametrize(("output", "runs"), [(b"object", 1), (b"has /work in it: %s", 2)])
def test_folders_of_a_run_matter_where_the_output_names_them(place: Place, output: bytes, runs: int) -> None:
    place.output = output.replace(b"%s", str(place.work).encode())
    place.compile()
    other = place.folder / "other"
    place.work.rename(other)
    place.work, place.kept.temporary = other, str(other)
    place.compile()
    assert place.runs == runs


def test_text_is_given_again(place: Place) -> None:
    for _ in range(2):
        done = place.compile(["cc", "-S", "a.c", "-o", "-"], capture_output=True, text=True)
        assert (done.stdout, done.stderr, done.returncode) == ("said", "", 0)
    assert place.runs == 1
