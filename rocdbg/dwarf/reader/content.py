"""The contents of entries for expressions that refer to them (DW_OP_call_ref, implicit pointers)."""

from __future__ import annotations

from rocdbg.dwarf.context import DieContent
from rocdbg.dwarf.info.attribute_values import AttributeValue, Block, Constant, Exprloc, Loclist
from rocdbg.dwarf.info.constants import At, Tag
from rocdbg.dwarf.info.die import Die
from rocdbg.dwarf.info.types import BaseType, Encoding, VectorType
from rocdbg.dwarf.typed_values import BaseType as StackType
from rocdbg.dwarf.typed_values import ConstValue


def content_of(die: Die, wave_size: int) -> DieContent:
    """An entry's location, the base type that it describes, or its constant value; ``None`` if it has none of these."""
    value = die.attribute(At.LOCATION)
    if isinstance(value, Exprloc | Loclist):
        return die.unit.entries.expressions.location(value, die.unit, wave_size)
    return base_type(die) or constant_content(die.attribute(At.CONST_VALUE))


def base_type(die: Die) -> StackType | None:
    """The base type at an entry, in the evaluator's form (A.5.1); ``None`` if it is not a base type."""
    if die.tag != Tag.BASE_TYPE:
        return None
    type_ = die.unit.entries.types.read(die).strip_typedefs()
    elements: int | None = None
    if isinstance(type_, VectorType):
        elements = type_.count
        type_ = type_.element
    if not isinstance(type_, BaseType):
        return None
    encoding = type_.encoding
    name = "DW_ATE_" + (encoding.name.lower() if isinstance(encoding, Encoding) else "unsigned")
    return StackType(
        name=type_.name,
        encoding=name,
        bit_size=type_.bit_size or 8 * type_.byte_size,
        vector_size=elements,
        byte_order="big" if type_.big_endian else "little",
    )


def constant_content(value: AttributeValue | None) -> ConstValue | None:
    """The bytes of a DW_AT_const_value; ``None`` if its class has no bytes."""
    if isinstance(value, Block):
        return ConstValue(value.data)
    if isinstance(value, Constant):
        size = value.size or 8
        return ConstValue((value.value & ((1 << 8 * size) - 1)).to_bytes(size, "little"))
    return None
