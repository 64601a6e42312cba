"""One GPU of a process: the simulated machine and the code that the program has loaded on it."""

from __future__ import annotations

from msgspec import Struct

from rocdbg.arch.target_id import TargetId
from rocdbg.codeobject.code_object import CodeObject
from rocdbg.codeobject.code_object_uri import FileUri, MemoryUri, parse_uri
from rocdbg.codeobject.elf_symbols import SymbolType
from rocdbg.codeobject.kernels import Kernel
from rocdbg.errors import Error
from rocdbg.host.agents import RESIDENT_WAVES
from rocdbg.host.protocol import SYMBOL_RECORD, SymbolFlags
from rocdbg.host.shared_memory import SharedMemory
from rocdbg.sim.device.machine import LoadedCodeObject, Machine, MachineOptions

_KERNEL, _VARIABLE = 1, 0
_PROGRAM_LINKAGE = 1
_STB_LOCAL = 0


class ProgramCode(Struct, eq=False):
    """A code object that a program has loaded. ``number`` counts the code objects of its process from 1."""

    number: int
    uri: str
    device: Device
    loaded: LoadedCodeObject

    @property
    def load_size(self) -> int:
        """Bytes of memory that it takes."""
        return self.loaded.allocation.size


class Device:
    """A GPU. ``node`` is its number among the agents of the process, from 1; 0 is the host."""

    def __init__(self, node: int, agent: TargetId, memory: SharedMemory, options: MachineOptions | None = None) -> None:
        self.node = node
        self.agent = agent
        options = options or MachineOptions(resident_waves=RESIDENT_WAVES)
        self.machine = Machine(agent.target, options, memory.global_memory)

    def load(self, data: bytes, number: int, uri: str, defined: dict[str, int]) -> ProgramCode:
        """Load a code object; ``defined`` has the addresses of symbols that it does not define itself. Raises the
        errors of code objects, machines and memory.
        """
        code_object = CodeObject(data, name=uri or f"code object {number}", uri=_uri_of(uri))
        loaded = self.machine.load(code_object, resolve=defined.get if defined else None)
        return ProgramCode(number, uri, self, loaded)

    def unload(self, code: ProgramCode) -> None:
        """Remove a code object of this device."""
        self.machine.unload(code.loaded)


def _uri_of(text: str) -> FileUri | MemoryUri | None:
    """Parse the URI of a code object as the runtime library writes it; None if the text is not a URI."""
    try:
        return parse_uri(text)
    except Error:
        return None


def symbol_records(code: ProgramCode) -> tuple[int, bytes]:
    """The number of a code object's symbols, and their records, which a program may query."""
    parts: list[bytes] = []
    seen: set[str] = set()
    loaded = code.loaded
    code_object = loaded.code_object
    for kernel in code_object.kernels.values():
        symbol = kernel.descriptor_symbol
        if symbol is not None and symbol.name not in seen:
            seen.add(symbol.name)
            parts.append(_kernel_record(code, kernel, symbol.name))
    for symbol in code_object.dynamic_symbols:
        wanted = symbol.type == SymbolType.OBJECT and symbol.is_defined and symbol.binding != _STB_LOCAL
        if wanted and not symbol.is_lds and symbol.name not in seen:
            seen.add(symbol.name)
            address = loaded.address(code_object.address_of(symbol))
            flags = 0 if _writable(code, symbol.section_index) else SymbolFlags.CONSTANT
            name = symbol.name.encode()
            record = SYMBOL_RECORD.pack(
                _VARIABLE, len(name), address, symbol.size, 0, 0, 0, 0, flags, _PROGRAM_LINKAGE
            )
            parts.append(record + name + b"\0")
    return len(parts), b"".join(parts)


def _kernel_record(code: ProgramCode, kernel: Kernel, symbol_name: str) -> bytes:
    descriptor, metadata = kernel.descriptor, kernel.metadata
    dynamic = descriptor.uses_dynamic_stack or (metadata is not None and metadata.uses_dynamic_stack)
    name = symbol_name.encode()
    return SYMBOL_RECORD.pack(
        _KERNEL,
        len(name),
        code.loaded.address(kernel.descriptor_address),
        64,
        kernel.kernarg_size,
        metadata.kernarg_segment_align if metadata is not None else 16,
        descriptor.group_segment_fixed_size,
        descriptor.private_segment_fixed_size,
        SymbolFlags.DYNAMIC_STACK if dynamic else 0,
        _PROGRAM_LINKAGE,
    ) + name + b"\0"  # fmt: skip


def _writable(code: ProgramCode, section_index: int) -> bool:
    """Whether a symbol lies in a section that can be written to; true if that is not known."""
    sections = code.loaded.code_object.container.section_list
    if not 0 <= section_index < len(sections):
        return True
    return bool(sections[section_index].flags & 1)

