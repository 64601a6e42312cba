"""OS ABI, code object version and ``e_flags`` of an AMDGPU code object."""

from __future__ import annotations

from enum import IntEnum

from msgspec import Struct

from rocdbg.arch.target_id import Feature, TargetId
from rocdbg.arch.targets import target_by_mach
from rocdbg.errors import Error

EF_MACH = 0xFF
_XNACK_V3 = 0x100
_SRAMECC_V3 = 0x200
_GENERIC_VERSION_SHIFT = 24
_FEATURE_V4 = (Feature.UNSUPPORTED, Feature.ANY, Feature.OFF, Feature.ON)


class OsAbi(IntEnum):
    """``e_ident[EI_OSABI]`` of AMDGPU code objects."""

    NONE = 0
    AMDGPU_HSA = 64
    AMDGPU_PAL = 65
    AMDGPU_MESA3D = 66

    @property
    def label(self) -> str:
        """The name in triples: ``amdhsa``."""
        return {0: "none", 64: "amdhsa", 65: "amdpal", 66: "mesa3d"}[self]


class Flags(Struct, frozen=True):
    """The contents of ``e_flags``."""

    target_id: TargetId
    generic_version: int
    """Version of the generic target (code object V6), 0 for processors."""


_LAST_ABI_VERSION = {OsAbi.NONE: 0, OsAbi.AMDGPU_HSA: 4, OsAbi.AMDGPU_PAL: 0, OsAbi.AMDGPU_MESA3D: 0}


class UnknownAbiError(Error):
    """An OS ABI, or a version of one, whose flags and notes rocdbg cannot read. ``at`` is the offset of the byte in
    ``e_ident``.
    """

    def __init__(self, reason: str, at: int) -> None:
        self.reason = reason
        self.at = at
        super().__init__(reason)


def code_object_version(os_abi: int, abi_version: int) -> int | None:
    """The code object version 2..6; None if it is not an HSA object. Raises `UnknownAbiError` for an unknown version.
    """
    try:
        abi = OsAbi(os_abi)
    except ValueError:
        names = ", ".join(f"{known.value} ({known.label})" for known in OsAbi)
        raise UnknownAbiError(f"unknown EI_OSABI {os_abi}; known values are {names}", 7) from None
    last = _LAST_ABI_VERSION[abi]
    if abi_version > last:
        versions = "0 to 4 (code object versions 2 to 6)" if abi is OsAbi.AMDGPU_HSA else "0"
        raise UnknownAbiError(f"unknown EI_ABIVERSION {abi_version}; known values for {abi.label} are {versions}", 8)
    return abi_version + 2 if abi is OsAbi.AMDGPU_HSA else None


def decode_flags(e_flags: int, version: int | None) -> Flags:
    """Decode ``e_flags`` of a code object of ``version`` 3..6, or None (PAL, Mesa: laid out as in V3).

    Code object V2 stores its target in notes, see `rocdbg.codeobject.elf_notes`.  Raises
    `rocdbg.arch.targets.UnknownTargetError`.
    """
    target = target_by_mach(e_flags & EF_MACH)
    if version is None or version <= 3:
        # V3 cannot express "any": a clear bit means off.
        xnack = Feature.ON if e_flags & _XNACK_V3 else Feature.OFF
        sramecc = Feature.ON if e_flags & _SRAMECC_V3 else Feature.OFF
    else:
        xnack = _FEATURE_V4[e_flags >> 8 & 3]
        sramecc = _FEATURE_V4[e_flags >> 10 & 3]
    generic_version = e_flags >> _GENERIC_VERSION_SHIFT if version is not None and version >= 6 else 0
    return Flags(TargetId.of(target, sramecc=sramecc, xnack=xnack), generic_version)
