"""Values recovered from machine code, at every instruction: they equal the values that the kernel stored."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from rocdbg import isa
from rocdbg.arch.lane_sets import lane_list
from rocdbg.debugger import Session, StopReason
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.values.value_storage import AbsentError
from tests.breadth import EVERYTHING, some_of

pytestmark = pytest.mark.llvm

ROWS = {"count": 0, "gid": 1, "x": 2, "twice": 3, "first": 5, "branch": 6, "far": 7}
CHANGING = {"wide", "changed", "lost", "sum", "step", "own", "total", "inner", "i"}
W64 = "-mwavefrontsize64"
BUILDS = [
    ("gfx90a", ["-O2"]), ("gfx942", ["-O1"]), ("gfx1030", ["-O2"]), ("gfx1100", ["-O2"]), ("gfx1100", ["-O3", W64]),
]
SAMPLE = 7 if EVERYTHING else 31
"""One lane in this many is examined at each instruction, and other lanes at the next."""
EVERY = 1 if EVERYTHING else 2
"""The test stops at one of this many instructions."""


def instructions(session: Session) -> list[int]:
    program = session.inferior.need_program()
    text = program.code_object.sections[".text"]
    names = [symbol for symbol in program.code_object.symbols if symbol.size and symbol.is_defined]
    ranges = [(program.code_object.address_of(symbol), symbol.size) for symbol in names]
    found = isa.disassemble(text.data, program.code_object.target.name, address=text.address)
    return [i.address for i in found if any(low <= i.address < low + size for low, size in ranges)]


@pytest.mark.truth
@pytest.mark.parametrize(("target", "options"), some_of(BUILDS, [BUILDS[0], BUILDS[3]]))
def test_recovered_values_are_those_the_kernel_has(
    start: Callable[..., Session], target: str, options: list[str]
) -> None:
    session = start("recover.hip", "recover", ["i32[160]:arange", "150", "1.5", "77309411328"], target, *options)
    for address in instructions(session)[::EVERY]:
        session.break_at(f"*{address:#x}")
    event = session.run()
    shown: dict[tuple[str, int], set[int]] = {}
    recovered = told = stops = 0
    while event.reason is StopReason.BREAKPOINT:
        thread = event.scope.thread
        assert thread is not None
        stops += 1
        wave = session.inferior.wave(thread)
        active = lane_list(wave.exec_mask & wave.used_lanes)
        for lane in active[stops % SAMPLE :: SAMPLE]:
            item = wave.workgroup[0] * 80 + wave.index * wave.lane_count + lane
            for frame in session.focus.frames(Focus(thread, lane)):
                environment = session.data.environment(frame.scope)
                for variable in (v for scope in frame.scopes for v in scope.variables if v.name):
                    value = environment.value_of(variable)
                    try:
                        value.contents()
                    except AbsentError:
                        continue
                    recovered += value.recovered
                    told += not value.recovered
                    if not value.recovered and variable.name not in ROWS:
                        continue
                    assert variable.name not in CHANGING or not value.recovered, (variable.name, hex(wave.pc))
                    if variable.name in ROWS:
                        shown.setdefault((variable.name, item), set()).add(value.as_int())
        event = session.running.proceed()
    assert event.reason is StopReason.EXITED, event
    bound = session.launch.bound
    assert bound is not None
    stored = bound.buffers[0].contents.view(np.int64).reshape(64, 160)
    wrong = [
        (name, item, values) for (name, item), values in shown.items()
        if stored[ROWS[name], item] != 0x5A5A_5A5A_5A5A_5A5A and values != {int(stored[ROWS[name], item])}
    ]
    assert wrong == []
    print(target, options, f"stops {stops}, told {told}, recovered {recovered}")
    assert recovered > told / 4
