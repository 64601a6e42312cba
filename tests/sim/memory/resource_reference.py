"""The rules of buffer resources in plain integers: the oracle of the resource tests."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Resource:
    """A V#; ``words`` packs it for a generation."""

    base: int
    stride: int = 0
    records: int = 0xFFFFFFFF
    swizzle: int = 0  # one bit on GFX9 and GFX10 (2 is its value here), two from GFX11 on
    index_stride: int = 0
    add_tid: int = 0
    oob: int = 0
    format: int = 20  # DATA_FORMAT on GFX9
    scale: int = 0  # stride scale of GFX12

    def words(self, generation: int) -> tuple[int, int, int, int]:
        word1 = self.base >> 32 & 0xFFFF | self.stride << 16 | self.swizzle << 30
        word3 = 0o7654 | self.index_stride << 21 | self.add_tid << 23
        if generation == 9:
            word3 |= (self.format & 15) << 15
        else:
            word3 |= self.format << 12 | self.oob << 28 | (self.scale << 18 if generation == 12 else 0)
        return self.base & 0xFFFFFFFF, word1, self.records, word3


def access(
    v: Resource, generation: int, measured: bool, size: int, lane: int, idxen: bool, index: int, offset: int,
    soffset: int,
) -> tuple[list[int], int]:
    """Addresses of the bytes of a plain load, and how many of them are in range. ``measured``: as measured on gfx942
    and gfx950.
    """
    given = index if idxen else 0
    swizzled, stride, element = v.swizzle != 0, v.stride, 4
    adds = bool(v.add_tid)
    if generation == 9:
        if measured:
            swizzled = swizzled and adds
            adds = adds and (swizzled or not idxen)
        if adds:
            stride |= (v.format & 15) << 14
    elif generation >= 11:
        adds = adds and not idxen
        swizzled = swizzled and (idxen or adds)
        element = 16 if v.swizzle == 3 else 4
        stride <<= (0, 2, 3, 5)[v.scale] if generation == 12 else 0
    at = given + (lane if adds else 0)
    group = 8 << v.index_stride

    def relative(o: int) -> int:
        if not swizzled:
            return at * stride + o
        return (
            (at // group * stride + o // element * element) * group + at % group * element + o % element
        )

    addresses = [(v.base + soffset + relative(offset + n)) & (1 << 48) - 1 for n in range(size)]
    unit = min(size, 4)
    live = 0
    for n in range(0, size, unit):
        begin, end = offset + n, offset + n + unit
        if generation == 9:
            if v.add_tid and not idxen:
                fits = True
            elif idxen and stride:
                fits = given < v.records
            else:
                fits = soffset + end <= v.records
        else:
            records = max(0, v.records - soffset) if v.oob == 3 else v.records
            reach = begin + 1 if generation == 10 else end
            if generation == 10 and v.oob == 0 and stride == 0:
                fits = reach <= records
            elif v.oob == 0 or (v.oob == 3 and generation >= 11 and swizzled and stride):
                fits = at < records and reach <= stride
            elif v.oob == 1:
                fits = at < records
            elif v.oob == 2:
                fits = v.records != 0
            elif generation == 10 and swizzled:
                fits = relative(begin) < records
            else:
                fits = reach <= records
        if v.format == 0 and not v.add_tid:
            fits = False
        if not fits:
            break
        live += unit
    return addresses, live
