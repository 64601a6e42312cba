"""Parameters of an optimised kernel whose location the compiler has lost: what was passed, as ``x@entry``."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocdbg.debugger.session import Session

SAXPY = Path(__file__).resolve().parent.parent.parent / "demo_kernels" / "saxpy" / "saxpy.O2.toml"


@pytest.fixture(scope="module")
def stopped() -> Session:
    """saxpy at -O2, stopped behind the last use of its parameters."""
    session = Session()
    session.load(SAXPY)
    session.break_at("saxpy.hip:10")
    session.run()
    return session


def test_frame_lines_give_what_was_passed(stopped: Session) -> None:
    rows = [(name, stopped.data.format_nested(value)) for name, value in stopped.data.arguments(stopped.focus.frame())]
    x, y = (stopped.data.format_nested(stopped.data.evaluate(f"{name}@entry")) for name in "xy")
    assert rows == [("a@entry", "2"), ("x@entry", x), ("y@entry", y), ("n@entry", "1000")]


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("n@entry", "1000"),
        ("n@entry + 1", "1001"),
        ("x@entry[2]", "2"),
        ("x@entry[2]@3", "{2, 3, 4}"),
        ("*y@entry", "1"),
        ("product@entry", "<optimized out>"),
    ],
)
def test_expressions(stopped: Session, expression: str, text: str) -> None:
    assert stopped.data.format(stopped.data.evaluate(expression)) == text


def test_the_variable_itself_stays_lost(stopped: Session) -> None:
    assert stopped.data.format(stopped.data.evaluate("n")) == "<optimized out>"


def test_before_the_first_instruction_nothing_is_in_stack_slots() -> None:
    session = Session()
    session.load(SAXPY.with_name("saxpy.toml"))
    session.break_at("*&saxpy")
    session.run()
    names = [name for name, _ in session.data.arguments(session.focus.frame())]
    assert names == ["a@entry", "x@entry", "y@entry", "n@entry"]
    session.break_at("saxpy.hip:8")
    session.running.proceed()
    assert [name for name, _ in session.data.arguments(session.focus.frame())] == ["a", "x", "y", "n"]
