"""Buffer images, whose descriptor is a buffer resource (V#), as for formatted buffer instructions."""

from __future__ import annotations

from collections.abc import Sequence

from rocdbg.sim.images.chips import Chip
from rocdbg.sim.images.fields import Rules
from rocdbg.sim.images.image_descriptor import SELECTORS
from rocdbg.sim.images.texel_formats import code_of, formats_of

_MOST_CODES = {Rules.GFX10: 0x7F, Rules.GFX10_3: 0x7F, Rules.GFX11: 0x3F, Rules.GFX12: 0x3F}
_RESOURCE_LEVEL = 1 << 24
"""1 on GFX10."""


def buffer_words(
    chip: Chip, base: int, name: str, width: int, select: tuple[int, int, int, int]
) -> list[int] | None:
    """The resource, in eight dwords, of ``width`` texels of the format called ``name`` at ``base``; None if buffers
    have no such format, or cannot be that large. Texels past the last read 0."""
    rules = chip.rules
    code = code_of(rules, name)
    if code is None:
        return None
    data, number = code & 0x3F, code >> 6
    if rules.shape_in_image:
        if data > 14 or number > 7:
            return None
        form = number << 12 | data << 15
    elif code > _MOST_CODES[rules]:
        return None
    else:
        form = code << 12 | (_RESOURCE_LEVEL if rules <= Rules.GFX10_3 else 0)
    size = formats_of(rules)[code].size
    selectors = sum(source << 3 * n for n, source in enumerate(select))
    records = width * size if chip.counts_bytes else width
    if records >> 32:
        return None
    return [base & 0xFFFFFFFF, base >> 32 & 0xFFFF | size << 16, records, selectors | form, 0, 0, 0, 0]


def buffer_text(chip: Chip, words: Sequence[int]) -> str:
    """One-line description of such a resource: ``1D buffer image 1000, 32_FLOAT, x001, at 0x7f0000100000``."""
    rules, stride, records, last = chip.rules, words[1] >> 16 & 0x3FFF, words[2], words[3]
    if not any(words[:4]):
        return "no image (nothing is bound)"
    if rules.shape_in_image:
        code = last >> 15 & 15 | (last >> 12 & 7) << 6
    else:
        code = last >> 12 & _MOST_CODES[rules]
    form = formats_of(rules).get(code)
    width = records // max(1, stride) if chip.counts_bytes else records
    selectors = "".join(SELECTORS.get(last >> 3 * n & 7, "?") for n in range(4))
    name = form.name if form is not None else f"format {code:#x}"
    return f"1D buffer image {width}, {name}, {selectors}, at {words[0] | (words[1] & 0xFFFF) << 32:#x}"


__all__ = ["buffer_text", "buffer_words"]
