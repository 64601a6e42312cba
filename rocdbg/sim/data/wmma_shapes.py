"""GFX11's WMMA and GFX12's WMMA and SWMMAC instructions, which have 16 by 16 results: their shapes, and where elements
lie in registers.

GFX11: row i of A and column i of B are in lane i, and repeated in each further group of 16 lanes. Register n of D has,
in lane L, row n * (wave size / 16) + L / 16, column L % 16; results of 16 bits are in one half of a register.

GFX12: every element is in one lane: in one of the *groups* of 16 lanes, the lane with the number of its row or column.
Register n of lane L has rows n + 8 * (L / 16) (wave32) or n + 8 * (L / 16 % 2) + 4 * (L / 32) (wave64); two results of
16 bits are in a register. SWMMAC: A has half of the elements. For each element, a 2-bit index in A's lane says with
which of four elements of B, in the same group, it is multiplied.

gfx125x: dense instructions with greater depth; A's and B's elements are in the same places. The order in which it adds
products is not known.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

BITS = {"f16": 16, "bf16": 16, "fp8": 8, "bf8": 8, "iu8": 8, "iu4": 4}


class Place(Struct, frozen=True):
    """Where the two factors of a product are: element ``a`` of A in the group of lanes ``a_group``, and element ``b``
    of B in the group ``b_group``. For SWMMAC, ``b`` is the first of the four elements from which the index selects.
    """

    a_group: int
    a: int
    b_group: int
    b: int


class WaveShape(Struct, frozen=True):
    """One instruction. ``a``, ``b``, ``d``: element types; ``sparse``: SWMMAC."""

    name: str
    gfx12: bool
    k: int
    a: str
    b: str
    d: str
    sparse: bool

    @property
    def helper(self) -> str:
        """The routine's name."""
        return f"matrix_{'gfx12_' if self.gfx12 else ''}{self.name[2:]}"

    @property
    def integer(self) -> bool:
        return self.d == "i32"

    @property
    def packed(self) -> bool:
        """Whether results and accumulators have 16 bits."""
        return self.d in ("f16", "bf16")

    @property
    def bits(self) -> int:
        """Bits of a factor."""
        return BITS[self.a]

    def index_entries(self, wave_size: int) -> int:
        """Elements of A in a lane, each with two bits of the index."""
        groups = 2 if wave_size == 32 or (self.bits == 4 and self.k == 32) else 4
        return self.k // 2 // groups

    def steps(self, wave_size: int) -> list[list[Place]]:
        """The products in order, in groups that are added at once. For integers: the groups after which the sum is
        saturated."""
        if not self.gfx12:
            size = 16 if self.integer else 2
            return [[Place(0, k, 0, k) for k in range(n, n + size)] for n in range(0, 16, size)]
        depth = self.k // 2 if self.sparse else self.k
        places = [self._place(k, depth, wave_size) for k in range(depth)]
        if self.integer:
            return [[p for k, p in enumerate(places) if k // 8 % 2 == stage] for stage in range(2)]
        order: Sequence[int] = range(depth // 4)
        if wave_size == 32 and depth == 16:
            order = (0, 2, 1, 3)
        return [places[4 * n : 4 * n + 4] for n in order]

    def _place(self, k: int, depth: int, wave_size: int) -> Place:
        """The place of A's element ``k`` of ``depth``, and of the element by which it is multiplied."""
        block = k // 8
        if wave_size == 32:
            group, at = block % 2, 8 * (block // 2) + k % 8
        elif self.bits > 4:
            group, at = k // 4, k % 4
        else:
            group, at = block if depth == 16 else (block & 1) << 1 | block >> 1, k % 8
        if not self.sparse:
            return Place(group, at, group, at)
        four = at // 2 * 4
        if wave_size == 64 and self.bits == 4 and depth == 16:  # A in two groups, B in four
            return Place(group, at, group + four // 8 * 2, four % 8)
        return Place(group, at, group, four)


def _shape(name: str, *, gfx12: bool) -> WaveShape:
    """The shape of a mnemonic: v_wmma_TYPE_16x16xK_TYPE[_TYPE]."""
    kind, d, size, a, *rest = name.removeprefix("v_").split("_")
    return WaveShape(name, gfx12, int(size.split("x")[2]), a, rest[0] if rest else a, d, kind == "swmmac")


_BOTH = (
    "f32_16x16x16_f16 f32_16x16x16_bf16 f16_16x16x16_f16 bf16_16x16x16_bf16 i32_16x16x16_iu8 i32_16x16x16_iu4"
)
_SPARSE = (
    "f32_16x16x32_f16 f32_16x16x32_bf16 f16_16x16x32_f16 bf16_16x16x32_bf16 i32_16x16x32_iu8 i32_16x16x32_iu4 "
    "i32_16x16x64_iu4"
)
_FLOAT8 = [f"{a}_{b}" for a in ("fp8", "bf8") for b in ("fp8", "bf8")]

GFX11 = {name: _shape(name, gfx12=False) for name in (f"v_wmma_{s}" for s in _BOTH.split())}
GFX12 = {
    name: _shape(name, gfx12=True)
    for name in [
        *(f"v_wmma_{s}" for s in _BOTH.split()),
        "v_wmma_i32_16x16x32_iu4",
        *(f"v_wmma_f32_16x16x16_{t}" for t in _FLOAT8),
        *(f"v_swmmac_{s}" for s in _SPARSE.split()),
        *(f"v_swmmac_f32_16x16x32_{t}" for t in _FLOAT8),
    ]
}
"""Shapes by mnemonic."""
GFX125 = {
    name: _shape(name, gfx12=True)
    for name in [
        *(f"v_wmma_{d}_16x16x32_{a}" for d, a in (("f32", "f16"), ("f32", "bf16"), ("f16", "f16"), ("bf16", "bf16"))),
        *(f"v_wmma_f32_16x16x{k}_{t}" for k in (64, 128) for t in _FLOAT8),
        "v_wmma_i32_16x16x64_iu8",
    ]
}
"""gfx125x's own dense instructions for plain types."""

BY_HELPER = {shape.helper: shape for shape in (*GFX11.values(), *GFX12.values(), *GFX125.values())}

__all__ = ["BITS", "BY_HELPER", "GFX11", "GFX12", "GFX125", "Place", "WaveShape"]
