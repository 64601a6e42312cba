"""Every attribute form, in hand-made units: the value, and that skipping it takes the same number of bytes."""

from __future__ import annotations

import pytest

from rocdbg.dwarf.info import (
    Address,
    AttributeValue,
    Block,
    Constant,
    DebugInfo,
    DebugInfoError,
    Exprloc,
    Flag,
    Loclist,
    Reference,
    Rnglist,
    SectionOffset,
    String,
    SupplementaryReference,
    TypeSignature,
)
from rocdbg.dwarf.info.forms import FORMS, sleb, uleb
from rocdbg.dwarf.info.line_header import read_line_header
from rocdbg.dwarf.info.sections import Sections

COMPILE_UNIT, VARIABLE, BASE_TYPE, TYPEDEF, SUBPROGRAM = 0x11, 0x34, 0x24, 0x16, 0x2E
NAME, CONST_VALUE, TYPE, LOCATION, RANGES, STMT_LIST, USER = 0x03, 0x1C, 0x49, 0x02, 0x55, 0x10, 0x2FFF
SPECIFICATION, ENCODING, BYTE_SIZE, LOW_PC, HIGH_PC = 0x47, 0x3E, 0x0B, 0x11, 0x12


def leb(number: int) -> bytes:
    result = bytearray()
    while True:
        byte, number = number & 0x7F, number >> 7
        if number in (0, -1) and (byte & 0x40 == 0) == (number == 0):
            return bytes((*result, byte))
        result.append(byte | 0x80)


def abbreviation(code: int, tag: int, children: bool, *attributes: tuple[int, ...]) -> bytes:
    """One abbreviation; an attribute is (code, form) or (code, form, implicit constant)."""
    body = b"".join(leb_u(at) + leb_u(form) + b"".join(map(leb, rest)) for at, form, *rest in attributes)
    return leb_u(code) + leb_u(tag) + bytes((children,)) + body + b"\0\0"


def leb_u(number: int) -> bytes:
    result = bytearray()
    while number >= 0x80:
        result.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*result, number))


def unit(version: int, body: bytes, *, wide: bool = False, address_size: int = 8) -> bytes:
    """A compile unit with its header; entries start at 12 (32-bit, version 5) or wherever the header ends."""
    offset = bytes(8 if wide else 4)
    if version >= 5:
        rest = version.to_bytes(2, "little") + bytes((1, address_size)) + offset + body
    else:
        rest = version.to_bytes(2, "little") + offset + bytes((address_size,)) + body
    length = len(rest).to_bytes(8 if wide else 4, "little")
    return (b"\xff" * 4 if wide else b"") + length + rest


STRINGS = b"\0zero\0one\0two\0"
INDEX = bytes(8)
TABLES = {
    ".debug_str": STRINGS,
    ".debug_line_str": b"line\0",
    ".debug_str_offsets": INDEX + b"".join(at.to_bytes(4, "little") for at in (1, 6, 10)),
    ".debug_addr": INDEX + b"".join(at.to_bytes(8, "little") for at in (0x1000, 0x2000)),
    ".debug_rnglists": bytes(12) + (8).to_bytes(4, "little") + (9).to_bytes(4, "little"),
    ".debug_loclists": bytes(12) + (8).to_bytes(4, "little") + (9).to_bytes(4, "little"),
}

# form, bytes, attribute, expected (None: not compared by value)
CASES: list[tuple[int, bytes, int, AttributeValue]] = [
    (0x01, (0x1234).to_bytes(8, "little"), USER, Address(0x1234)),
    (0x03, b"\x02\x00ab", CONST_VALUE, Block(b"ab")),
    (0x03, b"\x02\x00ab", LOCATION, Exprloc(b"ab")),
    (0x04, b"\x01\0\0\0a", CONST_VALUE, Block(b"a")),
    (0x05, b"\x34\x12", USER, Constant(0x1234, 2)),
    (0x06, b"\xff\xff\xff\xff", USER, Constant(0xFFFFFFFF, 4)),
    (0x07, b"\x01" + bytes(7), USER, Constant(1, 8)),
    (0x08, b"in line\0", USER, String("in line")),
    (0x09, b"\x03abc", CONST_VALUE, Block(b"abc")),
    (0x0A, b"\x03abc", CONST_VALUE, Block(b"abc")),
    (0x0B, b"\x80", USER, Constant(0x80, 1)),
    (0x0C, b"\x00", USER, Flag(False)),
    (0x0C, b"\x02", USER, Flag(True)),
    (0x0D, b"\x7f", USER, Constant(-1)),
    (0x0E, b"\x06\0\0\0", USER, String("one")),
    (0x0F, b"\xe5\x8e\x26", USER, Constant(624485)),
    (0x10, b"\x0c\0\0\0", USER, Reference(0x0C)),
    (0x11, b"\x0c", USER, Reference(0x0C)),
    (0x12, b"\x0c\0", USER, Reference(0x0C)),
    (0x13, b"\x0c\0\0\0", USER, Reference(0x0C)),
    (0x14, b"\x0c" + bytes(7), USER, Reference(0x0C)),
    (0x15, b"\x8c\x00", USER, Reference(0x0C)),
    (0x16, b"\x0b\x07", USER, Constant(7, 1)),
    (0x17, b"\x10\0\0\0", USER, SectionOffset(0x10)),
    (0x17, b"\x10\0\0\0", RANGES, Rnglist(0x10)),
    (0x18, b"\x02\x91\x04", LOCATION, Exprloc(b"\x91\x04")),
    (0x19, b"", USER, Flag(True)),
    (0x1A, b"\x81\x00", USER, String("one")),
    (0x1B, b"\x01", USER, Address(0x2000)),
    (0x1C, b"\x05\0\0\0", USER, SupplementaryReference(5)),
    (0x1D, b"\x05\0\0\0", USER, SupplementaryReference(5)),
    (0x1E, b"\x01" + bytes(15), USER, Constant(1, 16)),
    (0x1F, b"\0\0\0\0", USER, String("line")),
    (0x20, b"\x08" + bytes(7), USER, TypeSignature(8)),
    (0x23, b"\x01", RANGES, Rnglist(12 + 9)),
    (0x24, b"\x05" + bytes(7), USER, SupplementaryReference(5)),
    (0x25, b"\x02", USER, String("two")),
    (0x26, b"\x02\0", USER, String("two")),
    (0x27, b"\x02\0\0", USER, String("two")),
    (0x28, b"\x02\0\0\0", USER, String("two")),
    (0x29, b"\x01", USER, Address(0x2000)),
    (0x2A, b"\x01\0", USER, Address(0x2000)),
    (0x2B, b"\x01\0\0", USER, Address(0x2000)),
    (0x2C, b"\x01\0\0\0", USER, Address(0x2000)),
    (0x1F01, b"\x00", USER, Address(0x1000)),
    (0x1F02, b"\x00", USER, String("zero")),
    (0x1F20, b"\x05\0\0\0", USER, SupplementaryReference(5)),
    (0x1F21, b"\x05\0\0\0", USER, SupplementaryReference(5)),
    (0x2001, b"\x01\x10\0\0\0", USER, Address(0x2010)),
]


def test_every_form_has_a_case() -> None:
    tested = {case[0] for case in CASES}
    assert set(FORMS) - tested == {0x21, 0x22}, "implicit_const and loclistx have tests of their own"


@pytest.mark.parametrize(
    ("form", "data", "at", "expected"), CASES, ids=[f"{FORMS[case[0]][0]}-{case[3]}" for case in CASES]
)
def test_form(form: int, data: bytes, at: int, expected: AttributeValue) -> None:
    abbrev = abbreviation(1, COMPILE_UNIT, True) + abbreviation(2, VARIABLE, False, (at, form)) + abbreviation(
        3, BASE_TYPE, False, (NAME, 0x08)
    ) + b"\0"
    body = b"\x01" + b"\x02" + data + b"\x03end\0" + b"\0"
    info = DebugInfo({".debug_info": unit(5, body), ".debug_abbrev": abbrev, **TABLES})
    variable, last = info.units[0].top.children
    assert variable.attribute(at) == expected
    assert last.name == "end"
    assert [str(type) for type in info.types_named("end")] == ["end"]  # the skip program went as far


SIZED_BY_UNIT = {
    0x01: lambda version, wide, address: address,
    0x10: lambda version, wide, address: address if version == 2 else wide,
    **dict.fromkeys((0x0E, 0x17, 0x1D, 0x1F, 0x1F20, 0x1F21), lambda version, wide, address: wide),
}
"""Forms whose size depends on the unit: DWARF 5 sections 7.4, 7.5.5, and DWARF 2 section 7.5.4 for references."""


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(("version", "address_size"), [(2, 4), (2, 8), (3, 4), (3, 8), (4, 8), (5, 4), (5, 8)])
def test_sizes_that_depend_on_the_unit(version: int, address_size: int, wide: bool) -> None:
    assert {form for form, (_, shape, _) in FORMS.items() if shape.name in ("ADDRESS", "OFFSET", "REF_ADDR")} == set(
        SIZED_BY_UNIT)
    for form, size_of in SIZED_BY_UNIT.items():
        size = size_of(version, 8 if wide else 4, address_size)
        abbrev = abbreviation(1, COMPILE_UNIT, True) + abbreviation(2, VARIABLE, False, (USER, form)) + abbreviation(
            3, BASE_TYPE, False, (NAME, 0x08)
        ) + b"\0"
        body = b"\1\2" + b"\1".ljust(size, b"\0") + b"\3end\0\0"
        data = unit(version, body, wide=wide, address_size=address_size)
        info = DebugInfo({".debug_info": data, ".debug_abbrev": abbrev, **TABLES})
        assert [die.name for die in info.units[0].top.children] == [None, "end"], FORMS[form][0]
        assert [str(type) for type in info.types_named("end")] == ["end"]  # the skip program went as far


@pytest.mark.parametrize(
    ("form", "data", "expected"),
    [
        (0x1D, b"\x04\0\0\0", String("sup")), (0x1F21, b"\x04\0\0\0", String("sup")),
        (0x1C, b"\x0d\0\0\0", "other"), (0x24, b"\x0d" + bytes(7), "other"), (0x1F20, b"\x0d\0\0\0", "other"),
    ],
)
def test_forms_of_a_supplementary_file(form: int, data: bytes, expected: AttributeValue | str) -> None:
    abbrev = abbreviation(1, COMPILE_UNIT, True) + abbreviation(2, VARIABLE, False, (USER, form)) + b"\0"
    sup_abbrev = abbreviation(1, 0x3C, True) + abbreviation(2, BASE_TYPE, False, (NAME, 0x08), (TYPE, 0x10)) + b"\0"
    sup = {
        ".debug_info": unit(5, b"\x01\x02other\0\x0d\0\0\0\0"), ".debug_abbrev": sup_abbrev,
        ".debug_str": b"\0..\0sup\0",
    }
    info = DebugInfo(
        {".debug_info": unit(5, b"\x01\x02" + data + b"\0"), ".debug_abbrev": abbrev, **TABLES}, supplement=lambda: sup
    )
    variable, = info.units[0].top.children
    if isinstance(expected, str):
        found = variable.reference(USER)
        assert found is not None
        assert found.name == expected
        assert found.reference(TYPE) == found  # DW_FORM_ref_addr there counts from the beginning of its own section
    else:
        assert variable.attribute(USER) == expected


def test_implicit_const_and_loclistx() -> None:
    abbrev = abbreviation(1, COMPILE_UNIT, True) + abbreviation(
        2, VARIABLE, False, (USER, 0x21, -300), (LOCATION, 0x22)
    ) + b"\0"
    info = DebugInfo({".debug_info": unit(5, b"\x01\x02\x01\0"), ".debug_abbrev": abbrev, **TABLES})
    variable, = info.units[0].top.children
    assert variable.attribute(USER) == Constant(-300)
    location = variable.attribute(LOCATION)
    assert isinstance(location, Loclist)
    assert (location.section_name, location.offset) == (".debug_loclists", 12 + 9)


@pytest.mark.parametrize(("version", "wide", "first"), [
    (2, False, 11), (3, False, 11), (4, False, 11), (5, False, 12), (4, True, 23), (5, True, 24),
])
def test_headers(version: int, wide: bool, first: int) -> None:
    abbrev = abbreviation(1, COMPILE_UNIT, False, (NAME, 0x08)) + b"\0"
    data = unit(version, b"\x01a\0", wide=wide)
    info = DebugInfo({".debug_info": data + data, ".debug_abbrev": abbrev})
    assert [(found.version, found.name, found.offset_size) for found in info.units] == [
        (version, "a", 8 if wide else 4)
    ] * 2
    assert info.units[0].first == first
    assert info.units[1].offset == len(data)


def test_old_offsets_without_a_form_of_their_own() -> None:
    abbrev = abbreviation(1, COMPILE_UNIT, False, (RANGES, 0x06), (LOCATION, 0x06), (USER, 0x06)) + b"\0"
    sections = {".debug_info": unit(3, b"\x01" + b"\x10\0\0\0" * 3), ".debug_abbrev": abbrev}
    top = DebugInfo(sections).units[0].top
    assert top.attribute(RANGES) == Rnglist(0x10)
    assert isinstance(top.attribute(LOCATION), Loclist)
    assert top.attribute(USER) == Constant(0x10, 4)


def test_type_units_of_dwarf_4() -> None:
    abbrev = (
        abbreviation(1, COMPILE_UNIT, True)
        + abbreviation(2, VARIABLE, False, (NAME, 0x08), (TYPE, 0x20))
        + abbreviation(3, 0x41, True)
        + abbreviation(4, 0x13, False, (NAME, 0x08), (BYTE_SIZE, 0x0B))
        + b"\0"
    )
    signature = (0x1122334455667788).to_bytes(8, "little")
    rest = b"\x04\0" + bytes(4) + b"\x08" + signature + (24).to_bytes(4, "little") + b"\x03\x04S\0\x08\0"
    info = DebugInfo({
        ".debug_info": unit(4, b"\x01\x02v\0" + signature + b"\0"), ".debug_abbrev": abbrev,
        ".debug_types": len(rest).to_bytes(4, "little") + rest,
    })
    variable, = info.variables_named("v")
    assert str(variable.type) == "S" and variable.type.size == 8
    assert [found.is_type_unit for found in info.units] == [False, True]


CHAINS = [
    pytest.param(abbreviation(2, VARIABLE, False, (SPECIFICATION, 0x13)), b"\x02\x0d\0\0\0", "does not end",
                 id="specification of itself"),
    pytest.param(abbreviation(2, VARIABLE, False, (NAME, 0x08), (TYPE, 0x13)), b"\x02v\0\x0d\0\0\0",
                 "used as a type", id="variable as type"),
    pytest.param(abbreviation(2, TYPEDEF, False, (NAME, 0x08), (TYPE, 0x13)), b"\x02t\0\x0d\0\0\0",
                 "in terms of itself", id="typedef of itself"),
    pytest.param(abbreviation(2, VARIABLE, False, (NAME, 0x08), (TYPE, 0x13)), b"\x02v\0\xff\0\0\0",
                 "leads outside", id="reference outside the unit"),
    pytest.param(abbreviation(2, VARIABLE, False, (NAME, 0x0E)), b"\x02\xff\0\0\0", "no string at this offset",
                 id="string outside its section"),
]


@pytest.mark.parametrize(("abbrev", "entry", "reason"), CHAINS)
def test_chains_end(abbrev: bytes, entry: bytes, reason: str) -> None:
    info = DebugInfo({
        ".debug_info": unit(5, b"\x01" + entry + b"\0"),
        ".debug_abbrev": abbreviation(1, COMPILE_UNIT, True) + abbrev + b"\0",
    })
    with pytest.raises(DebugInfoError, match=reason):
        _ = [str(variable.type) for variable in info.variables_named("v")]
        _ = info.types_named("t")
        _ = info.global_variables_matching()


def test_endless_leb_is_an_error() -> None:
    for read in (uleb, sleb):
        with pytest.raises(IndexError):
            read(b"\xff" * 1000, 0)
        with pytest.raises(IndexError):
            read(b"\xff", 0)
    assert sleb(b"\x80\x7f", 0) == (-128, 2)
    assert uleb(b"\x80\x01", 0) == (128, 2)


AUGMENTATION = 0x3E09
DIALECTS = [
    pytest.param("", b"\xe1", "llvm22", id="no augmentation"),
    pytest.param("[amdgpu:v0.0]", b"\x30", "amd", id="nothing to tell by"),
    pytest.param("[amdgpu:v0.0]", b"\x30\x35\xe9\x02", "amd", id="prefixed form_aspace_address"),
    pytest.param("[amdgpu:v0.0]", b"\x30\x35\xe1", "proposal2020", id="form_aspace_address of one byte"),
    pytest.param("[other:v1][amdgpu:v0.0]", b"\xe2", "proposal2020", id="among other vendors"),
]

LANE_PC = 0x3E0B


@pytest.mark.parametrize(("expression", "dialect"), [(b"\xe7", "proposal2020"), (b"\xe9\x08", "llvm22")])
def test_dialect_of_a_unit_with_lane_pcs_that_is_silent_about_it(expression: bytes, dialect: str) -> None:
    abbrev = abbreviation(1, COMPILE_UNIT, True) + abbreviation(2, VARIABLE, False, (LANE_PC, 0x18)) + b"\0"
    body = b"\x01\x02" + leb_u(len(expression)) + expression + b"\0"
    found, = DebugInfo({".debug_info": unit(5, body), ".debug_abbrev": abbrev}).units
    assert found.dialect == dialect


def test_parents_in_a_unit_whose_entries_are_all_of_unknown_tags() -> None:
    abbrev = abbreviation(1, 0x7FF1, True) + abbreviation(2, 0x7FF2, True) + b"\0"
    found, = DebugInfo({".debug_info": unit(5, b"\x01\x02\x02\0\0\0"), ".debug_abbrev": abbrev}).units
    top = found.die(12)
    outer, = top.children
    inner, = outer.children
    assert [die.parent and die.parent.offset for die in (inner, outer, top)] == [outer.offset, top.offset, None]


@pytest.mark.parametrize(("augmentation", "expression", "dialect"), DIALECTS)
def test_dialect(augmentation: str, expression: bytes, dialect: str) -> None:
    abbrev = abbreviation(1, COMPILE_UNIT, True, (AUGMENTATION, 0x08)) + abbreviation(
        2, VARIABLE, False, (LOCATION, 0x18)
    ) + b"\0"
    body = b"\x01" + augmentation.encode() + b"\0\x02" + leb_u(len(expression)) + expression + b"\0"
    found, = DebugInfo({".debug_info": unit(5, body), ".debug_abbrev": abbrev}).units
    assert (found.augmentation, found.dialect) == (augmentation, dialect)


def test_paths_of_a_supplementary_file() -> None:
    formats = bytes((1, 1, 0x1D, 1)) + (4).to_bytes(4, "little") + bytes((1, 1, 0x1D, 1)) + (8).to_bytes(4, "little")
    rest = bytes((4, 1, 1, 0xFB, 14, 1)) + formats
    header = b"\x05\0\x08\0" + len(rest).to_bytes(4, "little") + rest
    line = len(header).to_bytes(4, "little") + header
    sections = Sections({".debug_line": line}, lambda: {".debug_str": b"\0..\0sup\0main.c\0"})
    (file,) = read_line_header(sections, 0, 8, "/elsewhere").files
    assert (file.name, file.directory) == ("main.c", "sup")
    with pytest.raises(DebugInfoError, match="DW_FORM_strp_sup is not supported as the form of a path"):
        read_line_header(Sections({".debug_line": line}), 0, 8, "/elsewhere")
