"""``$_caller_is`` and similar: convenience functions about the callers of the selected frame."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from rocdbg.debugger.expr.names.convenience_variables import (
    Convenience,
    EvaluationHost,
    ScriptError,
    in_python,
    kind_of,
)
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.frames.inferior import Inferior, outwards
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value

Fits = Callable[[str, str], bool]


def add_caller_functions(convenience: Convenience, inferior: Inferior) -> None:
    """Define ``$_caller_is``, ``$_caller_matches``, ``$_any_caller_is`` and ``$_any_caller_matches``."""
    for name, title, fits in (("is", "Is", _is), ("matches", "Matches", _matches)):
        for any_, class_name in ((False, f"Caller{title}"), (True, f"AnyCaller{title}")):
            function = in_python(class_name, ("name", "nframes"), _function(inferior, fits, any_), optional=1)
            convenience.functions[f"{'_any' if any_ else ''}_caller_{name}"] = function


def _function(
    inferior: Inferior, fits: Fits, any_: bool
) -> Callable[[EvaluationHost, Sequence[Value]], Value]:
    def answer(host: EvaluationHost, arguments: Sequence[Value]) -> Value:
        count = arguments[1].as_int() if len(arguments) == 2 else 1
        if count < 0:
            raise ScriptError("ValueError", "nframes must be >= 0")
        frame = host.frame
        if frame is None:
            raise ScriptError("gdb.error", "No frame is currently selected.")
        wanted = host.read_string(arguments[0]).decode("utf-8", "replace")
        found = _any(_names(inferior, frame), wanted, fits, count, any_)
        return Value.of_int(c_types.INT, found)

    return answer


def _names(inferior: Inferior, frame: Frame) -> Iterable[str]:
    """Return the names of the functions from a frame outwards, as given by debug information."""
    for other in outwards(inferior, frame):
        yield (other.function.qualified_name or other.function.name or "") if other.function is not None else ""


def _any(names: Iterable[str], wanted: str, fits: Fits, count: int, any_: bool) -> bool:
    """Whether the function name of the frame ``count`` levels up matches; with ``any_``, whether the name of any frame
    up to that one matches.
    """
    for distance, name in enumerate(names):
        if distance > count:
            break
        if (any_ or distance == count) and fits(name, wanted):
            return True
    return False


def _is(name: str, wanted: str) -> bool:
    return name == wanted


def _matches(name: str, pattern: str) -> bool:
    try:
        return re.match(pattern, name) is not None
    except (re.error, OverflowError, RecursionError) as error:
        raise ScriptError(kind_of(error), str(error)) from None
