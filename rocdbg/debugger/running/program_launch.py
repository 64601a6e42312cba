"""What the next ``run`` starts when a whole program is debugged: the program, its arguments, environment and GPUs."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rocdbg.codeobject.startable_program import find_program
from rocdbg.debugger.base.engine_settings import Settings
from rocdbg.debugger.base.errors import LaunchError
from rocdbg.debugger.target.capabilities.target_state import Target
from rocdbg.debugger.target.process_target import ProcessTarget

if TYPE_CHECKING:
    from rocdbg.debugger.target.host_debugger import HostDebugger
    from rocdbg.debugger.target.runtime_process import HostedProcess
    from rocdbg.sim.device.dispatch import Dispatch


class ProgramLaunch:
    """Starts a program with its own runtime (`Launcher`).

    Attributes:
        path: the program, "" if none was given.
        arguments: its arguments in shell syntax, with redirections.
        environment: returns its environment.
        directory: where it starts, "" for the debugger's own directory.
        gpu: its GPUs, "" for those that its device code was compiled for.
        titles: returns the name of a dispatch's kernel.
        skips: returns whether kernels that runtimes launch for their own purposes are hidden.
        holds: returns whether the program stops when its GPUs do.
        report: receives messages about failing kernels.
        host: returns the host debugger that starts the program, if one is in use.
    """

    needs_program = False

    def __init__(self) -> None:
        self.path = ""
        self.arguments = ""
        self.environment: Callable[[], dict[str, str]] = lambda: dict(os.environ)
        self.directory = ""
        self.gpu = ""
        self.titles: Callable[[Dispatch], str] | None = None
        self.skips: Callable[[], bool] = lambda: True
        self.holds: Callable[[], bool] = lambda: False
        self.report: Callable[[str], None] = lambda text: None
        self.host: Callable[[], HostDebugger | None] = lambda: None
        self._process: HostedProcess | None = None
        self._target: ProcessTarget | None = None
        self._detached: list[HostedProcess] = []

    @property
    def command(self) -> str:
        """Return the program and its arguments. Raises `LaunchError` if no program was given."""
        if not self.path:
            raise LaunchError("No executable file specified.\nUse the \"file\" or \"exec-file\" command.")
        return f"{self.path} {self.arguments}".rstrip()

    def first_gpu(self, path: str) -> str:
        """Return the first GPU that a program is going to have."""
        from rocdbg.host.program_code import default_gpu

        return (self.gpu or default_gpu(path)).partition(",")[0]

    def start(self) -> Target:
        """Start the program and return its target, before any kernel has run. Raises a `rocdbg.Error`."""
        # imported late: most sessions do not debug a whole program
        from rocdbg.debugger.target.runtime_process import HostedProcess
        from rocdbg.host.agents import parse_agents
        from rocdbg.host.program_code import default_gpu

        command = f"{shlex.quote(self.path)} {self.arguments}" if self.command else ""
        self.release()
        agents = parse_agents(self.gpu or default_gpu(self.path))
        directory = str(Path(self.directory).expanduser()) if self.directory else None
        self._process = HostedProcess(
            command, agents, self.environment(), directory, self.report, self.host(), self.arguments
        )
        self._target = ProcessTarget(self._process, self.titles, self.skips, self.holds)
        return self._target

    def follow(self, settings: Settings) -> None:
        """Let settings determine which kernels are hidden, and whether the program stops when its GPUs do."""
        self.skips = lambda: settings.skip_runtime_kernels
        self.holds = lambda: settings.host == "stop"

    def hold(self) -> None:
        """Called when `holds` has changed while the GPUs are stopped."""
        if self._target is not None:
            self._target.hold()

    @property
    def pid(self) -> int:
        """The process id of the running program; 0 if there is none."""
        return self._process.pid if self._process is not None else 0

    def detach(self) -> None:
        """Detach from the program, which continues as long as the debugger exists to serve it."""
        if self._process is not None:
            self._process.let_go()
            self._detached.append(self._process)
            self._process = self._target = None

    @property
    def detached(self) -> list[int]:
        """Return the ids of the detached processes that have not ended."""
        self._detached = [process for process in self._detached if process.alive]
        return [process.pid for process in self._detached]

    def wait_for_detached(self) -> None:
        """Wait for the detached processes to end. An exception that interrupts the wait ends them."""
        try:
            for process in self._detached:
                process.wait_for_end()
        finally:
            for process in self._detached:
                process.kill()
            self._detached.clear()

    def remains(self) -> Target | None:
        """Return the last program's target; its memory stays readable until the next program starts."""
        return self._target

    def release(self) -> None:
        """End the program, if it has not ended, and free its memory."""
        if self._process is not None:
            self._process.kill()
        self._process = self._target = None


def need_program(name: str) -> str:
    """Return the path of a program. Raises `LaunchError`."""
    found = find_program(name)
    if found is None:
        raise LaunchError(f"{name}: No such file or directory.")
    return found


__all__ = ["ProgramLaunch", "need_program"]
