"""gfx125x's asynchronous loads to LDS and stores from LDS, loads for clusters of workgroups, and loads that watch
memory.

Simulated memory is coherent and in order, so asynchronous transfers complete at once. Each workgroup forms a cluster of
its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rocdbg.sim.core.builder import I64, Value
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.memory_common import LOADS, Addresses, Format, load, memory, required, transfer
from rocdbg.sim.semantics.memory_flat import flat_address, global_address


def _in_lds(field: str) -> Addresses:
    """The byte offset in LDS that a register gives. The instruction's offset is added both to this offset and to the
    address in memory.
    """

    def address(i: Access) -> tuple[str, Value, Sequence[Value]]:
        place = i.raw_operand(required(i, field)) + i.modifier("offset")
        return "lds", place.zext(I64), ()

    return address


def _move(source: Addresses, destination: Addresses, size: int) -> Callable[[Access], None]:
    def run(i: Access) -> None:
        transfer(i, source, "load", size)
        transfer(i, destination, "store", size)

    return run


def _load(how: Addresses, form: Format) -> Callable[[Access], None]:
    return lambda i: load(i, how, required(i, "vdst"), form)


for _width, _size in (("b8", 1), ("b32", 4), ("b64", 8), ("b128", 16)):
    for _prefix in ("global", "cluster"):
        memory(f"{_prefix}_load_async_to_lds_{_width}", _move(global_address, _in_lds("vdst"), _size))
    memory(f"global_store_async_from_lds_{_width}", _move(_in_lds("vdata"), global_address, _size))
    if _size > 1:
        memory(f"cluster_load_{_width}", _load(global_address, LOADS[_width]))
        memory(f"global_load_monitor_{_width}", _load(global_address, LOADS[_width]))
        memory(f"flat_load_monitor_{_width}", _load(flat_address, LOADS[_width]))
