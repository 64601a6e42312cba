"""Hostile offload bundles: plain, compressed, in host files, nested."""

# ruff: noqa: E501  (tables)
from __future__ import annotations

import random
import struct
import zlib

import zstandard

from .elf_files import BASE, OBJECTS
from .numbers import damaged, name, number

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
IDS = (
    b"hipv4-amdgcn-amd-amdhsa--gfx90a", b"hip-amdgcn-amd-amdhsa--gfx90a", b"hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+",
    b"host-x86_64-unknown-linux--", b"hipv4-amdgcn-amd-amdhsa--gfx9-generic", b"openmp-amdgcn-amd-amdhsa--gfx90a",
    b"hipv4-amdgcn-amd-amdhsa--gfx90a:" + b"xnack+:" * 400, b"hipv4-amdgcn-amd-amdhsa--gfx99999", b"-", b"",
)


def plain(rng: random.Random, lie: float = 0.3) -> bytes:
    """A bundle of a few entries, some of which may have false positions."""
    entries = [
        (rng.choice((*IDS[:4], *IDS, name(rng))), rng.choice((BASE.read_bytes(), b"", b"\x7fELF", rng.randbytes(64))))
        for _ in range(rng.choice((0, 1, 2, 2, 5)))
    ]
    if rng.random() < 0.1:
        entries = [(IDS[0], b"\x7fELF" + bytes(20))] * rng.choice((100, 3000))
    if rng.random() < 0.1:
        entries.append((IDS[0], plain(rng)))
    at = 32 + sum(24 + len(text) for text, _ in entries)
    table, body = b"", b""
    for text, data in entries:
        row = [at, len(data), len(text)]
        if rng.random() < lie:
            row[rng.randrange(3)] = rng.choice((number(rng), rng.randrange(at + len(data) + 1)))
        table += struct.pack("<QQQ", *row) + text
        body += data
        at += len(data)
    count = len(entries) if rng.random() > lie / 3 else number(rng)
    return MAGIC + struct.pack("<Q", count) + table + body


def compressed(rng: random.Random) -> bytes:
    data = plain(rng, 0.1)
    if rng.random() < 0.05:
        data = MAGIC + struct.pack("<Q", 0) + bytes(rng.choice((1 << 20, 1 << 24)))
    version, method = rng.choice((1, 2, 3, 3, number(rng, 16))), rng.choice((0, 1, 1, number(rng, 16)))
    stream = zlib.compress(data) if method == 0 else zstandard.ZstdCompressor().compress(data)
    if rng.random() < 0.2:
        stream = damaged(rng, stream)
    layout = {1: "<IQ", 2: "<IIQ"}.get(version, "<QQQ")
    total = 8 + struct.calcsize(layout) + len(stream)
    total = total if rng.random() < 0.8 else number(rng, 32)
    size = len(data) if rng.random() < 0.7 else number(rng, 32)
    values = (size, 0) if version == 1 else (total, size, 0)
    return struct.pack("<4sHH", b"CCOB", version, method) + struct.pack(layout, *values) + stream


def many(rng: random.Random) -> bytes:
    """Bundles one after the other, with and without padding."""
    unit = rng.choice((
        struct.pack("<4sHHIQ", b"CCOB", 1, 0, 32, 0) + zlib.compress(MAGIC + bytes(8)), MAGIC + bytes(8), b"CCOB",
        struct.pack("<4sHHIIQ", b"CCOB", 2, 1, 70, 32, 0) + zstandard.ZstdCompressor().compress(MAGIC + bytes(8)).ljust(46, b"\0"),
    ))
    return (unit + bytes(rng.choice((0, 1, 100)))) * rng.choice((3, 100, 5000)) + plain(rng)


def bundle(rng: random.Random) -> bytes:
    kind = rng.random()
    data = plain(rng) if kind < 0.35 else compressed(rng) if kind < 0.75 else many(rng)
    if rng.random() < 0.2:
        data = damaged(rng, data)
    if rng.random() < 0.2:
        return _host(rng, data)
    return data


def _host(rng: random.Random, data: bytes) -> bytes:
    """A host's ELF file with a .hip_fatbin section."""
    out = bytearray(OBJECTS[0].read_bytes()[:64])
    out[18:20] = (62).to_bytes(2, "little")
    out += data
    names = b"\0.hip_fatbin\0"
    at = len(out)
    out += names
    size = len(data) if rng.random() < 0.8 else number(rng)
    headers = bytes(64) + struct.pack("<IIQQQQIIQQ", 1, 1, 2, 64, 64, size, 0, 0, 4096, 0)
    headers += struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, at, len(names), 0, 0, 1, 0)
    out[32:40] = bytes(8)
    out[40:48] = len(out).to_bytes(8, "little")
    out[56:58] = bytes(2)
    out[58:64] = struct.pack("<HHH", 64, 3, 2)
    return bytes(out) + headers
