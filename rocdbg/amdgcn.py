"""The amdgcn architecture for the DWARF evaluator, built from the numbers of `rocdbg.arch`."""

from __future__ import annotations

from functools import lru_cache

from msgspec.structs import replace

from rocdbg.arch.address_spaces import ADDRESS_SPACES
from rocdbg.arch.address_spaces import AddressSpace as Space
from rocdbg.arch.dwarf_registers import PC, UnknownRegisterError, dwarf_register
from rocdbg.arch.targets import ScratchKind, is_target, target_by_name
from rocdbg.dwarf.architecture import AddressSpace, Architecture, DefaultRule, Processor

__all__ = ["AMDGCN", "AMDGCN_GFX125"]

_VECTOR_REGISTERS = 256


@lru_cache(maxsize=4096)
def _size(number: int) -> int | None:
    try:
        register = dwarf_register(number)
    except UnknownRegisterError:
        return None
    # The numbers of v256 and above are reserved on all processors except gfx125x.
    return register.size if not register.is_vector or register.index < _VECTOR_REGISTERS else None


@lru_cache(maxsize=4096)
def _size_gfx125(number: int) -> int | None:
    try:
        return dwarf_register(number).size
    except UnknownRegisterError:
        return None


def _name(number: int) -> str:
    try:
        return dwarf_register(number).name
    except UnknownRegisterError:
        return f"register {number}"


def _elements(number: int) -> int:
    """The number of elements of a register: a vector register has one dword per lane."""
    try:
        register = dwarf_register(number)
    except UnknownRegisterError:
        return 1
    return register.size // 4 if register.is_vector else 1


def _space(space: Space) -> AddressSpace:
    info = ADDRESS_SPACES[space]
    return AddressSpace(
        number=int(space),
        name=info.name,
        address_bits=8 * info.address_size,
        per_lane=space is Space.PRIVATE_LANE,
        sees_lane=space in (Space.PRIVATE_LANE, Space.GENERIC),
    )


# The 2020 proposal has an address space for each lane's private memory.
_PRIVATE_LANE_N = {
    0x20 + lane: AddressSpace(
        number=0x20 + lane,
        name=f"private_lane{lane}",
        address_bits=8 * ADDRESS_SPACES[Space.PRIVATE_LANE].address_size,
        sees_lane=True,
        alias=int(Space.PRIVATE_LANE),
        lane=lane,
    )
    for lane in range(64)
}

@lru_cache(maxsize=64)
def _processor(name: str) -> Processor | None:
    if not is_target(name) or (target := target_by_name(name)).is_r600:
        return None
    return Processor(target.scratch is ScratchKind.BUFFER, target.default_wave_size)


AMDGCN = Architecture(
    name="amdgcn",
    address_bits=64,
    address_spaces={int(space): _space(space) for space in Space},
    dialect_address_spaces={"proposal2020": _PRIVATE_LANE_N},
    register_size=_size,
    register_name=_name,
    register_elements=_elements,
    default_address_space=int(Space.GLOBAL),
    return_address_register=PC,
    # A callee that has fewer registers than its caller does not change the caller's other registers.
    default_rule=DefaultRule.SAME_VALUE,
    processor=_processor,
)
"""amdgcn: 64-bit process address space, registers of both wave sizes (AMDGPU usage, DWARF Debug Information)."""

AMDGCN_GFX125 = replace(AMDGCN, name="amdgcn_gfx125", register_size=_size_gfx125)
"""As `AMDGCN`, with the 1024 vector registers of gfx125x."""
