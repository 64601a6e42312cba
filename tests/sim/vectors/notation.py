"""The notation of the tables in this folder. One program is one line (indented lines continue it):

    instruction; instruction | state before | state after

A line that ends in `:` names what follows, `#` starts a comment, and directives of their own are

    target gfx1100 gfx1201       programs below run on each of these; `gfx1100/64` for wave64 there
    lanes 4                      lanes 0..3 are active (1 if nothing is said)

State is assignments. Whatever is not mentioned is zero before (EXEC: the active lanes; MODE: what the assembler
asks for in a kernel descriptor, single precision subnormals flushed) and of no interest after:

    v2=1.0             each active lane; `v2=1,2,_,4` lane by lane (`_`: not this one); `v2[5]=7` one lane
    v2=lane*4+1        from the number of the lane (every active one)
    v[2:3]=1.0d        a pair; also s[2:3], v[0:3], a2 (AGPRs)
    v2.l=1.0h  v2.h=   a half of a register
    s4= vcc= exec= scc= m0= mode= vcc_hi= exec_hi=
    s[0:1]=&mem        the address of a buffer of 4096 bytes, zeroed; `&mem+64`
    mem@8=1,2.5        dwords from byte 8 of that buffer; `lds@8=` of LDS; `private@8=` a dword per lane of scratch
    lanes=4            active lanes of this program

Values: 12, -1, 0xff, 1.5 (single), 1.5h (half), 1.5d (double), inf, -infh, nan (any NaN of its type: nan, nanh, nand).
Wanted with `~` instead of `=`: a float within a relative or absolute 1e-5 (half: 1e-3).
"""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass

SPACES = ("mem", "lds", "private")
SPECIAL = {
    "vcc_lo": 106,
    "vcc_hi": 107,
    "exec_lo": 126,
    "exec_hi": 127,
    "flat_scratch_lo": 102,
    "flat_scratch_hi": 103,
}
WIDTHS = {"": 4, "h": 2, "d": 8}
FORMATS = {"": "<f", "h": "<e", "d": "<d"}


class NotationError(Exception):
    """A line of a table that does not follow the notation."""


@dataclass(frozen=True)
class Value:
    """A number: ``bits``, and for floats ``kind`` ("" f32, "h" f16, "d" f64; None: an integer)."""

    text: str
    bits: int
    kind: str | None

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return WIDTHS[self.kind or ""]


@dataclass(frozen=True)
class Assignment:
    """``place`` is "v", "a", "s", a space or the name of a special register, ``index`` its number or byte offset,
    ``count`` its dwords; ``values`` holds one value for each lane (or dword), or a single one for all.
    """

    text: str
    place: str
    index: int
    count: int
    half: str
    lane: int | None
    near: bool
    values: tuple[Value | None, ...]
    linear: tuple[int, int] | None = None
    address: int | None = None


@dataclass(frozen=True)
class Program:
    """One line of a table, for one target."""

    line: int
    title: str
    target: str
    wave_size: int
    lanes: int
    instructions: tuple[str, ...]
    before: tuple[Assignment, ...]
    after: tuple[Assignment, ...]


def value(text: str) -> Value:
    """A number as the tables write it."""
    number = re.fullmatch(r"(-?)((?:0x[0-9a-fA-F]+)|\d+)", text)
    if number:
        return Value(text, int(text, 0), None)
    real = re.fullmatch(r"(-?(?:inf|nan|\d+\.\d*(?:e[-+]?\d+)?|\d+e[-+]?\d+))([hd]?)", text)
    if real is None:
        raise NotationError(f"not a number: {text!r}")
    kind = real[2]
    bits = int.from_bytes(struct.pack(FORMATS[kind], float(real[1])), "little")
    return Value(text, bits, kind)


PLACE = re.compile(
    r"(?P<file>[vas])(?:(?P<n>\d+)|\[(?P<lo>\d+):(?P<hi>\d+)\])(?:\.(?P<half>[lh]))?(?:\[(?P<lane>\d+)\])?"
    r"|(?P<space>mem|lds|private)@(?P<offset>0x[0-9a-fA-F]+|\d+)"
    r"|(?P<special>vcc|exec|scc|m0|mode|lanes|vcc_lo|vcc_hi|exec_lo|exec_hi|flat_scratch_lo|flat_scratch_hi)"
)


def assignment(text: str) -> Assignment:
    """`place=values` or `place~values`."""
    parts = re.fullmatch(r"([^=~]+)([=~])(\S+)", text)
    match = PLACE.fullmatch(parts[1]) if parts else None
    if parts is None or match is None:
        raise NotationError(f"not an assignment: {text!r}")
    if match["file"]:
        low = int(match["n"] or match["lo"])
        place, index, count = match["file"], low, int(match["hi"] or low) - low + 1
    elif match["space"]:
        place, index, count = match["space"], int(match["offset"], 0), 1
    else:
        place, index, count = match["special"], 0, 1
    lane = int(match["lane"]) if match["lane"] else None
    common = (text, place, index, count, match["half"] or "", lane, parts[2] == "~")
    linear = re.fullmatch(r"lane(?:\*(-?\w+))?(?:\+(\w+))?", parts[3])
    if linear:
        return Assignment(*common, (), linear=(int(linear[1] or "1", 0), int(linear[2] or "0", 0)))
    address = re.fullmatch(r"&mem(?:\+(\w+))?", parts[3])
    if address:
        return Assignment(*common, (), address=int(address[1] or "0", 0))
    return Assignment(*common, tuple(None if item == "_" else value(item) for item in parts[3].split(",")))


def programs(text: str) -> list[Program]:
    """The programs of a table. Raises NotationError with the number of the line."""
    logical: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].rstrip()
        if line[:1].isspace() and line.strip() and logical:
            logical[-1] = (logical[-1][0], f"{logical[-1][1]} {line.strip()}")
        elif line:
            logical.append((number, line))
    found: list[Program] = []
    targets: list[str] = []
    title, lanes = "", 1
    for number, line in logical:
        try:
            words = line.split()
            if re.search(r"\s\|(\s|$)", line):
                for target in targets:
                    found.append(_program(number, line, title, target, lanes))
            elif words[0] == "target":
                targets = words[1:]
            elif words[0] == "lanes":
                lanes = int(words[1])
            elif line.endswith(":"):
                title = line[:-1]
            else:
                raise NotationError(f"neither program, title nor directive: {line!r}")
        except NotationError as error:
            raise NotationError(f"line {number}: {error}") from None
    return found


def _program(number: int, line: str, title: str, target: str, lanes: int) -> Program:
    fields = re.split(r"(?<=\s)\|(?=\s|$)", line)  # but not the bars of |v0|
    if len(fields) != 3:
        raise NotationError("a program is instructions | state before | state after")
    before, after = (tuple(assignment(item) for item in field.split()) for field in fields[1:])
    if not after:
        raise NotationError("nothing is wanted")
    for item in before:
        if item.place == "lanes":
            assert item.values[0] is not None
            lanes = item.values[0].bits
    name, _, width = target.partition("/")
    wave_size = int(width) if width else 32 if name.startswith(("gfx10", "gfx11", "gfx12")) else 64
    instructions = tuple(part.strip() for part in fields[0].split(";"))
    return Program(number, title, name, wave_size, lanes, instructions, before, after)


def agrees(wanted: Value, bits: int, near: bool) -> bool:
    """Whether ``bits`` are as expected."""
    kind = wanted.kind
    if kind is None:
        return bits == wanted.bits
    found = struct.unpack(FORMATS[kind], bits.to_bytes(WIDTHS[kind], "little"))[0]
    if wanted.text.lstrip("-").startswith("nan"):
        return math.isnan(found)
    if not near:
        return bits == wanted.bits
    tolerance = 1e-3 if kind == "h" else 1e-5
    exact = struct.unpack(FORMATS[kind], wanted.bits.to_bytes(WIDTHS[kind], "little"))[0]
    return math.isclose(found, exact, rel_tol=tolerance, abs_tol=tolerance)
