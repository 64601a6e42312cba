"""Integer read-modify-write operations of 32 and 64 bits against formulas, for all pairs of a few numbers: among them
equal ones, which is where limits count."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from rocdbg.sim.core import layout
from rocdbg.sim.core.builder import I1, I32, I64
from rocdbg.sim.core.reference_builder import ReferenceBuilder
from rocdbg.sim.core.wave import block_of_size
from rocdbg.sim.data.atomics import ATOMICS, BY_NAME, Flush

WAVE = 64


def signed(value: int, bits: int) -> int:
    return value - (value >> bits - 1 << bits)


# the operation; what memory becomes, from what it was, the operands and the number of bits
ONE: dict[str, Callable[[int, int, int], int]] = {
    "swap": lambda old, x, n: x,
    "add": lambda old, x, n: old + x,
    "sub": lambda old, x, n: old - x,
    "rsub": lambda old, x, n: x - old,
    "smin": lambda old, x, n: min(old, x, key=lambda v: signed(v, n)),
    "smax": lambda old, x, n: max(old, x, key=lambda v: signed(v, n)),
    "umin": lambda old, x, n: min(old, x),
    "umax": lambda old, x, n: max(old, x),
    "and": lambda old, x, n: old & x,
    "or": lambda old, x, n: old | x,
    "xor": lambda old, x, n: old ^ x,
    "inc": lambda old, x, n: 0 if old >= x else old + 1,
    "dec": lambda old, x, n: x if old == 0 or old > x else old - 1,
    "sub_clamp": lambda old, x, n: max(0, old - x),
    "cond_sub": lambda old, x, n: old - x if old >= x else old,
}
TWO: dict[str, Callable[[int, int, int, int], int]] = {
    "cmpswap": lambda old, new, compared, n: new if old == compared else old,
    "mskor": lambda old, mask, data, n: old & ~mask | data,
    "wrap": lambda old, limit, step, n: old - limit if old >= limit else old + step,
}


def halves(value: int) -> list[int]:
    return [value & 0xFFFFFFFF, value >> 32]


def exchanged(old: int, data: int) -> int:
    """Of each dword whose bit 31 is set in the data, the other bits."""
    parts = [x & 0x7FFFFFFF if x >> 31 else was for was, x in zip(halves(old), halves(data), strict=True)]
    return parts[0] | parts[1] << 32


ONE_OF_64 = {"condxchg": lambda old, x, n: exchanged(old, x)}


def numbers(bits: int) -> list[int]:
    top = 1 << bits - 1
    return [0, 1, 5, 6, 0x80000000, 0xFFFFFFFF, top - 1, top, top + 1, 2 * top - 1]


def computed(name: str, bits: int, values: tuple[int, ...]) -> int:
    block = block_of_size(layout.state_size(WAVE, False))
    file = block.state[layout.SGPRS : layout.SGPRS + 4 * layout.SGPR_COUNT].view(np.uint32)
    for k, value in enumerate(values):
        file[2 * k : 2 * k + 2] = halves(value)
    builder = ReferenceBuilder(block, WAVE)
    builder.scalar()
    old, data, *rest = (builder.read_sgpr(2 * k, bits // 32) for k in range(len(values)))
    never = builder.const(0, I1)
    new = BY_NAME[f"{name}_{bits}"].compute(old, data, rest[0] if rest else None, Flush(never, never))
    assert new.type is (I64 if bits == 64 else I32)
    builder.write_sgpr(40, new)
    return int(file[40]) | (int(file[41]) << 32 if bits == 64 else 0)


CASES = [
    *((name, bits, 1, formula) for name, formula in ONE.items() for bits in (32, 64)),
    *((name, bits, 2, formula) for name, formula in TWO.items() for bits in (32, 64) if name != "wrap" or bits == 32),
    *((name, 64, 1, formula) for name, formula in ONE_OF_64.items()),
]


@pytest.mark.parametrize(("name", "bits", "count", "formula"), CASES, ids=[f"{c[0]}_{c[1]}" for c in CASES])
def test_formula(name: str, bits: int, count: int, formula: Callable[..., int]) -> None:
    for values in itertools.product(numbers(bits)[::count], repeat=1 + count):
        assert computed(name, bits, values) == formula(*values, bits) & (1 << bits) - 1, list(map(hex, values))


def test_every_operation_on_integers_has_a_formula() -> None:
    floats = {row.name for row in ATOMICS if row.name.startswith(("f", "pk_"))}
    assert {f"{case[0]}_{case[1]}" for case in CASES} == {row.name for row in ATOMICS} - floats
