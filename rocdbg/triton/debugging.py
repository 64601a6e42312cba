"""Debugging sessions for one launch of a Triton kernel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rocdbg.cli.debugger_api import Debugger
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.running.observer import Observer
from rocdbg.debugger.running.stop_events import StopEvent, StopReason
from rocdbg.launch.spec import ArgumentSpec, LaunchSpec
from rocdbg.triton.activation import active_device
from rocdbg.triton.device import Launch
from rocdbg.triton.errors import TritonError


def debug(call: Callable[..., Any], *arguments: Any, **keywords: Any) -> Debugger:
    """Start a session for the first launch that ``call(*arguments, **keywords)`` would make: ``debug(add[grid], x, y,
    n, BLOCK=64)``.

    ``execute("run")`` launches the kernel, or launches it again; when it has ended, the arrays contain the results.
    Breakpoints are at lines of the Python source (``break script.py:47``). Names of variables are known if
    ``LLVM_EXTRACT_DI_LOCAL_VARIABLES=1`` was in the environment when the kernel was compiled. Raises TritonError if the
    call does not launch anything.
    """
    device = active_device()
    launches: list[Launch] = []
    before, device.intercept = device.intercept, launches.append
    try:
        call(*arguments, **keywords)
    finally:
        device.intercept = before
    if not launches:
        raise TritonError("the call did not launch a Triton kernel")
    launch = launches[0]
    debugger = Debugger()
    debugger.session.use_launch(
        [Program(launch.code_object, Path(launch.code_object.name))],
        LaunchSpec(
            None, str(device.target_id), launch.kernel, launch.grid, launch.workgroup, launch.dynamic_lds,
            [ArgumentSpec(f"arg {index}", value=b"") for index in range(len(launch.arguments))],
        ),
        launch.arguments,
    )
    debugger.session.observers.append(_CopiesBack(debugger, launch))
    return debugger


class _CopiesBack(Observer):
    """Copies the results into the arrays when the kernel has ended."""

    def __init__(self, debugger: Debugger, launch: Launch) -> None:
        self._debugger = debugger
        self._launch = launch

    def stopped(self, event: StopEvent) -> None:
        """Copy the results if the run has ended."""
        bound = self._debugger.session.launch.bound
        if event.reason is StopReason.EXITED and bound is not None:
            self._launch.memories.copy_back([(each.buffer, each.contents) for each in bound.buffers])


__all__ = ["debug"]
