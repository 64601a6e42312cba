"""``function::variable`` and ``'file'::variable``: static ones have a value everywhere, others in their frame."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.debugger import Session
from rocdbg.errors import Error

pytestmark = pytest.mark.llvm
Compile = Callable[..., Path]

STATIC = {
    "helper::inner": "12",
    "'helper'::inner": "12",
    "'helper(int)'::inner": "12",
    "'traps.hip'::hidden": "21",
    "'traps.hip'::helper(int)::inner": "12",
    "sizeof(helper::tally)": "16",
}


def show(session: Session, text: str) -> str:
    try:
        return session.data.format(session.data.evaluate(text))
    except Error as error:
        return str(error)


def start(path: Path, kernel: str) -> Session:
    session = Session()
    session.load(path)
    session.launch.set_kernel(kernel)
    session.launch.set_grid("64")
    session.launch.set_workgroup("64")
    session.launch.set_dynamic_lds(256)
    session.launch.set_argument(0, "i32[64]:zeros")
    session.launch.set_argument(1, "7")
    return session


def test_without_a_running_program(compiled: Compile) -> None:
    session = start(compiled("traps.hip"), "kern")
    assert {text: show(session, text) for text in STATIC} == STATIC
    assert show(session, "helper::n") == "No frame is currently executing in block helper(int)."
    assert show(session, "helper::nothing") == 'No symbol "nothing" in specified context.'


def test_from_another_frame(compiled: Compile) -> None:
    session = start(compiled("traps.hip"), "kern")
    session.run()
    assert session.focus.frame().name == "check"
    assert {text: show(session, text) for text in STATIC} == STATIC
    assert show(session, "helper::inner = 30") == "30"
    assert show(session, "helper::inner") == "30"
    assert show(session, "helper::n") == "No frame is currently executing in block helper(int)."


def test_lds_of_a_function_that_several_kernels_call(compiled: Compile) -> None:
    for kernel in ("kern", "other"):
        session = start(compiled("traps.hip"), kernel)
        session.break_at("traps.hip:15")
        session.run()
        while session.focus.frame().name != "helper":
            session.running.proceed()  # debug traps
        n = 7 if kernel == "kern" else 0
        assert show(session, "&tally") == "(int (*)[4]) local#0x0"
        assert show(session, "tally[n & 3]") == str(n + 60)  # of the lanes with the same n & 3 the last one
