"""Places of members: numbers of bytes and bits; expressions for pointers to members and virtual functions (A.5.7.8,
A.5.14)."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

import rocdbg  # noqa: F401  (registers amdgcn)
from rocdbg import dwarf
from rocdbg.dwarf.info import ClassType, DebugInfo, Exprloc, MemberPointerType
from rocdbg.dwarf.operation_assembler import assemble
from rocdbg.dwarf.simple_context import SimpleContext

ABBREVIATIONS = bytes((
    1, 0x11, 1, 0x03, 0x08, 0, 0,  # unit: name
    2, 0x24, 0, 0x03, 0x08, 0x3E, 0x0B, 0x0B, 0x0B, 0, 0,  # base type: name, encoding, size
    3, 0x13, 1, 0x03, 0x08, 0x0B, 0x0B, 0, 0,  # structure: name, size
    4, 0x2E, 0, 0x03, 0x08, 0x4C, 0x0B, 0x4D, 0x18, 0, 0,  # method: name, virtuality, vtable element's location
    5, 0x1F, 0, 0x49, 0x13, 0x1D, 0x13, 0x0B, 0x0B, 0x4A, 0x18, 0, 0,  # to member: type, class, size, use location
    6, 0x1F, 0, 0x49, 0x13, 0x1D, 0x13, 0x0B, 0x0B, 0, 0,  # the same without location
    0,
))
HEADER = 12
WORD = b"\x00\x01\x02\x03\x04\x05\x06\x07"


def by_hand(use: bytes, slot: bytes) -> tuple[DebugInfo, int, int, int]:
    """The information, and the offsets of the class, of the pointer with the attribute and of the one without it."""
    data = bytearray(b"\x01hand.hip\0")

    def here() -> int:
        return HEADER + len(data)

    integer = here()
    data.extend(b"\x02int\0\x05\x04")
    structure = here()
    data.extend(b"\x03S\0\x10" + b"\x04f\0\x01" + bytes([len(slot)]) + slot + b"\0")
    pointer = here()
    data.extend(b"\x05" + struct.pack("<II", integer, structure) + b"\x08" + bytes([len(use)]) + use)
    plain = here()
    data.extend(b"\x06" + struct.pack("<II", integer, structure) + b"\x08" + b"\0")
    body = struct.pack("<HBBI", 5, 1, 8, 0) + bytes(data)
    sections = {".debug_info": struct.pack("<I", len(body)) + body, ".debug_abbrev": ABBREVIATIONS}
    return DebugInfo(sections), structure, pointer, plain


def context() -> SimpleContext:
    return SimpleContext(lane=3, registers={2560: bytes(range(256))}, memory={0: {0x1000: WORD}})


# use location, the object, where the member is that a pointer of value 8 points to
USES = [
    ("swap, offset of an object in memory", assemble("swap", "offset"), assemble(("addr", 0x1000)), "mem0 0x1008"),
    ("swap, offset of one in a register", assemble("swap", "offset"), assemble(("regx", 2560)), "reg2560 64"),
    ("plus, as DWARF 5 has it", assemble("plus"), assemble(("addr", 0x1000)), "mem0 0x1008"),
]


def text(place: dwarf.Place) -> str:
    if place.address is not None:
        return f"mem{place.address_space} {place.address:#x}"
    return f"reg{place.register} {place.bit_offset}"


@pytest.mark.parametrize(("use", "of", "expected"), [case[1:] for case in USES], ids=[case[0] for case in USES])
def test_use_location(use: bytes, of: bytes, expected: str) -> None:
    info, _, pointer, plain = by_hand(use, assemble("lit0"))
    type_ = info.type_at(pointer)
    assert isinstance(type_, MemberPointerType) and str(type_) == "int S::*"
    assert type_.use_location == Exprloc(use)
    world = context()
    found = dwarf.evaluate_location(use, world, initial=(8, dwarf.evaluate_location(of, world)))
    assert [text(place) for place in found.places] == [expected]
    without = info.type_at(plain)
    assert isinstance(without, MemberPointerType) and without.use_location is None
    assert without == type_  # the attribute does not make another type


def test_vtable_element() -> None:
    """The slot after the two with which the virtual table of the object in memory begins."""
    slot = assemble("deref", ("plus_uconst", 16))
    info, structure, _, _ = by_hand(assemble("plus"), slot)
    type_ = info.type_at(structure)
    assert isinstance(type_, ClassType)
    (method,) = type_.methods
    assert (method.name, method.virtual) == ("f", True)
    assert method.vtable_elem_location == Exprloc(slot)
    world = context()
    found = dwarf.evaluate_location(slot, world, initial=(dwarf.evaluate_location(assemble(("addr", 0x1000)), world),))
    assert [text(place) for place in found.places] == ["mem0 0x706050403020110"]


@pytest.mark.llvm
def test_vtable_elements_of_clang(opened: Callable[..., DebugInfo]) -> None:
    """clang gives the numbers of slots."""
    (type_,) = opened("virtual.hip", "-O0").types_named("V")
    assert isinstance(type_, ClassType)
    slots = {}
    for method in type_.methods:
        place = method.vtable_elem_location
        assert place is None or isinstance(place, Exprloc)
        slots[method.name] = None if place is None else dwarf.evaluate(place.data, context(), "value", "llvm22")
    values = {name: value.value if isinstance(value, dwarf.Value) else value for name, value in slots.items()}
    assert values == {"f": 0, "g": 1, "plain": None}


# DW_AT_data_member_location, DW_AT_byte_size, DW_AT_bit_size, DW_AT_bit_offset, DW_AT_data_bit_offset of a member of
# type int; its first bit and its number of bits. A space: the member does not have the attribute.
BITS: list[tuple[str, int, int | None]] = [
    ("4", 32, None),
    (" ", 0, None),
    # DWARF 4 and 5: from the beginning of the structure, or of the bytes that are named
    ("  3  37", 37, 3),
    ("4  3  5", 37, 3),
    # DWARF 2 and 3: from the highest bit of the unit of storage, which has the type's size unless the member has one
    ("4  3 29 ", 32, 3),
    ("4  3 0 ", 61, 3),
    ("4 4 3 28 ", 33, 3),
    ("4 2 3 13 ", 32, 3),
    ("4 2 3 0 ", 45, 3),
    ("4 8 3 60 ", 33, 3),
    ("0 1 4 -1 ", 5, 4),  # it goes on in the next byte
    ("4  3  ", 32, 3),
]
CODES = (0x38, 0x0B, 0x0D, 0x0C, 0x6B)


@pytest.mark.parametrize(("written", "first", "count"), BITS, ids=[row[0] for row in BITS])
def test_bits_of_a_member(written: str, first: int, count: int | None) -> None:
    given = [(code, int(text)) for code, text in zip(CODES, written.split(" "), strict=False) if text]
    member = bytes((7, 0x0D, 0, 0x03, 0x08, 0x49, 0x13, *(byte for code, _ in given for byte in (code, 0x0D)), 0, 0))
    data = bytearray(b"\x01hand.hip\0" + b"\x02int\0\x05\x04")
    structure = HEADER + len(data)
    data.extend(b"\x03S\0\x10" + b"\x07m\0" + struct.pack("<I", HEADER + 10))
    data.extend(bytes(number & 0x7F for _, number in given) + b"\0")  # DW_FORM_sdata
    body = struct.pack("<HBBI", 5, 1, 8, 0) + bytes(data) + b"\0"
    sections = {
        ".debug_info": struct.pack("<I", len(body)) + body, ".debug_abbrev": ABBREVIATIONS[:-1] + member + b"\0",
    }
    type_ = DebugInfo(sections).type_at(structure)
    assert isinstance(type_, ClassType)
    assert [(one.name, str(one.type), one.bit_offset, one.bit_size) for one in type_.members] == [
        ("m", "int", first, count)
    ]
