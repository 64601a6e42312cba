"""The address spaces of the architecture, and the generic addresses that alias other spaces, as rows of tables."""

from __future__ import annotations

from rocdbg.arch.address_spaces import ADDRESS_SPACES, AddressSpace
from rocdbg.debugger.values.value_storage import Memory

_ACCESS = {
    AddressSpace.GLOBAL: "all", AddressSpace.GENERIC: "lane", AddressSpace.REGION: "device",
    AddressSpace.LOCAL: "workgroup", AddressSpace.PRIVATE_LANE: "lane", AddressSpace.PRIVATE_WAVE: "wave",
}
"""Which lanes find the same memory at an address of a space."""


def address_spaces() -> list[tuple[str, str, str, str, str]]:
    """Return for each space its name, DWARF number, address size in bits, null address, and who shares its memory."""
    return [
        (info.name, str(int(info.space)), str(8 * info.address_size), f"{info.null:#x}", _ACCESS[info.space])
        for info in ADDRESS_SPACES.values()
    ]


def address_aliases(memory: Memory) -> list[tuple[str, str, str]]:
    """Return the first and last generic address that the focused lane has for each other space, and the space's address
    0.

    Empty if the target has no generic address space.
    """
    rows = []
    for space in (AddressSpace.LOCAL, AddressSpace.PRIVATE_LANE):
        first = memory.generic_address(space, 0)
        if first is not None:
            info = ADDRESS_SPACES[space]
            rows.append((f"generic#{first:#x}", f"generic#{first + info.address_mask:#x}", f"{info.name}#0x0"))
    return rows
