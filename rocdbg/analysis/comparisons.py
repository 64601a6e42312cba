"""Comparisons of 32-bit numbers in DWARF operations, which know signed 64-bit integers only.

Floats are compared by their bits, which are ordered like the numbers except for the sign, zeros and NaNs. Denormals are
not flushed, as in clang's code by default.
"""

from __future__ import annotations

from typing import Final

from rocdbg.dwarf.encoding import Item

_SIGN: Final = 0x7FFFFFFF
_INFINITY: Final = 0x7F800000
_OF_ORDER: Final = frozenset({"lt", "le", "gt", "ge"})
_OPPOSITES: Final = {"nlt": "lt", "neq": "eq", "nle": "le", "ngt": "gt", "nlg": "lg", "nge": "ge", "u": "o"}


def compared(relation: str, type_: str, left: list[Item], right: list[Item]) -> list[Item]:
    """Operations that push 1 if a relation holds, else 0.

    ``relation`` and ``type_`` (i32, u32, f32) are those of v_cmp; ``left`` and ``right`` push unsigned numbers.
    """
    if type_ != "f32":
        if type_ == "i32" and relation in _OF_ORDER:
            left, right = _signed(left), _signed(right)
        return [*left, *right, ("ne" if relation == "lg" else relation,)]
    if relation in _OPPOSITES:
        return [*compared(_OPPOSITES[relation], type_, left, right), ("lit0",), ("eq",)]
    ordered: list[Item] = [*_is_number(left), *_is_number(right), ("and",)]
    if relation == "o":
        return ordered
    return [*_rank(left), *_rank(right), ("ne" if relation == "lg" else relation,), *ordered, ("and",)]


def _signed(term: list[Item]) -> list[Item]:
    match term:
        case [("constu", int(number))]:
            return [("consts", number - (number >> 31 << 32))]
    return [*term, ("constu", 32), ("shl",), ("constu", 32), ("shra",)]


def _is_number(term: list[Item]) -> list[Item]:
    return [*term, ("constu", _SIGN), ("and",), ("constu", _INFINITY), ("le",)]


def _rank(term: list[Item]) -> list[Item]:
    """The magnitude with the sign: with s, 0 or -1, that of the number, (magnitude xor s) - s."""
    return [
        *term, ("dup",), ("constu", _SIGN), ("and",), ("swap",), ("constu", 32), ("shl",), ("constu", 63), ("shra",),
        ("swap",), ("over",), ("xor",), ("swap",), ("minus",),
    ]
