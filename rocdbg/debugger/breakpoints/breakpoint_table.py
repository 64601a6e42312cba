"""Breakpoints in three layers: the user's request, its addresses in code, and why a wave stops there.

A `Breakpoint` is the request, and each `BreakpointLocation` is one of its addresses. For a wave at an address,
`BreakpointTable.hits` decides which of the wave's lanes meet which requests.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct, field

from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.base.digits import decimal
from rocdbg.debugger.base.errors import BreakpointError, QuitError
from rocdbg.debugger.breakpoints.breakpoint_places import PlaceIndex
from rocdbg.debugger.program.location_lookup import Location
from rocdbg.dwarf.info import SourceFile
from rocdbg.errors import Error


class Disposition(enum.Enum):
    """The fate of a breakpoint when it stops the program; tables show the value."""

    KEEP = "keep"
    DELETE = "del"
    DISABLE = "dis"


class _Noted(Struct):
    """Counts changes to its fields, so that results derived from thousands of breakpoints are computed again only after
    a change.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if name not in _NOT_NOTED and getattr(self, name) is not value:
            note_change()
        Struct.__setattr__(self, name, value)


_NOT_NOTED = frozenset({"hit_count", "values"})
"""Fields that change at every stop, and do not affect where the program stops."""
_changes = 0


def note_change() -> None:
    """Count a change of some breakpoint, in any session: the number of changes only grows."""
    global _changes
    _changes += 1


class BreakpointLocation(_Noted):
    """One address of a breakpoint; ``number`` is its number among the addresses of the breakpoint, from 1.

    ``invalid``: the breakpoint's condition has no meaning there, so it never stops there.
    """

    number: int
    location: Location
    enabled: bool = True
    invalid: bool = False

    @property
    def address(self) -> LoadedAddress:
        """The address as loaded now."""
        return self.location.address


class Breakpoint(_Noted):
    """A request of the user.

    ``text`` is the location as typed; it is resolved again when the program changes. ``thread`` and ``lane`` restrict
    the breakpoint to one wave or lane. The next ``ignore_count`` hits are ignored, and with `Disposition.DISABLE` the
    breakpoint is disabled at its ``enable_count``-th stop. ``commands`` belongs to the front end.
    """

    number: int
    text: str
    locations: list[BreakpointLocation] = field(default_factory=list)
    disposition: Disposition = Disposition.KEEP
    enabled: bool = True
    condition: str | None = None
    ignore_count: int = 0
    enable_count: int = 0
    hit_count: int = 0
    thread: int | None = None
    lane: int | None = None
    commands: list[str] = field(default_factory=list)
    hardware: bool = False
    """Whether it was requested as a hardware breakpoint; on the simulated target there is no difference."""

    @property
    def at_places(self) -> bool:
        """Whether it refers to places in code."""
        return True

    @property
    def stops_program(self) -> bool:
        """Whether it stops the program: other kinds only observe."""
        return True

    @property
    def kind(self) -> str:
        """The type that ``info breakpoints`` shows."""
        return "hw breakpoint" if self.hardware else "breakpoint"

    @property
    def pending(self) -> bool:
        """Whether its location is not known yet."""
        return not self.locations

    def addresses(self) -> frozenset[LoadedAddress]:
        """Return the addresses at which waves have to stop for it."""
        return frozenset(place.address for place in self.locations if place.enabled and not place.invalid)

    def lanes_of(self, arrival: Arrival) -> int:
        """Return which lanes the breakpoint concerns, of a wave at one of its addresses; 0 if it does not concern the
        wave.
        """
        if arrival.again or (self.thread is not None and self.thread != arrival.thread):
            return 0
        return arrival.active if self.lane is None else arrival.active & 1 << self.lane

    @property
    def temporary(self) -> bool:
        """Whether it is deleted when it stops the program."""
        return self.disposition is Disposition.DELETE

    def counted(self, arrival: Arrival) -> None:
        """Count an arrival as a hit."""

    def stops(self) -> None:
        """Record that the breakpoint stops the program now. With `Disposition.DISABLE`, this may disable it."""
        if self.disposition is Disposition.DISABLE:
            self.enable_count -= 1
            self.enabled = self.enable_count > 0

    def check_locations(self, problem: Callable[[str, Location], str | None], new: bool = False) -> list[str]:
        """Mark the locations where the condition has no meaning (``problem`` returns the reason); return a message for
        each of them.

        ``new``: the user has not seen the breakpoint's number yet.
        """
        prefix = "" if new else f"{self.number}."
        said = []
        for place in self.locations:
            why = problem(self.condition, place.location) if self.condition is not None else None
            place.invalid = why is not None
            if why is not None:
                said.append(f"failed to validate condition at location {prefix}{place.number}, disabling:\n  {why}")
        return said


class Hit(Struct, frozen=True):
    """A breakpoint that stops a wave, and the mask of lanes for which it does."""

    breakpoint: Breakpoint
    lanes: int

    def location_at(self, address: int) -> int | None:
        """Return which location of the breakpoint is at the address; ``None`` if it has only one location."""
        if len({place.address for place in self.breakpoint.locations}) < 2:
            return None
        return next((place.number for place in self.breakpoint.locations if place.address == address), None)


class Arrival(Struct, frozen=True):
    """A wave at an address: its active lanes, a function that evaluates conditions, and all lanes of the wave.

    ``condition`` returns the lanes, among those of a given mask, for which a text is true; it raises `rocdbg.Error` if
    the text cannot be evaluated for one of them. ``again``: the wave was there before, and only catchpoints have to be
    notified once more.
    """

    thread: int
    address: int
    active: int
    condition: Callable[[str, int], int]
    used: int = 0
    again: bool = False


class BreakpointTable:
    """All breakpoints by number. ``resolve`` finds the places of a location string."""

    def __init__(self, resolve: Callable[[str], Sequence[Location]]) -> None:
        self._resolve = resolve
        self._breakpoints: dict[int, Breakpoint] = {}
        self._places = PlaceIndex()
        self._elsewhere: dict[int, Breakpoint] = {}
        """Catchpoints and watchpoints, which have no places of their own."""
        self._next = 1
        self.last_number = 0
        self.before_last = 0
        """The number of the last breakpoint before `rbreak` created several."""
        self._known_version: object = None
        self._known_addresses: dict[bool, frozenset[LoadedAddress]] = {}
        """Addresses of breakpoints that have places, as of `_known_version`. The key is True for the addresses of only
        those breakpoints that stop the program.
        """

    def __iter__(self) -> Iterator[Breakpoint]:
        return iter(self._breakpoints.values())

    def __len__(self) -> int:
        return len(self._breakpoints)

    @property
    def version(self) -> object:
        """A value that changes whenever a breakpoint (apart from its hit counts) or a program's load address changes.
        """
        return _changes, self._places.bases()

    @property
    def elsewhere(self) -> Iterable[Breakpoint]:
        """The breakpoints without places of their own: catchpoints and watchpoints."""
        return self._elsewhere.values()

    def __contains__(self, number: object) -> bool:
        return number in self._breakpoints

    def get(self, number: int) -> Breakpoint:
        """Return a breakpoint by number. Raises `BreakpointError` if there is none."""
        found = self._breakpoints.get(number)
        if found is None:
            raise BreakpointError(f"No breakpoint number {number}.", number)
        return found

    # -- changing them

    def add(
        self,
        text: str,
        locations: Sequence[Location],
        *,
        temporary: bool = False,
        condition: str | None = None,
        thread: int | None = None,
        lane: int | None = None,
        hardware: bool = False,
        form: type[Breakpoint] = Breakpoint,
    ) -> Breakpoint:
        """Add a new breakpoint; without locations it is pending."""
        disposition = Disposition.DELETE if temporary else Disposition.KEEP
        breakpoint_ = form(
            self._next, text, _numbered(locations), disposition, True, condition, thread=thread, lane=lane,
            hardware=hardware,
        )
        self.adopt(breakpoint_)
        return breakpoint_

    def adopt(self, made: Breakpoint) -> None:
        """Add a breakpoint that was created elsewhere, and give it a number."""
        self.before_last = self._next - 1
        made.number = self.last_number = self._next
        self._breakpoints[self._next] = made
        note_change()
        if made.at_places:
            self._places.add(made.number, made.locations)
        else:
            self._elsewhere[made.number] = made
        self._next += 1

    def _remove(self, number: int) -> None:
        note_change()
        self._places.remove(number, self._breakpoints.pop(number).locations)
        self._elsewhere.pop(number, None)

    @property
    def last_numbers(self) -> range:
        """The numbers that the last command assigned, including those of breakpoints deleted since."""
        return range(self.before_last + 1, self.last_number + 1)

    def forget_threads(self) -> list[Breakpoint]:
        """Delete and return the breakpoints that are restricted to a thread: the program has ended."""
        gone = [one for one in self if one.thread is not None and one.at_places]
        for one in gone:
            self._remove(one.number)
        return gone

    def delete(self, number: int) -> None:
        """Delete a breakpoint. Raises `BreakpointError` if there is none of this number."""
        self.get(number)
        self._remove(number)

    def clear(self) -> None:
        """Delete all breakpoints."""
        note_change()
        self._breakpoints.clear()
        self._places.clear()
        self._elsewhere.clear()

    def enable(self, number: int, enabled: bool = True, location: int | None = None) -> None:
        """Enable or disable a breakpoint, or one of its locations (``disable 1.2``)."""
        breakpoint_ = self.get(number)
        if location is None:
            breakpoint_.enabled = enabled
            return
        for place in breakpoint_.locations:
            if place.number == location:
                place.enabled = enabled
                return
        raise BreakpointError(f"Bad breakpoint location number '{location}'", number)

    def enable_until(self, number: int, disposition: Disposition, count: int = 0) -> None:
        """``enable once|delete|count``: enable it, and set what happens to it at its next (or ``count``-th) stop."""
        breakpoint_ = self.get(number)
        breakpoint_.enabled = True
        breakpoint_.disposition, breakpoint_.enable_count = disposition, count

    def clear_hit_counts(self) -> None:
        """Set all hit counts to 0, because a new run begins."""
        for breakpoint_ in self:
            breakpoint_.hit_count = 0

    def set_condition(self, number: int, condition: str | None) -> None:
        """``condition N EXPR``; ``None`` removes it."""
        self.get(number).condition = condition or None

    def set_ignore(self, number: int, count: int) -> None:
        """``ignore N COUNT``."""
        self.get(number).ignore_count = max(0, count)

    def set_commands(self, argument: str, body: Sequence[str]) -> None:
        """``commands [N...]``: for the last breakpoint when no number is given."""
        numbers = parse_numbers(argument) if argument.strip() else [self.last_number]
        if not argument.strip() and self.last_number not in self._breakpoints:
            raise BreakpointError("No breakpoints specified.")
        for number in numbers:
            self.get(number).commands = list(body)

    def resolve_again(self) -> list[tuple[Breakpoint, str]]:
        """Find the places of all breakpoints again after a change of programs; return those that failed, with the
        reason.
        """
        failed = []
        note_change()
        self._places.clear()
        for breakpoint_ in self:
            if breakpoint_.text.startswith("*") or not breakpoint_.at_places:
                self._places.add(breakpoint_.number, breakpoint_.locations if breakpoint_.at_places else ())
                continue
            disabled = {p.number for p in breakpoint_.locations if not p.enabled}
            invalid = {p.location.file_address for p in breakpoint_.locations if p.invalid}
            try:
                breakpoint_.locations = _numbered(self._resolve(breakpoint_.text))
            except Error as error:
                breakpoint_.locations = []
                failed.append((breakpoint_, str(error)))
            for place in breakpoint_.locations:
                place.enabled = place.number not in disabled
                place.invalid = place.location.file_address in invalid
            self._places.add(breakpoint_.number, breakpoint_.locations)
        return failed

    def clear_at(self, addresses: Iterable[int]) -> list[int]:
        """``clear LOCATION``: delete the breakpoints at these addresses; returns their numbers."""
        wanted = set(addresses)
        numbers = [b.number for b in self if any(p.address in wanted for p in b.locations)]
        for number in numbers:
            self.delete(number)
        return numbers

    def clear_lines(self, lines: Iterable[tuple[SourceFile, int]]) -> list[int]:
        """``clear FILE:LINE``: delete the breakpoints at these lines; returns their numbers."""
        wanted = {(file.path, line) for file, line in lines}
        numbers = [
            b.number
            for b in self
            if any((p.file.path, p.line) in wanted for p in (row.location for row in b.locations) if p.file is not None)
        ]
        for number in numbers:
            self.delete(number)
        return numbers

    # -- stopping at them

    def addresses(self, stopping: bool = False) -> frozenset[LoadedAddress]:
        """Return the addresses where waves have to stop; with ``stopping``, only those where the program may stop."""
        version = self.version
        if version != self._known_version:
            self._known_version = version
            self._known_addresses = {
                only: frozenset(
                    address for b in self._breakpoints.values()
                    if b.at_places and b.enabled and (b.stops_program or not only)
                    for address in b.addresses()
                )
                for only in (False, True)
            }
        moving = (b.addresses() for b in self.elsewhere if b.enabled and (b.stops_program or not stopping))
        return self._known_addresses[stopping].union(*moving)

    def at(self, address: int) -> list[Breakpoint]:
        """Return the enabled breakpoints at an address, by number, without examining any others."""
        found = [*self._elsewhere, *self._places.at(LoadedAddress(address))]
        rows = (self._breakpoints[number] for number in sorted(found))
        return [row for row in rows if row.enabled and address in row.addresses()]

    def sharing(self, place: BreakpointLocation, most: int) -> tuple[list[Breakpoint], int]:
        """Return the first breakpoints, enabled or not, with a location at the same address, by number; and how many
        further ones there are, without examining these.
        """
        there = self._places.like(place.location)
        return [self._breakpoints[number] for number in there[:most]], max(0, len(there) - most)

    def hits(self, arrival: Arrival) -> tuple[list[Hit], list[str]]:
        """Return the breakpoints that stop a wave, and messages about conditions that failed; update the counts."""
        found: list[Hit] = []
        problems: list[str] = []
        was_quit = False
        for breakpoint_ in self.at(arrival.address):
            lanes = breakpoint_.lanes_of(arrival)
            if breakpoint_.condition is not None and lanes:
                try:
                    lanes = arrival.condition(breakpoint_.condition, lanes)
                except Error as error:
                    if not (was_quit and isinstance(error, QuitError)):  # report an interrupt only once
                        problems.append(f"Error in testing breakpoint condition:\n{error}")
                    was_quit = isinstance(error, QuitError)
            if not lanes:
                continue
            breakpoint_.hit_count += 1
            breakpoint_.counted(arrival)
            if breakpoint_.ignore_count > 0:
                breakpoint_.ignore_count -= 1
                continue
            breakpoint_.stops()
            found.append(Hit(breakpoint_, lanes))
        return found, problems

    def counts(self, made: Breakpoint, arrival: Arrival, lanes: int, problem: Callable[[str], None]) -> int | None:
        """Return those of ``lanes`` for which a breakpoint without a place stops their wave; None if it does not stop
        the wave. Update the breakpoint's counts.
        """
        if made.thread is not None and made.thread != arrival.thread:
            return None
        if made.lane is not None and not lanes >> made.lane & 1:
            return None
        if made.condition is not None and arrival.active:
            try:
                lanes = arrival.condition(made.condition, lanes & arrival.active or arrival.active)
                if not lanes:
                    return None
            except Error as error:
                problem(f"Error in testing breakpoint condition:\n{error}")
        made.hit_count += 1
        if made.ignore_count > 0:
            made.ignore_count -= 1
            return None
        made.stops()
        return lanes

    def retire(self, hits: Sequence[Hit]) -> None:
        """Delete the temporary breakpoints among those that were hit."""
        for hit in hits:
            if hit.breakpoint.temporary and hit.breakpoint.number in self._breakpoints:
                self._remove(hit.breakpoint.number)


def _numbered(locations: Sequence[Location]) -> list[BreakpointLocation]:
    return [BreakpointLocation(number, place) for number, place in enumerate(locations, 1)]


# Lists of breakpoint numbers in commands.
MAX_NUMBERS = 1 << 20
"""The largest number of breakpoints that one command may list."""


def parse_numbers(text: str) -> list[int]:
    """``1 3-5``: numbers and ranges. Raises `BreakpointError`."""
    numbers: list[int] = []
    for word in text.split():
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", word)
        if match is None:
            raise BreakpointError(f"Bad breakpoint number '{word}'")
        first = decimal(match[1])
        last = decimal(match[2]) if match[2] else first
        if last < first:
            raise BreakpointError("inverted range")
        if len(numbers) + last - first > MAX_NUMBERS:
            raise BreakpointError(f"range {word} is too long")
        numbers += range(first, last + 1)
    return numbers
