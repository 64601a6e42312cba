"""Instruction words of every opcode, legal and illegal, chosen so that all kinds of operands occur.

For every layout, opcode and selector case, each operand field takes the codes at which kinds of operands differ, and
each modifier and immediate field its values; there are also random mixtures, and random words with every prefix.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator

from rocdbg.isa.encoding_layouts import Layout, family_of, insert, layouts, width

CODES = (
    0, 1, 2, 5, 33, 64, 100, 101, 102, 103, 104, 105, 106, 107, 108, 110, 122, 123, 124, 125, 126, 127, 128, 129, 192,
    193, 208, 209, 229, 230, 232, 233, 234, 235, 238, 239, 240, 242, 248, 249, 250, 251, 252, 253, 254, 255, 256, 257,
    300, 383, 384, 385, 500, 510, 511,
)
"""Operand codes at which the kinds of operands differ, and their neighbours."""
LITERALS = (0xDEADBEEF, 0x3F800000, 0x3C00, 5, 0xFFFFFFFF, 0x12345678, 0, 0x3FF00000, 0x40000000)


def _field_values(size: int, generator: random.Random) -> list[int]:
    if size <= 4:
        return list(range(1 << size))
    values = {0, 1, (1 << size) - 1, 1 << (size - 1), *(1 << i for i in range(size))}
    return sorted(values | {generator.getrandbits(size) for _ in range(6)})


def _bases(layout: Layout, opcode: int, generator: random.Random) -> Iterator[int]:
    """Words of one opcode, one per case of its selectors and form of src0."""
    cases = [(s.other, *s.codes) for s in layout.selectors]
    for codes in itertools.product(*cases):
        word = layout.value | insert(layout.opcode, opcode)
        for selector, code in zip(layout.selectors, codes, strict=True):
            word |= insert(selector.bits, code)
        if layout.src0:
            word |= generator.choice(layout.src0) << (32 * layout.src0_dword)
        yield word


def _fixed(layout: Layout) -> int:
    mask = layout.mask | insert(layout.opcode, -1)
    for selector in layout.selectors:
        mask |= insert(selector.bits, -1)
    if layout.src0:
        mask |= 0x1FF << (32 * layout.src0_dword)
    return mask


def _operands(layout: Layout, generator: random.Random, kind: int, fixed: int) -> int:
    """Probable operands: vector registers (0), scalar registers (1), all zero (2), any of the codes (3)."""
    word = 0
    for bits in layout.operands.values():
        size = width(bits)
        code = {
            0: generator.randrange(0, 120, 2) | (256 if size >= 9 else 0),
            1: generator.randrange(0, 100, 4) >> (2 if size < 7 else 0),
            2: 0,
            3: generator.choice(CODES),
        }[kind]
        word = (word & ~insert(bits, -1)) | insert(bits, code)
    return word & ~fixed


def words_of(layout: Layout, opcode: int, generator: random.Random, mixtures: int) -> Iterator[int]:
    """Encodings of one opcode of a layout."""
    fixed = _fixed(layout)
    bits = 32 * layout.dwords
    others = {**layout.modifiers, **layout.immediates}
    for base in _bases(layout, opcode, generator):
        for kind in (0, 1, 2):
            word = base | _operands(layout, generator, kind, fixed)
            yield word | generator.choice(LITERALS) << bits
            if kind == 2:
                continue
            for field in layout.operands.values():
                for code in CODES:
                    if code >> width(field) == 0:
                        changed = word & ~insert(field, -1) | insert(field, code) & ~fixed | base & fixed
                        yield changed | generator.choice(LITERALS) << bits
        word = base | _operands(layout, generator, generator.choice((0, 0, 1, 2)), fixed)
        for field in others.values():
            for code in _field_values(width(field), generator):
                yield (word & ~insert(field, -1) | insert(field, code)) | generator.choice(LITERALS) << bits
        for i in range(mixtures):
            word = base | _operands(layout, generator, i % 4, fixed)
            for field in others.values():
                if generator.random() < 0.4:
                    word = word & ~insert(field, -1) | insert(field, generator.getrandbits(width(field)))
            if i % 8 == 7:
                word |= generator.getrandbits(bits) & ~fixed
            yield word | generator.choice(LITERALS) << bits


def encodings(target: str, every: int, mixtures: int, generator: random.Random) -> Iterator[tuple[str, int]]:
    """Name of the layout, and instruction word with the bytes after it; about one of ``every`` words is used."""
    opcodes_skipped = math.isqrt(every)
    for layout in layouts(family_of(target)):
        for opcode in layout.opcodes or range(1 << width(layout.opcode)):
            if generator.randrange(opcodes_skipped):
                continue
            for word in words_of(layout, opcode, generator, mixtures):
                if not generator.randrange(every // opcodes_skipped):
                    yield layout.name, word
    for prefix in range(512):
        for _ in range(400 // every + 1):
            noise = generator.getrandbits(160)
            if generator.random() < 0.5:
                noise &= generator.getrandbits(160)
            yield "any", noise & ~0xFF800000 | prefix << 23
