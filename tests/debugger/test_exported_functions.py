"""Callers of functions that are called through the global offset table: compilers rely on the registers these change.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.codeobject import open_file
from rocdbg.debugger import Session

pytestmark = pytest.mark.llvm


@pytest.mark.parametrize("target", ["gfx90a", "gfx1030", "gfx1201"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_backtrace_behind_an_earlier_call(compiled: Callable[..., Path], target: str, level: str) -> None:
    """The return address is in a vector register that `first` certainly leaves unchanged."""
    session = Session()
    session.load(compiled("exported.hip", target, level, "-fvisibility=default"))
    session.launch.set_grid("64")
    session.launch.set_argument(0, "i32[64]:zeros")
    session.break_at("second")
    session.run()
    assert [frame.name for frame in session.focus.frames()] == ["second", "both", "kern"]
    session.focus.select_lane(5)
    session.focus.select_frame(1)
    assert session.data.evaluate("a").as_int() == 15
    finished = session.running.finish()
    assert finished.returned is not None and finished.returned.value.as_int() == 29


def test_the_table(compiled: Callable[..., Path]) -> None:
    """The table contains the addresses of the functions, and no field that code may write."""
    code_object = open_file(compiled("exported.hip", "gfx90a", "-O0", "-fvisibility=default"))
    names = {symbol.value: symbol.name for symbol in code_object.symbols if symbol.name in ("first", "second", "both")}
    assert sorted(names[address] for address in code_object.fixed_pointers.values()) == ["both", "first", "second"]
    (section,) = [one for one in code_object.container.section_list if one.name == ".got"]
    assert all(0 <= field - section.address < section.size for field in code_object.fixed_pointers)
