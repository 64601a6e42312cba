"""Hostile input for readers of data other than code objects: debug information in other files, placements, files that
``restore`` writes to memory, and requests of programs to their GPUs.

Each is made as its decoded form and then written: requests as numbers and payloads, placements as tables, records as
addresses and bytes.
"""

# ruff: noqa: E501  (tables)
from __future__ import annotations

import functools
import json
import random
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocdbg import Error
from rocdbg.arch.target_id import TargetId
from rocdbg.host.client_process import ProgramProcess
from rocdbg.host.connection import Disconnected, Requests
from rocdbg.host.find_runtime_library import runtime_library
from rocdbg.host.gpu_side import GpuSide, load_gpu_side
from rocdbg.host.protocol import DEFINITION, IMAGE, LOAD_HEAD, REPLY, REQUEST, Request
from rocdbg.llvmdi.placement import read_placement

from . import dwarf_files, elf_files, kinds, launch_files
from .kinds import Attack

NUMBERS = (
    0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 63, 64, 255, 256, 4095, 4096, 4097, 65536, 1 << 20, 1 << 21, (1 << 31) - 1, 1 << 31, (1 << 32) - 1,
    1 << 32, 1 << 40, (1 << 62), (1 << 63) - 1, 1 << 63, (1 << 64) - 4096, (1 << 64) - 1, 0x4000_0000_0000, 0x4000_0010_0000, 0x7F00_0000_0000,
)


@dataclass(frozen=True)
class Asked:
    """Requests in order: operation, arguments, payload. ``cut``: the number of bytes that are missing at the end."""

    requests: tuple[tuple[int, tuple[int, ...], bytes], ...]
    cut: int
    files: dict[str, bytes]
    commands: tuple[str, ...] = ()


@dataclass(frozen=True)
class Placed:
    """The text of a placement."""

    files: dict[str, bytes]
    commands: tuple[str, ...] = ()


def _payload(rng: random.Random, operation: int) -> bytes:
    if operation == Request.LOAD:
        code = elf_files.BASE.read_bytes() if rng.random() < 0.5 else rng.choice((elf_files.headers, elf_files.symbols, elf_files.notes))(rng)
        uri = rng.choice((b"file:///tmp/x", b"memory://1#offset=0x0&size=1", b"", b"\xff" * 40, b"\x1b]0;x\x07"))
        names = [rng.choice((b"x", b"y" * 3000, b"\0", b"\xff")) for _ in range(rng.choice((0, 0, 1, 3)))]
        parts = [DEFINITION.pack(rng.choice(NUMBERS), len(n) if rng.random() < 0.9 else rng.choice(NUMBERS)) + n for n in names]
        count = len(names) if rng.random() < 0.9 else rng.choice((1, 1000, (1 << 32) - 1))
        sizes = (len(uri), len(code)) if rng.random() < 0.9 else (rng.choice((1 << 20, (1 << 32) - 1)), rng.choice(NUMBERS))
        return LOAD_HEAD.pack(count, *sizes) + b"".join(parts) + uri + code
    if operation in (Request.IMAGE, Request.IMAGE_OBJECT):
        small = [rng.choice((0, 1, 2, 3, 4, 16, 100)) if rng.random() < 0.8 else rng.choice(NUMBERS) for _ in range(10)]
        fields = [rng.choice((0, 1, 2, 3, 4, 5, 6, 9)), rng.randrange(2), *small[:4], rng.randrange(20), rng.randrange(20), *small[4:6],
                  rng.choice((0, 1, 5, 16, (1 << 32) - 1)), rng.choice((-1, 0, 3, -(1 << 31)))]
        return IMAGE.pack(*fields) if rng.random() < 0.95 else IMAGE.pack(*fields)[: rng.randrange(IMAGE.size)]
    return rng.randbytes(rng.choice((0, 0, 0, 1, 16, 5000)))


def requests(rng: random.Random) -> Asked:
    """Requests that rocdbg's library would never make: addresses from earlier answers replace negative numbers."""
    found = []
    operations = [int(each) for each in Request if each not in (Request.HELLO, Request.EVENTS, Request.ATTACH)]
    for _ in range(rng.choice((3, 8, 20))):
        operation = rng.choice(operations) if rng.random() < 0.97 else rng.choice((0, 1, 2, 22, 23, 99, (1 << 32) - 1))
        arguments = [rng.choice(NUMBERS) if rng.random() < 0.6 else rng.choice((1, 1, 2, 4096, 1 << 20)) for _ in range(6)]
        if rng.random() < 0.6:
            arguments[0] = 1 if rng.random() < 0.4 else -1 - rng.randrange(4)  # the node, or an answer
        if rng.random() < 0.2:
            arguments[2] = -1 - rng.randrange(4)
        found.append((operation, tuple(arguments), _payload(rng, operation)))
    return Asked(tuple(found), rng.choice((0, 0, 0, 1, 40)), {})


_NAMES = ("%x", "%y", "$PC", "@g", "", "\x1b", "x" * 300, "é")
_PLACES: tuple[Any, ...] = (
    "s0", "v3", "v3.5", "v3.99", "s[4:5]", "v[0:63]", "v[0:64]", "v[5:4]", "v[0:999999999]", "frame", "frame+16", "slot-4", "pc", "exec", "vcc",
    "frame+" + "9" * 5000, "v[" + "9" * 5000 + ":1]", "v" + "9" * 5000, "a0", "s105", "s106", "none", "", "\0", "v٣", "frame+٣", 0, -1, 1 << 63,
    1 << 64, 1.5, True, [], [[]], [[0, 32, "s0"]], [[0, 32, [[0, 1, "s0"]]]], [[1 << 70, 0, "s0"]], [["x", 0, "s0"]], {}, {"a": {"b": 1}},
)


def placement(rng: random.Random) -> Placed:
    """Tables with wrong keys, wrong types, and numbers out of range."""
    tree: dict[str, Any] = {"places": {rng.choice(_NAMES): rng.choice(_PLACES) for _ in range(rng.choice((1, 3, 8)))}}
    tree["labels"] = {rng.choice(_NAMES): rng.choice((0, 4, -1, 1 << 64, True, "x")) for _ in range(rng.choice((0, 1, 3)))}
    for key in ("wave_size", "step", "start", "frame_register", "frame_shift", "architecture", "other"):
        if rng.random() < 0.15:
            tree[key] = rng.choice((32, 64, 0, -1, True, 1 << 70, 1.5, "s33", "amdgcn", "amdgcn_gfx125", "x", [], {}, _deep(rng)))
    text = "\n".join(f"{json.dumps(key)} = {_toml(value)}" for key, value in tree.items())
    way = rng.randrange(12)
    if way == 0:
        text = "a" + ".a" * rng.choice((10, 63, 64, 5000)) + " = 1\n" + text
    elif way == 1:
        text = "[" + "a." * rng.choice((10, 63, 900)) + "a]\nx = 1\n" + text
    elif way == 2:
        text = "x = " + "[" * rng.choice((10, 100, 5000)) + "\n" + text
    data = bytearray(text.encode())
    if way == 3:
        for _ in range(rng.randrange(1, 6)):
            data[rng.randrange(len(data))] = rng.randrange(256)
    return Placed({"places.toml": bytes(data)})


def _deep(rng: random.Random) -> Any:
    value: Any = 1
    for _ in range(rng.choice((3, 40, 200))):
        value = rng.choice(([value], {"a": value}))
    return value


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


def records(rng: random.Random) -> Attack:
    """Files that ``restore`` writes to memory: Intel HEX, S-records, arrays."""
    lines = []
    for _ in range(rng.choice((1, 3, 20))):
        data = rng.randbytes(rng.choice((0, 1, 4, 16, 255)))
        if rng.random() < 0.5:
            kind = rng.choice((0, 0, 0, 1, 2, 3, 4, 5, 9))
            body = bytes((len(data) if rng.random() < 0.9 else rng.randrange(256), *rng.randbytes(2), kind)) + data
            lines.append(":" + (body + bytes(((-sum(body)) & 255,))).hex().upper())
        else:
            width = rng.choice((2, 3, 4))
            body = bytes(((len(data) + width + 1) & 255,)) + rng.randbytes(width) + data
            lines.append(f"S{rng.choice((0, 1, 2, 3, 5, 7, 8, 9))}" + (body + bytes((~sum(body) & 255,))).hex().upper())
    rng.shuffle(lines)
    descriptors = ("'<f4'", "'|O'", "'V0'", "'<U9'", "('<i4',)", "('<i4', (2,))", "[('a', '<i4', (-1,))]", "[('', ())]", "{}", "None", "'<m8[s]'", "1")
    shape = rng.choice(("(4,)", "(0,)", "(2, 3)", "(-1,)", "()", "(1 << 70,)", "(99999999999999999999,)", "(True,)", "4"))
    header = f"{{'descr': {rng.choice(descriptors)}, 'fortran_order': {rng.choice((True, False, 1))}, 'shape': {shape}}}".encode()
    if rng.random() < 0.1:
        header = rng.choice((b"{[]: 1}", b"(" * 200, b"-" * 5000 + b"1", b"{**1}", b"\xff" * 30, b""))
    size = len(header) if rng.random() < 0.9 else rng.choice((0, 65535))
    array = b"\x93NUMPY" + rng.choice((b"\1\0", b"\2\0", b"\3\0", b"\7\7"))
    array += (struct.pack("<H", size) if array[6] == 1 else struct.pack("<I", size)) + header + rng.randbytes(rng.choice((0, 16, 24)))
    files = {"file.co": elf_files.BASE.read_bytes(), "r.hex": ("\n".join(lines)).encode(), "r.npy": array}
    place = rng.choice(("0", "&x", "x", "-1", "18446744073709551615", "(long)x - 4"))
    commands = (*kinds.START, f"restore r.hex {place}", f"restore r.npy {place}", f"restore r.npy binary {place} 1 9", "restore r.hex 0 0 4",
                "restore fifo binary 0", "restore . 0", "kill")
    return Attack(files, "file.co", None, commands)


def _files(make: Callable[[random.Random], dict[str, bytes]]) -> Callable[[random.Random], Attack]:
    def attack(rng: random.Random) -> Attack:
        files = make(rng)
        return Attack(files, "file.co", None, kinds._commands(rng, b"".join(files.values()), 0.1))

    return attack


def _launch(rng: random.Random) -> Attack:
    return kinds._launch(launch_files.files)(rng)


KINDS: dict[str, Callable[[random.Random], Any]] = {
    "requests": requests, "placement": placement, "records": records, "split": _files(dwarf_files.split), "linked": _files(dwarf_files.linked),
}
NAMES = tuple(KINDS)
RESERVES = True


def attack_of(number: int) -> tuple[str, Any]:
    """The input with a number, and its kind; they are always the same for a number."""
    kind = NAMES[number % len(NAMES)]
    return kind, KINDS[kind](random.Random(f"{kind} {number}"))


@functools.cache
def _gpu_side() -> GpuSide:
    return load_gpu_side(runtime_library().gpu_side)


def survive(attack: Any, folder: Path, log: kinds.Log | None = None) -> int:
    """Pass an input to its reader; raises anything that is not a `rocdbg.Error`. Returns how many steps worked."""
    log = log or kinds.Log()
    if isinstance(attack, Asked):
        return _ask(attack)
    if isinstance(attack, Attack):
        return kinds.survive(attack, folder, log)
    for name, data in attack.files.items():
        (folder / name).write_bytes(data)
        try:
            read_placement(folder / name)
            return 1
        except Error as error:
            log.error(error)
    return 0


def _ask(attack: Asked) -> int:
    """Send the requests on one connection, and answer each at once."""
    process = ProgramProcess(1, [TargetId.parse("gfx90a")], _gpu_side())
    answers = [0] * 4
    worked = 0
    ours, theirs = socket.socketpair()
    for each in (ours, theirs):
        each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
        each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    try:
        served = Requests(process, ours)
        for index, (operation, arguments, payload) in enumerate(attack.requests):
            last = index == len(attack.requests) - 1
            numbers = [(answers[~n % 4] if n < 0 else n) for n in arguments]
            data = REQUEST.pack(operation, len(payload), *numbers) + payload
            theirs.setblocking(False)
            with suppress(BlockingIOError):  # more than the socket holds: it is cut
                theirs.sendall(data[: len(data) - attack.cut] if last else data)
            if last:
                theirs.shutdown(socket.SHUT_WR)
            try:
                served._one()
            except Disconnected:
                break
            reply = b""
            with suppress(BlockingIOError):
                reply = theirs.recv(8 << 20)
            status, _, *values = REPLY.unpack(reply[: REPLY.size])
            if not status:
                answers[index % 4] = values[0]
                worked += 1
    finally:
        ours.close()
        theirs.close()
        process.close()
    return worked


def warm_up(folder: Path) -> None:
    """Build the library that programs load, and import the modules that sessions import. No memory window is made here,
    because children of this process would not have it (MADV_DONTFORK).
    """
    _gpu_side()
    kinds.warm_up(folder)
