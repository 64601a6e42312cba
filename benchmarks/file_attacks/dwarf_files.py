"""Hostile debug information: entries of every kind that refer to each other without sense, lines, frames, lists.

The entries are put into the base object, so that a session can run its kernel with them.
"""

# ruff: noqa: E501  (tables)
from __future__ import annotations

import random
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import fuzz_dwarf

from rocdbg.dwarf.info.name_index import name_hash

from .elf_files import Elf, compress
from .numbers import damaged, leb, name, number, sleb, uleb

LOW, HIGH = 0x1A00, 0x1C00
"""The range around the code of the base object's kernel."""

# Attributes and forms by their numbers in DWARF 5.
SIBLING, LOCATION, NAME, BYTE_SIZE, BIT_OFFSET, BIT_SIZE, STMT_LIST, LOW_PC, HIGH_PC, LANGUAGE = (
    0x01, 0x02, 0x03, 0x0B, 0x0C, 0x0D, 0x10, 0x11, 0x12, 0x13,
)
IMPORT, CONST_VALUE, CONTAINING_TYPE, INLINE, LOWER_BOUND, UPPER_BOUND, ABSTRACT_ORIGIN, ACCESSIBILITY, COUNT = (
    0x18, 0x1C, 0x1D, 0x20, 0x22, 0x2F, 0x31, 0x32, 0x37,
)
MEMBER_LOCATION, DECL_FILE, DECL_LINE, DECLARATION, ENCODING, EXTERNAL, FRAME_BASE, SPECIFICATION, TYPE, USE_LOCATION = (
    0x38, 0x3A, 0x3B, 0x3C, 0x3E, 0x3F, 0x40, 0x47, 0x49, 0x4A,
)
VIRTUALITY, VTABLE, RANGES, CALL_FILE, CALL_LINE, SIGNATURE, DATA_BIT_OFFSET, LINKAGE_NAME, VECTOR, COMP_DIR = (
    0x4C, 0x4D, 0x55, 0x58, 0x59, 0x69, 0x6B, 0x6E, 0x2107, 0x1B,
)
BYTE_STRIDE, OBJECT_POINTER, CALL_VALUE, CALL_RETURN, CALL_ORIGIN, PRODUCER, ENUM_CLASS, DATA_LOCATION, ARTIFICIAL = (
    0x51, 0x64, 0x7E, 0x7D, 0x7F, 0x25, 0x6D, 0x50, 0x34,
)

CLASSES = (0x13, 0x13, 0x02, 0x17)
MODIFIERS = (0x0F, 0x10, 0x42, 0x16, 0x26, 0x35, 0x37, 0x47, 0x2D)


@dataclass(eq=False)
class Die:
    """An entry; a value may be another one."""

    tag: int
    attributes: list[tuple[int, int, object]] = field(default_factory=list)
    children: list[Die] = field(default_factory=list)
    offset: int = 0

    def add(self, code: int, form: int, value: object) -> Die:
        self.attributes.append((code, form, value))
        return self


class Writer:
    """Entries to .debug_info and .debug_abbrev: every entry is placed first, then the references are written."""

    def __init__(self, version: int = 5, kind: int = 1, identity: bytes = b"") -> None:
        self.version, self.kind, self.identity = version, kind, identity
        self.abbreviations: dict[tuple[object, ...], int] = {}
        self.out = bytearray()
        self.fixes: list[tuple[int, int, Die]] = []

    def write(self, top: Die) -> tuple[bytes, bytes]:
        """.debug_info and .debug_abbrev."""
        header = self.version.to_bytes(2, "little")
        header += bytes((self.kind, 8)) + bytes(4) + self.identity if self.version >= 5 else bytes(4) + b"\x08"
        self.out = bytearray(bytes(4) + header)
        stack: list[Die | None] = [top]
        while stack:  # no recursion: trees are deep
            die = stack.pop()
            if die is None:
                self.out.append(0)
                continue
            self._entry(die)
            if die.children:
                stack.append(None)
                stack += reversed(die.children)
        self.out[:4] = (len(self.out) - 4).to_bytes(4, "little")
        for at, size, die in self.fixes:
            self.out[at : at + size] = (die.offset & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        table = b"".join(
            uleb(code) + uleb(key[0]) + bytes((bool(key[1]),))  # type: ignore[arg-type]
            + b"".join(uleb(at) + uleb(form) for at, form in key[2]) + b"\0\0"  # type: ignore[attr-defined]
            for key, code in self.abbreviations.items()
        )
        return bytes(self.out), table + b"\0"

    def _entry(self, die: Die) -> None:
        die.offset = len(self.out)
        key = (die.tag, bool(die.children), tuple((code, form) for code, form, _ in die.attributes))
        self.out += uleb(self.abbreviations.setdefault(key, len(self.abbreviations) + 1))
        for _, _, value in die.attributes:
            if isinstance(value, Die):
                self.fixes.append((len(self.out), 4, value))
                self.out += bytes(4)
            else:
                assert isinstance(value, bytes)
                self.out += value


def text(value: bytes) -> tuple[int, bytes]:
    return 0x08, value.replace(b"\0", b"?") + b"\0"


def block(data: bytes) -> tuple[int, bytes]:
    return 0x18, uleb(len(data)) + data


def udata(value: int) -> tuple[int, bytes]:
    return 0x0F, uleb(value)


def sdata(value: int) -> tuple[int, bytes]:
    return 0x0D, sleb(value)


class Tree:
    """A unit of entries, most of them sound: an entry that is not ends the query that reaches it."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.oddness = rng.choice((0.0, 0.01, 0.03, 0.1, 0.4))
        self.types: list[Die] = []
        self.filled = 0
        self.all: list[Die] = []

    def odd(self) -> bool:
        """Whether the next item should be hostile."""
        return self.rng.random() < self.oddness

    def number(self) -> tuple[int, bytes]:
        rng = self.rng
        if not self.odd():
            return udata(rng.choice((0, 1, 1, 2, 3, 4, 8, 16, 64, 1000)))
        match rng.randrange(8):
            case 0:
                return sdata(-number(rng, 63))
            case 1:
                return 0x07, number(rng, 64).to_bytes(8, "little")
            case 2:
                return 0x1E, number(rng, 128).to_bytes(16, "little")
            case 3:
                return block(self.expression())
            case 4:
                return udata(number(rng, 200))
            case _:
                return udata(number(rng))

    def expression(self) -> bytes:
        rng = self.rng
        kind = rng.random()
        if not self.odd():
            return rng.choice((b"\x91\x10", b"\x23\x04", b"\x03" + LOW.to_bytes(8, "little"), b"\x90\x28", b"\x30\x9f", b"\x9c"))
        if kind < 0.5:
            return fuzz_dwarf.expression(rng, rng.choice(("amd", "llvm22", "amd")))
        if kind < 0.7:
            return rng.choice((b"", b"\x91\x10", b"\x23" + leb(rng), b"\x97", b"\x9c", b"\x30\x9f", b"\x03" + bytes(8), b"\x98\x10\0"))
        return rng.randbytes(rng.randrange(12))

    def some_type(self) -> Die:
        """A type made before the one that is being filled; any type if it should be hostile."""
        if self.odd():
            return self.rng.choice(self.types) if self.rng.random() < 0.9 else self.rng.choice(self.all)
        return self.rng.choice(self.types[: max(self.filled, 1)])

    def decorate(self, die: Die) -> None:
        """Add attributes that may be anywhere."""
        rng = self.rng
        if rng.random() < 0.8:
            die.add(NAME, *text(name(rng)))
        if rng.random() < 0.15:
            die.add(DECL_FILE, *self.number()).add(DECL_LINE, *self.number())
        for code, chance in ((SPECIFICATION, 0.04), (ABSTRACT_ORIGIN, 0.04), (SIBLING, 0.02), (SIGNATURE, 0.02)):
            if self.odd() and rng.random() < 10 * chance:
                die.add(code, 0x13, rng.choice(self.all))
        for code, chance in ((DECLARATION, 0.08), (EXTERNAL, 0.1), (ARTIFICIAL, 0.03)):
            if rng.random() < chance:
                die.add(code, 0x0C, b"\1")
        if rng.random() < 0.05:
            die.add(LINKAGE_NAME, *text(name(rng)))

    def make_type(self) -> Die:
        """Make a type without its references, which are added when all types exist."""
        rng = self.rng
        tag = rng.choice((0x24, 0x24, *CLASSES, *CLASSES, *MODIFIERS, 0x01, 0x01, 0x04, 0x15, 0x1F, 0x21, 0x12, 0x3B, 0x33, 0x08))
        die = Die(tag)
        self.types.append(die)
        self.all.append(die)
        return die

    def fill_type(self, die: Die) -> None:
        rng = self.rng
        self.decorate(die)
        tag = die.tag
        if tag == 0x24:
            sound = not self.odd()
            size = udata(rng.choice((1, 2, 4, 8, 16))) if sound else self.number()
            die.add(BYTE_SIZE, *size)
            die.add(ENCODING, *(udata(rng.choice((2, 3, 4, 5, 6, 7, 8, 16))) if sound else self.number()))
            if rng.random() < 0.15:
                die.add(BIT_SIZE, *self.number())
            if rng.random() < 0.1:
                die.add(rng.choice((0x3E02, 0x2FFF, DATA_BIT_OFFSET, 0x65)), *self.number())
            return
        if tag in CLASSES:
            if rng.random() < 0.85:
                die.add(BYTE_SIZE, *(udata(rng.randrange(64)) if rng.random() < 0.6 else self.number()))
            for _ in range(rng.choice((0, 1, 2, 3, 8, 40))):
                die.children.append(self.member(die))
            return
        if rng.random() < 0.92 or tag == 0x01:
            target = die if self.odd() and rng.random() < 0.3 else self.some_type()
            die.add(TYPE, 0x13, target)
        if rng.random() < 0.15:
            die.add(rng.choice((BYTE_SIZE, BYTE_STRIDE, BIT_SIZE, 0x33, DATA_LOCATION)), *self.number())
        if tag == 0x01:
            if rng.random() < 0.1:
                die.add(VECTOR, 0x0C, b"\1")
            for _ in range(rng.choice((0, 1, 1, 2, 3, 40, 150, 3000) if self.odd() else (1, 1, 2))):
                dimension = Die(rng.choice((0x21, 0x21, 0x21, 0x45, 0x04)))
                if rng.random() < 0.3:
                    dimension.add(TYPE, 0x13, self.some_type())
                for code, chance in ((COUNT, 0.6), (UPPER_BOUND, 0.4), (LOWER_BOUND, 0.2), (BYTE_STRIDE, 0.1)):
                    if rng.random() < chance:
                        if self.odd() and rng.random() < 0.2:
                            dimension.add(code, 0x13, rng.choice(self.all))
                        else:
                            dimension.add(code, *self.number())
                die.children.append(dimension)
        elif tag == 0x04:
            for _ in range(rng.choice((0, 1, 3, 20))):
                die.children.append(Die(0x28).add(NAME, *text(name(rng))).add(CONST_VALUE, *self.number()))
            if rng.random() < 0.3:
                die.add(ENUM_CLASS, 0x0C, b"\1")
            if rng.random() < 0.5:
                die.add(BYTE_SIZE, *self.number())
        elif tag == 0x15:
            for _ in range(rng.choice((0, 1, 3, 20))):
                die.children.append(Die(rng.choice((0x05, 0x05, 0x18))).add(TYPE, 0x13, self.some_type()))
        elif tag == 0x1F:
            die.add(CONTAINING_TYPE, 0x13, self.some_type())
            if rng.random() < 0.3:
                die.add(USE_LOCATION, *block(self.expression()))

    def member(self, owner: Die) -> Die:
        rng = self.rng
        usual = (0x0D, 0x0D, 0x0D, 0x0D, 0x0D, 0x0D, 0x1C, 0x2E, 0x34, 0x2F)
        child = Die(rng.choice((*usual, 0x30, 0x13, 0x16, 0x33, 0x19) if self.odd() else usual))
        self.all.append(child)
        self.decorate(child)
        child.add(TYPE, 0x13, owner if self.odd() and rng.random() < 0.5 else self.some_type())
        if rng.random() < 0.6:
            child.add(MEMBER_LOCATION, *(udata(rng.randrange(64)) if rng.random() < 0.6 else self.number()))
        for code, chance in (
            (BIT_SIZE, 0.2), (DATA_BIT_OFFSET, 0.1), (BIT_OFFSET, 0.1), (ACCESSIBILITY, 0.1), (VIRTUALITY, 0.1),
            (CONST_VALUE, 0.05), (VTABLE, 0.05), (BYTE_SIZE, 0.05),
        ):
            if rng.random() < (chance if code in (BIT_SIZE, ACCESSIBILITY, VIRTUALITY) else self.oddness):
                child.add(code, *self.number())
        if child.tag == 0x2E:
            for _ in range(rng.randrange(3)):
                child.children.append(Die(0x05).add(TYPE, 0x13, self.some_type()).add(ARTIFICIAL, 0x0C, b"\1"))
        return child

    def variable(self, tag: int) -> Die:
        rng = self.rng
        die = Die(tag)
        self.all.append(die)
        self.decorate(die)
        die.add(TYPE, 0x13, self.some_type())
        kind = rng.random()
        if kind < 0.5:
            die.add(LOCATION, *block(rng.choice((b"\x91\x10", b"\x03" + LOW.to_bytes(8, "little"), self.expression()))))
        elif self.odd():
            die.add(LOCATION, 0x17, number(rng, 8).to_bytes(4, "little"))
        elif kind < 0.75:
            die.add(CONST_VALUE, *self.number())
        return die

    def scope(self, die: Die, depth: int) -> None:
        """The contents of a function or block."""
        rng = self.rng
        for _ in range(rng.choice((0, 1, 2, 5))):
            die.children.append(self.variable(rng.choice((0x34, 0x34, 0x05, 0x27))))
        if rng.random() < 0.2:
            call = Die(0x48).add(CALL_RETURN, 0x01, rng.randrange(LOW, HIGH).to_bytes(8, "little"))
            if self.odd():
                call.add(CALL_ORIGIN, 0x13, rng.choice(self.all))
            call.children.append(Die(0x49).add(LOCATION, *block(b"\x90\x28")).add(CALL_VALUE, *block(self.expression())))
            die.children.append(call)
        while depth < 6 and rng.random() < 0.4:
            inner = Die(rng.choice((0x0B, 0x0B, 0x1D)))
            self.all.append(inner)
            self.code(inner)
            if inner.tag == 0x1D:
                functions = [d for d in self.all if d.tag == 0x2E]
                inner.add(ABSTRACT_ORIGIN, 0x13, rng.choice(self.all if self.odd() or not functions else functions))
                inner.add(CALL_FILE, *self.number()).add(CALL_LINE, *self.number())
            self.scope(inner, depth + 1)
            die.children.append(inner)

    def code(self, die: Die) -> None:
        rng = self.rng
        kind = rng.random()
        if kind < 0.7:
            low = LOW if rng.random() < 0.6 else rng.randrange(LOW, HIGH)
            die.add(LOW_PC, 0x01, low.to_bytes(8, "little")).add(HIGH_PC, *(udata(HIGH - low) if kind < 0.6 else self.number()))
        elif self.odd():
            die.add(RANGES, 0x17, number(rng, 8).to_bytes(4, "little"))

    def function(self) -> Die:
        rng = self.rng
        die = Die(0x2E)
        self.all.append(die)
        if rng.random() < 0.6:
            die.add(NAME, *text(b"saxpy"))
        self.decorate(die)
        self.code(die)
        if rng.random() < 0.5:
            die.add(FRAME_BASE, *block(rng.choice((b"\x9c", b"\x90\x31", self.expression()))))
        if rng.random() < 0.3:
            die.add(TYPE, 0x13, self.some_type())
        if rng.random() < 0.2:
            die.add(INLINE, *self.number())
        self.scope(die, 0)
        return die

    def unit(self) -> Die:
        """The top entry with everything below it."""
        rng = self.rng
        top = Die(0x11)
        top.add(NAME, *text(rng.choice((b"saxpy.hip", name(rng))))).add(COMP_DIR, *text(rng.choice((b"/src", name(rng)))))
        top.add(LANGUAGE, *udata(rng.choice((0x21, 0x0C, 0x1D, 0x15, number(rng, 16))))).add(STMT_LIST, 0x17, bytes(4))
        top.add(LOW_PC, 0x01, LOW.to_bytes(8, "little")).add(HIGH_PC, *udata(HIGH - LOW))
        if rng.random() < 0.2:
            top.add(0x3E08, *text(rng.choice((b"[amdgpu:v0.0]", b"[amd:v0.0]", name(rng)))))
        self.all.append(top)
        for _ in range(rng.choice((3, 10, 30))):
            self.make_type()
        for self.filled, die in enumerate(self.types):  # noqa: B020
            self.fill_type(die)
        holder = top
        if rng.random() < 0.15:  # deep namespaces
            for _ in range(rng.choice((2, 50, 600) if self.odd() else (1, 2, 40))):
                inner = Die(0x39).add(NAME, *text(name(rng)))
                holder.children.append(inner)
                holder = inner
        holder.children += self.types
        if rng.random() < 0.2:
            holder.children.append(Die(0x3A).add(IMPORT, 0x13, rng.choice(self.all)))
        for _ in range(rng.choice((1, 1, 2, 6))):
            holder.children.append(self.function())
        for _ in range(rng.choice((0, 2))):
            holder.children.append(self.variable(0x34))
        return top


def chain(rng: random.Random) -> Die:
    """One long chain: types on each other, nested classes, bases, scopes, one name everywhere."""
    count = rng.choice((10, 100, 200, 1000, 3000))
    top = Die(0x11).add(NAME, *text(b"saxpy.hip")).add(LANGUAGE, *udata(rng.choice((0x21, 0x0C)))).add(STMT_LIST, 0x17, bytes(4))
    dies = [Die(rng.choice(MODIFIERS) if rng.random() < 0.3 else tag) for tag in [rng.choice((0x13, 0x0F, 0x16, 0x01, 0x15))] * count]
    for at, die in enumerate(dies):
        following = dies[(at + 1) % count] if rng.random() < 0.999 else rng.choice(dies)
        if die.tag == 0x13:
            die.add(NAME, *text(b"S%d" % at)).add(BYTE_SIZE, *udata(8))
            kind = rng.choice((0x1C, 0x0D, 0x1C))
            for _ in range(rng.choice((1, 1, 2))):
                die.children.append(Die(kind).add(NAME, *text(b"m")).add(TYPE, 0x13, following).add(MEMBER_LOCATION, *udata(0)))
        else:
            die.add(NAME, *text(b"T%d" % at)).add(TYPE, 0x13, following)
            if die.tag == 0x01:
                for _ in range(rng.choice((1, 2))):
                    die.children.append(Die(0x21).add(COUNT, *udata(rng.choice((1, 2, 1000, 1 << 40)))))
            if die.tag == 0x15:
                die.children += [Die(0x05).add(TYPE, 0x13, following) for _ in range(2)]
    if rng.random() < 0.3:  # in each other
        for outer, inner in pairwise(dies):
            outer.children.append(inner)
        dies = dies[:1]
    top.children += dies
    function = Die(0x2E).add(NAME, *text(b"saxpy")).add(LOW_PC, 0x01, LOW.to_bytes(8, "little")).add(HIGH_PC, *udata(HIGH - LOW))
    function.children.append(Die(0x34).add(NAME, *text(b"x")).add(TYPE, 0x13, dies[0]).add(LOCATION, *block(b"\x03" + LOW.to_bytes(8, "little"))))
    block_ = function
    for _ in range(rng.choice((0, 3, 300, 600))):
        inner = Die(0x0B).add(LOW_PC, 0x01, LOW.to_bytes(8, "little")).add(HIGH_PC, *udata(HIGH - LOW))
        block_.children.append(inner)
        block_ = inner
    top.children.append(function)
    return top


def line_program(rng: random.Random, oddness: float = 0.3) -> bytes:
    """A line table of version 2 to 5 with odd parameters and operations."""
    odd = rng.random() < oddness
    version = rng.choice((2, 3, 4, 5, 5, number(rng, 16)) if odd else (2, 3, 4, 5, 5, 5))
    pick: Callable[[int], int] = lambda usual: number(rng, 8) if odd and rng.random() < 0.3 else usual  # noqa: E731
    opcode_base = pick(13)
    head = bytes((pick(4),)) + (bytes((pick(1),)) if version >= 4 else b"")
    head += bytes((pick(1), pick(251), pick(14), opcode_base)) + bytes(rng.choice((1, 0, 200)) if odd else (0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1)[i % 12] for i in range(max(opcode_base - 1, 0)))
    if version >= 5:
        def table() -> bytes:
            columns = rng.choice(((b"\x01\x08",), (b"\x01\x08", b"\x02\x0b"), (b"\x01\x08", b"\x02\x0f"), (uleb(0x2001) + b"\x08", b"\x01\x08")))
            if odd:
                columns += (leb(rng) + uleb(number(rng, 6)),)
            count = rng.choice((1, 2, 40)) if not odd else number(rng)
            out = bytes((len(columns),)) + b"".join(columns) + uleb(count)
            for _ in range(min(count, 60)):
                for column in columns:
                    out += name(rng) + b"\0" if column.endswith(b"\x08") else bytes((number(rng, 7),)) if column.endswith((b"\x0b", b"\x0f")) else rng.randbytes(3)
            return out

        head += table() + table()
    else:
        head += b"".join(name(rng).replace(b"\0", b"") + b"\0" for _ in range(rng.randrange(4))) + b"\0"
        for _ in range(rng.randrange(4)):
            head += (name(rng) or b"f") + b"\0" + leb(rng) + leb(rng) + leb(rng)
        head += b"\0"
    program = bytearray()
    for _ in range(rng.choice((1, 1, 3))):
        program += b"\0\x09\x02" + rng.choice((LOW, rng.randrange(LOW, HIGH), number(rng))).to_bytes(8, "little")
        for _ in range(rng.choice((1, 10, 100, 1000))):
            code = rng.choice((1, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, rng.randrange(13, 256), rng.randrange(13, 256)))
            program.append(code)
            if code in (2, 4, 5, 12):
                program += leb(rng) if odd else uleb(rng.randrange(5))
            elif code == 3:
                program += sleb(rng.choice((1, -1, 5, number(rng, 70), -number(rng, 70)) if odd else (1, -1, 5)))
            elif code == 9:
                program += number(rng, 16 if odd else 3).to_bytes(2, "little")
        if not odd or rng.random() < 0.8:
            program += b"\0\x01\x01"
        elif rng.random() < 0.5:
            program += b"\0" + leb(rng) + rng.randbytes(5)
    length = len(head) if not odd or rng.random() < 0.8 else number(rng, 32)
    body = version.to_bytes(2, "little") + (b"\x08\0" if version >= 5 else b"") + length.to_bytes(4, "little") + head + program
    size = len(body) if not odd or rng.random() < 0.9 else number(rng, 32)
    return size.to_bytes(4, "little") + body


def lists(rng: random.Random, section: int) -> bytes:
    """.debug_loclists or .debug_rnglists with a table of offsets, or none."""
    body = b"".join(fuzz_dwarf.location_list(rng) for _ in range(rng.choice((1, 4)))) if section == 0 else b"".join(
        bytes((rng.randrange(9),)) + leb(rng) + leb(rng) for _ in range(rng.randrange(20))
    )
    count = rng.choice((0, 2, number(rng, 32)))
    table = b"".join(number(rng, 6).to_bytes(4, "little") for _ in range(min(count, 8)))
    rest = b"\5\0\x08\0" + count.to_bytes(4, "little") + table + body
    return len(rest).to_bytes(4, "little") + rest


def names_index(rng: random.Random, dies: list[Die], strings: bytearray) -> bytes:
    """.debug_names that lists some entries, under their own or other names, in any bucket; sometimes everything is
    sound.
    """
    odd = rng.random() < 0.7
    chosen = [rng.choice(dies) for _ in range(rng.choice((0, 1, 5, 30)))] if dies else []
    buckets = rng.choice((0, 1, 4, number(rng, 8) if odd else 2))
    rows = []
    for die in chosen:
        own = next((value[:-1] for code, form, value in die.attributes if code == NAME and isinstance(value, bytes)), b"")
        label = name(rng).replace(b"\0", b"") if odd and rng.random() < 0.2 else own
        rows.append((name_hash(label.decode("utf-8", "backslashreplace")), label, die))
    rows.sort(key=lambda row: row[0] % max(buckets, 1))
    pool, offsets, at = bytearray(), [], []
    for _, label, die in rows:
        offsets.append(len(strings))
        strings += label + b"\0"
        at.append(len(pool) if not odd or rng.random() < 0.9 else number(rng, 32))
        place = die.offset if not odd or rng.random() < 0.8 else number(rng, 32)
        pool += uleb(rng.choice((1, 1, 1, 2, number(rng, 6))) if odd else 1) + place.to_bytes(4, "little") + b"\0" * (not odd or rng.random() < 0.9)
    first = [next((n + 1 for n, row in enumerate(rows) if row[0] % buckets == bucket), 0) for bucket in range(min(buckets, 300))]
    table = uleb(1) + uleb(rng.choice((0x2E, 0x13, 0x34, 0x24))) + b"\x03\x13\0\0" + uleb(2) + b"\x2e" + leb(rng) + leb(rng) + b"\0\0\0"
    counts = [1, 0, 0, buckets, len(rows), len(table), 8]
    if odd and rng.random() < 0.3:
        counts[rng.randrange(7)] = number(rng, 32)
    words = [0, *first, *([row[0] for row in rows] if buckets else []), *offsets, *at]
    body = b"\5\0\0\0" + b"".join(value.to_bytes(4, "little") for value in counts) + b"LLVM0700"
    body += b"".join((value & 0xFFFFFFFF).to_bytes(4, "little") for value in words) + table + pool
    data = len(body).to_bytes(4, "little") + body
    return damaged(rng, data) if odd and rng.random() < 0.3 else data


def _object(rng: random.Random, sections: dict[bytes, bytes]) -> bytes:
    elf = Elf.read()
    if b".debug_info" in sections:
        elf.drop_debug()
    for key, data in sections.items():
        section = elf.put(key, data)
        if rng.random() < 0.05:
            compress(rng, section)
    return elf.build()


def entries(rng: random.Random) -> bytes:
    """Entries of all kinds, or a chain of one."""
    writer = Writer(rng.choice((5, 5, 5, 4)))
    top = chain(rng) if rng.random() < 0.2 else Tree(rng).unit()
    info, table = writer.write(top)
    if rng.random() < 0.05:
        info = damaged(rng, info)
    if rng.random() < 0.03:
        table = damaged(rng, table)
    sections = {
        b".debug_info": info, b".debug_abbrev": table, b".debug_line": line_program(rng, 0.1),
        b".debug_loclists": lists(rng, 0), b".debug_rnglists": lists(rng, 1), b".debug_str": b"a\0b\0" + name(rng),
        b".debug_frame": fuzz_dwarf.frame_section(rng),
    }
    if rng.random() < 0.1:
        sections[b".debug_info"] = info * rng.choice((2, 30))
    elif rng.random() < 0.25:
        strings = bytearray(sections[b".debug_str"])
        sections[b".debug_names"] = names_index(rng, [top, *top.children], strings)
        sections[b".debug_str"] = bytes(strings)
    return _object(rng, sections)


def split(rng: random.Random) -> dict[str, bytes]:
    """An object whose unit is in a separate file, which is hostile."""
    identity = rng.randbytes(8)
    top = Die(0x4A).add(0x76, *text(rng.choice((b"file.dwo", b"./file.dwo", b"fifo", b"..", name(rng))))).add(COMP_DIR, *text(b"."))
    top.add(LOW_PC, 0x01, LOW.to_bytes(8, "little")).add(HIGH_PC, *udata(HIGH - LOW))
    info, table = Writer(5, 4, identity).write(top)
    inside = chain(rng) if rng.random() < 0.1 else Tree(rng).unit()
    within, others = Writer(5, 5, identity if rng.random() < 0.95 else rng.randbytes(8)).write(inside)
    if rng.random() < 0.1:
        within = damaged(rng, within)
    sections = {b".debug_info.dwo": within, b".debug_abbrev.dwo": others, b".debug_str.dwo": b"a\0b\0" + name(rng)}
    for section, data in ((b".debug_loclists.dwo", lists(rng, 0)), (b".debug_rnglists.dwo", lists(rng, 1))):
        sections[section] = data
    if rng.random() < 0.5:
        sections[b".debug_str_offsets.dwo"] = (20).to_bytes(4, "little") + b"\5\0\0\0" + rng.randbytes(16)
    beside = _object(rng, sections)
    return {
        "file.co": _object(rng, {b".debug_info": info, b".debug_abbrev": table}),
        "file.dwo": beside if rng.random() < 0.95 else damaged(rng, beside),
    }


def linked(rng: random.Random) -> dict[str, bytes]:
    """An object without debug information, and the file that its link names, which is hostile."""
    beside = rng.choice((entries, entries, lines, frames))(rng)
    elf = Elf.read()
    elf.drop_debug()
    named = rng.choice((b"file.debug", b"file.debug", b"file.debug", b"fifo", b"../file.debug", b"/etc/passwd", name(rng)))
    padded = named + bytes(4 - len(named) % 4)
    elf.put(b".gnu_debuglink", padded + (zlib.crc32(beside) if rng.random() < 0.95 else 1).to_bytes(4, "little"))
    if rng.random() < 0.2:
        elf.put(b".gnu_debugaltlink", rng.choice((b"file.debug", b"fifo", name(rng))) + b"\0" + rng.randbytes(4))
    return {"file.co": elf.build(), "file.debug": beside}


def lines(rng: random.Random) -> bytes:
    return _object(rng, {b".debug_line": line_program(rng) if rng.random() < 0.8 else damaged(rng, line_program(rng))})


def frames(rng: random.Random) -> bytes:
    data = fuzz_dwarf.frame_section(rng)
    # The sections that are made there speak of addresses from 0x1000 on.
    data = data.replace((0x1000).to_bytes(8, "little"), LOW.to_bytes(8, "little"))
    if rng.random() < 0.5:
        data = damaged(rng, data)
    return _object(rng, {rng.choice((b".debug_frame", b".debug_frame", b".eh_frame")): data})
