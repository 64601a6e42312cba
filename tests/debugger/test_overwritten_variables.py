"""Variables of optimised code whose registers hold something else where clang describes them: at every instruction."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg import isa
from rocdbg.debugger import Session
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.running.stop_events import StopReason
from rocdbg.debugger.values.value_storage import AbsentError
from rocdbg.errors import Error
from tests.debugger.conftest import SOURCES

pytestmark = pytest.mark.llvm
Compile = Callable[..., Path]
LANES = (0, 1, 3, 6, 17, 30)
INPUT = [(i * 7919 + 4093) % 70001 - 35000 for i in range(128)]


def truth(kernel: str, lane: int) -> dict[str, set[int]]:
    """All values that some variables ever have in a lane."""
    x = INPUT[lane]
    if kernel == "moved":
        z = x & 0xFFFF
        return {"count": {(z & 3) + 2}, "sum": {3 * z + lane + INPUT[lane + 64]}, "z": {z}}
    if kernel == "crossed":
        b = INPUT[lane + 1]
        return {"b": {b}, "c": {x + b}, "d": {4 * (x + b)}, "e": {(x >> 4) * b}}
    if kernel == "folded":
        x &= 0xFF
        known = {"x": {x}, "r": {0}, "more": set[int]()}
        if x & 3 in (1, 2):
            r = x * x if x & 3 == 1 else 0
            known["more"] = {r + 17}
            known["r"] |= {r, r + 17 ^ x}
        else:
            known["r"].add(INPUT[x & 63] if x & 3 else x * 3)
        return known
    if x & 1:
        return {"x": {x}, "tail": set(), "square": set()}
    tail = abs(x) // 3 * (1 if x >= 0 else -1) + INPUT[64]
    return {"x": {x}, "tail": {tail}, "square": {(tail * tail + (1 << 31)) % (1 << 32) - (1 << 31)}}


@pytest.mark.parametrize(("kernel", "target", "level", "least"), (
    ("moved", "gfx90a", "-O2", 30), ("crossed", "gfx1201", "-O1", 200), ("crossed", "gfx90a", "-O3", 150),
    ("ended", "gfx1100", "-O3", 50), ("folded", "gfx1201", "-O1", 50),
))
def test_no_register_is_shown_that_has_something_else(
    compiled: Compile, kernel: str, target: str, level: str, least: int
) -> None:
    session = Session()
    session.load(compiled("overwritten.hip", target, level))
    session.sources.program_directory = SOURCES
    session.launch.set_kernel(kernel)
    session.launch.set_grid("64")
    session.launch.set_workgroup("64")
    session.launch.set_argument(0, "i32[384]:zeros")
    session.launch.set_argument(1, f"i32[128]:[{', '.join(map(str, INPUT))}]")
    code = session.inferior.need_program().code_object
    symbol = next(each for each in code.symbols if each.name == kernel)
    data = code.sections[".text"].data[symbol.value - code.sections[".text"].address:][: symbol.size]
    for instruction in isa.disassemble(data, code.target.name, address=symbol.value):
        session.break_at(f"*{instruction.address:#x}")
    event, visits, wrong, right = session.run(), dict[int, int](), list[str](), 0
    while event.reason is StopReason.BREAKPOINT:
        thread = event.scope.thread
        assert thread is not None
        pc = session.inferior.wave(thread).pc
        visits[pc] = visits.get(pc, 0) + 1
        for lane in LANES if thread == 1 and visits[pc] <= 2 else ():
            for name, values in truth(kernel, lane).items():
                try:
                    value = session.data.evaluate(name, Focus(thread, lane)).as_int()
                except (AbsentError, Error):
                    continue  # unavailable, or not yet in scope
                right += value in values
                if value not in values:
                    wrong.append(f"{pc:#x}, lane {lane}: {name} = {value}")
        event = session.running.proceed()
    assert event.reason is StopReason.EXITED
    assert (wrong, right >= least) == ([], True), right
