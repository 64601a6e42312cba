"""The number of registers that may be written for the address of an image instruction of GFX6 to GFX9.

The image, not the instruction, determines their number. The disassembler prints as few as possible; compilers write as
many as the image needs.
"""

from __future__ import annotations

_COORDINATES = 3
_GRADIENTS = 6
_WIDTHS = (4, 8)
"""Sizes of register groups that may also be written where fewer registers are needed."""


def address_counts(name: str) -> frozenset[int]:
    """The numbers of address registers that may be written for an image instruction, up to its maximum. The minimum is
    the number that the operand has in the table.
    """
    _, _, kind = name.removesuffix("_pck_sgn").partition("_")
    words = kind.split("_")
    if words[0] not in ("sample", "gather4"):
        return frozenset(range(1, _WIDTHS[0] + 1))
    most = _COORDINATES + sum(word in ("b", "c", "o", "l", "cl") for word in words[1:])
    most += _GRADIENTS * any(word in ("d", "cd") for word in words[1:])
    rounded = next((width for width in _WIDTHS if most <= width), most)
    return frozenset((*range(1, most + 1), rounded))


__all__ = ["address_counts"]
