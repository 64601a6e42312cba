"""Finds the breakpoints at a place, in constant time regardless of the number of breakpoints elsewhere."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.program.location_lookup import Location
from rocdbg.debugger.program.program import Program

if TYPE_CHECKING:
    from rocdbg.debugger.breakpoints.breakpoint_table import BreakpointLocation


class PlaceIndex:
    """Numbers of breakpoints by place. The programs may be moved to other load addresses at any time."""

    def __init__(self) -> None:
        self._programs: dict[int, tuple[Program, dict[int, list[int]]]] = {}
        """By the identity of a program: the program, and the numbers by file address in ascending order."""

    def add(self, number: int, places: Iterable[BreakpointLocation]) -> None:
        """Add a breakpoint at these places."""
        for place in (each.location for each in places):
            _, numbers = self._programs.setdefault(id(place.program), (place.program, {}))
            there = numbers.setdefault(place.file_address, [])
            index = bisect_left(there, number)
            if there[index : index + 1] != [number]:
                there.insert(index, number)

    def remove(self, number: int, places: Iterable[BreakpointLocation]) -> None:
        """Remove a breakpoint."""
        for place in (each.location for each in places):
            _, numbers = self._programs.get(id(place.program), (None, {}))
            there = numbers.get(place.file_address, [])
            index = bisect_left(there, number)
            if there[index : index + 1] == [number]:
                del there[index]
                if not there:
                    del numbers[place.file_address]

    def clear(self) -> None:
        """Remove all."""
        self._programs.clear()

    def bases(self) -> tuple[tuple[int, int], ...]:
        """Where the programs are loaded: identity and base of each."""
        return tuple((key, program.base) for key, (program, _) in self._programs.items())

    def at(self, address: LoadedAddress) -> list[int]:
        """Return the breakpoints at a loaded address."""
        found: list[int] = []
        for program, numbers in self._programs.values():
            found += numbers.get(program.to_file(address), ())
        return found

    def like(self, place: Location) -> Sequence[int]:
        """Return the breakpoints at the same place, ascending."""
        _, numbers = self._programs.get(id(place.program), (None, {}))
        return numbers.get(place.file_address, ())


__all__ = ["PlaceIndex"]
