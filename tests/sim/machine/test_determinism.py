"""The same launch gives the same memory and the same instruction count, regardless of how its execution is divided."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocdbg.api import launch_file
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import StopKind
from tests.breadth import EVERYTHING, some_of

DEMOS = Path(__file__).resolve().parents[3] / "demo_kernels"
FAULTY = ("wildaccess", "trap")
TARGETS = ("gfx90a", "gfx1100")
SINGLE_STEPS = 3_000 if EVERYTHING else 1_000
"""Longer runs are not divided into single instructions throughout, because that would take too long."""


def _runs() -> list[tuple[Path, str]]:
    """The demo kernels on each target; in ``./test``, each on one of them in turn."""
    everything, usual = [], []
    for number, launch in enumerate(sorted(p for p in DEMOS.glob("*/*.toml") if p.parent.name not in FAULTY)):
        name = next(line for line in launch.read_text().splitlines() if line.startswith("file")).split('"')[1]
        found = [(launch, arch) for arch in TARGETS if (launch.parent / name.format(arch=arch)).exists()]
        everything += found
        usual += found[number % len(found) :][:1] if found else []
    return list(some_of(everything, usual))


def _run(
    launch: Path, target: str, budgets: tuple[int | None, ...], most: int
) -> tuple[int, list[tuple[int, bytes]]]:
    """Run with the given budgets in turn until at least ``most`` instructions are executed, then to the end."""
    prepared = launch_file(launch, arch=target)
    dispatch = prepared.launch.dispatch
    turn = 0
    while not dispatch.finished:
        budget = budgets[turn % len(budgets)] if dispatch.instructions < most else None
        before = dispatch.instructions
        stop = dispatch.run(RunOptions(budget=budget))
        assert stop.kind in (StopKind.BUDGET, StopKind.DONE)
        if stop.kind is StopKind.BUDGET:
            assert dispatch.instructions == before + budget
        turn += 1
    memory = prepared.launch.dispatch.memory
    image = [(a.address, a.data.tobytes()) for a in memory.allocations]
    return dispatch.instructions, image


@pytest.mark.truth
@pytest.mark.parametrize("launch, target", [pytest.param(*r, id=f"{r[0].stem}-{r[1]}") for r in _runs()])
def test_cutting_changes_nothing(launch, target):
    straight = _run(launch, target, (None,), 0)
    assert _run(launch, target, (None,), 0) == straight
    assert _run(launch, target, (1, 977, 10_000, 33), 40_000) == straight
    assert _run(launch, target, (1,), SINGLE_STEPS) == straight
