"""The services behind a kernel's hidden arguments if there is no runtime: printf, hostcalls, a heap, a queue.

Each service is created when a kernel first has the argument for it, and exists for the lifetime of the machine, because
one kernel may free what another has allocated. All state that changes while kernels run can be saved and restored
(`HostServices.snapshot`), so that a repeated run behaves like the first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.codeobject.metadata import ValueKind
from rocdbg.sim.core.layout import PAGE_COUNT, PAGE_SHIFT, PAGE_SIZE
from rocdbg.sim.core.memory import AllocationKind, GlobalMemory
from rocdbg.sim.services.output import Positions, ProgramOutput, Stream

if TYPE_CHECKING:
    from rocdbg.sim.core.memory import Allocation
    from rocdbg.sim.services.device_heap import DeviceHeap, HeapState
    from rocdbg.sim.services.device_queue import DeviceQueue
    from rocdbg.sim.services.hostcall import HostcallBuffer, Row
    from rocdbg.sim.services.messages import Messages, Pending
    from rocdbg.sim.services.printf_buffer import PrintfBuffer

_HEAP_SIZE = 128 << 10
"""Bytes of the structure to which ``hidden_heap_v1`` points; all zeros mean an empty heap."""
_SPARE_PACKETS = 64
"""The number of packets in addition to one per wave, for functions that a debugger calls."""
_SOURCE = "hostcall"
_AREA = PAGE_COUNT // 4
"""First page of the part of the window that these allocations use, so that they do not change the addresses of buffers.
"""

SERVED = frozenset(
    (ValueKind.HIDDEN_PRINTF_BUFFER, ValueKind.HIDDEN_HOSTCALL_BUFFER, ValueKind.HIDDEN_HEAP_V1,
     ValueKind.HIDDEN_DEFAULT_QUEUE, ValueKind.HIDDEN_COMPLETION_ACTION)
)
"""The hidden arguments that are served."""


class ServicesState(Struct, frozen=True):
    """The state of the services at one moment, for `HostServices.restore`."""

    positions: Positions
    pending: Pending | None
    heap: HeapState | None
    printed: int


class HostServices:
    """The services of one machine for kernels of at most ``waves`` waves at once."""

    def __init__(self, memory: GlobalMemory, waves: int) -> None:
        self.output = ProgramOutput()
        self._memory = memory
        self._packets = waves + _SPARE_PACKETS
        self._next_page = _AREA
        self._hostcalls: HostcallBuffer | None = None
        self._messages: Messages | None = None
        self._heap: DeviceHeap | None = None
        self._heap_address = 0
        self._printf: PrintfBuffer | None = None
        self._queue: DeviceQueue | None = None
        self._keeps = False
        self._formats: Callable[[], Sequence[str]] = tuple

    # -- hidden arguments

    def arguments(self, wanted: Collection[ValueKind]) -> dict[ValueKind, int]:
        """The values of the hidden arguments in ``wanted`` that are served. Raises AllocationError.

        The addresses depend on the order in which the services are created, so it must not be the order of a set, which
        differs between processes.
        """
        return {kind: self._argument(kind) for kind in ValueKind if kind in SERVED and kind in wanted}

    def _argument(self, kind: ValueKind) -> int:
        match kind:
            case ValueKind.HIDDEN_PRINTF_BUFFER:
                return self._need_printf().address
            case ValueKind.HIDDEN_HOSTCALL_BUFFER:
                return self._need_hostcalls().address
            case ValueKind.HIDDEN_HEAP_V1:
                if not self._heap_address:
                    self._heap_address = self._allocate(_HEAP_SIZE, "device heap").address
                return self._heap_address
            case _:
                queue = self._need_queue()
                return queue.address if kind is ValueKind.HIDDEN_DEFAULT_QUEUE else queue.action

    def _allocate(self, size: int, name: str) -> Allocation:
        address = self._memory.base + (self._next_page << PAGE_SHIFT)
        allocation = self._memory.allocate(size, name=name, kind=AllocationKind.RUNTIME, address=address)
        self._next_page += -(-size // PAGE_SIZE) + 1
        return allocation

    def _need_printf(self) -> PrintfBuffer:
        if self._printf is None:
            from rocdbg.sim.services.printf_buffer import SIZE, PrintfBuffer, read_formats

            self._printf = PrintfBuffer(self._allocate(SIZE, "printf buffer"), self.output)
            self._printf.begin(read_formats(self._formats()))
        return self._printf

    def _need_hostcalls(self) -> HostcallBuffer:
        if self._hostcalls is None:
            from rocdbg.sim.services.hostcall import HostcallBuffer, buffer_size

            size = buffer_size(self._packets)
            self._hostcalls = HostcallBuffer(self._allocate(size, "hostcall buffer"), self._packets)
        return self._hostcalls

    def _need_queue(self) -> DeviceQueue:
        if self._queue is None:
            from rocdbg.sim.services.device_queue import SIZE, DeviceQueue

            self._queue = DeviceQueue(self._allocate(SIZE, "default queue"))
        return self._queue

    # -- while kernels run

    def begin(self, formats: Callable[[], Sequence[str]]) -> None:
        """Note that a kernel starts, from a code object with these ``amdhsa.printf`` entries."""
        self._formats = formats
        if self._printf is not None:
            from rocdbg.sim.services.printf_buffer import read_formats

            self._printf.begin(read_formats(formats()))

    def interrupt(self) -> str | None:
        """Answer the requests of a wave that has sent an interrupt. Returns an error message if the program cannot
        continue.
        """
        if self._hostcalls is None:
            return None
        from rocdbg.sim.services.hostcall import HostcallError

        try:
            self._hostcalls.serve(self._answer)
        except HostcallError as error:
            return str(error)
        return None

    def stopped(self, ended: bool) -> None:
        """Print the pending output of a kernel that has stopped or, with ``ended``, ended."""
        if self._printf is not None:
            self._printf.print(ended)
        if ended:
            self.output.flush()

    def _answer(self, service: int, row: Row) -> tuple[int, int]:
        from rocdbg.sim.services.hostcall import HostcallError, Service

        if service == Service.PRINTF:
            return self._print(row)
        if service == Service.DEVICE_MEMORY:
            return self._serve_memory(row), row[1]
        asked = {
            Service.FUNCTION_CALL: "calls a function of the host program, but there is no host program",
            Service.SANITIZER: f"reports an error of AddressSanitizer at address {row[0]:#x}",
        }
        what = asked.get(service, f"asks for hostcall service {service}, which is unknown")  # type: ignore[call-overload]
        raise HostcallError(f"the kernel {what}")

    def _print(self, row: Row) -> tuple[int, int]:
        from rocdbg.sim.services.hostcall import HostcallError, row_bytes
        from rocdbg.sim.services.messages import MessageError, Messages
        from rocdbg.sim.services.print_message import print_message

        if self._messages is None:
            self._messages = Messages()
        try:
            descriptor, message = self._messages.part(row[0], row_bytes(row))
        except MessageError as error:
            raise HostcallError(f"printf: {error}") from None
        if message is None:
            return descriptor, row[1]
        control = int.from_bytes(message[:8], "little")
        if control > 1:
            return (1 << 64) - 1, row[1]  # the runtime does not have other streams
        text = print_message(message[8:])
        self.output.write(_SOURCE, Stream.STDERR if control else Stream.STDOUT, text)
        return len(text), row[1]

    def _serve_memory(self, row: Row) -> int:
        """Allocate if the first qword is 0; otherwise free the memory to which it points."""
        from rocdbg.sim.services.hostcall import HostcallError

        heap = self._need_heap()
        address, size = row[:2]
        if not address and not size:
            raise HostcallError("the kernel asks for 0 bytes of device memory")
        if not address:
            return heap.allocate(size)
        if not heap.free(address):
            what = f"{address:#x} was not returned by malloc(), or has already been freed"
            raise HostcallError(f"free(): {what}")
        return address

    def _need_heap(self) -> DeviceHeap:
        if self._heap is None:
            from rocdbg.sim.services.device_heap import DeviceHeap

            self._heap = DeviceHeap(self._memory)
            self._heap.keeps = self._keeps
        return self._heap

    # -- time

    def keep(self, on: bool) -> None:
        """Set whether snapshots may be restored later, for which freed memory must be kept."""
        self._keeps = on
        if self._heap is not None:
            if on:
                self._heap.keeps = True
            else:
                self._heap.forget()

    def snapshot(self) -> ServicesState:
        """The argument for `restore`."""
        return ServicesState(
            self.output.positions(),
            self._messages.snapshot() if self._messages is not None else None,
            self._heap.snapshot() if self._heap is not None else None,
            self._printf.printed if self._printf is not None else 0,
        )

    def restore(self, state: ServicesState) -> None:
        """Restore the state at the time of `snapshot`. The caller has to restore memory."""
        from rocdbg.sim.services.device_heap import FIRST_PAGE, HeapState

        self.output.restore(state.positions)
        if self._messages is not None:
            self._messages.restore(state.pending or ({}, (), 0))
        if self._heap is not None:
            self._heap.restore(state.heap or HeapState(FIRST_PAGE, {}, {}))
        if self._printf is not None:
            self._printf.printed = state.printed


__all__ = ["SERVED", "HostServices", "ServicesState"]
