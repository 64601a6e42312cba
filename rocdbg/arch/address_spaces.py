"""Address spaces: DWARF's and LLVM's numbers, names, address sizes and null values."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType

from msgspec import Struct

from rocdbg.errors import Error


class AddressSpace(IntEnum):
    """DWARF address spaces of AMDGPU (usage guide, "Address Space Identifier")."""

    GLOBAL = 0
    """`DW_ASPACE_LLVM_none`, the default one."""
    GENERIC = 1
    REGION = 2
    LOCAL = 3
    PRIVATE_LANE = 5
    PRIVATE_WAVE = 6


class LlvmAddressSpace(IntEnum):
    """LLVM IR address spaces of AMDGPU."""

    FLAT = 0
    GLOBAL = 1
    REGION = 2
    LOCAL = 3
    CONSTANT = 4
    PRIVATE = 5
    CONSTANT_32BIT = 6
    BUFFER_FAT_POINTER = 7
    BUFFER_RESOURCE = 8
    BUFFER_STRIDED_POINTER = 9


class UnknownAddressSpaceError(Error):
    """An address space number or name that AMDGPU does not define."""

    def __init__(self, space: int | str) -> None:
        self.space = space
        text = f'"{space}"' if isinstance(space, str) else str(space)
        known = ", ".join(f"{info.name} ({number:d})" for number, info in ADDRESS_SPACES.items())
        super().__init__(f"AMDGPU has no DWARF address space {text}; there are {known}")


class AddressSpaceInfo(Struct, frozen=True):
    """Properties of one DWARF address space."""

    space: AddressSpace
    name: str
    dwarf_name: str
    address_size: int
    """Bytes of an address, in the 64-bit process address space."""
    null: int
    """The value of a null pointer into it."""
    llvm: LlvmAddressSpace
    """The corresponding LLVM IR address space."""
    lane: int | None = None
    """The lane that owns the private memory (``private_lane<N>``); None if the current lane owns it."""

    @property
    def number(self) -> int:
        """The DWARF number of the address space."""
        return int(self.space) if self.lane is None else FIRST_LANE_SPACE + self.lane

    @property
    def address_mask(self) -> int:
        return (1 << 8 * self.address_size) - 1


_NULL_32 = 0xFFFF_FFFF
FIRST_LANE_SPACE = 0x20
LANE_SPACES = 64
"""Address spaces 0x20 to 0x5f are the private memory of lanes 0 to 63 (usage guide of 2020)."""

ADDRESS_SPACES: Mapping[AddressSpace, AddressSpaceInfo] = MappingProxyType(
    {
        info.space: info
        for info in (
            AddressSpaceInfo(
                AddressSpace.GLOBAL, "global", "DW_ASPACE_LLVM_none", 8, 0, LlvmAddressSpace.GLOBAL
            ),
            AddressSpaceInfo(
                AddressSpace.GENERIC, "generic", "DW_ASPACE_AMDGPU_generic", 8, 0, LlvmAddressSpace.FLAT
            ),
            AddressSpaceInfo(
                AddressSpace.REGION, "region", "DW_ASPACE_AMDGPU_region", 4, _NULL_32, LlvmAddressSpace.REGION
            ),
            AddressSpaceInfo(
                AddressSpace.LOCAL, "local", "DW_ASPACE_AMDGPU_local", 4, _NULL_32, LlvmAddressSpace.LOCAL
            ),
            AddressSpaceInfo(
                AddressSpace.PRIVATE_LANE,
                "private_lane",
                "DW_ASPACE_AMDGPU_private_lane",
                4,
                _NULL_32,
                LlvmAddressSpace.PRIVATE,
            ),
            AddressSpaceInfo(
                AddressSpace.PRIVATE_WAVE,
                "private_wave",
                "DW_ASPACE_AMDGPU_private_wave",
                4,
                _NULL_32,
                LlvmAddressSpace.PRIVATE,
            ),
        )
    }
)
"""Every DWARF address space of AMDGPU by number."""

_OF_LANES = [
    AddressSpaceInfo(
        AddressSpace.PRIVATE_LANE, f"private_lane{lane}", f"DW_ASPACE_AMDGPU_private_lane{lane}", 4, _NULL_32,
        LlvmAddressSpace.PRIVATE, lane,
    )
    for lane in range(LANE_SPACES)
]
_BY_NUMBER = {info.number: info for info in (*ADDRESS_SPACES.values(), *_OF_LANES)}
_BY_NAME = {info.name: info for info in _BY_NUMBER.values()}
_FROM_LLVM = {
    LlvmAddressSpace.FLAT: AddressSpace.GENERIC,
    LlvmAddressSpace.GLOBAL: AddressSpace.GLOBAL,
    LlvmAddressSpace.REGION: AddressSpace.REGION,
    LlvmAddressSpace.LOCAL: AddressSpace.LOCAL,
    LlvmAddressSpace.CONSTANT: AddressSpace.GLOBAL,
    LlvmAddressSpace.PRIVATE: AddressSpace.PRIVATE_LANE,
    LlvmAddressSpace.CONSTANT_32BIT: AddressSpace.GLOBAL,
}


def address_space(number: int) -> AddressSpaceInfo:
    """The DWARF address space of this number; raises `UnknownAddressSpaceError`."""
    info = _BY_NUMBER.get(number)
    if info is None:
        raise UnknownAddressSpaceError(number)
    return info


def null_address(space: int) -> int:
    """The value of a null pointer into a DWARF address space (usage guide, "Address Spaces"); 0 for unknown ones."""
    info = _BY_NUMBER.get(space)
    return 0 if info is None else info.null


def address_space_names() -> list[str]:
    """Names of the address spaces, without those of single lanes."""
    return [info.name for info in ADDRESS_SPACES.values()]


def address_space_by_name(name: str) -> AddressSpaceInfo:
    """The DWARF address space called ``name`` (``private_lane``); raises `UnknownAddressSpaceError`."""
    info = _BY_NAME.get(name)
    if info is None:
        raise UnknownAddressSpaceError(name)
    return info


def from_llvm(space: int) -> AddressSpaceInfo:
    """The DWARF address space for an LLVM IR address space; raises `UnknownAddressSpaceError`."""
    try:
        return ADDRESS_SPACES[_FROM_LLVM[LlvmAddressSpace(space)]]
    except (ValueError, KeyError):
        raise UnknownAddressSpaceError(space) from None


def wave_address(lane_address: int, lane: int, wave_size: int) -> int:
    """The private_wave address of the byte at a private_lane address of ``lane`` (swizzled by dword)."""
    return lane_address // 4 * wave_size * 4 + lane * 4 + lane_address % 4
