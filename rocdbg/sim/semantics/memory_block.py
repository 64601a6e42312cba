"""GFX12's block loads and stores, which transfer those of 32 consecutive registers whose bit in M0 is set.

Register k of the block corresponds to the dword at the address plus 4 * k. If any access faults, the instruction has no
effect.
"""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.sim.core.builder import I64, Value
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.memory_common import Addresses, memory, register, required
from rocdbg.sim.semantics.memory_flat import global_address, scratch_address

_REGISTERS = 32


def _chosen(i: Access, number: int) -> Value:
    """Whether register ``number`` of the block takes part, I1."""
    return (i.m0 & 1 << number).ne(0)


def _access(i: Access, how: Addresses, access: str, number: int) -> None:
    """Transfer one register through the first dword of the transfer buffer; if the register is not chosen, no lane
    takes part.
    """
    b = i.b
    b.lanes()
    space, address, extra = how(i)
    b.write_address(address + 4 * number)
    b.scalar()
    mask = _chosen(i, number).select(i.exec, 0)
    first, second = (*extra, i.const(0, I64), i.const(0, I64))[:2]
    b.call(f"{access}_{space}", (mask, i.const(4, I64), first, second))


def _load(how: Addresses) -> Callable[[Access], None]:
    def run(i: Access) -> None:
        b, base = i.b, register(required(i, "vdst"), _REGISTERS)
        for number in reversed(
            range(_REGISTERS)
        ):  # the first dword of the transfer buffer is needed until the end
            _access(i, how, "load", number)
            b.lanes()
            b.write_data(number, b.read_data(0))
        for number in range(_REGISTERS):
            b.scalar()
            chosen = _chosen(i, number)
            b.lanes()
            b.write_vgpr(base + number, chosen.select(b.read_data(number), b.read_vgpr(base + number)))

    return run


def _store(how: Addresses) -> Callable[[Access], None]:
    def run(i: Access) -> None:
        base = register(required(i, "vdata"), _REGISTERS)
        for number in range(_REGISTERS):
            _access(i, how, "check", number)
        for number in range(_REGISTERS):
            i.b.lanes()
            i.b.write_data(0, i.b.read_vgpr(base + number))
            _access(i, how, "store", number)

    return run


for _space, _how in (("global", global_address), ("scratch", scratch_address)):
    memory(f"{_space}_load_block", _load(_how))
    memory(f"{_space}_store_block", _store(_how))
