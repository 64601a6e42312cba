"""The server's end of a program's connection: requests in, replies out."""

from __future__ import annotations

import array
import socket
import struct
from collections.abc import Callable

from rocdbg.arch.targets import Target
from rocdbg.errors import Error
from rocdbg.host import protocol
from rocdbg.host.agents import agent_record
from rocdbg.host.client_process import ProgramProcess
from rocdbg.host.errors import RequestError
from rocdbg.host.program_images import (
    ALIGNMENT,
    Geometry,
    ImageRequest,
    format_for,
    make_image,
    make_sampler,
    srgb_table,
    texel_bytes,
)
from rocdbg.host.protocol import DEFINITION, LOAD_HEAD, REPLY, REQUEST, Access, Request, Status
from rocdbg.host.simulated_gpu import symbol_records
from rocdbg.sim.core.memory import AllocationError

_CHUNK = 1 << 20


class Disconnected(Exception):
    """The other side has disconnected, or sent an invalid message."""


def receive(connection: socket.socket, size: int) -> bytearray:
    """Receive ``size`` bytes; memory is allocated only as they arrive. Raises Disconnected."""
    data = bytearray()
    while len(data) < size:
        try:
            part = connection.recv(min(size - len(data), _CHUNK))
        except OSError:
            part = b""
        if not part:
            raise Disconnected
        data += part
    return data


def discard(connection: socket.socket, size: int) -> None:
    """Receive ``size`` bytes without keeping them. Raises Disconnected."""
    while size:
        size -= len(receive(connection, min(size, _CHUNK)))


def send(
    connection: socket.socket,
    status: int,
    values: tuple[int, ...] = (),
    payload: bytes = b"",
    file: int | None = None,
) -> None:
    """Send a reply, optionally with an open file. Raises Disconnected."""
    padded = (*values, *(0,) * (6 - len(values)))
    head = REPLY.pack(status, len(payload), *padded)
    try:
        if file is None:
            connection.sendall(head + payload)
            return
        connection.sendmsg([head], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file]))])
        connection.sendall(payload)
    except OSError:
        raise Disconnected from None


def greet(connection: socket.socket, process: ProgramProcess) -> None:
    """Reply to HELLO; the window's file accompanies the reply. Raises Disconnected."""
    memory = process.memory
    payload = b"".join(agent_record(device.agent) for device in process.devices)
    window = memory.window
    send(connection, 0, (window.base, window.size, memory.control, process.token), payload, window.file)


class Requests:
    """Answers the requests of one process until it disconnects. ``find`` returns the process with a token."""

    def __init__(
        self,
        process: ProgramProcess,
        connection: socket.socket,
        find: Callable[[int], ProgramProcess | None] = lambda token: None,
    ) -> None:
        self._process, self._connection, self._find = process, connection, find
        self._file: int | None = None
        self._answers: dict[int, Callable[[tuple[int, ...], bytearray], tuple[tuple[int, ...], bytes]]] = {
            Request.ALLOCATE: self._allocate,
            Request.FREE: self._free,
            Request.PIN: self._pin,
            Request.LOAD: self._load,
            Request.UNLOAD: self._unload,
            Request.CODE_WRITTEN: self._code_written,
            Request.QUEUE: self._queue,
            Request.QUEUE_FREE: self._queue_free,
            Request.QUEUE_STOP: self._queue_stop,
            Request.IMAGE_FORMAT: self._image_format,
            Request.IMAGE: self._image,
            Request.IMAGE_OBJECT: self._image_object,
            Request.SAMPLER: self._sampler,
            Request.TEXEL: self._texel,
            Request.SRGB: self._srgb,
            Request.RESERVE: self._reserve,
            Request.MAP: self._map,
            Request.UNMAP: self._unmap,
            Request.ACCESS: self._access,
            Request.ATTACH: self._attach,
        }

    def serve(self) -> None:
        """Answer requests until the program disconnects."""
        try:
            while True:
                self._one()
        except Disconnected:
            pass

    def _one(self) -> None:
        operation, size, *arguments = REQUEST.unpack(receive(self._connection, REQUEST.size))
        if size > protocol.MAX_PAYLOAD:
            discard(self._connection, size)
            reason = f"a request of {size} bytes exceeds the limit of {protocol.MAX_PAYLOAD}"
            send(self._connection, Status.OUT_OF_RESOURCES, (), reason.encode())
            return
        payload = receive(self._connection, size) if size else bytearray()
        answer = self._answers.get(operation)
        if answer is None:
            raise Disconnected
        try:
            with self._process.exclusive():
                values, reply = answer(tuple(arguments), payload)
        except RequestError as error:
            send(self._connection, error.status, (), str(error).encode())
        except AllocationError as error:
            send(self._connection, Status.OUT_OF_RESOURCES, (), str(error).encode())
        except Error as error:
            send(self._connection, Status.INVALID_CODE_OBJECT, (), str(error).encode())
        else:
            file, self._file = self._file, None
            send(self._connection, Status.SUCCESS, values, reply, file)

    # -- requests --------------------------------------------------------------------------------------

    def _allocate(self, a: tuple[int, ...], payload: bytearray) -> tuple[tuple[int, ...], bytes]:
        return (self._process.allocate(a[0], a[1]).address,), b""

    def _free(self, a: tuple[int, ...], payload: bytearray) -> tuple[tuple[int, ...], bytes]:
        self._process.free(a[0])
        return (), b""

    def _pin(self, a: tuple[int, ...], payload: bytearray) -> tuple[tuple[int, ...], bytes]:
        return (self._process.pin(a[0]).address,), b""

    def _reserve(self, a: tuple[int, ...], payload: bytearray) -> tuple[tuple[int, ...], bytes]:
        return (self._process.reserve(a[0], a[1]).address,), b""

    def _map(self, a: tuple[int, ...], payload: bytearray) -> tuple[tuple[int, ...], bytes]:
        self._process.map(a[0], a[1], a[2], a[3])
        return (), b""

    def _unmap(self, a: tuple[int, ...], payload: bytearray) -> tuple[tuple[int, ...], bytes]:
        self._process.mappings.unmap(a[0], a[1])
        return (), b""

    def _access(self, a: tuple[int, ...], payload: bytearray) -> tuple[tuple[int, ...], bytes]:
        self._process.mappings.allow(a[0], a[1], Access(a[2] & 3))
        return (), b""

    def _attach(self, a: tuple[int, ...], payload: bytearray) -> tuple[tuple[int, ...], bytes]:
        other = self._find(a[0])
        if other is None:
            raise RequestError(Status.INVALID_ARGUMENT, "the process that shares this memory does not exist")
        allocation, offset = self._process.attach(other, a[1], a[2])
        self._file = other.memory.window.file
        return (allocation.address, offset), b""

    def _load(self, a: tuple[int, ...], payload: bytearray) -> tuple[tuple[int, ...], bytes]:
        defined, uri, data = _split_load(payload)
        code = self._process.load(a[0], data, uri, defined)
        try:
            count, records = symbol_records(code)
        except Error:
            self._process.unload(code.number)
            raise
        base = code.loaded.base
        return (code.number, base, code.load_size, base, count), records

    def _unload(self, a: tuple[int, ...], payload: bytearray) -> tuple[tuple[int, ...], bytes]:
        self._process.unload(a[0])
        return (), b""

    def _code_written(self, a: tuple[int, ...], payload: bytearray) -> tuple[tuple[int, ...], bytes]:
        self._process.code_written(a[0], a[1])
        return (), b""

    def _queue(self, a: tuple[int, ...], payload: bytearray) -> tuple[tuple[int, ...], bytes]:
        queue = self._process.create_queue(a[0], a[1], a[2] & 0xFFFF_FFFF, a[3])
        return (queue.address, queue.traces), b""

    def _queue_free(self, a: tuple[int, ...], payload: bytearray) -> tuple[tuple[int, ...], bytes]:
        self._process.destroy_queue(a[0])
        return (), b""

    def _queue_stop(self, a: tuple[int, ...], payload: bytearray) -> tuple[tuple[int, ...], bytes]:
        self._process.queue(a[0]).stopped = True
        return (), b""

    def _target(self, node: int) -> Target:
        return self._process.device(node).agent.target

    def _image_format(self, a: tuple[int, ...], payload: bytearray) -> tuple[tuple[int, ...], bytes]:
        known = a[1] in Geometry.__members__.values()
        found = format_for(self._target(a[0]), Geometry(a[1]), a[2], a[3]) if known else None
        return (found[1] if found is not None else 0,), b""

    def _image(self, a: tuple[int, ...], payload: bytearray) -> tuple[tuple[int, ...], bytes]:
        image = make_image(self._target(a[0]), ImageRequest.decode(bytes(payload)), a[1])
        return (image.size, ALIGNMENT, image.texel, image.row_pitch, image.slice_pitch, image.offset), b""

    def _image_object(self, a: tuple[int, ...], payload: bytearray) -> tuple[tuple[int, ...], bytes]:
        image = make_image(self._target(a[0]), ImageRequest.decode(bytes(payload)), a[1])
        return (self._process.place_object(image.words, "image object").address,), b""

    def _sampler(self, a: tuple[int, ...], payload: bytearray) -> tuple[tuple[int, ...], bytes]:
        modes = (a[4] & 0xFFFF_FFFF, a[4] >> 32, a[5])
        words = make_sampler(self._target(a[0]), a[1], a[2], a[3], modes)
        return (self._process.place_object(words, "sampler object").address,), b""

    def _texel(self, a: tuple[int, ...], payload: bytearray) -> tuple[tuple[int, ...], bytes]:
        return (), texel_bytes(self._target(a[0]), a[1], a[2], struct.pack("<2Q", a[3], a[4]))

    def _srgb(self, a: tuple[int, ...], payload: bytearray) -> tuple[tuple[int, ...], bytes]:
        return (), srgb_table(to_standard=bool(a[0]))


def _split_load(payload: bytearray) -> tuple[dict[str, int], str, bytes]:
    """The symbol definitions, the URI and the bytes in the payload of a LOAD request. Raises RequestError."""
    view = memoryview(payload)
    at = 0

    def take(size: int) -> memoryview:
        nonlocal at
        if size > len(view) - at:
            raise RequestError(Status.INVALID_ARGUMENT, "a code object was received incompletely")
        at += size
        return view[at - size : at]

    count, uri_size, code_size = LOAD_HEAD.unpack(take(LOAD_HEAD.size))
    defined = {}
    for _ in range(count):
        address, size = DEFINITION.unpack(take(DEFINITION.size))
        defined[bytes(take(size)).decode(errors="replace")] = address
    uri = bytes(take(uri_size)).decode(errors="replace")
    return defined, uri, bytes(take(code_size))
