"""Values reported by ``finish``: registers, padding that counts, and results in memory."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.cli.shell import Shell
from rocdbg.cli.writer import Writer
from rocdbg.debugger import Session
from rocdbg.debugger.frames.returned_values import returned_parts
from rocdbg.debugger.values import c_types
from rocdbg.dwarf.info.types import ClassBody, ClassKind, ClassType, Member
from tests.breadth import some_of

pytestmark = pytest.mark.llvm

RETURNED = [
    ("empty", "is $1 = {<No data fields>}"),
    ("with_static", "is $1 = {static something = 56}"),
    ("mixed", "is $1 = {a = 3.1400001, b = {4, 7}}"),
    ("sized<1ul>", 'is $1 = {data = "d"}'),
    ("sized<9ul>", 'is $1 = {data = "ddddddddd"}'),
    ("sized<32ul>", 'is $1 = {data = \'d\' <repeats 32 times>}'),
    ("sized<64ul>", "has type: Custom<char, 64ul>. Cannot determine contents"),
    ("unions", 'is $1 = {both = {{as_int = 1633771873, as_chars = "aaaa"}, {as_int = 5, as_chars = "\\005\\000\\000"}},'
               " uneven = {s = {1, 2, 3}, i = 131073}, last = 120 'x'}"),
    ("flexible", "has type: Flexible. Cannot determine contents"),
    ("deep", "is $1 = {a = {8, 16}, sub = {static something = 56}, b = 3.1400001, static c = 42, d = 1.60218e-19}"),
    ("copied", "has type: Copied. Cannot determine contents"),
]


BOTH = ("gfx90a", "gfx1100")


@pytest.mark.truth
@pytest.mark.parametrize("targets", some_of([("gfx90a",), ("gfx1100",), BOTH], [BOTH]))
def test_finish(compiled: Callable[..., Path], targets: tuple[str, ...]) -> None:
    """Each case runs on one target; the targets take turns."""
    seen = []
    for number, (name, _) in enumerate(RETURNED):
        session = Session()
        session.load(compiled("returns.hip", targets[number % len(targets)]))
        session.launch.set_grid("64")
        session.launch.set_workgroup("64")
        session.launch.set_argument(0, "i32[64]:zeros")
        session.break_at(name, temporary=True)  # on gfx1100, another wave gets there while this one finishes
        session.run()
        text = io.StringIO()
        Shell(session, Writer(text), Writer(text)).run_line("finish")
        seen.append((name, text.getvalue().splitlines()[-1].removeprefix("Value returned ")))
    assert seen == RETURNED


@pytest.mark.parametrize(
    ("members", "registers"),
    [
        ([4] * 3, 3), ([4] * 16, 16), ([4] * 17, None), ([8] * 8, 16), ([8] * 9, None), ([1] * 16, 16),
        ([1] * 17, None), ([2, 2], 1), ([1] * 8, 2), ([8] * 7 + [1, 1], 16), ([8] * 7 + [1, 1, 1], None),
    ],
)
def test_how_many_registers_a_structure_is_returned_in(members: list[int], registers: int | None) -> None:
    """Each member takes whole registers, of which there are sixteen; up to eight bytes are packed."""
    found, at = [], 0
    for number, size in enumerate(members):
        at = -(-at // size) * size
        found.append(Member(f"m{number}", c_types.unsigned_of(size), 8 * at))
        at += size
    largest = max(members)
    whole = -(-at // largest) * largest
    type_ = ClassType(ClassKind.STRUCT, "S", "S", whole, lambda: ClassBody(tuple(found), ()))
    parts = returned_parts(type_, by_reference=False)
    assert (None if parts is None else sum(-(-size // 4) for _, size in parts)) == registers
