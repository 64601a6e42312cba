"""Breakpoints in three layers: what the user asked, where it is in code, why a wave stops there.

A `Breakpoint` is the request; its `BreakpointLocation` s are addresses; `BreakpointTable.hits` decides
for a wave at an address which requests are met by which of its lanes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct, field

from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.digits import decimal
from rocdbg.debugger.errors import BreakpointError
from rocdbg.debugger.program.locspec import Location
from rocdbg.errors import Error


class BreakpointLocation(Struct):
    """One address of a breakpoint; ``number`` counts from 1 within it."""

    number: int
    location: Location
    enabled: bool = True

    @property
    def address(self) -> LoadedAddress:
        """The address as loaded now."""
        return self.location.address


class Breakpoint(Struct):
    """What the user asked for.

    ``text`` is the location as typed, resolved again when the program changes. ``thread`` and ``lane``
    restrict it; ``ignore_count`` crossings are still passed over; ``commands`` is the front end's.
    """

    number: int
    text: str
    locations: list[BreakpointLocation] = field(default_factory=list)
    temporary: bool = False
    enabled: bool = True
    condition: str | None = None
    ignore_count: int = 0
    hit_count: int = 0
    thread: int | None = None
    lane: int | None = None
    commands: list[str] = field(default_factory=list)
    internal: bool = False

    @property
    def pending(self) -> bool:
        """Whether its location is not known yet."""
        return not self.locations

    @property
    def disposition(self) -> str:
        """``keep`` or ``del``, as the table shows it."""
        return "del" if self.temporary else "keep"


class Hit(Struct, frozen=True):
    """A breakpoint that stops a wave, and the mask of lanes for which it does."""

    breakpoint: Breakpoint
    lanes: int

    def location_at(self, address: int) -> int | None:
        """Which of several places of the breakpoint is at the address; ``None`` where it has only one."""
        if len({place.address for place in self.breakpoint.locations}) < 2:
            return None
        return next((place.number for place in self.breakpoint.locations if place.address == address), None)


class Arrival(Struct, frozen=True):
    """A wave at an address: its active lanes, and how to evaluate a condition for some of them.

    ``condition`` gives the mask of those lanes of a mask for which a text is true, and raises `rocdbg.Error` when it
    cannot be evaluated for one.
    """

    thread: int
    address: int
    active: int
    condition: Callable[[str, int], int]


class BreakpointTable:
    """All breakpoints by number. ``resolve`` finds the places of a location string."""

    def __init__(self, resolve: Callable[[str], Sequence[Location]]) -> None:
        self._resolve = resolve
        self._breakpoints: dict[int, Breakpoint] = {}
        self._next = 1
        self.last_number = 0

    def __iter__(self) -> Iterator[Breakpoint]:
        return iter(self._breakpoints.values())

    def __len__(self) -> int:
        return len(self._breakpoints)

    def get(self, number: int) -> Breakpoint:
        """Raises `BreakpointError` when there is none."""
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
    ) -> Breakpoint:
        """A new breakpoint; without locations it is pending."""
        breakpoint_ = Breakpoint(
            self._next, text, _numbered(locations), temporary, True, condition, thread=thread, lane=lane
        )
        self._breakpoints[self._next] = breakpoint_
        self.last_number = self._next
        self._next += 1
        return breakpoint_

    def delete(self, number: int) -> None:
        """Raises `BreakpointError` when there is none."""
        self.get(number)
        del self._breakpoints[number]

    def clear(self) -> None:
        """Delete all."""
        self._breakpoints.clear()

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
        """After a new program: find all places again; gives those that cannot be found, and why."""
        failed = []
        for breakpoint_ in self:
            if breakpoint_.text.startswith("*"):
                continue
            disabled = {p.number for p in breakpoint_.locations if not p.enabled}
            try:
                breakpoint_.locations = _numbered(self._resolve(breakpoint_.text))
            except Error as error:
                breakpoint_.locations = []
                failed.append((breakpoint_, str(error)))
            for place in breakpoint_.locations:
                place.enabled = place.number not in disabled
        return failed

    def clear_at(self, addresses: Iterable[int]) -> list[int]:
        """``clear LOCATION``: delete the breakpoints at these addresses; gives their numbers."""
        wanted = set(addresses)
        numbers = [b.number for b in self if any(p.address in wanted for p in b.locations)]
        for number in numbers:
            self.delete(number)
        return numbers

    # -- stopping at them

    def addresses(self) -> frozenset[LoadedAddress]:
        """The addresses where waves have to stop."""
        return frozenset(
            place.address for b in self if b.enabled for place in b.locations if place.enabled
        )

    def at(self, address: int) -> list[Breakpoint]:
        """The enabled breakpoints at an address."""
        return [
            b
            for b in self
            if b.enabled and any(p.enabled and p.address == address for p in b.locations)
        ]

    def hits(self, arrival: Arrival) -> tuple[list[Hit], list[str]]:
        """The breakpoints that stop a wave, with counts updated; and messages on conditions that failed."""
        found: list[Hit] = []
        problems: list[str] = []
        for breakpoint_ in self.at(arrival.address):
            if breakpoint_.thread is not None and breakpoint_.thread != arrival.thread:
                continue
            lanes = arrival.active
            if breakpoint_.lane is not None:
                lanes &= 1 << breakpoint_.lane
            if breakpoint_.condition is not None and lanes:
                try:
                    lanes = arrival.condition(breakpoint_.condition, lanes)
                except Error as error:
                    where = f"Error in testing condition for breakpoint {breakpoint_.number}:"
                    problems.append(f"{where}\n{error}")
            if not lanes:
                continue
            breakpoint_.hit_count += 1
            if breakpoint_.ignore_count > 0:
                breakpoint_.ignore_count -= 1
                continue
            found.append(Hit(breakpoint_, lanes))
        return found, problems

    def retire(self, hits: Sequence[Hit]) -> None:
        """Delete the temporary ones among those that were hit."""
        for hit in hits:
            if hit.breakpoint.temporary:
                self._breakpoints.pop(hit.breakpoint.number, None)


def _numbered(locations: Sequence[Location]) -> list[BreakpointLocation]:
    return [BreakpointLocation(number, place) for number, place in enumerate(locations, 1)]


_TAIL = re.compile(r"\s+(if|thread|lane)\b(?=\s|\()")


def split_break_arguments(text: str) -> tuple[str, str | None, int | None, int | None]:
    """``f thread 2:5 if x > 3`` as location, condition, thread, lane. Raises `BreakpointError`."""
    thread = lane = None
    condition = None
    padded = " " + text.strip()
    match = _TAIL.search(padded)
    location = padded[: match.start()].strip() if match else padded.strip()
    while match:
        word, rest = match[1], padded[match.end() :].strip()
        if word == "if":
            condition = rest
            if not condition:
                raise BreakpointError("Empty condition")
            break
        number = re.match(r"(\d+)(?::(\d+))?", rest)
        if number is None:
            what = rest.split()[0] if rest else ""
            raise BreakpointError(f"Invalid {word} ID: {what}")
        if word == "lane":
            lane = decimal(number[1])
        else:
            thread = decimal(number[1])
            lane = decimal(number[2]) if number[2] is not None else lane
        padded = " " + rest[number.end() :].strip()
        match = _TAIL.match(padded)
        if match is None and padded.strip():
            raise BreakpointError("Junk at end of arguments.")
    return location, condition, thread, lane


MAX_NUMBERS = 1 << 20
"""Numbers that one command names."""


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
