"""Hostcalls: how a wave requests something from the host, according to ROCm's device libraries.

A wave takes a packet from the stack of free packets, writes a row of eight qwords for each of its lanes and the number
of the service, puts the packet on the stack of ready packets, adds 1 to a signal and waits until the READY bit of the
packet is cleared. The first two qwords of each row are the answer. A pointer in the stacks is the index of a packet, in
the bits of ``index_mask``, with a tag in the bits above.

The signal has a mailbox, so a wave that adds to it sends an interrupt (s_sendmsg), upon which packets are served. All
of this happens at one instruction of the wave, the same in every run.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from enum import IntEnum

import numpy as np

from rocdbg.sim.core.memory import Allocation

_BUFFER = struct.Struct("<6Q")  # headers, payloads, doorbell, free stack, ready stack, index mask
_READY_STACK = 32
_BUFFER_SIZE = 64
_SIGNAL = struct.Struct("<qqQII")  # amd_signal_t: kind, value, mailbox pointer, event id, reserved
_SIGNAL_SIZE = 64
_MAILBOX_SIZE = 64
_SIGNAL_USER = 1
_HEADER = struct.Struct("<QQII")  # next, active lanes, service, control
_CONTROL = 20
_READY = 1
_ROWS = 64
_ROW_SIZE = 64
_PAYLOAD_SIZE = _ROWS * _ROW_SIZE


class Service(IntEnum):
    """The service that a packet requests."""

    FUNCTION_CALL = 1
    """Call a function of the host program."""
    PRINTF = 2
    DEVICE_MEMORY = 3
    SANITIZER = 4
    """A report of AddressSanitizer."""


Row = tuple[int, ...]
Answer = Callable[[int, Row], tuple[int, int]]
"""The handler of a service: takes a lane's row of eight qwords, returns the two qwords of the answer. Raises
HostcallError."""


class HostcallError(Exception):
    """A request for which the runtime would end the program. The message says what the kernel requested."""


def buffer_size(packets: int) -> int:
    """Bytes of a hostcall buffer including its signal, headers and payloads."""
    return _payloads_offset(packets) + packets * _PAYLOAD_SIZE


def _headers_offset() -> int:
    return _BUFFER_SIZE + _SIGNAL_SIZE + _MAILBOX_SIZE


def _payloads_offset(packets: int) -> int:
    return -(-(_headers_offset() + packets * _HEADER.size) // _ROW_SIZE) * _ROW_SIZE


class HostcallBuffer:
    """A hostcall buffer in ``allocation``, of `buffer_size` bytes, with ``packets`` packets, one for each possible
    wave."""

    def __init__(self, allocation: Allocation, packets: int) -> None:
        self._data = allocation.data.data
        self._packets = packets
        self._mask = (1 << (packets - 1).bit_length()) - 1
        base = allocation.address
        signal, mailbox = base + _BUFFER_SIZE, base + _BUFFER_SIZE + _SIGNAL_SIZE
        # A pointer whose index and tag are both 0 is the end of a stack, so the tag of packet 0 begins at 1.
        top = self._mask + 1
        for index in range(1, packets):
            self._set_header(index, top)
            top = index
        self._set_header(0, 0)
        _BUFFER.pack_into(
            self._data, 0, base + _headers_offset(), base + _payloads_offset(packets), signal, top, 0, self._mask
        )
        _SIGNAL.pack_into(self._data, _BUFFER_SIZE, _SIGNAL_USER, 1, mailbox, 0, 0)
        self.address = base
        """The value of ``hidden_hostcall_buffer``."""

    def _set_header(self, index: int, following: int) -> None:
        _HEADER.pack_into(self._data, self._header(index), following, 0, 0, 0)

    def _header(self, index: int) -> int:
        return _headers_offset() + index * _HEADER.size

    def serve(self, answer: Answer) -> None:
        """Answer all ready packets, the last one first, each lane by lane. Raises HostcallError."""
        (top,) = struct.unpack_from("<Q", self._data, _READY_STACK)
        struct.pack_into("<Q", self._data, _READY_STACK, 0)
        for index in self._stack(top):
            _, lanes, service, control = _HEADER.unpack_from(self._data, self._header(index))
            payload = _payloads_offset(self._packets) + index * _PAYLOAD_SIZE
            while lanes:
                lane = (lanes & -lanes).bit_length() - 1
                lanes &= lanes - 1
                place = payload + lane * _ROW_SIZE
                row = struct.unpack_from("<8Q", self._data, place)
                struct.pack_into("<2Q", self._data, place, *answer(service, row))
            struct.pack_into("<I", self._data, self._header(index) + _CONTROL, control & ~_READY)

    def _stack(self, top: int) -> Iterator[int]:
        """Yield the indices of the packets on a stack. Raises HostcallError if a kernel has damaged it."""
        for _ in range(self._packets):
            if not top:
                return
            index = top & self._mask
            if index >= self._packets:
                raise HostcallError(
                    f"the hostcall buffer refers to packet {index}, which does not exist: something has overwritten "
                    "the buffer"
                )
            (top,) = struct.unpack_from("<Q", self._data, self._header(index))
            yield index
        if top:
            raise HostcallError(
                "the list of packets in the hostcall buffer does not end: something has overwritten the buffer"
            )


def row_bytes(row: Row) -> bytes:
    """The 56 bytes after the first qword of a row."""
    return np.array(row[1:], np.uint64).tobytes()


__all__ = ["Answer", "HostcallBuffer", "HostcallError", "Row", "Service", "buffer_size", "row_bytes"]
