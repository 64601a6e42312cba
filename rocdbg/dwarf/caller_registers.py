"""Where the registers of a calling frame are (A.6.4.1): each is looked up once, across any number of frames."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Protocol

from rocdbg.dwarf.architecture import Architecture, DefaultRule
from rocdbg.dwarf.location import LocationDescription, undefined_location
from rocdbg.errors import Error

__all__ = ["CallerRegisters", "HasRegisters", "KeepsRegisters", "default_location"]

_STEP = 4
"""How many frames deep one lookup may recurse."""


class HasRegisters(Protocol):
    """A frame that can locate its registers."""

    def register_location(self, number: int) -> LocationDescription:
        """Where a register of the frame is."""
        ...


class KeepsRegisters(Protocol):
    """The part of a frame's rules that says which registers it has not modified; `Row` implements it."""

    def keeps(self, number: int, architecture: Architecture) -> bool:
        """Whether the frame has not modified a register."""
        ...


class CallerRegisters:
    """The registers of the frame that called `callee` (A.6.4.1); implements `HasRegisters`.

    `locate(number)` follows the callee's rules. `row` holds those rules if they are known, and `below` the registers of
    the callee if the callee has a caller context itself: registers that no frame in between has modified are then found
    in a loop, not by recursion. Locations remain valid until the stack changes.
    """

    __slots__ = ("_below", "_callee", "_failures", "_locate", "_locations", "_row")

    def __init__(
        self,
        callee: HasRegisters,
        locate: Callable[[int], LocationDescription],
        row: KeepsRegisters | None = None,
        below: CallerRegisters | None = None,
    ) -> None:
        self._callee, self._locate, self._row, self._below = callee, locate, row, below
        self._locations: dict[int, LocationDescription] = {}
        self._failures: dict[int, Error] = {}

    def location(self, number: int, architecture: Architecture) -> LocationDescription:
        """Where the register is (A.6.4.1); raises what the rule for it raises."""
        found = self._locations.get(number)
        if found is not None:
            return found
        # A rule may need registers of the callee, whose rule needs those of its own callee, and so on: search
        # from the innermost frame outwards, in steps that are each small enough for recursion.
        unknown = self._unknown(number)
        for frame in reversed(unknown[_STEP::_STEP]):
            with contextlib.suppress(Error):  # it may not be needed
                frame._find(number, architecture)
        return self._find(number, architecture)

    def _unknown(self, number: int) -> list[CallerRegisters]:
        """The frame, and those below it, that have not located the register yet."""
        unknown: list[CallerRegisters] = []
        frame: CallerRegisters | None = self
        while frame is not None and number not in frame._locations:
            unknown.append(frame)
            frame = frame._below
        return unknown

    def _find(self, number: int, architecture: Architecture) -> LocationDescription:
        passed: list[CallerRegisters] = []
        frame: CallerRegisters | None = self
        outermost: HasRegisters = self._callee
        while frame is not None:
            found = frame._locations.get(number)
            if found is not None:
                break
            passed.append(frame)
            if frame._row is None or not frame._row.keeps(number, architecture):
                found = frame._follow(number)
                break
            outermost, frame = frame._callee, frame._below
        else:
            found = outermost.register_location(number)
        for other in passed:
            other._locations[number] = found
        return found

    def _follow(self, number: int) -> LocationDescription:
        """The location that the callee's rules give; an error in the rules is cached too."""
        failure = self._failures.get(number)
        if failure is not None:
            raise failure.with_traceback(None)
        try:
            return self._locate(number)
        except Error as error:
            self._failures[number] = error
            raise


def default_location(callee: HasRegisters, number: int, architecture: Architecture) -> LocationDescription:
    """Where a register of the frame that called `callee` is if no call frame information says so (A.6.4.1, item 10)."""
    if architecture.default_rule is DefaultRule.SAME_VALUE:
        return callee.register_location(number)
    return undefined_location()
