"""Types that are only known at run time: with bounds given by expressions or variables, with data stored elsewhere, or
with members located by expressions.

For each object, a dynamic type is resolved into a plain type, and the object's location into that of its data (DWARF 5,
sections 5.5, 5.13 and 5.18; the extensions' A.5). An array's entry is read again each time, because its bounds may
differ between objects.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from msgspec import Struct, structs

from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.frames.frame_context import FrameContext
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.located_values import LocationStorage
from rocdbg.debugger.values.value import PlacedBase, PlacedMember, Value
from rocdbg.debugger.values.value_storage import Absence
from rocdbg.dwarf.info import Die, Variable
from rocdbg.dwarf.info.constants import At, Tag
from rocdbg.dwarf.info.types import (
    ArrayType,
    BaseClass,
    ClassBody,
    ClassType,
    Member,
    PointerType,
    QualifiedType,
    Type,
    TypedefType,
)
from rocdbg.dwarf.location import LocationDescription
from rocdbg.dwarf.reader import results
from rocdbg.dwarf.storage import StorageKind
from rocdbg.errors import Error

ALLOCATED, ASSOCIATED, RANK = 0x4E, 0x4F, 0x71
MAX_RANK = 15
MAX_COUNT = 1 << 32
_ATTRIBUTES = (At.DATA_LOCATION, ALLOCATED, ASSOCIATED, RANK)
_BOUNDS = (At.LOWER_BOUND, At.UPPER_BOUND, At.COUNT, At.BYTE_STRIDE)
_DIMENSIONS = (Tag.SUBRANGE_TYPE, Tag.GENERIC_SUBRANGE)

ReadVariable = Callable[[Variable], int]
"""Returns the number that a variable holds."""


class Resolved(Struct, frozen=True):
    """An object's plain type, the location of its data, and why the data is missing (if it is missing)."""

    type: Type
    location: LocationDescription
    absence: Absence | None = None


def may_be_dynamic(type_: Type) -> bool:
    """Whether a type is of a kind that may need a `Resolver`."""
    return isinstance(type_.strip_typedefs(), ClassType | ArrayType)


def is_dynamic(type_: Type) -> bool:
    """Whether a type itself, not the target of a pointer, has to be resolved."""
    return type_.bare.is_dynamic


class Resolver(Struct, frozen=True):
    """Resolves types in a frame; ``read`` returns the number in a variable that is a bound."""

    context: FrameContext
    read: ReadVariable

    def needs(self, type_: Type) -> bool:
        """Whether `resolve` would change anything."""
        bare = type_.strip_typedefs()
        if is_dynamic(bare):
            return True
        die = self._die(bare)
        return die is not None and any(die.has(code) for code in _ATTRIBUTES)

    def resolve(self, type_: Type, location: LocationDescription) -> Resolved:
        """Return the plain type of the object at ``location``. Raises `rocdbg.Error` if an expression fails."""
        if isinstance(type_, TypedefType | QualifiedType):
            inner = self.resolve(type_.target, location)
            return structs.replace(inner, type=replace(type_, target=inner.type))
        if isinstance(type_, ClassType):
            return self._class(type_, location)
        if isinstance(type_, ArrayType) and self.needs(type_):
            return self._array(type_, location)
        return Resolved(type_, location)

    def _die(self, type_: Type) -> Die | None:
        if not isinstance(type_, ArrayType) or type_.offset is None:
            return None
        return self.context.program.info.die(type_.offset)

    # -- arrays

    def _array(self, type_: ArrayType, location: LocationDescription) -> Resolved:
        die = self._die(type_)
        if die is None:
            raise DebuggerError(f"The bounds of {type_} are not known.")
        if die.tag == Tag.STRING_TYPE:
            return Resolved(replace(type_, count=self._string_length(die, location)), location)
        for code, absence in ((ALLOCATED, Absence.NOT_ALLOCATED), (ASSOCIATED, Absence.NOT_ASSOCIATED)):
            state = self._number(die, code, location)
            if state == 0:
                return Resolved(type_, location, absence)
        place = results.data_location(die, self.context, location)
        element: Type = type_
        while isinstance(element, ArrayType) and element.offset == type_.offset:
            element = element.element
        dimensions = [child for child in die.children if child.tag in _DIMENSIONS]
        rank = self._number(die, RANK, location)
        if rank is not None and dimensions:
            if not 0 <= rank <= MAX_RANK:
                raise DebuggerError(f"An array of rank {rank} is not supported.")
            # One entry describes all dimensions: its expressions receive the number of the dimension.
            pairs: list[tuple[Die, tuple[int, ...]]] = [(dimensions[0], (index,)) for index in range(rank)]
        else:
            pairs = [(dimension, ()) for dimension in dimensions]
        result = element
        for dimension, initial in reversed(pairs):
            result = self._dimension(type_, dimension, result, location, initial)
        return Resolved(result, place)

    def _string_length(self, die: Die, location: LocationDescription) -> int:
        """Return the length of a string of variable length, which is stored where DW_AT_string_length says."""
        length = self._read(die, results.string_length(die, self.context, location))
        if length is None or not 0 <= length <= MAX_COUNT:
            raise DebuggerError(f"A string of {length} characters is not supported.")
        return length

    def _dimension(
        self, type_: ArrayType, die: Die, element: Type, location: LocationDescription, initial: tuple[int, ...]
    ) -> ArrayType:
        lower = self._number(die, At.LOWER_BOUND, location, initial)
        if lower is None:
            lower = 1 if die.unit.language_name == "fortran" else 0
        count = self._number(die, At.COUNT, location, initial)
        if count is None:
            upper = self._number(die, At.UPPER_BOUND, location, initial)
            count = None if upper is None else max(0, upper - lower + 1)
        if count is not None and not 0 <= count <= MAX_COUNT:
            raise DebuggerError(f"An array of {count} elements is not supported.")
        stride = self._number(die, At.BYTE_STRIDE, location, initial)
        return ArrayType(element, count, lower, stride, None, type_.index_type)

    # -- classes

    def _class(self, type_: ClassType, location: LocationDescription) -> Resolved:
        if not is_dynamic(type_):
            return Resolved(type_, location)
        body = type_.body
        members = tuple(self._member(member, location) for member in body.members)
        bases = tuple(self._base(base, location) for base in body.bases)
        fixed = ClassBody(
            members, bases, body.static_members, body.methods, body.template_arguments, body.nested_types
        )
        return Resolved(replace(type_, read_body=lambda: fixed), location)

    def _member(self, member: Member, location: LocationDescription) -> Member:
        if member.location is not None:
            place = self._place(member.offset, location)
            distance = None if place is None else _distance(location, place)
            if distance is None or (distance % 8 and member.bit_size is None):
                return _placed(member, self._elsewhere(member.type, place, member.bit_size))
            member = structs.replace(member, bit_offset=distance, location=None)
        if member.bit_offset is not None and member.bit_size is None and is_dynamic(member.type):
            start = location.offset_by(member.bit_offset)
            inner = self.resolve(member.type, start)
            if inner.absence is not None or inner.location != start:  # its data is elsewhere
                return _placed(member, self._value(inner))
            member = structs.replace(member, type=inner.type)
        return member

    def _base(self, base: BaseClass, location: LocationDescription) -> BaseClass:
        if base.location is not None:
            place = self._place(base.offset, location)
            distance = None if place is None else _distance(location, place)
            if distance is None or distance % 8:
                value = self._elsewhere(base.type, place, None)
                return PlacedBase(value.type, 0, base.access, base.virtual, offset=base.offset, make=lambda: value)
            base = structs.replace(base, byte_offset=distance // 8, location=None)
        if base.byte_offset is not None and is_dynamic(base.type):
            # the virtual bases of a base are found from its own place in this object
            base = structs.replace(base, type=self.resolve(base.type, location.offset_by(8 * base.byte_offset)).type)
        return base

    def _place(self, offset: int | None, location: LocationDescription) -> LocationDescription | None:
        """Return the location of the member or base class whose entry is at ``offset``; it may be anywhere (A.5.7.3).

        Return ``None``, and report why, if it cannot be evaluated.
        """
        program = self.context.program
        if offset is None:
            return None
        try:
            return results.member_location(program.info.die(offset), self.context, location)
        except Error as error:
            program.complaints.add(error, "the member is not shown")
            return None

    def _elsewhere(self, type_: Type, place: LocationDescription | None, bit_size: int | None) -> Value:
        """Return the value of a member that is not inside the object."""
        if place is None or place.is_undefined:
            return Value.absent(type_)
        if bit_size is not None:
            return Value(type_, LocationStorage(place, context=self.context), bit_size=bit_size)
        return self._value(self.resolve(type_, place))

    def _value(self, found: Resolved) -> Value:
        if found.absence is not None:
            return Value.absent(found.type, found.absence)
        return Value(found.type, LocationStorage(found.location, context=self.context))

    # -- attributes

    def _number(
        self, die: Die, code: int, location: LocationDescription, initial: tuple[int, ...] = ()
    ) -> int | None:
        """Return an attribute's number: a constant, the result of an expression for the object, or a variable's value.
        """
        return self._read(die, results.property_value(die, code, self.context, location, initial))

    def _read(self, die: Die, found: int | Die | None) -> int | None:
        """Return the number that an attribute gives directly, or the one in the variable to which it refers."""
        if not isinstance(found, Die):
            return found
        if found.tag not in (Tag.VARIABLE, Tag.FORMAL_PARAMETER, Tag.CONSTANT, Tag.MEMBER):
            raise DebuggerError(
                f"The array bound in DIE {die.offset:#x} refers to DIE {found.offset:#x}, which is not a variable."
            )
        return self.read(Variable(found))


def _placed(member: Member, value: Value) -> PlacedMember:
    return PlacedMember(
        member.name, value.type, member.bit_offset or 0, access=member.access, artificial=member.artificial,
        offset=member.offset, make=lambda: value,
    )


def _distance(start: LocationDescription, end: LocationDescription) -> int | None:
    """Return the bits from one location to another; ``None`` if they are not in the same storages."""
    if len(start.places) != len(end.places):
        return None
    distances = set()
    for first, last in zip(start.places, end.places, strict=True):
        if first.storage != last.storage or first.storage.kind is StorageKind.UNDEFINED:
            return None
        distances.add(last.bit_offset - first.bit_offset)
    distance = distances.pop() if len(distances) == 1 else -1
    return distance if distance >= 0 else None


# Dynamic types of objects of polymorphic classes, from their virtual tables (Itanium C++ ABI, 2.5).
TABLE = "vtable for "
TO_TOP = -16
"""The offset in bytes of the offset-to-top entry, from the place in the virtual table to which an object points."""


def is_polymorphic(type_: Type, environment: Environment, depth: int = 100) -> bool:
    """Whether objects of a class begin with a pointer to a virtual table."""
    complete = environment.complete_type(type_.strip_typedefs().strip_qualifiers())
    if not isinstance(complete, ClassType) or depth == 0:
        return False
    if any((member.name or "").startswith("_vptr") for member in complete.members):
        return True
    return any(base.virtual or is_polymorphic(base.type, environment, depth - 1) for base in complete.bases)


def whole_object(object_: Value, environment: Environment) -> Value | None:
    """Return the complete object that contains this one, with its own type; ``None`` if no table identifies it."""
    address = object_.address
    if address is None or not is_polymorphic(object_.type, environment):
        return None
    try:
        table = int.from_bytes(environment.memory.read(address.space, address.value, 8), "little")
        program = environment.types.program
        name = (program.symbolize(table + TO_TOP) if program is not None else None) or ""
        if not name.startswith(TABLE):
            return None
        offset = int.from_bytes(environment.memory.read(0, table + TO_TOP, 8), "little", signed=True)
        type_ = environment.types.find(name.removeprefix(TABLE).partition("+")[0], "")
    except Error:
        return None
    if type_ is None:
        return None
    return environment.at_address(environment.complete_type(type_), address.space, address.value + offset)


def whole(value: Value, environment: Environment) -> Value | None:
    """Return `whole_object` of an object, or `whole_pointer` of a pointer or reference."""
    if isinstance(value.bare, ClassType):
        return whole_object(value, environment)
    return whole_pointer(value, environment)


def whole_pointer(pointer: Value, environment: Environment) -> Value | None:
    """Return a pointer or reference to the result of `whole_object`; ``None`` if there is no such object."""
    type_ = pointer.bare
    if not isinstance(type_, PointerType) or not isinstance(
        type_.target.strip_typedefs().strip_qualifiers(), ClassType
    ):
        return None
    space = type_.address_class or 0
    try:
        whole = whole_object(environment.at_address(type_.target, space, pointer.as_int()), environment)
    except Error:
        return None
    if whole is None or whole.address is None:
        return None
    target = c_types.qualified_like(whole.type, type_.target)
    real = PointerType(target, type_.kind, type_.byte_size, type_.address_class)
    return Value.of_int(c_types.qualified_like(real, pointer.type), whole.address.value)
