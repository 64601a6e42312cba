"""What a call site says about registers at the call: DW_TAG_call_site_parameter (DWARF 5, section 3.4.2).

A register's entry value is often lost by the time it is needed (DW_OP_entry_value): if the caller's call site gives the
value, it takes precedence over unwinding.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

from rocdbg import dwarf
from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.frames.frame_context import FrameContext
from rocdbg.dwarf.context import Expression
from rocdbg.dwarf.errors import IllFormed
from rocdbg.dwarf.info import CallSite, Die
from rocdbg.dwarf.location import LocationDescription
from rocdbg.dwarf.reader import results
from rocdbg.dwarf.reader.prepared import call_value_expression, register_passed

_LANE_BITS = 32


class DescribedCalls:
    """What debug information says about calls: the `rocdbg.debugger.frames.frame_context.CallSites` of a frame."""

    def at_call(self, caller: FrameContext, return_address: LoadedAddress) -> FrameContext:
        """Return a calling frame with the values that its call site gives, or the frame itself if the call site gives
        none.
        """
        site = _site(caller, return_address)
        if site is None or not site.parameters:
            return caller
        return CallSiteContext(caller, site)

    def value_passed(self, caller: FrameContext, return_address: LoadedAddress, parameter: Die) -> Expression | None:
        """Return DW_AT_call_value of a parameter of the callee, to be evaluated in the calling frame; None if absent.

        The call site may refer to the parameter's entry in the concrete function, or to the abstract one.
        """
        site = _site(caller, return_address)
        if site is None:
            return None
        wanted = set(parameter.origins())
        for passed in site.parameters:
            what = call_value_expression(passed.die) if passed.parameter in wanted else None
            if isinstance(what, Expression):
                return what
        return None

    def entry_called(self, caller: FrameContext, return_address: LoadedAddress) -> Die | None:
        """Return the entry of the subprogram or entry point that is called; None when not stated."""
        site = _site(caller, return_address)
        return None if site is None else site.origin


def _site(caller: FrameContext, return_address: LoadedAddress) -> CallSite | None:
    """Return the description of the call that returns to a loaded address."""
    function = caller.function
    if function is None:
        return None
    returns_to = caller.program.to_file(return_address)
    return next((site for site in function.call_sites if site.return_pc == returns_to), None)


class CallSiteContext(FrameContext):
    """A calling frame at its call: the call site's parameters give registers and passed data."""

    def __init__(self, frame: FrameContext, site: CallSite) -> None:
        super().__init__(frame.physical, frame.lane, frame.iteration)
        self._frame = frame
        self._site = site

    @cached_property
    def _registers(self) -> dict[int, Die]:
        """The parameters' entries, each by the number of the register in which it is passed."""
        found: dict[int, Die] = {}
        for parameter in self._site.parameters:
            with self._complaining():
                number = register_passed(parameter.die)
                if number is not None and call_value_expression(parameter.die) is not None:
                    found[number] = parameter.die
        return found

    @contextmanager
    def _complaining(self) -> Iterator[None]:
        """Report a parameter's entry that breaks a rule, and ignore the entry."""
        try:
            yield
        except IllFormed as error:
            self.program.complaints.add(error, "it is not used")

    def register_location(self, number: int) -> LocationDescription:
        """Return the value that was passed in a register, or else the register's location in the frame."""
        parameter = self._registers.get(number)
        value = None
        if parameter is not None:
            with self._complaining():
                value = _number(results.call_value(parameter, self._frame))
        if value is None:
            return self._frame.register_location(number)
        bits = 8 * (self.architecture.register_size(number) or 8)
        if self.architecture.register_elements(number) > 1:
            # The value is that of this lane: repeat it, so that every lane's part of the register holds it.
            lane = value & (1 << _LANE_BITS) - 1
            value = sum(lane << at for at in range(0, bits, _LANE_BITS))
        return dwarf.implicit_location(value, bits)

    def read_memory(self, space: int, address: int, size: int, lane: int | None) -> bytes:
        """Read memory; data passed by reference has its value at the time of the call, if the call site gives it."""
        data = self._data.get((space, address))
        if data is not None and size <= 8:
            return (data & (1 << 8 * size) - 1).to_bytes(size, "little")
        return self._frame.read_memory(space, address, size, lane)

    @cached_property
    def _data(self) -> dict[tuple[int, int], int]:
        """DW_AT_call_data_value of each parameter, by the address space and address of its data.

        The address is DW_AT_call_data_location, otherwise the target of the pointer.
        """
        found: dict[tuple[int, int], int] = {}
        for parameter in self._site.parameters:
            with self._complaining():
                data = _number(results.call_data_value(parameter.die, self._frame))
                where = None if data is None else self._place_of_data(parameter.die)
                if data is not None and where is not None:
                    found[where] = data
        return found

    def _place_of_data(self, parameter: Die) -> tuple[int, int] | None:
        there = results.call_data_location(parameter, self._frame)
        if there is not None:
            place = there.memory
            if place is None or place.address is None or place.address_space is None:
                return None
            return place.address_space, place.address
        address = _number(results.call_value(parameter, self._frame))
        return None if address is None else (self.architecture.default_address_space, address)


def _number(value: dwarf.Value | None) -> int | None:
    number = None if value is None else value.value
    if number is not None and not isinstance(number, int):
        raise dwarf.EvaluationError("the value of a call site's parameter is not an integer")
    return number
