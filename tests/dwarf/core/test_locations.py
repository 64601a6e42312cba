"""Reading and writing through location descriptions (A.2.5.3)."""

from __future__ import annotations

import pytest

from rocdbg import dwarf
from rocdbg.dwarf.operation_assembler import assemble


@pytest.fixture
def ctx() -> dwarf.SimpleContext:
    return dwarf.SimpleContext(
        lane=3,
        registers={40: bytes(4), 41: bytes(4), 2560: bytes(256), 17: (0b1010).to_bytes(8, "little")},
        memory={0: {0x1000: bytes(64)}, 3: {0: bytes(64)}, 6: {0: bytes(64 * 4 * 4)}},
    )


def locate(ctx: dwarf.SimpleContext, *items: object) -> dwarf.LocationDescription:
    result = dwarf.evaluate(assemble(*items), ctx, "location")  # type: ignore[arg-type]
    assert isinstance(result, dwarf.LocationDescription)
    return result


def test_a_struct_spread_over_storage_of_every_kind(ctx: dwarf.SimpleContext) -> None:
    location = locate(
        ctx,
        *(("regx", 40), ("piece", 4)),
        *(("regx", 2560), "push_lane", "lit4", "mul", "offset", ("piece", 4)),
        *("lit8", "lit3", "form_aspace_address", ("piece", 2)),
        *("lit4", "lit5", "form_aspace_address", ("piece", 4)),
        *(("addr", 0x1000), ("bit_piece", 4, 2)),
    )
    value = int.from_bytes(bytes(range(1, 15)), "little") | 0xA << 112
    location.write(value, 116)
    assert location.read(116) == value
    assert ctx.registers[40] == bytes([1, 2, 3, 4])
    assert ctx.registers[2560][12:16] == bytes([5, 6, 7, 8])
    assert ctx.read_memory(3, 8, 2, None) == bytes([9, 10])
    # dword 1 of lane 3 in the wave's view: (1 * 64 + 3) * 4
    assert ctx.read_memory(6, (64 + 3) * 4, 4, None) == bytes([11, 12, 13, 14])
    assert ctx.read_memory(0, 0x1000, 1, None) == bytes([0xA << 2])
    assert location.read(8, 36) == value >> 36 & 0xFF


def test_writing_goes_to_every_place(ctx: dwarf.SimpleContext) -> None:
    ctx.pc = 5
    entries = [(0, 10, assemble(("regx", 40))), (0, 10, assemble(("addr", 0x1000))), (20, 30, assemble(("regx", 41)))]
    location = dwarf.evaluate_location_list(entries, ctx)
    location.write(0x12345678, 32)
    assert (ctx.registers[40], ctx.registers[41]) == (b"\x78\x56\x34\x12", bytes(4))
    assert ctx.read_memory(0, 0x1000, 4, None) == b"\x78\x56\x34\x12"


def test_nothing_is_written_if_a_part_cannot_be(ctx: dwarf.SimpleContext) -> None:
    nowhere = (("addr", 0x9999_0000), ("piece", 4))  # known only when it is tried: the register is written before
    for last in (("lit1", "stack_value", ("piece", 4)), (("piece", 4),), nowhere):
        location = locate(ctx, ("regx", 40), ("piece", 4), *last)
        with pytest.raises(dwarf.EvaluationError):
            location.write(0xFFFFFFFF_FFFFFFFF, 64)
        assert ctx.registers[40] == bytes(4)


def test_a_spilled_vector_register_is_read_and_written_by_lane(ctx: dwarf.SimpleContext) -> None:
    # Lanes 1 and 3 of v0 were spilled to private memory, the others are still in the register.
    location = locate(
        ctx, ("regx", 2560), "lit0", "lit6", "form_aspace_address", ("regx", 17), "deref", ("select_bit_piece", 32, 64)
    )
    location.write(0xAAAA, 32, 32 * 1)
    location.write(0xBBBB, 32, 32 * 2)
    assert ctx.read_memory(6, 4, 4, None) == b"\xaa\xaa\0\0"
    assert ctx.registers[2560][4:12] == b"\0\0\0\0\xbb\xbb\0\0"
    assert location.read_elements(32, 4) == [0, 0xAAAA, 0xBBBB, 0]


def test_a_location_keeps_the_lane_it_was_made_for(ctx: dwarf.SimpleContext) -> None:
    location = locate(ctx, "lit0", "lit5", "form_aspace_address")
    location.write(0x11, 8)
    ctx.lane = 7
    assert location.read(8) == 0x11
    assert locate(ctx, "lit0", "lit5", "form_aspace_address").read(8) == 0


def test_undefined_bits_are_told_from_defined_ones(ctx: dwarf.SimpleContext) -> None:
    location = locate(ctx, ("regx", 40), ("piece", 4), ("piece", 4))
    with pytest.raises(dwarf.UndefinedValue, match="part of the value is undefined"):
        location.read(64)
    assert location.read_known(64) == (0, 0xFFFFFFFF)
    assert location.read(32) == 0


def test_reading_takes_a_place_that_can_be_read(ctx: dwarf.SimpleContext) -> None:
    ctx.pc = 5
    location = dwarf.evaluate_location_list([(0, 10, b""), (0, 10, assemble(("addr", 0x1000)))], ctx)
    assert len(location.places) == 2
    assert location.read(32) == 0


@pytest.mark.parametrize(("bits", "offset"), [(33, 0), (1, 32), (8, 25)])
def test_reading_beyond_the_storage_is_an_error(ctx: dwarf.SimpleContext, bits: int, offset: int) -> None:
    with pytest.raises(dwarf.EvaluationError):
        locate(ctx, ("regx", 40)).read(bits, offset)
    with pytest.raises(dwarf.EvaluationError):
        locate(ctx, ("regx", 40)).write(0, bits, offset)


def test_rbss_is_the_minimum_over_all_places(ctx: dwarf.SimpleContext) -> None:
    ctx.pc = 5
    entries = [(0, 10, assemble(("regx", 40))), (0, 10, assemble(("addr", 0x1000)))]
    assert dwarf.evaluate_location_list(entries, ctx).offset_by(8).remaining == 24


def test_registerised_elements_of_an_array_are_overlaid(ctx: dwarf.SimpleContext) -> None:
    # Element [iteration] of an array in memory is in s8.
    ctx.iteration, ctx.iterations = 2, 4
    location = locate(
        ctx, ("addr", 0x1000), ("regx", 40), "push_iteration", "lit4", "mul", "lit4", "overlay"
    )
    location.write(0x4444_3333_2222_1111, 64, 32)
    assert ctx.registers[40] == b"\x33\x33\x44\x44"
    assert ctx.read_memory(0, 0x1000, 16, None) == bytes(4) + b"\x11\x11\x22\x22" + bytes(8)
    assert location.read(128) == 0x4444_3333_2222_1111 << 32


def test_memory_may_be_given_in_parts() -> None:
    blocks = {0x1004: b"\5\6\7\x08", 0x1000: b"\1\2\3\4", 0x1009: b"\x0a"}
    ctx = dwarf.SimpleContext(memory={0: blocks, 3: blocks})
    location = locate(ctx, ("addr", 0x1000))
    assert location.read(64) == 0x0807_0605_0403_0201
    location.write(0xFFFF, 16, 24)
    assert ctx.read_memory(0, 0x1002, 4, None) == b"\3\xff\xff\6"
    assert ctx.read_memory(3, 0x1002, 4, None) == b"\3\4\5\6"
    with pytest.raises(dwarf.EvaluationError):
        location.read(80)  # there is no byte at 0x1008
