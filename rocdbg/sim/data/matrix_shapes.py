"""The matrix instructions of CDNA: shapes, element types, and the layout of elements in registers.

Layout (AMD's matrix instruction calculator). With M rows (or columns) and B blocks, 64 / (M * B) groups of lanes hold
successive parts of K; a lane holds ``kpl`` = M * K * B / 64 consecutive elements. Element (i, k) of block b is in lane
``b * M + (k // kpl) * M * B + i``, element ``k % kpl``. Results come in strips of four rows (one row for f64): strips
fill the lanes of a register (of all blocks in it), then the next four registers.

Sparse instructions (SMFMAC): A has half of the elements, in this layout. For each element, a 2-bit index in A's lane
says with which of four elements of B it is multiplied. Pairs of A's elements and groups of four of B's are in the same
order, except in gfx950's instructions of doubled depth (`Shape.four_of`; this was determined on hardware, with matrices
that had a single 1).
"""

from __future__ import annotations

import re
from enum import Enum, IntEnum, auto

from msgspec import Struct
from msgspec.structs import replace


class Model(Enum):
    """How products are added; see `matrix_sums`."""

    INTEGER = auto()
    """Exactly, modulo 2^32."""
    CHAIN = auto()
    """One fused multiply-add after the other."""
    FLUSHING = auto()
    """CDNA2, f16 and bf16: pairs added in f32, subnormals flushed everywhere."""
    EXACT = auto()
    """CDNA1, f16 and bf16: four (bf16: two) products and the accumulator added exactly and rounded once."""
    TRUNCATED = auto()
    """CDNA3, f16, bf16 and xf32: eight (xf32: four) products truncated to a common exponent and added as integers."""
    TRUNCATED_HALVES = auto()
    """CDNA3, fp8 and bf8: the same with sixteen products; even and odd ones are added separately."""


BITS = {"f64": 64, "f32": 32, "xf32": 32, "f16": 16, "bf16": 16, "i8": 8, "fp8": 8, "bf8": 8}


class Shape(Struct, frozen=True):
    """One instruction. ``a``, ``b``, ``d``: element types; ``sparse``: A has half of the elements and an index."""

    name: str
    m: int
    k: int
    blocks: int
    a: str
    b: str
    d: str
    sparse: bool
    model: Model
    doubled: bool = False
    """Whether it is one of gfx950's sparse instructions of doubled depth."""
    variant: str = ""
    """Distinguishes this instruction from instructions of the same name on other targets: "cdna1", "ocp" or empty."""

    @property
    def helper(self) -> str:
        """The routine's name."""
        return f"matrix_{self.variant and self.variant + '_'}{self.name[2:]}"

    @property
    def kinds(self) -> tuple[str, str]:
        """The types of A and B for `matrix_sums`: 8-bit floats are FNUZ or OCP."""
        tail = "_ocp" if self.variant == "ocp" else ""
        return f"{self.a}{tail}", f"{self.b}{tail}"

    def on(self, target: str) -> Shape:
        """The instruction as this target executes it."""
        if self.model is Model.FLUSHING and target == "gfx908":
            return replace(self, model=Model.EXACT, variant="cdna1")
        if self.model is Model.TRUNCATED_HALVES and target == "gfx950":
            return replace(self, variant="ocp")
        return self

    def four_of(self, group: int, pair: int) -> tuple[int, int]:
        """For a sparse instruction and a pair of A's elements in a group of lanes: the group that has the four elements
        of B, and the index of the first of these.
        """
        if not self.doubled:
            four = (group * self.a_per_lane // 2 + pair) * 4
            return divmod(four, self.b_per_lane)
        half = self.a_per_lane // 4
        top, low = divmod(pair, half)
        if self.m == 16:
            return top + 2 * (group & 1), 4 * low + 4 * half * (group >> 1)
        return top, 4 * low + 4 * half * group

    @property
    def group(self) -> int:
        """The number of products that are added at once."""
        return {Model.TRUNCATED: 4 if self.a == "xf32" else 8, Model.TRUNCATED_HALVES: 16}.get(self.model, 1)

    @property
    def a_per_lane(self) -> int:
        """Elements of A in a lane."""
        return self.m * (self.k // 2 if self.sparse else self.k) * self.blocks // 64

    @property
    def b_per_lane(self) -> int:
        return self.m * self.k * self.blocks // 64

    @property
    def results_per_lane(self) -> int:
        return self.m * self.m * self.blocks // 64

    @property
    def strip(self) -> int:
        """Rows of D in consecutive registers."""
        return 1 if self.d == "f64" else 4


_NAME = re.compile(
    r"v_(mfma|smfmac)_(f32|f64|i32)_(\d+)x\d+x(\d+)(?:_(\d+)b)?_?(xf32|f64|f32|bf16|f16|i8|bf8|fp8)(_bf8|_fp8|_1k)?$"
)
_OLD_PER_LANE = {"f32": 1, "f64": 1, "f16": 4, "bf16": 2, "i8": 4}


def _parse(name: str) -> Shape:
    match = _NAME.match(name)
    if match is None:
        raise ValueError(f"{name} is not a matrix instruction")
    kind, d, m_text, k_text, blocks_text, a, tail = match.groups()
    m, k, sparse = int(m_text), int(k_text), kind == "smfmac"
    cdna3 = re.search(rf"\db?_{a}", name) is not None
    if cdna3:
        blocks = int(blocks_text or 1)
    else:  # blocks are not in the name: they follow from the number of lanes
        blocks = 64 * (4 if tail == "_1k" else _OLD_PER_LANE[a]) // (m * k)
    b = tail[1:] if tail in ("_bf8", "_fp8") else a
    if d == "i32":
        model = Model.INTEGER
    elif a in ("f32", "f64"):
        model = Model.CHAIN
    elif a in ("fp8", "bf8"):
        model = Model.TRUNCATED_HALVES
    else:
        model = Model.TRUNCATED if cdna3 else Model.FLUSHING
    doubled = sparse and m * k * (8 if a in ("i8", "fp8", "bf8") else 16) == 1 << 14
    return Shape(name, m, k, blocks, a, b, d, sparse, model, doubled)


_CDNA2 = """
f32_32x32x1f32 f32_16x16x1f32 f32_4x4x1f32 f32_32x32x2f32 f32_16x16x4f32
f32_32x32x4f16 f32_16x16x4f16 f32_4x4x4f16 f32_32x32x8f16 f32_16x16x16f16
f32_32x32x2bf16 f32_16x16x2bf16 f32_4x4x2bf16 f32_32x32x4bf16 f32_16x16x8bf16
f32_32x32x4bf16_1k f32_16x16x4bf16_1k f32_4x4x4bf16_1k f32_32x32x8bf16_1k f32_16x16x16bf16_1k
i32_32x32x4i8 i32_16x16x4i8 i32_4x4x4i8 i32_32x32x8i8 i32_16x16x16i8 f64_16x16x4f64 f64_4x4x4f64
"""
_CDNA3 = """
f32_32x32x1_2b_f32 f32_16x16x1_4b_f32 f32_4x4x1_16b_f32 f32_32x32x2_f32 f32_16x16x4_f32
f32_32x32x4_2b_f16 f32_16x16x4_4b_f16 f32_4x4x4_16b_f16 f32_32x32x8_f16 f32_16x16x16_f16
f32_32x32x4_2b_bf16 f32_16x16x4_4b_bf16 f32_4x4x4_16b_bf16 f32_32x32x8_bf16 f32_16x16x16_bf16
i32_32x32x4_2b_i8 i32_16x16x4_4b_i8 i32_4x4x4_16b_i8 i32_32x32x16_i8 i32_16x16x32_i8
f32_16x16x8_xf32 f32_32x32x4_xf32 f64_16x16x4_f64 f64_4x4x4_4b_f64
"""
_SPARSE = (
    "f32_16x16x32_f16 f32_32x32x16_f16 f32_16x16x32_bf16 f32_32x32x16_bf16 i32_16x16x64_i8 i32_32x32x32_i8"
)
_GFX950 = """
f32_16x16x32_f16 f32_32x32x16_f16 f32_16x16x32_bf16 f32_32x32x16_bf16 i32_16x16x64_i8 i32_32x32x32_i8
"""
_GFX950_SPARSE = """
f32_16x16x64_f16 f32_32x32x32_f16 f32_16x16x64_bf16 f32_32x32x32_bf16 i32_16x16x128_i8 i32_32x32x64_i8
"""
_FLOAT8 = [f"{a}_{b}" for a in ("bf8", "fp8") for b in ("bf8", "fp8")]

_GFX950_NAMES = [
    *(f"v_mfma_{s}" for s in _GFX950.split()),
    *(f"v_smfmac_{s}" for s in _GFX950_SPARSE.split()),
    *(f"v_smfmac_f32_{s}_{t}" for s in ("16x16x128", "32x32x64") for t in _FLOAT8),
]
SHAPES = {
    shape.name: shape
    for shape in map(
        _parse,
        [
            *(f"v_mfma_{s}" for s in (_CDNA2 + _CDNA3).split()),
            *(f"v_smfmac_{s}" for s in _SPARSE.split()),
            *(f"v_mfma_f32_{s}_{t}" for s in ("16x16x32", "32x32x16") for t in _FLOAT8),
            *(f"v_smfmac_f32_{s}_{t}" for s in ("16x16x64", "32x32x32") for t in _FLOAT8),
            *_GFX950_NAMES,
        ],
    )
}
"""By mnemonic."""

GFX950 = frozenset(_GFX950_NAMES)
"""Instructions that only gfx950 has."""

BY_HELPER = {
    shape.helper: shape for old in SHAPES.values() for shape in (old, old.on("gfx908"), old.on("gfx950"))
}

SCALED = {"matrix_mfma_f8f6f4_16": 16, "matrix_mfma_f8f6f4_32": 32}
"""Rows by routine, for v_mfma_f32_16x16x128_f8f6f4, v_mfma_f32_32x32x64_f8f6f4 and their scaled forms."""


class ScaleKind(IntEnum):
    """Where a scale of one of these instructions is."""

    NONE = 0
    VECTOR = 1
    """In a register, by its offset in the state."""
    SCALAR = 2
    """In a register, the same for all lanes."""
    CONSTANT = 3
    """The byte itself is given."""
