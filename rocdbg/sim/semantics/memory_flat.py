"""FLAT, GLOBAL and SCRATCH instructions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rocdbg.isa.instruction import Operand, OperandKind
from rocdbg.sim.core.builder import I32, I64, Value
from rocdbg.sim.core.layout import SCRATCH_ADDRESSES
from rocdbg.sim.semantics.access import Access, Unsupported
from rocdbg.sim.semantics.memory_common import (
    ATOMICS,
    LOADS,
    STORES,
    Addresses,
    Format,
    address64,
    atomic,
    flat_scratch,
    load,
    load_to_lds,
    memory,
    required,
    scaled,
    store,
)


def _offset(i: Access) -> int:
    if i.generation < 9 and i.modifier("offset"):
        raise Unsupported(f"{i.insn.text}: {i.target.name} has no offsets in flat instructions")
    return i.modifier("offset")


def global_address(i: Access) -> tuple[str, Value, Sequence[Value]]:
    """Lane code: a GLOBAL instruction's address."""
    vaddr, saddr = required(i, "vaddr"), i.insn.operand("saddr")
    if saddr is None or saddr.kind is OperandKind.OFF:
        return "global", address64(i, vaddr) + _offset(i), ()
    base = i.raw_operand(saddr, 64)
    if vaddr.kind is OperandKind.OFF:
        return "global", base + _offset(i), ()
    return "global", base + _register_offset(i, vaddr) + _offset(i), ()


def _register_offset(i: Access, vaddr: Operand) -> Value:
    """The register offset that is added to a scalar base; it is signed on gfx125x."""
    offset = i.raw_operand(vaddr)
    return scaled(i, offset.sext(I64)) if i.target.is_gfx125 else offset.zext(I64)


def _global_lane(i: Access) -> tuple[str, Value, Sequence[Value]]:
    """global_load_dword_addtid and similar instructions: each lane accesses its own dword."""
    saddr = i.insn.operand("saddr")
    base = i.const(0, I64) if saddr is None or saddr.kind is OperandKind.OFF else i.raw_operand(saddr, 64)
    return "global", base + _offset(i) + i.lane.shl(2).zext(I64), ()


def flat_address(i: Access) -> tuple[str, Value, Sequence[Value]]:
    """Lane code: a FLAT instruction's address."""
    vaddr, saddr = required(i, "vaddr"), i.insn.operand("saddr")
    if saddr is None or saddr.kind is OperandKind.OFF:
        address = address64(i, vaddr)
    else:
        address = i.raw_operand(saddr, 64) + _register_offset(i, vaddr)
    address = address + _offset(i)
    return "flat", _own_scratch(i, address) if i.target.is_gfx125 else address, (flat_scratch(i),)


def _own_scratch(i: Access, address: Value) -> Value:
    """Convert gfx125x's address of a lane's own private memory to one in the private aperture. An address of another
    lane's memory is unchanged, and faults."""
    own = (i.lane.shl(20) | SCRATCH_ADDRESSES >> 32).zext(I64)
    low = address & 0xFFFF_FFFF
    return address.lshr(32).eq(own).select(i.b.read_env("private_aperture") | low, address)


def scratch_address(i: Access) -> tuple[str, Value, Sequence[Value]]:
    """Lane code: a SCRATCH instruction's address."""
    vaddr, saddr = i.insn.operand("vaddr"), i.insn.operand("saddr")
    offset = i.const(_offset(i), I32)
    if saddr is not None and saddr.kind is not OperandKind.OFF:
        offset = offset + i.raw_operand(saddr)
    if vaddr is not None and vaddr.kind is not OperandKind.OFF:
        offset = offset + scaled(i, i.raw_operand(vaddr))
    return "scratch", offset.zext(I64), (flat_scratch(i),)


def _load(how: Addresses, form: Format) -> Callable[[Access], None]:
    """A load. ``lds``: a bit of GFX9's and GFX10's encoding, which then has no VGPR; since gfx940 the name says so."""

    def function(i: Access) -> None:
        if i.modifier("lds"):
            load_to_lds(i, how, form)
        else:
            load(i, how, required(i, "vdst"), form)

    return function


def _store(how: Addresses, form: Format) -> Callable[[Access], None]:
    return lambda i: store(i, how, required(i, "vdata"), form)


def _load_to_lds(how: Addresses, form: Format) -> Callable[[Access], None]:
    return lambda i: load_to_lds(i, how, form)


def _atomic(how: Addresses, helper: str) -> Callable[[Access], None]:
    return lambda i: atomic(i, how, helper, (required(i, "vdata"),), i.insn.operand("vdst"))


for _prefix, _how in (("global", global_address), ("flat", flat_address), ("scratch", scratch_address)):
    for _suffix, _form in LOADS.items():
        memory(f"{_prefix}_load_{_suffix}", _load(_how, _form))
    for _suffix, _form in STORES.items():
        memory(f"{_prefix}_store_{_suffix}", _store(_how, _form))
    if _prefix != "scratch":
        for _suffix, _helper in ATOMICS.items():
            memory(f"{_prefix}_atomic_{_suffix}", _atomic(_how, _helper))

for _prefix, _how in (("global", global_address), ("scratch", scratch_address)):
    for _suffix in ("ubyte", "sbyte", "ushort", "sshort", "dword", "dwordx3", "dwordx4"):
        memory(f"{_prefix}_load_lds_{_suffix}", _load_to_lds(_how, LOADS[_suffix]))

for _suffix in ("dword", "b32"):
    memory(f"global_load_{_suffix}_addtid" if _suffix == "dword" else "global_load_addtid_b32",
           _load(_global_lane, Format(4)))
    memory(f"global_store_{_suffix}_addtid" if _suffix == "dword" else "global_store_addtid_b32",
           _store(_global_lane, Format(4)))
