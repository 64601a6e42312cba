"""Casts between a class and its bases, for objects, references, and pointers to objects."""

from __future__ import annotations

from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import PlacedBase, Value
from rocdbg.dwarf.info.types import Access, ClassType, PointerType, Type


def same_class(left: Type, right: Type) -> bool:
    """Whether two types are the same class, possibly described in two units."""
    a, b = left.strip_typedefs().strip_qualifiers(), right.strip_typedefs().strip_qualifiers()
    if not (isinstance(a, ClassType) and isinstance(b, ClassType)):
        return False
    return a is b or (a.qualified_name is not None and a.qualified_name == b.qualified_name)


def base_part(object_: Value, wanted: Type, environment: Environment, public: bool = False) -> Value | None:
    """Return an object as one of its base classes; ``None`` if it has no such base. ``public``: only public bases
    count.
    """
    if same_class(object_.type, wanted):
        return object_
    complete = environment.complete_type(object_.bare)
    if not isinstance(complete, ClassType):
        return None
    for base in complete.bases:
        if base.byte_offset is not None and (base.access is Access.PUBLIC or not public):
            found = base_part(object_.base(base), wanted, environment, public)
            if found is not None:
                return found
    return None


def base_offset(class_: Type, wanted: Type, environment: Environment) -> int | None:
    """Return the offset of a non-virtual base in a class, in bytes; ``None`` if the class has no such base."""
    if same_class(class_, wanted):
        return 0
    complete = environment.complete_type(class_.strip_typedefs().strip_qualifiers())
    if not isinstance(complete, ClassType):
        return None
    for base in complete.bases:
        if base.byte_offset is None or base.virtual or isinstance(base, PlacedBase):
            continue
        inner = base_offset(base.type, wanted, environment)
        if inner is not None:
            return base.byte_offset + inner
    return None


def cast_pointer(pointer: Value, target: PointerType, environment: Environment) -> Value:
    """Convert a pointer to an object to a pointer to a base class or to a derived class.

    Other pointers and null pointers are returned unchanged: their values need no adjustment.
    """
    source = pointer.bare
    assert isinstance(source, PointerType)
    have, want = source.target, target.target
    if not (_is_class(have) and _is_class(want)) or same_class(have, want) or not pointer.is_true():
        return pointer
    space = source.address_class or 0
    down = base_offset(want, have, environment)
    if down is not None:
        return Value.of_int(c_types.pointer_to(want, space), pointer.as_int() - down)
    if not _derives(have, want, environment):
        return pointer if not _derives(want, have, environment) else _whole(pointer, want, environment)
    part = base_part(environment.at_address(have, space, pointer.as_int()), want, environment)
    if part is None or part.address is None:
        return pointer
    return Value.of_int(c_types.pointer_to(want, part.address.space), part.address.value)


def _whole(pointer: Value, want: Type, environment: Environment) -> Value:
    """Convert a pointer to a virtual base into a pointer to the class that contains the base; the object's dynamic type
    decides.
    """
    from rocdbg.debugger.expr.dynamic_types import whole_object

    source = pointer.bare
    assert isinstance(source, PointerType)
    object_ = environment.at_address(source.target, source.address_class or 0, pointer.as_int())
    whole = whole_object(object_, environment)
    if whole is None:
        # The offset of the base is not known; GDB reads the virtual table of an object at null, which fails.
        space = source.address_class or 0
        null = c_types.null_number(c_types.pointer_to(want, space))
        environment.at_address(c_types.UNSIGNED_LONG, space, null).contents()
        return pointer
    part = base_part(whole, want, environment)
    if part is None or part.address is None:
        return pointer
    return Value.of_int(c_types.pointer_to(want, part.address.space), part.address.value)


def _derives(class_: Type, base: Type, environment: Environment, depth: int = 100) -> bool:
    complete = environment.complete_type(class_.strip_typedefs().strip_qualifiers())
    if not isinstance(complete, ClassType) or depth == 0:
        return False
    return any(same_class(b.type, base) or _derives(b.type, base, environment, depth - 1) for b in complete.bases)


def _is_class(type_: Type) -> bool:
    return isinstance(type_.strip_typedefs().strip_qualifiers(), ClassType)
