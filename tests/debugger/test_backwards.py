"""Back and forth by commands: the state is that of a fresh run after as many instructions."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from rocdbg.api import launch_file
from rocdbg.debugger.session import Session
from rocdbg.debugger.target.recorded import RecordedTarget
from rocdbg.errors import Error
from rocdbg.sim.device.dispatch import Dispatch
from rocdbg.sim.layout import HEADER, VGPRS
from rocdbg.sim.options import RunOptions

DEMOS = Path(__file__).resolve().parents[2] / "demo_kernels"
LAUNCHES = [
    ("calls/calls.toml", "gfx90a", "square"),
    ("calls/calls.O2.toml", "gfx1100", "fibonacci"),
    ("divergence/divergence.toml", "gfx90a", None),
    ("reduce/reduce.toml", "gfx1100", None),
    ("histogram/histogram.O2.toml", "gfx90a", None),
    ("matmul/matmul.toml", "gfx1100", None),
]


def state(dispatch: Dispatch) -> list[Any]:
    """All that registers and memory hold."""
    pointer = HEADER["lds_pointer"].offset  # of the host
    waves = []
    for w in dispatch.waves:
        bytes_ = w.state.tobytes()[: VGPRS + w.vgpr_count * w.wave_size * 4]
        waves.append((w.number, w.waiting, bytes_[:pointer], bytes_[pointer + 8 :], w.lds.tobytes()))
    return [waves, [(a.address, a.data.tobytes()) for a in dispatch.memory.allocations if a.name != "code"]]


def move(session: Session, rng: random.Random) -> str:
    """One command, backwards or forwards."""
    running, time = session.running, session.time
    begin, end = time.need().bounds
    commands: dict[str, Any] = {
        "rsi": lambda: time.stepi(rng.randrange(1, 4)), "rs": time.step, "rn": time.next, "rni": time.nexti,
        "rc": time.proceed, "rfin": time.finish, "goto": lambda: time.go_to(rng.randrange(begin, end)),
        "si": lambda: running.stepi(rng.randrange(1, 4)), "s": running.step, "n": running.next,
        "c": running.proceed, "ni": running.nexti, "fin": running.finish,
    }
    name = rng.choice(sorted(commands))
    try:
        commands[name]()
    except Error as error:
        assert "outermost" in str(error)
    return name


def same_states(
    file: str, target: str, function: str | None, moves: int, seed: str = "", positions: int = 1 << 30
) -> int:
    """Move so often, or to so many positions; each is compared with a fresh run. Gives how many there were."""
    session = Session()
    session.load(DEMOS / file, target)
    session.break_at(function or session.launch.kernel.name)
    rng = random.Random(file + seed)
    session.run()
    while session.inferior.target is not None and not session.running.runner.state.pending_signal:
        session.running.proceed()
    found = {}
    for _ in range(moves):
        if len(found) == positions:
            break
        if session.inferior.target is None:
            session.time.go_to(rng.randrange(session.time.need().bounds[1]))
        name = move(session, rng)
        recorded = session.inferior.target
        if recorded is None:
            continue
        assert isinstance(recorded, RecordedTarget)
        now = state(recorded.dispatch)
        position = session.time.position
        assert found.setdefault(position, now) == now, name
    bound = launch_file(DEMOS / file, arch=target).launch
    for position in sorted(found):
        while bound.dispatch.instructions < position:
            bound.dispatch.run(RunOptions(budget=position - bound.dispatch.instructions))
        assert state(bound.dispatch) == found[position], position
    return len(found)


@pytest.mark.parametrize("file, target, function", LAUNCHES)
def test_any_mixture_of_commands_gives_the_states_of_a_fresh_run(
    file: str, target: str, function: str | None
) -> None:
    """`benchmarks/truth.py` does more of them."""
    assert same_states(file, target, function, 60) > 10


@pytest.mark.parametrize("file, target, function", LAUNCHES)
def test_steps_back_undo_steps_of_instructions(file: str, target: str, function: str | None) -> None:
    """For the wave: what others did while it waited for them is not undone, as they did it before its step."""
    session = Session()
    session.load(DEMOS / file, target)
    session.break_at(function or session.launch.kernel.name, temporary=True)
    session.run()
    recorded = session.inferior.target
    assert isinstance(recorded, RecordedTarget)
    states = []
    for _ in range(25):
        thread = session.focus.current.thread
        assert thread is not None
        states.append([row[2:4] for row in state(recorded.dispatch)[0] if row[0] == thread])
        session.running.stepi()
    while states:
        session.time.stepi()
        assert [row[2:4] for row in state(recorded.dispatch)[0] if row[0] == thread] == states.pop()
