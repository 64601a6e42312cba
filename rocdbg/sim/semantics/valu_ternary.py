"""gfx950's bit operation with a truth table."""

from __future__ import annotations

from rocdbg.sim.core.builder import I16, I32, Type
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.registry import SemanticFunction, semantic


def _bitop3(type: Type) -> SemanticFunction:
    """Bit k of the table is the result where source 0 has bit 2 of k, source 1 bit 1 and source 2 bit 0."""

    def run(i: Access) -> None:
        table = i.modifier("bitop3")
        sources = [i.src(k, type) for k in range(3)]
        result = i.const(0, type)
        for row in range(8):
            if table >> row & 1:
                term = i.const(-1, type)
                for k, source in enumerate(sources):
                    term = term & (source if row >> 2 - k & 1 else ~source)
                result = result | term
        i.dst(0, result, preserve=True if type is I16 else None)

    return run


semantic("v_bitop3_b32")(_bitop3(I32))
semantic("v_bitop3_b16")(_bitop3(I16))
