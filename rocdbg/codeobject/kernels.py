"""The kernels of a code object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from rocdbg.addresses import FileAddress
from rocdbg.arch.targets import Generation
from rocdbg.codeobject.elf_symbols import Symbol, SymbolType
from rocdbg.codeobject.errors import CodeObjectError, NoSuchKernelError
from rocdbg.codeobject.kernel_code_text import kernel_code_directives
from rocdbg.codeobject.kernel_descriptor import (
    DESCRIPTOR_SIZE,
    V2_DESCRIPTOR_SIZE,
    KernelDescriptor,
    decode_descriptor,
    decode_v2_descriptor,
)
from rocdbg.codeobject.kernel_descriptor_text import descriptor_directives
from rocdbg.codeobject.metadata import KernelMetadata
from rocdbg.codeobject.shader_registers import REGISTER_NAMES
from rocdbg.errors import remembered
from rocdbg.text import near_names

if TYPE_CHECKING:
    from rocdbg.codeobject.code_object import CodeObject
    from rocdbg.codeobject.metadata_reader import Metadata
    from rocdbg.codeobject.shaders import ShaderProgram

_SUFFIX = ".kd"


class Kernel:
    """One kernel; descriptor and metadata are decoded when requested.  Addresses are the ELF file's own."""

    def __init__(
        self, code_object: CodeObject, name: str, symbol: Symbol | None, entry: Symbol | None
    ) -> None:
        self.code_object = code_object
        self.name = name
        """The symbol of its code, without ``.kd``: mangled for HIP."""
        self.descriptor_symbol = symbol
        """None if the kernel occurs only in the metadata."""
        self.entry_symbol = entry

    def __repr__(self) -> str:
        return f"<Kernel {self.name} of {self.code_object.name}>"

    @remembered
    def metadata(self) -> KernelMetadata | None:
        """The kernel's metadata, None if there is none; raises `CodeObjectError` if it is damaged."""
        metadata = self.code_object.metadata
        if metadata is None:
            return None
        return metadata.kernel_by_symbol(self.name + _SUFFIX) or metadata.kernel_by_symbol(self.name)

    @remembered
    def descriptor(self) -> KernelDescriptor:
        """The decoded kernel descriptor; raises `CodeObjectError` if there is none."""
        symbol = self._require_symbol()
        code_object = self.code_object
        decode = decode_v2_descriptor if code_object.has_code_headers else decode_descriptor
        size = V2_DESCRIPTOR_SIZE if code_object.has_code_headers else DESCRIPTOR_SIZE
        self._check_generation()
        offset = code_object.file_offset(symbol, size, f"descriptor of kernel {self.name}")
        return decode(code_object.source, offset, code_object.target)

    def directives(self) -> list[str]:
        """The descriptor as assembler directives that re-assemble to it (``.amd_kernel_code_t`` in V2).

        Raises `CodeObjectError` if there is none.
        """
        code_object = self.code_object
        self._check_generation()
        size = V2_DESCRIPTOR_SIZE if code_object.has_code_headers else DESCRIPTOR_SIZE
        what = f"descriptor of kernel {self.name}"
        data = code_object.source.bytes_at(code_object.file_offset(self._require_symbol(), size, what), size, what)
        if code_object.has_code_headers:
            return kernel_code_directives(data)
        xnack = code_object.target_id.xnack
        return descriptor_directives(data, self.name, code_object.target, code_object.version or 0, xnack)

    @property
    def descriptor_address(self) -> int:
        """Address of the descriptor; raises `CodeObjectError` if there is none."""
        return self.code_object.address_of(self._require_symbol())

    @property
    def entry_address(self) -> FileAddress:
        """Address of the first instruction; raises `CodeObjectError` if there is no descriptor."""
        unlinked = self.code_object.is_relocatable and not self.code_object.has_code_headers
        if unlinked and self.entry_symbol is not None:
            # Before linking, the offset in the descriptor is still a relocation.
            return self.code_object.address_of(self.entry_symbol)
        return FileAddress(self.descriptor_address + self.descriptor.kernel_code_entry_byte_offset)

    @property
    def start_address(self) -> FileAddress:
        """Address at which its waves begin. If arguments are preloaded (gfx90a, gfx94x, gfx950), that is after the code
        that would load them. Raises `CodeObjectError` if there is no descriptor.
        """
        return FileAddress(self.entry_address + self.descriptor.start_offset)

    @property
    def code_size(self) -> int | None:
        """Size of its code in bytes; None if no symbol gives it."""
        return self.entry_symbol.size if self.entry_symbol is not None and self.entry_symbol.size else None

    @property
    def wave_size(self) -> int:
        return self.descriptor.wave_size

    @property
    def kernarg_size(self) -> int:
        """Bytes of the kernarg segment, from the metadata or otherwise from the descriptor."""
        return (
            self.metadata.kernarg_segment_size if self.metadata is not None else self.descriptor.kernarg_size
        )

    def _check_generation(self) -> None:
        code_object = self.code_object
        if code_object.target.generation is Generation.R600:
            reason = f"the code is for {code_object.target.name}, which has no kernel descriptors"
            raise code_object.source.error(reason, section="ELF header", offset=48)

    def _require_symbol(self) -> Symbol:
        if self.descriptor_symbol is None:
            reason = f"kernel {self.name} is in the metadata but has no descriptor symbol"
            raise CodeObjectError(self.code_object.name, reason, section="symbol table")
        return self.descriptor_symbol


class Shader(Kernel):
    """A shader of AMDPAL or Mesa, which is described by registers instead of a descriptor."""

    def __init__(self, code_object: CodeObject, entry: Symbol, program: ShaderProgram) -> None:
        super().__init__(code_object, program.symbol, None, entry)
        self.program = program
        self._entry = entry

    @remembered
    def metadata(self) -> KernelMetadata | None:
        """None: the metadata of shaders is in `program`."""
        return None

    @remembered
    def descriptor(self) -> KernelDescriptor:
        """A descriptor made from the registers."""
        self._check_generation()
        return self.program.descriptor(self.code_object.target)

    def directives(self) -> list[str]:
        """The registers; there are no other directives for them."""
        known = sorted(self.program.registers.items())
        return [f"{REGISTER_NAMES.get(number, f'{number:#x}')} = {value:#x}" for number, value in known]

    @property
    def descriptor_address(self) -> int:
        """The address of its code, because drivers do not pass any other address."""
        return self.entry_address

    @property
    def entry_address(self) -> FileAddress:
        """Address of the first instruction."""
        return self.code_object.address_of(self._entry)

    def with_registers(self, registers: Mapping[int, int]) -> Shader:
        """The shader with some registers set to other values, as a driver would start it."""
        return Shader(self.code_object, self._entry, self.program.with_registers(registers)) if registers else self


class Kernels(Mapping[str, Kernel]):
    """All kernels of a code object, in the order of its symbols.

    Keys are symbol names without ``.kd``; lookup also accepts the name with it, and the metadata's name. An unknown
    name raises `NoSuchKernelError` (use ``in`` or `find` to test).
    """

    def __init__(self, code_object: CodeObject) -> None:
        self._code_object = code_object
        self._made: dict[str, Kernel] = {}

    def __getitem__(self, name: str) -> Kernel:
        kernel = self.find(name)
        if kernel is None:
            raise NoSuchKernelError(self._code_object.name, name, near_names(name, self._names))
        return kernel

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.find(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def find(self, name: str) -> Kernel | None:
        """The kernel with this symbol or metadata name, None if there is none."""
        stem = name.removesuffix(_SUFFIX)
        kernel = self._by_symbol(stem)
        if kernel is None:
            metadata = self._readable_metadata
            symbol = metadata.symbol_of(name) if metadata is not None else None
            if symbol is None and stem in self._names:
                symbol = stem
            if symbol is not None:
                stem = symbol.removesuffix(_SUFFIX)
                kernel = self._by_symbol(stem) or self._made.setdefault(
                    stem, Kernel(self._code_object, stem, None, None)
                )
        return kernel

    def _by_symbol(self, stem: str) -> Kernel | None:
        if stem not in self._made:
            symbols = self._code_object.symbols
            entry = symbols.get(stem)
            shader = self._shaders.get(stem)
            if shader is not None and entry is not None:
                self._made[stem] = Shader(self._code_object, entry, shader)
                return self._made[stem]
            if self._code_object.has_code_headers:
                symbol = entry if entry is not None and entry.type == SymbolType.AMDGPU_HSA_KERNEL else None
            else:
                symbol = symbols.get(stem + _SUFFIX)
            if symbol is None or not symbol.is_defined:
                return None
            if entry is not None and entry.type not in (SymbolType.FUNC, SymbolType.AMDGPU_HSA_KERNEL):
                entry = None
            self._made[stem] = Kernel(self._code_object, stem, symbol, entry)
        return self._made[stem]

    @remembered
    def _names(self) -> dict[str, None]:
        """Names in order (a dictionary for its fast lookup)."""
        symbols = self._code_object.symbols
        if self._code_object.has_code_headers:
            wanted = (symbols.array["info"] & 15) == SymbolType.AMDGPU_HSA_KERNEL
            names = dict.fromkeys(symbols[int(i)].name for i in wanted.nonzero()[0])
        else:
            names = dict.fromkeys(
                name.removesuffix(_SUFFIX)
                for name, section in zip(symbols.names(), symbols.array["shndx"].tolist(), strict=True)
                if section and name.endswith(_SUFFIX)
            )
        names |= dict.fromkeys(self._shaders)
        metadata = self._readable_metadata
        if metadata is not None:
            for name in metadata.kernel_names:
                names.setdefault((metadata.symbol_of(name) or name).removesuffix(_SUFFIX))
        return names

    @cached_property
    def _shaders(self) -> Mapping[str, ShaderProgram]:
        """The shaders; empty if their description is damaged."""
        try:
            return self._code_object.shaders
        except CodeObjectError:
            return {}

    @cached_property
    def _readable_metadata(self) -> Metadata | None:
        """The metadata; None also if it is damaged, because kernels named by symbols are still available then."""
        try:
            return self._code_object.metadata
        except CodeObjectError:
            return None
