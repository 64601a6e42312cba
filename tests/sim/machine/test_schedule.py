"""The native scheduler compared with the one in Python: the same waves, in the same order, stopped at the same places.
"""

from __future__ import annotations

import itertools
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rocdbg.codeobject import open_file
from rocdbg.sim.core.layout import Status
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import StopKind
from rocdbg.sim.device.dispatch import Dispatch
from rocdbg.sim.device.machine import Machine, MachineOptions
from rocdbg.sim.device.schedule import Schedule
from rocdbg.sim.engine.native import Engine

pytestmark = pytest.mark.llvm

TARGETS = ("gfx90a", "gfx1100", "gfx942", "gfx1201")
GRIDS = [
    # grid, workgroup: several waves per group, partial groups, partial waves
    ((1030, 1, 1), (100, 1, 1)),
    ((20, 9, 5), (8, 4, 2)),
    ((300, 1, 1), (60, 1, 1)),
    ((2048, 1, 1), (512, 1, 1)),
]


@pytest.fixture(scope="module")
def schedule(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """``schedule(target)``: schedule.hip compiled."""
    folder = tmp_path_factory.mktemp("schedule")

    def build(target: str) -> Path:
        output = folder / f"{target}.co"
        if not output.exists():
            command = ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "-O1"]
            source = Path(__file__).with_name("schedule.hip")
            subprocess.run(
                [
                    *command,
                    f"--offload-arch={target}",
                    "--no-gpu-bundle-output",
                    str(source),
                    "-o",
                    str(output),
                ],
                check=True,
            )
        return output

    return build


class Launch:
    """A kernel of schedule.hip on a machine that holds few waves at once."""

    def __init__(
        self, path: Path, kernel: str, grid: Any, workgroup: Any, *values: int, size: int = 1 << 16,
        order: str = "round-robin",
    ) -> None:
        code = open_file(path)
        self.machine = Machine(code.target, MachineOptions(resident_waves=9, schedule=Schedule.parse(order)))
        self.machine.load(code)
        self.out = self.machine.memory.allocate(size, name="out")
        self.next = self.machine.memory.allocate(4, name="next")
        pointers = [self.out.address, self.next.address] if kernel == "order" else [self.out.address]
        arguments = [p.to_bytes(8, "little") for p in pointers] + [v.to_bytes(4, "little") for v in values]
        self.dispatch: Dispatch = self.machine.dispatch(code.kernels[kernel], grid, workgroup, arguments)

    def image(self) -> list[tuple[int, bytes]]:
        return [(a.address, a.data.tobytes()) for a in self.machine.memory.allocations]

    def log(self) -> list[int]:
        count = int(self.next.data.view(np.uint32)[0])
        return [int(n) for n in self.out.data.view(np.uint32)[:count]]

    def standing(self) -> list[tuple[object, ...]]:
        """Everything that is known about the resident waves."""
        return [
            (
                w.number,
                w.workgroup,
                w.index,
                w.pc,
                w.instructions,
                w.waiting,
                w.exec,
                w.scc,
                w.sgprs.tobytes(),
            )
            for w in self.dispatch.waves
        ]


@pytest.fixture
def in_python(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bool], None]]:
    """``in_python(True)`` leaves all turns to the scheduler in Python."""

    def choose(wanted: bool) -> None:
        monkeypatch.undo()
        if wanted:
            monkeypatch.setattr(Engine, "schedule", nothing)

    def nothing(engine: Engine, places: Any, budget: int) -> Status:
        places.set("executed", 0)
        return Status.CONTINUE

    yield choose


def drive(launch: Launch, budgets: tuple[int | None, ...], stops: frozenset[int] = frozenset()) -> list[Any]:
    """Run to the end with the budgets in turn; return the waves' positions after each piece."""
    seen, turn = [], 0
    while not launch.dispatch.finished:
        before = launch.dispatch.instructions
        budget = budgets[turn % len(budgets)]
        stop = launch.dispatch.run(RunOptions(budget=budget, stop_pcs=stops))
        if stop.kind is StopKind.BUDGET:
            assert launch.dispatch.instructions == before + (budget or 0)
        elif stop.kind is StopKind.BREAKPOINT:
            assert stop.pc in stops and stop.wave is not None and stop.wave.pc == stop.pc
        else:
            assert stop.kind is StopKind.DONE
        seen.append((stop.kind, stop.pc, launch.standing() if turn < 40 else launch.dispatch.instructions))
        turn += 1
    return seen


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("grid", "group"), GRIDS)
def test_both_schedulers_agree(
    schedule: Callable[[str], Path], in_python: Callable[[bool], None], target: str, grid: Any, group: Any
) -> None:
    def run(python: bool, *budgets: int | None) -> tuple[Any, ...]:
        in_python(python)
        launch = Launch(schedule(target), "order", grid, group, 40)
        pieces = drive(launch, budgets)
        return pieces, launch.dispatch.instructions, launch.image(), launch.log()

    straight = run(True, None)
    _check_log(straight[-1])
    assert run(False, None) == straight
    for budgets in ((977, 10_000, 33), (1_234,)):
        assert run(False, *budgets) == run(True, *budgets)
        assert run(False, *budgets)[1:] == straight[1:]


def _check_log(log: list[int]) -> None:
    """Each wave logged itself as often as expected, in step with its workgroup, and found no leftover data."""
    times = [{e & 0xFFFFFFF: at for at, e in enumerate(log) if e >> 28 == time} for time in range(3)]
    assert len(log) == sum(map(len, times))
    assert set(times[0]) == set(times[1])
    assert set(times[2]) == {wave for wave in times[0] if wave % 5 != 3}
    for earlier, later in itertools.pairwise(times):
        for wave, at in later.items():
            assert all(seen < at for other, seen in earlier.items() if other // 32 == wave // 32)


@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
def test_stops_change_nothing(schedule: Callable[[str], Path], target: str) -> None:
    def run(stops: frozenset[int], *budgets: int | None) -> tuple[Any, ...]:
        launch = Launch(schedule(target), "order", (330, 1, 1), (100, 1, 1), 3)
        pieces = drive(launch, budgets, stops)
        return launch.dispatch.instructions, launch.image(), [p[0] for p in pieces]

    straight = run(frozenset(), None)
    kernel = Launch(schedule(target), "order", (64, 1, 1), (64, 1, 1), 0)
    entry = kernel.dispatch.waves[0].pc
    pcs, pc = [], entry
    while len(pcs) < 12:  # instructions on the way of the first wave
        pcs.append(pc)
        kernel.dispatch.run(RunOptions(wave=1, step=True))
        pc = kernel.dispatch.waves[0].pc
    for stops in (frozenset(pcs[:1]), frozenset(pcs[::3])):
        stopped = run(stops, None)
        assert stopped[:2] == straight[:2]
        waves = {"gfx90a": 2 + 2 + 2 + 1, "gfx1100": 4 + 4 + 4 + 1}[target]
        assert stopped[2].count(StopKind.BREAKPOINT) >= waves * len(stops)
        assert run(stops, 50, 1)[:2] == straight[:2]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("budget", [None, 7])
def test_a_fault_in_the_middle_of_a_batch(
    schedule: Callable[[str], Path], in_python: Callable[[bool], None], target: str, budget: int | None
) -> None:
    def run(python: bool) -> tuple[Any, ...]:
        in_python(python)
        launch = Launch(schedule(target), "late_fault", (64 * 50, 1, 1), (64, 1, 1), 33)
        while (stop := launch.dispatch.run(RunOptions(budget=budget))).kind is StopKind.BUDGET:
            pass
        assert stop.kind is StopKind.FAULT and stop.wave is not None and stop.fault is not None
        assert stop.wave.workgroup == (33, 0, 0)
        assert stop.lanes == (40 % stop.wave.wave_size,)
        assert stop.wave.index == 40 // stop.wave.wave_size
        again = launch.dispatch.run()  # stays where it is
        assert (again.kind, again.pc, again.wave) == (stop.kind, stop.pc, stop.wave)
        return stop.pc, stop.fault.text, launch.dispatch.instructions, launch.standing(), launch.image()

    assert run(False) == run(True)


@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
def test_a_signal_interrupts_native_turns(schedule: Callable[[str], Path], target: str) -> None:
    launch = Launch(schedule(target), "forever", (64 * 20, 1, 1), (64, 1, 1))
    launch.dispatch.run(RunOptions(budget=100_000))  # translated
    raised: list[float] = []

    def handler(number: int, frame: object) -> None:
        raised.append(time.monotonic())
        launch.dispatch.interrupt()

    before = signal.signal(signal.SIGALRM, handler)
    try:
        began = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        stop = launch.dispatch.run()
        took = time.monotonic() - began
    finally:
        signal.signal(signal.SIGALRM, before)
    assert stop.kind is StopKind.INTERRUPTED and stop.wave is not None
    assert raised and took < 2  # about 0.07 on a machine that has nothing else to do
    assert launch.dispatch.run(RunOptions(budget=5)).kind is StopKind.BUDGET


def test_wave_objects_are_told_when_their_wave_ends(schedule: Callable[[str], Path]) -> None:
    launch = Launch(schedule("gfx1100"), "late_fault", (64 * 50, 1, 1), (64, 1, 1), 99)
    waves = launch.dispatch.waves
    assert [w.number for w in waves] == list(range(1, 9)) and not any(w.ended for w in waves)
    assert launch.dispatch.wave(3) is waves[2]
    launch.dispatch.run(RunOptions(budget=400))
    now = {w.number for w in launch.dispatch.waves}
    assert now and max(now) > 8
    assert [w.ended for w in waves] == [w.number not in now for w in waves]
    launch.dispatch.run()
    assert all(w.ended for w in waves)


@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
@pytest.mark.parametrize("python", [False, True])
def test_much_private_memory_starts_as_zeros(
    schedule: Callable[[str], Path], in_python: Callable[[bool], None], target: str, python: bool
) -> None:
    in_python(python)
    launch = Launch(schedule(target), "deep", (100 * 40, 1, 1), (100, 1, 1))
    launch.dispatch.run()
    assert launch.dispatch.finished and not launch.out.data[:4].any()


def test_a_million_work_items_need_little_memory(schedule: Callable[[str], Path]) -> None:
    launch = Launch(schedule("gfx90a"), "many", (1 << 20, 1, 1), (256, 1, 1))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    launch.dispatch.run()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert launch.dispatch.finished and grown < 200 * 1024  # KiB
    assert launch.out.data.view(np.uint32)[:4].tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("order", ["one-at-a-time", "lockstep 1", "lockstep 3", "random 1", "random 2"])
def test_both_schedulers_agree_on_other_schedules(
    schedule: Callable[[str], Path], in_python: Callable[[bool], None], order: str
) -> None:
    def run(python: bool, *budgets: int | None) -> tuple[Any, ...]:
        in_python(python)
        launch = Launch(schedule("gfx90a"), "order", (1030, 1, 1), (100, 1, 1), 40, order=order)
        pieces = drive(launch, budgets)
        return pieces, launch.dispatch.instructions, launch.image(), launch.log()

    straight = run(True, None)
    assert run(False, None) == straight
    assert run(False, 977, 10_000, 33) == run(True, 977, 10_000, 33)
    assert run(False, 7, 500)[1:] == straight[1:]
    if order != "one-at-a-time":  # which differs from the usual one for long kernels only
        in_python(False)
        usual = Launch(schedule("gfx90a"), "order", (1030, 1, 1), (100, 1, 1), 40)
        usual.dispatch.run()
        assert usual.log() != straight[-1], "the waves log themselves in another order"


def test_words_for_schedules() -> None:
    for text in ("round-robin", "one-at-a-time", "random 0", "random 77", "lockstep 5"):
        assert str(Schedule.parse(text)) == text
    for text in ("", "random", "lockstep", "lockstep 0", "lockstep -1", "random x", "random 1 2", "random " + "9" * 30):
        assert Schedule.parse(text) is None
