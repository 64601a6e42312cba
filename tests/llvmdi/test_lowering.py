"""The results of lowering lifetimes and places, entry by entry."""

# ruff: noqa: E501  (tables)
from __future__ import annotations

from pathlib import Path

import pytest

from rocdbg import dwarf, llvmdi
from rocdbg.dwarf.context import LocationList
from rocdbg.errors import Error
from rocdbg.llvmdi.module_listing import lowered_lines
from rocdbg.llvmdi.placement import Placement, read_placement
from tests.llvmdi.machine import Machine, by_dwarf, by_llvm

START = "%v = i64 ...\nDBG_DEF !2, i64 %v\nnop\nnop\nDBG_KILL !2\nret void\n"
X = '!1 = !DILocalVariable("x")\n!2 = distinct !DILifetime(object: !1, location: !DIExpr({}))\n'


def lines(text: str, places: dict[str, object], **options: object) -> list[str]:
    placement = Placement(llvmdi.parse_places(places), **options)  # type: ignore[arg-type]
    info = llvmdi.DebugInfo(llvmdi.read_text(text))
    found = lowered_lines(llvmdi.lower(info, placement))
    return [line.strip() for line in found if "DW_TAG_base_type" not in line and "DW_ATE" not in line]


def test_a_value_that_moves() -> None:
    """From a register pair into lanes of a vector register and back: an entry for each place, and none while it has no
    place.
    """
    places = {"%v": [[0, 8, "s[4:5]"], [8, 10, "slot+16"], [12, 99, "s4"]]}
    assert lines(START + X.format("DIOpReferrer(i64)"), places) == [
        "0x00000020: DW_TAG_variable x",
        "DW_AT_location:",
        "[0x4, 0x8): DW_OP_regx 0x24, DW_OP_piece 0x4, DW_OP_regx 0x25, DW_OP_piece 0x4, "
        "DW_OP_LLVM_user DW_OP_LLVM_piece_end",
        "[0x8, 0xa): DW_OP_fbreg +16",
    ]


def test_a_lane_of_a_vector_register() -> None:
    assert lines(START + X.format("DIOpReferrer(i64)"), {"%v": "v40.3"})[2] == (
        "[0x4, 0xc): DW_OP_regx 0xa28, DW_OP_LLVM_user DW_OP_LLVM_offset_uconst 0xc"
    )


_TYPES = {
    "i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "i128": 128, "half": 16, "float": 32, "double": 64,
    "<2 x i32>": 64, "<4 x i16>": 64, "<3 x i32>": 96, "ptr": 64, "ptr addrspace(1)": 64, "ptr addrspace(3)": 32,
    "ptr addrspace(4)": 64, "ptr addrspace(5)": 32, "[3 x i32]": 96,
}
_PLACES = {"v3": 32, "a3": 32, "v[3:4]": 64, "v[3:6]": 128, "s4": 32, "s[4:5]": 64, "v40.3": 61 * 32, "slot+16": 1 << 20}


@pytest.mark.parametrize("type", _TYPES)
def test_a_value_needs_a_place_as_large_as_its_type(type: str) -> None:
    """The bits after the lane's dword of a vector register belong to another lane."""
    text = START.replace("i64", type) + X.format(f"DIOpReferrer({type})")
    for place, room in _PLACES.items():
        lowered = llvmdi.lower(llvmdi.DebugInfo(llvmdi.read_text(text)), Placement(llvmdi.parse_places({"%v": place})))
        fits = lowered.entry("x").content is not None
        assert fits == (_TYPES[type] <= room), place
        if not fits:
            assert f"%v has {_TYPES[type]} bits, but its place has only {room}" in "\n".join(lowered_lines(lowered))


def test_addresses_of_blocks() -> None:
    text = "a:\nnop\nb:\nDBG_DEF !2, i64 %v\nnop\nc:\nret void\n" + X.format("DIOpReferrer(i64)")
    found = lines(text, {"%v": "s[4:5]"}, labels={"a": 0x1000, "b": 0x2000, "c": 0x2010}, step=8)
    assert [line.partition(":")[0] for line in found[2:]] == ["[0x2000, 0x2018)"]


def test_the_address_of_a_slot_as_a_value() -> None:
    text = START.replace("i64", "ptr addrspace(5)") + X.format("DIOpReferrer(ptr addrspace(5))")
    found = lines(text, {"%v": "frame+16"}, frame_shift=6)
    assert found[2] == (
        "[0x4, 0xc): DW_OP_regx 0x41, DW_OP_deref_size 0x4, DW_OP_constu 0x6, DW_OP_shr, DW_OP_consts +16, DW_OP_plus, "
        'DW_OP_convert (0x00000021) "u32", DW_OP_stack_value'
    )


def test_a_computed_segment_is_the_default() -> None:
    text = START + X.format("DIOpReferrer(i64)") + (
        "!3 = distinct !DILifetime(object: !1, location: !DIExpr(DIOpConstant(i64 7)))\n"
    )
    found = lines(text, {"%v": "s[4:5]"})
    assert found[3:] == ["default: DW_OP_implicit_value 0x8 0x07 0x00 0x00 0x00 0x00 0x00 0x00 0x00"]
    info = llvmdi.DebugInfo(llvmdi.read_text(text))
    machine = Machine({"%v": 5}, {"%v": "s[4:5]"})
    function = info.module.functions["@"]
    for index, value in ((0, 7), (2, 5), (3, 5), (5, 7)):
        for found_value in (
            by_llvm(info, machine, info.objects[0], 64, function, index, 0),
            by_dwarf(info, machine, info.objects[0], 64, function, index, 0),
        ):
            assert found_value == (value, (1 << 64) - 1), index


def test_an_address_of_what_no_variable_is() -> None:
    """An artificial procedure represents the target, and two pointers share it."""
    text = "DBG_DEF !4, i64 %v\n" + START + X.format("DIOpReferrer(i64), DIOpRead(), DIOpAddrOf(1)") + (
        "!3 = !DILocalVariable(\"y\")\n"
        "!4 = distinct !DILifetime(object: !3, location: !DIExpr(DIOpReferrer(i64), DIOpRead(), DIOpAddrOf(5)))\n"
    )
    found = lines(text, {"%v": "s[4:5]"})
    assert [line for line in found if "TAG" in line] == [
        "0x00000020: DW_TAG_variable x", "0x00000021: DW_TAG_variable y", "0x00000022: DW_TAG_dwarf_procedure implicit.1",
    ]  # fmt: skip
    assert [line.partition(": ")[2] for line in found if "implicit_pointer" in line] == [
        "DW_OP_implicit_pointer 0x22 +0", "DW_OP_lit5, DW_OP_LLVM_user DW_OP_LLVM_aspace_implicit_pointer 0x22 +0",
    ]  # fmt: skip
    assert found[-1].startswith("DW_AT_location (DW_OP_regx 0x24, DW_OP_piece 0x4")


def test_two_places_at_once_overlap() -> None:
    text = "DBG_DEF !2, i32 $r0\nnop\nDBG_DEF !3, i32 $r1\nnop\nDBG_KILL !2\nnop\n" + X.format("DIOpReferrer(i32)") + (
        "!3 = distinct !DILifetime(object: !1, location: !DIExpr(DIOpReferrer(i32)))\n"
    )
    placement = Placement(llvmdi.parse_places({"$r0": "s0", "$r1": "s1"}))
    content = llvmdi.lower(llvmdi.DebugInfo(llvmdi.read_text(text)), placement).entry("x").content
    assert isinstance(content, LocationList)
    assert [entry[:2] for entry in content] == [(0, 8), (4, 12)]
    context = dwarf.SimpleContext(pc=4, registers={32: bytes([1, 0, 0, 0]), 33: bytes([1, 0, 0, 0])})
    assert dwarf.evaluate_location_list(content, context).describe() == "in 2 places: register s0; register s1"


def test_a_register_that_does_not_exist() -> None:
    with pytest.raises(llvmdi.LoweringError, match="amdgcn has no register 's999'"):
        llvmdi.parse_places({"%v": "s[4:5]", "%w": "s999"})


def test_what_is_not_known() -> None:
    info = llvmdi.DebugInfo(llvmdi.read_text(START + X.format("DIOpReferrer(i64)")))
    assert str(llvmdi.lower(info, Placement({})).entry("x").trouble) == "the place of %v is not known"


def test_what_an_address_leads_to_moves() -> None:
    """The lowered form has a procedure for each place of the value."""
    text = START + X.format("DIOpReferrer(i64), DIOpRead(), DIOpAddrOf(1)")
    found = lines(text, {"%v": [[0, 8, "s[4:5]"], [8, 99, "s[6:7]"]]})
    assert [line for line in found if "implicit_pointer" in line] == [
        "[0x4, 0x8): DW_OP_implicit_pointer 0x21 +0", "[0x8, 0xc): DW_OP_implicit_pointer 0x22 +0",
    ]  # fmt: skip
    assert ["0x24" in line for line in found[-3:]] == [True, False, False]
    assert "0x26" in found[-1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = [", "Invalid value"), ("places = 5", "'places' and 'labels' must be tables"), ("foo = 1", "there is no key 'foo'"),
        ("wave_size = 16", "'architecture' must be a name, and 'wave_size' must be 32 or 64"), ("step = -1", "'step' must be a number"),
        ('[labels]\na = "b"', "the values in 'labels' must be addresses"), ('[places]\n"%x" = 1.5', "1.5 is not a place"),
        ('[places]\n"%x" = [[1, 2]]', "each element of a list of places must have the form"), ('[places]\n"%x" = "s[9:3]"', "is not a range of registers"),
        ('architecture = "foo"\n[places]\n"%x" = "s0"', "architecture 'foo' is not known"),
    ],
)  # fmt: skip
def test_placement_files(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "places.toml"
    file.write_text(text)
    with pytest.raises(Error) as caught:
        read_placement(file)
    assert words in str(caught.value)
