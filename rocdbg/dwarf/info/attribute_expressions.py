"""Expressions and location lists of attributes, ready to be evaluated."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rocdbg.dwarf.context import Expression, LocationList
from rocdbg.dwarf.info.attribute_values import Exprloc, Loclist
from rocdbg.dwarf.info.unit import Unit
from rocdbg.dwarf.location_list_reader import parse_location_list

if TYPE_CHECKING:
    from rocdbg.dwarf.info.unit import Unit

_MOST_KNOWN = 8192

AnyExpression = Expression | LocationList
_Key = tuple["Unit", bytes | int, int, int | None, bool]
"""The unit, the expression or the offset of the list, the wave size, the size of the object, whether it is an
aggregate."""
_Clean = Callable[[bytes, str, int], bytes]


class ExpressionReader:
    """Reads the expressions of code for one processor ("gfx90a") in the form of the text, whatever their producer's.

    Addresses, also the ranges of location lists, are the file's: who evaluates adds the load bias
    (`rocdbg.dwarf.context.Loaded`). What was read is kept. Raises `DwarfError` for lists that are damaged, and
    for expressions that are where their producer's conventions ask for a closer look.
    """

    def __init__(self, target: str) -> None:
        self._target = target
        self._locations: dict[_Key, AnyExpression] = {}
        self._frame_bases: dict[_Key, AnyExpression] = {}

    def location(
        self, value: Exprloc | Loclist, unit: Unit, wave_size: int, size: int | None = None, aggregate: bool = False
    ) -> AnyExpression:
        """Where an object of `size` bytes (None: not known) is, in waves of a size; `aggregate`: of a class, union or
        array type."""
        key = unit, value.data if isinstance(value, Exprloc) else value.offset, wave_size, size, aggregate
        known = self._locations.get(key)
        if known is not None:
            return known
        location = unit.conventions.location
        return self._read(
            self._locations, key, value, lambda data, target, lanes: location(data, target, lanes, size, aggregate)
        )

    def frame_base(self, value: Exprloc | Loclist, unit: Unit, wave_size: int) -> AnyExpression:
        """A function's DW_AT_frame_base, in waves of a size."""
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
    """What leads from an object's location, on the initial stack, to a member or base class."""
    return _read(value, unit, unit.conventions.dialect, unit.conventions.member)


def property_expression(value: Exprloc | Loclist, unit: Unit, *, is_location: bool) -> AnyExpression:
    """What an attribute says of an object that DW_OP_push_object_address gives: a location, or else a number."""
    conventions = unit.conventions
    return _read(value, unit, conventions.dialect, lambda data: conventions.property(data, is_location))


def as_written(value: Exprloc | Loclist, unit: Unit) -> AnyExpression:
    """An expression in the unit's own dialect: one that is not a location, or is to be shown."""
    return _read(value, unit, unit.dialect, lambda data: data)


def _read(value: Exprloc | Loclist, unit: Unit, dialect: str, clean: Callable[[bytes], bytes]) -> AnyExpression:
    if isinstance(value, Exprloc):
        return Expression(clean(value.data), dialect)
    entries = parse_location_list(
        value.section,
        value.offset,
        version=unit.version,
        address_size=unit.address_size,
        base_address=unit.base_address,
        debug_addr=unit.debug_addr,
        is_split=unit.is_split,
    )
    return LocationList([(low, high, clean(data)) for low, high, data in entries], dialect)
