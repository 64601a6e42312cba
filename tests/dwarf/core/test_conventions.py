"""Conventions of producers: which part of a location holds an object, how to reach a base, how to name a space."""

from __future__ import annotations

import pytest

from rocdbg import dwarf
from rocdbg.dwarf.conventions import UpstreamClang, conventions_of
from rocdbg.dwarf.location import LocationDescription
from rocdbg.dwarf.operation_assembler import Item, assemble

CONTEXT = dwarf.SimpleContext(lane=3, registers={17: b"\xff" * 8, 2560: bytes(range(256))}, memory={0: {64: bytes(16)}})


def located(*items: Item) -> LocationDescription:
    return dwarf.evaluate_location(assemble(*items), CONTEXT)


def test_who_follows_the_text_is_taken_at_their_word() -> None:
    conventions = conventions_of("proposal2020")
    data = assemble(("bregx", 65, 0), "lit5", "swap", "xderef")
    assert conventions.dialect == "proposal2020"
    assert conventions.location(data, "gfx90a", 64) == conventions.frame_base(data, "gfx90a", 64) == data
    assert conventions.member(data) == data
    place = located(("regx", 2560))
    assert conventions.extent(place, 8) is place
    operations = dwarf.decode(data)
    assert conventions.without_space(operations) is operations


def test_upstream_clang_is_put_into_clean_form() -> None:
    upstream = conventions_of("llvm22")
    assert isinstance(upstream, UpstreamClang)
    assert upstream.dialect == "amd"
    stack_pointer = assemble(("regx", 64))
    assert upstream.location(stack_pointer, "gfx90a", 64) == stack_pointer
    assert upstream.frame_base(stack_pointer, "gfx90a", 64) == assemble(
        ("regx", 64), ("deref_size", 4), "lit6", "shr", "lit5", "form_aspace_address"
    )


LANE = (("regx", 2560), "push_lane", "lit4", "mul", "offset")
EXTENTS = [
    # location, bytes of the object, bits of it that are there
    pytest.param(LANE, 4, 32, id="a lane's dword"),
    pytest.param(LANE, 8, 32, id="the next dword is another lane's"),
    pytest.param((*LANE, "lit16", "bit_offset"), 4, 16, id="the upper half of a dword"),
    pytest.param((("regx", 17),), 8, 64, id="EXEC"),
    pytest.param((("regx", 17),), 12, 64, id="more than EXEC"),
    pytest.param((("addr", 64),), 16, 128, id="memory has no end"),
]


@pytest.mark.parametrize(("items", "size", "known"), EXTENTS)
def test_what_goes_beyond_a_register_is_not_there(items: tuple[Item, ...], size: int, known: int) -> None:
    place = conventions_of("llvm22").extent(located(*items), size)
    _, defined = place.read_known(8 * size)
    assert defined == (1 << known) - 1


def test_a_virtual_base_is_an_offset_from_the_object() -> None:
    start: tuple[Item, ...] = ("dup", "deref", ("constu", 24), "minus", "deref")
    upstream = conventions_of("llvm22")
    assert upstream.member(assemble(*start, "plus")) == assemble(*start, "offset")
    assert upstream.member(assemble(("plus_uconst", 8))) == assemble(("plus_uconst", 8))


@pytest.mark.parametrize(
    ("items", "kept"),
    [
        ((("bregx", 2560, 0), "lit5", "swap", "xderef"), 1),
        ((("fbreg", 4), "lit1", "swap", "xderef"), 1),
        ((("fbreg", 4),), 1),
        (("lit1", "swap", "xderef"), 3),
        ((("fbreg", 4), "lit1", "swap", "xderef", "stack_value"), 5),
    ],
)
def test_operations_that_only_name_a_space(items: tuple[Item, ...], kept: int) -> None:
    operations = dwarf.decode(assemble(*items))
    assert list(conventions_of("llvm22").without_space(operations)) == operations[:kept]


OBJECT, GENERIC = "push_object_address", ("lit1", "form_aspace_address")
PROPERTIES: list[tuple[bool, tuple[Item, ...], tuple[Item, ...]]] = [
    # whether it gives a location, as written, as meant
    (True, (OBJECT, "deref"), (OBJECT, "deref", *GENERIC)),
    (True, (OBJECT, ("plus_uconst", 8)), (OBJECT, ("offset_uconst", 8))),
    (False, (OBJECT, ("plus_uconst", 8), "deref"), (OBJECT, ("offset_uconst", 8), "deref")),
    (False, (OBJECT, "deref", ("plus_uconst", 8), ("deref_size", 4)), (
        OBJECT, "deref", ("plus_uconst", 8), *GENERIC, ("deref_size", 4)
    )),
    # a dimension of an array of assumed rank: its number is on the stack
    (False, (OBJECT, "over", ("constu", 24), "mul", ("plus_uconst", 32), "plus", "deref"), (
        OBJECT, "over", ("constu", 24), "mul", ("plus_uconst", 32), "offset", "deref"
    )),
    (False, ("lit8", OBJECT, "plus", "deref"), ("lit8", OBJECT, "swap", "offset", "deref")),
    (False, (OBJECT, "lit8", "minus", "deref"), (OBJECT, "lit8", "neg", "offset", "deref")),
    (False, (OBJECT, "dup", "deref", "swap", "drop"), (OBJECT, "dup", "deref", "swap", "drop")),
    (False, (OBJECT, "lit1", "and"), (OBJECT, "lit1", "and")),  # not known what that is
    (True, (("constu", 64), "deref"), (("constu", 64), "deref")),  # not about the object
]


@pytest.mark.parametrize(("is_location", "written", "meant"), PROPERTIES)
def test_compilers_add_to_an_objects_address(
    is_location: bool, written: tuple[Item, ...], meant: tuple[Item, ...]
) -> None:
    data = assemble(*written)
    assert dwarf.format_expression(conventions_of("llvm22").property(data, is_location)) == dwarf.format_expression(
        assemble(*meant)
    )
    assert conventions_of("amd").property(data, is_location) == data


PRODUCERS = [
    # dialect, producer, DW_AT_address_class, the address space that is meant
    ("llvm22", "clang version 22.1.8", {1: 1, 3: 3, 5: 5}),
    ("llvm22", "Debian clang version 19.1.7 (3~deb12u1)", {1: 5, 2: 3, 0: 0}),
    ("llvm22", "Ubuntu clang version 14.0.0-1ubuntu1", {1: 5, 2: 3}),
    ("llvm22", "AMD clang version 20.0.0git (https://github.com/x/y roc-7.0.2)", {3: 3, 5: 5}),
    ("llvm22", "", {1: 1, 3: 3, 5: 5}),
    ("amd", "clang version 15.0.0", {1: 1, 3: 3, 5: 5}),
    ("proposal2020", "", {0: 1, 1: 0, 2: 0, 3: 3, 4: 5, 0x8000: 2, 77: 0}),
]


@pytest.mark.parametrize(("dialect", "producer", "spaces"), PRODUCERS)
def test_classes_of_addresses_are_those_of_the_producer(dialect: str, producer: str, spaces: dict[int, int]) -> None:
    conventions = conventions_of(dialect, producer)
    assert {number: conventions.address_space(number) for number in spaces} == spaces


BARE = (("regx", 2560),)
WITH_PIECES = (("regx", 2560), ("piece", 4), ("regx", 2561), ("piece", 4))
NOT_BARE = (("regx", 2560), ("deref_size", 4), "stack_value")
AMD = "AMD clang version 20.0.0git (roc-7.0.2)"
IN_LANE = [
    ("llvm22", AMD, BARE, LANE),
    ("amd", AMD, BARE, LANE),
    ("amd", AMD, (("regx", 33),), (("regx", 33),)),
    ("amd", AMD, NOT_BARE, NOT_BARE),
    ("amd", AMD, WITH_PIECES, (*LANE, ("piece", 4), ("regx", 2561), *LANE[1:], ("piece", 4))),
    ("llvm22", AMD, WITH_PIECES, (*LANE, ("piece", 4), ("regx", 2561), *LANE[1:], ("piece", 4))),
    ("amd", "hand", BARE, BARE),  # by the specification: lane 0's
]


@pytest.mark.parametrize(("dialect", "producer", "written", "meant"), IN_LANE)
def test_compilers_mean_the_lane_of_a_bare_vector_register(
    dialect: str, producer: str, written: tuple[Item, ...], meant: tuple[Item, ...]
) -> None:
    assert conventions_of(dialect, producer).location(assemble(*written), "gfx90a", 64) == assemble(*meant)


@pytest.mark.parametrize(("producer", "space"), [
    ("clang version 14.0.6", 3), ("Debian clang version 19.1.7", 3), ("clang version 22.1.8", 2), ("", 2),
    ("AMD clang version 17.0.0", 2),
])
def test_local_memory_has_its_old_number_up_to_clang_21(producer: str, space: int) -> None:
    upstream = conventions_of("llvm22", producer)
    for first in (("addr", 0x40), ("addrx", 3)):
        found = upstream.location(assemble(first, "lit2", "swap", "xderef"), "gfx90a", 64)
        assert found == assemble(first, f"lit{space}", "form_aspace_address")
    plain = assemble(("addr", 0x40))
    assert upstream.location(plain + assemble("lit1", "swap", "xderef"), "gfx90a", 64) == plain
