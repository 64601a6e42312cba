"""ds_swizzle_b32 against digests of results that were captured on a gfx1201 (an RX 9070), in both wave sizes."""

from __future__ import annotations

import pytest

from rocdbg.sim.semantics.lanes import swizzle_sources

OFFSETS = [
    *range(0xC000, 0xC800), *range(0xE000, 0xE020), *range(0x8000, 0x8100), *(31 | i << 10 for i in range(32)),
]
"""All rotations and FFT orders, quad permutations, exclusive-ors."""
FULL = (1 << 64) - 1
DIGESTS = [
    # lanes, active ones, digest
    (32, 0xFFFFFFFF, 0x920E53043FABB535),
    (32, 0, 0x7B42DFA5A5BEAB25),
    (32, 0xAAAAAAAA, 0xED21E6A115EE2545),
    (32, 1, 0x50C399C3A69EACE4),
    (32, 0x80000000, 0xFF23F43888160945),
    (32, 0xFFFF0000, 0xDC6D31D439C3A8FD),
    (64, FULL, 0x4728358A698EB585),
    (64, 0x5555555555555555, 0xC0A452D74E7E295),
    (64, 1 << 63, 0x534B2E767E3A36E5),
    (64, 0xFFFFFFFF00000000, 0x6904CDF64E17C935),
]


@pytest.mark.parametrize("lanes, active, digest", DIGESTS)
def test_all_offsets(lanes, active, digest):
    """Lane i provides i + 1; inactive lanes read as 0 and keep their contents. FNV-1a of whole words."""
    found = 0xCBF29CE484222325
    for offset in OFFSETS:
        for lane, source in enumerate(swizzle_sources(offset, lanes)):
            value = 0xDEAD0000 + lane
            if active >> lane & 1:
                value = source + 1 if active >> source & 1 else 0
            found = (found ^ value) * 0x100000001B3 & FULL
    assert found == digest
