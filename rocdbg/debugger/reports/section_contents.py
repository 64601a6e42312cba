"""Whether memory still holds what the code object's sections have in the file: ``compare-sections``."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from rocdbg.addresses import LoadedAddress
from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.values.value_storage import Memory


class SectionContents(Struct, frozen=True):
    """One section. ``high`` is the first address behind it; ``matches`` if its bytes are as in the file."""

    name: str
    low: LoadedAddress
    high: LoadedAddress
    matches: bool
    is_writable: bool


def section_contents(program: Program, memory: Memory) -> Iterator[SectionContents]:
    """About each loaded section that has bytes in the file. Raises `Error` where they cannot be read."""
    image = program.code_object
    for name, section in image.sections.items():
        address = image.section_address(section)
        if address is None or not section.size or not section.has_bytes:
            continue
        low = program.to_loaded(address)
        matches = memory.read(AddressSpace.GLOBAL, low, section.size) == section.data
        yield SectionContents(name, low, LoadedAddress(low + section.size), matches, section.is_writable)
