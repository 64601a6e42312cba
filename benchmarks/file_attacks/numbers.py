"""Hostile numbers and names, which all kinds of files share."""

from __future__ import annotations

import random

NAMES = (
    "saxpy", "x", "a", "main", "", "int", "S", "T<int>", "ns::f<3u>", "operator<<", "operator()", "(anonymous)", "a b",
    "%s%n", "::", "a::", "::a", "<", ">", "<<<<<<", "f(", "f)", "T<", "T<T<T<", "~S", "$pc", "$1", "@", "'", '"', "\\",
    "\x1b[31mred", "\x1b]0;title\x07", "new\nline", "tab\t", "\r", "\x7f", "\u2028", "\u202eabc", "\ufeff", "caf\u00e9",
    "_Z5saxpyfPKfPfi", "_ZN1SIiE1fEv", "_Z" + "S_" * 40, "_ZN" + "1a" * 60 + "Ev", "operator" + "-" * 50, "f<'\\x'>",
    "x" * 300, "<" * 500, "(" * 500, "::" * 400, "9" * 400, "N" * 5000, "3U, " * 100,
)


def name(rng: random.Random) -> bytes:
    """A name: ordinary, odd, or not text at all. Never with a NUL."""
    kind = rng.random()
    if kind < 0.35:
        return rng.choice((b"saxpy", b"x", b"y", b"a", b"n", b"S", b"T", b"U", b"V"))
    if kind < 0.85:
        return rng.choice(NAMES).encode()
    if kind < 0.95:
        return bytes(rng.randrange(1, 256) for _ in range(rng.choice((1, 3, 10, 40))))
    return rng.choice((b"caf\xe9", b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"ok\x80ok"))


def number(rng: random.Random, bits: int = 64) -> int:
    """A number: mostly small, otherwise near a power of two, the largest of its width, or anything."""
    kind = rng.random()
    if kind < 0.5:
        return rng.randrange(20)
    if kind < 0.85:
        return max(0, min((1 << rng.randrange(bits + 1)) + rng.randrange(-2, 3), (1 << bits) - 1))
    return (1 << bits) - 1 if kind < 0.92 else rng.getrandbits(bits)


def damaged(rng: random.Random, data: bytes, times: int | None = None) -> bytes:
    """A copy with some bytes replaced, cut out, repeated, or fields of 2 to 8 bytes set to hostile numbers."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5, 20)) if times is None else times):
        if not out:
            break
        at = rng.randrange(len(out))
        match rng.randrange(7):
            case 0:
                out[at] = rng.randrange(256)
            case 1:
                out[at] ^= 1 << rng.randrange(8)
            case 2:
                del out[at : at + rng.choice((1, 4, 40, 400))]
            case 3:
                out[at:at] = out[at : at + rng.choice((1, 8, 64))] * rng.choice((1, 3, 30))
            case 4:
                out[at:] = out[at : rng.randrange(at, len(out)) + 1]
            case _:
                width = rng.choice((1, 2, 4, 8))
                at -= at % rng.choice((1, width))
                out[at : at + width] = number(rng, 8 * width).to_bytes(width, "little")
    return bytes(out)


def uleb(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def sleb(value: int) -> bytes:
    out = bytearray()
    while True:
        byte, value = value & 0x7F, value >> 7
        if value in (0, -1) and (byte & 0x40 == 0) == (value == 0):
            return bytes((*out, byte))
        out.append(byte | 0x80)


def leb(rng: random.Random) -> bytes:
    """A LEB128: mostly sound, sometimes longer than any number, or with the end missing."""
    kind = rng.random()
    if kind < 0.9:
        return uleb(number(rng))
    return b"\x80" * rng.choice((3, 30, 300)) + (b"\1" if kind < 0.95 else b"")
