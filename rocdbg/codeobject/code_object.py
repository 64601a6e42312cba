"""An AMDGPU code object: target, sections, symbols, kernels, metadata; everything except the header is read lazily."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rocdbg.addresses import FileAddress
from rocdbg.arch.target_id import TargetId
from rocdbg.arch.targets import Target, UnknownTargetError
from rocdbg.codeobject.bounded_reader import Source
from rocdbg.codeobject.code_object_uri import FileUri, MemoryUri
from rocdbg.codeobject.dynamic_hash import dynamic_symbol_count
from rocdbg.codeobject.elf import (
    EM_AMDGPU,
    ET_DYN,
    ET_REL,
    SHF_ALLOC,
    SHF_EXECINSTR,
    SHN_LORESERVE,
    SHN_UNDEF,
    SHT_DYNSYM,
    SHT_SYMTAB,
    Elf,
    Section,
)
from rocdbg.codeobject.elf_flags import OsAbi, UnknownAbiError, code_object_version, decode_flags
from rocdbg.codeobject.elf_notes import Note, iter_notes, v2_target_id
from rocdbg.codeobject.elf_symbols import Symbol, SymbolTable, SymbolType
from rocdbg.codeobject.kernels import Kernels
from rocdbg.codeobject.load_image import LoadedImage, load_image
from rocdbg.codeobject.load_layout import Layout, lay_out
from rocdbg.codeobject.metadata_reader import Metadata, read_metadata
from rocdbg.codeobject.relocation import Resolver, fixed_pointers
from rocdbg.codeobject.shaders import ShaderProgram, shaders_of
from rocdbg.errors import remembered

if TYPE_CHECKING:
    from elftools.elf.elffile import ELFFile

_HIP_UNIT = "__hip_cuid_"
_DT_STRTAB, _DT_SYMTAB, _DT_STRSZ = 5, 6, 10


class CodeObject:
    """One AMDGPU ELF code object.  Addresses are the file's own (load bias 0); `load` makes a memory image.

    Made by `rocdbg.codeobject.open_file`, or from bytes with ``CodeObject(data)``; raises `CodeObjectError`
    if the bytes are not an AMDGPU code object.
    """

    def __init__(
        self,
        data: bytes,
        *,
        name: str = "<memory>",
        path: Path | None = None,
        uri: FileUri | MemoryUri | None = None,
    ) -> None:
        self.source = Source(name, data)
        self.path = path
        """The file that contains it (possibly a container); None if it was made from bytes."""
        self.uri = uri
        self._elf = Elf(self.source)
        header = self._elf.header
        if header.machine != EM_AMDGPU:
            reason = f"not an AMDGPU code object: the machine is {header.machine}, not {EM_AMDGPU}"
            raise self.source.error(reason, section="ELF header", offset=18)
        if header.type not in (ET_REL, ET_DYN):
            reason = f"ELF type {header.type} is neither relocatable (1) nor shared object (3)"
            raise self.source.error(reason, section="ELF header", offset=16)
        try:
            self.version = code_object_version(header.os_abi, header.abi_version)
        except UnknownAbiError as error:
            raise self.source.error(error.reason, section="ELF header", offset=error.at) from None
        """2 to 6; None if it is not of the HSA ABI (PAL, Mesa)."""
        self.target_id, self.generic_version = self._read_target()
        self.kernels = Kernels(self)

    def __repr__(self) -> str:
        return f"<CodeObject {self.name} {self.target_id}>"

    @property
    def name(self) -> str:
        """The name for errors: the path, and within a container the entry."""
        return self.source.name

    @property
    def target(self) -> Target:
        return self.target_id.target

    @property
    def os_abi(self) -> int:
        """A `rocdbg.codeobject.elf_flags.OsAbi` value."""
        return self._elf.header.os_abi

    @property
    def e_flags(self) -> int:
        return self._elf.header.flags

    @property
    def has_code_headers(self) -> bool:
        """Whether kernels begin with their description (``amd_kernel_code_t``): in version 2, and for Mesa."""
        return self.version == 2 or self.os_abi == OsAbi.AMDGPU_MESA3D

    @property
    def is_relocatable(self) -> bool:
        """Whether it is not linked yet (ET_REL)."""
        return self._elf.header.type == ET_REL

    @property
    def container(self) -> Elf:
        """The ELF file as rocdbg reads it: header, sections, segments."""
        return self._elf

    @remembered
    def elf(self) -> ELFFile:
        """The same bytes, read by pyelftools; raises `CodeObjectError` if it cannot read them."""
        # imported here, because only tests and users of the library need it, and it takes longer to load than a code
        # object
        from elftools.common.exceptions import ELFError
        from elftools.construct import ConstructError
        from elftools.elf.elffile import ELFFile

        try:
            return ELFFile(io.BytesIO(bytes(self.source.data)))
        except (ELFError, ConstructError, UnicodeDecodeError) as error:
            raise self.source.error(f"not readable: {error}", section="ELF header") from None

    @property
    def sections(self) -> Mapping[str, Section]:
        """Sections by name; their bytes are read when requested."""
        return self._elf.sections

    @remembered
    def notes(self) -> list[Note]:
        """All ELF notes; raises `CodeObjectError` if they are damaged."""
        return list(iter_notes(self._elf))

    @remembered
    def metadata(self) -> Metadata | None:
        """The metadata note's content, None if there is none; raises `CodeObjectError` if it is damaged."""
        return read_metadata(self.name, self.notes)

    @remembered
    def shaders(self) -> dict[str, ShaderProgram]:
        """Shaders by symbol; none for HSA. Raises `CodeObjectError` if their description is damaged."""
        return shaders_of(self)

    @remembered
    def symbols(self) -> SymbolTable:
        """The full symbol table or, in a stripped object, the dynamic one."""
        section = self._table(SHT_SYMTAB)
        return self.dynamic_symbols if section is None else section

    def exported(self, name: str) -> Symbol | None:
        """The symbol that it defines under a name for use by other code objects; None if there is none. LDS symbols are
        private to each object.
        """
        for table in (self.dynamic_symbols, self.symbols):
            symbol = table.get(name)
            if symbol is not None and symbol.is_defined and symbol.binding != 0 and not symbol.is_lds:
                return symbol
        return None

    @remembered
    def undefined_symbols(self) -> list[str]:
        """The names that other objects must define before it can be loaded, including weak ones."""
        table = self.symbols if self.is_relocatable else self.dynamic_symbols
        undefined = (table.array["shndx"] == SHN_UNDEF) & (table.array["name"] != 0)
        return [table[int(index)].name for index in undefined.nonzero()[0]]

    @remembered
    def is_hip(self) -> bool:
        """Whether clang compiled it from HIP; since version 18, a symbol shows that."""
        return any(name.startswith(_HIP_UNIT) for name in self.symbols.names())

    def adopt_symbols(self, separate: CodeObject) -> None:
        """Use the full symbol table of this stripped object's separate debug file, if the file has one."""
        if self._table(SHT_SYMTAB) is None and separate._table(SHT_SYMTAB) is not None:
            vars(self)["symbols"] = separate.symbols

    @remembered
    def dynamic_symbols(self) -> SymbolTable:
        """The dynamic symbol table, which dynamic relocations refer to; empty if there is none."""
        return self._table(SHT_DYNSYM) or self._dynamic_table()

    @remembered
    def layout(self) -> Layout:
        """The addresses of its parts at load bias 0."""
        return lay_out(self)

    @property
    def memory_size(self) -> int:
        """Bytes of the address range it needs when loaded."""
        return self.layout.size

    @property
    def alignment(self) -> int:
        """The alignment that its base address must have."""
        return self.layout.alignment

    def section_address(self, section: Section) -> FileAddress | None:
        """The address of a section at load bias 0, None if it is not loaded."""
        if self.is_relocatable:
            found = (self.layout.section_addresses or {}).get(section.index)
            return None if found is None else FileAddress(found)
        return FileAddress(section.address) if section.flags & SHF_ALLOC else None

    def is_code(self, symbol: Symbol) -> bool:
        """Whether a symbol names code, judged by its section or, without one, by its type."""
        sections = self._elf.section_list
        if symbol.section_index < min(len(sections), SHN_LORESERVE) and symbol.is_defined:
            return bool(sections[symbol.section_index].flags & SHF_EXECINSTR)
        return symbol.is_defined and symbol.type in (SymbolType.FUNC, SymbolType.AMDGPU_HSA_KERNEL)

    def address_of(self, symbol: Symbol) -> FileAddress:
        """The address of a symbol at load bias 0; for an LDS symbol its offset, for an absolute one its value.

        Raises `CodeObjectError` for an undefined symbol, or one in a section that is not loaded.
        """
        return FileAddress(self.layout.address_of(symbol))

    def entry_address_of(self, symbol: Symbol) -> FileAddress:
        """The address of the first instruction of a function's symbol. For a version 2 kernel, the symbol names the
        descriptor, which precedes the code.

        Raises `CodeObjectError` as `address_of` does, and for a descriptor outside the file.
        """
        if self.has_code_headers and symbol.type == SymbolType.AMDGPU_HSA_KERNEL:
            kernel = self.kernels.find(symbol.name)
            if kernel is not None:
                return kernel.entry_address
        return self.address_of(symbol)

    def file_offset(self, symbol: Symbol, size: int, what: str) -> int:
        """The file offset of the ``size`` bytes at a symbol; raises `CodeObjectError` naming ``what``."""
        if not self.is_relocatable:
            return self._elf.file_offset(symbol.value, size, what)
        sections = self._elf.section_list
        if symbol.section_index < min(len(sections), SHN_LORESERVE):
            section = sections[symbol.section_index]
            if section.has_bytes and symbol.value + size <= section.size:
                return section.offset + symbol.value
        raise self.source.error(f"the {size} bytes of symbol {symbol.name} are not in the file", section=what)

    def read(self, address: int, size: int) -> bytes:
        """``size`` bytes at an address; raises `CodeObjectError` if they are not in the file.

        Bytes of a linked object are not relocated; those of an unlinked one are relocated for load bias 0.
        """
        if not self.is_relocatable:
            return self._elf.read(address, size, "loaded bytes")
        for segment in self._at_zero.segments:
            if segment.address <= address and address + size <= segment.address + len(segment.data):
                return bytes(segment.data[address - segment.address : address - segment.address + size])
        raise self.source.error(
            f"no {size} bytes of the file are loaded at address {address:#x}", section="loaded bytes"
        )

    @remembered
    def _at_zero(self) -> LoadedImage:
        """An unlinked object at load bias 0, where symbols that it does not define are 0."""
        return load_image(self, 0, lambda name: 0)

    @remembered
    def fixed_pointers(self) -> dict[int, int]:
        """Addresses that code may load and that never change, see `relocation.fixed_pointers`."""
        return fixed_pointers(self)

    def load(self, base: int, resolve: Resolver | None = None) -> LoadedImage:
        """Build the memory image for a load address and apply all relocations.

        ``base`` is where address 0 of the file goes, a multiple of `alignment`, with `memory_size` bytes free
        from there.  ``resolve`` gives the address of a symbol the object does not define, or None.
        Raises `UnresolvedSymbolError`, and `CodeObjectError` for damaged segments or relocations.
        """
        return load_image(self, base, resolve)

    def _read_target(self) -> tuple[TargetId, int]:
        try:
            if self.version == 2:
                found = v2_target_id(self._elf, self.notes)
                if found is not None:
                    return found, 0
                # Compilers of the V3 era wrote V2 objects with V3's flags.
                flags = decode_flags(self.e_flags, 3)
            else:
                flags = decode_flags(self.e_flags, self.version)
        except UnknownTargetError as error:
            raise self.source.error(str(error), section="ELF header", offset=48) from None
        return flags.target_id, flags.generic_version

    def _table(self, kind: int) -> SymbolTable | None:
        sections = self._elf.section_list
        for section in sections:
            if section.type == kind:
                if not 0 < section.link < len(sections):
                    reason = f"section {section.name} refers to string table {section.link}, which does not exist"
                    raise self.source.error(reason, section="section headers")
                strings = sections[section.link].data
                return SymbolTable(
                    self.source, section.name, section.data, strings, self._section_ranges, self.is_relocatable
                )
        return None

    def _section_ranges(self) -> dict[int, tuple[int, int]]:
        """The address range of each loaded section at load bias 0, by index."""
        placed = ((section, self.section_address(section)) for section in self._elf.section_list)
        return {
            section.index: (address, min(address + section.size, (1 << 64) - 1))
            for section, address in placed if address is not None
        }

    def _dynamic_table(self) -> SymbolTable:
        """The dynamic symbols found through the dynamic segment, for objects without section headers."""
        name = "dynamic symbols"
        tags = self._elf.dynamic_tags()
        if not {_DT_SYMTAB, _DT_STRTAB, _DT_STRSZ} <= tags.keys():
            return SymbolTable(self.source, name, b"", b"")
        count = dynamic_symbol_count(self._elf, tags)
        data = self._elf.read(tags[_DT_SYMTAB], 24 * count, name)
        return SymbolTable(self.source, name, data, self._elf.read(tags[_DT_STRTAB], tags[_DT_STRSZ], name))
