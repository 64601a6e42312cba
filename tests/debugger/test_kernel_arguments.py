"""Parameters of an optimised kernel without a location: the passed values, as ``x@entry``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rocdbg.debugger.session import Session
from rocdbg.errors import Error

SAXPY = Path(__file__).resolve().parent.parent.parent / "demo_kernels" / "saxpy" / "saxpy.O2.toml"


@pytest.fixture(scope="module")
def stopped() -> Session:
    """saxpy at -O2, stopped after the last use of its parameters."""
    session = Session()
    session.load(SAXPY)
    session.break_at("saxpy.hip:10")
    session.run()
    return session


@pytest.fixture
def told(stopped: Session) -> Iterator[Session]:
    """The same without values that are recovered from machine code."""
    settings = stopped.settings.print
    stopped.settings.print = settings.with_changes(recovered=False)
    yield stopped
    stopped.settings.print = settings


def test_frame_lines_give_what_was_passed(told: Session) -> None:
    stopped = told
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


def test_the_variable_itself_is_lost_for_the_compiler(told: Session) -> None:
    assert told.data.format(told.data.evaluate("n")) == "<optimized out>"


def test_a_parameter_that_nothing_assigns_to_still_is_what_was_passed(stopped: Session) -> None:
    value = stopped.data.evaluate("n")
    assert stopped.data.format(value) == "1000 <recovered>"
    number = stopped.history.record(value)
    assert stopped.data.format(stopped.history.get(number)) == "1000"
    assert stopped.data.format(stopped.data.evaluate("n + 1")) == "1001"
    rows = [(name, stopped.data.format_nested(value)) for name, value in stopped.data.arguments(stopped.focus.frame())]
    assert rows[0] == ("a", "2 <recovered>")
    with pytest.raises(Error, match="not an lvalue"):
        stopped.data.evaluate("n = 3")


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
