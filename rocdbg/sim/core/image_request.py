"""The packed arguments ``a`` and ``b`` that an image instruction passes to the routines in `translator.image_access`.

This module is separate from the routines because semantics are imported at every start, but routines only when one is
compiled.

Bits 15:0 of ``a`` are the offset of the image's descriptor in the wave's state, bits 31:16 that of the sampler. The
encoding of GFX9 does not give the number of address registers, so there bits 19:0 of ``b`` are the offset of the first
one, and bits 31:20 the number of registers from it to the end of the register file; on other targets both fields are 0.
Bits 39:32 of ``b`` are the chip, and its two highest bits are the flags of atomics.
"""

from __future__ import annotations

from typing import Final

SAMPLER: Final = 16
"""Shift of the sampler's offset."""
RULES: Final = 32
"""Shift of `rocdbg.sim.images.fields.Rules`, 3 bits."""
DIM: Final = 35
"""Shift of the dimensions that the instruction names, 3 bits; not on GFX9."""
DA: Final = 1 << 38
"""GFX9: the addresses have a layer."""
UNORM: Final = 1 << 39
"""Coordinates of samples count texels."""
A16: Final = 1 << 40
D16: Final = 1 << 41
R128: Final = 1 << 42
"""The descriptor has four dwords; the remaining ones count as 0."""
LEVEL: Final = 1 << 43
"""The last address is the level."""
RAW: Final = 1 << 44
"""No conversion of formats."""
SIGNED: Final = 1 << 45
"""Raw loads extend the sign."""
DMASK: Final = 46
"""Shift of the mask of components, 4 bits."""
OFFSET: Final = 1 << 50
"""Sample addresses have offsets in texels. The optional parts of an address are in the order of these bits."""
BIAS: Final = 1 << 51
"""Sample addresses have a bias of the level of detail."""
COMPARE: Final = 1 << 52
"""Sample addresses have a reference value."""
DERIVATIVES: Final = 1 << 53
"""Sample addresses have derivatives."""
LOD: Final = 1 << 54
"""Sample addresses have the level of detail after the coordinates."""
CLAMP: Final = 1 << 55
"""Sample addresses have the lower limit of the level of detail after the coordinates."""
ZERO: Final = 1 << 56
"""The level of detail is 0."""
GATHER: Final = 1 << 57
"""Gather one component of four texels."""
QUERY: Final = 1 << 58
"""Query the level of detail, or sizes; no texel is read."""
G16: Final = 1 << 59
"""Derivatives have 16 bits."""

COUNT: Final = 20
"""Shift of the number of registers in ``b``."""
CHIP: Final = 32
"""Shift of the target's place in `rocdbg.sim.images.chips.CHIPS` in ``b``, 8 bits."""
ADDRESSES: Final = 16
"""The first dword of the transfer buffer that holds addresses; data begin at 0."""
MOST_ADDRESSES: Final = 13
