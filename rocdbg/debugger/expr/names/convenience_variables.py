"""Convenience variables (``$foo``, ``$_thread``) and functions (``$_strlen``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from rocdbg.debugger.base.errors import DebuggerError, ExpressionError, MemoryAccessError
from rocdbg.debugger.base.focus import STATIC, Focus
from rocdbg.debugger.expr.complex_numbers import parts
from rocdbg.debugger.expr.parsing.tree_store import TreeStore
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_storage import ConvenienceStorage
from rocdbg.dwarf.info.macro_sections import Macro
from rocdbg.dwarf.info.types import Type
from rocdbg.errors import Error

MAX_STRING = 1 << 16
"""How many bytes a string function reads before it gives up."""


class EvaluationHost(Protocol):
    """What a convenience function may request."""

    @property
    def frame(self) -> Frame | None:
        """The frame in which the expression is evaluated; ``None`` if there is none."""

    @property
    def bool_type(self) -> Type:
        """The type of a truth value in the language of the expression."""

    def read_string(self, value: Value, limit: int = MAX_STRING) -> bytes:
        """Return the bytes of a char array, or at a char pointer, up to the first null."""

    def read_bytes(self, value: Value, size: int) -> bytes:
        """Return ``size`` bytes at a pointer, or from an array."""

    def as_text(self, value: Value) -> str:
        """Return the text of a value in the form used for members."""


Function = Callable[[EvaluationHost, Sequence[Value]], Value]
Dynamic = Callable[[Focus], Value]


class Convenience:
    """The user's variables, variables computed when they are read, and functions, by name without ``$``."""

    def __init__(self) -> None:
        self._variables: dict[str, Value] = {}
        self._dynamic: dict[str, Dynamic] = {}
        self.functions: dict[str, Function] = dict(_FUNCTIONS)
        self.macros: dict[str, Macro] = {}
        """Macros defined with ``macro define``, by name."""
        self.trees = TreeStore()
        """The syntax trees of the session's expressions."""
        self.text: Callable[[Value], str] = lambda value: str(value.as_int())
        """Formats values; uses the front end's printer if it has one."""

    def forget_function(self, name: str) -> None:
        """Drop a function that a plug-in defined; a built-in function of the same name is then available again."""
        self.functions.pop(name, None)
        if name in _FUNCTIONS:
            self.functions[name] = _FUNCTIONS[name]

    def define_dynamic(self, name: str, reader: Dynamic) -> None:
        """Define a read-only variable whose value is computed for the focus at which it is read."""
        self._dynamic[name] = reader

    def get(self, name: str, focus: Focus = STATIC) -> Value:
        """Return the variable's value as an lvalue; void if it was never set."""
        if name in self._dynamic:
            return self._dynamic[name](focus)
        if name in self.functions and name not in self._variables:
            return Value(c_types.INTERNAL_FUNCTION, data=b"\0", function=name)
        value = self._variables.get(name, Value(c_types.VOID))
        storage = ConvenienceStorage(name, value, lambda new: self.set(name, new))
        return Value(value.type, storage, data=value.data, absence=value.absence)

    def set(self, name: str, value: Value) -> None:
        """Set a variable to a value and its type. Raises `ExpressionError` for a read-only variable."""
        if name in self._dynamic:
            raise ExpressionError(f"Cannot assign to the read-only variable ${name}.")
        if c_types.is_void(value.type):
            self._variables[name] = Value(value.type)
            return
        self._variables[name] = Value(value.type, data=b"") if value.size == 0 else value.snapshot()

    def forget(self, name: str) -> None:
        """Make a variable void again."""
        self._variables.pop(name, None)

    def set_int(self, name: str, number: int) -> None:
        """Set a variable to an ``int`` (``$bpnum``, ``$_exitcode``)."""
        self._variables[name] = Value.of_int(c_types.INT, number)

    def is_dynamic(self, name: str) -> bool:
        """Whether the variable is computed when it is read."""
        return name in self._dynamic

    def __contains__(self, name: str) -> bool:
        return name in self._variables or name in self._dynamic

    def rows(self) -> Iterator[tuple[str, Value]]:
        """Yield names and values for ``show convenience``: the user's, last set first, then functions and computed
        ones.
        """
        for name in reversed(self._variables):
            yield name, self._variables[name]
        for name in (*self.functions, *self._dynamic):
            if name not in self._variables:
                yield name, self.get(name)

    def names(self) -> list[str]:
        """All names for completion."""
        return sorted({*self._variables, *self._dynamic, *self.functions})


def _need_one(name: str, arguments: Sequence[Value]) -> None:
    if len(arguments) != 1:
        raise ExpressionError(f"You must provide one argument for ${name}.")


# Convenience functions that GDB implements in Python: errors in calls have GDB's wording.


class ScriptError(DebuggerError):
    """The error of a function that GDB implements in Python; ``kind`` is the class of the exception."""

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        super().__init__(text)


def kind_of(error: Exception) -> str:
    """Return the name of an exception's class as Python shows it to the user."""
    return f"{type(error).__module__}.{type(error).__name__}".removeprefix("builtins.")


def in_python(class_name: str, parameters: Sequence[str], function: Function, optional: int = 0) -> Function:
    """Wrap a function so that it counts its arguments, and words errors like a Python class with a method ``invoke``.

    The last ``optional`` parameters may be omitted.
    """

    def call(host: EvaluationHost, arguments: Sequence[Value]) -> Value:
        wrong = _miscounted(parameters, optional, len(arguments))
        if wrong:
            raise _failed("TypeError", f"{class_name}.invoke() {wrong}")
        try:
            return function(host, arguments)
        except ScriptError as error:
            raise _failed(error.kind, str(error)) from None
        except MemoryAccessError as error:
            raise _failed("gdb.MemoryError", str(error)) from None
        except Error as error:
            raise _failed("gdb.error", str(error)) from None

    return call


def _failed(kind: str, text: str) -> ExpressionError:
    return ExpressionError(f"Python Exception <class '{kind}'>: {text}\nError occurred in Python: {text}")


def _miscounted(parameters: Sequence[str], optional: int, count: int) -> str:
    """Return the error for a wrong number of arguments; the object counts as an argument."""
    least = len(parameters) - optional
    if count < least:
        missing = [f"'{name}'" for name in parameters[count:least]]
        listed = " and ".join(missing) if len(missing) < 3 else f"{', '.join(missing[:-1])}, and {missing[-1]}"
        return f"missing {len(missing)} required positional argument{'s' if len(missing) > 1 else ''}: {listed}"
    if count > len(parameters):
        most = f"{len(parameters) + 1}" if not optional else f"from {least + 1} to {len(parameters) + 1}"
        return f"takes {most} positional arguments but {count + 1} were given"
    return ""


def _strlen(host: EvaluationHost, arguments: Sequence[Value]) -> Value:
    return Value.of_int(c_types.INT, len(host.read_string(arguments[0])))


def _streq(host: EvaluationHost, arguments: Sequence[Value]) -> Value:
    return Value.of_int(host.bool_type, host.read_string(arguments[0]) == host.read_string(arguments[1]))


def _regex(host: EvaluationHost, arguments: Sequence[Value]) -> Value:
    text = host.read_string(arguments[0]).decode("utf-8", "replace")
    pattern = host.read_string(arguments[1]).decode("utf-8", "replace")
    try:
        return Value.of_int(host.bool_type, re.match(pattern, text) is not None)
    except (re.error, OverflowError, RecursionError) as error:
        raise ScriptError(kind_of(error), str(error)) from None


def _memeq(host: EvaluationHost, arguments: Sequence[Value]) -> Value:
    size = arguments[2].as_int()
    if size < 0:
        raise ScriptError("ValueError", "length must be non-negative")
    return Value.of_int(
        host.bool_type, host.read_bytes(arguments[0], size) == host.read_bytes(arguments[1], size)
    )


def _isvoid(_host: EvaluationHost, arguments: Sequence[Value]) -> Value:
    _need_one("_isvoid", arguments)
    return Value.of_int(c_types.INT, isinstance(arguments[0].bare, type(c_types.VOID)))


def _as_string(host: EvaluationHost, arguments: Sequence[Value]) -> Value:
    return string_value(host.as_text(arguments[0]).encode())


def string_value(data: bytes, element: Type = c_types.CHAR) -> Value:
    """Return an array of characters with a terminating null."""
    size = c_types.size_of(element)
    return Value(c_types.array_of(element, len(data) // size + 1), data=data + bytes(size))


def _creal(_host: EvaluationHost, arguments: Sequence[Value]) -> Value:
    _need_one("_creal", arguments)
    return parts(arguments[0])[0]


def _cimag(_host: EvaluationHost, arguments: Sequence[Value]) -> Value:
    _need_one("_cimag", arguments)
    return parts(arguments[0])[1]


_FUNCTIONS: dict[str, Function] = {
    "_strlen": in_python("_StrLen", ("a",), _strlen),
    "_streq": in_python("_StrEq", ("a", "b"), _streq),
    "_regex": in_python("_RegEx", ("string", "regex"), _regex),
    "_memeq": in_python("_MemEq", ("a", "b", "length"), _memeq),
    "_isvoid": _isvoid,
    "_as_string": in_python("_AsString", ("val",), _as_string),
    "_creal": _creal,
    "_cimag": _cimag,
}
