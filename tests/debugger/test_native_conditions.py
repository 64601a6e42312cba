"""Conditions on variables in optimised code: the target evaluates them, with the same results as the evaluator."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.debugger import Session
from rocdbg.debugger.running.stop_events import StopReason

pytestmark = pytest.mark.llvm


def half(i: int) -> int:
    """`i * 1000 - 20000` as a short."""
    return (i * 1000 - 20000 + 0x8000) % 0x10000 - 0x8000


CONDITIONS = (
    (23, "byte > 200", lambda i: i * 37 % 256 > 200),
    (23, "half < -15000", lambda i: half(i) < -15000),
    (23, "byte + half > 30000 || ~byte == -78", lambda i: i * 37 % 256 + half(i) > 30000 or i * 37 % 256 == 77),
    (23, "odd && byte % 3 == 0", lambda i: i & 1 and i * 37 % 256 % 3 == 0),
    (23, "odd ? half > 0 : byte", lambda i: half(i) > 0 if i & 1 else i * 37 % 256),
    (23, "(unsigned) half * 1.0 > 4294960000.0", lambda i: -7296 < half(i) < 0),
    (23, "byte * 0.0 / (byte * 0.0)", lambda i: True),  # not a number, which is not zero
    (9, "x == 4 && threadIdx.x == 4 && blockDim.x > 1", lambda i: i == 4),  # `this` is optimised out
)


def first_stop(path: Path, way: str, line: int, condition: str, lane: int | None = None) -> tuple[int, str, int]:
    session = Session()
    session.settings.condition_evaluation = way
    session.load(path)
    session.launch.set_grid("256")
    session.launch.set_workgroup("64")
    for index, text in enumerate(("i32[256]:zeros", "i32[256]:arange")):
        session.launch.set_argument(index, text)
    made = session.break_at(f"converted.hip:{line}", condition=condition, thread=None if lane is None else 2, lane=lane)
    lanes, event = 0, session.run()
    assert event.reason is StopReason.BREAKPOINT, condition
    while event.reason is StopReason.BREAKPOINT:
        assert event.scope.thread is not None
        wave = session.inferior.wave(event.scope.thread)
        lanes |= event.lanes << (event.scope.thread - 1) * wave.lane_count
        event = session.running.proceed()
    return lanes, session.running.native.evaluated_by(made), made.hit_count


@pytest.mark.parametrize("target", ("gfx90a", "gfx1100"))
@pytest.mark.parametrize(("line", "condition", "holds"), CONDITIONS)
def test_both_ways_agree_and_the_target_answers(
    compiled: Callable[..., Path], target: str, line: int, condition: str, holds: Callable[[int], object]
) -> None:
    path = compiled("converted.hip", target, "-O1")
    host, native = (first_stop(path, way, line, condition) for way in ("host", "auto"))
    assert host[0] == native[0] == sum(1 << i for i in range(256) if holds(i))
    assert host[2] == native[2]
    assert native[1] == "target"


@pytest.mark.parametrize("target", ("gfx90a", "gfx1100"))
def test_only_the_lane_that_a_breakpoint_names(compiled: Callable[..., Path], target: str) -> None:
    """Of lanes 5 and 6 of wave 2, only lane 5 satisfies the condition; the named lane stops or does not."""
    path = compiled("converted.hip", target, "-O1")
    bit = (64 if target == "gfx90a" else 32) + 5
    for way, answered in (("host", "host"), ("auto", "target")):
        assert first_stop(path, way, 23, f"byte == {bit * 37 % 256}", lane=5) == (1 << bit, answered, 1)
