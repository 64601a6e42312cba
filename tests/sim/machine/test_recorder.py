"""Any position of a recorded run equals the state of a fresh run after as many instructions, however it is reached."""

from __future__ import annotations

import random
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rocdbg.api import launch_file
from rocdbg.sim.architecture.places import Memory
from rocdbg.sim.core.layout import VGPRS
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import StopKind
from rocdbg.sim.device import checkpoint_recorder
from rocdbg.sim.device.checkpoint_recorder import HistoryError, Recorder
from rocdbg.sim.device.dispatch import Dispatch
from rocdbg.sim.device.journal import Free, Given, Journal, Written
from rocdbg.sim.device.machine import Machine
from tests.breadth import EVERYTHING, some_of

DEMOS = Path(__file__).resolve().parents[3] / "demo_kernels"
TARGETS = ("gfx90a", "gfx1100")


def runs(turn: int) -> list[Any]:
    """The demo kernels on each target; in ``./test``, each on one of them in turn, from number ``turn`` on."""
    everything, usual = [], []
    for number, launch in enumerate(sorted(DEMOS.glob("*/*.toml"))):
        name = next(line for line in launch.read_text().splitlines() if line.startswith("file")).split('"')[1]
        found = [
            pytest.param(launch, arch, id=f"{launch.stem}-{arch}")
            for arch in TARGETS if (launch.parent / name.format(arch=arch)).exists()
        ]
        everything += found
        if found:
            usual.append(found[(number + turn) % len(found)])
    return list(some_of(everything, usual))


class Run:
    """A launch, recorded or not."""

    def __init__(self, launch: Path, target: str, recorded: bool = True) -> None:
        bound = launch_file(launch, arch=target).launch
        self.machine: Machine = bound.machine
        self.dispatch: Dispatch = bound.dispatch
        self.originals = {b.allocation.address: b.buffer.storage for b in bound.buffers}
        self.recorder = Recorder(self.machine, self.dispatch, self.originals) if recorded else None

    def state(self) -> list[Any]:
        """The contents of all registers and memory."""
        waves = []
        for w in self.dispatch.waves:
            state = w.state.tobytes()[: VGPRS + w.vgpr_count * w.wave_size * 4]
            waves.append((w.number, w.waiting, w.instructions, state, w.lds.tobytes()))
        return [waves, [(a.address, a.data.tobytes()) for a in self.machine.memory.allocations]]


def fresh(launch: Path, target: str, positions: list[int]) -> dict[int, list[Any]]:
    """The states of an unrecorded run at ascending positions."""
    run = Run(launch, target, recorded=False)
    states = {}
    for position in positions:
        while run.dispatch.instructions < position:
            run.dispatch.run(RunOptions(budget=position - run.dispatch.instructions))
        states[position] = run.state()
    return states


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the recorder store checkpoints as often as possible, but keep few."""
    monkeypatch.setattr(checkpoint_recorder, "INTERVAL", 0)
    monkeypatch.setattr(checkpoint_recorder, "SHARE", 0)
    monkeypatch.setattr(checkpoint_recorder, "MOST", 6)
    monkeypatch.setattr(checkpoint_recorder, "_LEG", 100)


@pytest.mark.truth
@pytest.mark.parametrize("launch, target", runs(0))
def test_positions_are_those_of_a_fresh_run(launch: Path, target: str, often: None) -> None:
    run = Run(launch, target)
    assert run.recorder is not None
    while run.recorder.run(RunOptions(budget=7_000)).kind is StopKind.BUDGET:
        pass
    end = run.recorder.end
    rng = random.Random(end)
    positions = sorted(rng.sample(range(end + 1), min(16, end)))
    expected = fresh(launch, target, positions)
    for position in rng.sample(positions * 2, 2 * len(positions)):
        run.recorder.go(position)
        assert run.recorder.position == position
        assert run.state() == expected[position]


STEPS = 3_000 if EVERYTHING else 1_000
"""The number of instructions that are executed one by one, for comparison."""


@pytest.mark.truth
@pytest.mark.parametrize("launch, target", runs(1))
def test_traces_are_what_single_steps_show(launch: Path, target: str, often: None) -> None:
    run = Run(launch, target)
    assert run.recorder is not None
    while run.recorder.run(RunOptions(budget=700)).kind is StopKind.BUDGET and run.recorder.position < 20_000:
        pass
    end = run.recorder.end
    history: dict[int, list[tuple[int, int]]] = {}
    other = Run(launch, target, recorded=False)
    for _ in range(min(end, STEPS)):
        before = {w.number: (w.instructions, w.pc, w.exec) for w in other.dispatch.waves}
        other.dispatch.run(RunOptions(budget=1))
        after = {w.number: w.instructions for w in other.dispatch.waves}
        (moved,) = [n for n, (count, _, _) in before.items() if after.get(n) != count]
        history.setdefault(moved, []).append(before[moved][1:])
    rng = random.Random(end)
    for wave, rows in rng.sample(sorted(history.items()), min(4, len(history))):
        if len(rows) < 2:
            continue
        first = rng.randrange(len(rows) - 1)
        traced = run.recorder.trace(wave, first, len(rows) - 1, end)
        assert traced[:, 0].tolist() == [pc for pc, _ in rows[first:-1]]
        run.recorder.go_before(wave, first, end)
        (there,) = [w for w in run.dispatch.waves if w.number == wave]
        assert (there.pc, there.instructions) == (rows[first][0], first)


def test_steps_ranges_and_writes_are_repeated(often: None) -> None:
    """The user's changes to the run are repeated: turns out of order, and writes to registers and memory."""
    launch = DEMOS / "reduce" / "reduce.toml"
    rng = random.Random(5)
    for target in TARGETS:
        run = Run(launch, target)
        assert run.recorder is not None
        states = {0: run.state()}
        for _ in range(120 if EVERYTHING else 60):
            waves = run.dispatch.waves
            if not waves:
                break
            wave = rng.choice(waves)
            kind = rng.randrange(5)
            if kind == 0:
                run.recorder.run(RunOptions(wave=wave.number, step=True))
            elif kind == 1:
                run.recorder.run(RunOptions(wave=wave.number, range=(wave.pc, wave.pc + 32)))
            elif kind == 2:
                run.recorder.run(RunOptions(wave=wave.number, only=True, budget=rng.randrange(1, 60)))
            elif kind == 3:
                run.recorder.run(RunOptions(budget=rng.randrange(1, 300)))
            else:
                with run.recorder.writing(wave):
                    wave.vgpr(3)[rng.randrange(wave.wave_size)] = rng.randrange(1 << 32)
                    if wave.lds.size:
                        wave.lds[rng.randrange(wave.lds.size)] ^= 1
                buffer = next(iter(run.originals))
                run.machine.memory.write(buffer, b"abcd")
                run.recorder.wrote(buffer, b"abcd")
            states[run.recorder.position] = run.state()
        for position in rng.sample(sorted(states), len(states)):
            run.recorder.go(position)
            assert run.state() == states[position]
        middle = sorted(states)[len(states) // 2]
        run.recorder.go(middle)
        run.recorder.branch()
        assert (run.recorder.live, run.recorder.end) == (True, middle)
        while run.recorder.run(RunOptions(budget=1_000)).kind is StopKind.BUDGET:
            pass
        finished = run.state()
        end = run.recorder.end
        run.recorder.go(middle)
        assert run.state() == states[middle]
        run.recorder.go(end)
        assert run.state() == finished and run.recorder.live


def test_entries_of_a_journal_by_position() -> None:
    """The instruction at a position belongs to the entry that ends after it; writes contain no instructions."""
    written = Written(5, Memory(0), b"x")
    journal = Journal([Free(5), written, Given(9, 2, 0, 0, 0, 0), Free(12)])
    assert [journal.index_at(position) for position in (0, 4, 5, 8, 9, 11, 12)] == [0, 0, 2, 2, 3, 3, 4]
    journal.cut(2, 7)
    assert [entry.end for entry in journal.entries] == [5, 5, 7]
    journal.cut(1, 5)
    assert journal.entries == [Free(5)]


def test_positions_out_of_the_history_are_refused() -> None:
    run = Run(DEMOS / "ramp" / "ramp.toml", "gfx90a")
    assert run.recorder is not None
    run.recorder.run(RunOptions(budget=10))
    for position in (-1, 11):
        with pytest.raises(HistoryError, match="from 0 to 10"):
            run.recorder.go(position)
    assert np.all([run.recorder.position == 10])


def test_many_short_runs_leave_checkpoints_as_a_long_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock advances by a millisecond for each instruction, and by nothing else."""
    run = Run(DEMOS / "reduce" / "reduce.toml", "gfx90a")
    assert run.recorder is not None
    monkeypatch.setattr(checkpoint_recorder.time, "thread_time", lambda: run.dispatch.instructions / 1000)
    for _ in range(30):
        run.recorder.run(RunOptions(budget=10))
    kept = run.recorder.checkpoints
    apart = [after - before for before, after in pairwise(kept)]
    assert len(kept) > 5 and all(one >= 30 for one in apart)


NAMES = ("histogram/histogram", "reduce/reduce", "spaces/spaces", "scan/scan.O2")


@pytest.mark.truth
@pytest.mark.parametrize(
    ("target", "name"),
    some_of(list(product(TARGETS, NAMES)), [(TARGETS[turn % 2], name) for turn, name in enumerate(NAMES)]),
)
def test_stores_found_are_those_that_single_steps_show(name: str, target: str, often: None) -> None:
    """For every change of a dword that single steps see, the search finds the store that made it, and no later one."""
    launch = DEMOS / f"{name}.toml"
    run = Run(launch, target)
    assert run.recorder is not None
    while run.recorder.run(RunOptions(budget=700)).kind is StopKind.BUDGET and run.recorder.position < 6_000:
        pass
    end = run.recorder.end
    memories = [a.data for a in run.machine.memory.allocations if a.kind.value in ("buffer", "scratch of")]
    memories += [w.lds for w in run.dispatch.waves if w.lds.size][:1]
    rng = random.Random(7)
    changes: dict[tuple[int, int], list[int]] = {}
    run.recorder.go(0)
    before = [m.copy() for m in memories]
    for position in range(min(end, STEPS // 2)):
        run.recorder.go(position + 1)
        for index, memory in enumerate(memories):
            for at in np.flatnonzero(memory != before[index]).tolist():
                changes.setdefault((index, at // 4 * 4), []).append(position)
            before[index][:] = memory
    assert changes
    for (index, at), positions in rng.sample(sorted(changes.items()), min(6, len(changes))):
        host = memories[index].ctypes.data + at
        ranges = np.array([[host, host + 4]], np.uint64)
        for position in sorted({positions[0], positions[-1]}):
            found = run.recorder.last_store(ranges, position + 1)
            assert found is not None and found.position == position, (index, at, positions)
            assert found.lanes
        first = run.recorder.first_store(ranges, min(end, STEPS // 2))
        assert first is not None and first.position <= positions[0]
