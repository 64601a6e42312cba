"""Convenience functions that GDB has in Python: what is wrong with a call of one is said as GDB says it then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rocdbg.debugger.base.errors import DebuggerError, ExpressionError, MemoryAccessError
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.debugger.expr.names.convenience_variables import EvaluationHost, Function
    from rocdbg.debugger.values.value import Value


class ScriptError(DebuggerError):
    """What a function of GDB's that is in Python raises; ``kind`` is the class of the exception."""

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        super().__init__(text)


def kind_of(error: Exception) -> str:
    """The class of an exception as Python names it to the user."""
    return f"{type(error).__module__}.{type(error).__name__}".removeprefix("builtins.")


def in_python(class_name: str, parameters: Sequence[str], function: Function, optional: int = 0) -> Function:
    """A function with its arguments counted and its errors worded as those of a class with a method ``invoke``.

    The last ``optional`` parameters need not be given.
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
    """What is wrong with a number of arguments; an object is one, too."""
    least = len(parameters) - optional
    if count < least:
        missing = [f"'{name}'" for name in parameters[count:least]]
        listed = " and ".join(missing) if len(missing) < 3 else f"{', '.join(missing[:-1])}, and {missing[-1]}"
        return f"missing {len(missing)} required positional argument{'s' if len(missing) > 1 else ''}: {listed}"
    if count > len(parameters):
        most = f"{len(parameters) + 1}" if not optional else f"from {least + 1} to {len(parameters) + 1}"
        return f"takes {most} positional arguments but {count + 1} were given"
    return ""
