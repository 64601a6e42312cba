"""MUBUF instructions: addresses through a buffer resource in four SGPRs.

The routine ``*_buffer`` reads the resource itself: base, stride, swizzle, add-tid, range check.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rocdbg.isa.instruction import Operand, OperandKind
from rocdbg.sim.builder import I32, I64, Value
from rocdbg.sim.layout import sgpr_offset
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.memory_common import (
    ATOMICS,
    LOADS,
    STORES,
    Format,
    atomic,
    load,
    load_to_lds,
    memory,
    required,
    store,
)


def _buffer(i: Access) -> tuple[str, Value, Sequence[Value]]:
    resource, soffset, vaddr = required(i, "srsrc"), required(i, "soffset"), i.insn.operand("vaddr")
    offset = i.const(i.modifier("offset"), I32)
    index = i.const(0, I32)
    if vaddr is not None and vaddr.kind is not OperandKind.OFF:
        position = 0
        if i.modifier("idxen"):
            index = i.dword(vaddr, 0)
            position = 1
        if i.modifier("offen"):
            offset = offset + i.dword(vaddr, position)
    flags = (i.generation >= 10) << 32 | (i.generation >= 11) << 33 | bool(i.modifier("idxen")) << 34
    where = sgpr_offset(i.scalar_code(resource)) | flags
    address = offset.zext(I64) | index.zext(I64).shl(32)
    return "buffer", address, (i.const(where, I64), i.raw_operand(soffset).zext(I64))


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
    """The old value comes back in vdata with glc (sc0 on gfx942, th on gfx12)."""
    wanted = i.modifier("glc") or i.modifier("sc0") or i.modifier("th") & 1
    return required(i, "vdata") if wanted else None


def _atomic(helper: str) -> Callable[[Access], None]:
    return lambda i: atomic(i, _buffer, helper, (required(i, "vdata"),), _returned(i))


for _suffix, _form in LOADS.items():
    memory(f"buffer_load_{_suffix}", _load(_form))
for _suffix, _form in STORES.items():
    memory(f"buffer_store_{_suffix}", _store(_form))
for _suffix, _helper in ATOMICS.items():
    memory(f"buffer_atomic_{_suffix}", _atomic(_helper))
