"""What a C++ pointer to a member points to, by name."""

from __future__ import annotations

from rocdbg.dwarf.info.types import ClassType, Method, Type


def member_at(class_: Type, offset: int) -> str | None:
    """``&Class::member`` of the data member ``offset`` bytes into a class or a base of it; ``None`` for no member."""
    if not isinstance(class_, ClassType):
        return None
    for member in class_.members:
        if member.bit_offset == 8 * offset and member.bit_size is None and member.name:
            return f"&{class_}::{member.name}"
    for base in class_.bases:
        if base.byte_offset is not None and 0 <= offset - base.byte_offset < (base.type.size or 0):
            return member_at(base.type.strip_typedefs(), offset - base.byte_offset)
    return None


def virtual_method(class_: Type, pointer: int) -> str | None:
    """The signature of the virtual method that a pointer to a member function of the Itanium ABI selects.

    Such a pointer is one more than the byte offset of the method's slot in the table. ``None`` for any other.
    """
    if not pointer & 1 or not isinstance(class_, ClassType):
        return None
    return _in_slot(class_, pointer >> 3)


def _in_slot(class_: ClassType, slot: int) -> str | None:
    for method in class_.methods:
        if method.virtual and method.vtable_slot == slot:
            return signature(class_, method)
    for base in class_.bases:
        bare = base.type.strip_typedefs()
        if isinstance(bare, ClassType):
            found = _in_slot(bare, slot)
            if found is not None:
                return found
    return None


def signature(class_: ClassType, method: Method) -> str:
    """``Class::method(int) const``."""
    const = " const" if method.is_const else ""
    parameters = method.type.parameter_list(without_this=True)
    return f"{class_}::{method.name}({'' if parameters == 'void' else parameters}){const}"
