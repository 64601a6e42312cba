"""Global wave sync (ds_gws_*) and ordered counts.

The resource is M0[21:16] plus the offset field. A wave that must wait ends its turn and executes the instruction again
in the next one.
"""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.sim.core.builder import I32, I64, Value
from rocdbg.sim.core.layout import Status
from rocdbg.sim.semantics.access import Access, Unsupported
from rocdbg.sim.semantics.memory_common import register, required
from rocdbg.sim.semantics.registry import Ends, Kind, semantic
from rocdbg.sim.translator.global_wave_sync import Sync


def _first_lane(i: Access, name: str) -> Value:
    """The first active lane's dword of an operand (lane 0's if none is active)."""
    mask = i.exec
    lane = mask.ne(0).select(mask.cttz(), 0)
    return i.b.read_lane(register(required(i, name)), lane.trunc(I32) if lane.type is I64 else lane)


def _sync(operation: Sync, value: Callable[[Access], Value]) -> Callable[[Access], None]:
    waits = operation in (Sync.BARRIER, Sync.ACQUIRE)

    def function(i: Access) -> None:
        i.b.scalar()
        resource = (i.m0.lshr(16) & 63) + i.modifier("offset")
        zero = i.const(0, I64)
        i.b.call("gws", (zero, i.const(int(operation), I64), resource.zext(I64), value(i).zext(I64)))
        if waits:
            wait = i.b.read_transfer(0).ne(0)
            i.b.stop(Status.SLEEP, wait.select(i.pc, i.next_pc))

    return function


def _value(i: Access) -> Value:
    return _first_lane(i, "addr")


def _one(i: Access) -> Value:
    return i.const(1)


for _name, _operation, _given in (
    ("init", Sync.INIT, _value),
    ("barrier", Sync.BARRIER, _value),
    ("sema_p", Sync.ACQUIRE, _one),
    ("sema_v", Sync.RELEASE, _one),
    ("sema_br", Sync.RELEASE, _value),
    ("sema_release_all", Sync.RELEASE_ALL, _one),
):
    _ends = Ends.ALWAYS if _operation in (Sync.BARRIER, Sync.ACQUIRE) else Ends.NO
    semantic(f"ds_gws_{_name}", kind=Kind.WAVE, ends=_ends)(_sync(_operation, _given))


_ORDERED = {0: "add_32", 1: "swap_32", 3: "wrap_32"}


@semantic(
    "ds_ordered_count",
    kind=Kind.WAVE,
    approximate="waves are served as they come, not in the order of their creation",
)
def _(i: Access) -> None:
    """Add to, exchange or wrap the dword at M0[31:16] dwords + offset0 in GDS, once for the wave, with the value of the
    first active lane; all active lanes get the old value."""
    field = i.modifier("offset")
    helper = _ORDERED.get(field >> 12 & 3)
    if helper is None:
        raise Unsupported(f"{i.insn.text}: operation {field >> 12 & 3} of an ordered count is reserved")
    i.b.scalar()
    value = i.exec.ne(0).select(_first_lane(i, "addr"), 0)
    place = i.m0.lshr(16).shl(2) + (field & 0xFC)
    i.b.write_scalar_address(place.zext(I64))
    i.b.write_scalar_data(0, value)
    i.b.write_scalar_data(1, i.const(0))
    # M0 does not limit the place of the counter by a size: its bits mean something else here.
    i.b.call(
        f"atomic_{helper}_gds", (i.const(1, I64), i.const(4, I64), i.const(0xFFFF, I64), i.const(0, I64))
    )
    old = i.b.read_transfer(0)
    i.b.lanes()
    i.b.write_vgpr(register(required(i, "vdst")), old)
