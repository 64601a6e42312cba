"""A GDB that rocdbg owns, as `HostDebugger`. pygdbmi parses its machine interface.

GDB runs in a session of its own without a terminal, so Ctrl-C reaches only rocdbg. A wrapper, which GDB's shell
executes before the program, gives the program rocdbg's standard streams and its environment.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from msgspec.structs import replace
from pygdbmi import gdbmiparser

from rocdbg.debugger.target.capabilities.runnable import ProcessEnd
from rocdbg.debugger.target.host_debugger import HostDebuggerError, HostPlace, HostThread
from rocdbg.debugger.target.host_stop import HostStop
from rocdbg.work import unit

_SETTINGS: Final = (
    "mi-async on", "confirm off", "pagination off", "width 0", "height 0", "breakpoint pending on",
    "debuginfod enabled off", "print thread-events off", "print inferior-events off", "style enabled off",
    "startup-with-shell on", "auto-load python-scripts off", "auto-load gdb-scripts off",
    "auto-load guile-scripts off", "auto-load local-gdbinit off",
)
_NOISE: Final = re.compile(
    r"\[Thread debugging using libthread_db enabled\]\n|Using host libthread_db library .*\n|Starting program: .*\n"
)
_STREAMS: Final = (0, 1, 2)
_WRAPPER: Final = (
    "import json, os, signal, sys; given = int(sys.argv[1]); "
    "environment, streams = json.loads(os.pread(given, os.fstat(given).st_size, 0)); "
    "copies = [(number, copy) for number in range(3) for pipe, copy in streams if os.fstat(number).st_ino == pipe]; "
    "[os.dup2(copy, number) for number, copy in copies]; "
    "[os.close(each) for each in (given, *(copy for _, copy in streams))]; "
    "[signal.signal(each, signal.SIG_DFL) for each in (signal.SIGPIPE, signal.SIGXFSZ)]; "  # Python ignores them
    "os.execvpe(sys.argv[2], sys.argv[2:], environment)"
)
"""Executed by GDB's shell, before the program. Streams that the shell has redirected are no longer GDB's pipes."""
_PATIENCE: Final = 0.02
"""Seconds between two looks at whether Ctrl-C was pressed while GDB works."""
_LEAVING: Final = 2.0
"""Seconds that GDB has to end by itself."""


def find_gdb(name: str) -> str | None:
    """Return the path of the host debugger, by name or path; None if there is none."""
    return shutil.which(name)


class HostGdb:
    """A GDB for the program at ``path`` (`HostDebugger`). ``gdb`` is GDB's own path."""

    def __init__(self, gdb: str, path: str) -> None:
        self.news: Callable[[], None] = lambda: None
        self.pid = 0
        self.end: ProcessEnd | None = None
        self.thread_ids: list[int] = []
        self._path = path
        self._changed = threading.Condition()
        self._results: dict[int, dict[str, Any]] = {}
        self._counts: dict[int, tuple[int, int]] = {}
        """How often breakpoints were hit, and are to be passed."""
        self._text: list[str] = []
        self._token = 0
        self._resumed_by: int | None = None
        self._stop: HostStop | None = None
        self._running = self._over = self._interrupting = False
        self._next = self._head = ""
        self._detached: int | None = None
        """A file descriptor for the process, after it was detached."""
        self._wrapper = os.memfd_create("rocdbg-wrapper", 0)
        """A file without a name, which vanishes with its users: what the wrapper gives the program."""
        copies = {number: _copy(number) for number in _STREAMS}
        self._streams = {number: copy for number, copy in copies.items() if copy is not None}
        try:
            self._process = subprocess.Popen(
                [gdb, "-nx", "-q", "--interpreter=mi3"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, pass_fds=(self._wrapper, *self._streams.values()), start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            self._forget()
            raise HostDebuggerError(f"{gdb}: cannot be started: {error.strerror}") from None
        atexit.register(self.close)
        for reads in (self._read, self._discard):
            threading.Thread(target=reads, name="rocdbg-host-gdb", daemon=True).start()
        try:
            for setting in _SETTINGS:
                with suppress(HostDebuggerError):  # an older GDB does not have it
                    self._send(f"-gdb-set {setting}")
            self._send(f"-file-exec-and-symbols {_quoted(path)}")
        except BaseException:
            self.close()
            raise

    # -- breakpoints

    def insert(self, text: str, temporary: bool = False, condition: str | None = None) -> tuple[int, HostPlace] | None:
        flags = ("-t " if temporary else "") + (f"-c {_quoted(condition)} " if condition else "")
        try:
            answer = self._send(f"-break-insert {flags}{_quoted(text)}")
        except HostDebuggerError as error:
            if _NOT_FOUND.search(str(error)):
                return None
            raise
        made = answer["bkpt"]
        rows = made.get("locations") or [made]
        first = rows[0]
        return int(made["number"]), HostPlace(
            int(first.get("addr", "0"), 16), first.get("func", ""), first.get("file", ""), int(first.get("line", 0)),
            len(rows),
        )

    def delete(self, number: int) -> None:
        self._send(f"-break-delete {number}")

    def enable(self, number: int, enabled: bool) -> None:
        self._send(f"-break-{'enable' if enabled else 'disable'} {number}")

    def ignore(self, number: int, count: int) -> None:
        self._send(f"-break-after {number} {count}")
        self._counts[number] = self.counts(number)[0], count  # GDB reports only what its own stops change

    def counts(self, number: int) -> tuple[int, int]:
        return self._counts.get(number, (0, 0))

    def set_condition(self, number: int, condition: str) -> None:
        self._send(f"-break-condition {number} {condition}".rstrip())

    # -- running

    @property
    def running(self) -> bool:
        return self._running

    @property
    def is_over(self) -> bool:
        """Whether GDB itself has ended."""
        return self._over

    def start(self, arguments: str, environment: Mapping[str, str], directory: str | None) -> None:
        pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        streams = [
            (os.fstat(pipe.fileno()).st_ino, self._streams[number])
            for number, pipe in enumerate(pipes) if pipe is not None and number in self._streams
        ]
        description = json.dumps([dict(environment), streams]).encode()
        os.ftruncate(self._wrapper, 0)
        os.pwrite(self._wrapper, description, 0)
        words = [sys.executable, "-I", "-S", "-c", _WRAPPER, str(self._wrapper)]
        self.execute(f"set exec-wrapper {shlex.join(words)}")
        self.execute(f"set args {arguments}")
        if directory is not None:
            self._send(f"-environment-cd {_quoted(directory)}")
        self.pid, self.end, self._stop = 0, None, None
        self.thread_ids.clear()
        self._counts = {number: (0, passes) for number, (_, passes) in self._counts.items()}
        self._running = True
        try:
            self._send("-exec-run")
        except BaseException:
            self._running = False
            raise

    def execute(self, command: str) -> str:
        return str(self._send(f"-interpreter-exec console {_quoted(command)}")[_TEXT])

    def resume(self, command: str = "continue") -> str:
        with self._changed:
            if self._stop is not None or self._running or self._over or self.end is not None:
                return ""
        try:
            return self.execute(f"{command}&")  # in the background, or GDB takes no command before the next stop
        except HostDebuggerError:
            if self.end is None and self._stop is None and not self._over:
                raise
            return ""  # it could not continue, which is a stop, or the end of the program or of GDB

    def go_on(self) -> None:
        """Resume by the command of `next_by`, or else continue."""
        command, self._next = self._next or "continue", ""
        said = self.resume(command)
        self._head = "" if command == "continue" else said

    def next_by(self, command: str) -> None:
        """Set the command by which the program continues next time."""
        self._next = command

    def interrupt(self, reported: bool = False) -> None:
        with self._changed:
            if not self._running or self._over:
                return
            self._interrupting = not reported
        try:
            self._send("-exec-interrupt")
            self._await(lambda: not self._running or self._over)
        finally:
            self._interrupting = False

    def detach(self) -> None:
        self.interrupt()
        self._detached = os.pidfd_open(self.pid)
        self.execute("detach")

    @property
    def status(self) -> int | None:
        """The exit status of the program, negative for a signal; None while it exists. 0 if it was detached."""
        if self._detached is not None:
            return 0 if select.select([self._detached], [], [], 0)[0] else None
        if self._over and self.end is None:  # without its debugger, a program may be left stopped
            self.kill()
            return -signal.SIGKILL
        return None if self.end is None else -self.end.signal if self.end.signal else self.end.code

    def take_stop(self) -> HostStop | None:
        with self._changed:
            taken, self._stop = self._stop, None
        if taken is None or not self._head:
            return taken
        head, self._head = self._head, ""
        return replace(taken, text=head + taken.text)

    def threads(self) -> tuple[int, list[HostThread]]:
        answer = self._send("-thread-info")
        rows = [
            HostThread(int(row["id"]), row.get("target-id", ""), row.get("name", ""), _frame(row.get("frame", {})))
            for row in answer.get("threads", [])
        ]
        return int(answer.get("current-thread-id", 0)), sorted(rows, key=lambda row: row.number)

    def kill(self) -> None:
        if not self.pid or self.end is not None:
            return
        with suppress(OSError):
            os.kill(self.pid, signal.SIGKILL)
        if not self._running and not self._over:  # GDB does not look at a program that it has stopped
            with suppress(HostDebuggerError):
                self.execute("kill")
            self.end = self.end or ProcessEnd(self.pid, signal=int(signal.SIGKILL))

    def close(self) -> None:
        atexit.unregister(self.close)
        if self._detached is None:
            self.kill()
        with suppress(OSError, ValueError):
            assert self._process.stdin is not None
            self._process.stdin.write(b"-gdb-exit\n")
            self._process.stdin.flush()
        try:
            self._process.wait(_LEAVING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._forget()

    def _forget(self) -> None:
        for copy in self._streams.values():
            os.close(copy)
        self._streams = {}
        for descriptor in (self._wrapper, self._detached):
            if descriptor is not None and descriptor >= 0:
                os.close(descriptor)
        self._wrapper, self._detached = -1, None

    # -- the machine interface

    def _send(self, command: str) -> dict[str, Any]:
        """Send a command; return its results, with the text that it printed under `_TEXT`."""
        if "\n" in command:
            raise HostDebuggerError("A command for the host debugger cannot have a newline character in it.")
        with self._changed:
            if self._over:
                raise HostDebuggerError("The host debugger has ended unexpectedly.")
            self._token += 1
            token = self._token
            self._text.clear()
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(os.fsencode(f"{token}{command}\n"))
            self._process.stdin.flush()
        except (OSError, ValueError):
            self._over = True
            raise HostDebuggerError("The host debugger has ended unexpectedly.") from None
        try:
            self._await(lambda: token in self._results or self._over)
        except BaseException:  # an interrupt is for the command too
            self._process.send_signal(signal.SIGINT)
            raise
        with self._changed:
            answer = self._results.pop(token, None)
        if answer is None:
            raise HostDebuggerError("The host debugger has ended unexpectedly.")
        if answer["message"] == "error":
            raise HostDebuggerError(str((answer["payload"] or {}).get("msg", "")))
        return {**(answer["payload"] or {}), _TEXT: answer[_TEXT]}

    def _await(self, done: Callable[[], bool]) -> None:
        with self._changed:
            while not done():
                self._changed.wait(_PATIENCE)
                unit()

    def _read(self) -> None:
        """Read what GDB says, until it ends."""
        assert self._process.stdout is not None
        try:
            for line in self._process.stdout:
                text = line.decode(errors="replace").rstrip("\r\n")
                if text.strip() not in ("", "(gdb)"):
                    self._take(gdbmiparser.parse_response(text))
        finally:  # also if GDB says something unheard of: nothing may wait for an answer forever
            with self._changed:
                self._over, self._running = True, False
                self._changed.notify_all()
            self.news()

    def _discard(self) -> None:
        """Read what GDB writes beside its interface, so that it does not wait."""
        assert self._process.stderr is not None
        while self._process.stderr.read1():  # type: ignore[attr-defined]
            pass

    def _take(self, record: dict[str, Any]) -> None:
        kind, message, payload = record["type"], record.get("message"), record.get("payload") or {}
        stopped = False
        with self._changed:
            if kind in ("console", "log"):  # errors are results as well
                self._text.append(str(payload))
            elif kind == "result":
                if message == "running":
                    self._running, self._resumed_by = True, record.get("token")
                elif message == "error" and self._running and record.get("token") == self._resumed_by:
                    self._not_resumed(str(payload.get("msg", "")))
                    stopped = True
                if record.get("token") is not None:
                    self._results[record["token"]] = {**record, _TEXT: "".join(self._text)}
                self._text.clear()
            elif kind == "notify" and message == "thread-group-started":
                self.pid = int(payload["pid"])
            elif kind == "notify" and message == "breakpoint-modified":
                made = payload["bkpt"]
                self._counts[int(made["number"])] = int(made.get("times", 0)), int(made.get("ignore", 0))
            elif kind == "notify" and message == "thread-created":
                self.thread_ids.append(int(payload["id"]))
            elif kind == "notify" and message == "thread-exited" and int(payload["id"]) in self.thread_ids:
                self.thread_ids.remove(int(payload["id"]))
            elif kind == "notify" and message == "running":
                self._running = True
            elif kind == "notify" and message == "stopped":
                self._stopped(payload)
                stopped = True
            self._changed.notify_all()
        if stopped:
            self.news()

    def _not_resumed(self, problem: str) -> None:
        """Note that the program could not continue, for example because something else has killed it."""
        self._running = False
        if _is_alive(self.pid):
            self._stop = HostStop("".join(self._text) + f"{problem}\n")
        else:
            self.end = ProcessEnd(self.pid, signal=int(signal.SIGKILL))

    def _stopped(self, payload: dict[str, Any]) -> None:
        """Note that the program has stopped or ended."""
        text = _NOISE.sub("", "".join(self._text))
        self._text.clear()
        self._running = False
        reason = payload.get("reason", "")
        if reason in ("exited", "exited-normally"):
            self.end = ProcessEnd(self.pid, int(payload.get("exit-code", "0"), 8))
        elif reason == "exited-signalled":
            number = getattr(signal, payload.get("signal-name", ""), signal.SIGKILL)
            self.end = ProcessEnd(self.pid, signal=int(number))
        elif not (self._interrupting and payload.get("signal-name") == "SIGINT"):
            numbers = [int(payload[name]) for name in ("bkptno", "wpnum") if name in payload]
            numbers += [int(payload[name]["number"]) for name in ("wpt", "hw-awpt", "hw-rwpt") if name in payload]
            thread = payload.get("thread-id")
            self._stop = HostStop(
                text, tuple(numbers), int(thread) if thread is not None else None, payload.get("signal-name", "")
            )


_TEXT: Final = "\0text"
_NOT_FOUND: Final = re.compile(
    r"not defined|No symbol table|No source file named|No line \d+ in|Can't find"
)


def _is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 (the fields after the name, which may be anything)
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except (OSError, IndexError):
        return False


def _copy(number: int) -> int | None:
    try:
        return os.dup(number)
    except OSError:
        return None  # closed


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _frame(frame: dict[str, Any]) -> str:
    """The frame of a thread as `info threads` shows it."""
    if not frame:
        return "(running)"
    arguments = ", ".join(f"{each['name']}={each.get('value', '...')}" for each in frame.get("args", []))
    name, line = frame.get("func", "??"), frame.get("line")
    head = f"{name} ({arguments})"
    if line is not None:
        return f"{head} at {frame.get('file', '')}:{line}"
    return f"{frame.get('addr', '')} in {head}" + (f" from {frame['from']}" if "from" in frame else "")


__all__ = ["HostGdb", "find_gdb"]
