"""Random encodings of every row of a table, for differential tests against LLVM.

Two thirds of the samples respect the bits that must have a certain value and choose operands that are likely to be
legal; the rest is noise behind the opcode, most of which is illegal.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from rocdbg.isa.formats import Layout, insert, layouts, width

_LITERALS = (0xDEADBEEF, 0x3F800000, 0x3C00, 5, 0x12345678)
_SCALARS = (0, 2, 4, 12, 106, 126, 128, 193, 242, 248, 255)
_RARE = ("abs", "omod", "clamp", "neg", "op_sel", "gds")


def samples(table: dict[str, Any], generator: random.Random, count: int) -> Iterator[tuple[str, int]]:
    """``count`` encodings per row: layout name and instruction word (with a literal after it)."""
    for layout in layouts(table["family"]):
        for key, row in table["rows"].get(layout.name, {}).items():
            signature = table["signatures"][row[1]]
            for _ in range(count):
                yield layout.name, _sample(layout, int(key), signature, generator)


def _sample(layout: Layout, key: int, signature: list[Any], generator: random.Random) -> int:
    word, fixed = layout.value, layout.mask | insert(layout.opcode, -1)
    for selector in reversed(layout.selectors):
        key, case = divmod(key, len(selector.codes) + 1)
        if case or width(selector.bits) == 1:
            word |= insert(selector.bits, selector.codes[case - 1] if case else selector.other)
            fixed |= insert(selector.bits, -1)
    word |= insert(layout.opcode, key)
    if layout.src0:
        word |= generator.choice(layout.src0) << (32 * layout.src0_dword)
        fixed |= 0x1FF << (32 * layout.src0_dword)
    bits = 32 * layout.dwords
    noise = generator.getrandbits(bits)
    if generator.random() < 0.3:
        noise &= generator.getrandbits(bits)
    must_mask, must_value = int(signature[1], 16), int(signature[2], 16)
    if generator.random() < 0.67:
        for field in layout.operands.values():
            code = generator.choice(
                (generator.randrange(256) | 256, generator.choice(_SCALARS), generator.randrange(256))
            )
            noise = (noise & ~insert(field, -1)) | insert(field, code)
        if generator.random() < 0.6:
            for name, field in layout.modifiers.items():
                if name in _RARE:
                    noise &= ~insert(field, -1)
        noise = (noise & ~must_mask) | must_value
    return word | (noise & ~fixed) | generator.choice(_LITERALS) << bits
