"""Programs that run on simulated GPUs: ``rocdbg.Program``."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import IO, Any

from rocdbg.errors import Error
from rocdbg.host.agents import parse_agents
from rocdbg.host.find_runtime_library import runtime_library
from rocdbg.host.program_code import default_gpu
from rocdbg.host.server import Server
from rocdbg.streams import complain
from rocdbg.text import printable


class ProgramError(Error):
    """A program cannot be started, or has not ended in time."""


class Program:
    """A program with its own, unchanged runtime; its kernels run on simulated GPUs.

    ``arguments``: the program and its arguments. ``gpu``: its GPUs, ``gfx90a`` or ``gfx90a,gfx1100``; default: the
    targets of its own device code. ``environment``: variables in addition to those of this process. ``stdin``,
    ``stdout`` and ``stderr`` as for `subprocess.Popen`. ``report``: receives a message about each failing kernel; by
    default they are printed on standard error.

    A context manager: the program does not outlive it. The thread that starts it must not end before the program.
    Raises ProgramError and the errors of `parse_agents` and `runtime_library`.
    """

    def __init__(
        self,
        arguments: Sequence[str | os.PathLike[str]],
        gpu: str | None = None,
        *,
        environment: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        stdin: int | IO[Any] | None = None,
        stdout: int | IO[Any] | None = None,
        stderr: int | IO[Any] | None = None,
        report: Callable[[str], None] | None = None,
    ) -> None:
        if not arguments:
            raise ProgramError("no program is given")
        self.arguments = [os.fspath(argument) for argument in arguments]
        self.agents = parse_agents(gpu or default_gpu(self.arguments[0]))
        self._environment, self._cwd = environment or {}, cwd
        self._streams = (stdin, stdout, stderr)
        self.messages: list[str] = []
        """The messages about failed kernels."""
        self._say = report or _print
        self._server: Server | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self.starting = False
        """Whether the program is being started at this moment: an exception from a signal handler would then lose track
        of it.
        """

    # -- life cycle --------------------------------------------------------------------------------------------

    def start(self) -> Program:
        """Start it; returns itself. Raises ProgramError."""
        if self._process is not None:
            raise ProgramError("the program has been started already")
        self._server = Server(self.agents, runtime_library(), self._report)
        stdin, stdout, stderr = self._streams
        environment = self._server.environment({**os.environ, **self._environment})
        self.starting = True
        try:
            self._process = subprocess.Popen(
                self.arguments, env=environment, cwd=self._cwd, stdin=stdin, stdout=stdout, stderr=stderr
            )
        except (OSError, ValueError) as error:
            self._server.close()
            self._server = None
            reason = getattr(error, "strerror", None) or error
            raise ProgramError(f"cannot run {self.arguments[0]}: {reason}") from None
        finally:
            self.starting = False
        return self

    def send_signal(self, number: int) -> None:
        """Send the program a signal, if it runs; may be called from a signal handler."""
        if self._process is not None:
            with suppress(OSError):
                self._process.send_signal(number)

    def run(self, timeout: float | None = None) -> int:
        """Start the program if necessary, and wait for its end; returns `returncode`. If it has not ended after
        ``timeout`` seconds, it is killed, and ProgramError is raised.
        """
        if self._process is None:
            self.start()
        return self.wait(timeout)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; returns `returncode`. Raises ProgramError as `run` does."""
        process = self._started()
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise ProgramError(f"{self.arguments[0]} has not ended within {timeout} s") from None
        self._close()
        return process.returncode

    def communicate(self, data: bytes | None = None, timeout: float | None = None) -> tuple[bytes, bytes]:
        """As `subprocess.Popen.communicate`: returns its output to pipes. Starts it if necessary."""
        if self._process is None:
            self.start()
        process = self._started()
        try:
            out, err = process.communicate(data, timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise ProgramError(f"{self.arguments[0]} has not ended within {timeout} s") from None
        self._close()
        return out, err

    def kill(self) -> None:
        """Kill it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._close()

    @property
    def returncode(self) -> int | None:
        """The program's exit status, the negative number of the signal that ended it, None while it runs."""
        return self._process.poll() if self._process is not None else None

    @property
    def has_started(self) -> bool:
        """Whether it was started, even if it has ended."""
        return self._process is not None

    @property
    def pid(self) -> int:
        """The program's process id. Raises ProgramError if it has not been started."""
        return self._started().pid

    def __enter__(self) -> Program:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise ProgramError("the program has not been started")
        return self._process

    def _close(self) -> None:
        if self._server is not None:
            self._server.close()

    def _report(self, text: str) -> None:
        self.messages.append(text)
        self._say(text)


def _print(text: str) -> None:
    complain(f"rocdbg: {printable(text)}")  # the names of kernels come from the file
