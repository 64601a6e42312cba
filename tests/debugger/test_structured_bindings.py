"""Structured bindings: parts of an object, or of the target of a reference."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.debugger import Session

pytestmark = pytest.mark.llvm

SHOWN = [
    ("x", "7"), ("y", "2.5"), ("z", "-3"),
    ("r", "5"), ("s", "5.5"), ("t", "6"),
    ("first", "7"), ("second", "8"), ("third", "9"),
    ("second = 80", "80"), ("array", "{7, 80, 9}"),
    ("y = 1.5", "1.5"), ("y", "1.5"), ("x", "7"),
    ("s = 0.5", "0.5"), ("object", "{a = 5, b = 0.5, c = 6}"),
]


@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
def test_structured_bindings(compiled: Callable[..., Path], target: str) -> None:
    session = Session()
    session.load(compiled("bindings.hip", target))
    session.launch.set_grid("1")
    session.launch.set_workgroup("1")
    session.launch.set_argument(0, "i32[1]:zeros")
    session.launch.set_argument(1, "7")
    session.break_at("bindings.hip:13")
    session.run()
    assert [(text, session.data.format(session.data.evaluate(text))) for text, _ in SHOWN] == SHOWN
