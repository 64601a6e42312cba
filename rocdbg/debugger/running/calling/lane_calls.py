"""An expression with a call, on all active lanes of a wave at once: a vector of what each lane gets."""

from __future__ import annotations

from collections.abc import Mapping

from rocdbg.addresses import LoadedAddress
from rocdbg.arch.lane_sets import lane_list
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.expr.call_expressions import call_target
from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.expr.evaluator import Evaluator, value_tree
from rocdbg.debugger.expr.overload_resolution import Callee
from rocdbg.debugger.expr.parsing import syntax
from rocdbg.debugger.expr.parsing.kept_trees import nesting_limited
from rocdbg.debugger.expr.program_data import Data
from rocdbg.debugger.expr.value_access import follow
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.running.calling.called_functions import Call, FunctionCalls
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_storage import Absence, SnapshotStorage
from rocdbg.dwarf.info.types import Type, VectorType


def value_of_lanes(calls: FunctionCalls, data: Data, inferior: Inferior, focus: Focus, text: str) -> Value:
    """The value of an expression in each active lane, as a vector (of other than numbers, an array) over lanes.

    Where the expression is a call, its arguments are evaluated lane by lane and the function runs once for all lanes;
    what is called may differ by lane. Void has no elements. Raises `rocdbg.Error` when a lane has no value.
    """
    thread = focus.thread
    assert thread is not None
    lanes = lane_list(inferior.active_lanes(thread) & inferior.wave(thread).used_lanes)
    with nesting_limited(text):
        values = _values(calls, data, focus, text, lanes)
    inferior.state_changed()
    return _vector(values, inferior.lane_count(thread))


def _values(
    calls: FunctionCalls, data: Data, focus: Focus, text: str, lanes: list[int]
) -> dict[int, Value]:
    assert focus.thread is not None
    planned: dict[LoadedAddress, dict[int, tuple[Callee, list[Value], Environment]]] = {}
    values: dict[int, Value] = {}
    for lane in lanes:
        environment = data.environment(focus.with_lane(lane))
        evaluator = Evaluator(environment)
        tree = value_tree(text, environment)
        if not isinstance(tree, syntax.Call) or isinstance(tree.function, syntax.Dollar):
            value = follow(evaluator.value(tree), environment)
            values[lane] = value if c_types.is_void(value.type) else value.fetched()
            continue
        given = [evaluator.lvalue(argument) for argument in tree.arguments]
        callee, arguments = call_target(tree.function, evaluator, given, environment)
        planned.setdefault(callee.address, {})[lane] = callee, arguments, environment
    for by_lane in planned.values():
        callee = next(iter(by_lane.values()))[0]
        values |= calls.call_lanes(
            Call(
                callee, focus.thread, {lane: arguments for lane, (_, arguments, _) in by_lane.items()},
                {lane: environment for lane, (_, _, environment) in by_lane.items()},
            )
        )
    return values


def _vector(values: Mapping[int, Value], count: int) -> Value:
    """Values by lane as one; lanes without any are missing in it."""
    if not values:
        return Value(c_types.VOID, data=b"")
    element = next(iter(values.values())).type
    if c_types.is_void(element):
        return Value(c_types.VOID, data=b"")
    size = c_types.size_of(element)
    data = bytearray(size * count)
    missing: dict[int, Absence] = {}
    for lane in range(count):
        if lane in values:
            data[lane * size : (lane + 1) * size] = values[lane].contents()
        else:
            missing |= dict.fromkeys(range(lane * size, (lane + 1) * size), Absence.UNAVAILABLE)
    type_: Type = c_types.array_of(element, count)
    if c_types.is_scalar(element):
        type_ = VectorType(element, count, size * count)
    if not missing:
        return Value(type_, data=bytes(data))
    return Value(type_, SnapshotStorage(bytes(data), missing))
