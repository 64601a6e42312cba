"""C++ names of symbols: the Itanium ABI's mangled names, spelled as GDB does."""

from __future__ import annotations

import re
import string
from functools import lru_cache

from rocdbg import work

LARGEST = 16 << 20
"""Maximum length of a name in characters. A few back references in a hostile name could expand it to exabytes."""

_QUALIFIERS = re.compile(r"(?<=\))(?: (?:const|volatile|&&?))+$")
"""Qualifiers of a method, after its parameters."""
_NUMBERS = string.digits + string.ascii_uppercase
"""The digits of a back reference, ``S1A_`` or ``T0_``."""


@lru_cache(maxsize=16_384)
def demangle(name: str) -> str:
    """The C++ declaration that a mangled name encodes; other names are returned unchanged."""
    if not name.startswith("_Z"):
        return name
    # A name with n references grows at most like the largest product of numbers whose sum is n, 3 ** (n / 3).
    references = _back_references(name)
    if references > 100 or len(name) * 3 ** (references / 3) > LARGEST:
        return name
    work.unit()
    import cxxfilt  # the import takes 45 ms, because it looks for the C++ library

    try:
        text: str = cxxfilt.demangle(name)
    except cxxfilt.Error:
        return name
    return text


def _back_references(name: str) -> int:
    """The number of parts of a name that can be back references: ``S`` or ``T``, digits, and ``_``. (A regular
    expression would try every ``S``; for a name that consists of them, it would take time proportional to the square of
    the length.)
    """
    parts = (part[len(part.rstrip(_NUMBERS)) :] for part in name.split("_")[:-1])
    return sum("S" in part or "T" in part for part in parts)


@lru_cache(maxsize=16_384)
def function_name(name: str) -> str:
    """The qualified name of the function with this symbol, including template arguments, without return type and
    parameters: ``ns::reduce<int, 64>``. For other names, and for symbols that are not functions, it returns the result
    of `demangle`.
    """
    text = demangle(name)
    whole, text = text, _QUALIFIERS.sub("", text)
    if text == name or not text.endswith(")"):
        return whole
    start = _opening(text, len(text) - 1)
    # The return type of a template ends at the last space outside its brackets.
    depth, space = 0, -1
    for at in range(start - 1, -1, -1):
        char = text[at]
        if char in ">)]}":
            depth += 1
        elif char in "<([{":
            depth -= 1
        elif char == " " and depth == 0 and not text.startswith("operator", max(0, at - 8)):
            space = at
            break
    return text[space + 1 : start]


def base_name(name: str) -> str:
    """`function_name` without the function's own template arguments: ``ns::reduce``."""
    text = function_name(name)
    return text[: _opening(text, len(text) - 1)] if text.endswith(">") and "operator" not in text else text


def matches_symbol(name: str, symbol: str, qualified: bool = False) -> bool:
    """Whether a name written by a user means the function with this symbol: the name may be its declaration or
    qualified name, with or without template arguments. Leading namespaces may be omitted unless ``qualified``; spaces
    do not matter.
    """
    wanted = name.replace(" ", "")
    declaration, function = demangle(symbol), function_name(symbol)
    without_type = declaration[max(0, declaration.find(function)) :]
    texts = (text.replace(" ", "") for text in (declaration, without_type, function, base_name(symbol)))
    return any(text == wanted or (not qualified and text.endswith(f"::{wanted}")) for text in texts)


def _opening(text: str, end: int) -> int:
    """Position of the bracket that closes at ``end``."""
    pairs = {")": "(", ">": "<"}
    close, depth = text[end], 0
    for at in range(end, -1, -1):
        depth += (text[at] == close) - (text[at] == pairs[close])
        if depth == 0:
            return at
    return len(text)
