"""Writes comparisons of 32-bit numbers as DWARF operations, which can only compare signed 64-bit integers.

Floats are compared by their bits, which have the same order as the numbers except for signs, zeros and NaNs. Denormals
are not flushed, which is the default for clang's code.
"""

from __future__ import annotations

from typing import Final

from rocdbg.dwarf.operation_assembler import Item

_SIGN: Final = 0x7FFFFFFF
_INFINITY: Final = 0x7F800000
_OF_ORDER: Final = frozenset({"lt", "le", "gt", "ge"})
_OPPOSITES: Final = {"nlt": "lt", "neq": "eq", "nle": "le", "ngt": "gt", "nlg": "lg", "nge": "ge", "u": "o"}


def compared(relation: str, type_: str, left: list[Item], right: list[Item]) -> list[Item]:
    """Return operations that push 1 if a relation holds, else 0.

    ``relation`` and ``type_`` (i32, u32, f32) are named as in v_cmp; ``left`` and ``right`` are operations that push
    unsigned numbers.
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
    """Return operations that push a float's magnitude bits as a signed integer: (magnitude xor s) - s, where s is -1 if
    the sign bit is set, else 0.
    """
    return [
        *term, ("dup",), ("constu", _SIGN), ("and",), ("swap",), ("constu", 32), ("shl",), ("constu", 63), ("shra",),
        ("swap",), ("over",), ("xor",), ("swap",), ("minus",),
    ]
