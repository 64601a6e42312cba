"""Which waves run when, and what stops a dispatch, with scripts in place of kernels (see scripted.py)."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from rocdbg.sim.core.run_options import RunOptions, RunRequestError
from rocdbg.sim.core.stops import Stop
from rocdbg.sim.device.schedule import QUANTUM


def _load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


scripting = _load("scripted")
scripted, BASE = scripting.scripted, scripting.BASE


def at(index: int) -> int:
    """The address of a word in a script."""
    return int(BASE + index * 4)


def brief(stop: Stop) -> tuple[str, int | None, int | None]:
    """Kind, wave number, index of the word at pc."""
    index = (stop.pc - BASE) // 4 if stop.pc is not None else None
    return stop.kind.name, stop.wave.number if stop.wave else None, index


def test_waves_run_one_after_the_other_to_the_end() -> None:
    dispatch, engine = scripted("nop end", groups=(2, 1, 1), group_waves=2)
    assert [(w.number, w.workgroup, w.index) for w in dispatch.waves] == [
        (1, (0, 0, 0), 0),
        (2, (0, 0, 0), 1),
        (3, (1, 0, 0), 0),
        (4, (1, 0, 0), 1),
    ]
    assert brief(dispatch.run()) == ("DONE", None, None)
    assert engine.trace == [(n, word) for n in (1, 2, 3, 4) for word in ("nop", "end")]
    assert dispatch.finished and dispatch.instructions == 8 and dispatch.waves == ()
    assert brief(dispatch.run()) == ("DONE", None, None)


def test_groups_are_created_as_others_end_x_fastest() -> None:
    dispatch, engine = scripted("end", groups=(2, 2, 2), resident_groups=2)
    seen = []
    engine.on_run = lambda: seen.append([w.workgroup for w in dispatch.waves])
    dispatch.run()
    assert seen[0] == [(0, 0, 0), (1, 0, 0)]
    assert seen[1] == [(1, 0, 0), (0, 1, 0)]
    assert seen[-1] == [(1, 1, 1)]
    assert max(map(len, seen)) == 2
    assert dispatch.instructions == 8


def test_a_barrier_waits_for_the_whole_group_and_no_other() -> None:
    dispatch, engine = scripted("nop barrier nop end", groups=(2, 1, 1), group_waves=2)
    dispatch.run()
    order = [f"{number}{word[0]}" for number, word in engine.trace]
    assert order == [
        "1n",
        "1b",
        "2n",
        "2b",
        "3n",
        "3b",
        "4n",
        "4b",
        "1n",
        "1e",
        "2n",
        "2e",
        "3n",
        "3e",
        "4n",
        "4e",
    ]


def test_a_barrier_does_not_wait_for_ended_waves() -> None:
    # Wave 1 reaches the barrier, wave 2 is made to end at once.
    dispatch, _ = scripted("barrier end", group_waves=2)
    dispatch.wave(2).pc = at(1)
    assert brief(dispatch.run()) == ("DONE", None, None)


def test_a_split_barrier_lets_waves_go_on_until_they_wait() -> None:
    dispatch, engine = scripted("signal nop join nop end", group_waves=2)
    dispatch.run()
    order = [f"{number}{word[0]}" for number, word in engine.trace]
    # Wave 2 completes the barrier and passes it at once; wave 1 waits at "join" meanwhile.
    assert order == ["1s", "1n", "1j", "2s", "2n", "2j", "2n", "2e", "1n", "1e"]


def test_the_first_to_signal_is_told_so() -> None:
    dispatch, _ = scripted("first join nop end", group_waves=2)
    for number in (1, 2):
        dispatch.run(RunOptions(wave=number, step=True))
    assert [w.scc for w in dispatch.waves] == [1, 0]
    assert not any(w.waiting for w in dispatch.waves)
    assert brief(dispatch.run()) == ("DONE", None, None)


def test_a_split_barrier_does_not_wait_for_ended_waves() -> None:
    dispatch, _ = scripted("signal join end", group_waves=2)
    dispatch.wave(2).pc = at(2)
    assert brief(dispatch.run()) == ("DONE", None, None)


def test_long_running_waves_take_turns() -> None:
    dispatch, engine = scripted("wait:2 end", groups=(2, 1, 1))
    dispatch.wave(2).pc = at(1)
    dispatch.run()
    assert engine.trace[:QUANTUM] == [(1, "wait:2")] * QUANTUM
    assert engine.trace[QUANTUM:] == [(2, "end"), (1, "wait:2"), (1, "end")]


def test_sleep_gives_the_turn_away() -> None:
    dispatch, engine = scripted("sleep end", groups=(2, 1, 1))
    dispatch.run()
    assert engine.trace == [(1, "sleep"), (2, "sleep"), (1, "end"), (2, "end")]


def test_each_wave_stops_once_at_a_breakpoint() -> None:
    dispatch, _ = scripted("nop nop end", groups=(2, 1, 1))
    options = RunOptions(stop_pcs={at(1)})
    stops = [brief(dispatch.run(options)) for _ in range(3)]
    assert stops == [("BREAKPOINT", 1, 1), ("BREAKPOINT", 2, 1), ("DONE", None, None)]


def test_a_breakpoint_at_the_first_instruction_stops_every_wave() -> None:
    dispatch, _ = scripted("nop end", groups=(2, 1, 1))
    options = RunOptions(stop_pcs={at(0)})
    stops = [brief(dispatch.run(options)) for _ in range(3)]
    assert stops == [("BREAKPOINT", 1, 0), ("BREAKPOINT", 2, 0), ("DONE", None, None)]


def test_a_breakpoint_in_a_loop_stops_each_time() -> None:
    dispatch, _ = scripted("nop nop back:0")
    options = RunOptions(stop_pcs={at(1)})
    assert [brief(dispatch.run(options)) for _ in range(3)] == [("BREAKPOINT", 1, 1)] * 3
    assert dispatch.instructions == 7


def test_a_wave_moved_by_the_debugger_stops_where_it_was_put() -> None:
    dispatch, _ = scripted("nop nop nop end")
    options = RunOptions(stop_pcs={at(1), at(2)})
    dispatch.run(options)
    dispatch.wave(1).pc = at(2)
    assert brief(dispatch.run(options)) == ("BREAKPOINT", 1, 2)
    assert dispatch.instructions == 1


def test_stepping_executes_one_instruction_of_one_wave() -> None:
    dispatch, engine = scripted("nop nop end", groups=(2, 1, 1))
    step = RunOptions(wave=2, step=True, stop_pcs={at(0), at(1)})
    assert brief(dispatch.run(step)) == ("STEP", 2, 1)
    assert brief(dispatch.run(step)) == ("STEP", 2, 2)
    assert engine.trace == [(2, "nop"), (2, "nop")]
    assert brief(dispatch.run(step)) == ("WAVE_DONE", 2, None)
    with pytest.raises(RunRequestError, match="wave 2 has ended"):
        dispatch.run(step)
    assert brief(dispatch.run(RunOptions(wave=1, step=True))) == ("STEP", 1, 1)


def test_stepping_past_a_barrier_lets_the_others_come() -> None:
    dispatch, engine = scripted("barrier nop end", group_waves=2)
    step = RunOptions(wave=1, step=True)
    assert brief(dispatch.run(step)) == ("STEP", 1, 1)
    assert dispatch.wave(1).waiting
    assert brief(dispatch.run(step)) == ("STEP", 1, 2)
    assert engine.trace == [(1, "barrier"), (2, "barrier"), (1, "nop")]


def test_another_wave_can_stop_while_one_steps_past_a_barrier() -> None:
    dispatch, _ = scripted("barrier nop end", group_waves=2)
    step = RunOptions(wave=1, step=True, stop_pcs={at(0)})
    assert brief(dispatch.run(step)) == ("STEP", 1, 1)
    assert brief(dispatch.run(step)) == ("BREAKPOINT", 2, 0)
    assert brief(dispatch.run(step)) == ("STEP", 1, 2)


def test_range_stepping_ends_outside_of_the_range() -> None:
    dispatch, engine = scripted("nop nop nop end", groups=(2, 1, 1))
    stop = dispatch.run(RunOptions(wave=1, range=(at(0), at(2))))
    assert brief(stop) == ("RANGE", 1, 2)
    assert engine.trace == [(1, "nop"), (1, "nop")]


def test_range_stepping_runs_others_where_it_needs_them() -> None:
    dispatch, _ = scripted("wait:2 nop end", groups=(2, 1, 1))
    dispatch.wave(2).pc = at(2)
    assert brief(dispatch.run(RunOptions(wave=1, range=(at(0), at(1))))) == ("RANGE", 1, 1)
    dispatch, _ = scripted("barrier nop end", group_waves=2)
    assert brief(dispatch.run(RunOptions(wave=1, range=(at(0), at(1))))) == ("RANGE", 1, 1)
    assert not dispatch.wave(1).waiting


def test_range_stepping_stops_at_breakpoints_within() -> None:
    dispatch, _ = scripted("nop nop nop end")
    stop = dispatch.run(RunOptions(wave=1, range=(at(0), at(3)), stop_pcs={at(1)}))
    assert brief(stop) == ("BREAKPOINT", 1, 1)


def test_only_one_wave_runs_on_request() -> None:
    dispatch, engine = scripted("nop end", groups=(2, 1, 1))
    assert brief(dispatch.run(RunOptions(wave=2, only=True))) == ("WAVE_DONE", 2, None)
    assert engine.trace == [(2, "nop"), (2, "end")]
    assert brief(dispatch.run(RunOptions(wave=1, only=True))) == ("DONE", None, None)


@pytest.mark.parametrize(("budget", "index"), [(0, 0), (1, 1), (2, 2)])
def test_the_budget_is_exact(budget: int, index: int) -> None:
    dispatch, _ = scripted("nop nop nop end")
    assert brief(dispatch.run(RunOptions(budget=budget))) == ("BUDGET", 1, index)
    assert dispatch.instructions == budget
    assert brief(dispatch.run()) == ("DONE", None, None)


def test_an_interrupt_stops_an_endless_loop() -> None:
    dispatch, engine = scripted("back:0")
    engine.on_run = dispatch.interrupt
    assert brief(dispatch.run()) == ("INTERRUPTED", 1, 0)
    assert dispatch.instructions == QUANTUM


@pytest.mark.parametrize(
    ("word", "kind", "trap", "exception"),
    [
        ("trap2", "TRAP", 2, True),
        ("illegal", "ILLEGAL", None, True),
        ("missing", "UNSUPPORTED", None, True),
    ],
)
def test_exceptions_stay_where_they_are(word: str, kind: str, trap: int | None, exception: bool) -> None:
    dispatch, _ = scripted(f"nop {word} end")
    for _ in range(2):
        stop = dispatch.run()
        assert brief(stop) == (kind, 1, 1)
        assert (stop.trap, stop.is_exception) == (trap, exception)
    assert dispatch.instructions == 1


def test_a_debug_trap_is_passed_once_reported() -> None:
    dispatch, _ = scripted("nop trap3 end")
    stop = dispatch.run()
    assert brief(stop) == ("TRAP", 1, 2)
    assert (stop.trap, stop.is_exception) == (3, False)
    assert brief(dispatch.run()) == ("DONE", None, None)
    assert dispatch.instructions == 3


def test_two_runs_are_the_same() -> None:
    traces = []
    for _ in range(2):
        dispatch, engine = scripted("nop barrier sleep nop end", groups=(3, 1, 1), group_waves=2)
        dispatch.run()
        traces.append(engine.trace)
    assert traces[0] == traces[1]


@pytest.mark.parametrize(
    "make",
    [
        lambda: RunOptions(step=True),
        lambda: RunOptions(range=(0, 4)),
        lambda: RunOptions(only=True),
        lambda: RunOptions(wave=1, step=True, range=(0, 4)),
    ],
)
def test_contradicting_options(make: Any) -> None:
    with pytest.raises(RunRequestError):
        make()


def test_a_released_dispatch_cannot_run() -> None:
    dispatch, _ = scripted("nop end")
    dispatch.release()
    dispatch.release()
    with pytest.raises(RunRequestError, match="released"):
        dispatch.run()
    with pytest.raises(RunRequestError, match="wave 7 does not exist"):
        scripted("end")[0].wave(7)
