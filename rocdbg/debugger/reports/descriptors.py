"""Kernel descriptors by name (``saxpy.kd``) and by address."""

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
    """The kernel whose descriptor a text names (``saxpy.kd``, in quotes or not), or ``None``.

    The suffix follows the symbol or the source name; of several kernels with that name (overloads, or the same in two
    code objects) the first is used. ``bare``: the suffix may be left out.
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
    """The address of a kernel's descriptor, loaded or in its file."""
    program = next(each for each in programs if each.code_object is kernel.code_object)
    return int(program.to_loaded(FileAddress(kernel.descriptor_address)))


def descriptor_at(programs: Iterable[Program], memory: Memory, address: int) -> tuple[str, list[str], int]:
    """The descriptor at an address: its place (``0x1000 <saxpy.kd>``), its directives, and the address after it.

    If the address is a kernel's entry or descriptor, it is that kernel's descriptor; otherwise the bytes there are
    interpreted as one. Raises `DebuggerError` without a code object, `MemoryAccessError`.
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
