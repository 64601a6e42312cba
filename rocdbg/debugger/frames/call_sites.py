"""What a call site says about registers at the call: DW_TAG_call_site_parameter (DWARF 5, section 3.4.2).

A register's entry value is often lost by the time it is needed (DW_OP_entry_value): if the caller's call site gives the
value, it takes precedence over unwinding.
"""

from __future__ import annotations

from functools import cached_property

from rocdbg import dwarf
from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.frames.frame_context import FrameContext
from rocdbg.dwarf.context import Expression
from rocdbg.dwarf.info import CallSite, CallSiteParameter, Die, Exprloc, Unit
from rocdbg.dwarf.info.attribute_expressions import as_written
from rocdbg.dwarf.location import LocationDescription

_LANE_BITS = 32


class DescribedCalls:
    """What debug information says about calls: the `rocdbg.debugger.frames.frame_context.CallSites` of a frame."""

    def at_call(self, caller: FrameContext, return_address: LoadedAddress) -> FrameContext:
        """A calling frame as its call site describes it; the frame itself if the call site says nothing."""
        site = _site(caller, return_address)
        if site is None or not site.parameters:
            return caller
        return CallSiteContext(caller, site)

    def value_passed(self, caller: FrameContext, return_address: LoadedAddress, parameter: Die) -> Expression | None:
        """DW_AT_call_value of a parameter of the callee, to be evaluated in the calling frame; None when not stated.

        The call site may refer to the parameter's entry in the function's instance, or to the abstract one.
        """
        site = _site(caller, return_address)
        if site is None or caller.unit is None:
            return None
        wanted = set(parameter.origins())
        for passed in site.parameters:
            if passed.parameter in wanted and passed.value is not None:
                return _expression(passed.value, caller.unit)
        return None

    def entry_called(self, caller: FrameContext, return_address: LoadedAddress) -> Die | None:
        """The entry of the subprogram or entry point that is called; None when not stated."""
        site = _site(caller, return_address)
        return None if site is None else site.origin


def _site(caller: FrameContext, return_address: LoadedAddress) -> CallSite | None:
    """The description of the call that returns to a loaded address."""
    function = caller.function
    if function is None:
        return None
    returns_to = caller.program.to_file(return_address)
    return next((site for site in function.call_sites if site.return_pc == returns_to), None)


def _expression(value: Exprloc, unit: Unit) -> Expression:
    what = as_written(value, unit)
    assert isinstance(what, Expression)
    return what


class CallSiteContext(FrameContext):
    """A calling frame at its call: the call site's parameters give registers and passed data."""

    def __init__(self, frame: FrameContext, site: CallSite) -> None:
        super().__init__(frame.physical, frame.lane, frame.iteration)
        self._frame = frame
        self._site = site

    @cached_property
    def _registers(self) -> dict[int, CallSiteParameter]:
        found: dict[int, CallSiteParameter] = {}
        for parameter in self._site.parameters:
            number = self._register_of(parameter.location)
            if number is not None and parameter.value is not None:
                found[number] = parameter
        return found

    def _register_of(self, location: object) -> int | None:
        """The register of a location that consists of a whole register; ``None`` for other locations."""
        if not isinstance(location, Exprloc):
            return None
        operations = dwarf.decode(location.data, self.unit.dialect if self.unit is not None else "amd")
        if len(operations) != 1:
            return None
        name, operands = operations[0].name, operations[0].operands
        if name == "DW_OP_regx":
            return operands[0] if isinstance(operands[0], int) else None
        suffix = name.removeprefix("DW_OP_reg")
        return int(suffix) if suffix.isdigit() else None

    def register_location(self, number: int) -> LocationDescription:
        """The value that was passed in a register, otherwise its location in the frame."""
        parameter = self._registers.get(number)
        if parameter is None or parameter.value is None:
            return self._frame.register_location(number)
        value = self._value(parameter.value)
        bits = 8 * (self.architecture.register_size(number) or 8)
        if self.architecture.register_elements(number) > 1:
            # a value of this lane: put it where each lane has its part of the register
            lane = value & (1 << _LANE_BITS) - 1
            value = sum(lane << at for at in range(0, bits, _LANE_BITS))
        return dwarf.implicit_location(value, bits)

    def read_memory(self, space: int, address: int, size: int, lane: int | None) -> bytes:
        """Data passed by reference has its value at the call, if the call site gives it."""
        data = self._data.get((space, address))
        if data is not None and size <= 8:
            return (data & (1 << 8 * size) - 1).to_bytes(size, "little")
        return self._frame.read_memory(space, address, size, lane)

    @cached_property
    def _data(self) -> dict[tuple[int, int], int]:
        """DW_AT_call_data_value by the place of the data: DW_AT_call_data_location, otherwise the pointer's target."""
        found: dict[tuple[int, int], int] = {}
        for parameter in self._site.parameters:
            if parameter.data_value is None:
                continue
            if parameter.data_location is not None:
                place = self._location(parameter.data_location).memory
                if place is None or place.address is None or place.address_space is None:
                    continue
                where = place.address_space, place.address
            elif parameter.value is not None:
                where = self.architecture.default_address_space, self._value(parameter.value)
            else:
                continue
            found[where] = self._value(parameter.data_value)
        return found

    def _value(self, value: Exprloc) -> int:
        assert self.unit is not None
        result = dwarf.evaluate(_expression(value, self.unit), self._frame, kind="value")
        assert isinstance(result, dwarf.Value)
        number = result.value
        if not isinstance(number, int):
            raise dwarf.EvaluationError("the value of a call site's parameter is not an integer")
        return number

    def _location(self, value: Exprloc) -> LocationDescription:
        assert self.unit is not None
        return dwarf.evaluate_location(_expression(value, self.unit), self._frame)
