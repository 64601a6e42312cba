"""Reads types from entries.

Everything but the bodies of classes is read at once, with one object per entry. Types that lead back to
themselves without passing through a class, and chains of unreasonable length, are errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocdbg.dwarf.info.attribute_values import (
    AttributeValue,
    Block,
    Constant,
    Exprloc,
    Flag,
    Loclist,
    Reference,
    TypeSignature,
)
from rocdbg.dwarf.info.class_reader import read_class_body
from rocdbg.dwarf.info.constants import At, Tag
from rocdbg.dwarf.info.die import Die
from rocdbg.dwarf.info.entry_values import constant_value, vendor_number
from rocdbg.dwarf.info.errors import DebugInfoError
from rocdbg.dwarf.info.memory_spaces import in_memory_space
from rocdbg.dwarf.info.type_limits import (
    LARGEST_SCALAR,
    MOST_LEVELS,
    MOST_PARTS,
    Contents,
    Growth,
    checked,
    size_of,
)
from rocdbg.dwarf.info.types import (
    VOID,
    ArrayType,
    BaseType,
    Bound,
    ClassBody,
    ClassKind,
    ClassType,
    Encoding,
    Enumerator,
    EnumType,
    FunctionType,
    MemberPointerType,
    Parameter,
    PointerKind,
    PointerType,
    QualifiedType,
    Qualifier,
    TemplateArgument,
    Type,
    TypedefType,
    UnspecifiedType,
    VectorType,
    numeric,
)
from rocdbg.dwarf.info.unit_index import CLASS_TAGS

if TYPE_CHECKING:
    from rocdbg.dwarf.info.entries import Entries

_MOST_ELEMENTS: Final = 1_000_000
_MOST_DIMENSIONS: Final = 32

_POINTERS: Final = {
    Tag.POINTER_TYPE: PointerKind.POINTER,
    Tag.REFERENCE_TYPE: PointerKind.REFERENCE,
    Tag.RVALUE_REFERENCE_TYPE: PointerKind.RVALUE_REFERENCE,
}
_QUALIFIERS: Final = {
    Tag.CONST_TYPE: Qualifier.CONST,
    Tag.IMMUTABLE_TYPE: Qualifier.CONST,
    Tag.VOLATILE_TYPE: Qualifier.VOLATILE,
    Tag.RESTRICT_TYPE: Qualifier.RESTRICT,
    Tag.ATOMIC_TYPE: Qualifier.ATOMIC,
}
_CLASSES: Final = {
    Tag.STRUCTURE_TYPE: ClassKind.STRUCT,
    Tag.CLASS_TYPE: ClassKind.CLASS,
    Tag.INTERFACE_TYPE: ClassKind.CLASS,
    Tag.UNION_TYPE: ClassKind.UNION,
}
_TEMPLATE_TAGS: Final = (Tag.TEMPLATE_TYPE_PARAMETER, Tag.TEMPLATE_VALUE_PARAMETER)
_SIGNATURE_TAGS: Final = (Tag.FORMAL_PARAMETER, Tag.UNSPECIFIED_PARAMETERS)
_BIG_ENDIAN: Final = 1
_SIGNED: Final = (Encoding.SIGNED, Encoding.SIGNED_CHAR)
_RUSTS_UNIT: Final = "()"
"""Rust's unit type, the only base type without contents."""
_ENCODINGS: Final = (range(0x01, 0x20), range(0x80, 0x100))
"""The encodings of DWARF 5, with some room for those of its successors, and the vendor range."""


class TypeReader:
    """Types of one object, by entry. Raises DebugInfoError for entries that describe no type."""

    def __init__(self, entries: Entries) -> None:
        self._entries = entries
        self._types: dict[int, Type] = {}
        self._reading: set[int] = set()
        self._growth = Growth()
        self._bodies: dict[int, ClassBody] = {}
        self._contents = Contents(self._unchecked_body)

    def at(self, offset: int) -> Type:
        """The type whose entry is at ``offset``."""
        return self._types.get(offset) or self.read(self._entries.die(offset))

    def type_of(self, die: Die) -> Type:
        """The type DW_AT_type of an entry (or of its origins) refers to; VOID when there is none."""
        target = die.find_reference(At.TYPE)
        if target is not None:
            return self.read(target)
        is_damaged = self._entries.passes_over and any(
            origin.has(At.TYPE) and origin.attribute(At.TYPE) is None for origin in die.origins()
        )
        return UnspecifiedType("<damaged type>", None) if is_damaged else VOID

    def read(self, die: Die) -> Type:
        """The type that an entry describes; for a damaged entry that is passed over, a type without name and size."""
        known = self._types.get(die.offset)
        if known is not None:
            self._growth.use(die.offset)
            return known
        try:
            return self._read_new(die)
        except DebugInfoError as error:
            self._entries.pass_over(error)
            return UnspecifiedType("<damaged type>", None, offset=die.offset)

    def _read_new(self, die: Die) -> Type:
        if die.offset in self._reading:
            raise self._entries.error(die.offset, "a type is defined in terms of itself")
        if len(self._reading) >= MOST_LEVELS:
            raise self._entries.error(die.offset, f"types are nested more than {MOST_LEVELS} deep")
        self._reading.add(die.offset)
        self._growth.begin()
        result: Type | None = None
        try:
            result = self._read(die)
        finally:
            self._reading.discard(die.offset)
            levels, parts = self._growth.end(die.offset, isinstance(result, ClassType), result is not None)
        if levels > MOST_LEVELS:
            raise self._entries.error(die.offset, f"types are nested more than {MOST_LEVELS} deep")
        if parts > MOST_PARTS:
            raise self._entries.error(die.offset, f"a type has more than {MOST_PARTS} parts")
        self._types[die.offset] = result
        self._growth.use(die.offset)
        return result

    def class_body(self, die: Die) -> ClassBody:
        """The contents of the class body at ``die``."""
        try:
            problem = self._contents.problem(die.offset)
            if problem is not None:
                raise self._entries.error(die.offset, problem)
            return self._unchecked_body(die.offset)
        except DebugInfoError as error:
            self._entries.pass_over(error)
            return ClassBody((), (), (), (), (), ())

    def _unchecked_body(self, offset: int) -> ClassBody:
        body = self._bodies.get(offset)
        if body is None:
            body = self._bodies[offset] = read_class_body(self, self._entries.die(offset))
        return body

    def _read(self, die: Die) -> Type:
        tag = die.tag
        if tag in _QUALIFIERS:
            return QualifiedType(_QUALIFIERS[tag], self.type_of(die), offset=die.offset)
        if tag in _POINTERS:
            return self._pointer(die, _POINTERS[tag])
        if tag in CLASS_TAGS:
            return self._class(die)
        match tag:
            case Tag.BASE_TYPE:
                return self._base(die)
            case Tag.TYPEDEF | Tag.TEMPLATE_ALIAS:
                name = die.name or ""
                return TypedefType(name, self.type_of(die), _qualified(die, name), offset=die.offset)
            case Tag.ARRAY_TYPE:
                return self._array(die)
            case Tag.ENUMERATION_TYPE:
                return self._enumeration(die)
            case Tag.SUBROUTINE_TYPE | Tag.SUBPROGRAM:
                return self.function_type(die)
            case Tag.PTR_TO_MEMBER_TYPE:
                containing = die.reference(At.CONTAINING_TYPE)
                use = die.attribute(At.USE_LOCATION)
                target, size = self.type_of(die), size_of(die, At.BYTE_SIZE, LARGEST_SCALAR)
                if size is None:  # Itanium ABI: an offset, or a function's address and an adjustment
                    size = die.unit.address_size * (2 if isinstance(target.strip_typedefs(), FunctionType) else 1)
                return MemberPointerType(
                    target, VOID if containing is None else self.read(containing), size,
                    use if isinstance(use, Exprloc | Loclist) else None, offset=die.offset,
                )
            case Tag.UNSPECIFIED_TYPE:
                return UnspecifiedType(die.name or "", size_of(die, At.BYTE_SIZE, LARGEST_SCALAR), offset=die.offset)
            case Tag.SUBRANGE_TYPE:
                return self.type_of(die)
            case Tag.STRING_TYPE:
                length = die.attribute(At.STRING_LENGTH)
                if not isinstance(length, Exprloc | Loclist | Reference):
                    length = None
                count = size_of(die, At.BYTE_SIZE) or 0 if length is None else length
                return ArrayType(BaseType("char", Encoding.UNSIGNED_CHAR, 1), count, offset=die.offset)
        raise self._entries.error(die.offset, f"an entry with tag {tag:#x} is used as a type")

    def _base(self, die: Die) -> Type:
        name = die.name or ""
        bit_size = size_of(die, At.BIT_SIZE, 8 * LARGEST_SCALAR)
        byte_size = size_of(die, At.BYTE_SIZE, LARGEST_SCALAR)
        if byte_size is None:
            byte_size = ((bit_size or 0) + 7) // 8
        if not byte_size and name != _RUSTS_UNIT and self._entries.passes_over:
            raise self._entries.error(die.offset, f"the base type {name or 'at this offset'} has no size")
        bit_size = checked(die, bit_size, 8 * byte_size, "a size in bits")
        code = die.number(At.ENCODING) or 0
        encoding = Encoding(code) if Encoding.ADDRESS <= code <= Encoding.ASCII else code
        if die.has(At.ENCODING) and not any(code in known for known in _ENCODINGS) and self._entries.passes_over:
            self._entries.pass_over(
                self._entries.error(die.offset, f"unknown base type encoding {code:#x}"), die, At.ENCODING
            )
        base = BaseType(
            name, encoding, byte_size, bit_size if bit_size is not None and bit_size != 8 * byte_size else None,
            size_of(die, At.DATA_BIT_OFFSET, 8 * byte_size) or 0, die.number(At.ENDIANITY) == _BIG_ENDIAN,
            offset=die.offset,
        )
        space = vendor_number(die, (At.LLVM22_ADDRESS_SPACE,))
        if encoding == Encoding.ADDRESS:  # A.5.1: an address in that space, without a target type
            return TypedefType(name, PointerType(VOID, PointerKind.POINTER, byte_size, space), name, offset=die.offset)
        # A base type with a vector size (A.5.1 of the extensions) has that many elements of the type that the entry
        # otherwise describes.
        vector_size = vendor_number(die, (At.LLVM_VECTOR_SIZE, At.LLVM22_VECTOR_SIZE)) or 0
        checked(die, vector_size, _MOST_ELEMENTS, "a vector")
        if vector_size <= 0:
            if die.has(At.LLVM_VECTOR_SIZE) or die.has(At.LLVM22_VECTOR_SIZE):
                self._not_a_vector(die, vector_size)
            return base
        return VectorType(numeric(base), vector_size, vector_size * byte_size, offset=die.offset)

    def _not_a_vector(self, die: Die, size: int) -> None:
        """Report a vector size that is not positive; if that does not raise, the type is a scalar."""
        if self._entries.passes_over:
            code = At.LLVM_VECTOR_SIZE if die.has(At.LLVM_VECTOR_SIZE) else At.LLVM22_VECTOR_SIZE
            self._entries.pass_over(
                self._entries.error(die.offset, f"the vector size is {size}, but must be greater than 0"), die, code
            )

    def _pointer(self, die: Die, kind: PointerKind) -> PointerType:
        space = die.number(At.ADDRESS_CLASS)
        if space is not None:
            space = die.unit.conventions.address_space(space)
        else:
            space = vendor_number(die, (At.LLVM22_ADDRESS_SPACE,))
        size = size_of(die, At.BYTE_SIZE, LARGEST_SCALAR)
        if size is None:
            size = self._entries.address_sizes.get(space or 0, die.unit.address_size)
        memory_space = vendor_number(die, (At.LLVM22_MEMORY_SPACE, At.AMD_MEMORY_SPACE))
        target = in_memory_space(self.type_of(die), memory_space, die.unit.language_name)
        return PointerType(target, kind, size, space, memory_space, offset=die.offset)

    def _in_type_unit(self, die: Die) -> Die | None:
        """The definition in a type unit to which a declaration refers (DW_AT_signature)."""
        signature = die.attribute(At.SIGNATURE)
        if not isinstance(signature, TypeSignature):
            return None
        definition = self._entries.type_of_signature(signature.signature)
        return definition if definition != die else None

    def _class(self, die: Die) -> Type:
        definition = self._in_type_unit(die)
        if definition is not None:
            return self.read(definition)
        name = die.name
        return ClassType(
            _CLASSES[die.tag], name, None if name is None else _qualified(die, name),
            size_of(die, At.BYTE_SIZE), lambda: self.class_body(die), die.unit.keeps_tags,
            die.flag(At.DECLARATION), die.number(At.ALIGNMENT), offset=die.offset,
        )

    def _enumeration(self, die: Die) -> Type:
        definition = self._in_type_unit(die)
        if definition is not None:
            return self.read(definition)
        name = die.name
        underlying = self.type_of(die)
        size = size_of(die, At.BYTE_SIZE, LARGEST_SCALAR)
        base = underlying.strip_typedefs()
        signed = isinstance(base, BaseType) and base.encoding in _SIGNED
        enumerators = []
        for child in die.children:
            if child.tag == Tag.ENUMERATOR:
                value = child.attribute(At.CONST_VALUE)
                enumerators.append(Enumerator(child.name or "", _enumerator_value(value, signed, size)))
        return EnumType(
            name, None if name is None else _qualified(die, name), tuple(enumerators), underlying, size,
            die.flag(At.ENUM_CLASS), die.unit.keeps_tags, die.flag(At.DECLARATION), _enumerator_scope(die),
            die.unit.is_cxx,
            offset=die.offset,
        )

    def _array(self, die: Die) -> Type:
        element = self.type_of(die)
        byte_size = size_of(die, At.BYTE_SIZE)
        dimensions = [
            child for child in die.children
            if child.tag in (Tag.SUBRANGE_TYPE, Tag.GENERIC_SUBRANGE, Tag.ENUMERATION_TYPE)
        ]
        if die.flag(At.GNU_VECTOR):
            return self._vector(die, element, dimensions, byte_size)
        if len(dimensions) > _MOST_DIMENSIONS:
            raise self._entries.error(die.offset, f"an array with {len(dimensions)} dimensions is not supported")
        self._growth.add(len(dimensions), len(dimensions))
        if not dimensions:
            return ArrayType(element, None, byte_size=byte_size, offset=die.offset)
        result = element
        for depth, dimension in enumerate(reversed(dimensions)):
            outermost = depth == len(dimensions) - 1
            lower = self._bound(dimension, At.LOWER_BOUND)
            stride = self._bound(dimension, At.BYTE_STRIDE)
            result = ArrayType(
                result, self._count(dimension, lower), lower if lower is not None else 0, stride,
                byte_size if outermost else None, self.type_of(dimension) if dimension.has(At.TYPE) else None,
                offset=die.offset,
            )
        return result

    def _vector(self, die: Die, element: Type, dimensions: list[Die], byte_size: int | None) -> VectorType:
        count = self._count(dimensions[0], None) if dimensions else None
        size = element.size
        if not isinstance(count, int) or count > _MOST_ELEMENTS or size is None:
            raise self._entries.error(die.offset, "a vector type does not say how many elements it has")
        total = byte_size if byte_size is not None else count * size
        return VectorType(numeric(element), count, total, offset=die.offset)

    def _bound(self, die: Die, code: int) -> Bound | None:
        value = die.attribute(code)
        if isinstance(value, Constant):
            number = value.signed_value()
            checked(die, abs(number), 1 << 64, "a bound")
            return number
        return value if isinstance(value, Exprloc | Loclist | Reference) else None

    def _count(self, die: Die, lower: Bound | None) -> Bound | None:
        """Number of elements of a dimension; None for ``[]``."""
        if die.tag == Tag.ENUMERATION_TYPE:
            return sum(child.tag == Tag.ENUMERATOR for child in die.children)
        count = die.attribute(At.COUNT)
        if isinstance(count, Constant):
            return checked(die, count.value, 1 << 64, "a bound") if count.value >= 0 else None
        if isinstance(count, Exprloc | Loclist | Reference):
            return count
        upper = die.attribute(At.UPPER_BOUND)
        if isinstance(upper, Constant):
            first = lower if isinstance(lower, int) else 0
            # producers write -1 of any width for "unknown" (and GCC also writes it for int a[0])
            last = upper.signed_value()
            checked(die, abs(last), 1 << 64, "a bound")
            return last - first + 1 if last >= first else None if last == -1 else 0
        return upper if isinstance(upper, Exprloc | Loclist | Reference) else None

    def function_type(self, die: Die) -> FunctionType:
        """The type of a function (DW_TAG_subprogram) or a function type."""
        parameters: list[Parameter] = []
        variadic = False
        source = die
        for origin in die.origins():  # a definition may leave its parameters to the declaration
            source = origin
            if any(child.tag in _SIGNATURE_TAGS for child in origin.children):
                break
        for child in source.children:
            if child.tag == Tag.FORMAL_PARAMETER:
                flag = child.find(At.ARTIFICIAL)
                artificial = isinstance(flag, Flag) and flag.value
                type_ = self.type_of(child)
                if artificial and not parameters and die.unit.is_cxx and isinstance(type_, PointerType):
                    type_ = QualifiedType(Qualifier.CONST, type_)  # `this`, which producers leave unqualified
                parameters.append(Parameter(type_, child.name, artificial))
            elif child.tag == Tag.UNSPECIFIED_PARAMETERS:
                variadic = True
        prototyped = die.unit.is_cxx or isinstance(die.find(At.PROTOTYPED), Flag) or bool(parameters)
        return FunctionType(self.type_of(die), tuple(parameters), variadic, prototyped, offset=die.offset)

    def template_arguments(self, die: Die) -> tuple[TemplateArgument, ...]:
        """Template arguments listed directly in an entry."""
        return tuple(
            TemplateArgument(
                child.name, self.type_of(child),
                constant_value(child) if child.tag == Tag.TEMPLATE_VALUE_PARAMETER else None, child.offset,
            )
            for child in die.children if child.tag in _TEMPLATE_TAGS
        )


def _qualified(die: Die, name: str) -> str:
    from rocdbg.dwarf.info.scopes import enclosing_names

    if not die.unit.is_cxx:
        return name
    return die.unit.entries.qualified((*enclosing_names(die), name))


def _enumerator_scope(die: Die) -> str:
    from rocdbg.dwarf.info.scopes import enclosing_names

    if not die.unit.is_cxx:
        return ""
    name = die.name if die.flag(At.ENUM_CLASS) else None
    around = enclosing_names(die) if name is None else (*enclosing_names(die), name)
    return die.unit.entries.qualified((*around, ""))


def _enumerator_value(value: AttributeValue | None, signed: bool, size: int | None) -> int:
    if isinstance(value, Constant):
        return value.signed_value(size) if signed and value.size is not None else value.value
    if isinstance(value, Block):
        return int.from_bytes(value.data[:LARGEST_SCALAR], "little", signed=signed)
    return 0
