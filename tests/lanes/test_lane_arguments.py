"""Arguments in the frames of many lanes: each lane's own, regardless of the lane in focus."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

import rocdbg
from rocdbg.cli.frame_lines import frame_text, frame_texts
from rocdbg.debugger import Focus
from rocdbg.debugger.plugin_host import Plugin
from rocdbg.debugger.values.value import Value
from tests.breadth import EVERYTHING, some_of
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


SETTINGS = (
    "", "set print frame-arguments all", "set print pretty on", "set print address off", "set print entry-values both",
    "set print entry-values only", "set print frame-arguments none", "set print recovered off", "set print object on",
    "set print elements 3", "set output-radix 16", "set max-value-size 16", "set language c",
)
"""Each setting is in force together with those before it."""
AGAIN = """set print frame-arguments scalars
set print pretty off
set print address on
set print entry-values default
set print recovered on
set print object off
set print elements 200
set output-radix 10
set max-value-size 65536
set language auto"""


def differences(debugger: rocdbg.Debugger, turn: int) -> list[tuple[str, int, str, str]]:
    """Differences between the frames of all lanes computed together and those of each lane alone: setting, lane,
    together, alone.

    In ``./test``, settings take turns: one of three is examined at each stop.
    """
    session, shell = debugger.session, debugger.shell
    thread = session.focus.need_running().thread
    assert thread is not None
    found = []
    for number, setting in enumerate(SETTINGS):
        ran(debugger, setting)
        if not EVERYTHING and (number + turn) % 3:
            continue
        rows = [row for row in session.tables.lanes() if row.frame is not None]
        together = frame_texts(shell, [row.frame for row in rows if row.frame is not None])
        for row, text in zip(rows, together, strict=True):
            session.inferior.state_changed()  # so that nothing is known of other lanes
            alone = frame_text(shell, session.inferior.frame(Focus(thread, row.lane)))
            if alone != text:
                found.append((setting, row.lane, text, alone))
    ran(debugger, AGAIN)
    return found


def at_stops(debugger: rocdbg.Debugger, steps: Sequence[str]) -> tuple[int, list[tuple[str, int, str, str]]]:
    """The `differences` after each of some commands until the program ends, and the number of commands."""
    found = []
    ran(debugger, "start")
    for count, step in enumerate(steps):
        if not debugger.session.inferior.running:
            return count, found
        found += differences(debugger, count)
        if found:
            break
        try:
            ran(debugger, step)
        except rocdbg.Error:
            return count, found
    return len(steps), found


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
    grouped = re.findall(r"^\d+ +A +([\d ]+?) +\S+ \"(\w+)\"", ran(debugger, "info lanes -group-by value s"), re.M)
    assert {s: {*map(int, lanes.split())} for lanes, s in grouped} == {
        s: {lane for lane, (_, other) in mine.items() if other == s} for _, s in mine.values()
    }
    assert re.search(r'^s +\S+ "bxy" +\S+ "cxy"$', ran(debugger, "diff lanes 1 2"), re.M)


STEPS = [
    ("private_memory", "gfx90a", "O0", (), ("tbreak look", "continue", "stepi 9", "step")),
    ("many_arguments", "gfx942", "O0", (), ("tbreak twelve", "continue", "step", "stepi 7", "tbreak factorial",
                                            "continue", "stepi 5")),
    ("many_arguments", "gfx90a", "O2", (), ("tbreak twelve", "continue", "stepi 9", "step", "stepi 21")),
    ("many_arguments", "gfx1100", "O1", ("-mwavefrontsize64",), ("tbreak twelve", "continue", "stepi 9", "step")),
]


@pytest.mark.truth
@pytest.mark.parametrize(("kernel", "arch", "level", "options", "steps"), some_of(STEPS, [STEPS[0], STEPS[3]]))
def test_lanes_together_show_what_each_shows(
    folder: Path, kernel: str, arch: str, level: str, options: tuple[str, ...], steps: tuple[str, ...]
) -> None:
    debugger = session(folder, kernel, arch, level, *options)
    count, found = at_stops(debugger, (*steps, "info line"))
    assert (count, found) == (len(steps) + 1, [])


def test_what_plugins_print_is_asked_for_each_lane(folder: Path) -> None:
    debugger = session(folder, "many_arguments")
    ran(debugger, "break twelve\nrun")
    plugin = debugger.session.plugins.plugins["lanes"] = Plugin("lanes", "a test")
    asked: list[Value] = []

    def printer(value: Value) -> str | None:
        if value.size != 8:
            return None
        asked.append(value)
        return f"number {len(asked)}"

    plugin.printers.append(printer)
    shown = re.findall(r"c=number (\d+)", ran(debugger, "info lanes -active"))
    assert len(shown) > 40
    assert len({*shown}) == len(shown)
