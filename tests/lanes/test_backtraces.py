"""Frames without call frame information in clang's code: the chains of callers and their registers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.breadth import some_of
from tests.lanes.backtraces import Chains, check_chains
from tests.lanes.build import SOURCES, build

pytestmark = pytest.mark.llvm


BUILDS = [("gfx90a", "O0"), ("gfx90a", "O2"), ("gfx1100", "O0"), ("gfx1100", "O2")]


@pytest.mark.truth
@pytest.mark.parametrize(("arch", "level"), some_of(BUILDS, BUILDS[1:3]))
def test_every_caller_is_found(arch: str, level: str, tmp_path: Path) -> None:
    launches: dict[str, Path] = {}
    for source in ("lanes.hip", "frames.hip"):
        launches |= build(SOURCES / source, arch, level, tmp_path)
    chains = Chains()
    for kernel in ("calls_in_branches", "pointers", "frames"):
        chains.add(check_chains(launches[kernel], samples=120, most=5000))
    assert chains.right > 250
    assert chains.wrong <= (0.001 if level == "O0" else 0.005) * chains.right, chains.examples
    assert chains.wrong_registers == 0, chains.examples
    assert chains.lost_registers <= 0.01 * chains.registers
    assert chains.registers > 4000


# compilers rely on what the functions they see leave alone: here the register with the return address
@pytest.mark.parametrize(("source", "arch", "kernel"), [
    ("shapes.hip", "gfx1201", "many_returns"),  # calls after waits
    ("frames.hip", "gfx90a", "tail_calls"),
])
def test_what_functions_leave_alone_is_known(source: str, arch: str, kernel: str, tmp_path: Path) -> None:
    launches = build(SOURCES / source, arch, "O2", tmp_path)
    chains = check_chains(launches[kernel], samples=300, most=3000)
    assert chains.right > 100
    assert chains.wrong == 0, chains.examples
    assert (chains.wrong_registers, chains.lost_registers) == (0, 0), chains.examples
