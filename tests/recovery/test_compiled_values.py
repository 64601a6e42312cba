"""Recovered values in two forms, evaluated and compiled: the data of tracepoints at every line of optimised kernels.

The evaluator handles the first wave at each place in both sessions, so kernels run in several waves.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rocdbg.debugger import Session
from rocdbg.debugger.breakpoints.tracepoints.trace_experiments import TraceOptions
from rocdbg.debugger.breakpoints.tracepoints.tracepoint_table import Tracepoint
from rocdbg.debugger.running.stop_events import BreakpointHit, StopReason
from rocdbg.debugger.values import c_types
from rocdbg.dwarf.info import Variable
from tests.recovery.oracle import addresses, compile_object, link, session_on

pytestmark = pytest.mark.llvm
CASES = [("copies", "gfx90a"), ("positions", "gfx1100"), ("called", "gfx90a"), ("loops", "gfx1100")]
PLACES = 5
Rows = list[tuple[object, ...]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compiled")


def _kernel(folder: Path, target: str) -> Path:
    path = folder / f"{target}.co"
    if not path.exists():
        link([compile_object("values.hip", target, path.with_suffix(".o"), "-O2")], path)
    return path


def _lines(session: Session, kernel: str) -> list[int]:
    """The first instructions of a kernel's lines."""
    symbols = session.inferior.need_program().code_object.symbols
    found = []
    for address in addresses(session, lines_only=True):
        symbol = symbols.at(address)
        if symbol is not None and symbol.name == kernel:
            found.append(address)
    return found


def _recovered(session: Session, stops: list[int]) -> dict[int, list[str]]:
    """The scalars that are recovered where the first wave reaches the addresses, in one run."""
    by_number = {session.break_at(f"*{address:#x}").number: address for address in stops}
    places: dict[int, list[str]] = {}
    event = session.run()
    while event.reason is StopReason.BREAKPOINT:
        frame = session.inferior.chain(session.focus.current).get(0)
        assert frame is not None
        environment = session.data.environment(session.focus.current)
        variables: dict[str, list[Variable]] = {}
        for scope in frame.scopes:
            for variable in scope.variables:
                variables.setdefault(variable.name or "", []).append(variable)
        names = [
            name for name, found in variables.items() if name and len(found) == 1
            and c_types.is_scalar(found[0].type) and environment.value_of(found[0]).recovered
        ]
        assert isinstance(event.cause, BreakpointHit)
        number = event.cause.hits.numbers[0]
        if names:
            places[by_number[number]] = names
        session.breakpoints.delete(number)
        event = session.running.proceed()
    return places


def _collected(session: Session, places: dict[int, list[str]]) -> dict[tuple[int, str], Rows]:
    """The data of each place's tracepoint: thread, lane and bytes; and the reasons why there is none."""
    made: dict[int, Tracepoint] = {}
    for address, names in places.items():
        one = session.break_at(f"*{address:#x}", form=Tracepoint)
        assert isinstance(one, Tracepoint)
        session.set_actions(one, [f"collect {', '.join(names)}"])
        made[address] = one
    session.tracing.start(TraceOptions())
    session.run()
    found: dict[tuple[int, str], Rows] = {}
    for address, one in made.items():
        array = session.tracing.buffer.array(one.number)
        masks = np.ma.getmaskarray(array)
        for name in places[address]:
            found[address, name] = [
                (int(row["$_thread"]), int(row["$_lane"]), None if np.any(mask[name]) else row[name].tobytes())
                for row, mask in zip(np.ma.getdata(array), masks, strict=True)
            ]
    return found


@pytest.mark.parametrize(("kernel", "target"), CASES)
def test_both_forms_agree(kernel: str, target: str, folder: Path) -> None:
    path = _kernel(folder, target)
    session = session_on(path, kernel)
    starts = _lines(session, kernel)
    places = _recovered(session, starts[:: max(1, len(starts) // PLACES)])
    assert places
    answers = []
    for mode in ("host", "auto"):
        other = session_on(path, kernel)
        other.settings.condition_evaluation = mode
        answers.append(_collected(other, places))
        if mode == "auto":
            buffer = other.tracing.buffer
            compiled = sum(not buffer.frame(number).layout.by_host for number in range(len(buffer)))
            assert compiled, "nothing was collected by compiled code"
    assert answers[0] == answers[1]


def test_a_condition_is_evaluated_by_the_target(folder: Path) -> None:
    path = _kernel(folder, "gfx90a")
    session = session_on(path, "copies")
    places = _recovered(session, _lines(session, "copies")[::5])
    address, names = next(iter(places.items()))
    session = session_on(path, "copies")
    one = session.break_at(f"*{address:#x}", condition=f"{names[-1]} == -77")
    session.run()
    assert session.running.native.evaluated_by(one) == "target", names[-1]
