"""The program being debugged: a code object, its debug information, and where it is loaded.

Debug information and symbols use file addresses; everything that the user sees is a loaded address. `Program.base` is
the difference between them (0 until the code object is loaded).
"""

from __future__ import annotations

import re
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from rocdbg.addresses import FileAddress, LoadedAddress
from rocdbg.codeobject import CodeObject, CodeObjectError, Kernel, open_modules
from rocdbg.codeobject.demangle import demangle, function_name
from rocdbg.codeobject.elf import SHF_ALLOC, SHF_EXECINSTR
from rocdbg.codeobject.elf_symbols import Symbol, SymbolType
from rocdbg.codeobject.gnat_names import gnat_name
from rocdbg.codeobject.metadata import KernelArg
from rocdbg.codeobject.relocation import RelocationType, iter_relocations
from rocdbg.debugger.base.errors import DebuggerError, MemoryAccessError
from rocdbg.debugger.program.assembler_macro_lines import Expansions
from rocdbg.debugger.program.complaints import Complaints
from rocdbg.debugger.program.function_extents import FunctionExtents
from rocdbg.debugger.program.labels import Labels
from rocdbg.debugger.program.prologue_end_checks import begins_instruction, can_be_passed_by
from rocdbg.debugger.program.source_files import modified
from rocdbg.dwarf.architecture import Architecture, architecture_by_name
from rocdbg.dwarf.info import DebugInfo, Function, LineRow, SourceFile, Type
from rocdbg.dwarf.info.all_names import DeclaredName, NameKind
from rocdbg.launch.debug_files import DebugContents, DebugFiles
from rocdbg.launch.debug_sections import has_debug_info

if TYPE_CHECKING:
    from rocdbg.debugger.program.location_lookup import Location

MAX_ADDRESS = (1 << 64) - 1
_POINTER = 8
"""The size of an address in bytes."""


def same_function(one: Function, other: Function) -> bool:
    """Whether two entries describe the same function; a concrete instance differs from its abstract entry."""
    if one.offset == other.offset:
        return True
    name = one.linkage_name or one.qualified_name
    return (
        name is not None
        and name == (other.linkage_name or other.qualified_name)
        and one.decl_line == other.decl_line
    )


class Program:
    """A code object with its debug information.

    ``path`` is the file that the user named; ``built`` is when it was written (nanoseconds; None if there is no such
    file). ``base`` is added to file addresses. ``debug_files`` finds debug information in other files.
    """

    def __init__(self, code_object: CodeObject, path: Path, debug_files: DebugFiles | None = None) -> None:
        self.code_object = code_object
        self.debug_files = debug_files or DebugFiles()
        self.complaints = Complaints(self.debug_files.warn)
        self.path = path
        self.base = 0
        self.loaded = False
        self.built = modified(path)
        self.names: NameList = NameList(self._names)
        self.lds_places: dict[int | None, dict[int, int]] = {}
        """Cache of `lds`, by the kernel's entry; None is the key for variables that belong to no kernel."""
        self.functions: FunctionExtents = FunctionExtents(code_object)
        self.labels: Labels = Labels(self)
        self.expansions: Expansions = Expansions(self)
        self.source_line: Callable[[SourceFile, int], str | None] = lambda file, line: None
        """Returns the text of a source line, ``None`` if it is not found."""
        self.passed_arguments: dict[tuple[int, int], KernelArg | None] = {}
        """Cache of `kernel_arguments`, by the entries of routine and parameter, because it is called for each lane."""
        self.known_places: dict[object, tuple[Location, ...]] = {}
        """Cache of `LocationResolver`, by specification or file address, because scripts set many breakpoints."""

    @classmethod
    def open_all(
        cls, name: Path | str, target_id: str | None = None, debug_files: DebugFiles | None = None
    ) -> list[Program]:
        """Open a code object, bundle or fat binary by path or URI, and return one program per translation unit.

        Raises `rocdbg.Error`.
        """
        opened = open_modules(name, target_id)
        return [cls(code_object, code_object.path or Path(name), debug_files) for code_object in opened]

    @cached_property
    def info(self) -> DebugInfo:
        """The debug information; empty when the file has none."""
        info = self.debug_files.info(
            self.debug, self.code_object, lambda damage: self.complaints.add(damage, "it is not used")
        )
        info.is_code = self._begins_instruction
        info.can_be_passed_by = partial(can_be_passed_by, self.code_object)
        return info

    def _begins_instruction(self, start: FileAddress, address: FileAddress) -> bool:
        """Apply `begins_instruction`, and report it if no instruction begins there."""
        if begins_instruction(self.code_object, start, address):
            return True
        wrong = DebuggerError(f"The line table has a row at {address:#x}, which is inside an instruction")
        self.complaints.add(wrong, f"breakpoints on the function are set at {start:#x}")
        return False

    def _names(self) -> Iterator[DeclaredName | None]:
        """Yield the names that completion offers."""
        yield from self.info.declared_names()
        shown = (SymbolType.NOTYPE, SymbolType.OBJECT, SymbolType.FUNC, SymbolType.AMDGPU_HSA_KERNEL)
        for symbol in self.code_object.symbols:
            if symbol.is_absolute and "." in symbol.name:
                continue  # register counts that LLVM defines for a function: `saxpy.num_vgpr`
            if symbol.type in shown and symbol.is_defined and symbol.name and not symbol.name.startswith(".L"):
                data = symbol.type == SymbolType.OBJECT or symbol.is_absolute or not self.code_object.is_code(symbol)
                yield DeclaredName(symbol.name, NameKind.DATA_SYMBOL if data else NameKind.SYMBOL, 0)
            yield None
        for name in self.labels.names():
            yield DeclaredName(name, NameKind.SYMBOL, 0)

    @cached_property
    def debug(self) -> DebugContents:
        """The file with the debug information: the code object itself or, if it was stripped, its separate debug file.
        """
        contents = self.debug_files.contents(self.code_object)
        contents.sections.report = lambda damage: self.complaints.add(damage, "the section is not used")
        return contents

    @property
    def has_debug_info(self) -> bool:
        """Whether there is debug information."""
        return has_debug_info(self.debug.file)

    @property
    def uri(self) -> str:
        """The code object's URI as ``info sharedlibrary`` shows it."""
        uri = self.code_object.uri
        return str(uri) if uri is not None else f"file://{self.path.resolve()}"

    def is_loaded_at(self, address: LoadedAddress) -> bool:
        """Whether a loaded address is in one of the program's segments."""
        return self.loaded and 0 <= address - self.base < self.code_object.memory_size

    def to_file(self, address: LoadedAddress) -> FileAddress:
        """Convert a loaded address to a file address."""
        return FileAddress(address - self.base)

    def to_loaded(self, address: FileAddress) -> LoadedAddress:
        """Convert a file address to a loaded address."""
        return LoadedAddress(address + self.base)

    # -- symbols

    def symbol_at(self, address: LoadedAddress) -> Symbol | None:
        """Return the function or object whose bytes include this loaded address."""
        symbol = self.code_object.symbols.at(self.to_file(address))
        return symbol if symbol is not None and symbol.is_defined and not symbol.is_lds else None

    def symbol_address(self, name: str) -> LoadedAddress | None:
        """Return the loaded address of a symbol; ``None`` if there is none, and for LDS and absolute symbols."""
        symbol = self.code_object.symbols.get(name)
        if symbol is None or not symbol.is_defined or symbol.is_lds or symbol.is_absolute:
            return None
        return self.to_loaded(self.code_object.address_of(symbol))

    def code_start(self, address: FileAddress) -> FileAddress:
        """Return where the code of the symbol at an address starts: in version 2 code objects, after the descriptor."""
        symbol = self.code_object.symbols.at(address) if self.code_object.has_code_headers else None
        if symbol is None or self.code_object.address_of(symbol) != address:
            return address
        return self.code_object.entry_address_of(symbol)

    def lds_offset(self, name: str) -> int | None:
        """Return the LDS offset of a symbol that the linker left in LDS, otherwise ``None``."""
        symbol = self.code_object.symbols.get(name)
        if symbol is None or not symbol.is_lds:
            return None
        return self.code_object.address_of(symbol)

    def symbolize(self, address: int, data: bool = True, mangled: bool = False, limit: int = 0) -> str | None:
        """Return ``fn+12``, or ``fn`` for offset 0; ``None`` if there is no symbol or the offset exceeds ``limit``."""
        found = code_name(self, address, mangled, data)
        if found is None or (limit and found[1] > limit):
            return None
        name, offset = found
        return f"{name}+{offset}" if offset else name

    def symbol_and_offset(
        self, address: int, data: bool = True, mangled: bool = False
    ) -> tuple[str, int] | None:
        """Return the name of the symbol at a loaded address, and the offset into it; any number is accepted."""
        address = LoadedAddress(address)
        symbol = self.symbol_at(address)
        if symbol is not None:
            if not data and not self.code_object.is_code(symbol):
                return None
            place = self.code_object.address_of(symbol)
            return self._name(symbol.name, place, mangled), self.to_file(address) - place
        function = self.function_at(address)
        if function is not None and function.low_pc is not None:
            return self.function_title(function), self.to_file(address) - function.low_pc
        return self._unnamed_kernel(self.to_file(address))

    def _unnamed_kernel(self, address: FileAddress) -> tuple[str, int] | None:
        """Return the kernel whose code is at a file address, if only the kernel's descriptor has a symbol."""
        if not any(low <= address < high for low, high in self._code_ranges):
            return None
        function = self.functions.at(address)
        name = self._kernel_names.get(function.start) if function is not None and function.is_kernel else None
        return (name, address - function.start) if name is not None and function is not None else None

    @cached_property
    def _kernel_names(self) -> dict[int, str]:
        """The names of kernels, by the address of their code."""
        found = {}
        for kernel in self.code_object.kernels.values():
            with suppress(CodeObjectError):
                found[int(kernel.entry_address)] = kernel.name
        return found

    @cached_property
    def _code_ranges(self) -> list[tuple[int, int]]:
        """The file addresses of sections with code."""
        placed = ((s, self.code_object.section_address(s)) for s in self.code_object.container.section_list)
        return [(at, at + s.size) for s, at in placed if at is not None and s.flags & SHF_EXECINSTR]

    @staticmethod
    def function_title(function: Function) -> str:
        """Return a function's name with parameters as GDB shows it: ``ns::f<3u>(int const*)``; in C only the name."""
        if function.linkage_name is not None and function.linkage_name.startswith("_Z"):
            text = demangle(function.linkage_name)
            start = 0 if "thunk" in text else text.find(function_name(function.linkage_name))
            if text != function.linkage_name and start >= 0:
                return text[start:]  # without the return type that the name of a template instance includes
        if not function.unit.is_cxx:
            return function.display_name
        text = function.display_name.replace("(void)", "()")
        text = re.sub(r"\bconst ([\w:]+(?:<[^()]*>)?) (?=[*&])", r"\1 const ", text)  # the order of demangled names
        return re.sub(r" ([*&]+)(?=[,)])", r"\1", text)

    def _name(self, name: str, place: FileAddress, mangled: bool) -> str:
        """Return the displayed name of a symbol at a file address: its source name if debug information has it.

        For a function described without DW_AT_linkage_name, that is the name in its description.
        """
        function = self.info.function_at(place) if self.has_debug_info else None
        if not name.startswith("_Z"):
            described = function is not None and function.low_pc == place
            return name if mangled or described else gnat_name(name)
        if function is not None and function.low_pc == place and function.linkage_name in (name, None):
            if function.linkage_name is None:
                return function.qualified_name or name
            return name if mangled else self.function_title(function)
        return name if mangled else demangle(name)

    # -- debug information at loaded addresses

    def function_at(self, address: LoadedAddress) -> Function | None:
        """Return the function with code at a loaded address."""
        return self.info.function_at(self.to_file(address)) if self.has_debug_info else None

    def line_at(self, address: LoadedAddress) -> LineRow | None:
        """Return the line table row that covers a loaded address; the row itself has file addresses."""
        return self.info.line_at(self.to_file(address)) if self.has_debug_info else None

    def complete_type(self, type_: Type) -> Type:
        """Return the definition of a type; the type may come from a place where it is only declared."""
        return self.info.complete_type(type_) if self.has_debug_info else type_

    # -- kernels and code

    @property
    def architecture(self) -> Architecture:
        """Registers and address spaces by their DWARF numbers."""
        large = self.code_object.target.vgpr_file > 256
        return architecture_by_name("amdgcn_gfx125" if large else "amdgcn")

    @cached_property
    def wave_size(self) -> int:
        """The wave size that the code is for: that of its first kernel or, without kernels, the target's usual size."""
        for name in self.code_object.kernels:
            return self.code_object.kernels[name].wave_size
        return self.code_object.target.default_wave_size

    def kernel_title(self, kernel: Kernel) -> str:
        """Return the source name of a kernel, which labels threads."""
        if self.has_debug_info:
            for function in self.info.functions_named(kernel.name):
                return function.name or kernel.name
        metadata = kernel.metadata
        return function_name(metadata.name if metadata is not None and metadata.name else kernel.name)

    def is_kernel(self, function: Function) -> bool:
        """Whether a function is a kernel: by its calling convention, or because a descriptor names it."""
        if function.is_kernel:
            return True
        low = function.low_pc
        symbol = self.code_object.symbols.at(low) if low is not None else None
        return symbol is not None and self.code_object.kernels.find(symbol.name) is not None

    def read(self, address: int, size: int) -> bytes:
        """Read bytes of the file at a loaded address; zero-initialised data reads as zeros. Raises `MemoryAccessError`.

        Pointers in data are relocated as if the program were loaded here.
        """
        place = self.to_file(LoadedAddress(address))
        try:
            return self._linked(address, bytearray(self.code_object.read(place, size)))
        except CodeObjectError as error:
            if any(zeros <= place and place + size <= end for zeros, end in self._zeros):
                return bytes(size)
            raise MemoryAccessError("global", address, size, str(error)) from None

    def _linked(self, address: int, data: bytearray) -> bytes:
        """Return bytes of the file with relocations applied to its data, which contains zeros until it is loaded."""
        size = len(data)
        first = bisect_left(self._pointers, (address - self.base - _POINTER + 1, 0))
        for index in range(first, len(self._pointers)):
            place, value = self._pointers[index]
            place += self.base
            if place >= address + size:
                break
            whole = ((self.base + value) & MAX_ADDRESS).to_bytes(_POINTER, "little")
            low, high = max(place, address), min(place + _POINTER, address + size)
            data[low - address : high - address] = whole[low - place : high - place]
        return bytes(data)

    @cached_property
    def _pointers(self) -> list[tuple[int, int]]:
        """The relocations that refer to the program's own addresses, by place; all are file addresses."""
        if self.code_object.is_relocatable:
            return []
        found = {}
        try:
            for record in iter_relocations(self.code_object):
                if record.type is RelocationType.RELATIVE64:
                    found[record.address] = record.addend
                elif record.type is RelocationType.ABS64 and record.dynamic:
                    symbol = self.code_object.dynamic_symbols[record.symbol]
                    if symbol.is_defined:
                        found[record.address] = self.code_object.address_of(symbol) + record.addend
        except CodeObjectError:
            return []  # damage to the table is reported when the program is loaded
        return sorted(found.items())

    @cached_property
    def _zeros(self) -> list[tuple[int, int]]:
        """The file addresses of sections that have no bytes in the file (``.bss``)."""
        sections = self.code_object.sections.values()
        return [(s.address, s.address + s.size) for s in sections if s.flags & SHF_ALLOC and not s.has_bytes]

    def text_range(self) -> tuple[int, int]:
        """Return the loaded addresses of ``.text``; (0, 0) if there is none."""
        section = self.code_object.sections.get(".text")
        if section is None:
            return 0, 0
        low = self.to_loaded(self.code_object.section_address(section) or FileAddress(0))
        return low, low + section.size


def code_name(
    program: Program, address: int, mangled: bool = False, data: bool = False
) -> tuple[str, int] | None:
    """Return `Program.symbol_and_offset`; a C++ function without a linkage name is shown with its parameters."""
    found = program.symbol_and_offset(address, data, mangled)
    symbol = program.symbol_at(LoadedAddress(address)) if found is not None and data else None
    if symbol is not None and not symbol.size and not program.code_object.is_code(symbol):
        return None  # as in GDB, which does not name addresses by data without a size
    if found is None or not program.has_debug_info or "(" in found[0] or found[0].startswith("_Z"):
        return found
    function = program.function_at(LoadedAddress(address - found[1]))
    if function is not None and function.unit.is_cxx and function.linkage_name is None:
        return Program.function_title(function), found[1]
    return found


# The names of a program for completion, gathered in small steps.
MOST = 200
"""The maximum number of names that are returned at once."""
CHUNK = 4096
"""The number of names that are sorted at once."""


class NameList:
    """The names that ``source`` yields. It also yields ``None`` at intervals, between which the clock need not be
    checked.

    `advance` gathers names for a limited time, `finish` gathers all; until then, `starting` finds only those gathered
    so far.
    """

    def __init__(self, source: Callable[[], Iterator[DeclaredName | None]]) -> None:
        self._source: Iterator[DeclaredName | None] | None = _started(source)
        self._sorted: dict[NameKind, list[list[str]]] = {kind: [] for kind in NameKind}
        """Names in chunks, each of them sorted, so that a key press does not have to wait until all names are."""
        self._latest: dict[NameKind, list[str]] = {kind: [] for kind in NameKind}
        """Names that are not yet in a chunk."""
        self._offsets: dict[str, int] = {}

    @property
    def complete(self) -> bool:
        """Whether all names are known."""
        return self._source is None

    def advance(self, seconds: float) -> bool:
        """Gather names for about ``seconds``; return whether all names are known."""
        end = time.monotonic() + seconds
        while self._source is not None and time.monotonic() < end:
            self._gather()
        return self.complete

    def finish(self) -> None:
        """Gather the remaining names."""
        while self._source is not None:
            self._gather()

    def _gather(self) -> None:
        """Gather names up to the next pause of the source."""
        source = self._source
        assert source is not None
        for item in source:
            if item is None:
                return
            latest = self._latest[item.kind]
            latest.append(item.name)
            if len(latest) == CHUNK:
                self._sort(item.kind)
            if item.kind is NameKind.FUNCTION:
                self._offsets.setdefault(item.name, item.offset)
        self._source = None
        for kind in NameKind:
            self._sort(kind)

    def _sort(self, kind: NameKind) -> None:
        latest = self._latest[kind]
        if latest:
            self._sorted[kind].append(sorted(set(latest)))
            self._latest[kind] = []

    def starting(self, prefix: str, kinds: Iterable[NameKind]) -> list[str]:
        """Return the first gathered names of some kinds with this prefix, sorted, at most `MOST` of each kind."""
        found: list[str] = []
        for kind in kinds:
            fit = {name for name in self._latest[kind] if name.startswith(prefix)}
            for names in self._sorted[kind]:
                first = bisect_left(names, prefix)
                fit.update(name for name in names[first : first + MOST] if name.startswith(prefix))
            found += sorted(fit)[:MOST]
        return found

    def function_at(self, name: str) -> int | None:
        """Return the offset of a function's entry, given its qualified name."""
        return self._offsets.get(name)


def _started(source: Callable[[], Iterator[DeclaredName | None]]) -> Iterator[DeclaredName | None]:
    """Yield the names of a source, which is not called before the first name is needed."""
    yield from source()
