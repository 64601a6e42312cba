"""Names for everything that a program can access: registers, memory, and the memory that workgroups and the device
share.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Annotated, Final

from msgspec import Meta, Struct

from rocdbg.arch.targets import Generation, Target
from rocdbg.sim.core.layout import EXEC_LO, HEADER, SGPR_COUNT, VCC_LO, VGPR_COUNT
from rocdbg.sim.core.wave import m0_code

Unsigned = Annotated[int, Meta(ge=0)]
WaveNumber = Annotated[int, Meta(ge=1)]

SPECIAL_BITS: Final[Mapping[str, int]] = {"scc": 1} | {
    name: 8 * field.size for name, field in HEADER.items() if name != "scc"
}
"""Widths of the hardware registers that have a name (`layout.HEADER`), in bits."""
SINCE_GFX12: Final = frozenset(("trap_ctrl", "sched_mode"))

_VECTOR = re.compile(r"([va])(0|[1-9][0-9]{0,3})")


class Register(Struct, tag="register", array_like=True, frozen=True):
    """A scalar register, or dwords of a vector register from ``lane`` on: ``s7``, ``vcc_lo``, ``m0``, ``v12``, ``a3``.
    """

    wave: WaveNumber
    name: Annotated[str, Meta(max_length=16)]
    lane: Unsigned = 0


class Special(Struct, tag="special", array_like=True, frozen=True):
    """A hardware register of a wave, one of `SPECIAL_BITS`."""

    wave: WaveNumber
    name: Annotated[str, Meta(max_length=16)]


class Lds(Struct, tag="lds", array_like=True, frozen=True):
    """Bytes of the LDS of a wave's workgroup."""

    wave: WaveNumber
    offset: Unsigned


class Gds(Struct, tag="gds", array_like=True, frozen=True):
    """Bytes of the global data share."""

    offset: Unsigned


class Sync(Struct, tag="gws", array_like=True, frozen=True):
    """A resource of global wave sync: its four fields (`global_share.GWS_FIELDS`), 16 bytes."""

    number: Unsigned


class Memory(Struct, tag="memory", array_like=True, frozen=True):
    """Bytes of one allocation of global memory, including the private memory of waves, by simulated address."""

    address: Unsigned


Place = Register | Special | Lds | Gds | Sync | Memory


@functools.cache
def scalar_codes(target: Target) -> Mapping[str, int]:
    """Operand codes of the scalar registers by name."""
    names = {f"s{code}": code for code in range(VCC_LO)}
    names |= {"vcc_lo": VCC_LO, "vcc_hi": VCC_LO + 1, "exec_lo": EXEC_LO, "exec_hi": EXEC_LO + 1}
    names |= dict(zip(("tba_lo", "tba_hi", "tma_lo", "tma_hi"), range(VCC_LO + 2, target.first_ttmp), strict=False))
    names |= {f"ttmp{code - target.first_ttmp}": code for code in range(target.first_ttmp, 124)}
    names["m0"] = m0_code(target)
    assert max(names.values()) < SGPR_COUNT
    return names


def specials(target: Target) -> tuple[str, ...]:
    """The hardware registers that a target has."""
    return tuple(n for n in SPECIAL_BITS if target.generation >= Generation.GFX12 or n not in SINCE_GFX12)


def vector_number(name: str, target: Target) -> tuple[bool, int] | None:
    """Whether a vector register is an accumulator, and its number; None if the target has no register of that name."""
    match = _VECTOR.fullmatch(name)
    if match is None:
        return None
    accumulator, number = match[1] == "a", int(match[2])
    count = (VGPR_COUNT if target.has_agprs else 0) if accumulator else target.vgpr_file
    return (accumulator, number) if number < count else None


__all__ = [
    "SPECIAL_BITS", "Gds", "Lds", "Memory", "Place", "Register", "Special", "Sync", "Unsigned", "WaveNumber",
    "scalar_codes", "specials", "vector_number",
]
