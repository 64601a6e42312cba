"""`maint isa coverage`: the counts of all targets that are documented to run code."""

from __future__ import annotations

import io
import re

import pytest

from rocdbg.cli.shell import Shell
from rocdbg.cli.writer import Writer
from rocdbg.debugger.session import Session
from rocdbg.errors import Error


def run(command: str) -> str:
    out = io.StringIO()
    Shell(Session(), Writer(out), Writer(out)).execute(command)
    return out.getvalue()


@pytest.mark.parametrize("target", ["gfx90a", "gfx942", "gfx1030", "gfx1100"])
def test_most_instructions_are_simulated(target: str) -> None:
    *rows, last = run(f"maint isa coverage {target}").splitlines()
    match = re.fullmatch(rf"{target}: (\d+) exact, (\d+) approximate, (\d+) decoded only\.", last)
    assert match is not None
    exact, approximate, decoded = map(int, match.groups())
    assert len(rows) == 1 + exact + approximate + decoded
    assert exact > 5 * (approximate + decoded)


def test_a_pattern_lists_instructions_with_reasons() -> None:
    lines = run("maint isa coverage gfx90a ^v_\\(add_f32\\|rcp_f32\\|mad_mix_f32\\|interp_mov_f32\\)$").splitlines()
    assert [line.split()[:2] for line in lines[1:-1]] == [
        ["v_add_f32", "exact"],
        ["v_rcp_f32", "approximate"],
    ]
    assert lines[-1] == "gfx90a: 1 exact, 1 approximate, 0 decoded only."


def test_a_target_that_is_none() -> None:
    with pytest.raises(Error, match="foo"):
        run("maint isa coverage foo")
