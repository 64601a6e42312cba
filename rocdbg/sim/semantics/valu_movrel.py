"""Moves between vector registers chosen by M0 (GFX10 and later; GFX9 uses s_set_gpr_idx_on instead).

The builder names registers statically, so the dynamic choice is a chain of selects over all registers it could be.
An index past the last register reads v0 and writes nothing.
"""

from __future__ import annotations

from rocdbg.sim.builder import Value
from rocdbg.sim.layout import VGPR_COUNT
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.registry import semantic


def _read(i: Access, base: int, offset: Value) -> Value:
    """VGPR ``base + offset``."""
    result = i.b.read_vgpr(0)
    for number in range(base, VGPR_COUNT):
        result = offset.eq(number - base).select(i.b.read_vgpr(number), result)
    return result


def _write(i: Access, base: int, offset: Value, value: Value) -> None:
    """Write VGPR ``base + offset``."""
    for number in range(base, VGPR_COUNT):
        i.b.write_vgpr(number, offset.eq(number - base).select(value, i.b.read_vgpr(number)))


def _bases(i: Access) -> tuple[int, int]:
    """Register numbers of the destination and the source as encoded."""
    return i.destinations[0].index, i.sources[0].index


@semantic("v_movrels_b32")
def _(i: Access) -> None:
    i.dst(0, _read(i, i.sources[0].index, i.m0))


@semantic("v_movreld_b32")
def _(i: Access) -> None:
    _write(i, i.destinations[0].index, i.m0, i.src(0))


@semantic("v_movrelsd_b32")
def _(i: Access) -> None:
    to, source = _bases(i)
    _write(i, to, i.m0, _read(i, source, i.m0))


@semantic("v_movrelsd_2_b32")
def _(i: Access) -> None:
    to, source = _bases(i)
    _write(i, to, i.m0.lshr(16) & 0x3FF, _read(i, source, i.m0 & 0x3FF))


@semantic("v_swaprel_b32")
def _(i: Access) -> None:
    to, source = _bases(i)
    at_source, at_destination = i.m0 & 0x3FF, i.m0.lshr(16) & 0x3FF
    moved, replaced = _read(i, source, at_source), _read(i, to, at_destination)
    _write(i, to, at_destination, moved)
    _write(i, source, at_source, replaced)
