"""Rules that exist in two forms, an evaluated one and a compiled one for speed, give the same results: `PAIRS` names
the forms.

Covers all demo kernels, wherever the first wave reaches one of their lines: every scalar variable in scope in all
lanes, as the evaluator finds it at a breakpoint and as compiled code collects it; and the set of lanes. Conditions are
compared by `test_conditions`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rocdbg.arch.lane_sets import lane_list
from rocdbg.debugger import Session
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.breakpoints.tracepoints.trace_experiments import TraceOptions
from rocdbg.debugger.breakpoints.tracepoints.tracepoint_table import Tracepoint
from rocdbg.debugger.expr.lanes.lane_compiler import compile_column
from rocdbg.debugger.frames.compiled_places import Untranslatable
from rocdbg.debugger.running.stop_events import StopReason
from rocdbg.debugger.values import c_types
from rocdbg.errors import Error
from tests.breadth import some_of
from tests.demos.test_conditions import BUDGET, EACH_DEMO, EACH_ON_ONE, _open, _places

ROOT = Path(__file__).resolve().parents[2]
PAIRS = {
    "a C expression": ("rocdbg/debugger/expr/evaluator.py", "rocdbg/debugger/expr/lanes/lane_compiler.py"),
    "a DWARF location": ("rocdbg/dwarf/stack_machine.py", "rocdbg/debugger/frames/compiled_locations.py"),
    "a recovered value": ("rocdbg/debugger/frames/recovered_values.py", "rocdbg/debugger/frames/recovered_compiled.py"),
    "the active lanes": ("rocdbg/debugger/frames/active_lanes.py", "rocdbg/debugger/frames/active_lanes_compiled.py"),
}
"""The subject of the rule: where it is evaluated, and where it is compiled."""
STOPS = 2
Rows = list[tuple[Any, ...]]


@pytest.mark.parametrize("pair", PAIRS)
def test_the_architecture_names_both_forms(pair: str) -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for form in PAIRS[pair]:
        assert (ROOT / form).is_file()
        assert f"`{form.removeprefix('rocdbg/')}`" in text


def _names(session: Session) -> list[str]:
    """Variables in scope whose names are unambiguous."""
    frame = session.inferior.chain(session.focus.current).get(0)
    assert frame is not None
    rows = [*session.data.arguments(frame)]
    for scope in session.data.locals(frame):
        rows += scope.variables
    names = [name for name, value in rows if name.isidentifier() and c_types.is_scalar(value.type)]
    return [name for name in names if names.count(name) == 1 and _has_both_forms(session, name)]


def _has_both_forms(session: Session, name: str) -> bool:
    try:
        compile_column(name, session.data.environment(session.focus.current))
    except (Untranslatable, Error):
        return False
    return True


def _evaluated(session: Session, place: str, texts: list[str]) -> Rows:
    """The evaluator's results for all lanes where waves stop: thread, lane, bytes by text."""
    session.break_at(place)
    rows: Rows = []
    event = session.run()
    for _ in range(STOPS):
        if event.reason is not StopReason.BREAKPOINT:
            break
        thread = event.scope.thread or 0
        for lane in lane_list(event.lanes):
            values: list[bytes | None] = []
            for text in texts:
                try:
                    values.append(session.data.evaluate(text, Focus(thread, lane)).contents())
                except Error:
                    values.append(None)
            rows.append((thread, lane, *values))
        event = session.running.proceed()
    session.breakpoints.clear()
    return rows


def _collected(session: Session, place: str, texts: list[str]) -> tuple[Rows, bool | None]:
    """The data that a tracepoint collects there, and whether compiled code collected it for waves after the first."""
    one = session.break_at(place, form=Tracepoint)
    assert isinstance(one, Tracepoint)
    session.set_actions(one, [f"collect {', '.join(texts)}"])
    session.tracing.start(TraceOptions())
    session.run()
    array = session.tracing.buffer.array(one.number)
    masks = np.ma.getmaskarray(array)
    rows: Rows = [
        (
            int(row["$_thread"]), int(row["$_lane"]),
            *(None if np.any(np.array(mask[text].tolist())) else row[text].tobytes() for text in texts),
        )
        for row, mask in zip(np.ma.getdata(array), masks, strict=True)
    ]
    buffer = session.tracing.buffer
    compiled = [not buffer.frame(number).layout.by_host for number in range(1, len(buffer))]
    session.breakpoints.clear()
    return rows, any(compiled) if compiled else None


@pytest.mark.truth
@pytest.mark.parametrize(
    ("launch", "target"), some_of(EACH_ON_ONE, EACH_DEMO), ids=lambda one: one.stem if isinstance(one, Path) else one
)
def test_every_variable_both_ways(launch: Path, target: str) -> None:
    session = _open(launch, target, "host")
    places = _places(session)
    for place in places[:2]:
        session.settings.instruction_budget = BUDGET
        session.breakpoints.clear()
        session.break_at(place)
        if session.run().reason is not StopReason.BREAKPOINT:
            continue
        texts = _names(session)
        session.breakpoints.clear()
        if not texts:
            continue
        expected = _evaluated(session, place, texts)
        tracing = _open(launch, target, "target")
        tracing.settings.instruction_budget = STOPS * BUDGET
        found, by_target = _collected(tracing, place, texts)
        assert found[: len(expected)] == expected, f"{place}: {', '.join(texts)}"
        assert by_target is not False, "only the evaluator has answered"
