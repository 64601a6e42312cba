"""Expressions and location lists of attributes, ready to be evaluated."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rocdbg.dwarf.context import Expression, LocationList
from rocdbg.dwarf.errors import DwarfError
from rocdbg.dwarf.info.attribute_values import Exprloc, Loclist
from rocdbg.dwarf.info.unit import Unit
from rocdbg.dwarf.location_list_reader import parse_location_list

if TYPE_CHECKING:
    from rocdbg.dwarf.info.unit import Unit

_MOST_KNOWN = 8192
_SHORTEST = 4
"""Bytes of the shortest element of a location list."""

AnyExpression = Expression | LocationList
_Key = tuple["Unit", bytes | int, int, int | None, bool]
"""The key of a cached result: the unit, the expression or the offset of the list, the wave size, the size of the
object, and whether it is an aggregate.
"""
_Clean = Callable[[bytes, str, int], bytes]


class ExpressionReader:
    """Reads expressions in code for one processor ("gfx90a") and returns them in the form of the specification,
    whichever form the producer uses.

    Addresses, including the ranges of location lists, are the file's: the evaluator adds the load bias
    (`rocdbg.dwarf.context.Loaded`). Results are cached. Raises `DwarfError` for damaged lists, and for damaged
    expressions that have to be decoded because of their producer's conventions.
    """

    def __init__(self, target: str) -> None:
        self._target = target
        self._locations: dict[_Key, AnyExpression] = {}
        self._frame_bases: dict[_Key, AnyExpression] = {}

    def location(
        self, value: Exprloc | Loclist, unit: Unit, wave_size: int, size: int | None = None, aggregate: bool = False
    ) -> AnyExpression:
        """The location of an object of `size` bytes (None: not known), in code with a wave size; `aggregate` says
        whether its type is a class, union or array.
        """
        key = unit, value.data if isinstance(value, Exprloc) else value.offset, wave_size, size, aggregate
        known = self._locations.get(key)
        if known is not None:
            _count(value, unit, known)
            return known
        location = unit.conventions.location
        return self._read(
            self._locations, key, value, lambda data, target, lanes: location(data, target, lanes, size, aggregate)
        )

    def frame_base(self, value: Exprloc | Loclist, unit: Unit, wave_size: int) -> AnyExpression:
        """A function's DW_AT_frame_base, for a wave size."""
        key = unit, value.data if isinstance(value, Exprloc) else value.offset, wave_size, None, False
        known = self._frame_bases.get(key)
        return self._read(self._frame_bases, key, value, unit.conventions.frame_base) if known is None else known

    def _read(
        self, known: dict[_Key, AnyExpression], key: _Key, value: Exprloc | Loclist, clean: _Clean
    ) -> AnyExpression:
        unit, _, wave_size, _, _ = key
        if len(known) >= _MOST_KNOWN:
            known.clear()
        known[key] = what = _read(
            value, unit, unit.conventions.dialect, lambda data: clean(data, self._target, wave_size)
        )
        return what


def member_expression(value: Exprloc | Loclist, unit: Unit) -> AnyExpression:
    """The expression that turns an object's location, on the initial stack, into that of a member or base class."""
    return _read(value, unit, unit.conventions.dialect, unit.conventions.member)


def property_expression(value: Exprloc | Loclist, unit: Unit, *, is_location: bool) -> AnyExpression:
    """An attribute's expression about the object that DW_OP_push_object_address pushes; its result is a location if
    `is_location`, else a number.
    """
    conventions = unit.conventions
    return _read(value, unit, conventions.dialect, lambda data: conventions.property(data, is_location))


def as_written(value: Exprloc | Loclist, unit: Unit) -> AnyExpression:
    """An expression as it was written, in the unit's own dialect: for expressions that are not locations, and for
    display.
    """
    return _read(value, unit, unit.dialect, lambda data: data)


def _read(value: Exprloc | Loclist, unit: Unit, dialect: str, clean: Callable[[bytes], bytes]) -> AnyExpression:
    if isinstance(value, Exprloc):
        return Expression(clean(value.data), dialect)
    return LocationList([(low, high, clean(data)) for low, high, data in _entries(value, unit)], dialect)


def written_list(value: Loclist, unit: Unit) -> LocationList:
    """A location list with all its entries, including those that are empty or end before they begin."""
    return LocationList(_entries(value, unit, keep_empty=True), unit.dialect)


def _entries(value: Loclist, unit: Unit, keep_empty: bool = False) -> LocationList:
    lists = unit.sections.lists
    lists.check(value.section_name, value.offset, value.entry)
    try:
        found = parse_location_list(
            value.section,
            value.offset,
            version=unit.version,
            address_size=unit.address_size,
            base_address=unit.base_address,
            debug_addr=unit.debug_addr,
            is_split=unit.is_split,
            keep_empty=keep_empty,
        )
    except DwarfError as error:  # entries that share a damaged list each take the time to read it up to the damage
        read = max(0, (error.offset or 0) - value.offset) // _SHORTEST
        lists.count(value.section_name, value.offset, read, len(value.section), value.entry)
        raise
    _count(value, unit, found)
    return found


def _count(value: Exprloc | Loclist, unit: Unit, found: AnyExpression) -> None:
    """Limit the number of entries that share long lists, because each of these entries takes the time to search its
    list.
    """
    if isinstance(value, Loclist) and isinstance(found, LocationList):
        unit.sections.lists.count(value.section_name, value.offset, len(found), len(value.section), value.entry)
