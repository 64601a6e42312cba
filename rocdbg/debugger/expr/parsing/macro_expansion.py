"""Macros expanded in the text of expressions, as the preprocessor does (C11, 6.10.3). Errors are in GDB's words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.dwarf.info.macro_sections import Macro

Lookup: TypeAlias = Callable[[str], Macro | None]
"""Returns the macro of a name, None if it is not a macro."""

_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<name>[A-Za-z_$][\w$]*)|(?P<number>\.?\d(?:[eEpP][+-]|[\w.'])*)"
    r"|(?P<string>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')|(?P<paste>\#\#)|(?P<other>.)",
    re.DOTALL,
)
_LONGEST = 1 << 16
_DEEPEST = 100


def tokens(text: str) -> list[str]:
    """Split a text into preprocessing tokens and the space between them."""
    found = [match[0] for match in _TOKEN.finditer(text)]
    if any(token == '"' for token in found):
        raise ExpressionError("Unterminated string in expression.", text)
    return found


def is_name(token: str) -> bool:
    """Whether a token can name a macro; names with `$` are GDB's variables."""
    return token[:1].isalpha() or token[:1] == "_"


def expand(text: str, lookup: Lookup) -> str:
    """Return the text with all its macros expanded. Raises `ExpressionError`."""
    parts = tokens(text)
    if not any(is_name(part) and lookup(part) is not None for part in parts):
        return text
    return "".join(_expanded(parts, lookup, (), [_LONGEST]))


def _expanded(parts: Sequence[str], lookup: Lookup, inside: tuple[str, ...], budget: list[int]) -> list[str]:
    """Expand macros in tokens, except those whose expansion is in progress (``inside``)."""
    waiting = list(reversed(parts))
    result: list[str] = []
    while waiting:
        token = waiting.pop()
        budget[0] -= 1
        if budget[0] < 0 or len(inside) > _DEEPEST:
            raise ExpressionError("The expansion of macros is too long.", "")
        macro = lookup(token) if is_name(token) and token not in inside else None
        if macro is None:
            result.append(token)
            continue
        if macro.parameters is None:
            result += _expanded(tokens(macro.replacement), lookup, (*inside, token), budget)
            continue
        arguments = _arguments(macro, waiting)
        if arguments is None:
            result.append(token)
            continue
        body = _substituted(macro, arguments, lookup, inside, budget)
        result += _expanded(body, lookup, (*inside, token), budget)
    return result


def _arguments(macro: Macro, waiting: list[str]) -> list[list[str]] | None:
    """Take a macro's arguments from the pending tokens; None if no parenthesis follows the name."""
    ahead = len(waiting) - 1
    while ahead >= 0 and waiting[ahead].isspace():
        ahead -= 1
    if ahead < 0 or waiting[ahead] != "(":
        return None
    del waiting[ahead:]
    arguments: list[list[str]] = [[]]
    depth = 0
    assert macro.parameters is not None
    most = len(macro.parameters)
    while waiting:
        token = waiting.pop()
        if token == ")" and depth == 0:
            break
        depth += (token == "(") - (token == ")")
        if token == "," and depth == 0 and not (macro.variadic and len(arguments) == most):
            arguments.append([])
        else:
            arguments[-1].append(token)
    else:
        raise ExpressionError(f"Malformed argument list for macro `{macro.name}'.", "")
    arguments = [_stripped(argument) for argument in arguments]
    if arguments == [[]] and not most:
        arguments = []
    if macro.variadic and len(arguments) == most - 1:
        arguments.append([])
    if len(arguments) != most:
        raise ExpressionError(
            f"Wrong number of arguments to macro `{macro.name}' (expected {most}, got {len(arguments)}).", ""
        )
    return arguments


def _stripped(parts: list[str]) -> list[str]:
    start, end = 0, len(parts)
    while start < end and parts[start].isspace():
        start += 1
    while end > start and parts[end - 1].isspace():
        end -= 1
    return parts[start:end]


def _stringified(argument: list[str]) -> str:
    text = "".join(" " if part.isspace() else re.sub(r'(["\\])', r"\\\1", part) if part[0] in "\"'" else part
                   for part in argument)
    return f'"{text}"'


def _substituted(
    macro: Macro, arguments: list[list[str]], lookup: Lookup, inside: tuple[str, ...], budget: list[int]
) -> list[str]:
    """Return the macro's replacement with the arguments inserted."""
    assert macro.parameters is not None
    values: dict[str, list[str]] = {}
    for parameter, argument in zip(macro.parameters, arguments, strict=True):
        values[parameter.removesuffix("...") or "__VA_ARGS__"] = argument
    body = tokens(macro.replacement)
    result: list[str] = []
    i = 0
    while i < len(body):
        token = body[i]
        budget[0] -= 1 + sum(map(len, values.get(token, ())))
        if budget[0] < 0:
            raise ExpressionError("The expansion of macros is too long.", "")
        after = _next(body, i + 1)
        if token == "#" and after < len(body) and body[after] in values:
            result.append(_stringified(values[body[after]]))
            i = after + 1
        elif token == "##":
            result = _stripped(result)
            left = [result.pop()] if result else []
            right = values.get(body[after], [body[after]]) if after < len(body) else []
            result += ["".join(left + right[:1]), *right[1:]] if left or right else []
            i = after + 1
        elif token in values:
            pasted = after < len(body) and body[after] == "##"
            result += values[token] if pasted else _expanded(values[token], lookup, inside, budget)
            i += 1
        else:
            result.append(token)
            i += 1
    return result


def _next(body: list[str], start: int) -> int:
    while start < len(body) and body[start].isspace():
        start += 1
    return start
