"""Commands that refer to a certain frame, where the function has recursive callers or callees."""

from __future__ import annotations

from pathlib import Path

import pytest

import rocdbg

CALLS = Path(__file__).resolve().parents[2] / "demo_kernels" / "calls" / "calls.toml"


@pytest.fixture
def deep() -> rocdbg.Debugger:
    """At the first line of fibonacci(5), which fibonacci(6) has called; fibonacci(7) has called fibonacci(6)."""
    made = rocdbg.Debugger(str(CALLS))
    for command in ("break calls.hip:26 if $_lane == 7 && n == 5", "run", "delete", "lane 7"):
        made.execute(command, to_string=True)
    assert frames(made) == ["n=5", "n=6", "n=7", "output"]
    return made


def frames(made: rocdbg.Debugger) -> list[str]:
    """The text that identifies each frame: the argument, or the kernel."""
    lines = made.execute("backtrace", to_string=True).splitlines()
    return [line.partition("(")[2].partition(")")[0] if "fibonacci" in line else "output" for line in lines]


def line(made: rocdbg.Debugger) -> str:
    return made.execute("frame", to_string=True).splitlines()[0].rpartition(":")[2]


def test_until_a_line_that_deeper_calls_reach_first(deep: rocdbg.Debugger) -> None:
    """The frame returns to its caller, because it does not reach the line again."""
    deep.execute("next", to_string=True)
    deep.execute("until 26", to_string=True)
    assert frames(deep) == ["n=6", "n=7", "output"]


def test_advance_stops_in_a_deeper_call(deep: rocdbg.Debugger) -> None:
    deep.execute("next", to_string=True)
    deep.execute("advance 26", to_string=True)
    assert (frames(deep)[:2], line(deep)) == (["n=4", "n=5"], "26")


@pytest.mark.parametrize(("level", "left"), [(0, ["n=6", "n=7", "output"]), (1, ["n=7", "output"]), (2, ["output"])])
@pytest.mark.parametrize("command", ["finish", "reverse-finish"])
def test_finish_leaves_the_frame_that_is_selected(
    deep: rocdbg.Debugger, command: str, level: int, left: list[str]
) -> None:
    deep.execute(f"frame {level}", to_string=True)
    deep.execute(command, to_string=True)
    assert frames(deep) == left


def test_a_checkpoint_has_its_lane_and_its_position(deep: rocdbg.Debugger) -> None:
    deep.execute("checkpoint", to_string=True)
    before = deep.execute("info registers pc", to_string=True)
    for command in ("lane 6", "stepi 3", "restart 1"):
        deep.execute(command, to_string=True)
    assert deep.execute("print $_lane", to_string=True).endswith("= 7\n")
    assert deep.execute("info registers pc", to_string=True) == before
