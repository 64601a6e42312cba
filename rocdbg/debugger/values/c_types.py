"""Types as expressions use them: the basic C types, promotions, conversions, derived types.

The model is `rocdbg.dwarf.info.types`; this adds what C's rules need.
"""

from __future__ import annotations

from dataclasses import replace

from rocdbg.arch.address_spaces import null_address
from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.dwarf.info.types import (
    VOID as VOID,
)
from rocdbg.dwarf.info.types import (
    ArrayType,
    BaseType,
    ClassKind,
    ClassType,
    Encoding,
    EnumType,
    FlagsType,
    FunctionType,
    MemberPointerType,
    PointerKind,
    PointerType,
    QualifiedType,
    Qualifier,
    Type,
    TypedefType,
    UnspecifiedType,
    VectorType,
    VoidType,
)

BOOL = BaseType("bool", Encoding.BOOLEAN, 1)
C_BOOL = BaseType("_Bool", Encoding.BOOLEAN, 1)
CHAR = BaseType("char", Encoding.SIGNED_CHAR, 1)
SIGNED_CHAR = BaseType("signed char", Encoding.SIGNED_CHAR, 1)
UNSIGNED_CHAR = BaseType("unsigned char", Encoding.UNSIGNED_CHAR, 1)
SHORT = BaseType("short", Encoding.SIGNED, 2)
UNSIGNED_SHORT = BaseType("unsigned short", Encoding.UNSIGNED, 2)
INT = BaseType("int", Encoding.SIGNED, 4)
UNSIGNED_INT = BaseType("unsigned int", Encoding.UNSIGNED, 4)
LONG = BaseType("long", Encoding.SIGNED, 8)
UNSIGNED_LONG = BaseType("unsigned long", Encoding.UNSIGNED, 8)
LONG_LONG = BaseType("long long", Encoding.SIGNED, 8)
UNSIGNED_LONG_LONG = BaseType("unsigned long long", Encoding.UNSIGNED, 8)
INT128 = BaseType("__int128", Encoding.SIGNED, 16)
UNSIGNED_INT128 = BaseType("unsigned __int128", Encoding.UNSIGNED, 16)
HALF = BaseType("_Float16", Encoding.FLOAT, 2)
BFLOAT16 = BaseType("__bf16", Encoding.FLOAT, 2)
FLOAT = BaseType("float", Encoding.FLOAT, 4)
DOUBLE = BaseType("double", Encoding.FLOAT, 8)
LONG_DOUBLE = BaseType("long double", Encoding.FLOAT, 8)
"""On amdgcn ``long double`` is ``double``."""

CODE_POINTER = PointerType(FunctionType(VOID, prototyped=False))
CXX_CODE_POINTER = PointerType(FunctionType(VOID))
"""The code pointer in C++, where an empty parameter list means that there are no parameters."""
"""The type of ``$pc`` in C++: ``void (*)()``."""
INTERNAL_FUNCTION = UnspecifiedType("<internal function>")

# After sorting, every order of specifiers that C allows is one of these.
_SPECIFIERS: dict[tuple[str, ...], Type] = {
    tuple(sorted(words.split())): type_
    for words, type_ in (
        ("void", VOID), ("bool", BOOL), ("_Bool", C_BOOL), ("char", CHAR), ("signed char", SIGNED_CHAR),
        ("unsigned char", UNSIGNED_CHAR), ("short", SHORT), ("short int", SHORT),
        ("signed short", SHORT), ("signed short int", SHORT), ("unsigned short", UNSIGNED_SHORT),
        ("unsigned short int", UNSIGNED_SHORT), ("int", INT), ("signed", INT), ("signed int", INT),
        ("unsigned", UNSIGNED_INT), ("unsigned int", UNSIGNED_INT), ("long", LONG), ("long int", LONG),
        ("signed long", LONG), ("signed long int", LONG), ("unsigned long", UNSIGNED_LONG),
        ("unsigned long int", UNSIGNED_LONG), ("long long", LONG_LONG), ("long long int", LONG_LONG),
        ("signed long long", LONG_LONG), ("signed long long int", LONG_LONG),
        ("unsigned long long", UNSIGNED_LONG_LONG), ("unsigned long long int", UNSIGNED_LONG_LONG),
        ("__int128", INT128), ("unsigned __int128", UNSIGNED_INT128), ("signed __int128", INT128),
        ("_Float16", HALF), ("half", HALF), ("__bf16", BFLOAT16), ("float", FLOAT), ("double", DOUBLE),
        ("long double", LONG_DOUBLE),
        ("wchar_t", BaseType("wchar_t", Encoding.SIGNED, 4)),
        ("char8_t", BaseType("char8_t", Encoding.UTF, 1)),
        ("char16_t", BaseType("char16_t", Encoding.UTF, 2)),
        ("char32_t", BaseType("char32_t", Encoding.UTF, 4)),
    )
}


def basic_type(words: str) -> Type | None:
    """Return the C type of these specifiers, in any order; ``None`` if there is none."""
    return _SPECIFIERS.get(tuple(sorted(words.split())))


def bare(type_: Type) -> Type:
    """Return a type without typedefs and qualifiers."""
    return type_.bare


def size_of(type_: Type) -> int:
    """Return the size in bytes that ``sizeof`` gives: as in GDB, 1 for void and functions, 0 for arrays without a
    bound.

    Raises for incomplete types.
    """
    if type_.integer is not None:
        return type_.integer.size
    stripped = type_.bare
    if isinstance(stripped, VoidType | FunctionType):
        return 1
    if isinstance(stripped, ArrayType) and stripped.count is None and stripped.byte_size is None:
        return 0
    size = stripped.size if not is_null_type(stripped) else 8
    if size is None:
        raise ExpressionError(f"The size of type {type_} is not known.")
    return size


def alignment_of(type_: Type) -> int:
    """Return the alignment in bytes: of an array, that of its elements; of a structure, the greatest of its members; of
    a scalar, its size.
    """
    stripped = type_.strip_typedefs()
    if isinstance(stripped, ArrayType):
        return alignment_of(stripped.element)
    if isinstance(stripped, ClassType):
        if stripped.alignment is not None:
            return stripped.alignment
        parts = [*(member.type for member in stripped.members), *(base.type for base in stripped.bases)]
        return max([1, *map(alignment_of, parts)])
    size = size_of(stripped)
    return 1 << (size.bit_length() - 1) if size else 1


_CHARACTER_PREFIXES = {"wchar_t": "L", "char16_t": "u", "char32_t": "U"}


def text_prefix(type_: Type) -> str | None:
    """Return the prefix of quoted characters of a type: "", ``L``, ``u`` or ``U``; ``None`` for other types.

    In C, the types of wide characters are typedefs of integers.
    """
    while True:
        type_ = type_.strip_qualifiers()
        if isinstance(type_, TypedefType):
            if type_.name in _CHARACTER_PREFIXES:
                return _CHARACTER_PREFIXES[type_.name]
            type_ = type_.target
            continue
        break
    if not isinstance(type_, BaseType):
        return None
    if type_.name in _CHARACTER_PREFIXES:
        return _CHARACTER_PREFIXES[type_.name]
    narrow = type_.encoding in (Encoding.SIGNED_CHAR, Encoding.UNSIGNED_CHAR) and type_.byte_size == 1
    return "" if narrow or type_.encoding == Encoding.UTF else None


def is_char(type_: Type) -> bool:
    """Whether values of a type show as characters: ``char``, the other one-byte character types, and wide ones."""
    return text_prefix(type_) is not None


def is_bool(type_: Type) -> bool:
    """Whether a type is ``bool``."""
    stripped = bare(type_)
    return isinstance(stripped, BaseType) and stripped.encoding == Encoding.BOOLEAN


def is_float(type_: Type) -> bool:
    """Whether a type is a floating type, of any width."""
    stripped = bare(type_)
    return isinstance(stripped, BaseType) and stripped.encoding == Encoding.FLOAT


def null_number(type_: Type) -> int:
    """Return the number of a null pointer of a type: that of its address space, where 0 may be a valid address; 0 for
    other types.
    """
    stripped = bare(type_)
    return null_address(stripped.address_class or 0) if isinstance(stripped, PointerType) else 0


def is_null_type(type_: Type) -> bool:
    """Whether a type is ``decltype(nullptr)``."""
    stripped = bare(type_)
    return isinstance(stripped, UnspecifiedType) and stripped.name == "decltype(nullptr)"


def is_complex(type_: Type) -> bool:
    """Whether a type is a ``_Complex`` type."""
    stripped = bare(type_)
    return isinstance(stripped, BaseType) and stripped.encoding == Encoding.COMPLEX_FLOAT


def is_bfloat(type_: Type) -> bool:
    """Whether a type is a 16-bit float with eight exponent bits."""
    stripped = bare(type_)
    return (
        isinstance(stripped, BaseType)
        and stripped.byte_size == 2
        and stripped.name.strip("_") in ("bf16", "bfloat16", "bfloat")
    )


def is_integral(type_: Type) -> bool:
    """Whether a type is an integer, a character, bool or an enumeration."""
    stripped = bare(type_)
    if isinstance(stripped, EnumType):
        return True
    return isinstance(stripped, BaseType) and stripped.encoding not in (
        Encoding.FLOAT,
        Encoding.COMPLEX_FLOAT,
        Encoding.IMAGINARY_FLOAT,
        Encoding.DECIMAL_FLOAT,
    )


def is_number(type_: Type) -> bool:
    """Whether a type is an integer (including characters), but not an enumeration or bool."""
    return is_integral(type_) and not is_bool(type_) and not isinstance(bare(type_), EnumType)


def is_class(type_: Type) -> bool:
    """Whether a type is a structure or class, for which operators may be defined; a union is not."""
    stripped = bare(type_)
    return isinstance(stripped, ClassType) and stripped.kind is not ClassKind.UNION


def is_scalar(type_: Type) -> bool:
    """Whether a type is a number, an enumeration, a pointer or a reference."""
    if isinstance(bare(type_), PointerType | MemberPointerType):
        return True
    return is_integral(type_) or is_float(type_) or is_null_type(type_)


def referred(type_: Type) -> Type:
    """Return the target type of a reference; any other type is returned unchanged."""
    stripped = bare(type_)
    return stripped.target if isinstance(stripped, PointerType) and is_reference(type_) else type_


def target_of(type_: Type) -> Type:
    """Return the target type of a pointer or reference. Raises `ExpressionError` for other types."""
    stripped = bare(type_)
    if not isinstance(stripped, PointerType):
        raise ExpressionError("Attempt to take contents of a non-pointer value.")
    return stripped.target


def is_vector_like(type_: Type) -> bool:
    """Whether a type has elements: an array or a vector."""
    return isinstance(bare(type_), ArrayType | VectorType)


def is_signed(type_: Type) -> bool:
    """Whether an integral type is signed."""
    stripped = bare(type_)
    if isinstance(stripped, EnumType):
        if not isinstance(stripped.underlying, VoidType):
            return is_signed(stripped.underlying)
        return any(e.value < 0 for e in stripped.enumerators)
    return isinstance(stripped, BaseType) and stripped.encoding in (Encoding.SIGNED, Encoding.SIGNED_CHAR)


def is_pointer(type_: Type) -> bool:
    """Whether a type is a pointer and not a reference."""
    stripped = bare(type_)
    return isinstance(stripped, PointerType) and stripped.kind is PointerKind.POINTER


def is_reference(type_: Type) -> bool:
    """Whether a type is a reference of either kind."""
    stripped = bare(type_)
    return isinstance(stripped, PointerType) and stripped.kind is not PointerKind.POINTER


def is_void(type_: Type) -> bool:
    """Whether a type is ``void``."""
    return isinstance(bare(type_), VoidType)


def promote(type_: Type) -> Type:
    """Apply C's integer promotions; floats, including 16-bit ones, are unchanged."""
    stripped = bare(type_)
    if is_float(stripped):
        return stripped
    if not is_integral(stripped):
        raise ExpressionError("Argument to arithmetic operation not a number or boolean.")
    size = size_of(stripped)
    if isinstance(stripped, EnumType):
        # as in a C compiler: in arithmetic, an enumeration is its underlying integer
        signed = is_signed(stripped) or size < 4
        return (INT if signed else UNSIGNED_INT) if size <= 4 else (LONG if signed else UNSIGNED_LONG)
    if size < 4:
        return INT
    return unsigned_of(size) if isinstance(stripped, FlagsType) else stripped


def arithmetic_type(left: Type, right: Type) -> Type:
    """Return the type in which two operands are computed: C's usual arithmetic conversions."""
    if is_float(left) or is_float(right):
        sizes = [size_of(t) for t in (left, right) if is_float(t)]
        size = max(sizes)
        for candidate in (bare(left), bare(right)):
            if is_float(candidate) and size_of(candidate) == size:
                return promote(candidate)
    a, b = promote(left), promote(right)
    size_a, size_b = size_of(a), size_of(b)
    size = max(size_a, size_b)
    signed = all(is_signed(each) for each, own in ((a, size_a), (b, size_b)) if own == size)
    # as in GDB: the first standard type of that size, regardless of the operands' type names
    return signed_of(size) if signed else unsigned_of(size)


def literal_type(value: int, suffix: str, radix: int) -> Type:
    """Return the type of an integer literal. Raises `ExpressionError` when no type can hold it."""
    unsigned = "u" in suffix
    longs = suffix.count("l") + suffix.count("z")
    candidates: list[tuple[int, Type, Type]] = []
    if longs == 0:
        candidates.append((32, INT, UNSIGNED_INT))
    if longs <= 1:
        candidates.append((64, LONG, UNSIGNED_LONG))
    else:
        candidates.append((64, LONG_LONG, UNSIGNED_LONG_LONG))
    for bits, signed_type, unsigned_type in candidates:
        if not unsigned and value < 1 << (bits - 1):
            return signed_type
        # a decimal literal becomes unsigned only if there is no wider signed type
        if value < 1 << bits and (unsigned or radix != 10 or bits == 64):
            return unsigned_type
    raise ExpressionError("Numeric constant too large.")


def pointer_to(target: Type, space: int = 0, size: int | None = None) -> PointerType:
    """Return a pointer type whose values are addresses of this DWARF address space."""
    if size is None:
        size = 8 if space in (0, 1) else 4
    return PointerType(target, byte_size=size, address_class=space or None)


def pointer_space(type_: Type) -> int:
    """Return the DWARF address space to which a pointer's values belong."""
    stripped = bare(type_)
    if isinstance(stripped, PointerType):
        return stripped.address_class or 0
    return 0


def array_of(element: Type, count: int) -> ArrayType:
    """Return an array of ``count`` elements."""
    return ArrayType(element, count)


def const(type_: Type) -> Type:
    """Return a const-qualified type."""
    return QualifiedType(Qualifier.CONST, type_)


def qualified_like(type_: Type, other: Type) -> Type:
    """Return a type with the qualifiers of another type."""
    return replace(other, target=qualified_like(type_, other.target)) if isinstance(other, QualifiedType) else type_


def unsigned_of(size: int) -> Type:
    """Return the unsigned integer of this many bytes."""
    by_size = {1: UNSIGNED_CHAR, 2: UNSIGNED_SHORT, 4: UNSIGNED_INT, 8: UNSIGNED_LONG, 16: UNSIGNED_INT128}
    return by_size.get(size) or BaseType(f"uint{size * 8}_t", Encoding.UNSIGNED, size)


def signed_of(size: int) -> Type:
    """Return the signed integer of this many bytes."""
    by_size = {1: SIGNED_CHAR, 2: SHORT, 4: INT, 8: LONG, 16: INT128}
    return by_size.get(size) or BaseType(f"int{size * 8}_t", Encoding.SIGNED, size)
