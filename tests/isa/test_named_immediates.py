"""Immediates that are printed as words: what is printed for a value is assembled to that value, for each style."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from rocdbg.isa.assembler.named_immediates import named
from rocdbg.isa.immediates import STYLES, hwreg
from rocdbg.sim.semantics.lanes import swizzle_sources

# the style, how many bits it has, the step from value to value of those that are tried
VALUES: list[tuple[str, int, int]] = [
    ("swizzle", 16, 17),
    ("swizzle", 10, 1),
    ("swizzle_gfx8", 16, 67),
    ("waitcnt_gfx6", 12, 3),
    ("waitcnt_gfx9", 16, 67),
    ("waitcnt_gfx10", 16, 67),
    ("waitcnt_gfx11", 16, 67),
    ("depctr", 16, 67),
    ("depctr_gfx10", 16, 67),
    ("delay_alu", 11, 1),
    ("dpp8", 24, 4093),
    ("sendmsg_gfx9", 10, 1),
    ("sendmsg_gfx11", 8, 1),
]


def tried(bits: int, step: int) -> Iterable[int]:
    yield from range(0, 1 << bits, step)
    yield (1 << bits) - 1


def meaning(style: str, value: int, bits: int) -> object:
    """What an instruction does: there are bits without a meaning."""
    return swizzle_sources(value, 32) if style.startswith("swizzle") else STYLES[style](value, bits)


@pytest.mark.parametrize(("style", "bits", "step"), VALUES, ids=[f"{row[0]} {row[1]}" for row in VALUES])
def test_words_are_assembled_to_their_value(style: str, bits: int, step: int) -> None:
    words = 0
    for value in tried(bits, step):
        text = STYLES[style](value, bits)
        if "invalid" in text or (style == "swizzle" and value >> 13 == 6 and value & 31):
            continue  # LLVM prints rotations without their mask
        again = named(style, text, {}, int)
        if again is None:
            assert int(text, 0) == value
            continue
        words += 1
        assert again == value or meaning(style, again, bits) == meaning(style, value, bits), (hex(value), text)
    assert words > 1


@pytest.mark.parametrize("names", [{}, {1: "HW_REG_MODE", 4: "HW_REG_GPR_ALLOC"}])
def test_hardware_registers(names: dict[int, str]) -> None:
    for value in tried(16, 37):
        assert named("hwreg", hwreg(value, names), names, int) == value
