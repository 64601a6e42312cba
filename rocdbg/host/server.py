"""The server through which programs find their GPUs: a socket, and simulated devices for each process that connects."""

from __future__ import annotations

import gc
import os
import secrets
import socket
import struct
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Final

from rocdbg import work
from rocdbg.arch.target_id import TargetId
from rocdbg.errors import Error
from rocdbg.host import protocol
from rocdbg.host.client_process import ProgramProcess
from rocdbg.host.connection import Disconnected, Requests, greet, receive, send
from rocdbg.host.find_runtime_library import RuntimeLibrary
from rocdbg.host.gpu_side import load_gpu_side
from rocdbg.host.processor import PacketProcessor
from rocdbg.host.protocol import REQUEST, Request, Status

_CREDENTIALS = struct.Struct("3i")
_COLLECTED: Final = 16
"""Number of processes after which garbage is collected: each reserves a terabyte of addresses until it is collected,
and a process has only 128 terabytes.
"""
_ended = count(1)
_PATIENCE: Final = 10.0
"""Seconds within which a new connection must send its first request."""


class Server:
    """Listens until it is closed. ``report`` is called with sentences about kernels and requests that fail.

    The socket is abstract, so that no file remains, whichever side ends first; only processes of the same user are
    served. ``prepared`` is used for the first process that connects; its creator, a debugger, runs its queues. Raises
    Error if the host does not have such sockets.
    """

    def __init__(
        self, agents: Sequence[TargetId], library: RuntimeLibrary, report: Callable[[str], None],
        prepared: PacketProcessor | None = None,
    ) -> None:
        self.agents = tuple(agents)
        self._library = library
        self._report = report
        self.name = f"rocdbg-{os.getpid()}-{secrets.token_hex(8)}"
        self.processes: list[ProgramProcess] = []
        """The connected processes, in order."""
        self._connections: set[socket.socket] = set()
        self._threads: set[threading.Thread] = set()
        self._lock = threading.Lock()
        self._closed = False
        self._prepared = prepared
        try:
            self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
            self._listener.bind("\0" + self.name)
            self._listener.listen(64)
        except OSError as error:
            raise Error(f"cannot listen for programs: {error.strerror}") from None
        self._forget = work.when_leaving(self._close_connections)
        self._start(self._accept, "rocdbg-accept")

    def environment(self, base: dict[str, str]) -> dict[str, str]:
        """The environment for a program: ``base``, and the variables that make it load the runtime library and find
        this server.
        """
        runtime = str(self._library.runtime)
        result = dict(base)
        result["LD_PRELOAD"] = f"{runtime}:{base['LD_PRELOAD']}" if base.get("LD_PRELOAD") else runtime
        folder = str(self._library.folder)
        result["LD_LIBRARY_PATH"] = f"{folder}:{base['LD_LIBRARY_PATH']}" if base.get("LD_LIBRARY_PATH") else folder
        # AddressSanitizer as a shared library requires that it is loaded first, which is not necessary here.
        options = [*filter(None, [base.get("ASAN_OPTIONS")]), "verify_asan_link_order=0"]
        result["ASAN_OPTIONS"] = ":".join(options)
        result[protocol.SOCKET_VARIABLE] = self.name
        result[protocol.PARENT_VARIABLE] = str(os.getpid())
        return result

    def close(self) -> None:
        """End all connections, and wait until none is served any more. Programs that use a GPU end with their
        connections.
        """
        self._close_connections()
        self._forget()
        end = time.monotonic() + work.PATIENCE
        while True:
            with self._lock:
                others = self._threads - {threading.current_thread()}
                found = next((thread for thread in others if thread.ident is not None), None)
            if found is None or time.monotonic() > end:
                return
            found.join(max(0.0, end - time.monotonic()))

    def _close_connections(self) -> None:
        with self._lock:
            self._closed = True
            connections, processes = list(self._connections), list(self.processes)
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for process in processes:
            process.close()
        for connection in connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _start(self, body: Callable[[], None], name: str) -> threading.Thread | None:
        def run() -> None:
            try:
                body()
            finally:
                with self._lock:
                    self._threads.discard(threading.current_thread())

        with self._lock:
            return work.start(run, name, self._threads.add)

    def _accept(self) -> None:
        while not self._closed:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._start(partial(self._serve, connection), "rocdbg-program")

    def _serve(self, connection: socket.socket) -> None:
        """Serve one connection, for requests or for events."""
        with self._lock:
            late = self._closed
            self._connections.add(connection)
        keep = False
        try:
            if late:  # the connection arrived while the server was being closed
                return
            pid, user, _ = _CREDENTIALS.unpack(
                connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
            )
            if user != os.geteuid():
                return
            connection.settimeout(_PATIENCE)
            operation, _, first, *_ = REQUEST.unpack(receive(connection, REQUEST.size))
            connection.settimeout(None)
            if operation == Request.HELLO:
                self._program(connection, first, pid)
            elif operation == Request.EVENTS:
                keep = self._events(connection, first)
        except (Disconnected, OSError):
            pass
        finally:
            with self._lock:
                self._connections.discard(connection)
            if not keep:
                connection.close()

    def _events(self, connection: socket.socket, token: int) -> bool:
        found = self._with_token(token)
        if found is not None:
            found.take_events(connection)
        return found is not None

    def _with_token(self, token: int) -> ProgramProcess | None:
        with self._lock:
            return next((process for process in self.processes if process.token == token), None)

    def _program(self, connection: socket.socket, version: int, pid: int) -> None:
        """Serve all requests of a process until it disconnects. ``pid`` comes from the kernel, not from the program,
        because a debugger stops that process and reads its mappings.
        """
        if version != protocol.VERSION:
            send(connection, Status.ERROR, (), b"the runtime library is of another version of rocdbg")
            return
        with self._lock:
            processor, self._prepared = self._prepared, None
        prepared = processor is not None
        try:
            if processor is None:
                process = ProgramProcess(pid, self.agents, load_gpu_side(self._library.gpu_side))
                processor = PacketProcessor(process, self._report)
        except Error as error:
            send(connection, Status.OUT_OF_RESOURCES, (), str(error).encode())
            return
        process = processor.process
        process.pid = pid
        with self._lock:
            self.processes.append(process)
            late = self._closed
        if late:
            process.close()
        working = processor

        def work() -> None:
            try:
                working.run()
            finally:  # the program must not wait for a GPU that no longer exists
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

        worker = None if prepared else self._start(work, "rocdbg-gpu")
        try:
            greet(connection, process)
            Requests(process, connection, self._with_token).serve()
        finally:
            process.close()
            if worker is not None:
                worker.join()
            with self._lock:
                self.processes.remove(process)
            if next(_ended) % _COLLECTED == 0:
                gc.collect()
