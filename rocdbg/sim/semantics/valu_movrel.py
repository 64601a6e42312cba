"""Moves between vector registers that M0 selects (GFX10 and later; GFX9 uses s_set_gpr_idx_on instead).

An index past the wave's last register reads v0 and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.sim.core.builder import Value
from rocdbg.sim.semantics.access import Access, vector_number
from rocdbg.sim.semantics.registry import Kind, semantic


def _indexed(name: str) -> Callable[[Callable[[Access], None]], None]:
    """Return a decorator that registers a semantic. Before and after its lane code, all registers are in the state."""

    def register(function: Callable[[Access], None]) -> None:
        @semantic(name, kind=Kind.WAVE)
        def _(i: Access) -> None:
            i.b.scalar()
            i.b.lanes()
            function(i)
            i.b.scalar()

    return register


def _read(i: Access, offset: Value) -> Value:
    return i.b.read_vgpr_at(vector_number(i.sources[0]), offset)


def _write(i: Access, offset: Value, value: Value) -> None:
    i.b.write_vgpr_at(vector_number(i.destinations[0]), offset, value)


@_indexed("v_movrels_b32")
def _(i: Access) -> None:
    i.dst(0, _read(i, i.m0))


@_indexed("v_movreld_b32")
def _(i: Access) -> None:
    _write(i, i.m0, i.src(0))


@_indexed("v_movrelsd_b32")
def _(i: Access) -> None:
    _write(i, i.m0, _read(i, i.m0))


@_indexed("v_movrelsd_2_b32")
def _(i: Access) -> None:
    _write(i, i.m0.lshr(16) & 0x3FF, _read(i, i.m0 & 0x3FF))


@_indexed("v_swaprel_b32")
def _(i: Access) -> None:
    to, source = vector_number(i.destinations[0]), vector_number(i.sources[0])
    at_source, at_destination = i.m0 & 0x3FF, i.m0.lshr(16) & 0x3FF
    moved, replaced = i.b.read_vgpr_at(source, at_source), i.b.read_vgpr_at(to, at_destination)
    i.b.write_vgpr_at(to, at_destination, moved)
    i.b.write_vgpr_at(source, at_source, replaced)
