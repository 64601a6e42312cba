"""What bytes of the host stand for: a buffer, the arguments, private memory, a workgroup's LDS."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.target.recording import Spans
from rocdbg.sim.core.memory import AllocationKind

if TYPE_CHECKING:
    from rocdbg.debugger.target.simulated_target import SimTarget


class Home(Struct, frozen=True):
    """What bytes are of; ``own``: of one wave or workgroup, others had them before."""

    text: str
    own: bool


def host_home(target: SimTarget, spans: Spans, thread: int | None) -> Home:
    """What bytes are of, in a few words. Raises `DebuggerError` for none that are known."""
    begin, end = spans[0][0], spans[0][1]
    for wave in target.dispatch.waves:
        low = wave.lds.ctypes.data
        if wave.lds.size and low <= begin and end <= low + wave.lds.size:
            return Home(f"local#{begin - low:#x}, which nothing has written", True)
    for allocation in target.machine.memory.allocations:
        low = allocation.data.ctypes.data
        if not low <= begin < low + allocation.data.size:
            continue
        offset = begin - low
        if allocation.kind is AllocationKind.SCRATCH:
            return Home("private memory, which nothing has written", True)
        if allocation.kind is AllocationKind.KERNARG:
            return Home(_argument(target, offset), False)
        for bound in target.bound.buffers:
            if bound.allocation is allocation:
                array = bound.buffer.array if bound.layout is None else None  # an image's rows are padded
                size = array.dtype.itemsize if array is not None else 1
                return Home(f"the launch: {bound.buffer.name or 'a buffer'}[{offset // size}]", False)
        return Home(f"{allocation.kind.value} {allocation.name} as it was loaded, at {allocation.address + offset:#x}",
                    False)
    raise DebuggerError("Memory of the host that is of no part of the device.")


def _argument(target: SimTarget, offset: int) -> str:
    metadata = target.dispatch.kernel.metadata
    explicit = metadata.explicit_args if metadata is not None else ()
    for argument in metadata.args if metadata is not None else ():
        if argument.offset <= offset < argument.offset + argument.size:
            number = f"{explicit.index(argument)}" if argument in explicit else argument.value_kind.name.lower()
            return f"the launch: argument {argument.name or number}"
    return f"the launch: byte {offset} of the kernel's arguments"


def host_contents(target: SimTarget, spans: Spans) -> bytes:
    """The bytes, which have to be memory of the device."""
    for begin, end in spans:
        host_home(target, [(begin, end)], None)
    return b"".join(ctypes.string_at(begin, end - begin) for begin, end in spans)


__all__ = ["Home", "host_contents", "host_home"]
