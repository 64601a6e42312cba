"""Functions of the program, called by the debugger on lanes of a wave.

The function runs on the wave in whose frame the expression is evaluated. Only the lanes that call the function are
active, and no other wave runs meanwhile. Its changes to memory remain; registers are restored. If the function stops
before it returns (a fault, a breakpoint, Ctrl-C), the stop is reported and the expression abandoned. A dummy frame then
separates the frames of the function from those of the place where the call was made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext

from msgspec import Struct

from rocdbg.addresses import LoadedAddress
from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.arch.dwarf_registers import PC, exec_number, vgpr_number
from rocdbg.arch.lane_sets import lane_list
from rocdbg.debugger.base.errors import DebuggerError, NotRunningError
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.expr.call_expressions import call_target
from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.expr.evaluator import Evaluator, value_tree
from rocdbg.debugger.expr.overload_resolution import Callee
from rocdbg.debugger.expr.parsing import syntax
from rocdbg.debugger.expr.parsing.kept_trees import nesting_limited
from rocdbg.debugger.expr.program_data import Data
from rocdbg.debugger.expr.value_access import follow
from rocdbg.debugger.frames.calling_convention import is_clangs
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.frames.returned_values import returns_by_reference, value_in_registers
from rocdbg.debugger.running.calling.called_arguments import Arguments, LaneArguments
from rocdbg.debugger.running.runner import Runner
from rocdbg.debugger.running.stop_events import StopReason
from rocdbg.debugger.target.capabilities.function_calling import CallPlace, calls_of
from rocdbg.debugger.target.capabilities.runnable import Resume, TargetStop, TargetStopKind
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_storage import Absence, SnapshotStorage
from rocdbg.dwarf.info.types import Type, VectorType

ROOM = 64 << 10
"""Bytes of private memory that each lane has for the stack of a called function, besides its arguments."""


class CalledFunctionStopped(DebuggerError):
    """A called function stopped before it returned. ``remains``: the wave still exists and is inside the function."""

    def __init__(self, message: str, remains: bool = False) -> None:
        self.remains = remains
        super().__init__(message)


class Call(Struct, frozen=True):
    """A call in some lanes of a wave: the function, each lane's arguments, and where these are evaluated."""

    callee: Callee
    thread: int
    arguments: Mapping[int, Sequence[Value]]
    environments: Mapping[int, Environment]


class FunctionCalls(Struct):
    """Calls functions; ``runner`` runs them and keeps what is suspended meanwhile."""

    runner: Runner

    def call(self, callee: Callee, arguments: Sequence[Value], environment: Environment) -> Value:
        """Return what a function returns to the lane of the environment. Raises `rocdbg.Error`."""
        focus = environment.focus
        if self.runner.parts.inferior.target is None or focus.thread is None:
            raise NotRunningError("You can't do that without a process to debug.")
        lane = focus.lane or 0
        return self.call_lanes(Call(callee, focus.thread, {lane: arguments}, {lane: environment}))[lane]

    def call_lanes(self, call: Call) -> dict[int, Value]:
        """Return what a function returns to several lanes of a wave that call it at once, by lane."""
        runner, callee, thread = self.runner, call.callee, call.thread
        target = runner.target
        if callee.function is not None and not is_clangs(callee.function):
            raise DebuggerError(
                f"Cannot call the function '{callee.name}' which does not follow the target calling convention."
            )
        if c_types.size_of(callee.return_type) > ROOM:
            raise DebuggerError(f"{callee.name} returns more than the {ROOM} bytes that a call has room for.")
        by_reference = callee.function is not None and returns_by_reference(callee.function)
        planned = {
            lane: Arguments(callee, by_reference, call.environments[lane]).plan(values)
            for lane, values in call.arguments.items()
        }
        room = ROOM + max(plan.size for plan in planned.values())
        place = runner.begin_call(thread, room)
        try:
            self._enter(call, place, planned)
            with nullcontext() if runner.parts.state.driving else runner.drive():
                self._run(call)
            returned = {
                lane: self._returned(call, lane, by_reference, place.stack + (plan.result or 0))
                for lane, plan in planned.items()
            }
            back = {lane: plan.changed(target, thread, lane, place.stack) for lane, plan in planned.items()}
        except CalledFunctionStopped as stopped:
            if not stopped.remains:
                runner.end_call(thread)
            raise
        except BaseException:
            runner.end_call(thread)
            raise
        runner.end_call(thread)
        for changes in back.values():
            for value, data in changes:
                value.store(data)
        return returned

    def _enter(self, call: Call, place: CallPlace, planned: Mapping[int, LaneArguments]) -> None:
        """Write arguments, EXEC and PC."""
        target, thread = self.runner.target, call.thread
        calls = calls_of(target)
        assert calls is not None
        lanes = target.wave(thread).lane_count
        stack = place.stack + -(-max(plan.size for plan in planned.values()) // 64) * 64
        calls.place_stack(thread, stack)
        mask = 0
        for lane, plan in planned.items():
            mask |= 1 << lane
            for offset, data in plan.memory(place.stack):
                target.write_memory(AddressSpace.PRIVATE_LANE, place.stack + offset, data, thread, lane)
            registers, on_stack = plan.words(place.stack)
            for number, word in enumerate(registers):
                target.write_register(thread, vgpr_number(number, lanes), word, 4 * lane)
            for index, word in enumerate(on_stack):
                target.write_memory(AddressSpace.PRIVATE_LANE, stack + 4 * index, word, thread, lane)
        target.write_register(thread, exec_number(lanes), mask.to_bytes(lanes // 8, "little"))
        target.write_register(thread, PC, call.callee.address.to_bytes(8, "little"))

    def _run(self, call: Call) -> None:
        """Run the function until it returns. Raises `CalledFunctionStopped` when it stops inside."""
        runner = self.runner
        quiet = runner.parts.state.evaluating  # while a condition is evaluated, other breakpoints do not count
        while True:
            addresses = frozenset() if quiet else runner.stop_addresses()
            stop = runner.resume(Resume(thread=call.thread, stop_addresses=addresses, only=True))
            if stop.kind is TargetStopKind.RETURNED:
                return
            if stop.kind is TargetStopKind.WAVE_DONE:
                raise CalledFunctionStopped(_words("exited", call.callee.name))
            if quiet:
                raise CalledFunctionStopped(_words(_how(stop), call.callee.name, unwound=True))
            event = runner.event(stop)
            if event is None:
                continue
            if runner.parts.state.stopped_inside is not None:
                runner.parts.state.stopped_inside(event)
            if event.reason in (StopReason.BREAKPOINT, StopReason.CATCHPOINT):
                raise CalledFunctionStopped(_words("stopped", call.callee.name), remains=True)
            unwound = runner.parts.settings.unwind_on_signal
            raise CalledFunctionStopped(_words("signaled", call.callee.name, unwound), remains=not unwound)

    def _returned(self, call: Call, lane: int, by_reference: bool, at: int) -> Value:
        target, thread, type_ = self.runner.target, call.thread, call.callee.return_type
        if c_types.is_void(type_):
            return Value(type_, data=b"")
        value = value_in_registers(type_, by_reference, target, thread, lane)
        if value is not None:
            return value
        data = target.read_memory(AddressSpace.PRIVATE_LANE, at, c_types.size_of(type_), thread, lane)
        return Value(type_, data=data)


def _how(stop: TargetStop) -> str:
    return "signaled" if stop.signal or stop.kind is TargetStopKind.INTERRUPTED else "stopped"


def _words(what: str, name: str, unwound: bool = False) -> str:
    """Return GDB's message about an abandoned expression whose function ``exited``, was ``stopped`` or ``signaled``."""
    was = f"was {what}" if what == "signaled" else what
    lines = [f"The program being debugged {was} while in a function called from GDB."]
    if what == "signaled":
        lines += [
            "GDB has restored the context to what it was before the call." if unwound
            else "GDB remains in the frame where the signal was received.",
            f'To change this behavior use "set unwindonsignal {"off" if unwound else "on"}".',
        ]
    lines += ["Evaluation of the expression containing the function", f"({name}) will be abandoned."]
    if what != "exited" and not unwound:
        lines.append("When the function is done executing, GDB will silently stop.")
    return "\n".join(lines)


# An expression with a call, for all active lanes of a wave at once: a vector of the lanes' results.


def value_of_lanes(calls: FunctionCalls, data: Data, inferior: Inferior, focus: Focus, text: str) -> Value:
    """Return the value of an expression in each active lane, as a vector over lanes; an array if it is not a number.

    If the expression is a call, its arguments are evaluated lane by lane, and each function runs once for all lanes
    that call it. A void result has no elements. Raises `rocdbg.Error` if a lane has no value.
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
    """Combine values by lane into one; lanes that have no value are missing in it."""
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
