"""A process that uses simulated GPUs: its memory, code and queues, and the operations that it may request.

Each connection has a thread for its requests, and another thread processes packets; `exclusive` is the only lock.
"""

from __future__ import annotations

import secrets
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from rocdbg.arch.target_id import TargetId
from rocdbg.host.agents import MEMORY_SIZE
from rocdbg.host.errors import RequestError
from rocdbg.host.gpu_side import GpuSide
from rocdbg.host.mappings import Mappings
from rocdbg.host.protocol import REPLY, REQUEST, Event, Pool, Status
from rocdbg.host.queues import ProgramQueue
from rocdbg.host.shared_memory import SharedMemory
from rocdbg.host.simulated_gpu import Device, ProgramCode
from rocdbg.sim.core.layout import PageFlags
from rocdbg.sim.core.memory import Allocation
from rocdbg.sim.device.queue_runner import QueueRunner

_MOST_PACKETS: Final = 1 << 17
_LOOK: Final = 0.1
"""Seconds between two checks whether an answer of the program is still needed."""
_NAMES: Final = {Pool.FINE: "host", Pool.KERNARG: "kernarg", Pool.COARSE: "host", Pool.DEVICE: "device"}


class ProgramProcess:
    """One process. ``agents`` are its GPUs."""

    def __init__(self, pid: int, agents: Sequence[TargetId], gpu_side: GpuSide) -> None:
        self.pid = pid
        self.memory = SharedMemory(gpu_side, MEMORY_SIZE * (len(agents) + 1))
        self.devices = [Device(node, agent, self.memory) for node, agent in enumerate(agents, 1)]
        self.token = secrets.randbits(63)
        """The token of the connection for events."""
        self.allocations: dict[int, Allocation] = {}
        """The program's allocations, by address."""
        self.pinned: dict[int, Allocation] = {}
        """Pinned ranges whose pages are still the program's own."""
        self.mappings = Mappings(self.memory)
        """The memory that is mapped at a second place."""
        self.codes: dict[int, ProgramCode] = {}
        self.queues: dict[int, ProgramQueue] = {}
        """The program's queues, by address."""
        self.traced = False
        """Whether queues that it creates from now on record where in the program their packets come from."""
        self.closed = False
        self.runner = QueueRunner()
        """Runs the dispatches of the queues, on behalf of `PacketProcessor` or a debugger."""
        self.failed: Callable[[ProgramQueue, Status, str], None] = lambda queue, status, message: None
        """Called for each packet that cannot be processed, with its queue, a status and a message."""
        self._events: socket.socket | None = None
        self._owed: bytes | None = None
        """The event that the program has yet to answer."""
        self._answer = b""
        """The bytes of its answer that have arrived."""
        self._events_lock = threading.Lock()
        self._numbers = {"code": 0, "queue": 0}

    # -- one at a time ---------------------------------------------------------------------------------------

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """A context in which no packets are processed; running kernels pause and then continue."""
        with self.runner.paused():
            yield

    # -- memory ----------------------------------------------------------------------------------------------

    def device(self, node: int) -> Device:
        """The GPU with this number. Raises RequestError."""
        if not 1 <= node <= len(self.devices):
            raise RequestError(Status.INVALID_ARGUMENT, f"there is no GPU {node}")
        return self.devices[node - 1]

    def allocate(self, size: int, kind: int) -> Allocation:
        """Allocate memory of a pool. Raises RequestError, AllocationError."""
        if kind not in _NAMES and kind != Pool.GROUP:
            raise RequestError(Status.INVALID_ARGUMENT, f"there is no memory pool of kind {kind}")
        allocation = self.memory.allocate(size, _NAMES.get(Pool(kind), ""))
        self.allocations[allocation.address] = allocation
        return allocation

    def place_object(self, words: Sequence[int], name: str) -> Allocation:
        """Place the dwords of an image's or a sampler's object, which kernels and the program read, in memory. Raises
        AllocationError.
        """
        allocation = self.memory.allocate(4 * len(words), name)
        allocation.data[:] = memoryview(struct.pack(f"<{len(words)}I", *words))
        self.allocations[allocation.address] = allocation
        return allocation

    def pin(self, size: int) -> Allocation:
        """Reserve addresses for memory of the program; when they are first accessed, the program is asked to share the
        pages. Raises AllocationError.
        """
        allocation = self.memory.allocate(size, "pinned memory")
        self.memory.global_memory.protect(allocation, PageFlags(0))
        self.allocations[allocation.address] = allocation
        self.pinned[allocation.address] = allocation
        return allocation

    def free(self, address: int) -> None:
        """Free the result of `allocate`, `pin`, `reserve` or `attach`. Raises RequestError, AllocationError."""
        allocation = self.allocations.pop(address, None)
        if allocation is None:
            raise RequestError(Status.INVALID_ALLOCATION, f"no allocation begins at {address:#x}")
        self.pinned.pop(address, None)
        self.mappings.free(address)
        self.memory.global_memory.free(allocation)

    def reserve(self, size: int, alignment: int) -> Allocation:
        """Reserve addresses without memory. Raises AllocationError."""
        allocation = self.mappings.reserve(size, alignment)
        self.allocations[allocation.address] = allocation
        return allocation

    def map(self, address: int, size: int, source: int, offset: int) -> None:
        """Map memory that the program has allocated also at a reserved address. Raises RequestError."""
        allocation = self.allocations.get(source)
        if allocation is None:
            raise RequestError(Status.INVALID_ALLOCATION, f"no allocation begins at {source:#x}")
        self.mappings.map(address, size, allocation, offset)

    def attach(self, other: ProgramProcess, address: int, size: int) -> tuple[Allocation, int]:
        """Map an allocation of another process, as `Mappings.attach` does."""
        allocation, offset = self.mappings.attach(other.memory, address, size)
        self.allocations[allocation.address] = allocation
        return allocation, offset

    def code_written(self, address: int, size: int) -> None:
        """Called when the program has written to the code at an address; bytes beyond its allocation are ignored."""
        memory = self.memory.global_memory
        allocation = memory.find(address)
        if allocation is not None:
            memory.note_written(address, min(size, allocation.end - address))

    # -- code ------------------------------------------------------------------------------------------------

    def load(self, node: int, data: bytes, uri: str, defined: dict[str, int]) -> ProgramCode:
        """Load a code object. Raises RequestError and what `Device.load` raises."""
        device = self.device(node)
        self._numbers["code"] += 1
        code = device.load(data, self._numbers["code"], uri, defined)
        self.codes[code.number] = code
        return code

    def unload(self, number: int) -> None:
        """Remove a code object. Raises RequestError."""
        code = self.codes.pop(number, None)
        if code is None:
            raise RequestError(Status.INVALID_ARGUMENT, f"there is no code object {number}")
        code.device.unload(code)

    # -- queues ----------------------------------------------------------------------------------------------

    def create_queue(self, node: int, size: int, kind: int, doorbell: int) -> ProgramQueue:
        """Create a queue of ``size`` packets. Raises RequestError, AllocationError."""
        device = self.device(node)
        if not 1 <= size <= _MOST_PACKETS or size & (size - 1):
            limits = f"the number must be a power of 2, at most {_MOST_PACKETS}"
            raise RequestError(Status.INVALID_ARGUMENT, f"cannot create a queue of {size} packets: {limits}")
        self._numbers["queue"] += 1
        queue = ProgramQueue(
            self._numbers["queue"], device, self.memory, size, kind, doorbell, self.traced,
            lambda queue, status, message: self.failed(queue, status, message),
        )  # fmt: skip
        self.queues[queue.address] = queue
        self.runner.add(queue)
        return queue

    def queue(self, address: int) -> ProgramQueue:
        """The queue at an address. Raises RequestError."""
        queue = self.queues.get(address)
        if queue is None:
            raise RequestError(Status.INVALID_QUEUE, f"there is no queue at {address:#x}")
        return queue

    def destroy_queue(self, address: int) -> None:
        """Remove a queue; its running kernels end. Raises RequestError."""
        queue = self.queue(address)
        self.runner.remove(queue)
        del self.queues[address]
        queue.free()

    # -- events ----------------------------------------------------------------------------------------------

    def take_events(self, connection: socket.socket) -> None:
        """Use a connection for the events that the program receives."""
        connection.settimeout(_LOOK)
        with self._events_lock:
            before, self._events, self._owed, self._answer = self._events, connection, None, b""
        if before is not None:
            before.close()

    def tell(self, event: Event, *arguments: int) -> bool | None:
        """Send the program an event and wait for its answer; returns whether the answer is yes. The result is False for
        a program that has ended, and None if the runner was interrupted before the answer arrived; a repeated call for
        the same event then waits for the answer.
        """
        message = REQUEST.pack(event, 0, *arguments, *(0,) * (6 - len(arguments)))
        with self._events_lock, suppress(OSError):
            connection = self._events
            if connection is None:
                return False
            if self._owed not in (None, message) and self._await_answer(connection) is None:
                return None
            if self._owed is None:
                connection.sendall(message)
                self._owed = message
            return self._await_answer(connection)
        return False

    def _await_answer(self, connection: socket.socket) -> bool | None:
        """The answer to the last event, with the same results as `tell`. Raises OSError if the program has
        disconnected.
        """
        while len(self._answer) < REPLY.size:
            try:
                part = connection.recv(REPLY.size - len(self._answer))
            except TimeoutError:  # a program that never answers must only block itself
                if self.closed:
                    return False
                if self.runner.asked:
                    return None
                continue
            if not part:
                raise ConnectionResetError
            self._answer += part
        status, *_ = REPLY.unpack(self._answer)
        self._owed, self._answer = None, b""
        return bool(status == Status.SUCCESS)

    def share_pinned(self, address: int) -> bool:
        """Ask the program to share the pages at a faulting address, if it is in pinned memory. Return whether to retry
        the access: True if the program has shared the pages, or if an interrupt came before it could do so.
        """
        allocation = self.memory.global_memory.find(address)
        if allocation is None or self.pinned.get(allocation.address) is not allocation:
            return False
        shared = self.tell(Event.SHARE, allocation.address)
        if not shared:
            return shared is None
        del self.pinned[allocation.address]
        self.memory.global_memory.protect(allocation, PageFlags.READ | PageFlags.WRITE)
        return True

    def close(self) -> None:
        """Stop processing, because the process has ended."""
        self.closed = True
        self.mappings.close()
        self.runner.interrupt()
        self.memory.more_work()
        connection, self._events = self._events, None
        if connection is not None:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)  # wakes threads that wait for an answer
            with suppress(OSError):
                connection.close()
