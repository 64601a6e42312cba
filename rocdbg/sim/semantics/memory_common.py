"""What all memory instructions share: element formats, addresses, transfers, atomics.

A memory instruction has three steps: lane code writes each lane's address (and data) into the environment; a native
routine first checks *all* active lanes and then transfers; lane code writes the results to registers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from rocdbg.arch.targets import ScratchKind
from rocdbg.isa.instruction import Operand
from rocdbg.sim.core.builder import I8, I16, I32, I64, Value
from rocdbg.sim.core.layout import EXCEPTION_MASKS, FLUSH_INPUTS, FLUSH_RESULTS
from rocdbg.sim.data.atomics import BY_NAME
from rocdbg.sim.semantics.access import Access, Unsupported, vector_number
from rocdbg.sim.semantics.registry import Kind, semantic


class Format(Struct, frozen=True):
    """An element in memory: ``size`` bytes; narrow ones may be signed, and may use one half of the register (d16)."""

    size: int
    signed: bool = False
    d16: bool = False
    high: bool = False


_GFX9_LOADS = {
    "ubyte": Format(1), "sbyte": Format(1, True), "ushort": Format(2), "sshort": Format(2, True),
    "dword": Format(4), "dwordx2": Format(8), "dwordx3": Format(12), "dwordx4": Format(16),
    "ubyte_d16": Format(1, d16=True), "ubyte_d16_hi": Format(1, d16=True, high=True),
    "sbyte_d16": Format(1, True, True), "sbyte_d16_hi": Format(1, True, True, True),
    "short_d16": Format(2, d16=True), "short_d16_hi": Format(2, d16=True, high=True),
}
_GFX11_LOADS = {
    "u8": Format(1), "i8": Format(1, True), "u16": Format(2), "i16": Format(2, True),
    "b32": Format(4), "b64": Format(8), "b96": Format(12), "b128": Format(16),
    "d16_u8": Format(1, d16=True), "d16_hi_u8": Format(1, d16=True, high=True),
    "d16_i8": Format(1, True, True), "d16_hi_i8": Format(1, True, True, True),
    "d16_b16": Format(2, d16=True), "d16_hi_b16": Format(2, d16=True, high=True),
}
LOADS = {**_GFX9_LOADS, **_GFX11_LOADS}
STORES = {
    "byte": Format(1), "short": Format(2), "dword": Format(4), "dwordx2": Format(8), "dwordx3": Format(12),
    "dwordx4": Format(16), "byte_d16_hi": Format(1, d16=True, high=True),
    "short_d16_hi": Format(2, d16=True, high=True),
    "b8": Format(1), "b16": Format(2), "b32": Format(4), "b64": Format(8), "b96": Format(12), "b128": Format(16),
    "d16_hi_b8": Format(1, d16=True, high=True), "d16_hi_b16": Format(2, d16=True, high=True),
}

_CLASSIC_ATOMICS = {
    "swap": "swap", "cmpswap": "cmpswap", "add": "add", "sub": "sub", "smin": "smin", "umin": "umin", "smax": "smax",
    "umax": "umax", "and": "and", "or": "or", "xor": "xor", "inc": "inc", "dec": "dec", "fcmpswap": "fcmpswap",
    "fmin": "fmin", "fmax": "fmax",
}
ATOMICS: dict[str, str] = {
    **{name: f"{helper}_32" for name, helper in _CLASSIC_ATOMICS.items()},
    **{f"{name}_x2": f"{helper}_64" for name, helper in _CLASSIC_ATOMICS.items()},
    "csub": "sub_clamp_32", "csub_u32": "sub_clamp_32", "sub_clamp_u32": "sub_clamp_32", "cond_sub_u32": "cond_sub_32",
    "add_f32": "fadd_32", "add_f64": "fadd_64", "min_f64": "fmin_64", "max_f64": "fmax_64", "min_f32": "fmin_32",
    "max_f32": "fmax_32", "min_num_f32": "fmin_32", "max_num_f32": "fmax_32",
    "min_num_f64": "fmin_64", "max_num_f64": "fmax_64", "cmpswap_f32": "fcmpswap_32",
    "pk_add_f16": "pk_add_f16", "pk_add_bf16": "pk_add_bf16",
    "ordered_add_b64": "add_64",
}
for _bits in (32, 64):
    for _name in ("swap", "cmpswap", "and", "or", "xor"):
        ATOMICS[f"{_name}_b{_bits}"] = f"{_name}_{_bits}"
    for _name in ("add", "sub", "inc", "dec"):
        ATOMICS[f"{_name}_u{_bits}"] = f"{_name}_{_bits}"
    for _name in ("min", "max"):
        ATOMICS[f"{_name}_i{_bits}"] = f"s{_name}_{_bits}"
        ATOMICS[f"{_name}_u{_bits}"] = f"u{_name}_{_bits}"


def required(i: Access, name: str) -> Operand:
    """An operand that the encoding always has."""
    operand = i.insn.operand(name)
    if operand is None:
        raise Unsupported(f"{i.insn.text}: operand {name} is missing")
    return operand


register = vector_number


def packs_halves(i: Access) -> bool:
    """Whether d16 packs two components into a register: on all targets with d16 except GFX8 before gfx810."""
    return i.target.packs_d16


def address64(i: Access, operand: Operand) -> Value:
    """A 64-bit address in a pair of VGPRs."""
    return i.raw_operand(operand, 64)


_BITS = re.compile(r"[bfiu](\d+)$")


def scaled(i: Access, index: Value) -> Value:
    """An offset in a register; with scale_offset (gfx125x) it counts elements of the size given by the instruction's
    name."""
    if not i.modifier("scale_offset"):
        return index
    bits = _BITS.search(i.name)
    if bits is None:
        raise Unsupported(f"{i.insn.text}: scale_offset")
    return index * (4 if "_pk_" in i.name else int(bits[1]) // 8)


def flat_scratch(i: Access) -> Value:
    """Base of the wave's scratch for FLAT and SCRATCH instructions, I64."""
    # the high register is the offset from the hidden base of all scratch, in units of 256 bytes
    if i.target.flat_scratch_is_offset:
        return i.b.read_field("flat_scratch") + i.b.read_sgpr(i.target.flat_scratch_code + 1).zext(I64).shl(8)
    if i.generation == 9 and i.target.scratch is not ScratchKind.ARCHITECTED:
        return i.b.read_sgpr(102, 2)
    return i.b.read_field("flat_scratch")


def store_lanes(i: Access, operand: Operand, form: Format, first: int = 0) -> None:
    """Lane code: put the data of a store into the transfer buffer."""
    base = register(operand, max(1, form.size // 4))
    for n in range(max(1, form.size // 4)):
        word = i.b.read_vgpr(base + n)
        if form.high or operand.half == 1:
            word = word.lshr(16)
        i.b.write_data(first + n, word)


def load_lanes(i: Access, operand: Operand, form: Format, first: int = 0) -> None:
    """Lane code: put loaded data into registers."""
    base = register(operand, max(1, form.size // 4))
    if form.size >= 4:
        for n in range(form.size // 4):
            put(i, base + n, i.b.read_data(first + n))
        return
    word = i.b.read_data(first)
    narrow = word.trunc(I8 if form.size == 1 else I16)
    if not form.d16 and operand.half is None:
        put(i, base, narrow.sext(I32) if form.signed else narrow.zext(I32))
        return
    half = (narrow.sext(I16) if form.signed else narrow.zext(I16)).zext(I32)
    old = i.b.read_vgpr(base)
    if form.high or operand.half == 1:
        put(i, base, old & 0xFFFF | half.shl(16))
    else:
        put(i, base, old & 0xFFFF0000 | half)


def _bounded(i: Access) -> bool:
    """Whether M0 bounds LDS: before GFX9, accesses that end beyond it read 0 and write nothing."""
    return i.generation < 9 and i.insn.encoding == "DS" and not i.modifier("gds")


def taking_part(i: Access) -> Value:
    """The lanes that take part in an access: the active lanes. For GDS instructions from GFX11 on, it is only the
    lowest active lane; for LDS instructions before GFX9, only those lanes whose access is below M0.
    """
    if _bounded(i):
        return i.b.read_sgpr(EXCEPTION_MASKS, i.wave_size // 32)
    mask = i.exec
    return mask & -mask if i.modifier("gds") and i.generation >= 11 else mask


def put(i: Access, number: int, value: Value) -> None:
    """Lane code: write a result in the lanes that take part."""
    if i.modifier("gds") and i.generation >= 11:
        value = i.b.lane_bit(taking_part(i)).select(value, i.b.read_vgpr(number))
    i.b.write_vgpr(number, value)


Addresses = Callable[[Access], "tuple[str, Value, Sequence[Value]]"]
"""Lane code that returns (space, this lane's address, the routine's two arguments)."""


def transfer(i: Access, how: Addresses, access: str, size: int) -> None:
    """Write the addresses in lane code, then call the routine. The data of a store must be in the transfer buffer
    already."""
    i.b.lanes()
    space, address, extra = how(i)
    i.b.write_address(address)
    _bound(i, address, size)
    i.b.scalar()
    a, b = (*extra, i.const(0, I64), i.const(0, I64))[:2]
    i.b.call(f"{access}_{space}", (taking_part(i), i.const(size, I64), a, b))
    if access == "load":
        _clear_beyond(i, max(1, size // 4))


def _bound(i: Access, address: Value, size: int) -> None:
    """Lane code: record the lanes whose access to LDS ends below M0, on targets where M0 bounds LDS."""
    if _bounded(i):
        i.b.write_lane_mask(EXCEPTION_MASKS, (address + size).ule(i.m0.zext(I64)))


def _clear_beyond(i: Access, words: int) -> None:
    """Write the results, which are 0, of lanes that did not take part in a bounded access."""
    if _bounded(i):
        i.b.lanes()
        inside = i.b.lane_bit(taking_part(i))
        for n in range(words):
            i.b.write_data(n, inside.select(i.b.read_data(n), 0))


def load(i: Access, how: Addresses, destination: Operand, form: Format) -> None:
    transfer(i, how, "load", form.size)
    i.b.lanes()
    load_lanes(i, destination, form)
    if i.modifier("tfe"):  # texture fail enable: another dword reports non-resident memory, which does not exist
        more = max(1, form.size // 4)
        i.b.write_vgpr(register(destination, more + 1) + more, i.const(0))


def lds_slot(size: int) -> Addresses:
    """The offset in LDS of lane L's ``size`` bytes where no register gives it: M0 + the instruction's offset + 4 * L,
    or + 16 * L for sizes over 4.
    """

    def slot(i: Access) -> tuple[str, Value, Sequence[Value]]:
        wide = i.target.family == "gfx940"
        base = (i.m0 & (0x3FFFF if wide else 0xFFFF)) + i.modifier("offset")
        return "lds", (base + i.lane * (16 if size > 4 else 4)).zext(I64), ()

    return slot


def load_to_lds(i: Access, how: Addresses, form: Format) -> None:
    """Load from memory to LDS without registers, see `lds_slot`. Narrow elements are extended to a dword."""
    transfer(i, how, "load", form.size)
    if form.size < 4:
        i.b.lanes()
        narrow = i.b.read_data(0).trunc(I8 if form.size == 1 else I16)
        i.b.write_data(0, narrow.sext(I32) if form.signed else narrow.zext(I32))
    size = max(4, form.size)
    transfer(i, lds_slot(size), "store", size)


def store(i: Access, how: Addresses, data: Operand, form: Format) -> None:
    i.b.lanes()
    store_lanes(i, data, form)
    transfer(i, how, "store", form.size)


def _flush(i: Access, helper: str, space: str) -> int:
    """How a float atomic treats subnormals, as bits of its routine's argument b.

    In LDS, additions follow MODE (f64 additions flush nothing), comparisons follow MODE's input bit, and minimum and
    maximum flush only for the comparison, on GFX12 also the result. In memory, GFX9 and GFX11 flush the inputs of f32
    additions regardless of MODE, but gfx940 and later flush nothing; GFX10 and GFX11 compare as LDS does; GFX12 flushes
    nothing.
    """
    name, _, width = helper.rpartition("_")
    if name not in ("fadd", "fmin", "fmax", "fcmpswap", "pk_add"):
        return 0
    single = width == "32"
    inputs = i.mode.flush_inputs32 if single else i.mode.flush_inputs16_64
    results = i.mode.flush_outputs32 if single else i.mode.flush_outputs16_64
    in_lds = space in ("lds", "gds")
    if name in ("fadd", "pk_add"):
        if not in_lds:
            recent = i.target.family == "gfx940" or i.generation >= 12
            inputs, results = name == "fadd" and single and not recent, False
        elif name == "fadd" and not single:
            inputs = results = False
    else:
        follows = in_lds or i.generation in (10, 11)
        inputs = inputs and follows
        results = inputs and (name == "fcmpswap" or i.generation >= 12)
    return inputs * FLUSH_INPUTS | results * FLUSH_RESULTS


def atomic(i: Access, how: Addresses, helper: str, data: Sequence[Operand], result: Operand | None) -> None:
    """Execute an atomic. The dwords of the operands ``data``, in order, are the routine's operands."""
    row = BY_NAME[helper]
    i.b.lanes()
    position = 0
    for operand in data:
        for n in range(operand.dwords):
            i.b.write_data(position, i.b.read_vgpr(register(operand, n + 1) + n))
            position += 1
    space, address, extra = how(i)
    i.b.write_address(address)
    size = row.type.bits // 8
    _bound(i, address, size)
    i.b.scalar()
    a, b = (*extra, i.const(0, I64), i.const(0, I64))[:2]
    b = b | _flush(i, helper, space)
    i.b.call(f"atomic_{helper}_{space}", (taking_part(i), i.const(size, I64), a, b))
    _clear_beyond(i, size // 4)
    if result is not None:
        i.b.lanes()
        for n in range(size // 4):
            put(i, register(result, size // 4) + n, i.b.read_data(n))


def memory(name: str, function: Callable[[Access], None]) -> None:
    """Register a memory instruction."""
    semantic(name, kind=Kind.WAVE)(function)
