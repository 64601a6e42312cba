"""The architecture: processors and target ids, DWARF register numbers, address spaces."""

from __future__ import annotations

from rocdbg.arch.address_spaces import ADDRESS_SPACES, AddressSpace, LlvmAddressSpace
from rocdbg.arch.target_id import Feature, TargetId, TargetIdError
from rocdbg.arch.targets import (
    TARGETS,
    Generation,
    ScratchKind,
    Target,
    UnknownTargetError,
    target_by_mach,
    target_by_name,
    target_by_version,
)

__all__ = [
    "ADDRESS_SPACES",
    "TARGETS",
    "AddressSpace",
    "Feature",
    "Generation",
    "LlvmAddressSpace",
    "ScratchKind",
    "Target",
    "TargetId",
    "TargetIdError",
    "UnknownTargetError",
    "target_by_mach",
    "target_by_name",
    "target_by_version",
]
