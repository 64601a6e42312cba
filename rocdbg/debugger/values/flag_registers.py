"""The types of registers that consist of fields: MODE, STATUS, and the exception flags.

Names and positions are those that ROCgdb shows, which come from the hardware's documentation. There are no such types
for generations that ROCgdb does not support: their registers are plain integers.
"""

from __future__ import annotations

from functools import lru_cache

from rocdbg.arch.targets import Generation, Target
from rocdbg.debugger.values import c_types
from rocdbg.dwarf.info.types import BaseType, Encoding, Enumerator, EnumType, FlagField, FlagsType, Type

_ENUMS = {
    "fp_round": {"NEAREST_EVEN": 0, "PLUS_INF": 1, "MINUS_INF": 2, "ZERO": 3},
    "fp_denorm": {"FLUSH_SRC_DST": 0, "FLUSH_DST": 1, "FLUSH_SRC": 2, "FLUSH_NONE": 3},
    "dp_rate": {"NONE": 0, "QUARTER": 1, "FULL": 4},
    "first_memviol_source": {"INSTRUCTION": 0, "SMEM": 1, "LDS": 2, "VMEM": 3},
}
_UINT32 = BaseType("uint32_t", Encoding.UNSIGNED, 4)

# A field is written NAME@BIT, or NAME@FIRST-LAST with an optional enumeration after a colon; otherwise it is a number.
_FLOAT_MODE = (
    "FP_ROUND.32@0-1:fp_round FP_ROUND.64_16@2-3:fp_round FP_DENORM.32@4-5:fp_denorm FP_DENORM.64_16@6-7:fp_denorm "
)
_CLAMPS = "DX10_CLAMP@8 IEEE@9 LOD_CLAMPED@10 "
_ENABLED = (
    "EXCP_EN.INVALID@12 EXCP_EN.DENORM@13 EXCP_EN.DIV0@14 EXCP_EN.OVERFLOW@15 EXCP_EN.UNDERFLOW@16 EXCP_EN.INEXACT@17 "
    "EXCP_EN.INT_DIV0@18 EXCP_EN.ADDR_WATCH@19 "
)
_MODE_10 = _FLOAT_MODE + _CLAMPS + "DEBUG_EN@11 " + _ENABLED
_MODE_9 = " FP16_OVFL@23 POPS_PACKER0@24 POPS_PACKER1@25 DISABLE_PERF@26 GPR_IDX_EN@27 VSKIP@28 CSP@29-31"

_STATUS = (
    "SCC@0 SPI_PRIO@1-2 USER_PRIO@3-4 PRIV@5 TRAP_EN@6 TTRACE_EN@7 EXPORT_RDY@8 EXECZ@9 VCCZ@10 IN_TG@11 IN_BARRIER@12 "
    "HALT@13 TRAP@14 {} VALID@16 ECC_ERR@17 SKIP_EXPORT@18 PERF_EN@19 COND_DBG_USER@20 COND_DBG_SYS@21 "
)
_STATUS_9 = _STATUS.format("TTRACE_CU_EN@15") + "ALLOW_REPLAY@22 FATAL_HALT@23 MUST_EXPORT@27"
_STATUS_10 = _STATUS.format("TTRACE_SIMD_EN@15")
_UNITS_11 = "OREO_CONFLICT@22 FATAL_HALT@23 NO_VGPRS@24 {}@25 MUST_GS_ALLOC@26 MUST_EXPORT@27 IDLE@28 "

_RAISED = (
    "EXCP.INVALID@0 EXCP.DENORM@1 EXCP.DIV0@2 EXCP.OVERFLOW@3 EXCP.UNDERFLOW@4 EXCP.INEXACT@5 EXCP.INT_DIV0@6 "
    "EXCP.ADDR_WATCH@7 EXCP.MEM_VIOL@8 SAVE_CTX@10 ILLEGAL_INST@11 EXCP_HI.ADDR_WATCH1@12 EXCP_HI.ADDR_WATCH2@13 "
    "EXCP_HI.ADDR_WATCH3@14 "
)
_RATE = " DP_RATE@29-31:dp_rate"
_ALU = (
    "ALU_INVALID@0 ALU_INPUT_DENORM@1 ALU_FLOAT_DIV0@2 ALU_OVERFLOW@3 ALU_UNDERFLOW@4 ALU_INEXACT@5 ALU_INT_DIV0@6 "
)

_LAYOUTS = {
    "gfx9": {
        "mode": _MODE_10 + _MODE_9,
        "status": _STATUS_9,
        "trapsts": _RAISED + "EXCP_CYCLE@16-21 XNACK_ERROR@28" + _RATE,
    },
    "gfx940": {
        "mode": _MODE_10 + "TRAP_ON_END@21" + _MODE_9,
        "status": _STATUS_9 + " SCRATCH_EN@28 IDLE@31",
        "trapsts": _RAISED + "EXCP_CYCLE@16-21 HOST_TRAP@22 WAVE_BEGIN@23 WAVE_END@24 TRAP_AFTER_INST@25 "
        "PERF_SNAPSHOT@26 XNACK_ERROR@28" + _RATE,
    },
    "gfx10": {
        "mode": _MODE_10 + "FP16_OVFL@23 DISABLE_PERF@27",
        "status": _STATUS_10 + "FATAL_HALT@23 MUST_EXPORT@27",
        "trapsts": _RAISED + "BUFFER_OOB@15 EXCP_CYCLE@16-19 EXCP_GROUP_MASK@20-23 EXCP_WAVE64HI@24 UTC_ERROR@28"
        + _RATE,
    },
    "gfx11": {
        "mode": _FLOAT_MODE + _CLAMPS + "TRAP_AFTER_INST_EN@11 " + _ENABLED
        + "WAVE_END@21 FP16_OVFL@23 DISABLE_PERF@27",
        "status": _STATUS_10 + _UNITS_11.format("LDS_PARAM_READY") + "SCRATCH_EN@29",
        "trapsts": _RAISED + "BUFFER_OOB@15 HOST_TRAP@16 WAVE_START@17 WAVE_END@18 PERF_SNAPSHOT@19 "
        "TRAP_AFTER_INST@20 UTC_ERROR@28",
    },
    "gfx12": {
        "mode": _FLOAT_MODE + "FP16_OVFL@23 SCALAR_PREFETCH_EN@24 DISABLE_PERF@27",
        "status": "PRIV@5 TRAP_EN@6 EXPORT_RDY@8 EXECZ@9 VCCZ@10 IN_WG@11 TRAP@14 TRAP_BARRIER_COMPLETE@15 VALID@16 "
        "SKIP_EXPORT@18 " + _UNITS_11.format("LDS_PARAM_RDY") + "WAVE64@29 DYN_VGPR_EN@30 WGP_TAKEOVER@31",
        "state_priv": "WG_RR_EN@0 SLEEP_WAKEUP@1 BARRIER_COMPLETE@2 NAMED_BARRIER_COMPLETE@3 NAMED_BARRIER_ID@4-8 "
        "SCC@9 SYS_PRIO@10-11 USER_PRIO@12-13 HALT@14 SCRATCH_EN@18 PERF_EN@19 TTRACE_EN@20",
        "trap_ctrl": _ALU + "ADDR_WATCH@7 WAVE_END@8 TRAP_AFTER_INST@9",
        "excp_flag_priv": "ADDR_WATCH0@0 ADDR_WATCH1@1 ADDR_WATCH2@2 ADDR_WATCH3@3 MEMVIOL@4 SAVE_CONTEXT@5 "
        "ILLEGAL_INST@6 HOST_TRAP@7 WAVE_START@8 WAVE_END@9 PERF_SNAPSHOT@10 TRAP_AFTER_INST@11 XNACK_ERROR@12 "
        "FIRST_MEMVIOL_SOURCE@30-31:first_memviol_source",
        "excp_flag_user": _ALU + "BUFFER_OOB@30 LOD_CLAMPED@31",
    },
}
_TYPE_NAMES = {"trap_ctrl": "trapctrl"}
_GENERATIONS = {
    Generation.GFX9: "gfx9", Generation.GFX10: "gfx10", Generation.GFX11: "gfx11", Generation.GFX12: "gfx12",
}


def flags_type(register: str, target: Target) -> FlagsType | None:
    """Return the type of a register of a target; ``None`` if no fields are described for it."""
    generation = _GENERATIONS.get(target.generation)
    if generation is None or target.is_gfx125:
        return None
    if generation == "gfx9" and target.family == "gfx940":
        generation = "gfx940"
    return _flags(register, generation)


@lru_cache(maxsize=128)
def _flags(register: str, layout: str) -> FlagsType | None:
    fields = _LAYOUTS[layout].get(register)
    if fields is None:
        return None
    name = _TYPE_NAMES.get(register, register)
    return FlagsType(name, Encoding.UNSIGNED, 4, fields=tuple(map(_field, fields.split())))


def _field(text: str) -> FlagField:
    name, _, place = text.partition("@")
    bits, _, enumeration = place.partition(":")
    first, _, last = bits.partition("-")
    if not last:
        return FlagField(name, int(first), 1, c_types.BOOL)
    type_: Type = _enum(enumeration) if enumeration else _UINT32
    return FlagField(name, int(first), int(last) - int(first) + 1, type_)


@lru_cache(maxsize=16)
def _enum(name: str) -> EnumType:
    enumerators = tuple(Enumerator(item, value) for item, value in _ENUMS[name].items())
    return EnumType(name, name, enumerators, c_types.UNSIGNED_INT, 4, tagged=True)
