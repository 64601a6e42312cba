"""LDS instructions whose operand is also in LDS: ds_*_src2_*, of GFX9 and GFX10.

The dword (or two) at A is combined with that at B. A is the address in the VGPR; B is at a distance in dwords from A:
the signed low 15 bits of the offset field, or, if the field's top bit is set, the signed bits 31:17 of the VGPR.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rocdbg.sim.core.builder import I64, Value
from rocdbg.sim.data.atomics import BY_NAME
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.memory_common import memory, required, transfer

_FROM_ADDRESS = 1 << 15
_ADDRESS = 0x1FFFF


def _target(i: Access) -> tuple[str, Value, Sequence[Value]]:
    address = i.raw_operand(required(i, "addr"))
    if i.modifier("offset") & _FROM_ADDRESS:
        address = address & _ADDRESS
    return "lds", address.zext(I64), ()


def _source(i: Access) -> tuple[str, Value, Sequence[Value]]:
    address, offset = i.raw_operand(required(i, "addr")), i.modifier("offset")
    if offset & _FROM_ADDRESS:
        place = (address & _ADDRESS) + address.ashr(17).shl(2)
    else:
        distance = offset & 0x7FFF
        place = address + 4 * (distance - 0x8000 if distance & 0x4000 else distance)
    return "lds", place.zext(I64), ()


def _combine(helper: str) -> Callable[[Access], None]:
    size = BY_NAME[helper].type.bits // 8

    def run(i: Access) -> None:
        transfer(i, _target, "check", size)  # nothing is done if either address is illegal
        transfer(i, _source, "load", size)
        transfer(i, _target, f"atomic_{helper}", size)

    return run


def _copy(size: int) -> Callable[[Access], None]:
    def run(i: Access) -> None:
        transfer(i, _target, "check", size)
        transfer(i, _source, "load", size)
        transfer(i, _target, "store", size)

    return run


for _bits in (32, 64):
    for _name in ("add_u", "sub_u", "rsub_u", "inc_u", "dec_u", "and_b", "or_b", "xor_b"):
        _operation, _, _letter = _name.partition("_")
        memory(f"ds_{_operation}_src2_{_letter}{_bits}", _combine(f"{_operation}_{_bits}"))
    for _operation in ("min", "max"):
        memory(f"ds_{_operation}_src2_i{_bits}", _combine(f"s{_operation}_{_bits}"))
        memory(f"ds_{_operation}_src2_u{_bits}", _combine(f"u{_operation}_{_bits}"))
        memory(f"ds_{_operation}_src2_f{_bits}", _combine(f"f{_operation}_{_bits}"))
    memory(f"ds_write_src2_b{_bits}", _copy(_bits // 8))
memory("ds_add_src2_f32", _combine("fadd_32"))
