"""Types of the source language as DWARF describes them: an immutable model.

Types are values that code can also construct (``PointerType(target)`` for ``&x``). Two types are equal if they have the
same structure; classes and enumerations are compared by identity, and a ``DebugInfo`` returns one object per entry.
Only classes are lazy: their members are read on first use, so that self-referential types need no special treatment.

``str(type)`` is the name as GDB prints it (``float *``, ``int (*)(int, int)``, ``struct S`` in C and ``S``
in C++). ``rocdbg.dwarf.info.type_text.describe(type)`` gives the lines of ``ptype``.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

from msgspec import Struct

from rocdbg.dwarf.info.attribute_values import Exprloc, Location, Loclist, Reference
from rocdbg.dwarf.info.name_matching import with_characters


class Encoding(enum.IntEnum):
    """Encoding of a base type (DW_ATE_*)."""

    ADDRESS = 0x01
    BOOLEAN = 0x02
    COMPLEX_FLOAT = 0x03
    FLOAT = 0x04
    SIGNED = 0x05
    SIGNED_CHAR = 0x06
    UNSIGNED = 0x07
    UNSIGNED_CHAR = 0x08
    IMAGINARY_FLOAT = 0x09
    PACKED_DECIMAL = 0x0A
    NUMERIC_STRING = 0x0B
    EDITED = 0x0C
    SIGNED_FIXED = 0x0D
    UNSIGNED_FIXED = 0x0E
    DECIMAL_FLOAT = 0x0F
    UTF = 0x10
    UCS = 0x11
    ASCII = 0x12


class Qualifier(enum.Enum):
    """A type qualifier; the value is its spelling.

    Those with an @ (GDB's spelling of address spaces) are memory spaces of languages (A.2.14): OpenCL's LOCAL is called
    SHARED in HIP, and GROUP if the language has no keyword for it.
    """

    CONST = "const"
    VOLATILE = "volatile"
    RESTRICT = "restrict"
    ATOMIC = "_Atomic"
    GLOBAL_SPACE = "@global"
    CONSTANT_SPACE = "@constant"
    GROUP_SPACE = "@group"
    LOCAL_SPACE = "@local"
    SHARED_SPACE = "@shared"
    PRIVATE_SPACE = "@private"


class PointerKind(enum.Enum):
    """Pointer or reference; the value is the declarator's spelling."""

    POINTER = "*"
    REFERENCE = "&"
    RVALUE_REFERENCE = "&&"


class ClassKind(enum.Enum):
    """Keyword of a class type."""

    STRUCT = "struct"
    CLASS = "class"
    UNION = "union"


class Access(enum.IntEnum):
    """Accessibility of a member (DW_ACCESS_*)."""

    PUBLIC = 1
    PROTECTED = 2
    PRIVATE = 3


@dataclass(frozen=True, slots=True)
class Integer:
    """The facts that arithmetic needs about a plain integral type, which is little-endian and uses all its bytes."""

    size: int
    signed: bool
    boolean: bool


@dataclass(frozen=True)
class Type:
    """Base of all types. ``offset``: the entry in ``.debug_info`` from which it was read; None for a type that was
    constructed without one.
    """

    offset: int | None = field(default=None, kw_only=True, compare=False, repr=False)

    @property
    def size(self) -> int | None:
        """Size in bytes; None when incomplete, a function, or only known at run time."""
        return None

    def strip_typedefs(self) -> Type:
        """The type behind typedefs *and* qualifiers on the outside (``const SF`` -> ``struct S``)."""
        return self

    @cached_property
    def bare(self) -> Type:
        """As `strip_typedefs`, cached."""
        return self.strip_typedefs()

    @cached_property
    def is_dynamic(self) -> bool:
        """Whether bounds or member locations, at any depth, are expressions, which apply to one object only."""
        return False

    @cached_property
    def integer(self) -> Integer | None:
        """For integers of up to 16 bytes, characters, bool and enumerations, cached; ``None`` for any other type.

        Also None for types that do not fill their bytes or are big-endian.
        """
        bare = self.bare
        return bare._integer() if isinstance(bare, BaseType | EnumType) else None

    def strip_qualifiers(self) -> Type:
        """The type without outer qualifiers; typedefs are kept."""
        return self

    def spelled(self) -> str:
        """The text before a declarator: a name, ``struct S``, or ``struct {...}`` for an anonymous class."""
        return ""

    def declare(self, declarator: str, spell: Spell | None = None, qualifiers: Qualifiers = ()) -> str:
        """The type wrapped around a declarator: ``int (*f)(int)`` for ``f``.

        ``spell`` writes the type at the end of pointers, arrays and results (by default `spelled`). ``qualifiers``
        holds those that apply to this type.
        """
        leaf = self.spelled() if spell is None else spell(self)
        if qualifiers:
            leaf = f"{_words(qualifiers)} {leaf}"
        declarator = declarator.lstrip()
        return f"{leaf} {declarator}" if declarator else leaf

    def __str__(self) -> str:
        return self.declare("")


Spell = Callable[[Type], str]
Qualifiers: TypeAlias = tuple[Qualifier, ...]


def _words(qualifiers: Qualifiers) -> str:
    return " ".join(qualifier.value for qualifier in Qualifier if qualifier in qualifiers)


def _qualified(element: Type, qualifiers: Qualifiers) -> Type:
    """The element of a qualified array, which is an array of qualified elements."""
    for qualifier in reversed(qualifiers):
        element = QualifiedType(qualifier, element)
    return element


def _declare_pointer(target: Type, mark: str, declarator: str, spell: Spell | None, qualifiers: Qualifiers) -> str:
    if qualifiers:
        # GDB writes no space before the brackets of an array without a name
        mark = f"{mark} {_words(qualifiers)}" + (" " if declarator and not declarator.startswith("[") else "")
    declarator = mark + declarator
    if isinstance(target.strip_qualifiers(), ArrayType | FunctionType):
        declarator = f"({declarator})"
    return target.declare(declarator, spell)


@dataclass(frozen=True)
class VoidType(Type):
    """``void``: an absent DW_AT_type."""

    def spelled(self) -> str:
        return "void"


VOID = VoidType()


@dataclass(frozen=True)
class UnspecifiedType(Type):
    """A type without a description, mostly ``decltype(nullptr)``. ``byte_size`` as given, else None."""

    name: str
    byte_size: int | None = None

    @property
    def size(self) -> int | None:
        return self.byte_size

    def spelled(self) -> str:
        return self.name


@dataclass(frozen=True)
class BaseType(Type):
    """A base type. ``bit_size`` and ``bit_offset`` are only set for types that do not fill their bytes
    (``_BitInt(7)``).

    ``encoding`` is a plain number if it is not in ``Encoding`` (vendor range).
    """

    name: str
    encoding: Encoding | int
    byte_size: int
    bit_size: int | None = None
    bit_offset: int = 0
    big_endian: bool = False

    @property
    def size(self) -> int | None:
        return self.byte_size

    def spelled(self) -> str:
        return self.name

    def _integer(self) -> Integer | None:
        plain = not self.big_endian and self.bit_size in (None, 0, 8 * self.byte_size) and 0 < self.byte_size <= 16
        if not plain or self.encoding not in _INTEGERS:
            return None
        signed = self.encoding in (Encoding.SIGNED, Encoding.SIGNED_CHAR)
        return Integer(self.byte_size, signed, self.encoding == Encoding.BOOLEAN)


class FlagField(Struct, frozen=True):
    """A field of a register: ``width`` bits from bit ``first`` on, shown as its type."""

    name: str
    first: int
    width: int
    type: Type


@dataclass(frozen=True)
class FlagsType(BaseType):
    """An unsigned integer made of named fields, which is shown by the names of the fields: the type of a flags
    register, as GDB's target descriptions define it.
    """

    fields: tuple[FlagField, ...] = ()


_INTEGERS = frozenset({
    Encoding.BOOLEAN, Encoding.SIGNED, Encoding.SIGNED_CHAR, Encoding.UNSIGNED, Encoding.UNSIGNED_CHAR, Encoding.UTF,
})


def numeric(element: Type) -> Type:
    """The element type of a vector: as in GDB, a character type that is not a typedef counts as a small integer."""
    if isinstance(element, BaseType) and element.encoding in (Encoding.SIGNED_CHAR, Encoding.UNSIGNED_CHAR):
        signed = element.encoding == Encoding.SIGNED_CHAR
        return replace(element, encoding=Encoding.SIGNED if signed else Encoding.UNSIGNED, offset=element.offset)
    return element


@dataclass(frozen=True)
class PointerType(Type):
    """A pointer or reference.

    ``address_class`` is the DWARF address space of the pointer's values (1 generic, 3 local, 5 private_lane; absent for
    global): DW_AT_LLVM_address_space if present, else the space that the producer means by DW_AT_address_class.
    ``memory_space`` is DW_AT_LLVM_memory_space. ``byte_size`` is the pointer's own size.
    """

    target: Type
    kind: PointerKind = PointerKind.POINTER
    byte_size: int = 8
    address_class: int | None = None
    memory_space: int | None = None

    @property
    def size(self) -> int | None:
        return self.byte_size

    def declare(self, declarator: str, spell: Spell | None = None, qualifiers: Qualifiers = ()) -> str:
        return _declare_pointer(self.target, self.kind.value, declarator, spell, qualifiers)


@dataclass(frozen=True)
class MemberPointerType(Type):
    """A C++ pointer to a member of ``containing``.

    ``use_location`` (DW_AT_use_location) is an expression for the place of the member; its initial stack holds the
    pointer's value and the object's location, in this order. It is None where the producer leaves the meaning to the
    ABI.
    """

    target: Type
    containing: Type
    byte_size: int | None = None
    use_location: Exprloc | Loclist | None = field(default=None, compare=False)

    @property
    def size(self) -> int | None:
        return self.byte_size

    def declare(self, declarator: str, spell: Spell | None = None, qualifiers: Qualifiers = ()) -> str:
        return _declare_pointer(self.target, f"{self.containing}::*", declarator, spell, qualifiers)


Bound: TypeAlias = int | Exprloc | Loclist | Reference
"""A bound of an array: a number, an expression, or the variable (its entry) that holds it."""


@dataclass(frozen=True)
class ArrayType(Type):
    """An array of one dimension; ``int a[2][3]`` is an array of two arrays.

    ``count`` is None for ``[]``, and not an int when it is only known at run time (variable-length arrays).
    ``byte_stride`` is None when there are no gaps between elements.
    """

    element: Type
    count: Bound | None
    lower_bound: Bound = 0
    byte_stride: Bound | None = None
    byte_size: int | None = None
    index_type: Type | None = field(default=None, compare=False, repr=False)

    @property
    def size(self) -> int | None:
        if self.byte_size is not None:
            return self.byte_size
        stride = self.byte_stride if self.byte_stride is not None else self.element.size
        if isinstance(self.count, int) and isinstance(stride, int):
            return self.count * stride
        return None

    @cached_property
    def is_dynamic(self) -> bool:
        bounds = (self.count, self.lower_bound, self.byte_stride)
        return any(not isinstance(bound, int | None) for bound in bounds) or self.element.bare.is_dynamic

    def declare(self, declarator: str, spell: Spell | None = None, qualifiers: Qualifiers = ()) -> str:
        count = "" if self.count is None else str(self.count) if isinstance(self.count, int) else "variable length"
        return _qualified(self.element, qualifiers).declare(f"{declarator}[{count}]", spell)


@dataclass(frozen=True)
class VectorType(Type):
    """A SIMD vector (DW_AT_GNU_vector, or a base type's DW_AT_LLVM_vector_size): OpenCL's ``float4``.

    ``byte_size`` may exceed ``count`` elements: an OpenCL ``float3`` takes 16 bytes.
    """

    element: Type
    count: int
    byte_size: int

    @property
    def size(self) -> int | None:
        return self.byte_size

    def declare(self, declarator: str, spell: Spell | None = None, qualifiers: Qualifiers = ()) -> str:
        vector = f"{declarator} __attribute__ ((vector_size({self.count})))"
        return _qualified(self.element, qualifiers).declare(vector, spell)


@dataclass(frozen=True)
class TypedefType(Type):
    """A typedef or alias."""

    name: str
    target: Type
    qualified_name: str = ""

    @property
    def size(self) -> int | None:
        return self.target.size

    def strip_typedefs(self) -> Type:
        return self.target.strip_typedefs()

    def spelled(self) -> str:
        return self.qualified_name or self.name


@dataclass(frozen=True)
class QualifiedType(Type):
    """A qualified type."""

    qualifier: Qualifier
    target: Type

    @property
    def size(self) -> int | None:
        return self.target.size

    def strip_typedefs(self) -> Type:
        return self.target.strip_typedefs()

    def strip_qualifiers(self) -> Type:
        return self.target.strip_qualifiers()

    def declare(self, declarator: str, spell: Spell | None = None, qualifiers: Qualifiers = ()) -> str:
        return self.target.declare(declarator, spell, (*qualifiers, self.qualifier))


class Parameter(Struct, frozen=True):
    """A parameter of a function type. ``artificial``: not written in the source (``this``)."""

    type: Type
    name: str | None = None
    artificial: bool = False


@dataclass(frozen=True)
class FunctionType(Type):
    """A function's type. ``prototyped`` is False for a C function declared with ``()``.

    ``of_member``: the type of a member function accessed through an object, which is not a function by itself.
    """

    return_type: Type
    parameters: tuple[Parameter, ...] = ()
    variadic: bool = False
    prototyped: bool = True
    of_member: bool = field(default=False, compare=False)

    def declare(self, declarator: str, spell: Spell | None = None, qualifiers: Qualifiers = ()) -> str:
        suffix = f" {_words(qualifiers)}" if qualifiers else ""
        return self.return_type.declare(f"{declarator}({self.parameter_list()}){suffix}", spell)

    def parameter_list(self, *, without_this: bool = False, spell: Spell | None = None) -> str:
        """The text between the parentheses; ``without_this`` leaves out artificial parameters.

        ``spell`` is as in `declare`.
        """
        shown = [item.type.declare("", spell) for item in self.parameters if not (without_this and item.artificial)]
        if self.variadic:
            shown.append("...")
        return ", ".join(shown) or ("void" if self.prototyped else "")


def is_aggregate(type: Type) -> bool:
    """Whether a type is a class, a union or an array, or a complex number, which compilers treat as one."""
    bare = type.bare
    if isinstance(bare, BaseType):
        return bare.encoding == Encoding.COMPLEX_FLOAT
    return isinstance(bare, ClassType | ArrayType)


class Enumerator(Struct, frozen=True):
    """A name of an enumeration, with its value read as the underlying type says."""

    name: str
    value: int


@dataclass(frozen=True, eq=False)
class EnumType(Type):
    """An enumeration. ``name`` is None when anonymous; ``underlying`` VOID when the producer gives none.

    ``scoped``: ``enum class``. ``tagged``: the language needs the keyword before the name (C).
    ``enumerator_scope`` is written before the enumerators' names: ``E::`` for those of an
    ``enum class E``, else the namespaces and classes around the enumeration; empty in C.
    """

    # by identity: eq=False alone would inherit the equality of `Type`, by which all objects of one class are equal
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    name: str | None
    qualified_name: str | None
    enumerators: tuple[Enumerator, ...]
    underlying: Type = VOID
    byte_size: int | None = None
    scoped: bool = False
    tagged: bool = False
    is_declaration: bool = False
    enumerator_scope: str = ""
    underlying_shown: bool = False
    """Whether the language can spell the underlying type (C++)."""

    @property
    def size(self) -> int | None:
        return self.byte_size if self.byte_size is not None else self.underlying.size

    def _integer(self) -> Integer | None:
        size, underlying = self.size, self.underlying.integer
        if size is None or not 0 < size <= 16 or (underlying is None and self.underlying is not VOID):
            return None
        negative = any(enumerator.value < 0 for enumerator in self.enumerators)
        return Integer(size, underlying.signed if underlying is not None else negative, False)

    @property
    def keyword(self) -> str:
        """``enum`` or ``enum class``."""
        return "enum class" if self.scoped else "enum"

    def spelled(self) -> str:
        return self.spelled_as(self.qualified_name or None)

    def spelled_as(self, name: str | None) -> str:
        """As `spelled`, with another name; ``None`` gives the anonymous form."""
        if name is None:
            return f"{self.keyword} {{...}}"
        return f"enum {name}" if self.tagged else name


class Member(Struct, frozen=True):
    """A data member. ``name`` is None for an anonymous struct or union member.

    ``bit_offset`` counts from the start of the class (little-endian numbering), also for ordinary members;
    it is None when ``location`` has to be evaluated. ``bit_size`` is None unless it is a bit field.
    ``offset`` is that of the member's entry in ``.debug_info``.
    """

    name: str | None
    type: Type
    bit_offset: int | None
    bit_size: int | None = None
    access: Access = Access.PUBLIC
    artificial: bool = False
    location: Exprloc | Loclist | None = None
    offset: int | None = None

    @property
    def byte_offset(self) -> int | None:
        """Offset in bytes, from the start of the class, of the byte that contains its first bit."""
        return None if self.bit_offset is None else self.bit_offset // 8


class BaseClass(Struct, frozen=True):
    """A base class. ``byte_offset`` is None when ``location`` has to be evaluated (virtual bases); ``offset`` is
    that of its entry.
    """

    type: Type
    byte_offset: int | None
    access: Access = Access.PUBLIC
    virtual: bool = False
    location: Exprloc | Loclist | None = None
    offset: int | None = None


class StaticMember(Struct, frozen=True):
    """A static data member: a declaration. Its definition is the variable ``CLASS::name``."""

    name: str
    type: Type
    access: Access = Access.PUBLIC
    const_value: Location | None = None
    offset: int | None = None


CONSTU, LIT0 = 0x10, 0x30
"""DW_OP_constu and DW_OP_lit0."""
MAX_LEB = 5


class Method(Struct, frozen=True):
    """A member function as declared in its class. ``offset`` is that of the declaration's entry.

    ``vtable_elem_location`` (DW_AT_vtable_elem_location) is an expression for the slot of a virtual function, with the
    object's location on its initial stack; clang gives the number of the slot as a value instead.
    """

    name: str
    type: FunctionType
    access: Access = Access.PUBLIC
    artificial: bool = False
    virtual: bool = False
    static: bool = False
    linkage_name: str | None = None
    offset: int | None = None
    vtable_elem_location: Exprloc | Loclist | None = None

    @property
    def is_const(self) -> bool:
        """Whether it is a ``const`` method, whose ``this`` points to a constant object."""
        if not self.type.parameters or self.static:
            return False
        this = self.type.parameters[0].type.strip_typedefs().strip_qualifiers()
        return (
            isinstance(this, PointerType)
            and isinstance(this.target, QualifiedType)
            and this.target.qualifier is Qualifier.CONST
        )

    @property
    def vtable_slot(self) -> int | None:
        """The number of its slot in the virtual table, if the producer gives a plain number; else None."""
        where = self.vtable_elem_location
        if not isinstance(where, Exprloc) or not where.data:
            return None
        operation, operand = where.data[0], where.data[1:]
        if LIT0 <= operation < LIT0 + 32 and not operand:
            return operation - LIT0
        if operation != CONSTU or not operand or len(operand) > MAX_LEB or operand[-1] & 0x80:
            return None
        return sum((byte & 0x7F) << 7 * index for index, byte in enumerate(operand))


class TemplateArgument(Struct, frozen=True):
    """A template argument: a type (``value`` None), or a value of that type. ``offset`` is that of its entry."""

    name: str | None
    type: Type
    value: Location | None = None
    offset: int = 0


class ClassBody(Struct, frozen=True):
    """The contents of the class body."""

    members: tuple[Member, ...] = ()
    bases: tuple[BaseClass, ...] = ()
    static_members: tuple[StaticMember, ...] = ()
    methods: tuple[Method, ...] = ()
    template_arguments: tuple[TemplateArgument, ...] = ()
    nested_types: tuple[Type, ...] = ()


@dataclass(frozen=True, eq=False)
class ClassType(Type):
    """A struct, class or union. ``name`` is None when anonymous.

    ``is_declaration``: only declared in this unit; ``DebugInfo.complete_type`` looks for the definition.
    ``tagged``: the language needs the keyword before the name (C).
    """

    # by identity: eq=False alone would inherit the equality of `Type`, by which all objects of one class are equal
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    kind: ClassKind
    name: str | None
    qualified_name: str | None
    byte_size: int | None
    read_body: Callable[[], ClassBody] = field(default=ClassBody, repr=False)
    tagged: bool = False
    is_declaration: bool = False
    alignment: int | None = None
    """Bytes, if the source states it (``alignas``)."""

    @property
    def size(self) -> int | None:
        return self.byte_size

    def spelled(self) -> str:
        return self.spelled_as(self.qualified_name or None)

    def spelled_as(self, name: str | None) -> str:
        """As `spelled`, with another name; ``None`` gives the anonymous form."""
        if name is None:
            return f"{self.kind.value} {{...}}"
        if "(char)" in name:
            name = with_characters(name)
        return f"{self.kind.value} {name}" if self.tagged else name

    @cached_property
    def body(self) -> ClassBody:
        """The contents, read on first use. Raises DebugInfoError when they are damaged."""
        return self.read_body()

    @cached_property
    def is_dynamic(self) -> bool:
        parts: tuple[Member | BaseClass, ...] = (*self.members, *self.bases)
        return any(part.location is not None or part.type.bare.is_dynamic for part in parts)

    @property
    def members(self) -> tuple[Member, ...]:
        """Data members in declaration order, without inherited ones."""
        return self.body.members

    @property
    def bases(self) -> tuple[BaseClass, ...]:
        """Base classes in declaration order."""
        return self.body.bases

    @property
    def static_members(self) -> tuple[StaticMember, ...]:
        """Static data members."""
        return self.body.static_members

    @property
    def methods(self) -> tuple[Method, ...]:
        """Member functions."""
        return self.body.methods
