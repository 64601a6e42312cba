"""Converts the raw value of a form to the tagged value of an attribute's class (DWARF 5 section 7.5.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.dwarf.info.attribute_values import (
    Address,
    AttributeValue,
    Block,
    Constant,
    Exprloc,
    Flag,
    Loclist,
    Reference,
    Rnglist,
    SectionOffset,
    String,
    SupplementaryReference,
    TypeSignature,
)
from rocdbg.dwarf.info.constants import At
from rocdbg.dwarf.info.forms import FORMS, Kind, Raw, Shape
from rocdbg.text import decode_text

if TYPE_CHECKING:
    from rocdbg.dwarf.info.unit import Unit

_LISTS = frozenset({
    At.LOCATION, At.STRING_LENGTH, At.RETURN_ADDR, At.DATA_MEMBER_LOCATION, At.FRAME_BASE, At.SEGMENT,
    At.STATIC_LINK, At.USE_LOCATION, At.VTABLE_ELEM_LOCATION, At.LLVM_ACTIVE_LANE, At.LLVM_LANES,
    At.LLVM_LANE_PC, At.LLVM22_LANE_PC,
})
"""Attributes whose section offset refers to a location list. (0x3e0a is also DW_AT_LLVM_iterations.)"""

_PLAIN_BLOCKS = frozenset({At.CONST_VALUE, At.DISCR_LIST})
"""Attributes of class block; the block of any other is an expression (class exprloc did not exist before
DWARF 4)."""

_SIZES = {
    Shape.FIXED1: 1, Shape.FIXED2: 2, Shape.FIXED3: 3, Shape.FIXED4: 4, Shape.FIXED8: 8, Shape.FIXED16: 16,
}


def convert(unit: Unit, code: int, kind: Kind, form: int, raw: Raw) -> AttributeValue:
    """The value of attribute ``code`` of an entry of ``unit``. Raises DebugInfoError when what it refers
    to is missing."""
    if isinstance(raw, bytes):
        if kind is Kind.STRING:
            return String(decode_text(raw))
        if kind is Kind.EXPRLOC or code not in _PLAIN_BLOCKS:
            return Exprloc(raw)
        return Block(raw)
    if kind is Kind.CONSTANT:
        return _constant(unit, code, form, raw)
    sections = unit.sections
    match kind:
        case Kind.STRING_INDEX:
            return String(unit.indexed_string(raw))
        case Kind.STRING_OFFSET:
            return String(sections.string(".debug_str", raw))
        case Kind.LINE_STRING_OFFSET:
            return String(sections.string(".debug_line_str", raw))
        case Kind.UNIT_REFERENCE:
            if not unit.first - unit.offset <= raw < unit.end - unit.offset:
                raise unit.entries.error(unit.offset, f"a reference to offset {raw:#x} of this unit leads outside it")
            return Reference(unit.offset + raw)
        case Kind.SECTION_REFERENCE:
            return Reference(unit.reference_base + raw)
        case Kind.ADDRESS:
            return Address(raw)
        case Kind.ADDRESS_INDEX:
            return Address(unit.indexed_address(raw))
        case Kind.ADDRESS_INDEX_OFFSET:
            return Address(unit.indexed_address(raw >> 32) + (raw & 0xFFFFFFFF))
        case Kind.FLAG:
            return Flag(raw != 0)
        case Kind.TRUE:
            return Flag(True)
        case Kind.SIGNATURE:
            return TypeSignature(raw)
        case Kind.SECTION_OFFSET:
            return _section_offset(unit, code, raw)
        case Kind.LOCLIST_INDEX:
            size = unit.offset_size
            base = unit.loclists_base
            return _loclist(unit, base + sections.number(".debug_loclists", base + raw * size, size))
        case Kind.RNGLIST_INDEX:
            size = unit.offset_size
            base = unit.rnglists_base
            return Rnglist(base + sections.number(".debug_rnglists", base + raw * size, size))
        case Kind.SUPPLEMENTARY_STRING if sections.supplement is not None:
            return String(sections.supplement.string(".debug_str", raw))
        case Kind.SUPPLEMENTARY_REFERENCE if unit.entries.supplement_base is not None:
            return Reference(unit.entries.supplement_base + raw)
        case _:
            return SupplementaryReference(raw)


def _constant(unit: Unit, code: int, form: int, raw: int) -> AttributeValue:
    shape = FORMS[form][1]
    if unit.version < 4 and shape in (Shape.FIXED4, Shape.FIXED8) and (
        code in _LISTS or code in (At.RANGES, At.STMT_LIST)
    ):
        return _section_offset(unit, code, raw)  # DWARF 2 and 3 have no form of their own for these
    return Constant(raw, _SIZES.get(shape))


def _section_offset(unit: Unit, code: int, offset: int) -> AttributeValue:
    if code in _LISTS:
        return _loclist(unit, offset)
    if code in (At.RANGES, At.START_SCOPE):
        return Rnglist(offset + unit.ranges_base if unit.version < 5 else offset)
    return SectionOffset(offset)


def _loclist(unit: Unit, offset: int) -> Loclist:
    name = ".debug_loclists" if unit.version >= 5 else ".debug_loc"
    return Loclist(unit.sections[name], name, offset, unit)
