"""Kernels whose variables are known at each point: no recovered value is wrong, and the number of recovered values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.breadth import some_of
from tests.recovery.oracle import Values, compile_object, link, session_on, watch, wrong

pytestmark = pytest.mark.llvm
Built = Callable[[str, str], Path]

OPTIONS = {
    "values.hip": [], "hidden.hip": ["-DTILE=16", "-DREFERENCE=int&", "-grecord-command-line"],
    "opencl.cl": ["-Dbump(value)=((value) += 2)", "-grecord-command-line"],
}
"""Unknown macros of the command line prevent recovery of values that they could change, so the command line is
recorded.
"""
OBJECTS = {"hip": ("values.hip", "hidden.hip"), "cl": ("opencl.cl",)}
"""The first object consists of two units, which have functions with the same names."""
CALLED_OFTEN = frozenset({"weigh", "pick", "shared_name"})

# (object, kernel, target, options, of the pairs of variable and stop: the least share that is recovered, in percent)
CASES = [
    ("hip", "copies", "gfx90a", "-O2", 40),
    ("hip", "positions", "gfx1100", "-O2", 70),
    ("hip", "called", "gfx942", "-O2", 30),
    ("hip", "loops", "gfx1100", "-O2", 30),
    ("hip", "changes", "gfx90a", "-O2", 18),
    ("hip", "names", "gfx1100", "-O2", 25),
    ("hip", "constants", "gfx942", "-O2", 30),
    ("hip", "tails", "gfx90a", "-O2", 20),
    ("cl", "clauses", "gfx1100", "-O2", 40),
    ("cl", "pointers", "gfx90a", "-O2", 40),
]
SLOW = ("loops",)
"""Sessions that take a quarter of the time."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """``built("hip gfx90a", "-O2")``: the path of a code object, made once."""
    folder = tmp_path_factory.mktemp("recovery")

    def make(name: str, level: str) -> Path:
        path = folder / f"{name.replace(' ', '.')}{level}.co"
        if not path.exists():
            kind, target = name.split()
            objects = [
                compile_object(source, target, path.with_suffix(f".{source}.o"), level, *OPTIONS[source])
                for source in OBJECTS[kind]
            ]
            link(objects, path)
        return path

    return make


@pytest.fixture(scope="module")
def plain(built: Built) -> Callable[[str, str], Values]:
    """The values in unoptimised code, which are the same for all targets."""
    known: dict[str, Values] = {}

    def get(kind: str, kernel: str) -> Values:
        if kernel not in known:
            known[kernel] = watch(session_on(built(f"{kind} gfx1100", "-O0"), kernel), lines_only=True)
        return known[kernel]

    return get


@pytest.mark.truth
@pytest.mark.parametrize(
    ("kind", "kernel", "target", "level", "least"), some_of(CASES, [row for row in CASES if row[1] not in SLOW]),
    ids=lambda value: str(value),
)
def test_what_is_recovered_is_right(
    kind: str, kernel: str, target: str, level: str, least: int, built: Built, plain: Callable[[str, str], Values]
) -> None:
    optimised = watch(session_on(built(f"{kind} {target}", level), kernel), lines_only=False)
    told, recovered, none = (sum(counts.values()) for counts in (optimised.told, optimised.recovered, optimised.none))
    print(f"{kernel} {target} {level}: told {told}, recovered {recovered}, none {none}")
    assert wrong(optimised, plain(kind, kernel), CALLED_OFTEN) == []
    assert 100 * recovered >= least * (told + recovered + none)
