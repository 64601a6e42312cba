"""The protocol between rocdbg and the runtime library in a program.

The program sends requests over a Unix socket, each answered before the next; over a second connection rocdbg sends
events, which the program answers. Both consist of a fixed head followed by a payload. `header` gives the same constants
to the C sources, so that they are written down once.
"""

from __future__ import annotations

import enum
import struct
from typing import Final

VERSION: Final = 2
"""Version of the protocol: both sides come from one installation, but a program may outlive an update."""

SOCKET_VARIABLE: Final = "ROCDBG_SOCKET"
"""Names the abstract socket to the program."""
PARENT_VARIABLE: Final = "ROCDBG_PARENT"
"""Process whose direct child ends with it."""

MAX_PAYLOAD: Final = (1 << 32) - 1
MAX_AGENTS: Final = 16
PATH_LIMIT: Final = 16384
"""Bytes of a code object's URI."""


class Request(enum.IntEnum):
    """Requests of a program: arguments, and the values of the reply."""

    HELLO = 1
    """Version. Window's base and size, address of the control words, token for EVENTS; the payload has an
    agent record for each GPU, the window's file comes along."""
    EVENTS = 2
    """Token; no reply: the connection is the one for events from now on."""
    ALLOCATE = 3
    """Size, pool kind, node. Address."""
    FREE = 4
    """Address, of ALLOCATE or PIN."""
    PIN = 5
    """Size of the pages, pool kind, offset of what was asked for. Address: accesses fault until EVENT_SHARE."""
    LOAD = 6
    """Node; definitions, URI and bytes in the payload. Number, base, size, load delta, symbols; records of those."""
    UNLOAD = 7
    """Number."""
    CODE_WRITTEN = 8
    """Address, size."""
    QUEUE = 9
    """Node, packets, type, doorbell signal. Address, address of the records of where packets come from or 0."""
    QUEUE_FREE = 10
    """Address."""
    QUEUE_STOP = 11
    """Address."""
    IMAGE_FORMAT = 12
    """Node, geometry, channel type, order. What can be done with such images, 0 if nothing."""
    IMAGE = 13
    """Node, address of the texels or 0 where only the size matters; an image in the payload. Size, alignment, bytes of
    a texel, of a row and of a slice, offset of the level asked for."""
    IMAGE_OBJECT = 14
    """As IMAGE. Address of the object that kernels get, for FREE."""
    SAMPLER = 15
    """Node, whether coordinates are normalized, filter, filter between levels, addressing of two dimensions (the upper
    half of the number) and of the third. Address of the object, for FREE."""
    TEXEL = 16
    """Node, channel type, order, four channels in two numbers. The payload has the bytes of a texel."""
    SRGB = 17
    """Whether to standard RGB or from it. The payload has the result for each of the 256 values of a channel."""
    RESERVE = 18
    """Size, alignment. Address of a range that nothing is mapped to, for FREE."""
    MAP = 19
    """Address within a reserved range, size, address of an allocation, offset in it: the allocation's memory is there
    too, but no kernel may use it there yet."""
    UNMAP = 20
    """Address and size of what was mapped."""
    ACCESS = 21
    """Address, size, what kernels may do there: 1 read, 2 write."""
    ATTACH = 22
    """Token of a process, address, size: its allocation is to be this process's too. Address, offset in the file, which
    comes along; for FREE."""


class Event(enum.IntEnum):
    """What rocdbg tells or asks of a program."""

    SHARE = 1
    """Base of a pinned range: the program's pages are to be those of the window."""
    FAULT = 2
    """Node, address, reason: a kernel's access failed."""
    QUEUE_ERROR = 3
    """Address of the queue, status: it takes no more packets."""


class Pool(enum.IntEnum):
    """The kinds of memory pools: three of the host, two of each GPU."""

    FINE = 1
    KERNARG = 2
    COARSE = 3
    DEVICE = 4
    GROUP = 5


class Status(enum.IntEnum):
    """``hsa_status_t``, as far as rocdbg answers with it."""

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
    """What kernels may do: ``hsa_access_permission_t``."""

    READ = 1
    WRITE = 2


class SymbolFlags(enum.IntFlag):
    """Of a symbol record."""

    DYNAMIC_STACK = 1
    CONSTANT = 2


FAULT_NOT_PRESENT: Final = 1
FAULT_READ_ONLY: Final = 2
PACKET_INVALID: Final = 1
"""Type of a slot of a queue that no packet was written to."""

REQUEST = struct.Struct("<II6Q")
"""Operation, bytes of the payload, arguments."""
REPLY = struct.Struct("<II6Q")
"""Status, bytes of the payload, values. With a status other than 0 the payload is a sentence."""
AGENT_RECORD = struct.Struct("<32s96s64s8IQQ16x")
"""Name, instruction set, product; wavefront size, compute units, waves and SIMDs of each, LDS bytes, chip, cache line,
revision; bytes of memory; whether it has images."""
IMAGE = struct.Struct("<IIQQQQIIQQIi")
"""Geometry, whether pitches are relied on; width, height, depth, layers; channel type, order; bytes of a row and of a
slice or 0; levels of detail, the one that is wanted alone or -1."""
LOAD_HEAD = struct.Struct("<IIQ")
"""Definitions, bytes of the URI, bytes of the code object. Each definition follows as DEFINITION and its name."""
DEFINITION = struct.Struct("<QQ")
"""Address, bytes of the name."""
SYMBOL_RECORD = struct.Struct("<IIQQ6I")
"""Kind (1: kernel), bytes of the name; address, size; kernarg size and alignment, group and private size, flags,
linkage (1: program). The name follows, and a 0."""
TRACE_FRAMES: Final = 29
TRACE = struct.Struct(f"<{3 + TRACE_FRAMES}Q")
"""Where a packet comes from: its index and 1 more, thread, frames, their return addresses from the innermost on."""
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
