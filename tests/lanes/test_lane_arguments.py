"""Arguments in the frames of many lanes: each lane's own, whatever the lane in focus is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import rocdbg
from tests.lanes.build import build, values

SOURCE = Path(__file__).parent / "arguments.hip"
pytestmark = pytest.mark.llvm


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("arguments")


def session(folder: Path, kernel: str, arch: str = "gfx90a", level: str = "O0", *options: str) -> rocdbg.Debugger:
    return rocdbg.Debugger(str(build(SOURCE, arch, level, folder, *options)[kernel]))


def ran(debugger: rocdbg.Debugger, lines: str) -> str:
    return debugger.execute(lines, to_string=True)


def test_what_lanes_point_to_in_their_own_memory(folder: Path) -> None:
    debugger = session(folder, "private_memory")
    ran(debugger, "break look\nrun")
    ran(debugger, "lane 4")
    numbers = values()
    mine = {lane: (numbers[lane] * 10, f"{chr(97 + lane % 26)}xy") for lane in range(64) if lane % 3}

    frames = ran(debugger, "info lanes -active")
    shown = re.findall(r"\d+ +A +AMDGPU Lane 1:1:1:1/(\d+) .* look \(r=@[^:]+: (\d+), s=\S+ \"(\w+)\"", frames)
    assert {int(lane): (int(r), s) for lane, r, s in shown} == mine

    folded = ran(debugger, "print -lanes s")
    assert dict(re.findall(r"^(\d+) +\S+ \"(\w+)\"$", folded, re.M)) == {str(k): s for k, (_, s) in mine.items()}
    grouped = ran(debugger, "info lanes -group-by value s")
    assert {s: set(map(int, lanes.split())) for lanes, s in re.findall(r"^\d+ +A +([\d ]+?) +\S+ \"(\w+)\"", grouped, re.M)} == {
        s: {lane for lane, (_, other) in mine.items() if other == s} for _, s in mine.values()
    }
    assert re.search(r'^s +\S+ "bxy" +\S+ "cxy"$', ran(debugger, "diff lanes 1 2"), re.M)
