"""Variables in vector registers, by lane, as compilers of several years describe them in optimised code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import rocdbg
from rocdbg.debugger import Session
from rocdbg.debugger.running.stop_events import StopReason
from tests.breadth import in_turn

PRODUCERS = Path(__file__).parents[1] / "producers"
INPUT = [-10 if i == 9 else i * 7919 % 70001 - 35000 for i in range(64)]
OBJECTS = ("clang14", "clang15", "clang19")
LINE = 19
"""Line of lane_values.hip after all of its variables."""


def wrapped(number: int, bits: int = 32) -> int:
    """A number as a signed integer with this many bits."""
    return (number + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def quotient(number: int, by: int) -> int:
    """The quotient in C: rounded towards zero."""
    return abs(number) // by * (1 if number >= 0 else -1)


VALUES: dict[str, Callable[[int], object]] = {
    "k": lambda k: k,
    "bit": lambda k: wrapped(1 << (k & 31)),
    "twice": lambda k: 2 * k + 5,
    "negative": lambda k: -k,
    "half": lambda k: k >> 1,
    "third": lambda k: quotient(k, 3),
    "rest": lambda k: k - 7 * quotient(k, 7),
    "hash": lambda k: k * 0x9E3779B9 % (1 << 32),
    "top": lambda k: k * 0x9E3779B9 % (1 << 32) >> 27,
    "wide": lambda k: 3 * k,
    "low": lambda k: wrapped(k, 16),
    "same": lambda k: str(k == -10).lower(),
    "more": lambda k: str(k > 7).lower(),
}
"""The value of each variable for an input. For `more`, only the sign of the compared numbers shows whether the
comparison was signed, so its value may be unknown.
"""


@pytest.mark.parametrize("name", OBJECTS)
def test_every_lane_has_its_own_values(name: str, tmp_path: Path) -> None:
    launch = tmp_path / "values.toml"
    launch.write_text(
        f'[launch]\nfile = "{PRODUCERS / f"lane_values.{name}.co"}"\nkernel = "values"\ngrid = [64, 1, 1]\n'
        f'workgroup = [64, 1, 1]\n[[arg]]\nbuffer = "i32[128]"\n[[arg]]\nbuffer = "i32[64]"\ninit = {INPUT}\n'
    )
    made = rocdbg.Debugger(str(launch))
    made.execute("set print recovered off", to_string=True)
    made.execute(f"break {LINE}", to_string=True)
    made.execute("run", to_string=True)
    wrong = {}
    for lane in (0, 1, 2, 7, 9, 17, 30, 31):
        made.execute(f"lane {lane}", to_string=True)
        for variable, value in VALUES.items():
            text = made.execute(f"print {variable}", to_string=True).partition(" = ")[2].strip()
            unknown = text in ("<not known per lane>", "<optimized out>") and variable in ("more", "same")
            if text != str(value(INPUT[lane])) and not unknown:
                wrong[lane, variable] = text, value(INPUT[lane])
    assert not wrong


CONDITIONS = (
    "twice > 0", "bit == 1024", "half < -1000 && third > -9000", "negative + rest > 5", "hash > 0x80000000", "top == 3",
    "wide < -50000", "low == k", "same", "more ? twice < 9 : half > -99", "!more", "twice - half > third * 2",
)


@pytest.mark.truth
@pytest.mark.parametrize(("name", "condition"), in_turn(list(OBJECTS), CONDITIONS))
def test_conditions_hold_alike_evaluated_and_compiled(name: str, condition: str) -> None:
    found = []
    for way in ("host", "auto"):
        session = Session()
        session.settings.condition_evaluation = way
        session.load(PRODUCERS / f"lane_values.{name}.co")
        session.launch.set_grid("256")
        session.launch.set_workgroup("64")
        session.launch.set_argument(0, "i32[320]:zeros")
        session.launch.set_argument(1, "i32[256]:random:7")
        session.break_at(f"lane_values.hip:{LINE}", condition=condition)
        lanes, event = [], session.run()
        while event.reason is StopReason.BREAKPOINT:
            lanes.append((event.scope.thread, event.lanes))
            event = session.running.proceed()
        found.append(lanes)
    assert found[0] == found[1]
