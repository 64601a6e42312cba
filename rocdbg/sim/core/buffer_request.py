"""The packed argument ``a`` that a buffer instruction passes to the routines in `rocdbg.sim.translator.buffer_access`.

Bits 31:0 are the offset of the resource in the wave's state; the other bits say what the instruction does. This module
is separate from the routines because semantics are imported at every start, but routines only when one is compiled.
"""

from __future__ import annotations

from typing import Final

RULES: Final = 32
"""Shift: 0 GFX9, 1 GFX10, 2 GFX11, 3 GFX12."""
IDXEN: Final = 1 << 34
FORMATTED: Final = 1 << 35
"""A format instruction, typed or not."""
TYPED: Final = 1 << 36
"""MTBUF: the instruction gives the format."""
D16: Final = 1 << 37
MEASURED_GFX940: Final = 1 << 38
"""On GFX9, follow what was measured on gfx950: only resources with ADD_TID are swizzled, and linear ones add the lane
only if the instruction gives no index."""
BEFORE_GFX9: Final = 1 << 39
"""GFX6 to GFX8: the resource has an element size."""
FORMAT: Final = 40
"""Shift of MTBUF's format, 7 bits."""
CHANNELS: Final = 48
"""Shift of the number of channels the instruction names (1 to 4)."""
GFX8: Final = 1 << 52
"""Before GFX9, follow GFX8. The size counts records if the resource is swizzled. If the resource adds the lane, its
data format field holds further bits of the stride."""
ADDR64: Final = 1 << 53
"""GFX6 and GFX7: the lane gives a 64-bit address, which is added to the base; nothing is checked or swizzled."""
