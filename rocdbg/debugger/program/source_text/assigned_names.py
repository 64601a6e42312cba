"""Finds the names that a function's text assigns from given tokens, directly or through other names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

from rocdbg.debugger.program.source_text.source_tokens import Token

_ASSIGNMENTS: Final = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="})
_BEGINNINGS: Final = frozenset({";", "{", "}", "(", ")", ",", ":", "?"})
_OPENING: Final = ("(", "[", "{")
_CLOSING: Final = (")", "]", "}")


def names_assigned_from(tokens: Sequence[Token], is_source: Callable[[int], bool]) -> frozenset[str]:
    """Return the names whose values depend on the tokens at some positions.

    The result may contain too many names, but does not lack any. Members and elements count as their objects, and the
    contents of a bracket after a name (``int x(f())``) count as assigned to it. Values that only decide what is
    executed do not count.
    """
    assigned = list(_assignments(tokens))
    found: set[str] = set()
    more = True
    while more:
        more = False
        for names, begin, end in assigned:
            if names <= found:
                continue
            if any(is_source(index) or (tokens[index].is_name and tokens[index].text in found)
                   for index in range(begin, end)):
                found |= names
                more = True
    return frozenset(found)


def _assignments(tokens: Sequence[Token]) -> Iterator[tuple[set[str], int, int]]:
    """Yield each name that is assigned, with the range of tokens from which it is assigned."""
    for index, token in enumerate(tokens):
        if token.text in _ASSIGNMENTS:
            begin = index
            while begin and tokens[begin - 1].text not in _BEGINNINGS:
                begin -= 1
            names = {one.text for one in tokens[begin:index] if one.is_name}
            if names:
                yield names, index + 1, _end(tokens, index + 1, (";", ","))
        elif token.is_name and index + 1 < len(tokens) and tokens[index + 1].text in ("(", "{"):
            yield {token.text}, index + 2, _end(tokens, index + 2, (";",))


def _end(tokens: Sequence[Token], begin: int, ends: Collection[str]) -> int:
    """Return where an expression ends: before one of ``ends``, or before the bracket that closes around it."""
    depth = 0
    for index in range(begin, len(tokens)):
        text = tokens[index].text
        if text in _OPENING:
            depth += 1
        elif text in _CLOSING:
            if not depth:
                return index
            depth -= 1
        elif not depth and text in ends:
            return index
    return len(tokens)
