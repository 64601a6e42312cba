"""Catchpoints: events in the life of a program that stop it."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from msgspec import field

from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.base.patterns import compile_pattern
from rocdbg.debugger.breakpoints.breakpoint_table import Arrival, Breakpoint
from rocdbg.sim.core.lane_expressions import Node


class Event(Enum):
    """What can be caught; the value is its keyword."""

    DISPATCH = "dispatch"
    WORKGROUP = "workgroup"
    WAVE = "wave"
    SENDMSG = "sendmsg"
    EXCEPTION = "exception"
    TRAP = "trap"
    LOAD = "load"
    UNLOAD = "unload"

    @property
    def has_ends(self) -> bool:
        """Whether the event has a beginning and an end."""
        return self in (Event.DISPATCH, Event.WORKGROUP, Event.WAVE)


BEGIN, END = "begin", "end"


class EventBreakpoint(Breakpoint):
    """A breakpoint that stops at events and has no place."""

    @property
    def at_places(self) -> bool:
        """Always False: it refers to events."""
        return False

    @property
    def kind(self) -> str:
        """The type that ``info breakpoints`` shows."""
        return "catchpoint"

    @property
    def what(self) -> str:
        """The description that ``info breakpoints`` shows."""
        return self.text

    @property
    def command(self) -> str:
        """The command that recreates it."""
        return f"{'tcatch' if self.temporary else 'catch'} {self.text}"


class Catchpoint(EventBreakpoint):
    """A request to catch events. ``when`` contains `BEGIN`, `END` or both, if the event has them.

    ``argument`` selects the events: a kind of exception, the number of a trap, or a regular expression for the name of
    a kernel or code object; "" means any. `Catcher` sets ``places`` and ``happening``.
    """

    event: Event = Event.WAVE
    when: tuple[str, ...] = ()
    argument: str = ""
    places: Callable[[Catchpoint], frozenset[LoadedAddress]] = field(default=lambda made: frozenset())
    """Returns the addresses where waves have to stop for it."""
    happening: Callable[[Catchpoint, int], str] = field(default=lambda made, thread: "")
    """Describes the event that a wave at one of the places is about to cause; "" if there is none."""
    guard: Callable[[Catchpoint, int], Node | None] = field(default=lambda made, address: None)
    """Returns a condition (I1) that is the same for all lanes; the event can happen at a place only if the condition
    holds.
    """
    reported: set[int] = field(default_factory=set)
    """The waves that are at their end and whose end was reported as a hit of this catchpoint."""
    report_positions: dict[int, int] = field(default_factory=dict)
    """For each of these waves, the position in time at which the hit was reported."""

    @property
    def title(self) -> str:
        """The description that is printed when the catchpoint is created."""
        return " ".join((self.event.value, *([self.when[0]] if len(self.when) == 1 else []), *self._which))

    @property
    def _which(self) -> tuple[str, ...]:
        return (self.argument,) if self.argument and self.event in (Event.EXCEPTION, Event.TRAP) else ()

    @property
    def what(self) -> str:
        """The description that ``info breakpoints`` shows."""
        if self.event in (Event.EXCEPTION, Event.TRAP):
            return f"{self.event.value} {self.argument}" if self.argument else f"any {self.event.value}"
        text = f"{self.event.value} of code object" if self.event in (Event.LOAD, Event.UNLOAD) else self.event.value
        text = " ".join((text, " and ".join(self.when))) if self.when else text
        return f"{text} matching {self.argument}" if self.argument else text

    @property
    def command(self) -> str:
        """The command that recreates it."""
        words = ["tcatch" if self.temporary else "catch", self.event.value]
        words += self.when if len(self.when) == 1 else ()
        return " ".join((*words, self.argument) if self.argument else words)

    def matches(self, name: str) -> bool:
        """Whether it applies to a kernel or code object of this name."""
        return not self.argument or compile_pattern(self.argument).search(name) is not None

    def addresses(self) -> frozenset[LoadedAddress]:
        return self.places(self)

    def lanes_of(self, arrival: Arrival) -> int:
        """Return all active lanes or, if there are none, all lanes: these events do not depend on EXEC."""
        if arrival.thread in self.reported or not self.happening(self, arrival.thread):
            return 0
        return arrival.active or arrival.used

    def counted(self, arrival: Arrival) -> None:
        if END in self.when and self.happening(self, arrival.thread).endswith(END):
            self.reported.add(arrival.thread)


class HostCatchpoint(EventBreakpoint):
    """A catchpoint for events of host processes (throw, fork, exec...), which never stops a kernel.

    ``text`` is its keyword; for exceptions, ``argument`` is the regular expression that their types must match.
    """

    argument: str = ""

    @property
    def is_thrown(self) -> bool:
        """Whether it catches C++ exceptions."""
        return self.text in THROWN

    @property
    def title(self) -> str:
        """The description that is printed when the catchpoint is created."""
        return "any syscall" if self.text == "syscall" else self.text

    @property
    def what(self) -> str:
        """The description that ``info breakpoints`` shows."""
        if self.text == "syscall":
            return 'syscall "<any syscall>" '
        return f"exception {self.text}" if self.is_thrown else self.text

    @property
    def command(self) -> str:
        """The command that recreates it."""
        return f"{super().command} {self.argument}".strip()


THROWN = ("throw", "catch", "rethrow")
