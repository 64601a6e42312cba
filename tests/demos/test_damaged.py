"""Damaged copies of the demo objects: they give an error in one line, or a session that continues; nothing else.

Bytes are flipped and sections cut by a fixed seed; each copy is taken through loading, breakpoints, symbols, a
bounded run, a backtrace and the variables. The soak (200 copies of each object) is benchmarks/damage.py.
"""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest

from rocdbg.cli.shell import Shell
from rocdbg.cli.writer import Writer
from rocdbg.debugger.session import Session
from rocdbg.errors import Error
from tests.breadth import EVERYTHING

DEMOS = Path(__file__).resolve().parent.parent.parent / "demo_kernels"
OBJECTS = sorted(DEMOS.glob("*/*.co")) + sorted(DEMOS.glob("*/*.hipfb"))
COPIES = 2 if EVERYTHING else 1  # of each object

COMMANDS = (
    "info kernels",
    "info functions",
    "info types",
    "info sources",
    "set instruction-budget 20000",
    "set grid 64",
    "set workgroup 64",
    "set arg 0 bytes[4096]:zeros",
    "set arg 1 bytes[4096]:zeros",
    "set arg 2 bytes[4096]:zeros",
    "set arg 3 bytes[4096]:zeros",
    "start",
    "bt",
    "info locals",
    "info args",
    "info frame",
    "info lanes 0-1",
    "info registers pc exec v0",
    "x/4i $pc",
    "next",
    "step",
    "list",
    "disassemble",
    "continue",
)


def damaged(data: bytes, seed: int) -> bytes:
    """A copy with some bytes flipped, a range overwritten, or its end or middle removed."""
    rng = random.Random(seed)
    copy = bytearray(data)
    kind = rng.randrange(4)
    if kind == 0:
        return bytes(copy[: rng.randrange(len(copy))])
    if kind == 1:
        start = rng.randrange(len(copy))
        del copy[start : start + rng.randrange(1, 2000)]
        return bytes(copy)
    if kind == 2:
        start = rng.randrange(len(copy))
        length = min(rng.randrange(1, 200), len(copy) - start)
        copy[start : start + length] = bytes([rng.randrange(256)]) * length
        return bytes(copy)
    for _ in range(rng.randrange(1, 40)):
        copy[rng.randrange(len(copy))] ^= 1 << rng.randrange(8)
    return bytes(copy)


def survive(path: Path, target_id: str | None) -> None:
    """Run `COMMANDS` on a file; none of them may raise anything other than `rocdbg.Error`."""
    session = Session()
    shell = Shell(session, Writer(io.StringIO()), Writer(io.StringIO()))
    try:
        session.load(path, target_id)
    except Error as error:
        assert str(error)
        return
    for command in COMMANDS:
        try:
            shell.execute(command)
        except Error as error:
            assert str(error)


@pytest.mark.truth
@pytest.mark.parametrize("source", OBJECTS, ids=lambda path: path.name)
def test_damaged_copies_end_in_errors_only(source: Path, tmp_path: Path) -> None:
    data = source.read_bytes()
    target = "gfx90a" if source.suffix == ".hipfb" else None
    for seed in range(COPIES):
        path = tmp_path / f"{seed}{source.suffix}"
        path.write_bytes(damaged(data, hash_of(source.name) + seed))
        survive(path, target)


def hash_of(name: str) -> int:
    """A number that is the same in every run."""
    return int.from_bytes(name.encode(), "little") % 1_000_003
