"""Reads numbers and values of an entry from whichever attribute its producer uses for them."""

from __future__ import annotations

from rocdbg.dwarf.info.attribute_values import Block, Constant, Exprloc, Location, Loclist, String
from rocdbg.dwarf.info.constants import At
from rocdbg.dwarf.info.die import Die


def constant_value(die: Die) -> Location | None:
    """The entry's DW_AT_const_value, else its DW_AT_location; None if it has neither."""
    for code in (At.CONST_VALUE, At.LOCATION):
        value = die.attribute(code)
        if isinstance(value, Constant | Block | String | Exprloc | Loclist):
            return value
    return None


def vendor_number(die: Die, codes: tuple[int, ...]) -> int | None:
    """The first of several vendor codes that is present as a constant."""
    return next((value for value in (die.number(code) for code in codes) if value is not None), None)
