"""MUBUF and MTBUF instructions: addresses through a buffer resource in four SGPRs.

The routines ``*_buffer`` read the resource themselves: base, stride, swizzle, lane, range check, format
(`rocdbg.sim.translator.buffer_access`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rocdbg.isa.instruction import Operand, OperandKind
from rocdbg.sim.core import buffer_request
from rocdbg.sim.core.builder import I32, I64, Value
from rocdbg.sim.core.layout import sgpr_offset
from rocdbg.sim.semantics.access import Access, Unsupported
from rocdbg.sim.semantics.memory_common import (
    ATOMICS,
    LOADS,
    STORES,
    Format,
    atomic,
    lds_slot,
    load,
    load_to_lds,
    memory,
    packs_halves,
    register,
    required,
    store,
    transfer,
)


def _rules(i: Access) -> int:
    """The bits of the request that describe the generation and the instruction."""
    flags = max(0, min(3, int(i.generation) - 9)) << buffer_request.RULES
    if i.modifier("idxen"):
        flags |= buffer_request.IDXEN
    if i.target.family == "gfx940":
        flags |= buffer_request.MEASURED_GFX940
    if i.generation < 9:
        flags |= buffer_request.BEFORE_GFX9 | (buffer_request.GFX8 if i.generation == 8 else 0)
    return flags


def _address(i: Access, flags: int) -> tuple[str, Value, Sequence[Value]]:
    resource, soffset, vaddr = required(i, "srsrc"), required(i, "soffset"), i.insn.operand("vaddr")
    if i.modifier("addr64"):
        return _address64(i, resource, soffset, flags)
    offset = i.const(i.modifier("offset"), I32)
    index = i.const(0, I32)
    if vaddr is not None and vaddr.kind is not OperandKind.OFF:
        position = 0
        if i.modifier("idxen"):
            index = i.dword(vaddr, 0)
            position = 1
        if i.modifier("offen"):
            offset = offset + i.dword(vaddr, position)
    address = offset.zext(I64) | index.zext(I64).shl(32)
    code = i.scalar_code(resource, 4)
    if code == i.context.null:
        raise Unsupported(f"{i.insn.text}: no resource")
    where = sgpr_offset(code) | flags
    return "buffer", address, (i.const(where, I64), i.raw_operand(soffset).zext(I64))


def _address64(i: Access, resource: Operand, soffset: Operand, flags: int) -> tuple[str, Value, Sequence[Value]]:
    """GFX6 and GFX7 with ADDR64: the resource gives only a base, and nothing is checked or swizzled."""
    vaddr = i.raw_operand(required(i, "vaddr"), 64)
    if flags & buffer_request.FORMATTED:
        where = sgpr_offset(i.scalar_code(resource, 4)) | flags | buffer_request.ADDR64
        return "buffer", vaddr + i.modifier("offset"), (i.const(where, I64), i.raw_operand(soffset).zext(I64))
    base = i.dword(resource, 0).zext(I64) | (i.dword(resource, 1) & 0xFFFF).zext(I64).shl(32)
    return "global", base + vaddr + i.raw_operand(soffset).zext(I64) + i.modifier("offset"), ()


def _buffer(i: Access) -> tuple[str, Value, Sequence[Value]]:
    return _address(i, _rules(i))


def _load(form: Format) -> Callable[[Access], None]:
    def function(i: Access) -> None:
        if i.modifier("lds"):
            load_to_lds(i, _buffer, form)
        else:
            load(i, _buffer, required(i, "vdata"), form)

    return function


def _store(form: Format) -> Callable[[Access], None]:
    return lambda i: store(i, _buffer, required(i, "vdata"), form)


def _returned(i: Access) -> Operand | None:
    """The operand that receives the old value, which is vdata with glc (sc0 on gfx942, th on gfx12); otherwise None."""
    wanted = i.modifier("glc") or i.modifier("sc0") or i.modifier("th") & 1
    return required(i, "vdata") if wanted else None


def _atomic(helper: str) -> Callable[[Access], None]:
    return lambda i: atomic(i, _buffer, helper, (required(i, "vdata"),), _returned(i))


# -- formats --------------------


class _FormatOf:
    """What the name of a format instruction says: whether values are halves (``d16``), whether they are in upper halves
    (``high``), and how many ``channels`` there are.
    """

    def __init__(self, typed: bool, channels: int, d16: bool = False, high: bool = False) -> None:
        self.typed, self.channels, self.d16, self.high = typed, channels, d16, high

    def address(self, i: Access) -> tuple[str, Value, Sequence[Value]]:
        flags = _rules(i) | buffer_request.FORMATTED | self.channels << buffer_request.CHANNELS
        if self.d16:
            flags |= buffer_request.D16
        if self.typed:
            flags |= buffer_request.TYPED | i.modifier("format", 1) << buffer_request.FORMAT
        return _address(i, flags)

    def call(self, i: Access, access: str) -> None:
        i.b.lanes()
        _, address, extra = self.address(i)
        i.b.write_address(address)
        i.b.scalar()
        i.b.call(f"{access}_format_buffer", (i.exec, i.const(0, I64), *extra))


def _load_format(what: _FormatOf) -> Callable[[Access], None]:
    def function(i: Access) -> None:
        what.call(i, "load")
        if i.modifier("lds"):
            transfer(i, lds_slot(4), "store", 4)
            return
        i.b.lanes()
        words = [i.b.read_data(n) for n in range(what.channels)]
        packs = what.d16 and packs_halves(i)
        registers = 1 if what.high else -(-what.channels // 2) if packs else what.channels
        base = register(required(i, "vdata"), registers + bool(i.modifier("tfe")))
        if packs:
            words = _packed(i, words, base, what.high)
        for n, word in enumerate(words):
            i.b.write_vgpr(base + n, word)
        if i.modifier("tfe"):  # memory is always resident
            i.b.write_vgpr(base + len(words), i.const(0))

    return function


def _packed(i: Access, halves: list[Value], base: int, high: bool) -> list[Value]:
    """Two halves per register; a half that is not loaded keeps its value."""
    if high:
        return [i.b.read_vgpr(base) & 0xFFFF | halves[0].shl(16)]
    out: list[Value] = []
    for n in range(0, len(halves), 2):
        other = halves[n + 1].shl(16) if n + 1 < len(halves) else i.b.read_vgpr(base + n // 2) & 0xFFFF0000
        out.append(halves[n] & 0xFFFF | other)
    return out


def _store_format(what: _FormatOf) -> Callable[[Access], None]:
    def function(i: Access) -> None:
        i.b.lanes()
        packs = what.d16 and packs_halves(i)
        base = register(required(i, "vdata"), -(-what.channels // 2) if packs else what.channels)
        for n in range(what.channels):
            if not packs:
                word = i.b.read_vgpr(base + n)
            else:
                word = i.b.read_vgpr(base + n // 2)
                word = word.lshr(16) if what.high or n & 1 else word & 0xFFFF
            i.b.write_data(n, word)
        what.call(i, "store")

    return function


def _store_from_lds(i: Access) -> None:
    """buffer_store_lds_dword: lane L's dword at M0[15:0] + offset + 4 * L in LDS goes to the buffer."""
    transfer(i, lds_slot(4), "load", 4)
    transfer(i, _buffer, "store", 4)


for _suffix, _form in LOADS.items():
    memory(f"buffer_load_{_suffix}", _load(_form))
for _suffix, _form in STORES.items():
    memory(f"buffer_store_{_suffix}", _store(_form))
for _suffix, _helper in ATOMICS.items():
    memory(f"buffer_atomic_{_suffix}", _atomic(_helper))
memory("buffer_store_lds_dword", _store_from_lds)

for _channels, _letters in enumerate(("x", "xy", "xyz", "xyzw"), 1):
    for _prefix, _typed in (("buffer", False), ("tbuffer", True)):
        memory(f"{_prefix}_load_format_{_letters}", _load_format(_FormatOf(_typed, _channels)))
        memory(f"{_prefix}_store_format_{_letters}", _store_format(_FormatOf(_typed, _channels)))
        for _infix in (f"format_d16_{_letters}", f"d16_format_{_letters}"):
            memory(f"{_prefix}_load_{_infix}", _load_format(_FormatOf(_typed, _channels, True)))
            memory(f"{_prefix}_store_{_infix}", _store_format(_FormatOf(_typed, _channels, True)))
for _infix in ("format_d16_hi_x", "d16_hi_format_x"):
    memory(f"buffer_load_{_infix}", _load_format(_FormatOf(False, 1, True, True)))
    memory(f"buffer_store_{_infix}", _store_format(_FormatOf(False, 1, True, True)))
