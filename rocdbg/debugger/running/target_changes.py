"""What the target is resumed through: code objects that come and go, dispatches that begin, the command's budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from rocdbg.debugger.breakpoints.catchpoints import Catchpoint
from rocdbg.debugger.running.catch_events import code_change
from rocdbg.debugger.target.runnable import Resume, ResumeMode, TargetStop, TargetStopKind

if TYPE_CHECKING:
    from rocdbg.debugger.running.runner import Runner


def resumed(runner: Runner, request: Resume) -> TargetStop:
    """What comes of a request. Where code objects have come or gone, breakpoints are found again and it goes on, unless
    a catchpoint is about that."""
    alone = request.only and runner.parts.settings.scheduler_locking in ("on", "step")
    request = replace(request, begins=_wants_begins(runner), alone=alone)
    stop = _spend(runner, request)
    while stop.kind is TargetStopKind.CHANGED and not _caught(runner):
        # Conditions that the target did not know at places it had not are asked when a wave comes there.
        more = runner.parts.breakpoints.addresses() - request.checks.keys()
        request = replace(request, stop_addresses=request.stop_addresses | more, begins=_wants_begins(runner))
        stop = _spend(runner, request)
    return stop


def _spend(runner: Runner, request: Resume) -> TargetStop:
    """Resume the target within what is left of the command's budget."""
    runnable, state = runner.parts.inferior.need_runnable(), runner.parts.state
    if state.budget is None:
        return runnable.resume(request)
    before = runnable.progress().instructions
    if not state.budget:  # nothing may run any more, by whatever steps
        request = replace(request, mode=ResumeMode.RUN)
    stop = runnable.resume(replace(request, budget=state.budget))
    state.budget = max(0, state.budget - (runnable.progress().instructions - before))
    return stop


def take_code(runner: Runner) -> None:
    """Know what the target has loaded."""
    if runner.parts.inferior.programs.update(runner.target.code_objects()):
        runner.parts.inferior.state_changed()
        runner.parts.breakpoints.resolve_again()
        runner.native.forget()


def _wants_begins(runner: Runner) -> bool:
    """Whether catchpoints are about dispatches yet to come."""
    return any(isinstance(one, Catchpoint) and one.enabled and one.event.has_ends for one in runner.parts.breakpoints)


def _caught(runner: Runner) -> bool:
    """Whether catchpoints are about code objects that have come or gone."""
    programs = runner.parts.inferior.programs
    before = {program.uri for program in programs if program.loaded}
    take_code(runner)
    after = {program.uri for program in programs if program.loaded}
    runner.parts.state.change = code_change(runner, sorted(after - before), sorted(before - after))
    return runner.parts.state.change is not None
