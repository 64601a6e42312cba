"""Types as text: ``whatis`` and ``ptype``."""

from __future__ import annotations

from rocdbg.debugger.base.engine_settings import Settings
from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.expr.dynamic_types import is_polymorphic
from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.expr.program_data import Data
from rocdbg.debugger.expr.value_access import follow
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.reports.struct_offsets import offset_lines
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_text import Formatter
from rocdbg.debugger.values.vector_types import is_opencl_type
from rocdbg.dwarf.info import describe
from rocdbg.dwarf.info.type_text import Shown
from rocdbg.dwarf.info.types import ClassType, Type, TypedefType


class Types:
    """Reports on types of expressions at the focus."""

    def __init__(self, inferior: Inferior, data: Data, settings: Settings) -> None:
        self._inferior = inferior
        self._settings = settings
        self._data = data

    def whatis(self, text: str, letters: str = "") -> str:
        """``whatis``: return the type's name; for the name of a type, one level of typedef is resolved."""
        self._flags(letters)
        if not text:
            return str(self._latest())
        namespace = self._data.environment().types.namespace(text)
        if namespace is not None:
            return namespace
        if self._is_of_opencl(text):
            return text
        type_, is_type_name = self._data.expression_type(text)
        if is_type_name and isinstance(type_, TypedefType):
            type_ = type_.target
        return ("" if is_type_name else self._real(text)) + str(type_)

    def ptype(self, text: str, letters: str = "") -> list[str]:
        """Return the lines of ``ptype``: ``type = struct S {`` etc.; with the letter ``o``, also offsets and sizes."""
        shown, offsets, hexadecimal = self._flags(letters)
        namespace = self._data.environment().types.namespace(text)
        if namespace is not None:
            return [f"type = namespace {namespace}"]
        if self._is_of_opencl(text):
            return [f"type = {text}"]
        type_, is_type_name = self._data.expression_type(text) if text else (self._latest(), False)
        real = "" if is_type_name or not text else self._real(text)
        complete = self._data.environment().types.complete
        if offsets:
            return offset_lines(complete(type_) if isinstance(type_, ClassType) else type_, hexadecimal, shown)
        lines = describe(type_, shown, complete)
        return f"type = {real}{lines[0]}".split("\n") + lines[1:]

    def virtual_tables(self, text: str) -> list[str]:
        """``info vtbl``. Raises `DebuggerError` for a value without virtual functions."""
        return table_lines(text, self._data)

    def _real(self, text: str) -> str:
        """Return a remark on the dynamic type of an expression's object; empty if it has none."""
        real = self._data.real_type(text)
        return "" if real is None else f"/* real type = {real} */\n"

    def _is_of_opencl(self, text: str) -> bool:
        """Whether a text names a built-in type of OpenCL; only a frame's own definition of the name hides it."""
        if self._data.language_name != "opencl" or not is_opencl_type(text):
            return False
        environment = self._data.environment()
        return environment.frame is None or environment.types.find(text, "") is None

    def _latest(self) -> Type:
        """Return the type of the last value in the history."""
        return self._data.latest().type

    def _flags(self, letters: str) -> tuple[Shown, bool, bool]:
        """Return which parts of classes are shown, whether offsets are shown, and whether in hexadecimal.

        Raises `DebuggerError` for a letter that GDB does not have.
        """
        own = self._settings.print
        methods, typedefs, hexadecimal = own.type_methods, own.type_typedefs, own.type_hex
        raw = offsets = False
        for letter in letters:
            if letter in "mM":
                methods = letter == "M"
            elif letter in "tT":
                typedefs = letter == "T"
            elif letter == "o":
                offsets, methods, typedefs = True, False, False
            elif letter in "xd":
                hexadecimal = letter == "x"
            elif letter == "r":
                raw = True
            else:
                raise DebuggerError(f"unrecognized flag '{letter}'")
        return Shown(methods, typedefs, raw, own.type_nested), offsets, hexadecimal


# `info vtbl`: the virtual functions of an object (Itanium C++ ABI, 2.5).
NO_TABLE = "This object does not have a virtual function table"
MOST_SLOTS = 1 << 16


def table_lines(text: str, data: Data) -> list[str]:
    """Return the virtual tables of an object, or of a pointer's or reference's target, with their functions.

    Raises `DebuggerError` for a value without virtual functions.
    """
    environment = data.environment()
    value = follow(data.evaluate(text), environment)
    if c_types.is_pointer(value.type):
        type_ = c_types.target_of(value.type)
        value = environment.at_address(type_, c_types.pointer_space(value.type), value.as_int())
    if not isinstance(value.bare, ClassType) or not is_polymorphic(value.type, environment):
        raise DebuggerError(NO_TABLE)
    lines: list[str] = []
    formatter = data.formatter()
    tables = _tables(_parts(value, environment), environment)
    for place in sorted(tables):
        part, last_slot = tables[place]
        if last_slot >= 0:
            lines += _table(part, last_slot, environment, formatter, bool(lines))
    return lines


def _tables(parts: list[Value], environment: Environment) -> dict[int, tuple[Value, int]]:
    """Return the first part at each place, with the highest slot for which any class there declares a function (-1 if
    none does).
    """
    found: dict[int, tuple[Value, int]] = {}
    for part in parts:
        address = part.address
        if address is not None:
            first, highest = found.get(address.value, (part, -1))
            found[address.value] = first, max(highest, _last_slot(part.bare, environment))
    return found


def _parts(value: Value, environment: Environment) -> list[Value]:
    """Return the object and its polymorphic bases."""
    class_ = environment.complete_type(value.bare)
    found = [value]
    if isinstance(class_, ClassType):
        for base in class_.bases:
            if base.byte_offset is not None and is_polymorphic(base.type, environment):
                found += _parts(value.base(base), environment)
    return found


def _table(
    part: Value, last_slot: int, environment: Environment, formatter: Formatter, is_further: bool
) -> list[str]:
    """Return the lines for the virtual table of one part."""
    address = part.address
    assert address is not None
    table = int.from_bytes(environment.memory.read(address.space, address.value, 8), "little")
    lines = [""] if is_further else []
    place = formatter.address(address.space, address.value)
    lines.append(f"vtable for '{part.bare}' @ {table:#x} (subobject @ {place}):")
    for slot in range(min(1 + last_slot, MOST_SLOTS)):
        function = int.from_bytes(environment.memory.read(0, table + 8 * slot, 8), "little")
        lines.append(f"[{slot}]: {formatter.address(0, function, symbol=True)}")
    return lines


def _last_slot(type_: Type, environment: Environment) -> int:
    """Return the highest slot among the virtual functions that a class declares; -1 if it declares none."""
    class_ = environment.complete_type(type_.strip_typedefs().strip_qualifiers())
    if not isinstance(class_, ClassType):
        return -1
    slots = [method.vtable_slot for method in class_.methods if method.virtual and method.vtable_slot is not None]
    return max([-1, *slots])
