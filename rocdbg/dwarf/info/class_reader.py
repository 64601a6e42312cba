"""Bodies of classes: members, bases, methods, nested types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.dwarf.info.attribute_values import Constant, Exprloc, Loclist
from rocdbg.dwarf.info.constants import At, Tag
from rocdbg.dwarf.info.die import Die
from rocdbg.dwarf.info.entry_values import constant_value
from rocdbg.dwarf.info.forms import uleb
from rocdbg.dwarf.info.type_limits import LARGEST, LARGEST_SCALAR, checked, size_of
from rocdbg.dwarf.info.types import Access, BaseClass, ClassBody, Member, Method, StaticMember, Type
from rocdbg.dwarf.info.unit_index import NAMED_TYPE_TAGS

if TYPE_CHECKING:
    from rocdbg.dwarf.info.type_reader import TypeReader

_PLUS_UCONST = 0x23


def read_class_body(types: TypeReader, die: Die) -> ClassBody:
    """The contents of the class body at ``die``, in source order."""
    default = Access.PRIVATE if die.tag == Tag.CLASS_TYPE else Access.PUBLIC
    members: list[Member] = []
    bases: list[BaseClass] = []
    static_members: list[StaticMember] = []
    methods: list[Method] = []
    nested: list[Type] = []
    for child in die.children:
        tag = child.tag
        if tag == Tag.MEMBER and not _is_static(child):
            member = _member(types, child, default)
            if member.name or member.bit_size is None:  # a bit-field without a name only separates its neighbours
                members.append(member)
        elif tag in (Tag.MEMBER, Tag.VARIABLE):
            static_members.append(_static_member(types, child, default))
        elif tag == Tag.INHERITANCE:
            offset, location = _member_location(child)
            virtual = bool(child.number(At.VIRTUALITY))
            checked(child, offset, LARGEST, "a base class's offset")
            bases.append(BaseClass(
                types.type_of(child), offset, _access(child, default), virtual, location, child.offset
            ))
        elif tag == Tag.SUBPROGRAM:
            methods.append(_method(types, child, default))
        elif tag in NAMED_TYPE_TAGS:
            nested.append(types.read(child))
    return ClassBody(
        tuple(members), tuple(bases), tuple(static_members), tuple(methods), types.template_arguments(die),
        tuple(nested),
    )


def _is_static(die: Die) -> bool:
    """Whether a member is static: DWARF 4 and earlier write static members as external member declarations."""
    return die.has(At.EXTERNAL) or die.has(At.DECLARATION)


def _member(types: TypeReader, die: Die, default: Access) -> Member:
    type = types.type_of(die)
    # No bit field is wider than its type, but the type's size may be missing or nonsense.
    bit_size = size_of(die, At.BIT_SIZE, 8 * min(max(type.size or 0, 8), LARGEST_SCALAR))
    byte_offset, location = _member_location(die)
    bit_offset = None if byte_offset is None else 8 * byte_offset
    data_bit_offset = die.number(At.DATA_BIT_OFFSET)
    if data_bit_offset is not None:
        bit_offset = data_bit_offset if bit_offset is None else bit_offset + data_bit_offset
    elif bit_size is not None and bit_offset is not None:
        # DWARF 2 and 3: the offset counts from the most significant bit of the storage unit.
        storage = size_of(die, At.BYTE_SIZE) or type.size or 0
        from_top = die.attribute(At.BIT_OFFSET)
        if isinstance(from_top, Constant):
            bit_offset += 8 * storage - from_top.signed_value() - bit_size
    checked(die, bit_offset, 8 * LARGEST, "a member's offset")
    return Member(
        die.name, type, bit_offset, bit_size, _access(die, default), die.flag(At.ARTIFICIAL),
        location if bit_offset is None else None, die.offset,
    )


def _member_location(die: Die) -> tuple[int | None, Exprloc | Loclist | None]:
    """The byte offset of a member, or the expression that gives it; offset 0 if neither is given, as for members of
    unions.
    """
    value = die.attribute(At.DATA_MEMBER_LOCATION)
    if value is None:
        return (0 if not die.has(At.DATA_BIT_OFFSET) else None), None
    if isinstance(value, Constant):
        return value.value, None
    if isinstance(value, Exprloc):
        if value.data[:1] == bytes((_PLUS_UCONST,)):  # how DWARF 2 writes a constant offset
            try:
                offset, end = uleb(value.data, 1)
            except IndexError:
                raise die.unit.entries.error(die.offset, "a member's location is truncated") from None
            if end == len(value.data):
                return offset, None
        return None, value
    return None, value if isinstance(value, Loclist) else None


def _static_member(types: TypeReader, die: Die, default: Access) -> StaticMember:
    return StaticMember(
        die.name or "", types.type_of(die), _access(die, default), constant_value(die), die.offset
    )


def _method(types: TypeReader, die: Die, default: Access) -> Method:
    type = types.function_type(die)
    slot = die.attribute(At.VTABLE_ELEM_LOCATION)
    has_this = bool(type.parameters) and type.parameters[0].artificial
    return Method(
        die.name or "", type, _access(die, default), die.flag(At.ARTIFICIAL), bool(die.number(At.VIRTUALITY)),
        not has_this, die.string(At.LINKAGE_NAME) or die.string(At.MIPS_LINKAGE_NAME), die.offset,
        slot if isinstance(slot, Exprloc | Loclist) else None,
    )


def _access(die: Die, default: Access) -> Access:
    value = die.number(At.ACCESSIBILITY)
    return Access(value) if value in (1, 2, 3) else default
