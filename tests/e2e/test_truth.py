"""Each lane's variables are that lane's own: compared with values that the kernels store, and with llvm-dwarfdump."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from rocdbg.arch.lane_sets import lane_list
from rocdbg.debugger import Session, StopReason
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.values.value_storage import AbsentError
from tests.breadth import EVERYTHING, some_of

pytestmark = pytest.mark.llvm
Start = Callable[..., Session]

ARGUMENTS = {
    "types.hip": ("types", ["i32[160]:arange", "1.5"]),
    "flow.hip": ("flow", ["i32[160]:arange", "150"]),
    "spaces.cl": ("spaces", ["i32[160]:arange", "1.5", "local[320]"]),
    "lds.hip": ("lds", ["7"]),
    "device_lds.hip": ("device_lds", ["7"]),
}
SAMPLE = {"types.hip": 8, "flow.hip": 4, "spaces.cl": 4, "lds.hip": 4, "device_lds.hip": 1}
"""One lane in this many is examined on each line, and other lanes on the next; in ``./test``, a third of them."""
if not EVERYTHING:
    SAMPLE = {source: 3 * share for source, share in SAMPLE.items()}
W64 = "-mwavefrontsize64"

# Unoptimised: every value is there, of every lane that stores one, and no other lane stops.
# (source, target, options, values stored: 160 items on each unconditional line, 150 of them continue in flow.hip)
COMPLETE = [
    ("types.hip", "gfx90a", ["-O0"], 54 * 160),
    ("types.hip", "gfx1100", ["-O0", W64], 54 * 160),
    ("flow.hip", "gfx942", ["-O0"], 2101),
    ("flow.hip", "gfx1030", ["-O0"], 2101),
    ("spaces.cl", "gfx90a", ["-O0"], 3936),
    ("spaces.cl", "gfx1100", ["-O0"], 3936),
    ("lds.hip", "gfx942", ["-O0"], 10 * 160 + 40),
    ("device_lds.hip", "gfx90a", ["-O0"], 4 * 160),
]


@pytest.mark.truth
@pytest.mark.parametrize(
    ("source", "target", "options", "count"), some_of(COMPLETE, [COMPLETE[row] for row in (1, 3, 4, 6, 7)])
)
def test_everything_is_shown_as_it_is(
    start: Start, trace: Callable[..., Any], source: str, target: str, options: list[str], count: int
) -> None:
    kernel, arguments = ARGUMENTS[source]
    result = trace(start(source, kernel, arguments, target, *options), source, SAMPLE[source])
    assert len(result.stored) == count
    assert result.wrong == []
    assert (result.missed, result.spurious, result.absent) == ([], [], {})
    assert result.right == len(result.seen)


# Optimised: the text shown is right, and at least so many values are there (of those in COMPLETE).
PARTIAL = [
    ("types.hip", "gfx942", ["-O2"], 2080),
    ("types.hip", "gfx1100", ["-O1"], 1760),
    ("flow.hip", "gfx90a", ["-O1"], 1190),
    ("flow.hip", "gfx1030", ["-O3"], 1100),
    ("flow.hip", "gfx1100", ["-O2", W64], 1241),
    ("spaces.cl", "gfx90a", ["-O3"], 640),
    ("spaces.cl", "gfx1100", ["-O1"], 600),
    ("lds.hip", "gfx90a", ["-O2"], 1440),
]


@pytest.mark.truth
@pytest.mark.parametrize(
    ("source", "target", "options", "least"), some_of(PARTIAL, [PARTIAL[row] for row in (0, 3, 5, 6, 7)])
)
def test_what_is_shown_of_optimised_code_is_right(
    start: Start, trace: Callable[..., Any], source: str, target: str, options: list[str], least: int
) -> None:
    kernel, arguments = ARGUMENTS[source]
    result = trace(start(source, kernel, arguments, target, *options), source, SAMPLE[source])
    assert result.wrong == []
    assert result.spurious == []
    assert not [text for text in result.absent.values() if text.startswith("error")]
    assert result.right >= least // SAMPLE[source]


def test_layout_of_a_mangled_kernels_lds(start: Start, trace: Callable[..., Any]) -> None:
    result = trace(start("lds.hip", "deep::mangled", ["7"]), "lds.hip")
    assert (result.wrong, result.right) == ([], 3 * 160)


LOCATED = [
    ("types.hip", "gfx90a", ["-O1"]),
    ("types.hip", "gfx1100", ["-O3"]),
    ("flow.hip", "gfx1100", ["-O1", W64]),
    ("flow.hip", "gfx1030", ["-O2"]),
    ("spaces.cl", "gfx942", ["-O2"]),
    ("spaces.cl", "gfx1100", ["-O2"]),
]


@pytest.mark.truth
@pytest.mark.parametrize(("source", "target", "options"), some_of(LOCATED, LOCATED[::2]))
def test_locations_as_llvm_dwarfdump_tells_them(
    start: Start, compiled: Callable[..., Path], dwarfdump: ModuleType,
    source: str, target: str, options: list[str],
) -> None:
    """At every eleventh instruction, the bytes of all variables in registers, scratch and constants are compared."""
    kernel, arguments = ARGUMENTS[source]
    session = start(source, kernel, arguments, target, *options)
    session.settings.print = session.settings.print.with_changes(recovered=False)
    session.data.described = None  # also what the compiler describes for lanes that have something else there
    program = session.inferior.need_program()
    located = dwarfdump.read_locations(compiled(source, target, *options))
    for address in dwarfdump.instructions(session)[::11]:
        session.break_at(f"*{address:#x}", temporary=True)
    event = session.run()
    compared = 0
    while event.reason is StopReason.BREAKPOINT:
        thread = event.scope.thread
        assert thread is not None
        wave = session.inferior.wave(thread)
        function = program.function_at(wave.pc)
        lanes = lane_list(wave.exec_mask & wave.used_lanes)
        for lane in {lanes[0], lanes[-1]}:
            by_hand = dwarfdump.ByHand(session, thread, lane, function.frame_base)
            for frame in session.focus.frames(Focus(thread, lane)):
                if frame.level_of_physical:
                    break
                environment = session.data.environment(frame.scope)
                for variable in (v for scope in frame.scopes for v in scope.variables):
                    place = located.get(variable.offset)
                    if place is None or place.is_static:
                        continue
                    text = place.at(program.to_file(wave.pc))
                    wanted = by_hand.read(text, variable.type.size) if text is not None else None
                    try:
                        shown = environment.value_of(variable).contents()
                    except AbsentError:
                        shown = None
                    assert shown == wanted, (hex(program.to_file(wave.pc)), lane, variable.name, text)
                    compared += shown is not None
        event = session.running.proceed()
    assert event.reason is StopReason.EXITED
    assert compared > 100
