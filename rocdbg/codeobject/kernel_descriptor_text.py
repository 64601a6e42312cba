"""Kernel descriptors of code object V3 and later as assembler directives.

They re-assemble to the same descriptor for the code object's target id. In two cases, llvm-objdump's output does not
re-assemble to the same descriptor, and only in these cases do the directives differ from that output: if XNACK may be
on, the assembler accepts only 1 for ``.amdhsa_reserve_xnack_mask``, and counts the registers of the mask itself; and a
number of user SGPRs that does not follow from the enabled ones (gfx11) needs a directive. Properties without a
directive are comments. As in llvm-objdump, a descriptor in which reserved bits are set has no directives: a line names
the bits, and the bytes follow.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

from msgspec import Struct

from rocdbg.arch.target_id import Feature
from rocdbg.arch.targets import Generation, ScratchKind, Target
from rocdbg.codeobject.kernel_descriptor import DESCRIPTOR_SIZE

_LAYOUT = struct.Struct("<III4s8x20sIIIHH4s")
_SGPRS_FOR_SCRATCH = 4
"""SGPRs that the assembler reserves for VCC and FLAT_SCRATCH; on GFX6, which does not have the latter, no directive can
prevent that.
"""
_SGPRS_FOR_XNACK = 4
_SGPRS_ARCHITECTED = 6
"""SGPRs that the assembler reserves on GFX8 and GFX9 for the XNACK mask if XNACK may be on, and also if flat scratch is
architected.
"""
_SGPR_GRANULE = 8
"""SGPRs per unit of the descriptor's count, as the assembler counts on all generations."""


class _Facts(Struct, frozen=True):
    """The facts that determine which directives a descriptor has."""

    target: Target
    wave32: bool
    """The descriptor's own setting, which applies even if the target cannot run such code."""
    version: int
    """Version of the code object; 0 for an ABI other than HSA's."""
    xnack: bool = False
    """Whether XNACK may be on."""

    @property
    def reserved_sgprs(self) -> int:
        """SGPRs that the assembler always adds to those of `.amdhsa_next_free_sgpr`, regardless of the directives."""
        if not self.since(Generation.GFX7):
            return _SGPRS_FOR_SCRATCH
        if not self.xnack or not self.since(Generation.GFX8) or self.since(Generation.GFX10):
            return 0
        return _SGPRS_ARCHITECTED if self.architected else _SGPRS_FOR_XNACK

    def since(self, generation: Generation) -> bool:
        return self.target.generation >= generation

    @property
    def architected(self) -> bool:
        return self.target.scratch is ScratchKind.ARCHITECTED

    @property
    def vgpr_granule(self) -> int:
        if not self.wave32 and self.target.wave_sizes == (32,):
            return self.target.vgpr_granule(32) // 2  # such code cannot run, but the assembler has a rule for it
        return self.target.vgpr_granule(32 if self.wave32 else 64)


_When = Callable[[_Facts], bool]


def _always(facts: _Facts) -> bool:
    return True


def _since(generation: Generation) -> _When:
    return lambda facts: facts.since(generation)


def _before(generation: Generation) -> _When:
    return lambda facts: not facts.since(generation)


def _gfx125(facts: _Facts) -> bool:
    return facts.target.is_gfx125


class _Bits(Struct, frozen=True):
    """A bit field with a directive, or a comment if ``name`` begins with a semicolon."""

    name: str
    low: int
    width: int = 1
    when: _When = _always


class _Count(Struct, frozen=True):
    """A bit field that counts blocks, minus one; ``block`` is the size of a block, ``more`` the number that the
    assembler adds by itself."""

    name: str
    low: int
    width: int
    block: Callable[[_Facts], int]
    when: _When = _always
    more: Callable[[_Facts], int] = lambda _: 0


class _Constant(Struct, frozen=True):
    """A directive whose value is not in the descriptor; 0 leaves the count of SGPRs unchanged."""

    name: str
    value: Callable[[_Facts], int]
    when: _When = _always


class _Reserved(Struct, frozen=True):
    """Bits that must be 0, as llvm-objdump names them; it adds ``base`` to their numbers."""

    name: str
    low: int
    width: int
    why: str = ""
    when: _When = _always
    base: int = 0


_Row = _Bits | _Count | _Constant | _Reserved
_G9, _G10, _G11, _G12 = Generation.GFX9, Generation.GFX10, Generation.GFX11, Generation.GFX12


def _unified(facts: _Facts) -> bool:
    return facts.target.unified_vgprs


def _gfx10_only(facts: _Facts) -> bool:
    return facts.target.generation is _G10


def _gfx11_only(facts: _Facts) -> bool:
    return facts.target.generation is _G11


def _shared_vgprs(facts: _Facts) -> bool:
    return facts.target.generation in (_G10, _G11)


_R3 = "COMPUTE_PGM_RSRC3"
_RSRC3: tuple[_Row, ...] = (
    _Count(".amdhsa_accum_offset", 0, 6, lambda _: 4, _unified),
    _Bits(".amdhsa_tg_split", 16, 1, _unified),
    _Reserved(_R3, 6, 10, "must be zero on gfx90a", _unified),
    _Reserved(_R3, 17, 15, "must be zero on gfx90a", _unified),
    _Bits(".amdhsa_shared_vgpr_count", 0, 4, lambda f: _shared_vgprs(f) and not f.wave32),
    _Bits("; SHARED_VGPR_COUNT", 0, 4, lambda f: _shared_vgprs(f) and f.wave32),
    _Reserved(_R3, 0, 4, "must be zero on gfx12+", _since(_G12)),
    _Bits(".amdhsa_inst_pref_size", 4, 6, _gfx11_only),
    _Bits("; TRAP_ON_START", 10, 1, _gfx11_only),
    _Bits("; TRAP_ON_END", 11, 1, _gfx11_only),
    _Bits(".amdhsa_inst_pref_size", 4, 8, _since(_G12)),
    _Reserved(_R3, 4, 8, "must be zero on gfx10", _gfx10_only),
    _Reserved(_R3, 12, 1, "must be zero on gfx10+", _since(_G10)),
    _Bits("; GLG_EN", 13, 1, _since(_G12)),
    _Reserved(_R3, 13, 1, "must be zero on gfx10 or gfx11", _shared_vgprs),
    _Bits(".amdhsa_named_barrier_count", 14, 3, _gfx125),
    _Bits("; ENABLE_DYNAMIC_VGPR", 17, 1, _gfx125),
    _Bits("; TCP_SPLIT", 18, 3, _gfx125),
    _Bits("; ENABLE_DIDT_THROTTLE", 21, 1, _gfx125),
    _Reserved(_R3, 14, 8, "must be zero on gfx10+", lambda f: f.since(_G10) and not _gfx125(f)),
    _Reserved(_R3, 22, 9, "must be zero on gfx10+", _since(_G10)),
    _Bits("; IMAGE_OP", 31, 1, _since(_G11)),
    _Reserved(_R3, 31, 1, "must be zero on gfx10", _gfx10_only),
)
_R1 = "COMPUTE_PGM_RSRC1"
_RSRC1: tuple[_Row, ...] = (
    _Count(".amdhsa_next_free_vgpr", 0, 6, lambda f: f.vgpr_granule),
    _Reserved(f"{_R1}_GRANULATED_WAVEFRONT_SGPR_COUNT", 6, 4, "must be zero on gfx10+", _since(_G10)),
    _Constant(".amdhsa_reserve_vcc", lambda _: 0),
    # the assembler does not accept what GFX6 and GFX7 do not have
    _Constant(
        ".amdhsa_reserve_flat_scratch", lambda _: 0,
        lambda f: not f.architected and f.since(Generation.GFX7),
    ),
    # The assembler requires the setting of the target id; on gfx125x the setting is fixed.
    _Constant(".amdhsa_reserve_xnack_mask", lambda f: int(f.xnack or _gfx125(f)), _since(Generation.GFX8)),
    _Count(
        ".amdhsa_next_free_sgpr", 6, 4, lambda _: _SGPR_GRANULE,
        more=lambda f: f.reserved_sgprs,
    ),
    _Reserved(f"{_R1}_PRIORITY", 10, 2),
    _Bits(".amdhsa_float_round_mode_32", 12, 2),
    _Bits(".amdhsa_float_round_mode_16_64", 14, 2),
    _Bits(".amdhsa_float_denorm_mode_32", 16, 2),
    _Bits(".amdhsa_float_denorm_mode_16_64", 18, 2),
    _Reserved(f"{_R1}_PRIV", 20, 1),
    _Bits(".amdhsa_dx10_clamp", 21, 1, _before(_G12)),
    _Reserved(f"{_R1}_DEBUG_MODE", 22, 1),
    _Bits(".amdhsa_ieee_mode", 23, 1, _before(_G12)),
    _Reserved(f"{_R1}_BULKY", 24, 1),
    _Reserved(f"{_R1}_CDBG_USER", 25, 1),
    _Bits(".amdhsa_fp16_overflow", 26, 1, _since(_G9)),
    _Reserved(_R1, 26, 1, "must be zero pre-gfx9", _before(_G9)),
    _Bits("; FLAT_SCRATCH_IS_NV", 27, 1, _gfx125),
    _Reserved(_R1, 27, 1, "", lambda f: not _gfx125(f)),
    _Reserved(_R1, 28, 1),
    _Bits(".amdhsa_workgroup_processor_mode", 29, 1, lambda f: f.since(_G10) and not _gfx125(f)),
    _Bits(".amdhsa_memory_ordered", 30, 1, _since(_G10)),
    _Bits(".amdhsa_forward_progress", 31, 1, _since(_G10)),
    _Reserved(_R1, 29, 3, "", _before(_G10)),
    _Bits(".amdhsa_round_robin_scheduling", 21, 1, _since(_G12)),
)
_R2 = "COMPUTE_PGM_RSRC2"
_RSRC2: tuple[_Row, ...] = (
    _Bits(".amdhsa_enable_private_segment", 0, 1, lambda f: f.architected),
    _Bits(".amdhsa_system_sgpr_private_segment_wavefront_offset", 0, 1, lambda f: not f.architected),
    _Bits(".amdhsa_system_sgpr_workgroup_id_x", 7),
    _Bits(".amdhsa_system_sgpr_workgroup_id_y", 8),
    _Bits(".amdhsa_system_sgpr_workgroup_id_z", 9),
    _Bits(".amdhsa_system_sgpr_workgroup_info", 10),
    _Bits(".amdhsa_system_vgpr_workitem_id", 11, 2),
    _Reserved(f"{_R2}_ENABLE_EXCEPTION_ADDRESS_WATCH", 13, 1),
    _Reserved(f"{_R2}_ENABLE_EXCEPTION_MEMORY", 14, 1),
    _Reserved(f"{_R2}_GRANULATED_LDS_SIZE", 15, 9),
    _Bits(".amdhsa_exception_fp_ieee_invalid_op", 24),
    _Bits(".amdhsa_exception_fp_denorm_src", 25),
    _Bits(".amdhsa_exception_fp_ieee_div_zero", 26),
    _Bits(".amdhsa_exception_fp_ieee_overflow", 27),
    _Bits(".amdhsa_exception_fp_ieee_underflow", 28),
    _Bits(".amdhsa_exception_fp_ieee_inexact", 29),
    _Bits(".amdhsa_exception_int_div_zero", 30),
    _Reserved(_R2, 31, 1),
)
_PROPERTIES_AT = 448
"""The first bit of the kernel code properties in the descriptor, from which llvm-objdump's messages count."""
_PROPERTIES: tuple[_Row, ...] = (
    _Bits(".amdhsa_user_sgpr_private_segment_buffer", 0, 1, lambda f: not f.architected),
    _Bits(".amdhsa_user_sgpr_dispatch_ptr", 1),
    _Bits(".amdhsa_user_sgpr_queue_ptr", 2),
    _Bits(".amdhsa_user_sgpr_kernarg_segment_ptr", 3),
    _Bits(".amdhsa_user_sgpr_dispatch_id", 4),
    _Bits(".amdhsa_user_sgpr_flat_scratch_init", 5, 1, lambda f: not f.architected),
    _Bits(".amdhsa_user_sgpr_private_segment_size", 6),
    _Reserved("", 7, 3, base=_PROPERTIES_AT),
    _Reserved("", 10, 1, "must be zero on gfx9", lambda f: f.target.generation is _G9, _PROPERTIES_AT),
    _Bits(".amdhsa_wavefront_size32", 10, 1, _since(_G10)),
    _Bits(".amdhsa_uses_dynamic_stack", 11, 1, lambda f: f.version >= 5),
    _Reserved("", 12, 4, base=_PROPERTIES_AT),
)


class _Damage(Exception):
    """Reserved bits are set; the message names them."""


def descriptor_directives(
    data: bytes, name: str, target: Target, version: int, xnack: Feature = Feature.OFF
) -> list[str]:
    """The lines of a descriptor of code object V3 or later: 64 bytes, of the kernel ``name`` (without ``.kd``).

    ``xnack`` is the setting of XNACK in the code object's target id.
    """
    try:
        body = list(_directives(data, target, version, xnack in (Feature.ON, Feature.ANY)))
    except _Damage as damage:
        return [
            f"; error decoding {name}.kd: kernel descriptor {damage}",
            "; decoding failed region as bytes",
            *(f"\t.byte\t 0x{byte:X}" for byte in data[:DESCRIPTOR_SIZE]),
        ]
    return [f".amdhsa_kernel {name}", *(f"\t{line}" for line in body), ".end_amdhsa_kernel"]


def _directives(data: bytes, target: Target, version: int, xnack: bool) -> Iterator[str]:
    words = _LAYOUT.unpack_from(data)
    group, private, kernarg, reserved0, reserved1, rsrc3, rsrc1, rsrc2, properties, preload, reserved3 = words
    facts = _Facts(target, bool(properties >> 10 & 1) and target.generation >= Generation.GFX10, version, xnack)
    yield f".amdhsa_group_segment_fixed_size {group}"
    yield f".amdhsa_private_segment_fixed_size {private}"
    yield f".amdhsa_kernarg_size {kernarg}"
    _must_be_zero(reserved0, 12)
    _must_be_zero(reserved1, 24)
    if rsrc3 and not target.unified_vgprs and target.generation < Generation.GFX10:
        raise _Damage(f"{_R3} must be all zero before gfx9")
    for word, rows in ((rsrc3, _RSRC3), (rsrc1, _RSRC1), (rsrc2, _RSRC2), (properties, _PROPERTIES)):
        yield from _lines(word, rows, facts)
    for what, value in (("length", preload & 0x7F), ("offset", preload >> 7)):
        if value:
            yield f".amdhsa_user_sgpr_kernarg_preload_{what} {value}"
    _must_be_zero(reserved3, 60)
    count, implied = rsrc2 >> 1 & (0x3F if target.is_gfx125 else 0x1F), _user_sgprs(properties, preload, facts)
    if count != implied:
        # the assembler does not accept fewer SGPRs than the enabled items need
        yield f"{'; USER_SGPR_COUNT' if count < implied else '.amdhsa_user_sgpr_count'} {count}"


_USER_SGPRS = (4, 2, 2, 2, 2, 2, 1)
"""The number of SGPRs that each bit of the kernel code properties enables, from bit 0 on."""


def _user_sgprs(properties: int, preload: int, facts: _Facts) -> int:
    """The number of user SGPRs that follows from the enabled ones, as the assembler counts."""
    counted = properties & ~0x21 if facts.architected else properties
    return sum(size for bit, size in enumerate(_USER_SGPRS) if counted >> bit & 1) + (preload & 0x7F)


def _lines(word: int, rows: tuple[_Row, ...], facts: _Facts) -> Iterator[str]:
    for row in rows:
        if not row.when(facts):
            continue
        if isinstance(row, _Constant):
            yield f"{row.name} {row.value(facts)}"
            continue
        value = word >> row.low & (1 << row.width) - 1
        if isinstance(row, _Bits):
            yield f"{row.name} {value}"
        elif isinstance(row, _Count):
            yield f"{row.name} {(value + 1) * row.block(facts) - row.more(facts)}"
        elif value:
            low, high = row.base + row.low, row.base + row.low + row.width - 1
            bits = f"bit ({low})" if low == high else f"bits in range ({high}:{low})"
            name, why = f"{row.name} " if row.name else "", f", {row.why}" if row.why else ""
            raise _Damage(f"{name}reserved {bits} set{why}")


def _must_be_zero(data: bytes, at: int) -> None:
    if any(data):
        raise _Damage(f"reserved bits in range ({(at + len(data)) * 8 - 1}:{at * 8}) set")
