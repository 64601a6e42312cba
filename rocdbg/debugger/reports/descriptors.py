"""Finds kernel descriptors by name (``saxpy.kd``) and by address."""

from __future__ import annotations

from collections.abc import Iterable

from rocdbg.addresses import FileAddress, LoadedAddress
from rocdbg.codeobject import Kernel
from rocdbg.codeobject.kernel_descriptor import DESCRIPTOR_SIZE, V2_DESCRIPTOR_SIZE
from rocdbg.codeobject.kernel_descriptor_text import descriptor_directives
from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.values.value_storage import Memory
from rocdbg.launch.kernel_names import KernelMap

SUFFIX = ".kd"
QUOTES = "'\""


def described_kernel(programs: Iterable[Program], text: str, bare: bool = False) -> Kernel | None:
    """Return the kernel whose descriptor a text names (``saxpy.kd``, with or without quotes), or ``None``.

    The suffix follows the symbol or the source name. If several kernels have that name (overloads, or kernels in two
    code objects), the first is used. ``bare``: the suffix may be omitted.
    """
    name = text.strip()
    if len(name) > 1 and name[0] in QUOTES and name[-1] == name[0]:
        name = name[1:-1]
    stem = name.removesuffix(SUFFIX)
    if stem == name and not bare:
        return None
    for program in programs:
        info = program.info if program.has_debug_info else None
        for kernel in KernelMap(program.code_object, info).candidates(stem):
            return kernel
    return None


def described_address(programs: Iterable[Program], kernel: Kernel) -> int:
    """Return the address of a kernel's descriptor: the loaded address, or that in the file if it is not loaded."""
    program = next(each for each in programs if each.code_object is kernel.code_object)
    return int(program.to_loaded(FileAddress(kernel.descriptor_address)))


def descriptor_at(programs: Iterable[Program], memory: Memory, address: int) -> tuple[str, list[str], int]:
    """Return the descriptor at an address: its place (``0x1000 <saxpy.kd>``), its directives, and the address after it.

    If the address is that of a kernel's entry or descriptor, that kernel's descriptor is returned; otherwise the bytes
    at the address are interpreted as one. Raises `DebuggerError` without a code object, or `MemoryAccessError`.
    """
    found = [program for program in programs if program.is_loaded_at(LoadedAddress(address)) or not program.loaded]
    for program in found:
        place = program.to_file(LoadedAddress(address))
        size = V2_DESCRIPTOR_SIZE if program.code_object.has_code_headers else DESCRIPTOR_SIZE
        for kernel in program.code_object.kernels.values():
            if place in (kernel.descriptor_address, kernel.entry_address):
                start = int(program.to_loaded(FileAddress(kernel.descriptor_address)))
                return f"{start:#018x} <{kernel.name}{SUFFIX}>", kernel.directives(), start + size
    if not found or found[0].code_object.has_code_headers:
        raise DebuggerError(f"No kernel descriptor is at {address:#x}.")
    code_object = found[0].code_object
    data = memory.read(0, address, DESCRIPTOR_SIZE)
    xnack = code_object.target_id.xnack
    lines = descriptor_directives(data, f"{address:#x}", code_object.target, code_object.version or 0, xnack)
    return f"{address:#018x}", lines, address + DESCRIPTOR_SIZE
