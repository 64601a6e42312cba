"""What a buffer instruction asks of the routines in `rocdbg.sim.translator.buffers`: their argument ``a``.

Bits 31:0 are the offset of the resource in the wave's state; the rest says what the instruction does. Apart from the
routines because semantics are read at every start, routines only when one is compiled.
"""

from __future__ import annotations

from typing import Final

RULES: Final = 32
"""Shift: 0 GFX9, 1 GFX10, 2 GFX11, 3 GFX12."""
IDXEN: Final = 1 << 34
FORMATTED: Final = 1 << 35
"""A format instruction, typed or not."""
TYPED: Final = 1 << 36
"""MTBUF: the format is the instruction's."""
D16: Final = 1 << 37
MEASURED_GFX940: Final = 1 << 38
"""Of GFX9's rules those measured on gfx950: only resources with ADD_TID are swizzled, and linear ones add the lane
only where the instruction gives no index."""
BEFORE_GFX9: Final = 1 << 39
"""GFX6 to GFX8: the resource has an element size."""
FORMAT: Final = 40
"""Shift of MTBUF's format, 7 bits."""
CHANNELS: Final = 48
"""Shift of the number of channels the instruction names (1 to 4)."""
GFX8: Final = 1 << 52
"""Of the rules before GFX9 those of GFX8: records are counted where the resource is swizzled, and the stride of one
that adds the lane goes on in the place of the data format."""
ADDR64: Final = 1 << 53
"""GFX6 and GFX7: the lane's address is one of 64 bits, which is added to the base; nothing is checked or swizzled."""
