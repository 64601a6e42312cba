"""The debugger's positions of inactive lanes in clang's code, compared with the places where the lanes really continue.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import pytest

from rocdbg.debugger.frames import waiting_lanes
from tests.breadth import EVERYTHING, some_of
from tests.lanes.build import SOURCES, build
from tests.lanes.oracle import Score, check_launch

pytestmark = pytest.mark.llvm

DEMOS = Path(__file__).parents[2] / "demo_kernels"
LAUNCHES = ("calls/calls", "divergence/divergence", "histogram/histogram", "mandelbrot/mandelbrot", "reduce/reduce")
TARGETS = some_of(("gfx90a", "gfx942", "gfx1030", "gfx1100"), ("gfx90a", "gfx1100"))
EVERY = [
    pytest.param(arch, level, options, id="-".join((arch, level, *options)))
    for arch, level, *options in [
        ("gfx90a", "O0"), ("gfx90a", "O2"), ("gfx942", "O1"), ("gfx1030", "O1"), ("gfx1100", "O0"),
        ("gfx1100", "O2", "-mwavefrontsize64"), ("gfx1201", "O2"),
    ]
]
BUILDS = some_of(EVERY, [EVERY[0], EVERY[5], EVERY[6]])
T = TypeVar("T")


def turn(everything: Sequence[T], number: int, turns: int) -> Sequence[T]:
    """In ``./test``, builds and targets alternate between kernels: the share of one of them."""
    return everything if EVERYTHING else everything[number % turns :: turns]


def assert_good(score: Score, at_least: int) -> None:
    assert score.total >= at_least
    assert score.wrong <= 0.002 * score.total, score.examples
    assert score.right >= 0.98 * score.total, score.unknowns


@pytest.mark.truth
@pytest.mark.parametrize("arch", TARGETS)
def test_demo_kernels(arch: str) -> None:
    score = Score()
    launches = [f"{launch}{level}.toml" for level in ("", ".O2") for launch in LAUNCHES]
    for launch in turn(launches, TARGETS.index(arch), len(TARGETS)):
        score.add(check_launch(DEMOS / launch, arch, samples=40, waves=1, most=2000))
    assert_good(score, 3000 if EVERYTHING else 1500)


@pytest.mark.truth
@pytest.mark.parametrize(("arch", "level", "options"), BUILDS)
def test_every_form_of_divergence(arch: str, level: str, options: list[str], tmp_path: Path) -> None:
    score = Score()
    launches = list(build(SOURCES / "lanes.hip", arch, level, tmp_path, *options).values())
    number = [row.values[:2] for row in BUILDS].index((arch, level))
    for launch in turn(launches, number, len(BUILDS)):
        score.add(check_launch(launch, samples=30, waves=1, most=2500))
    assert_good(score, 3000 if EVERYTHING else 800)


@pytest.mark.parametrize(("arch", "level", "kernels"), [
    ("gfx1100", "O2", ("nested_switches", "while_any")),
    # gfx12 waits between the additions that make addresses of functions, by which calls are known
    ("gfx1201", "O2", ("function_pointers", "many_returns")),
    ("gfx942", "O0", ("jumps",)),
    ("gfx1100", "O0", ("state_machine",)),
])
def test_shapes_of_control_flow(arch: str, level: str, kernels: tuple[str, ...], tmp_path: Path) -> None:
    launches = build(SOURCES / "shapes.hip", arch, level, tmp_path)
    score = Score()
    for kernel in kernels:
        score.add(check_launch(launches[kernel], samples=20, waves=1, most=1200))
    assert_good(score, 200)


EXITS = [
    ("gfx90a", "O0", (), ("do_while_mixed", *some_of(("goto_nested",), ()))),
    ("gfx1100", "O0", ("-mwavefrontsize64",), ("goto_nested", *some_of(("twelve_cases",), ()))),
    ("gfx1100", "O1", (), ("computed_exit", "conditions_with_calls")),
    ("gfx1201", "O2", (), ("twelve_cases", "descent")),
    ("gfx90a", "O2", (), ("whole_wave", "others_call")),
]


@pytest.mark.truth
@pytest.mark.parametrize(
    ("arch", "level", "options", "kernels"), EXITS, ids=["-".join((*row[:2], *row[2])) for row in EXITS]
)
def test_loops_with_many_exits(
    arch: str, level: str, options: tuple[str, ...], kernels: tuple[str, ...], tmp_path: Path
) -> None:
    launches = build(SOURCES / "exits.hip", arch, level, tmp_path, *options)
    for kernel in kernels:
        score = check_launch(launches[kernel], samples=30, waves=1, most=4000)
        assert score.right >= 60, kernel
        assert (score.wrong, score.unknown) == (0, 0), (kernel, score.examples, score.unknowns)


def test_the_comparison_notices_wrong_places(monkeypatch: pytest.MonkeyPatch) -> None:
    launch = DEMOS / "divergence/divergence.toml"
    good = check_launch(launch, "gfx90a", samples=30, waves=1, most=800)
    assert good.wrong == 0
    assert good.right > 200
    right = waiting_lanes.LanePcs.entered

    def wrong(self: waiting_lanes.LanePcs, lane: int) -> waiting_lanes.Entered | None:
        return right(self, lane) if lane % 4 else waiting_lanes.Entered(0, self.target.wave(self.thread).pc, True)

    monkeypatch.setattr(waiting_lanes.LanePcs, "entered", wrong)
    bad = check_launch(launch, "gfx90a", samples=30, waves=1, most=800)
    assert bad.wrong > 0.02 * bad.total
