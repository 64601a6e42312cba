"""Text of values as GDB prints them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from rocdbg.arch.address_spaces import address_space
from rocdbg.debugger.errors import ExpressionError
from rocdbg.debugger.settings import PrintSettings
from rocdbg.debugger.values import ctypes
from rocdbg.debugger.values.format import PLAIN, Format
from rocdbg.debugger.values.numbers import format_string
from rocdbg.debugger.values.pretty import PrettyPrinter
from rocdbg.debugger.values.runs import run_length
from rocdbg.debugger.values.scalars import format_base, format_enum, format_letter
from rocdbg.debugger.values.storage import Absence, AbsentError, Memory, MemoryStorage
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import (
    ArrayType,
    BaseType,
    ClassKind,
    ClassType,
    EnumType,
    FunctionType,
    Member,
    MemberPointerType,
    PointerKind,
    PointerType,
    StaticMember,
    Type,
    UnspecifiedType,
    VectorType,
    VoidType,
)
from rocdbg.errors import Error

_MOST_VALUES = 50_000
"""Values in each other that one text shows: arrays of arrays of structures have many with few bytes."""
_DEEPEST = 100


class Symbolizer(Protocol):
    """Names for addresses."""

    def symbolize(self, address: int, data: bool = True) -> str | None:
        """``fn+12`` for an address of code, or of data when ``data``; ``None`` when nothing is there."""


class Formatter(Struct):
    """Formats values. ``printers`` is asked for each value before the built-in rules."""

    settings: PrintSettings = field(default_factory=PrintSettings)
    symbols: Symbolizer | None = None
    memory: Memory | None = None
    printers: PrettyPrinter | None = None
    complete: Callable[[Type], Type] = lambda type_: type_
    static_member: Callable[[ClassType, str], Value | None] = lambda type_, name: None

    def format(self, value: Value, fmt: Format = PLAIN) -> str:
        """The text ``print`` shows. Raises `MemoryAccessError` when the value cannot be read."""
        return _Writer(self, fmt).top(value)

    def format_nested(self, value: Value, fmt: Format = PLAIN) -> str:
        """The text of a value as a member or argument: pointers without their type."""
        return _Writer(self, fmt).value(value, 0)

    def address(self, space: int, address: int, symbol: bool = False) -> str:
        """An address as text: ``0x...`` or ``local#0x10``, with ``<symbol+offset>`` where asked."""
        prefix = "" if space == 0 else address_space(space).name + "#"
        text = f"{prefix}{address:#x}"
        if symbol and space in (0, 1) and self.settings.symbol and self.symbols is not None:
            name = self.symbols.symbolize(address)
            if name is not None:
                text += f" <{name}>"
        return text


class _Writer:
    """One formatting: what holds for a value and all its parts."""

    def __init__(self, formatter: Formatter, fmt: Format) -> None:
        self.formatter = formatter
        self.settings = formatter.settings
        self.fmt = fmt
        self.letter = fmt.letter if fmt.letter != "s" else ""
        self.strings = not self.letter
        self.shown = 0

    # -- top level

    def top(self, value: Value) -> str:
        """With the type before pointers, references and functions that have a value."""
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
                target = stripped.target.strip_typedefs()
                named = isinstance(value.type.strip_qualifiers(), PointerType)
                if not (ctypes.is_char(target) and ctypes.size_of(target) == 1 and named):
                    return f"({value.type}) {self.value(value, 0)}"
            elif isinstance(stripped, PointerType):
                return f"({value.type}) {self.value(value, 0)}"
        if (
            value.absence is None
            and self.letter
            and isinstance(stripped, PointerType)
            and stripped.kind is not PointerKind.POINTER
        ):
            return f"({value.type}) {self.value(value, 0)}"
        return self.value(value, 0)

    # -- any value

    def value(self, value: Value, depth: int) -> str:
        """A value as a part of something."""
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
        if self.letter:
            return format_letter(value, self.letter, self.fmt.size, self.formatter.address)
        if isinstance(stripped, PointerType):
            return self._pointer(value, stripped)
        if isinstance(stripped, EnumType):
            return format_enum(value)
        if isinstance(stripped, MemberPointerType):
            return self._member_pointer(value, stripped)
        if isinstance(stripped, BaseType):
            return format_base(value, stripped)
        if isinstance(stripped, UnspecifiedType):
            return f"{value.as_int():#x}" if stripped.size else "<unspecified>"
        raise ExpressionError(f"Values of type {value.type} cannot be shown.")

    # -- pointers, references, functions

    def _pointer(self, value: Value, type_: PointerType) -> str:
        number = value.as_int()
        target = type_.target.strip_typedefs()
        space = type_.address_class or 0
        text = self.formatter.address(space, number, symbol=True)
        if self.strings and ctypes.is_char(target) and ctypes.size_of(target) == 1:
            if number == 0 and space in (0, 1):
                return text
            return f"{text} {self._string_at(space, number, target)}"
        return text

    def _string_at(self, space: int, address: int, element: Type) -> str:
        memory = self.formatter.memory
        if memory is None:
            return "<no memory>"
        limit = self.settings.elements or 1 << 16
        data = bytearray()
        chunk = 16
        while len(data) < limit and 0 not in data:
            try:
                data += memory.read(space, address + len(data), min(chunk, limit - len(data)))
            except Error as error:
                if chunk == 1:
                    if data:
                        break
                    return f"<error: {error}>"
                chunk = 1
        end = data.find(0)
        body = bytes(data if end < 0 else data[:end])
        text = format_string(body, element, self.settings, truncated=False)
        return text + "..." if end < 0 and len(data) >= limit else text

    def _reference(self, value: Value, type_: PointerType, depth: int) -> str:
        space = type_.address_class or 0
        text = "@" + self.formatter.address(space, value.as_int())
        nested_class = depth > 0 and isinstance(type_.target.strip_typedefs(), ClassType)
        if self.formatter.memory is None or nested_class:
            return text
        target = self.formatter.complete(type_.target)
        referred = Value(target, MemoryStorage(self.formatter.memory, space, value.as_int()))
        return f"{text}: {self.value(referred, depth + 1)}"

    def _function(self, value: Value) -> str:
        address = value.address
        number = address.value if address else 0
        if self.letter:
            raise ExpressionError("Value can't be converted to integer.")
        return f"{{{value.type}}} {self.formatter.address(0, number, symbol=True)}"

    def _member_pointer(self, value: Value, type_: MemberPointerType) -> str:
        number = int.from_bytes(value.contents()[:8], "little", signed=True)
        if isinstance(type_.target.strip_typedefs(), FunctionType):
            return f"({value.type}) {self.formatter.address(0, number, symbol=True)}"
        containing = type_.containing.strip_typedefs()
        if number == -1:
            return "NULL"
        if isinstance(containing, ClassType):
            for member in containing.members:
                if member.bit_offset == number * 8 and member.name:
                    return f"&{containing}::{member.name}"
        return str(number)

    # -- aggregates

    def _class(self, value: Value, depth: int) -> str:
        complete = self.formatter.complete(value.bare)
        if complete is not value.bare:
            value = replace(value, type=complete, data=None) if value.storage is not None else value
        type_ = value.bare
        assert isinstance(type_, ClassType)
        if type_.byte_size is None or type_.is_declaration:
            return "<incomplete type>"
        if depth and type_.kind is ClassKind.UNION and not self.settings.union:
            return "{...}"
        if 0 <= self.settings.max_depth <= depth:
            return "{...}"
        value = _try_fetch(value)
        parts: list[str] = []
        for base in type_.bases:
            if base.byte_offset is not None:
                text = self.value(value.part(base.type, base.byte_offset), depth + 1)
                parts.append(f"<{base.type}> = {text}")
        statics = type_.static_members if self.settings.static_members else ()
        own: list[Member | StaticMember] = [*type_.members, *statics]
        for member in sorted(own, key=lambda member: member.offset or 0):
            if isinstance(member, StaticMember):
                found = self.formatter.static_member(type_, member.name)
                text = self.value(found, depth + 1) if found is not None else "<optimized out>"
                parts.append(f"static {member.name} = {text}")
                continue
            text = self.value(value.field(member), depth + 1)
            parts.append(f"{member.name} = {text}" if member.name else text)
        if not parts:
            return "{<No data fields>}"
        after = len(type_.bases) if type_.members else 0
        return self._braced(parts, depth, members_after=after, name=str(type_))

    def _braced(self, parts: list[str], depth: int, members_after: int = 0, name: str = "") -> str:
        if not self.settings.pretty:
            return "{" + ", ".join(parts) + "}"
        inner = "  " * (depth + 1)
        lines = []
        for index, part in enumerate(parts):
            last = index == len(parts) - 1
            separator = "" if last else (", " if index < members_after else ",")
            if members_after and index == members_after:
                lines.append(f"{inner}members of {name}:")
            lines.append(f"{inner}{part}{separator}")
        return "{\n" + "\n".join(lines) + "\n" + "  " * depth + "}"

    def _array(self, value: Value, depth: int) -> str:
        stripped = value.bare
        element, count, _ = value.elements()
        if isinstance(stripped, ArrayType) and not isinstance(stripped.count, int | None):
            return "<variable length array>"
        address = value.address
        if isinstance(stripped, ArrayType) and stripped.count is None and address is not None:
            return self.formatter.address(address.space, address.value, symbol=True)  # a flexible array member
        if 0 <= self.settings.max_depth <= depth:
            return "{...}"
        value = _try_fetch(value)
        if self.strings and isinstance(stripped, ArrayType) and ctypes.is_char(element) and count:
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

    def _elements(self, value: Value, count: int, lower: int, depth: int) -> tuple[list[str], bool]:
        """Elements as text with runs folded, and whether the limit left some out."""
        limit = self.settings.elements
        threshold = self.settings.repeats
        parts: list[str] = []
        shown = index = 0
        while index < count:
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
            # a text knows no format letter: with one, the value is shown as it is
            text = result if isinstance(result, str) else result.text or "{}"
            return None if self.letter else text
        if 0 <= self.settings.max_depth <= depth:
            return "{...}"
        named = result.hint != "array"
        parts = [
            (f"{name} = " if named else "") + self.value(child, depth + 1) for name, child in result.children
        ]
        body = self._braced(parts, depth)
        return f"{result.text} = {body}" if result.text else body


def _try_fetch(value: Value) -> Value:
    """The value with its bytes read at once where all of them are there; else its parts are read singly."""
    try:
        return value.fetched()
    except AbsentError:
        return value
