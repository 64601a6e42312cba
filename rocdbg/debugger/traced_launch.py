"""Tracepoints on a launch without a session, as used by `rocdbg.load(...)`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from rocdbg.codeobject import CodeObject, Kernel
from rocdbg.debugger.breakpoints.tracepoints.trace_experiments import TraceOptions
from rocdbg.debugger.breakpoints.tracepoints.tracepoint_table import Tracepoint
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.running.stop_events import StopReason
from rocdbg.debugger.session import Session
from rocdbg.debugger.target.capabilities.runnable import Resume, TargetStop
from rocdbg.debugger.target.capabilities.target_state import LoadedCodeObject
from rocdbg.debugger.target.simulated_target import SimTarget
from rocdbg.errors import Error
from rocdbg.launch.argument_binding import BoundLaunch
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import Stop


class TraceError(Error):
    """A trace cannot be started, or it ended before the kernel did."""


class _Target(SimTarget):
    """A target that keeps the device's report of its last stop."""

    last: Stop | None = None

    def _run(self, request: Resume, run: Callable[[RunOptions], Stop]) -> TargetStop:
        def kept(options: RunOptions) -> Stop:
            self.last = run(options)
            return self.last

        return super()._run(request, kept)


def trace_launch(
    launch: BoundLaunch, loaded: Sequence[tuple[CodeObject, int]], kernel: Kernel, location: str,
    expressions: Sequence[str], condition: str | None, budget: int | None,
) -> tuple[NDArray[Any], Stop | None]:
    """Run a launch to its end, or to a stop that the tracepoint did not cause; return that stop and the collected data.

    ``loaded``: the code objects, that of the kernel first, with their load addresses. ``budget``: the number of
    instructions that may be executed. Raises a `rocdbg.Error` for an invalid location or expression.
    """
    session = Session()
    programs = [Program(code_object, code_object.path or Path(code_object.name)) for code_object, _ in loaded]
    session.launch.set_programs(programs)
    session.launch.set_kernel(kernel.name)
    session.inferior.use(programs[0], programs)
    objects = [LoadedCodeObject(code_object, base) for code_object, base in loaded]
    target = _Target(launch, programs[0].kernel_title(kernel), objects)
    session.running.attach(target)
    made = session.break_at(location, condition=condition, form=Tracepoint)
    assert isinstance(made, Tracepoint)
    session.set_actions(made, [f"collect {text}" for text in expressions])
    tracing = session.tracing
    tracing.start(TraceOptions())
    session.settings.instruction_budget = budget or 0
    while True:
        event = session.running.proceed()
        if event.signal is None or event.signal.name != "SIGTRAP":
            break
    if tracing.status.why:
        raise TraceError(f"The trace at {location} has stopped {tracing.status.why}.")
    stop = None if event.reason is StopReason.EXITED else target.last
    return tracing.buffer.array(made.number), stop
