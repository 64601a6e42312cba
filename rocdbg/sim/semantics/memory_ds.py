"""LDS and GDS instructions.

An address is the VGPR plus the offset field, modulo 2^32; every byte must lie in the workgroup's LDS. In the global
data share M0 gives base (31:16) and size (15:0); accesses beyond the size read 0 and write nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rocdbg.sim.core.builder import I32, I64, Value
from rocdbg.sim.core.layout import vgpr_offset
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.memory_common import (
    Addresses,
    Format,
    atomic,
    load,
    load_lanes,
    memory,
    put,
    register,
    required,
    store,
    store_lanes,
    transfer,
)
from rocdbg.sim.translator.routine_names import lds_helpers, pack_places


def _at(offset: Callable[[Access], int]) -> Addresses:
    def how(i: Access) -> tuple[str, Value, Sequence[Value]]:
        address = (i.raw_operand(required(i, "addr")) + offset(i)).zext(I64)
        return ("gds", address, (i.m0.zext(I64),)) if i.modifier("gds") else ("lds", address, ())

    return how


_single = _at(lambda i: i.modifier("offset"))


def _lane_slot(i: Access) -> tuple[str, Value, Sequence[Value]]:
    """ds_read_addtid_b32: M0 + offset + lane * 4."""
    return "lds", ((i.m0 & 0xFFFF) + i.modifier("offset") + i.lane.shl(2)).zext(I64), ()


def _pair(stride: int) -> tuple[Addresses, Addresses]:
    return _at(lambda i: i.modifier("offset0") * stride), _at(lambda i: i.modifier("offset1") * stride)


def _whole(i: Access, access: str, size: int, data: Sequence[str], offsets: Sequence[int]) -> bool:
    """Let a single routine execute a plain LDS access as a whole; False if there is no such routine."""
    helper = f"lds_{access}_{size}"
    stores = access not in ("read", "read2")
    if i.generation < 9:  # M0 bounds each access
        return False
    if i.modifier("gds") or helper not in _WHOLE or i.context.touching or (
        stores and (i.context.watching or i.context.noted)
    ):
        return False
    words = max(1, size // 4) * (2 if access == "read2" else 1)
    registers = [register(required(i, "addr")), *(register(required(i, name), words) for name in data)]
    places = pack_places(*(vgpr_offset(number, i.context.wave_size) for number in registers))
    packed = sum(offset << 32 * n for n, offset in enumerate(offsets))
    i.b.call(helper, (i.exec, i.const(size, I64), i.const(places, I64), i.const(packed, I64)))
    return True


_WHOLE = frozenset(lds_helpers())


def _load(form: Format) -> Callable[[Access], None]:
    def function(i: Access) -> None:
        if not _whole(i, "read", form.size, ("vdst",), (i.modifier("offset"),)):
            load(i, _single, required(i, "vdst"), form)

    return function


def _store(form: Format) -> Callable[[Access], None]:
    def function(i: Access) -> None:
        if not _whole(i, "write", form.size, ("data0",), (i.modifier("offset"),)):
            store(i, _single, required(i, "data0"), form)

    return function


_SECOND = 8  # where the transfer buffer keeps one element while the other is transferred


def _offsets(i: Access, stride: int) -> tuple[int, int]:
    return i.modifier("offset0") * stride, i.modifier("offset1") * stride


def _load_two(size: int, stride: int) -> Callable[[Access], None]:
    first, second = _pair(stride)

    def function(i: Access) -> None:
        if _whole(i, "read2", size, ("vdst",), _offsets(i, stride)):
            return
        transfer(i, first, "load", size)
        i.b.lanes()
        for n in range(size // 4):
            i.b.write_data(_SECOND + n, i.b.read_data(n))
        transfer(i, second, "load", size)
        i.b.lanes()
        destination = required(i, "vdst")
        load_lanes(i, destination, Format(size), _SECOND)
        words = size // 4
        for n in range(words):
            put(i, register(destination, 2 * words) + words + n, i.b.read_data(n))

    return function


def _store_two(size: int, stride: int) -> Callable[[Access], None]:
    first, second = _pair(stride)

    def function(i: Access) -> None:
        if _whole(i, "write2", size, ("data0", "data1"), _offsets(i, stride)):
            return
        transfer(i, second, "check", size)  # nothing is stored if either address is illegal
        i.b.lanes()
        store_lanes(i, required(i, "data0"), Format(size))
        transfer(i, first, "store", size)
        i.b.lanes()
        store_lanes(i, required(i, "data1"), Format(size))
        transfer(i, second, "store", size)

    return function


def _atomic(helper: str, swap: bool) -> Callable[[Access], None]:
    def function(i: Access) -> None:
        data = [o for o in (i.insn.operand("data0"), i.insn.operand("data1")) if o is not None]
        atomic(i, _single, helper, data[::-1] if swap else data, i.insn.operand("vdst"))

    return function


_LOADS = {
    "u8": Format(1), "i8": Format(1, True), "u16": Format(2), "i16": Format(2, True), "b32": Format(4), "b64":
    Format(8),
    "b96": Format(12), "b128": Format(16), "u8_d16": Format(1, d16=True), "u8_d16_hi": Format(1, d16=True, high=True),
    "i8_d16": Format(1, True, True), "i8_d16_hi": Format(1, True, True, True), "u16_d16": Format(2, d16=True),
    "u16_d16_hi": Format(2, d16=True, high=True),
}
_STORES = {
    "b8": Format(1), "b16": Format(2), "b32": Format(4), "b64": Format(8), "b96": Format(12), "b128": Format(16),
    "b8_d16_hi": Format(1, d16=True, high=True), "b16_d16_hi": Format(2, d16=True, high=True),
}

for _names in (("read", "read2", "read2st64"), ("load", "load_2addr", "load_2addr_stride64")):
    for _suffix, _form in _LOADS.items():
        memory(f"ds_{_names[0]}_{_suffix}", _load(_form))
    for _size in (4, 8):
        memory(f"ds_{_names[1]}_b{_size * 8}", _load_two(_size, _size))
        memory(f"ds_{_names[2]}_b{_size * 8}", _load_two(_size, 64 * _size))
for _names in (("write", "write2", "write2st64"), ("store", "store_2addr", "store_2addr_stride64")):
    for _suffix, _form in _STORES.items():
        memory(f"ds_{_names[0]}_{_suffix}", _store(_form))
    for _size in (4, 8):
        memory(f"ds_{_names[1]}_b{_size * 8}", _store_two(_size, _size))
        memory(f"ds_{_names[2]}_b{_size * 8}", _store_two(_size, 64 * _size))
for _name in ("ds_read_addtid_b32", "ds_load_addtid_b32"):
    memory(_name, lambda i: load(i, _lane_slot, required(i, "vdst"), Format(4)))
for _name in ("ds_write_addtid_b32", "ds_store_addtid_b32"):
    memory(_name, lambda i: store(i, _lane_slot, required(i, "data0"), Format(4)))

_RMW = {
    "add_u": "add", "sub_u": "sub", "rsub_u": "rsub", "inc_u": "inc", "dec_u": "dec", "min_i": "smin", "max_i": "smax",
    "min_u": "umin", "max_u": "umax", "and_b": "and", "or_b": "or", "xor_b": "xor", "mskor_b": "mskor", "add_f": "fadd",
    "min_f": "fmin", "max_f": "fmax", "min_num_f": "fmin", "max_num_f": "fmax",
}
for _bits in (32, 64):
    for _key, _helper in _RMW.items():
        _stem, _, _letter = _key.rpartition("_")
        memory(f"ds_{_stem}_{_letter}{_bits}", _atomic(f"{_helper}_{_bits}", False))
        memory(f"ds_{_stem}_rtn_{_letter}{_bits}", _atomic(f"{_helper}_{_bits}", False))
    for _word in ("wrxchg", "storexchg"):
        memory(f"ds_{_word}_rtn_b{_bits}", _atomic(f"swap_{_bits}", False))
    # cmpst: data0 is compared, data1 is stored; cmpstore (gfx11+): the other way round, as in VMEM.
    for _kind, _helper in (("b", "cmpswap"), ("f", "fcmpswap")):
        for _word, _swap in (("cmpst", True), ("cmpstore", False)):
            memory(f"ds_{_word}_{_kind}{_bits}", _atomic(f"{_helper}_{_bits}", _swap))
            memory(f"ds_{_word}_rtn_{_kind}{_bits}", _atomic(f"{_helper}_{_bits}", _swap))

for _name in ("ds_wrap_rtn_b32", "ds_condxchg32_rtn_b64"):
    memory(_name, _atomic("wrap_32" if "wrap" in _name else "condxchg_64", False))
for _suffix, _helper in (("sub_clamp", "sub_clamp_32"), ("cond_sub", "cond_sub_32")):
    memory(f"ds_{_suffix}_u32", _atomic(_helper, False))
    memory(f"ds_{_suffix}_rtn_u32", _atomic(_helper, False))


def _swap_two(size: int, stride: int) -> Callable[[Access], None]:
    """Exchange two elements and return both old values."""
    first, second = _pair(stride)
    helper, words = f"swap_{size * 8}", size // 4

    def function(i: Access) -> None:
        destination = required(i, "vdst")
        transfer(i, second, "check", size)  # nothing is done if either address is illegal
        atomic(i, first, helper, (required(i, "data0"),), None)
        i.b.lanes()
        for n in range(words):
            i.b.write_data(_SECOND + n, i.b.read_data(n))
        atomic(i, second, helper, (required(i, "data1"),), None)
        i.b.lanes()
        for n in range(words):
            put(i, register(destination, 2 * words) + n, i.b.read_data(_SECOND + n))
            put(i, register(destination, 2 * words) + words + n, i.b.read_data(n))

    return function


for _size in (4, 8):
    for _near, _far in (("wrxchg2", "wrxchg2st64"), ("storexchg_2addr", "storexchg_2addr_stride64")):
        memory(f"ds_{_near}_rtn_b{_size * 8}", _swap_two(_size, _size))
        memory(f"ds_{_far}_rtn_b{_size * 8}", _swap_two(_size, 64 * _size))


def _count_lanes(helper: str) -> Callable[[Access], None]:
    """ds_append, ds_consume: add the number of active lanes to the dword at M0[15:0] + offset, or subtract it; all
    active lanes get the old value. In GDS, the offset is relative to M0's base.
    """

    def function(i: Access) -> None:
        i.b.scalar()
        mask = i.exec
        count = mask.ctpop()
        gds, offset, zero = bool(i.modifier("gds")), i.modifier("offset"), i.const(0, I64)
        place = i.const(offset) if gds else (i.m0 & 0xFFFF) + offset
        i.b.write_scalar_address(place.zext(I64))
        i.b.write_scalar_data(0, count.trunc(I32) if count.type is I64 else count)
        space, a = ("gds", i.m0.zext(I64)) if gds else ("lds", zero)
        i.b.call(f"atomic_{helper}_{space}", (mask.ne(0).zext(I64), i.const(4, I64), a, zero))
        old = i.b.read_transfer(0)
        i.b.lanes()
        i.b.write_vgpr(register(required(i, "vdst")), old)

    return function


memory("ds_append", _count_lanes("add_32"))
memory("ds_consume", _count_lanes("sub_32"))
for _kind in ("f16", "bf16"):
    memory(f"ds_pk_add_{_kind}", _atomic(f"pk_add_{_kind}", False))
    memory(f"ds_pk_add_rtn_{_kind}", _atomic(f"pk_add_{_kind}", False))
