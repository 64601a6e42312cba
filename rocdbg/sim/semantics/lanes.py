"""Instructions that move values between lanes, or between a lane and a scalar register."""

from __future__ import annotations

from rocdbg.isa.instruction import OperandKind
from rocdbg.sim.core.builder import I32, Value
from rocdbg.sim.semantics.access import Access, Unsupported, vector_number
from rocdbg.sim.semantics.registry import Kind, semantic


def _register(i: Access, k: int) -> int:
    """The number of source ``k``, or -1 if it is scalar."""
    operand = i.sources[k]
    return vector_number(operand) if operand.kind in (OperandKind.VGPR, OperandKind.AGPR) else -1


def _destination(i: Access) -> int:
    return vector_number(i.destinations[0])


@semantic("v_readfirstlane_b32", kind=Kind.WAVE)
def _(i: Access) -> None:
    i.b.scalar()
    if (register := _register(i, 0)) < 0:
        i.dst(0, i.raw_operand(i.sources[0]))
        return
    mask = i.exec
    first = mask.cttz().trunc(I32) if i.wave_size == 64 else mask.cttz()
    i.dst(0, i.b.read_lane(register, mask.eq(0).select(0, first)))


@semantic("v_readlane_b32", kind=Kind.WAVE)
def _(i: Access) -> None:
    i.b.scalar()
    if (register := _register(i, 0)) < 0:
        i.dst(0, i.raw_operand(i.sources[0]))
        return
    i.dst(0, i.b.read_lane(register, i.raw_operand(i.sources[1])))


@semantic("v_writelane_b32", kind=Kind.WAVE)
def _(i: Access) -> None:
    i.b.scalar()
    value = i.raw_operand(i.sources[0])
    i.b.write_lane(_destination(i), i.raw_operand(i.sources[1]), value)


def _move(i: Access, fetch_inactive: bool, group: int) -> tuple[Value, Value]:
    """The results of the routine, in lane code: the value of the requested lane, and whether that lane may be read."""
    everything = i.const((1 << i.wave_size) - 1, i.mask_type)
    i.b.call("bpermute", (everything if fetch_inactive else i.exec, i.const(group)))
    i.b.lanes()
    return i.b.read_data(2), i.b.read_data(3).ne(0)


def _reach(i: Access) -> int:
    """Number of lanes that exchange values: wave64 of GFX10 and GFX11 runs as two halves, each of which sees its own 32
    lanes."""
    return 32 if i.generation in (10, 11) else 64


@semantic("ds_bpermute_b32", "ds_bpermute_fi_b32", kind=Kind.WAVE)
def _(i: Access) -> None:
    address, data, vdst = i.insn.operand("addr"), i.insn.operand("data0"), i.insn.operand("vdst")
    assert address is not None and data is not None and vdst is not None
    i.b.scalar()
    # In the _fi form, inactive lanes can be sources: they are copied regardless of EXEC.
    i.b.shuffle(vector_number(data), list(range(i.wave_size)), 1)
    i.b.lanes()
    i.b.write_data(0, i.raw_operand(address) + i.modifier("offset"))
    value, valid = _move(i, i.name.endswith("fi_b32"), _reach(i))
    i.b.write_vgpr(vector_number(vdst), valid.select(value, 0))


@semantic("ds_permute_b32", kind=Kind.WAVE)
def _(i: Access) -> None:
    address, data, vdst = i.insn.operand("addr"), i.insn.operand("data0"), i.insn.operand("vdst")
    assert address is not None and data is not None and vdst is not None
    i.b.lanes()
    i.b.write_data(0, i.raw_operand(address) + i.modifier("offset"))
    i.b.write_data(1, i.raw_operand(data))
    i.b.scalar()
    i.b.call("permute", (i.exec, i.const(_reach(i))))
    i.b.lanes()
    i.b.write_vgpr(vector_number(vdst), i.b.read_data(2))


def swizzle_sources(offset: int, wave_size: int) -> list[int | None]:
    """Source lane of each lane for a ds_swizzle_b32 offset (within groups of 32)."""
    lanes = range(wave_size)
    if offset >= 0xE000:  # FFT
        mask = offset & 31
        sources: list[int | None] = []
        for lane in lanes:
            j = int(f"{lane & 31:05b}"[::-1], 2) >> mask.bit_count()
            sources.append(j | lane & mask | lane & 32)
        return sources
    if offset >= 0xC000:  # rotate
        amount, mask = offset >> 5 & 31, offset & 31
        if offset >> 10 & 1:
            amount = -amount
        return [lane & mask | (lane + amount) & ~mask & 31 | lane & 32 for lane in lanes]
    if offset & 0x8000:  # quad permutation
        return [lane & ~3 | offset >> 2 * (lane & 3) & 3 for lane in lanes]
    keep, either, flip = offset & 31, offset >> 5 & 31, offset >> 10 & 31
    return [lane & 32 | ((lane & 31 & keep | either) ^ flip) for lane in lanes]


@semantic("ds_swizzle_b32", kind=Kind.WAVE)
def _(i: Access) -> None:
    data, vdst = i.insn.operand("addr") or i.insn.operand("data0"), i.insn.operand("vdst")
    assert data is not None and vdst is not None
    sources = swizzle_sources(i.modifier("offset"), i.wave_size)
    i.b.scalar()
    i.b.shuffle(vector_number(data), sources, 0)
    valid = i.b.permute_mask(i.exec, sources)
    i.b.lanes()
    i.b.write_vgpr(vector_number(vdst), i.b.lane_bit(valid).select(i.b.read_data(0), 0))


@semantic("v_permlane16_b32", "v_permlanex16_b32", kind=Kind.WAVE)
def _(i: Access) -> None:
    register = _register(i, 0)
    if register < 0:
        raise Unsupported("v_permlane16_b32 of a scalar")
    b = i.b
    b.scalar()
    b.shuffle(register, list(range(i.wave_size)), 1)
    low, high = i.raw_operand(i.sources[1]), i.raw_operand(i.sources[2])
    b.lanes()
    lane = i.lane
    nibble = (lane & 7).shl(2)
    # One selector per lane of the row: lanes 0..7 in src1, 8..15 in src2.
    word = (lane & 8).ne(0).select(high, low)
    chosen = word.lshr(nibble) & 15
    row = lane & ~15 & 0xFFFFFFFF
    if i.name == "v_permlanex16_b32":
        row = row ^ 16
    b.write_data(0, (row | chosen).shl(2))
    fetch_inactive = bool(i.modifier("op_sel") & 1)
    value, valid = _move(i, fetch_inactive, 64)
    old = b.read_vgpr(_destination(i))
    other = i.const(0) if i.modifier("op_sel") & 2 else old
    b.write_vgpr(_destination(i), valid.select(value, other))


@semantic("v_permlane64_b32", kind=Kind.WAVE)
def _(i: Access) -> None:
    register = _register(i, 0)
    if i.wave_size == 32 or register < 0:
        return
    i.b.scalar()
    i.b.shuffle(register, [lane ^ 32 for lane in range(64)], 0)
    i.b.lanes()
    i.b.write_vgpr(_destination(i), i.b.read_data(0))


@semantic("v_permlane16_var_b32", "v_permlanex16_var_b32", kind=Kind.WAVE)
def _(i: Access) -> None:
    """As v_permlane16_b32, but each lane has a selector of its own."""
    register = _register(i, 0)
    if register < 0:
        raise Unsupported(f"{i.name} of a scalar")
    b = i.b
    b.scalar()
    b.shuffle(register, list(range(i.wave_size)), 1)
    b.lanes()
    row = i.lane & ~15 & 0xFFFFFFFF
    if i.name == "v_permlanex16_var_b32":
        row = row ^ 16
    b.write_data(0, (row | i.raw_operand(i.sources[1]) & 15).shl(2))
    value, valid = _move(i, bool(i.modifier("op_sel") & 1), 64)
    old = b.read_vgpr(_destination(i))
    other = i.const(0) if i.modifier("op_sel") & 2 else old
    b.write_vgpr(_destination(i), valid.select(value, other))


@semantic("v_permlane16_swap_b32", "v_permlane32_swap_b32", kind=Kind.WAVE)
def _(i: Access) -> None:
    """Exchange the odd rows (of 16 or 32 lanes) of the destination with the even rows of the source."""
    row = 16 if "16" in i.name else 32
    source, destination = vector_number(i.sources[0]), _destination(i)
    across = [lane ^ row for lane in range(i.wave_size)]
    b = i.b
    b.scalar()
    b.shuffle(source, list(across), 0)
    b.shuffle(destination, list(across), 1)
    valid = b.permute_mask(i.exec, across)
    b.lanes()
    given = []
    for dword, own in ((0, destination), (1, source)):
        value = b.read_data(dword)
        if not i.modifier("op_sel") & 1:  # without fi, inactive lanes provide nothing, or 0 with bound_ctrl
            instead = i.const(0) if i.modifier("op_sel") & 2 else b.read_vgpr(own)
            value = b.lane_bit(valid).select(value, instead)
        given.append(value)
    odd = (i.lane & row).ne(0)
    new_destination = odd.select(given[0], b.read_vgpr(destination))
    new_source = odd.select(b.read_vgpr(source), given[1])
    if source == destination:
        new_destination = new_source = odd.select(given[0], given[1])
    b.write_vgpr(destination, new_destination)
    b.write_vgpr(source, new_source)


__all__ = ["swizzle_sources"]
