"""Text of values as GDB prints them."""

from __future__ import annotations

from rocdbg import work
from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.appearance import Appearance
from rocdbg.debugger.values.class_text import ClassText, try_fetch
from rocdbg.debugger.values.format_letters import PLAIN, Format
from rocdbg.debugger.values.number_text import format_string
from rocdbg.debugger.values.scalar_text import format_base, format_enum, format_flags, format_letter
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_storage import Absence, AbsentError
from rocdbg.dwarf.info.types import (
    ArrayType,
    BaseType,
    ClassType,
    EnumType,
    FlagsType,
    FunctionType,
    MemberPointerType,
    Method,
    PointerKind,
    PointerType,
    Type,
    UnspecifiedType,
    VectorType,
    VoidType,
)
from rocdbg.errors import Error

_MOST_VALUES = 50_000
"""The maximum number of nested values in one text: arrays of arrays of structures have many values in few bytes."""
_DEEPEST = 100


class Formatter(Appearance):
    """Formats values."""

    def format(self, value: Value, fmt: Format = PLAIN) -> str:
        """Return the text that ``print`` shows. Raises `MemoryAccessError` if the value cannot be read."""
        return _Writer(self, fmt).top(value) + _mark(value)

    def format_nested(self, value: Value, fmt: Format = PLAIN) -> str:
        """Return the text of a value as a member or argument: pointers without their type."""
        return _Writer(self, fmt).value(value, 0) + _mark(value)


_TEXT_NAMES = ("char", "wchar_t", "char16_t", "char32_t")


def _is_text_name(type_: Type) -> bool:
    """Whether, for these characters, a string in quotes is enough and the type of the pointer need not be shown."""
    return getattr(type_.strip_qualifiers(), "name", None) in _TEXT_NAMES


def _mark(value: Value) -> str:
    return " <recovered>" if value.recovered else ""


class _Writer(ClassText):
    """One formatting operation, for a value and all its parts."""

    # -- top level

    def top(self, value: Value) -> str:
        """Return the text of a value; pointers, references and functions that have a value are preceded by their type.
        """
        stripped = value.bare
        if isinstance(stripped, PointerType) and value.absence is None:
            try:
                value = value.fetched()
            except AbsentError as error:
                if error.absence is not Absence.SYNTHETIC_POINTER:
                    return self.value(value, 0)
        if value.absence is None and not self.letter:
            pretty = self._pretty(value, 0)
            if pretty is not None:
                return pretty
            if isinstance(stripped, PointerType) and stripped.kind is PointerKind.POINTER:
                named = isinstance(value.type.strip_qualifiers(), PointerType)
                if not (_is_text_name(stripped.target) and named):
                    value = self._real(value)
                    return f"({value.type}) {self.value(value, 0)}{self._hidden(value, stripped)}"
            elif isinstance(stripped, PointerType):
                value = self._real(value)
                return f"({value.type}) {self.value(value, 0)}"
            elif isinstance(stripped, ClassType) and self.settings.object:
                whole = self.formatter.whole(value)
                if whole is not None:
                    return f"({whole.type}) {self.value(whole, 0)}"
        if (
            value.absence is None
            and self.letter
            and isinstance(stripped, PointerType)
            and stripped.kind is not PointerKind.POINTER
        ):
            return f"({value.type}) {self.value(value, 0)}"
        return self.value(value, 0)

    def _hidden(self, value: Value, pointer: PointerType) -> str:
        """Return the description of an OpenCL image or similar object that follows the pointer to it."""
        target = pointer.target.strip_typedefs()
        if not isinstance(target, ClassType) or not (target.name or "").startswith("opencl_"):
            return ""
        text = self.formatter.described(target.name or "", pointer.address_class or 0, value.as_int())
        return f" <{text}>" if text is not None else ""

    def _real(self, value: Value) -> Value:
        """Return a pointer or reference with the object's dynamic type, if enabled and known."""
        return (self.formatter.whole(value) if self.settings.object else None) or value

    # -- any value

    def value(self, value: Value, depth: int) -> str:
        """Return the text of a value that is a part of another."""
        self.shown += 1
        if self.shown > _MOST_VALUES or depth > _DEEPEST:
            return "..."
        if value.function is not None:
            return f"<internal function {value.function}>"
        if value.absence is not None:
            return value.absence.value
        try:
            pretty = self._pretty(value, depth)
            if pretty is not None:
                return pretty
            return self._plain(value, depth)
        except AbsentError as error:
            return error.absence.value

    def _plain(self, value: Value, depth: int) -> str:
        stripped = value.bare
        if isinstance(stripped, VoidType):
            return "void"
        if isinstance(stripped, FunctionType):
            return self._function(value)
        if isinstance(stripped, ClassType):
            return self._class(value, depth)
        if isinstance(stripped, ArrayType | VectorType):
            return self._array(value, depth)
        if isinstance(stripped, PointerType) and stripped.kind is not PointerKind.POINTER:
            return self._reference(value, stripped, depth)
        if self.letter and isinstance(stripped, MemberPointerType) and isinstance(stripped.target.bare, FunctionType):
            if self.letter in ("a", "c"):
                raise ExpressionError("Value can't be converted to integer.")
            if self.letter == "x":
                return self._member_pointer(value, stripped)
        if self.letter:
            return format_letter(
                value, self.letter, self.fmt.size, self.formatter.place, self.settings.nibbles
            )
        if isinstance(stripped, PointerType):
            return self._pointer(value, stripped)
        if isinstance(stripped, FlagsType):
            return format_flags(value, stripped)
        if self.fmt.radix and isinstance(stripped, BaseType) and c_types.is_integral(stripped):
            return format_letter(value, self.fmt.radix, "", self.formatter.place, self.settings.nibbles)
        if isinstance(stripped, EnumType):
            return format_enum(value)
        if isinstance(stripped, MemberPointerType):
            return self._member_pointer(value, stripped)
        if isinstance(stripped, BaseType):
            return format_base(value, stripped)
        if isinstance(stripped, UnspecifiedType):
            if c_types.is_null_type(stripped):
                return "0"
            return f"{value.as_int():#x}" if stripped.size else "<unspecified>"
        raise ExpressionError(f"Values of type {value.type} cannot be shown.")

    # -- pointers, references, functions

    def _pointer(self, value: Value, type_: PointerType) -> str:
        number = value.as_int()
        target = type_.target.strip_typedefs()
        space = type_.address_class or 0
        is_string = self.strings and c_types.is_char(type_.target)
        symbol = self.settings.symbol or isinstance(target, FunctionType)
        text = self.formatter.pointer(space, number, symbol)
        if is_string and (number or space not in (0, 1)):
            return f"{text} {self._string_at(space, number, type_.target)}".lstrip()
        return text

    def _string_at(self, space: int, address: int, element: Type) -> str:
        memory = self.formatter.memory
        if memory is None:
            return "<no memory>"
        size = c_types.size_of(element)
        limit = (self.settings.elements or 1 << 16) * size
        data = bytearray()
        end = -1
        chunk = 16
        while len(data) < limit and end < 0:
            work.unit()
            try:
                data += memory.read(space, address + len(data), min(chunk, limit - len(data)))
            except Error as error:
                if chunk == size:
                    if data:
                        break
                    return f"<error: {error}>"
                chunk = size
            end = data.find(0) if size == 1 else next(
                (at for at in range(0, len(data) - size + 1, size) if not any(data[at : at + size])), -1
            )
        body = bytes(data if end < 0 else data[:end])
        text = format_string(body, element, self.settings, truncated=False)
        return text + "..." if end < 0 and len(data) >= limit and self._goes_on(space, address + limit, size) else text

    def _goes_on(self, space: int, address: int, size: int) -> bool:
        """Whether the string continues here, with a character that is not a null."""
        assert self.formatter.memory is not None
        try:
            return any(self.formatter.memory.read(space, address, size))
        except Error:
            return True

    def _reference(self, value: Value, type_: PointerType, depth: int) -> str:
        space = type_.address_class or 0
        text = "@" + self.formatter.address(space, value.as_int()) if self.settings.address else ""
        if self.formatter.memory is None or depth > 0:
            return text
        referred = self.formatter.at_address(type_.target, space, value.as_int())
        try:
            shown = self.value(referred, depth)
        except Error as error:
            return f"<error reading variable: {error}>"
        return f"{text}: {shown}" if text else shown

    def _function(self, value: Value) -> str:
        address = value.address
        number = address.value if address else 0
        if self.letter in ("a", "c"):
            raise ExpressionError("Value can't be converted to integer.")
        if self.letter and value.storage is not None:  # as in GDB, the first byte of the function's code
            byte = Value(c_types.UNSIGNED_CHAR, value.storage, value.offset)
            return format_letter(byte, self.letter, "", self.formatter.address)
        bare = value.bare
        unknown = isinstance(bare, FunctionType) and isinstance(bare.return_type, UnspecifiedType)
        type_ = value.type if unknown else value.type.strip_typedefs()  # a type that is not known has only a title
        return f"{{{type_}}} {self.formatter.pointer(0, number, symbol=True)}"

    def _member_pointer(self, value: Value, type_: MemberPointerType) -> str:
        number = int.from_bytes(value.contents()[:8], "little", signed=True)
        containing = self.formatter.complete(type_.containing.strip_typedefs())
        if isinstance(type_.target.strip_typedefs(), FunctionType):
            if number == 0:
                return "NULL"
            method = virtual_method(containing, number)
            if method is not None:
                return f"&virtual {method}"
            return f"({type_}) {self.formatter.pointer(0, number, symbol=True)}"
        if number == -1:
            return "NULL"
        return member_at(containing, number) or str(number)

    # -- aggregates

    def _array(self, value: Value, depth: int) -> str:
        stripped = value.bare
        element, count, _ = value.elements()
        if isinstance(stripped, ArrayType) and not isinstance(stripped.count, int | None):
            return "<variable length array>"
        address = value.address
        if isinstance(stripped, ArrayType) and stripped.count is None and address is not None:
            return self.formatter.pointer(address.space, address.value, symbol=True)  # a flexible array member
        if 0 <= self.settings.max_depth <= depth - self.unnamed and not self._is_text(stripped, element):
            return "{...}"
        value = try_fetch(value)
        if self._is_text(stripped, element) and count:
            return format_string(value.contents(), element, self.settings, truncated=True)
        lower = 0
        if isinstance(stripped, ArrayType) and isinstance(stripped.lower_bound, int):
            lower = stripped.lower_bound
        parts, more = self._elements(value, count, lower, depth)
        text = ", ".join(parts)
        if self.settings.array and isinstance(stripped, ArrayType):
            pad = "  " * (depth + 1)
            text = "\n" + ",\n".join(pad + part for part in parts)
            return "{" + text + ("..." if more else "") + "\n" + "  " * depth + "}"
        return "{" + text + ("..." if more else "") + "}"

    def _is_text(self, type_: Type, element: Type) -> bool:
        return self.strings and isinstance(type_, ArrayType | VectorType) and c_types.is_char(element)

    def _elements(self, value: Value, count: int, lower: int, depth: int) -> tuple[list[str], bool]:
        """Return the elements as text, with runs folded, and whether the limit left some out."""
        limit = self.settings.elements
        threshold = self.settings.repeats
        parts: list[str] = []
        shown = index = 0
        while index < count:
            work.unit()
            if (limit and shown >= limit) or self.shown > _MOST_VALUES:
                return parts, True
            run = run_length(value, index, count)
            text = self.value(value.element(index), depth + 1)
            prefix = f"[{lower + index}] = " if self.settings.array_indexes else ""
            if threshold and run > threshold:
                parts.append(f"{prefix}{text} <repeats {run} times>")
                index += run
                shown += threshold
            else:
                parts.append(prefix + text)
                index += 1
                shown += 1
        return parts, False

    # -- pretty-printers

    def _pretty(self, value: Value, depth: int) -> str | None:
        printers = self.formatter.printers
        if printers is None or self.fmt.raw or self.settings.raw_values:
            return None
        result = printers(value)
        if result is None:
            return None
        if isinstance(result, str) or not result.children:
            # A format letter does not apply to a printer's text: with a letter, the plain value is shown.
            text = result if isinstance(result, str) else result.text or "{}"
            return None if self.letter else text
        if 0 <= self.settings.max_depth <= depth - self.unnamed:
            return "{...}"
        named = result.hint != "array"
        parts = [
            (f"{name} = " if named else "") + self.value(child, depth + 1) for name, child in result.children
        ]
        body = self._braced(parts, depth)
        return f"{result.text} = {body}" if result.text else body


# Targets of C++ pointers to members, by name.


def member_at(class_: Type, offset: int) -> str | None:
    """Return ``&Class::member`` for the data member at an offset in a class or its base; ``None`` if there is none."""
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
    """Return the signature of the virtual method that a pointer to member function (Itanium ABI) selects.

    Such a pointer is one more than the byte offset of the method's slot in the virtual table. Return ``None`` for any
    other pointer.
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
    """Return the signature of a method: ``Class::method(int) const``."""
    const = " const" if method.is_const else ""
    parameters = method.type.parameter_list(without_this=True)
    return f"{class_}::{method.name}({'' if parameters == 'void' else parameters}){const}"


# Runs of equal elements in an array, which are shown once.
_LONGEST_RUN = 10_000
"""How many elements of a partly available array are compared, each with the previous one."""


def run_length(value: Value, start: int, count: int) -> int:
    """Count the elements from ``start`` on that are equal (all absent elements count as equal)."""
    _, _, stride = value.elements()
    if stride == 0:
        return count - start
    if value.data is not None:
        return _repeats(value.data, start, count, stride)
    key = _key(value.element(start))
    end = start + 1
    stop = min(count, start + _LONGEST_RUN)
    while end < stop and _key(value.element(end)) == key:
        end += 1
    return end - start


def _repeats(data: bytes, start: int, count: int, stride: int) -> int:
    """Count the elements of ``stride`` bytes from ``start`` on that are equal."""
    first = data[start * stride : (start + 1) * stride]
    end, step = start + 1, 1
    while end < count and step:
        step = min(step, count - end)
        if data[end * stride : (end + step) * stride] == first * step:
            end += step
            step *= 2
        else:
            step //= 2
    return end - start


def _key(value: Value) -> object:
    try:
        return value.contents()
    except AbsentError as error:
        return error.absence
