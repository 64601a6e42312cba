"""The arguments of a called function in one lane: words in registers and on the stack, and the contents of memory.

The memory is the lane's own private memory, at offsets from the beginning of the room for the call. It holds copies of
structures that are passed in memory, copies of values that have no address but are passed by reference, and room for a
result that is returned in memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.debugger.base.errors import DebuggerError, ExpressionError
from rocdbg.debugger.expr.casting import aggregate_cast, cast, is_reinterpreted, reinterpreted
from rocdbg.debugger.expr.class_casts import base_part, cast_pointer
from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.expr.operators import convert
from rocdbg.debugger.expr.overload_resolution import Callee
from rocdbg.debugger.expr.value_access import decay, placed
from rocdbg.debugger.frames.calling_convention import (
    ARGUMENT_REGISTERS,
    MAX_COUNTED,
    argument_words,
    in_memory,
    is_by_reference,
    registers_counted,
)
from rocdbg.debugger.frames.returned_values import returned_parts
from rocdbg.debugger.target.capabilities.target_state import Target
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import ArrayType, ClassType, PointerKind, PointerType, Type

_ALIGN = 16
_GENERIC_POINTER = 8


class Pointer(Struct, frozen=True):
    """A pointer into the call's memory: a private pointer of one word (4 bytes), or a generic one of two words (8)."""

    offset: int
    size: int


class LaneArguments(Struct):
    """What one lane passes. ``result`` is the offset in memory for the function's result; ``None``: not in memory."""

    environment: Environment
    size: int = 0
    """Bytes of memory that the lane needs."""
    result: int | None = None
    _items: list[bytes | Pointer] = field(default_factory=list)
    _copies: list[tuple[int, bytes]] = field(default_factory=list)
    _origins: list[tuple[int, Value]] = field(default_factory=list)

    def reserve(self, size: int) -> int:
        """Reserve ``size`` bytes of memory, and return their offset."""
        offset = -(-self.size // _ALIGN) * _ALIGN
        self.size = offset + size
        return offset

    def copy(self, data: bytes, origin: Value | None = None) -> int:
        """Store a copy, and return its offset. The function's changes to it go back to ``origin`` if that has a place.
        """
        offset = self.reserve(len(data))
        self._copies.append((offset, data))
        if origin is not None and origin.storage is not None:
            self._origins.append((offset, origin))
        return offset

    def push(self, item: bytes | Pointer) -> None:
        """Append a word, or a pointer, to the arguments."""
        self._items.append(item)

    def memory(self, base: int) -> list[tuple[int, bytes]]:
        """Return the contents that memory must have before the function starts, by offset."""
        return self._copies

    def words(self, base: int) -> tuple[list[bytes], list[bytes]]:
        """Return the words in registers from v0 on, and those on the stack; ``base`` is where the memory begins."""
        words: list[bytes] = []
        for item in self._items:
            if isinstance(item, bytes):
                words.append(item)
            else:
                address = self._address(base + item.offset, item.size)
                words += [address[at : at + 4] for at in range(0, item.size, 4)]
        return words[:ARGUMENT_REGISTERS], words[ARGUMENT_REGISTERS:]

    def _address(self, offset: int, size: int) -> bytes:
        address = offset
        if size == _GENERIC_POINTER:
            generic = self.environment.memory.generic_address(AddressSpace.PRIVATE_LANE, offset)
            if generic is None:
                raise DebuggerError("Private memory has no generic addresses on this target.")
            address = generic
        return address.to_bytes(size, "little")

    def changed(self, target: Target, thread: int, lane: int, base: int) -> list[tuple[Value, bytes]]:
        """Return the origins of the copies that the function has changed, with the new bytes."""
        found = []
        for offset, origin in self._origins:
            before = next(data for at, data in self._copies if at == offset)
            now = target.read_memory(AddressSpace.PRIVATE_LANE, base + offset, len(before), thread, lane)
            if now != before:
                found.append((origin, now))
        return found


class Arguments(Struct):
    """Converts the arguments of one lane; ``by_reference``: the class that the function returns cannot be copied."""

    callee: Callee
    by_reference: bool
    environment: Environment

    def plan(self, values: Sequence[Value]) -> LaneArguments:
        """Plan where the values go. Raises `ExpressionError` for a value that cannot be converted to a parameter's
        type.
        """
        plan = LaneArguments(self.environment)
        left = MAX_COUNTED
        result = self.callee.return_type
        if not c_types.is_void(result) and returned_parts(result, self.by_reference) is None:
            plan.result = plan.reserve(c_types.size_of(result))
            plan.push(Pointer(plan.result, 4))
        parameters = self.callee.parameters
        if len(values) < len(parameters):
            raise ExpressionError("Too few arguments in function call.")
        if self.callee.is_variadic:
            raise ExpressionError(f"{self.callee.name} takes a variable number of arguments: it cannot be called.")
        for index, value in enumerate(values):
            type_ = parameters[index] if index < len(parameters) else _promoted(value)
            bare = type_.bare
            if isinstance(bare, PointerType) and bare.kind is not PointerKind.POINTER:
                self._reference(plan, value, bare)
                left -= min(left, 2)
                continue
            if isinstance(bare, PointerType) and value.address is None and (
                isinstance(value.bare, ArrayType) or (index == 0 and isinstance(value.bare, ClassType))
            ):
                # a string literal; the object of a method
                plan.push(Pointer(plan.copy(value.contents(), value), c_types.size_of(type_)))
                left -= min(left, 2)
                continue
            data = self._converted(type_, value)
            if self._is_by_reference(bare) or in_memory(type_, left):
                plan.push(Pointer(plan.copy(data), 4))
                continue
            left -= min(left, registers_counted(type_))
            for word in argument_words(type_, data):
                plan.push(word)
        return plan

    def _converted(self, type_: Type, value: Value) -> bytes:
        """Return an argument, converted to the parameter's type, as bytes."""
        bare = type_.bare
        if isinstance(bare, ClassType):
            if not isinstance(value.bare, ClassType):
                raise ExpressionError("Invalid cast.")
            return self._as_class(type_, value).contents()
        if isinstance(bare, ArrayType):
            return value.contents()
        if is_reinterpreted(type_, value):
            return reinterpreted(type_, value, self.environment).contents()
        if isinstance(bare, PointerType):
            value = decay(value)
            if isinstance(value.bare, PointerType):
                value = cast_pointer(value, bare, self.environment)
        elif not c_types.is_scalar(type_):
            return convert(value, type_).contents()
        return cast(type_, decay(placed(value, self.environment)), self.environment, implicit=True).contents()

    def _reference(self, plan: LaneArguments, value: Value, type_: PointerType) -> None:
        """Pass the address of a value, or that of a copy if the value has no address."""
        size = c_types.size_of(type_)
        address = value.address
        if isinstance(type_.target.bare, ClassType) and isinstance(value.bare, ClassType):
            value = self._as_class(type_.target, value)
            address = value.address
        if address is not None:
            pointer = Value.of_int(c_types.pointer_to(value.type, address.space), address.value)
            wanted = PointerType(type_.target, PointerKind.POINTER, size, type_.address_class)
            data = cast(wanted, pointer, self.environment, implicit=True).contents()
            for at in range(0, size, 4):
                plan.push(data[at : at + 4])
            return
        if isinstance(type_.target.bare, ClassType) and value.size == c_types.size_of(type_.target) and not isinstance(
            value.bare, ClassType
        ):
            raise ExpressionError("Attempt to take address of value not located in memory.")
        data = value.contents() if isinstance(value.bare, ClassType) else self._converted(type_.target, value)
        plan.push(Pointer(plan.copy(data, value if len(data) == value.size else None), size))

    def _as_class(self, type_: Type, value: Value) -> Value:
        """Return an object as an object of the parameter's class, which may be a base of the object's class."""
        part = base_part(value, type_, self.environment)
        return part if part is not None else aggregate_cast(type_, value)

    def _is_by_reference(self, type_: Type) -> bool:
        """Whether a class is marked as not copyable byte by byte."""
        if not isinstance(type_, ClassType) or type_.offset is None:
            return False
        return is_by_reference(self.callee.program.info.die(type_.offset))


def _promoted(value: Value) -> Type:
    """Return the type in which an argument without a parameter is passed."""
    if isinstance(value.bare, ClassType | PointerType):
        return value.type
    if isinstance(value.bare, ArrayType):
        return decay(value).type
    if c_types.is_float(value.type):
        return c_types.DOUBLE if value.size < 8 else value.type
    return c_types.INT if value.size < 4 else value.type
