"""Prepares attributes for evaluation: returns their expressions in the form of the specification, regardless of their
producer's conventions.

`rocdbg.dwarf.reader.results` evaluates them. Code that displays expressions, watches them for changes or compiles them
for all lanes gets them from here too, so that all code uses the same attribute of the same entry. All raise `IllFormed`
if the attribute has an invalid class; the error names the attribute and the entry.
"""

from __future__ import annotations

from collections.abc import Iterable

from rocdbg.dwarf.decoding import decode
from rocdbg.dwarf.errors import IllFormed
from rocdbg.dwarf.info.attribute_expressions import AnyExpression, as_written
from rocdbg.dwarf.info.attribute_values import AttributeValue, Exprloc, Loclist
from rocdbg.dwarf.info.constants import At, Tag
from rocdbg.dwarf.info.die import Die
from rocdbg.dwarf.info.types import is_aggregate
from rocdbg.dwarf.info.whereabouts import concerning

__all__ = [
    "active_lane_expression", "call_value_expression", "frame_base_expression", "location_expression",
    "register_passed", "written_frame_base", "written_location",
]

ACTIVE_LANE = (At.LLVM_ACTIVE_LANE,)
CALL_VALUE = (At.CALL_VALUE, At.GNU_CALL_SITE_VALUE)


def values_of(entry: Die, code: int) -> list[AttributeValue]:
    """The values of an attribute of an entry, or of the entry whose instance it is.

    For an inlined call the abstract origin is not searched: it describes the function on its own, not this code.
    """
    if entry.tag == Tag.INLINED_SUBROUTINE:
        return entry.attribute_values(code)
    for die in entry.origins():
        found = die.attribute_values(code)
        if found:
            return found
    return []


def first_expression(entry: Die, codes: Iterable[int]) -> Exprloc | Loclist | None:
    """The first of several attributes that an entry has as an expression or a location list; None if it has none.

    The class of its form determines the meaning of a vendor attribute, regardless of the unit's augmentation.
    """
    for code in codes:
        for value in values_of(entry, code):
            if isinstance(value, Exprloc | Loclist):
                return value
    return None


def needed_expression(entry: Die, code: int) -> Exprloc | Loclist | None:
    """An attribute that must be an expression or a list of them; None if it is absent."""
    for value in values_of(entry, code):
        if isinstance(value, Exprloc | Loclist):
            return value
        raise IllFormed(f"the attribute must be an expression, but is of class {type(value).__name__}")
    return None


def location_expression(entry: Die, wave_size: int, size: int | None = None) -> AnyExpression | None:
    """DW_AT_location of an object of `size` bytes (None: not known), in code with this wave size (A.4.1, A.4.2); None
    without the attribute.
    """
    with concerning("DW_AT_location", entry):
        value = needed_expression(entry, At.LOCATION)
        if value is None:
            return None
        return entry.unit.entries.expressions.location(value, entry.unit, wave_size, size, _is_of_aggregate(entry))


def _is_of_aggregate(entry: Die) -> bool:
    """Whether an object is of a class, union or array type."""
    typed = next((die for die in entry.origins() if die.has(At.TYPE)), None)
    return typed is not None and is_aggregate(typed.unit.entries.types.type_of(typed))


def frame_base_expression(entry: Die, wave_size: int) -> AnyExpression | None:
    """DW_AT_frame_base of a subprogram or entry point, in code with this wave size (A.3.3.5 (2)); None without it."""
    with concerning("DW_AT_frame_base", entry):
        value = needed_expression(entry, At.FRAME_BASE)
        if value is None:
            return None
        return entry.unit.entries.expressions.frame_base(value, entry.unit, wave_size)


def active_lane_expression(entry: Die) -> AnyExpression | None:
    """DW_AT_LLVM_active_lane (A.3.3.5 (6)); None without it."""
    with concerning("DW_AT_LLVM_active_lane", entry):
        value = first_expression(entry, ACTIVE_LANE)
        return None if value is None else as_written(value, entry.unit)


def call_value_expression(entry: Die) -> AnyExpression | None:
    """DW_AT_call_value of a call site parameter, to be evaluated in the caller (A.3.4.2); None without it."""
    with concerning("DW_AT_call_value", entry):
        value = first_expression(entry, CALL_VALUE)
        return None if value is None else as_written(value, entry.unit)


def written_location(entry: Die) -> AnyExpression | None:
    """DW_AT_location as its producer wrote it, for display; None without it."""
    with concerning("DW_AT_location", entry):
        value = needed_expression(entry, At.LOCATION)
        return None if value is None else as_written(value, entry.unit)


def written_frame_base(entry: Die) -> AnyExpression | None:
    """DW_AT_frame_base as its producer wrote it, for display; None without it."""
    with concerning("DW_AT_frame_base", entry):
        value = needed_expression(entry, At.FRAME_BASE)
        return None if value is None else as_written(value, entry.unit)


def register_passed(entry: Die) -> int | None:
    """The register of a call site parameter's DW_AT_location, if it is a whole register (A.3.4.2); None for other
    places.
    """
    with concerning("DW_AT_location", entry):
        value = needed_expression(entry, At.LOCATION)
        if not isinstance(value, Exprloc):
            return None
        operations = decode(value.data, entry.unit.dialect)
        if len(operations) != 1:
            return None
        name, operands = operations[0].name, operations[0].operands
        if name == "DW_OP_regx":
            return operands[0] if isinstance(operands[0], int) else None
        suffix = name.removeprefix("DW_OP_reg")
        return int(suffix) if suffix.isdigit() else None
