"""Calls of device functions in expressions: passing of arguments and results, and that nothing else changes."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from rocdbg.cli.shell import Shell
from rocdbg.cli.writer import Writer
from rocdbg.debugger import Session
from rocdbg.debugger.target.simulated_target import SimTarget
from tests.breadth import some_of

pytestmark = pytest.mark.llvm

STOP = "out[i] = local;"
ANYWHERE = [  # what needs no variable of the kernel, which optimised code may not have
    ("narrow(3, 65535)", "4 '\\004'"),
    ("narrow(-100, 100)", "56 '8'"),
    ("wide(1000000000000, -3, 'c')", "1000000000096"),
    ("mixed(3.0, 1.5, 0.25)", "3.25"),
    ("halved(5)", "2.5"),
    ("is_odd(3)", "true"),
    ("is_odd(4)", "false"),
    ("negate(true)", "-1"),
    ("negate(0)", "1"),
    ("make_small(7)", "{a = 7, b = 8 '\\b'}"),
    ("make_small(7).b", "8 '\\b'"),
    ("make_mid(3)", "{a = {3, 4, 5, 6, 7}, s = 3}"),
    ("make_padded(2)", "{c = 2 '\\002', l = 200, s = -2}"),
    ("make_big(3).a[39]", "42"),
    ("make_big(3).d", "3"),
    ("make_copied(9)", "{x = 9}"),
    ("of_small(make_small(7), 5)", "20"),
    ("of_mid(make_mid(1), 100)", "107"),
    ("of_big(make_big(2), 1)", "46"),
    ("of_two(make_mid(1), make_mid(2), make_mid(3), 4)", "325"),
    ("of_padded(make_padded(2))", "200"),
    ("of_copied(make_copied(9))", "9"),
    ("make_derived(1)", "{<Small> = {a = 1, b = 2 '\\002'}, c = 3, d = 4}"),
    ("of_derived(make_derived(1), 5)", "54321"),
    ("make_tail(1)", "{<NotPlain> = {a = 1, b = 2 '\\002'}, c = 3 '\\003', d = 4}"),
    ("of_tail(make_tail(1), 5)", "54321"),
    ("make_of_empty(1)", "{<Empty> = {<No data fields>}, a = {1, 2, 3}}"),
    ("of_of_empty(make_of_empty(1), 5)", "5321"),
    ("of_twice(make_twice(1), 5)", "5142"),
    ("make_far(1).x[19]", "20"),
    ("of_far(make_far(1), 5)", "5120"),
    ("many(1,0,0,0,0,0,0,0,0,0, 2,0,0,0,0,0,0,0,0,0, 0,0,0,0,0,0,0,0,0,3, 4, 5, 6.5)", "654321"),
    ("where()", "1005"),
    ("overloaded(1)", "1"),
    ("overloaded(1.0f)", "2"),
    ("overloaded('c')", "1"),
    ('overloaded("abc")', "4"),
    ('length("hello, world")', "12"),
    ("factorial(5)", "120"),
    ("chosen(4)", "24"),
    ("(*chosen)(4)", "24"),
    ("(&factorial)(3)", "6"),
    ("Counted::twice(4)", "8"),
    ("factorial(factorial(3)) + 1", "721"),
    ("sizeof(factorial(3))", "4"),
    ("is_odd(1) && is_odd(2) || is_odd(3)", "true"),
    ("1 ? factorial(3) : crash(0)", "6"),
]
VARIABLES = [  # in lane 5 of the second group
    ("of_small(small, 1)", "8"),
    ("of_odd(odd)", "521"),
    ("of_wrapped(wrapped)", "11"),
    ("of_mid(mid, 1)", "17"),
    ("of_padded(padded)", "9"),
    ("of_big(big, 1)", "55"),
    ("of_empty(empty, 6)", "6"),
    ("widest(large, -7)", "-2"),
    ("of_bits(bits)", "1"),
    ("joined(together, 3)", "{a = 5, b = 1003, c = -78, t = 114 'r'}"),
    ("apart(spread, 1)", "{c = 99 'c', a = -2, b = 399, d = -499, z = 5}"),
    ("scaled(v, 2)", "{2, 4, 6, 10}"),
    ("halves(h)", "{2, 4, 6}"),
    ("swapped(pair)", "{2, 1}"),
    ("p + q", "{x = 8, y = 6}"),
    ("p + q + q", "{x = 11, y = 10}"),
    ("p == p", "true"),
    ("p == q", "false"),
    ("-p", "{x = -5, y = -2}"),
    ("(p + q)[1]", "6"),
    ("p[0]", "5"),
    ("2.0f * q", "{x = 6, y = 8}"),
    ("geometry::length2(q)", "25"),
    ("geometry::length2(p + q)", "100"),
    ("square.area()", "25"),
    ("shape->area()", "25"),
    ("shape->doubled()", "50"),
    ("square.weight(3)", "12"),
    ("(shape->*virtual_method)(3)", "12"),
    ("counted.add(3)", "8"),
    ("counted", "{n = 8}"),
    ("(counted.*method)(2)", "10"),
    ("counted.twice(6)", "12"),
    ("overloaded(&small)", "3"),
    ("pointer(4)", "24"),
    ("put(&local, 9)", "void"),
    ("local", "9"),
    ("replace(local, 77)", "9"),
    ("local", "77"),
    ("local + factorial(3)", "83"),
    ("next()", "6"),
    ("next() + next()", "15"),
    ("total", "8"),
]
BARE = [
    ("factorial(5)", "120"),
    ("sizes()", "128064"),
    ("roomy(4)", "9"),
    ("mixed(3.0, 1.5, 0.25)", "3.25"),
    ("make_big(3).a[39]", "42"),
    ("where()", "1000"),
]
ERRORS = [
    ("factorial()", "Too few arguments in function call."),
    ("factorial(1, 2)", "Cannot resolve function factorial to any overloaded instance"),
    ("factorial(p)", "Cannot resolve function factorial to any overloaded instance"),
    ('factorial("ab")', "Cannot resolve function factorial to any overloaded instance"),
    ("replace(3, 77)", "Cannot resolve function replace to any overloaded instance"),
    ("overloaded()", "Too few arguments in function call."),
    ("nosuch(3)", 'No symbol "nosuch" in current context.'),
    ("inlined(3)", 'No symbol "inlined" in current context.'),
    ("p - q", "Cannot resolve function operator- to any overloaded instance"),
    ("!p", 'No symbol "operator!" in current context.'),
    ("square.nosuch(1)", "Couldn't find method Square::nosuch"),
    ("local(3)", "'at 0x0x5' has unknown return type; cast the call to its declared return type"),
    ("p(3)", "Invalid data type for function to be called."),
]


def start(path: Path) -> tuple[Shell, io.StringIO]:
    """Stopped in the second workgroup, lane 5."""
    session = Session()
    session.load(path)
    session.launch.set_kernel("kern")
    session.launch.set_grid("128")
    session.launch.set_workgroup("64")
    session.launch.set_argument(0, "i32[128]:zeros")
    session.launch.set_argument(1, "5")
    line = next(n for n, text in enumerate((Path(__file__).parent / "sources/called.hip").open(), 1) if STOP in text)
    session.break_at(f"called.hip:{line}", condition="blockIdx.x == 1")
    session.run()
    session.focus.select_lane(5)
    text = io.StringIO()
    return Shell(session, Writer(text), Writer(text)), text


def answers(shell: Shell, text: io.StringIO, expressions: list[str]) -> list[str]:
    """The output of ``output`` for each expression, or its error."""
    found = []
    for expression in expressions:
        text.seek(0)
        text.truncate()
        run_lines(shell, f"output {expression}")
        found.append(text.getvalue().rstrip("\n"))
    return found


def run_lines(shell: Shell, *lines: str) -> None:
    """Run commands, some of which fail."""
    for line in lines:
        shell.guard(partial(shell.run_line, line), "")


def wave_bytes(shell: Shell) -> bytes:
    """All state of the focused wave."""
    target = shell.session.inferior.need_target()
    assert isinstance(target, SimTarget)
    return target.dispatch.wave(shell.session.focus.current.thread or 0).state.tobytes()


TARGETS = ("gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201")
BUILDS = [(target, level) for target in TARGETS for level in ("-O0", "-O2")]


@pytest.mark.truth
@pytest.mark.parametrize(("target", "level"), some_of(BUILDS, [BUILDS[0], BUILDS[7], BUILDS[9]]))
def test_arguments_and_results(compiled: Callable[..., Path], target: str, level: str) -> None:
    shell, text = start(compiled("called.hip", target, level))
    table = ANYWHERE + (VARIABLES if level == "-O0" else [])
    before = wave_bytes(shell)
    found = answers(shell, text, [expression for expression, _ in table])
    assert list(zip([expression for expression, _ in table], found, strict=True)) == table
    assert wave_bytes(shell) == before


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
def test_kernels_that_have_nothing_of_what_functions_need(
    compiled: Callable[..., Path], target: str, level: str
) -> None:
    session = Session()
    session.load(compiled("called.hip", target, level))
    session.launch.set_kernel("bare")
    session.launch.set_grid("128")
    session.launch.set_workgroup("64")
    session.launch.set_argument(0, "i32[128]:zeros")
    session.break_at("bare")
    session.run()
    text = io.StringIO()
    shell = Shell(session, Writer(text), Writer(text))
    run_lines(shell, "workgroup 1")
    before = wave_bytes(shell)
    found = answers(shell, text, [expression for expression, _ in BARE])
    assert list(zip([expression for expression, _ in BARE], found, strict=True)) == BARE
    assert wave_bytes(shell) == before
    session.breakpoints.clear()
    event = session.running.proceed()
    assert event.exit is not None


def test_errors(compiled: Callable[..., Path]) -> None:
    shell, text = start(compiled("called.hip", "gfx90a"))
    found = answers(shell, text, [expression for expression, _ in ERRORS])
    assert list(zip([expression for expression, _ in ERRORS], found, strict=True)) == ERRORS


@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
def test_the_run_goes_on_as_without_calls(compiled: Callable[..., Path], target: str) -> None:
    results = []
    for called in (False, True):
        shell, _ = start(compiled("called.hip", target))
        session = shell.session
        if called:
            assert session.running.value_of_lanes("factorial(i % 4)").element(7).as_int() == 6
            run_lines(shell, "print crash(0)", "print factorial(5)", "print crash(0)", "return", "return")
        assert session.focus.current.lane == 5
        session.breakpoints.clear()
        memory = session.inferior.need_target()
        assert isinstance(memory, SimTarget)
        event = session.running.proceed()
        assert event.exit is not None
        results.append((memory.bound.buffers[0].contents.tobytes(), event.exit.instructions))
    assert results[0] == results[1]
    assert np.frombuffer(results[0][0], np.int32).any()


STOPS = [
    ("forever(1)", "was signaled"),
    ("alone(1)", "was signaled"),
    ("ended(1)", "exited"),
]


@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
@pytest.mark.parametrize(("expression", "how"), STOPS)
def test_functions_that_do_not_return(compiled: Callable[..., Path], target: str, expression: str, how: str) -> None:
    shell, text = start(compiled("called.hip", target))
    shell.session.settings.instruction_budget = 100_000
    shell.session.settings.unwind_on_signal = True
    before = wave_bytes(shell)
    [answer] = answers(shell, text, [expression])
    assert f"The program being debugged {how} while in a function called from GDB." in answer
    assert wave_bytes(shell) == before
    assert answers(shell, text, ["factorial(4)"]) == ["24"]


def test_a_call_given_up_that_ends_the_wave(compiled: Callable[..., Path]) -> None:
    """A called function ends only its copy of the wave: continuing returns to the wave itself."""
    shell, text = start(compiled("called.hip", "gfx90a"))
    before = wave_bytes(shell)
    run_lines(shell, "break ended", "print ended(1)")
    assert "while in a function called from GDB" in text.getvalue()
    run_lines(shell, "continue")
    assert wave_bytes(shell) == before
    assert answers(shell, text, ["factorial(4)"]) == ["24"]
