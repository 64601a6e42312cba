"""The protocol between rocdbg and the runtime library in a program.

The program sends requests over a Unix socket, each answered before the next; over a second connection, rocdbg sends
events, which the program answers. All messages consist of a fixed head and a payload. `header` generates the constants
for the C sources, so that each is defined only once.
"""

from __future__ import annotations

import enum
import struct
from typing import Final

VERSION: Final = 2
"""Version of the protocol. Both sides come from the same installation, but a program may still run after an update."""

SOCKET_VARIABLE: Final = "ROCDBG_SOCKET"
"""The environment variable that tells the program the name of the abstract socket."""
PARENT_VARIABLE: Final = "ROCDBG_PARENT"
"""The environment variable with the id of the process whose direct child must end when that process does."""

MAX_PAYLOAD: Final = 512 << 20
"""The most bytes of a request's payload: a code object of the largest size, with the definitions of its symbols."""
MAX_AGENTS: Final = 16
PATH_LIMIT: Final = 16384
"""The most bytes of a code object's URI."""


class Request(enum.IntEnum):
    """Requests of a program. Each comment lists the arguments, then the values of the reply."""

    HELLO = 1
    """Version. Window's base and size, address of the control words, token for EVENTS; the payload has an
    agent record for each GPU, the window's file comes along."""
    EVENTS = 2
    """Token. There is no reply: from now on, the connection is used for events."""
    ALLOCATE = 3
    """Size, pool kind, node. Address."""
    FREE = 4
    """Address that ALLOCATE, PIN or another request for memory returned."""
    PIN = 5
    """Size of the pages, pool kind, offset of the requested memory. Address, at which accesses fault until the event
    SHARE.
    """
    LOAD = 6
    """Node; definitions, URI and bytes in the payload. Number, base, size, load delta, number of symbols; the payload
    has the symbol records.
    """
    UNLOAD = 7
    """Number."""
    CODE_WRITTEN = 8
    """Address, size."""
    QUEUE = 9
    """Node, packets, type, doorbell signal. Address; address of the records of the packets' origins, or 0."""
    QUEUE_FREE = 10
    """Address."""
    QUEUE_STOP = 11
    """Address."""
    IMAGE_FORMAT = 12
    """Node, geometry, channel type, order. Capabilities of such images, 0 if they are not supported."""
    IMAGE = 13
    """Node, address of the texels or 0 if only the size is needed; the payload has an image. Size, alignment, bytes of
    a texel, of a row and of a slice, offset of the requested level.
    """
    IMAGE_OBJECT = 14
    """Arguments as for IMAGE. Address of the object that kernels get, to be freed with FREE."""
    SAMPLER = 15
    """Node, whether coordinates are normalized, filter, filter between levels, addressing modes of the first two
    dimensions (the second one in the upper half of the number) and of the third. Address of the object, to be freed
    with FREE.
    """
    TEXEL = 16
    """Node, channel type, order, four channels in two numbers. The payload has the bytes of a texel."""
    SRGB = 17
    """Whether to standard RGB or from it. The payload has the result for each of the 256 values of a channel."""
    RESERVE = 18
    """Size, alignment. Address of a range without mappings, to be freed with FREE."""
    MAP = 19
    """Address within a reserved range, size, address of an allocation, offset in it. The allocation's memory is mapped
    there too, but kernels are not allowed to access it there yet.
    """
    UNMAP = 20
    """Address and size of a mapping."""
    ACCESS = 21
    """Address, size, the accesses that kernels are allowed: 1 read, 2 write."""
    ATTACH = 22
    """Token of another process, address, size: map that process's allocation. Address, to be freed with FREE; offset in
    the file, which accompanies the reply.
    """


class Event(enum.IntEnum):
    """Events that rocdbg sends to a program."""

    SHARE = 1
    """Base of a pinned range; the program must replace the pages of this range with those of the window."""
    FAULT = 2
    """Node, address, reason: a kernel's access failed."""
    QUEUE_ERROR = 3
    """Address of a queue that accepts no more packets, status."""


class Pool(enum.IntEnum):
    """The kinds of memory pools: three of the host, two of each GPU."""

    FINE = 1
    KERNARG = 2
    COARSE = 3
    DEVICE = 4
    GROUP = 5


class Status(enum.IntEnum):
    """The values of ``hsa_status_t`` with which rocdbg answers."""

    SUCCESS = 0
    MEMORY_APERTURE_VIOLATION = 41
    ILLEGAL_INSTRUCTION = 42
    MEMORY_FAULT = 43
    ERROR = 0x1000
    INVALID_ARGUMENT = 0x1001
    INVALID_ALLOCATION = 0x1003
    INVALID_QUEUE = 0x1007
    OUT_OF_RESOURCES = 0x1008
    INVALID_PACKET_FORMAT = 0x1009
    INVALID_CODE_OBJECT = 0x1010
    EXCEPTION = 0x1016
    IMAGE_FORMAT_UNSUPPORTED = 0x3000
    IMAGE_SIZE_UNSUPPORTED = 0x3001
    IMAGE_PITCH_UNSUPPORTED = 0x3002


class Access(enum.IntFlag):
    """The accesses that kernels are allowed: ``hsa_access_permission_t``."""

    READ = 1
    WRITE = 2


class SymbolFlags(enum.IntFlag):
    """The flags of a symbol record."""

    DYNAMIC_STACK = 1
    CONSTANT = 2


FAULT_NOT_PRESENT: Final = 1
FAULT_READ_ONLY: Final = 2
PACKET_INVALID: Final = 1
"""The packet type of a queue slot to which no packet has been written."""

REQUEST = struct.Struct("<II6Q")
"""Operation, bytes of the payload, arguments."""
REPLY = struct.Struct("<II6Q")
"""Status, bytes of the payload, values. If the status is not 0, the payload is an error message."""
AGENT_RECORD = struct.Struct("<32s96s64s8IQQ16x")
"""Name, instruction set, product; wavefront size, compute units, waves and SIMDs of each, LDS bytes, chip, cache line,
revision; bytes of memory; whether it has images."""
IMAGE = struct.Struct("<IIQQQQIIQQIi")
"""Geometry, whether pitches are relied on; width, height, depth, layers; channel type, order; bytes of a row and of a
slice, or 0; number of levels of detail; the only requested level, or -1.
"""
LOAD_HEAD = struct.Struct("<IIQ")
"""Definitions, bytes of the URI, bytes of the code object. Each definition follows as DEFINITION and its name."""
DEFINITION = struct.Struct("<QQ")
"""Address, bytes of the name."""
SYMBOL_RECORD = struct.Struct("<IIQQ6I")
"""Kind (1: kernel), bytes of the name; address, size; kernarg size and alignment, group and private size, flags,
linkage (1: program). The name and a 0 byte follow.
"""
TRACE_FRAMES: Final = 29
TRACE = struct.Struct(f"<{3 + TRACE_FRAMES}Q")
"""Where a packet comes from: its index plus 1, the thread, the number of frames, and their return addresses from the
innermost on.
"""
CONTROL_SIZE: Final = 128
"""Bytes of the control words, ``control_t`` in runtime.h."""


def header() -> str:
    """The C header ``protocol.h``."""
    numbers = {
        "PROTOCOL_VERSION": VERSION,
        "MAX_PAYLOAD": MAX_PAYLOAD,
        "MAX_AGENTS": MAX_AGENTS,
        "PATH_LIMIT": PATH_LIMIT,
        "REQUEST_ARGUMENTS": 6,
        "REPLY_VALUES": 6,
        "REQUEST_SIZE": REQUEST.size,
        "REPLY_SIZE": REPLY.size,
        "AGENT_RECORD_SIZE": AGENT_RECORD.size,
        "SYMBOL_RECORD_SIZE": SYMBOL_RECORD.size,
        "TRACE_FRAMES": TRACE_FRAMES,
        "TRACE_SIZE": TRACE.size,
        "IMAGE_SIZE": IMAGE.size,
        "FAULT_NOT_PRESENT": FAULT_NOT_PRESENT,
        "FAULT_READ_ONLY": FAULT_READ_ONLY,
        "PACKET_INVALID": PACKET_INVALID,
        **{f"REQUEST_{member.name}": int(member) for member in Request},
        **{f"EVENT_{member.name}": int(member) for member in Event},
        **{f"POOL_{member.name}": int(member) for member in Pool},
        **{f"SYMBOL_{flag.name}": int(flag) for flag in SymbolFlags},
    }
    texts = {"SOCKET_VARIABLE": SOCKET_VARIABLE, "PARENT_VARIABLE": PARENT_VARIABLE}
    lines = ["/* Made from rocdbg/host/protocol.py, which says what each of these means. */"]
    lines += [f"#define {name} {number}u" for name, number in numbers.items()]
    lines += [f'#define {name} "{text}"' for name, text in texts.items()]
    return "\n".join(lines) + "\n"
