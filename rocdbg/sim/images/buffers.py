"""Images that are buffers: their descriptor is a buffer's resource (V#), which formatted buffer instructions take."""

from __future__ import annotations

from rocdbg.sim.images.chips import Chip
from rocdbg.sim.images.fields import Rules
from rocdbg.sim.images.formats import code_of, formats_of

_MOST_CODES = {Rules.GFX10: 0x7F, Rules.GFX10_3: 0x7F, Rules.GFX11: 0x3F, Rules.GFX12: 0x3F}
_RESOURCE_LEVEL = 1 << 24
"""Is 1 on GFX10."""


def buffer_words(
    chip: Chip, base: int, name: str, width: int, select: tuple[int, int, int, int]
) -> list[int] | None:
    """The resource, in eight dwords, of ``width`` texels of the format called ``name`` at ``base``; None where buffers
    have no such format, or are not that large. Texels past the last read 0."""
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


__all__ = ["buffer_words"]
