"""Random image instructions, and the registers with their descriptors: for `random_kernels`.

Descriptors of images begin at s80 and s88, of samplers at s96 and s100, addresses at v16: most of them are meaningful,
with some bits changed.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rocdbg.arch.targets import target_by_name
from rocdbg.isa.encoding_layouts import Layout, family_of, insert, layouts, width
from rocdbg.isa.encoding_table import load
from rocdbg.sim.images.fields import IMAGE_DWORDS, IMAGE_FIELDS, SAMPLER_DWORDS, SAMPLER_FIELDS, Rules, room, write
from rocdbg.sim.images.texel_formats import formats_of

IMAGES, SAMPLERS, ADDRESSES = (80, 88), (96, 100), range(16, 38)
"""First registers of descriptors; vector registers of addresses."""
_LIKELY = {"dmask": 0.95, "dim": 0.85, "da": 0.4, "unorm": 0.3, "cpol": 0.3, "d16": 0.2, "a16": 0.15}
"""The frequency with which a modifier is not zero; others are rarely set."""
_WILD = (0xFFFFFFFF, 0x7FC00000, 0x7F800000, 0xFF800000, 0x80000000, 0x7FFFFFFF, 1 << 20, 0x4B000000, 0x7E967699, 0)


@functools.cache
def opcodes(target: str) -> Sequence[tuple[Layout, int]]:
    """The image instructions of a target."""
    if not target_by_name(target).has_images:
        return ()
    known = {found.name: found for found in layouts(family_of(target))}
    return [
        (known[name], int(opcode))
        for name, rows in load(target)["rows"].items() if name.startswith(("MIMG", "VIMAGE", "VSAMPLE"))
        for opcode in rows
    ]  # fmt: skip


def word(generator: random.Random, found: Layout, opcode: int) -> int:
    """An instruction of one opcode; its operands are usually the registers above."""
    value = found.value | insert(found.opcode, opcode)
    for name, bits in found.operands.items():
        if name == "ssamp" and generator.random() < 0.4:
            continue  # gfx90a wants no sampler where an instruction has none
        usual = generator.random() < 0.95
        if name.startswith("s"):
            groups = IMAGES if name == "srsrc" else SAMPLERS
            code = generator.choice(groups if usual else (0, 4, 100, 104, 124))
            code >>= 0 if width(bits) >= 9 else 2
        elif name == "vdata":
            code = generator.choice((0, 32, 33, 40) if usual else (64, 250, 255))
        else:
            code = generator.choice(ADDRESSES if usual else (0, 250, 255))
        value |= insert(bits, code & (1 << width(bits)) - 1)
    for name, bits in found.modifiers.items():
        if generator.random() < _LIKELY.get(name, 0.08):
            value |= insert(bits, generator.getrandbits(width(bits)))
    return value


def image(values: np.random.Generator, rules: Rules, base: int) -> list[int]:
    """An image's descriptor, of few texels, at ``base``."""
    layout, words = IMAGE_FIELDS[rules], [0] * IMAGE_DWORDS
    width, height, depth = (int(values.choice((1, 2, 3, 4, 5, 8, 16))) - 1 for _ in range(3))
    level = int(values.integers(0, 5)) if values.random() < 0.3 else 0
    fields = {
        "base": base >> 8, "type": values.choice((8, 9, 9, 10, 11, 12, 13, 14)), "width": width, "height": height,
        "format": values.choice(list(formats_of(rules))), "depth": depth, "last_array": depth,
        "dst_sel": 0o7654 if values.random() < 0.7 else values.integers(0, 4096), "pitch": values.choice((15, 63, 255)),
        "tiling": rules.linear if values.random() < 0.8 else values.integers(0, 32), "last_level": level,
        "max_mip": level,
    }
    for name, value in fields.items():
        write(layout, name, words, int(value) & room(layout, name))
    return _changed(values, words)


def sampler(values: np.random.Generator, rules: Rules) -> list[int]:
    """A sampler's descriptor."""
    layout, words = SAMPLER_FIELDS[rules], [0] * SAMPLER_DWORDS
    for name in layout:
        value = values.integers(0, 1 << 14) if name != "border" else values.choice((0, 0, 1, 2))
        if name not in ("lod_bias", "reduction", "min_lod") or values.random() < 0.2:
            write(layout, name, words, int(value) & room(layout, name))
    return _changed(values, words)


def _changed(values: np.random.Generator, words: list[int]) -> list[int]:
    if values.random() < 0.25:
        for _ in range(int(values.integers(1, 6))):
            at = int(values.integers(0, 32 * len(words)))
            words[at // 32] ^= 1 << at % 32
    return words if values.random() < 0.95 else [int(word) for word in values.integers(0, 1 << 32, len(words))]


def addresses(values: np.random.Generator, lanes: int) -> NDArray[np.uint32]:
    """Contents of the address registers, uint32[register, lane]: integers, numbers and halves, likely and not."""
    shape = (len(ADDRESSES), lanes)
    kinds = (
        values.integers(0, 9, shape).astype(np.uint32),
        values.uniform(-1.5, 2.5, shape).astype(np.float32).view(np.uint32),
        values.uniform(-3, 20, shape).astype(np.float32).view(np.uint32),
        values.uniform(-2, 10, (*shape, 2)).astype(np.float16).view(np.uint32)[..., 0],
        values.choice(np.array(_WILD, np.uint32), shape),
    )
    style = int(values.integers(0, 5))
    return kinds[style] if style < 4 else np.choose(values.integers(0, 5, shape), kinds).astype(np.uint32)
