"""The host side of a program: its host debugger, the breakpoints in host code, and whether a CPU thread has the focus.

The host debugger starts only when something needs it, so that programs without breakpoints in host code run at full
speed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from msgspec import Struct

from rocdbg.codeobject.startable_program import is_program
from rocdbg.debugger.base.engine_settings import Settings
from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.breakpoints.breakpoint_table import BreakpointTable, Hit
from rocdbg.debugger.breakpoints.host_breakpoints import HostBreakpoint
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.frames.selection import Selection
from rocdbg.debugger.running.observer import Observer
from rocdbg.debugger.running.stop_events import HostStopped, StopEvent, hits_of
from rocdbg.debugger.target.capabilities.target_state import Target
from rocdbg.debugger.target.host_debugger import HostDebugger, HostDebuggerError, HostThread
from rocdbg.debugger.target.host_stop import HostStop
from rocdbg.debugger.target.process_target import ProcessTarget


class _Known(Struct):
    """What the host debugger knows about a breakpoint: whether it is enabled, and how often it is to be passed."""

    enabled: bool = True
    passes: int = 0


class HostSide(Observer):
    """The host side of a session (`Observer`). ``path`` returns the program, "" if none is debugged; ``focus`` the
    session's focus; ``warn`` receives messages that do not end a command.
    """

    def __init__(
        self, settings: Settings, breakpoints: BreakpointTable, inferior: Inferior, path: Callable[[], str],
        focus: Callable[[], Selection], warn: Callable[[str], None],
    ) -> None:
        self._settings, self._breakpoints, self._inferior = settings, breakpoints, inferior
        self._path, self._focus, self._warn = path, focus, warn
        self._warned: set[str] = set()
        self._debugger: HostDebugger | None = None
        self._debugged = ""
        self._known: dict[int, _Known] = {}
        """The breakpoints that the host debugger has, by its numbers."""
        self._ours: dict[int, int] = {}
        """The numbers of all breakpoints that it has ever had, by its numbers."""
        self._numbers: dict[int, int] = {}
        """The numbers of CPU threads, by those of the host debugger."""
        self._chosen = False
        """Whether a CPU thread got the focus, and no wave since."""

    @property
    def focused(self) -> bool:
        """Whether a CPU thread has the focus: commands are about host code."""
        return self._chosen and self._focus().current.thread is None and self.alive

    @property
    def alive(self) -> bool:
        """Whether the program has a host debugger, and has started and not ended."""
        debugger = self.debugger
        return debugger is not None and bool(debugger.pid) and debugger.end is None and self._inferior.running

    @property
    def debugger(self) -> HostDebugger | None:
        """The host debugger of the program, if one is in use."""
        known = self._debugger
        return known if known is not None and not known.is_over and self._debugged == self._path() else None

    def need(self) -> HostDebugger:
        """Return the host debugger, and start it if necessary. Raises `DebuggerError` if there is none."""
        if not self._path():
            raise DebuggerError("No program with host code is being debugged.")
        if (known := self.debugger) is not None:
            return known
        self.close()
        return self._new()

    def _new(self) -> HostDebugger:
        path, name = self._path(), self._settings.host_debugger
        if name == "off":
            raise DebuggerError('Host code is not debugged: use "set host-debugger gdb" first.')
        # imported late: most sessions do not debug host code
        from rocdbg.debugger.target.host_gdb import HostGdb, find_gdb

        found = find_gdb(name)
        if found is None:
            raise DebuggerError(
                f'Debugging host code needs GDB, but there is no {name}: install gdb, or use "set host-debugger".'
            )
        self._debugger, self._debugged = HostGdb(found, path), path
        return self._debugger

    def for_start(self) -> HostDebugger | None:
        """Return the host debugger that starts the program; None if nothing needs one. If it has ended unexpectedly, a
        new one gets the breakpoints. Raises a `DebuggerError`.
        """
        lost = self.breakpoints() if self.debugger is None and self._debugged == self._path() else []
        if not lost:
            return self.debugger
        if self._debugger is not None:
            self._debugger.close()
        self._forget()
        debugger = self._new()
        for one in lost:
            made = debugger.insert(one.text, one.temporary, one.condition)
            if made is None:
                self._breakpoints.delete(one.number)
                continue
            one.host_number, one.place = made
            self._note(one)
        return debugger

    def break_at(self, text: str, temporary: bool, condition: str | None) -> HostBreakpoint | None:
        """Set a breakpoint in host code; None if host code has no such location, or is not debugged. Raises a
        `DebuggerError` for a condition that is not valid there.
        """
        if not is_program(self._path()):
            return None
        in_use = self.debugger is not None
        try:
            debugger = self.need()
        except DebuggerError as error:
            if self._settings.host_debugger != "off" and str(error) not in self._warned:
                self._warned.add(str(error))
                self._warn(str(error))
            return None
        made = None
        try:
            made = debugger.insert(text, temporary, condition)
        finally:
            if made is None and not in_use:
                self.close()
        if made is None:
            return None
        number, place = made
        breakpoint_ = HostBreakpoint(0, text, condition=condition, host_number=number, place=place)
        if temporary:
            breakpoint_.disposition = breakpoint_.disposition.DELETE
        self._breakpoints.adopt(breakpoint_)
        self._note(breakpoint_)
        return breakpoint_

    def _note(self, made: HostBreakpoint) -> None:
        self._known[made.host_number] = _Known()
        self._ours[made.host_number] = made.number

    def set_condition(self, breakpoint_: HostBreakpoint, condition: str | None) -> None:
        """Set the condition of a breakpoint in host code. Raises a `DebuggerError` if it is not valid there."""
        debugger = self.need()
        debugger.interrupt()
        debugger.set_condition(breakpoint_.host_number, condition or "")
        breakpoint_.condition = condition or None

    def prepare(self) -> None:
        """Tell the host debugger how breakpoints were changed, before the program resumes."""
        debugger = self.debugger
        if debugger is None:
            return
        self._count_threads()
        wanted = {one.host_number: one for one in self.breakpoints()}
        for number, known in tuple(self._known.items()):
            one = wanted.get(number)
            if one is None:
                with suppress(HostDebuggerError):  # GDB deletes temporary breakpoints by itself
                    debugger.delete(number)
                del self._known[number]
                continue
            if one.enabled != known.enabled:
                debugger.enable(number, one.enabled)
            if one.ignore_count != known.passes:
                debugger.ignore(number, one.ignore_count)
            known.enabled, known.passes = one.enabled, one.ignore_count

    def breakpoints(self) -> list[HostBreakpoint]:
        """Return the breakpoints in host code."""
        return [one for one in self._breakpoints.elsewhere if isinstance(one, HostBreakpoint)]

    def _count_threads(self) -> None:
        """Give numbers to new CPU threads."""
        debugger, target = self.debugger, self._inferior.target
        if debugger is not None and isinstance(target, ProcessTarget):
            for number in tuple(debugger.thread_ids):
                if number not in self._numbers:
                    self._numbers[number] = target.reserve_thread()

    def threads(self) -> list[tuple[int, bool, HostThread]]:
        """Stop the program; return its CPU threads, each with its number and whether it has the focus."""
        debugger = self.debugger
        if debugger is None or not self.alive:
            return []
        debugger.interrupt()
        self._count_threads()
        current, rows = debugger.threads()
        return [
            (self._numbers[row.number], self.focused and row.number == current, row)
            for row in rows if row.number in self._numbers
        ]

    def select_thread(self, number: int) -> str | None:
        """Give the focus to a CPU thread, and return what the host debugger says about it; None if there is none."""
        debugger = self.debugger
        theirs = next((theirs for theirs, ours in self._numbers.items() if ours == number), None)
        if debugger is None or theirs is None or not self.alive:
            return None
        debugger.interrupt()
        said = debugger.execute(f"thread {theirs}")
        self._focus().move(Focus())
        self._chosen = True
        return said

    def thread_number(self, theirs: int) -> int:
        """Return the number of a CPU thread of the host debugger."""
        self._count_threads()
        return self._numbers.get(theirs, theirs)

    def event(self, stop: HostStop) -> StopEvent:
        """Return the event for a stop. No wave is in focus then."""
        for one in self.breakpoints():
            self._take_counts(one)
        hits = [Hit(one, 0) for one in self.breakpoints() if one.host_number in stop.breakpoints]
        self._focus().move(Focus())
        cause = HostStopped(stop, hits_of(hits) if hits else None)
        self._breakpoints.retire(hits)
        return StopEvent(cause, Focus())

    def _take_counts(self, one: HostBreakpoint) -> None:
        if self.debugger is not None:
            one.hit_count, one.ignore_count = self.debugger.counts(one.host_number)
            if (known := self._known.get(one.host_number)) is not None:
                known.passes = one.ignore_count

    def breakpoint_number(self, theirs: int) -> int:
        """Return the number of a breakpoint of the host debugger, even if it has just been deleted."""
        return self._ours.get(theirs, theirs)

    def execute(self, command: str) -> str:
        """Execute a command about host code, and return its output. Raises `DebuggerError`."""
        debugger = self.need()
        debugger.interrupt()
        return debugger.execute(command)

    def close(self) -> None:
        """End the host debugger; the breakpoints in host code are deleted."""
        if self._debugger is not None:
            self._debugger.close()
            for one in self.breakpoints():
                self._breakpoints.delete(one.number)
        self._forget()

    def _forget(self) -> None:
        self._debugger, self._debugged = None, ""
        self._known.clear()
        self._ours.clear()
        self._numbers.clear()
        self._chosen = False

    # -- `Observer`

    def launched(self, target: Target) -> None:
        self._chosen = False
        self._numbers.clear()

    def stopped(self, event: StopEvent) -> None:
        self._chosen = isinstance(event.cause, HostStopped)

    def left(self) -> None:
        self._chosen = False


__all__ = ["HostSide"]
