"""Variables that depend on recursive calls which LLVM has turned into jumps.

Where such a call is followed by only one operation, LLVM accumulates: each pass of the loop combines its operand with
the result of the previous passes, and the result of the call in the source text exists nowhere:

    int ret = keep ^ f(...);        f:  v_xor  v4, v3, v4        v3: the former v4
    return ret;                         s_branch f               described as ret

The description of ``ret`` remains at the operation, but there the register holds the accumulator. A value that the
source text computes from such a call is therefore not known, although LLVM describes numbers assigned before the call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

from rocdbg.addresses import FileAddress
from rocdbg.debugger.program.functions_with_code import Routine, own_variables, routines_in
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.program.source_text.assigned_names import names_assigned_from
from rocdbg.debugger.program.source_text.function_text import FunctionText
from rocdbg.dwarf.info import BaseType, EnumType, Function, VectorType

_CALL_SIZE: Final = 4
"""The size in bytes of a call instruction."""


class _Call(Struct, frozen=True):
    """Calls that are counted together."""

    scope: int
    """The offset of the function or inlined call that makes these calls itself."""
    line: int
    called: int | None
    """The offset of the called function's abstract entry; None if not known."""


class CallsMadeLoops:
    """Finds these variables in source text; ``text`` gives the text of a function."""

    def __init__(self, text: Callable[[Program, Function], FunctionText | None]) -> None:
        self._text = text
        self._found: dict[tuple[int, int], tuple[Program, frozenset[int]]] = {}

    def variables(self, program: Program, function: Function) -> frozenset[int]:
        """Return the offsets of the variables whose values the source text computes from calls that are jumps in a
        function's code. Variables of inlined calls are included.
        """
        key = id(program), function.offset
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = program, frozenset(self._variables(program, function))
        return found[1]

    def _variables(self, program: Program, function: Function) -> Iterator[int]:
        if not function.describes_all_calls:
            return
        routines = list(routines_in(function))
        texts = [(routine, text) for routine in routines if (text := self._text(program, routine.source)) is not None]
        remaining = _remaining(program, function)
        turned = [_turned(routine, text, remaining) for routine, text in texts]
        containing = {_name(routine.source) for (routine, _), calls in zip(texts, turned, strict=True) if calls}
        if not containing:
            return
        for (routine, text), calls in zip(texts, turned, strict=True):
            inner = containing - {_name(each) for each in _around(routine)}
            sources = calls | {index for index, name in _calls(text) if name in inner}
            names = names_assigned_from(text.tokens, sources.__contains__, lambda name: _takes_values(program, name))
            yield from (each.offset for each in own_variables(routine.scope) if each.name in names)


def _takes_values(program: Program, name: str) -> bool:
    """Whether functions with this name cannot change their arguments, because all of their parameters are numbers."""
    types = [function.type for function in program.info.functions_named(name)]
    return bool(types) and all(
        isinstance(each.type.strip_typedefs(), (BaseType, EnumType, VectorType))
        for type in types for each in type.parameters
    ) and not any(type.variadic for type in types)


def _remaining(program: Program, function: Function) -> Counter[_Call]:
    """Count the calls in a function's code, separately for each inlined call."""
    found: Counter[_Call] = Counter()
    for site in function.call_sites:
        place = site.call_pc if site.return_pc is None else FileAddress(site.return_pc - _CALL_SIZE)
        if place is not None:
            row = program.info.line_at(place)
            scope = next(iter(program.info.inline_frames_at(place)), function)
            called = None if site.target is None else site.target.abstract.offset
            found[_Call(scope.offset, 0 if row is None else row.line, called)] += 1
    return found


def _turned(routine: Routine, text: FunctionText, remaining: Counter[_Call]) -> set[int]:
    """Find the recursive calls in a routine's text that have become jumps.

    These are calls of a function that contains the routine, on a line whose code has fewer such calls than the text.
    """
    around = {_name(each): each.abstract.offset for each in _around(routine)}
    scope = routine.scope.offset
    calls = [
        (index, _Call(scope, text.tokens[index].line, around[name])) for index, name in _calls(text) if name in around
    ]
    written = Counter(call for _, call in calls)
    return {
        index for index, call in calls
        if remaining[call] + remaining[_Call(scope, call.line, None)] < written[call]
    }


def _around(routine: Routine) -> list[Function]:
    return [routine.function, *(call.function for call in routine.calls)]


def _name(function: Function) -> str:
    return (function.name or "").partition("<")[0]


def _calls(text: FunctionText) -> Iterator[tuple[int, str]]:
    """Yield the calls in a function's body: the index and the text of the token that names the called function."""
    begin = text.body if text.body is not None else len(text.tokens)
    for index in range(begin, len(text.tokens) - 1):
        if text.tokens[index].is_name and text.tokens[index + 1].text == "(":
            yield index, text.tokens[index].text
