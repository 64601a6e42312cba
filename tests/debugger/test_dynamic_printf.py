"""Dynamic printf in code that clang compiled for two targets: which lanes print, in which order, and which stop."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from rocdbg.arch.lane_sets import lane_list
from rocdbg.cli.debugger_api import Debugger
from rocdbg.cli.shell import Shell
from rocdbg.cli.writer import Writer
from rocdbg.debugger import Session
from rocdbg.debugger.breakpoints.dynamic_printf import Columns, DynamicPrintf
from rocdbg.debugger.running.stop_events import StopReason
from rocdbg.errors import Error
from tests.breadth import EVERYTHING, in_turn

pytestmark = pytest.mark.llvm

PLACE = "acc_of"
Printed = list[tuple[int, int, list[int]]]


def made(path: Path, schedule: str, grid: int = 208) -> Session:
    session = Session()
    session.load(path)
    session.launch.schedule = schedule
    session.launch.set_grid(str(grid))
    session.launch.set_workgroup("64")
    for index, text in enumerate((f"i32[{grid}]:zeros", "3")):
        session.launch.set_argument(index, text)
    return session


TARGETS = ("gfx90a", "gfx1100")
SCHEDULES = ("round-robin", "random 5", "lockstep 3")
ASKED = [(condition, way) for condition in (None, "$_lane % 7 == 3", "i == 2 && n == 3") for way in ("host", "target")]
"""Conditions, and the side that evaluates them."""


@pytest.fixture(params=TARGETS)
def path(request: pytest.FixtureRequest, compiled: Callable[..., Path]) -> Path:
    return compiled("watched.hip", request.param)


@pytest.mark.truth
@pytest.mark.parametrize(("path", "schedule", "asked"), in_turn(TARGETS, SCHEDULES, ASKED), indirect=["path"])
def test_lanes_print_where_a_breakpoint_stops_them(
    path: Path, schedule: str, asked: tuple[str | None, str]
) -> None:
    condition, way = asked
    place = "watched.hip:8" if condition and "i" in condition.split("$")[0] else PLACE
    stopped = made(path, schedule)
    stopped.settings.condition_evaluation = way
    stopped.break_at(place, condition=condition)
    expected: Printed = []
    event = stopped.run()
    while event.reason is not StopReason.EXITED:
        expected.append((1, event.scope.thread or 0, lane_list(event.lanes)))
        event = stopped.running.proceed()

    printing, got = made(path, schedule), Printed()
    printing.settings.condition_evaluation = way

    def show(one: DynamicPrintf, thread: int, lanes: Sequence[int], columns: Columns | None) -> None:
        got.append((one.number, thread, list(lanes)))

    printing.running.watch_inside(show)
    one = printing.break_at(place, condition=condition, form=DynamicPrintf)
    assert printing.run().reason is StopReason.EXITED
    assert got == expected and got
    assert one.hit_count == len(got)


def test_counts_and_once_per_wave(path: Path) -> None:
    session, got = made(path, "round-robin"), Printed()
    session.running.watch_inside(lambda one, thread, lanes, columns: got.append((one.number, thread, list(lanes))))
    first = session.break_at(PLACE, form=DynamicPrintf)
    second = session.break_at(PLACE, form=DynamicPrintf)
    assert isinstance(second, DynamicPrintf)
    first.ignore_count, second.once_per_wave = 2, True
    session.run()
    waves = second.hit_count
    assert first.hit_count == waves > 3
    assert [number for number, _, _ in got].count(1) == waves - 2
    assert [len(lanes) for number, _, lanes in got if number == 2] == [1] * waves


def test_going_back_passes_over_them(path: Path) -> None:
    session, got = made(path, "round-robin"), Printed()
    session.running.watch_inside(lambda one, thread, lanes, columns: got.append((one.number, thread, list(lanes))))
    session.break_at("watched.hip:21")
    session.run()
    session.break_at(PLACE, form=DynamicPrintf)
    assert session.time.proceed().reason is StopReason.HISTORY
    assert got == []


LINES = (
    r'acc_of,"n=%d\n", n',
    r'watched.hip:8,"%d %5.2f %x %c %p %%|%-4d|\n", i, 1.5 * i, acc, 65 + i, &acc, n',
    r'-once-per-wave watched.hip:8 if i == 1,"first %d of %d\n", $_lane, $_thread',
    r'watched.hip:8 if $_lane > 61,"%lu %hd\n", $pc, (short) (acc - 40000)',
    r'watched.hip:21,"%d %d %s\n", id, r, "text"',
    r'watched.hip:21,"no argument\n"',
    r'watched.hip:21,"%d %d\n", tile[id], out[id]',
)


def text_of(path: Path, schedule: str, way: str) -> tuple[str, list[int]]:
    session, out = made(path, schedule, 208 if EVERYTHING else 80), io.StringIO()
    session.settings.condition_evaluation = way
    shell = Shell(session, Writer(out), Writer(out))
    for line in LINES:
        shell.run_line(f"dprintf {line}")
    session.breakpoints.set_ignore(1, 2)
    out.truncate(0)
    out.seek(0)
    shell.run_line("run")
    return out.getvalue(), [row.hit_count for row in session.breakpoints]


@pytest.mark.truth
@pytest.mark.parametrize(("path", "schedule"), in_turn(TARGETS, SCHEDULES[::2]), indirect=["path"])
def test_the_target_prints_what_the_evaluator_does(
    path: Path, schedule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, target = (text_of(path, schedule, way) for way in ("host", "target"))
    assert host == target
    assert "1.50" in host[0] and "%|3   |" in host[0] and "first 0 of 1\n" in host[0] and "no argument" in host[0]
    # With room for few records waves stop in between.
    monkeypatch.setattr("rocdbg.sim.engine.check_table.LOG_WORDS", 1500)
    assert text_of(path, schedule, "target") == host


@pytest.mark.parametrize("way", ("host", "target"))
def test_lines_go_to_a_file_and_to_arrays(path: Path, tmp_path: Path, way: str) -> None:
    debugger = Debugger()
    debugger.session = made(path, "lockstep 3")
    debugger.shell = Shell(debugger.session, Writer(io.StringIO()), Writer(io.StringIO()))
    debugger.session.settings.condition_evaluation = way
    file = tmp_path / "a file"
    one = debugger.dprintf(f'-output "{file}" watched.hip:8 if $_lane < 3,"%d of %.2f\\n", acc + n, i * 0.5')
    first = debugger.dprintf('-once-per-wave watched.hip:8,"%d\\n", $_lane')
    debugger.execute("run")
    rows = one.array()
    assert rows.dtype.names == ("$_thread", "$_lane", "acc + n", "i * 0.5")
    assert file.read_text().splitlines() == [f"{row['acc + n']} of {row['i * 0.5']:.2f}" for row in rows]
    waves = {int(number) for number in rows["$_thread"]}
    for wave in waves:
        mine = rows[(rows["$_thread"] == wave) & (rows["$_lane"] == 2)]
        assert mine[["acc + n", "i * 0.5"]].tolist() == [(3, 0.0), (3, 0.5), (4, 1.0)]
    assert len(rows) == 9 * len(waves) and len(first.array()) == 3 * len(waves) and not first.array()["$_lane"].any()
    with pytest.raises(Error, match="the arguments cannot be strings"):
        debugger.dprintf('watched.hip:8,"%s\\n", "text"')
    with pytest.raises(Error, match="Is a directory"):
        debugger.execute(f'dprintf -output {tmp_path} watched.hip:8,"x"')
