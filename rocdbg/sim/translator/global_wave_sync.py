"""The native routine of global wave sync (GWS), which has the operations of the ISA documents.

A barrier is initialised with the number of waves minus one, by the program or by its first wave. Each wave that finds
the counter above 0 decrements it and waits; the wave that finds 0 flips the flag, which releases the others, and sets
the counter for the next pass.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING

from rocdbg.sim.core import layout
from rocdbg.sim.core.builder import I32, I64, Value
from rocdbg.sim.core.global_share import GWS_FIELDS, Origin

if TYPE_CHECKING:
    from rocdbg.sim.translator.routine import Routine


class Sync(IntEnum):
    """Operation of the routine ``gws``: its argument %size."""

    INIT = 0
    BARRIER = 1
    ACQUIRE = 2
    """ds_gws_sema_p."""
    RELEASE = 3
    """ds_gws_sema_v and ds_gws_sema_br: %b waves."""
    RELEASE_ALL = 4


def gws(r: Routine) -> None:
    """Body of ``gws``: %size = `Sync`, %a = number of the resource, %b = value.

    Dword 0 of lane 0 of the transfer buffer becomes 1 if the wave must wait and retry. The wave's engine word ``gws``
    says what the wave waits for. It is 0 if the wave does not wait. Otherwise bit 0 is set, and for barriers bit 1 is
    the flag that the barrier had when the wave arrived.
    """
    resource = r.pointer(r.env("gws_pointer"))
    at = {name: r.gep(resource, (r.value("%a") & 63).shl(4) + 4 * n) for n, name in enumerate(GWS_FIELDS)}
    value, zero = r.value("%b").trunc(I32), r.const(0, I32)
    state = r.gep("%state", layout.WORDS["gws"].offset)
    waits = r.data(0, r.const(0, I64))
    r.store(waits, zero)

    def get(name: str) -> Value:
        return r.load(at[name], I32)

    def put(name: str, new: Value) -> None:
        r.store(at[name], new)

    def init() -> None:
        put("counter", value)
        put("flag", zero)
        put("origin", r.const(Origin.PROGRAM, I32))

    def barrier() -> None:
        known = r.load(state, I32)

        def enter() -> None:
            origin, flag = get("origin"), get("flag")
            counter = origin.eq(Origin.NOBODY).select(value, get("counter"))
            by_program = origin.eq(Origin.PROGRAM)

            def last() -> None:
                put("flag", flag ^ 1)
                put("counter", value)
                put("origin", by_program.select(origin, Origin.NOBODY))

            def wait() -> None:
                put("counter", counter - 1)
                put("origin", by_program.select(origin, Origin.BARRIER))
                r.store(state, flag.shl(1) | 1)
                r.store(waits, r.const(1, I32))

            final = counter.sle(0)
            r.when(final, last)
            r.when(~final, wait)

        def again() -> None:
            same = get("flag").eq(known.lshr(1))
            r.store(waits, same.zext(I32))
            r.store(state, same.select(known, 0))

        r.when(known.eq(0), enter)
        r.when(known.ne(0), again)

    def acquire() -> None:
        known, counter = r.load(state, I32), get("counter")
        free = counter.sgt(0)
        put("counter", free.select(counter - 1, counter))
        queued = get("waiting")
        after = free.select(queued - known, queued + (known ^ 1))
        put("waiting", after)
        r.store(state, free.select(zero, 1))
        r.store(waits, free.select(zero, 1))

    def release() -> None:
        put("counter", get("counter") + value)

    def release_all() -> None:
        put("counter", get("counter") + get("waiting"))

    operations: dict[Sync, Callable[[], None]] = {
        Sync.INIT: init,
        Sync.BARRIER: barrier,
        Sync.ACQUIRE: acquire,
        Sync.RELEASE: release,
        Sync.RELEASE_ALL: release_all,
    }
    for operation, body in operations.items():
        r.when(r.value("%size").eq(int(operation)), body)
    r.lines.append("ret i32 0")


__all__ = ["Sync", "gws"]
