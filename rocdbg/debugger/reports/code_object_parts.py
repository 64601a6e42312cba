"""Parts of code objects other than code: notes, metadata, relocations."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from rocdbg.addresses import LoadedAddress
from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.codeobject import CodeObject
from rocdbg.codeobject.elf_flags import OsAbi
from rocdbg.codeobject.metadata_reader import metadata_text
from rocdbg.codeobject.metadata_text import metadata_lines
from rocdbg.codeobject.relocation import iter_relocations
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.values.value_storage import Memory
from rocdbg.text import decode_text

_NAMES = {
    ("AMD", 1): "NT_AMD_HSA_CODE_OBJECT_VERSION", ("AMD", 2): "NT_AMD_HSA_HSAIL", ("AMD", 3): "NT_AMD_HSA_ISA_VERSION",
    ("AMD", 10): "NT_AMD_HSA_METADATA", ("AMD", 11): "NT_AMD_HSA_ISA_NAME", ("AMD", 12): "NT_AMD_PAL_METADATA",
    ("AMDGPU", 32): "NT_AMDGPU_METADATA", ("GNU", 1): "NT_GNU_ABI_TAG", ("GNU", 3): "NT_GNU_BUILD_ID",
    ("GNU", 5): "NT_GNU_PROPERTY_TYPE_0",
}


class NoteRow(Struct, frozen=True):
    """A line of ``info notes``."""

    owner: str
    type: str
    size: int
    description: str


class RelocationRow(Struct, frozen=True):
    """A line of ``info relocations``; the address is that in the file."""

    address: int
    type: str
    value: str


def note_rows(code_object: CodeObject) -> Iterator[NoteRow]:
    """Yield all notes in the order of the file. Raises `CodeObjectError` if they are damaged."""
    for note in code_object.notes:
        name = _NAMES.get((note.owner, note.type), f"{note.type:#x}")
        describe = _DESCRIPTIONS.get(name)
        text = ""
        if describe is not None:
            try:
                text = describe(note.description)
            except struct.error:
                text = "(cut)"
        yield NoteRow(note.owner, name, len(note.description), text)


def metadata_documents(code_object: CodeObject) -> Iterator[Iterable[str]]:
    """Yield the lines of each metadata note, or of Mesa's equivalent. Raises `CodeObjectError` if it is damaged."""
    for _, lines in metadata_text(code_object.name, code_object.notes):
        yield lines
    if code_object.os_abi != OsAbi.AMDGPU_PAL and code_object.shaders:
        yield metadata_lines({
            name: {".hardware_stage": shader.stage.word, ".registers": dict(shader.registers)}
            for name, shader in code_object.shaders.items()
        })


def relocation_rows(code_object: CodeObject) -> Iterator[RelocationRow]:
    """Yield the relocations that loading applies. Raises `CodeObjectError` for damaged tables."""
    for record in iter_relocations(code_object):
        value = f"{record.addend:#x}"
        if record.symbol:
            symbols = code_object.dynamic_symbols if record.dynamic else code_object.symbols
            symbol = symbols[record.symbol]
            sections = code_object.container.section_list
            name = symbol.name or (
                sections[symbol.section_index].name if symbol.section_index < len(sections) else f"#{record.symbol}"
            )
            value = name if not record.addend else f"{name} {'-' if record.addend < 0 else '+'} {abs(record.addend):#x}"
        yield RelocationRow(record.address, f"R_AMDGPU_{record.type.name}", value)


def _version(data: bytes) -> str:
    major, minor = struct.unpack_from("<II", data)
    return f"version {major}.{minor}"


def _isa(data: bytes) -> str:
    vendor_size, _, major, minor, stepping = struct.unpack_from("<HHIII", data)
    names = [decode_text(name) for name in data[16:].split(b"\0") if name] if vendor_size else []
    return f"{' '.join([*names, ''])}{major}.{minor}.{stepping}"


def _hsail(data: bytes) -> str:
    major, minor, profile, model, rounding = struct.unpack_from("<IIBBB", data)
    return f"version {major}.{minor}, profile {profile}, machine model {model}, rounding {rounding}"


def _name(data: bytes) -> str:
    return decode_text(data.rstrip(b"\0"))


_DESCRIPTIONS: dict[str, Callable[[bytes], str]] = {
    "NT_AMD_HSA_CODE_OBJECT_VERSION": _version,
    "NT_AMD_HSA_HSAIL": _hsail,
    "NT_AMD_HSA_ISA_VERSION": _isa,
    "NT_AMD_HSA_ISA_NAME": _name,
    "NT_GNU_BUILD_ID": bytes.hex,
}


# ``compare-sections``: whether memory still holds what the sections of a code object contain in the file.


class SectionContents(Struct, frozen=True):
    """One section. ``high`` is the first address after it; ``matches``: memory holds the bytes of the file."""

    name: str
    low: LoadedAddress
    high: LoadedAddress
    matches: bool
    is_writable: bool


def section_contents(program: Program, memory: Memory) -> Iterator[SectionContents]:
    """Compare each loaded section that has bytes in the file. Raises `Error` if they cannot be read."""
    image = program.code_object
    for name, section in image.sections.items():
        address = image.section_address(section)
        if address is None or not section.size or not section.has_bytes:
            continue
        low = program.to_loaded(address)
        matches = memory.read(AddressSpace.GLOBAL, low, section.size) == section.data
        yield SectionContents(name, low, LoadedAddress(low + section.size), matches, section.is_writable)
