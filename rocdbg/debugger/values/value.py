"""Typed values. A value knows its type and its location, if any, and reads its bytes on demand."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from rocdbg.debugger.base.errors import DebuggerError, ExpressionError
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value_storage import (
    Absence,
    AbsentError,
    Address,
    RememberedStorage,
    SnapshotStorage,
    Storage,
)
from rocdbg.dwarf.info.types import (
    ArrayType,
    BaseClass,
    BaseType,
    ClassType,
    EnumType,
    Member,
    MemberPointerType,
    PointerType,
    Type,
    UnspecifiedType,
    VectorType,
)

MAX_VALUE_SIZE = 1 << 26
"""The size in bytes of the largest value that is fetched whole (GDB's max-value-size, but larger)."""
MAX_SNAPSHOT_SIZE = 1 << 16
"""The size in bytes of the largest value whose availability is tracked byte by byte."""


class PlacedMember(Member, frozen=True, kw_only=True):
    """A member of one particular object, whose data is elsewhere or unavailable; ``make`` returns its value."""

    make: Callable[[], Value]


class PlacedBase(BaseClass, frozen=True, kw_only=True):
    """A base class of one particular object, whose data is elsewhere or unavailable; ``make`` returns its value."""

    make: Callable[[], Value]


class Value(Struct, frozen=True):
    """A typed value.

    ``storage`` and ``offset`` (in bytes) give its location; ``data`` holds the bytes of an rvalue, or bytes already
    fetched. ``bit_size`` is set for bit-fields, whose first bit is ``bit_offset`` above ``offset``. ``absence`` marks a
    value that is known to be unavailable. ``function`` is the name of the convenience function that this value
    represents. ``lanes`` marks a vector over lanes: it is the mask of lanes whose elements are meaningful, and is not
    needed to read the value.
    """

    type: Type
    storage: Storage | None = None
    offset: int = 0
    data: bytes | None = None
    bit_offset: int = 0
    bit_size: int | None = None
    absence: Absence | None = None
    function: str | None = None
    recovered: bool = False
    """Whether it was recovered from machine code, beyond debug information; its text then says so."""

    # -- making values

    @classmethod
    def of_int(cls, type_: Type, number: int) -> Value:
        """Return an integer, pointer, enum or bool value, wrapped to the type's width."""
        plain = type_.integer
        size = plain.size if plain is not None else c_types.size_of(type_)
        if size > MAX_VALUE_SIZE:
            raise DebuggerError(f"value requires {size} bytes, which is more than max-value-size")
        if plain.boolean if plain is not None else c_types.is_bool(type_):
            number = int(bool(number))
        return cls(type_, data=(number & ((1 << 8 * size) - 1)).to_bytes(size, "little"))

    @classmethod
    def of_float(cls, type_: Type, number: float) -> Value:
        """Return a floating value, rounded to the type."""
        return cls(type_, data=encode_float(type_, number))

    @classmethod
    def absent(cls, type_: Type, absence: Absence = Absence.OPTIMIZED_OUT) -> Value:
        """Return an unavailable value."""
        return cls(type_, absence=absence)

    # -- reading

    @property
    def size(self) -> int:
        """Size of the value in bytes, from its type."""
        return c_types.size_of(self.type)

    @property
    def bare(self) -> Type:
        """The type without typedefs and qualifiers."""
        return self.type.bare

    @property
    def is_lvalue(self) -> bool:
        """Whether it has a location (which may still refuse writes)."""
        return self.storage is not None

    @property
    def address(self) -> Address | None:
        """The value's address; ``None`` if it is not in memory."""
        if self.storage is None or self.bit_size is not None:
            return None
        base = self.storage.address
        return None if base is None else Address(base.space, base.value + self.offset)

    def contents(self) -> bytes:
        """Return the bytes. Raises `AbsentError` or `MemoryAccessError`."""
        if self.data is not None:
            return self.data
        if self.absence is not None:
            raise AbsentError(self.absence)
        plain = self.type.integer
        size = plain.size if plain is not None else self.size
        if size > MAX_VALUE_SIZE:
            raise DebuggerError(f"value requires {size} bytes, which is more than max-value-size")
        if self.storage is None:
            raise AbsentError(Absence.UNAVAILABLE)
        if self.bit_size is not None:
            return self._bit_field()
        return self.storage.read(self.offset, size)

    def _bit_field(self) -> bytes:
        assert self.storage is not None and self.bit_size is not None
        first = self.offset + self.bit_offset // 8
        shift = self.bit_offset % 8
        raw = self.storage.read(first, (shift + self.bit_size + 7) // 8)
        return self._widen(int.from_bytes(raw, "little") >> shift)

    def _widen(self, bits: int) -> bytes:
        assert self.bit_size is not None
        bits &= (1 << self.bit_size) - 1
        if self.bit_size and c_types.is_signed(self.type) and bits >> (self.bit_size - 1):
            bits -= 1 << self.bit_size
        return (bits & ((1 << 8 * self.size) - 1)).to_bytes(self.size, "little")

    def fetched(self) -> Value:
        """Return the same value with its bytes read, so that a history entry keeps what was shown."""
        if self.data is not None or self.absence is not None or self.function is not None:
            return self
        return replace(self, data=self.contents())

    def snapshot(self) -> Value:
        """Return `fetched`; for a partly available value, its available part. Raises `MemoryAccessError`."""
        try:
            fetched = self.fetched()
            has_bases = isinstance(self.bare, ClassType) and bool(self.bare.bases)
            if has_bases and fetched.data is not None and self.storage is not None:
                # virtual bases may be outside the object whose bases they are
                return replace(fetched, storage=RememberedStorage(self.storage, self.offset, fetched.data))
            return fetched
        except AbsentError:
            if self.storage is None or self.bit_size is not None or self.size > MAX_SNAPSHOT_SIZE:
                return self
            kept = SnapshotStorage.of(self.storage, self.offset, self.size)
            if len(kept.missing) == self.size:
                return Value.absent(self.type, next(iter(kept.missing.values())))
            return replace(self, storage=kept, offset=0)

    def with_contents(self, data: bytes) -> Value:
        """Return an rvalue of the same type."""
        return Value(self.type, data=data)

    def rvalue(self) -> Value:
        """Return the same value, detached from its location."""
        return Value(self.type, data=self.contents())

    def with_type(self, type_: Type) -> Value:
        """Return the same bytes seen as another type, which must not be larger."""
        if self.data is not None and self.storage is None:
            size = c_types.size_of(type_)
            return Value(type_, data=self.data[:size].ljust(size, b"\0"))
        return replace(self, type=type_, data=None)

    def as_int(self) -> int:
        """Return the number of an integral, bool, enum or pointer value; floats are truncated."""
        plain = self.type.integer
        data = self.contents()
        if plain is not None and len(data) == plain.size:
            return int.from_bytes(data, "little", signed=plain.signed)
        stripped = self.bare
        if c_types.is_float(stripped):
            number = decode_float(stripped, data)
            if not math.isfinite(number):
                raise ExpressionError("Cannot convert value to integer.")
            return int(number)
        if isinstance(stripped, BaseType | EnumType):
            number_bits = int.from_bytes(data, "big" if getattr(stripped, "big_endian", False) else "little")
            bits = 8 * len(data)
            if isinstance(stripped, BaseType) and stripped.bit_size and stripped.bit_size < bits:
                number_bits = (number_bits >> stripped.bit_offset) & ((1 << stripped.bit_size) - 1)
                bits = stripped.bit_size
            if c_types.is_signed(stripped) and bits and number_bits >> (bits - 1):
                number_bits -= 1 << bits
            return number_bits
        if isinstance(stripped, PointerType | MemberPointerType | UnspecifiedType):
            return int.from_bytes(data, "little")
        raise ExpressionError("Value can't be converted to integer.")

    def as_float(self) -> float:
        """Return the number as a Python float."""
        stripped = self.bare
        if c_types.is_float(stripped):
            return decode_float(stripped, self.contents())
        return float(self.as_int())

    def is_true(self) -> bool:
        """Whether it counts as true in a condition; a pointer does unless it is its address space's null pointer."""
        if self.type.integer is not None:
            return any(self.contents())
        stripped = self.bare
        if c_types.is_float(stripped):
            return self.as_float() != 0
        if c_types.is_scalar(stripped):
            return self.as_int() != c_types.null_number(stripped)
        if isinstance(stripped, ArrayType):
            return True
        if isinstance(stripped, VectorType | ClassType):
            return any(self.contents())
        if c_types.is_void(stripped):
            return False
        raise ExpressionError("Attempt to take contents of a non-pointer value.")

    # -- parts

    def part(self, type_: Type, offset: int) -> Value:
        """Return the value of ``type_`` that begins ``offset`` bytes into this one."""
        if self.absence is not None:
            return Value(type_, absence=self.absence)
        size = type_.size or 0
        data = self.data[offset : offset + size] if self.data is not None else None
        if data is not None and len(data) < size and self.storage is not None:
            data = None  # a virtual base may be after the class whose base it is
        return Value(type_, self.storage, self.offset + offset, data)

    def field(self, member: Member) -> Value:
        """Return a data member of this class value."""
        if self.absence is not None:
            return Value(member.type, absence=self.absence)
        if member.bit_offset is None:
            raise ExpressionError(f"The offset of member {member.name} is not a constant.")
        if isinstance(member, PlacedMember):
            return member.make()
        if member.bit_size is None:
            return self.part(member.type, member.bit_offset // 8)
        size = c_types.size_of(member.type)
        value = Value(
            member.type, self.storage, self.offset, None, member.bit_offset, member.bit_size
        )
        if self.data is not None:
            bits = int.from_bytes(self.data, "little") >> member.bit_offset
            value = replace(value, data=value._widen(bits)[:size])
        return value

    def base(self, base: BaseClass) -> Value:
        """Return a base class of this class value. Its ``byte_offset`` must be known."""
        if self.absence is None and isinstance(base, PlacedBase):
            return base.make()
        assert base.byte_offset is not None
        return self.part(base.type, base.byte_offset)

    def elements(self) -> tuple[Type, int, int]:
        """Return the element type, the number of elements and the stride in bytes of an array or vector."""
        stripped = self.bare
        if isinstance(stripped, VectorType):
            return stripped.element, stripped.count, c_types.size_of(stripped.element)
        if isinstance(stripped, ArrayType):
            count = stripped.count if isinstance(stripped.count, int) else 0
            stride = stripped.byte_stride if isinstance(stripped.byte_stride, int) else None
            return stripped.element, count, stride if stride is not None else c_types.size_of(stripped.element)
        raise ExpressionError("not an array")

    def element(self, index: int) -> Value:
        """Return element ``index``, counted from 0, of an array or vector; it may lie beyond the end."""
        type_, count, stride = self.elements()
        if self.data is not None and not 0 <= index < count:
            if self.storage is None:
                raise ExpressionError("no such vector element")
            return Value(type_, self.storage, self.offset + index * stride)
        return self.part(type_, index * stride)

    def each_element(self) -> Iterator[Value]:
        """Yield the elements of an array or vector."""
        for index in range(self.elements()[1]):
            yield self.element(index)

    def find_member(self, name: str) -> Value | None:
        """Return a member by name, also of anonymous members and base classes; ``None`` if there is none."""
        stripped = self.bare
        if not isinstance(stripped, ClassType):
            return None
        for member in stripped.members:
            if member.name == name:
                return self.field(member)
        for member in stripped.members:
            if not member.name:
                found = self.field(member).find_member(name)
                if found is not None:
                    return found
        for base in stripped.bases:
            if base.byte_offset is not None:
                found = self.base(base).find_member(name)
                if found is not None:
                    return found
        return None

    # -- writing

    def store(self, data: bytes) -> Value:
        """Write ``data`` to this value's location; return the value as read back."""
        if self.absence is not None:
            raise AbsentError(self.absence)
        if self.storage is None:
            raise ExpressionError("Left operand of assignment is not an lvalue.")
        if self.bit_size is not None:
            first = self.offset + self.bit_offset // 8
            shift = self.bit_offset % 8
            size = (shift + self.bit_size + 7) // 8
            mask = ((1 << self.bit_size) - 1) << shift
            old = int.from_bytes(self.storage.read(first, size), "little")
            new = int.from_bytes(data, "little") << shift
            self.storage.write(first, ((old & ~mask) | (new & mask)).to_bytes(size, "little"))
        else:
            self.storage.write(self.offset, data)
        return replace(self, data=None)


def decode_float(type_: Type, data: bytes) -> float:
    """Return the number in the bytes of a 2-, 4- or 8-byte float of this type."""
    size = len(data)
    if size == 2:
        if c_types.is_bfloat(type_):
            return float(struct.unpack("<f", b"\0\0" + data)[0])
        return float(struct.unpack("<e", data)[0])
    if size == 4:
        return float(struct.unpack("<f", data)[0])
    if size == 8:
        return float(struct.unpack("<d", data)[0])
    raise ExpressionError(f"Floating-point numbers of {size} bytes are not supported.")


def encode_float(type_: Type, number: float) -> bytes:
    """Return the bytes of the nearest float of this type; ties go to even, and overflow gives infinity."""
    size = c_types.size_of(type_)
    if size == 2 and c_types.is_bfloat(type_):
        bits = int.from_bytes(_pack("<f", number), "little")
        if math.isnan(number):
            return ((bits >> 16) | 0x40).to_bytes(2, "little")
        bits += 0x7FFF + ((bits >> 16) & 1)
        return (bits >> 16).to_bytes(2, "little")
    formats = {2: "<e", 4: "<f", 8: "<d"}
    if size not in formats:
        raise ExpressionError(f"Floating-point numbers of {size} bytes are not supported.")
    return _pack(formats[size], number)


def _pack(code: str, number: float) -> bytes:
    try:
        return struct.pack(code, number)
    except OverflowError:
        return struct.pack(code, math.copysign(math.inf, number))
