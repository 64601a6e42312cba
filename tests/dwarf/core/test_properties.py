"""Properties that hold for any input: totality, limits, and the algebra of reading and writing."""

# ruff: noqa: E501  (one case, one line)
from __future__ import annotations

import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocdbg import dwarf
from rocdbg.dwarf.operation_assembler import assemble, encode_operation, uleb128
from rocdbg.dwarf.operation_table import DIALECTS, Operand, OperationInfo
from tests.breadth import EVERYTHING

pytestmark = pytest.mark.truth
BRIEF = settings(max_examples=300 if EVERYTHING else 100)

DIES = {
    0x10: dwarf.BaseType("u8", "DW_ATE_unsigned", 8),
    0x11: dwarf.BaseType("s64", "DW_ATE_signed", 64),
    0x12: dwarf.BaseType("f32", "DW_ATE_float", 32),
    0x13: dwarf.BaseType("v4", "DW_ATE_signed", 16, 4),
    0x14: assemble(("addr", 0x1000)),
    0x15: dwarf.ConstValue(b"abcd"),
    0x16: assemble(("call4", 0x16)),
    0x17: dwarf.LocationList([(0, 0x2000, assemble(("regx", 40))), (0, 0x2000, assemble(("call4", 0x17)))]),
    0x18: assemble(("implicit_pointer", 0x18, 1), "deref"),
    0x19: None,
    0x1A: dwarf.BaseType("huge", "DW_ATE_unsigned", 1 << 40),
    0x1B: dwarf.BaseType("f80", "DW_ATE_float", 80),
    0x1C: dwarf.BaseType("f128", "DW_ATE_float", 128),
}


def context() -> dwarf.SimpleContext:
    registers = {16: bytes(8), 17: b"\xaa" * 8, 40: b"\1\2\3\4", 41: bytes(4), 2560: bytes(range(256))}
    ctx = dwarf.SimpleContext(
        lane=2,
        iteration=0,
        pc=0x1010,
        registers=registers,
        memory={0: {0: bytes(0x2000)}, 3: {0: bytes(64)}, 6: {0: bytes(4096)}},
        entry_registers={40: b"\5\6\7\x08"},
        frame_base=assemble(("fbreg", 0)),
        debug_addr=[0, 0x1000],
        dies=DIES,
    )
    ctx.object = dwarf.evaluate(assemble(("addr", 0x1000)), ctx)  # type: ignore[assignment]
    ctx.cfa = ctx.object
    return ctx


def operands(info: OperationInfo) -> st.SearchStrategy[bytes]:
    small = st.integers(0, 70)
    by_kind: dict[Operand, st.SearchStrategy[int | bytes]] = {
        Operand.REGISTER: st.sampled_from([16, 17, 40, 41, 2560, 5]),
        Operand.BASE_TYPE: st.sampled_from([0, *DIES]),
        Operand.UNIT_DIE2: st.sampled_from([*DIES]),
        Operand.UNIT_DIE4: st.sampled_from([*DIES]),
        Operand.SECTION_DIE: st.sampled_from([*DIES]),
        Operand.BRANCH: st.integers(-20, 20),
        Operand.BLOCK: st.binary(max_size=9),
        Operand.BLOCK1: st.binary(max_size=9),
        Operand.EXPRESSION: st.sampled_from([b"", b"\x90\x28", b"\x35", b"\xa3\x01\x30"]),
        Operand.SLEB: st.integers(-70, 70) | st.integers(),
        Operand.ULEB: small | st.integers(0, 1 << 70),
        Operand.S1: st.integers(-128, 127),
        Operand.S2: st.integers(-5, 5),
        Operand.S4: st.integers(-5, 5),
        Operand.S8: st.integers(-5, 5),
        Operand.U1: st.integers(0, 16),
    }
    parts = [by_kind.get(kind, small) for kind in info.operands]
    return st.tuples(*parts).map(lambda values: encode_operation(info, values))


AMD = [row for row in dwarf.OPERATIONS if "amd" in row.dialects]
PROGRAMS = st.lists(st.sampled_from(AMD).flatmap(operands), max_size=25).map(b"".join)


@BRIEF
@given(st.binary(max_size=60), st.sampled_from(DIALECTS))
def test_decoding_and_printing_are_total(data: bytes, dialect: str) -> None:
    try:
        operations = dwarf.decode(data, dialect=dialect)
    except dwarf.DecodeError as error:
        assert error.offset is not None
        assert error.offset < len(data)
    else:
        assert sum(operation.size for operation in operations) == len(data)
    assert dwarf.format_expression(data, dialect=dialect)


@BRIEF
@given(PROGRAMS | st.binary(max_size=60), st.sampled_from([None, "value", "location"]))
def test_evaluation_ends_with_a_result_or_one_of_the_two_errors(data: bytes, kind: str | None) -> None:
    start = time.process_time()
    try:
        result = dwarf.evaluate(data, context(), kind)  # type: ignore[arg-type]
        if isinstance(result, dwarf.LocationDescription):
            assert result.describe()
            result.read(64)
    except (dwarf.IllFormed, dwarf.EvaluationError) as error:
        assert str(error)
    assert time.process_time() - start < 20


@BRIEF
@given(st.binary(max_size=80), st.integers(0x0FF0, 0x1110))
def test_any_call_frame_program_ends(program: bytes, pc: int) -> None:
    cie = b"\xff\xff\xff\xff\x04[amd:v0.0]\0\x08\0\x04\x04\x10"
    cie = len(cie).to_bytes(4, "little") + cie
    body = bytes(4) + (0x1000).to_bytes(8, "little") + (0x100).to_bytes(8, "little") + program
    try:
        table = dwarf.parse_frames(cie + len(body).to_bytes(4, "little") + body)
        row = table.row(pc)
        if row is not None:
            for number in row.rules:
                with suppress(dwarf.IllFormed, dwarf.EvaluationError):
                    row.register_location(number, context())
            row.cfa_location(context())
    except (dwarf.IllFormed, dwarf.EvaluationError):
        pass


@BRIEF
@given(st.binary(max_size=200), st.booleans())
def test_any_section_is_call_frame_information_or_an_error(section: bytes, eh_frame: bool) -> None:
    try:
        dwarf.parse_frames(section, eh_frame=eh_frame)
    except dwarf.DecodeError as error:
        assert error.offset is not None


@BRIEF
@given(st.binary(max_size=80), st.sampled_from([4, 5]))
def test_any_section_is_a_location_list_or_an_error(section: bytes, version: int) -> None:
    with suppress(dwarf.IllFormed):
        dwarf.parse_location_list(section, 0, version=version, debug_addr=[1, 2, 3])


@BRIEF
@given(st.lists(st.sampled_from(AMD).flatmap(operands), max_size=8).map(b"".join))
def test_normalisation_is_total_for_expressions_and_changes_clean_ones_no_more(data: bytes) -> None:
    try:
        clean = dwarf.normalise(data, target="gfx90a", frame_base=False)
    except dwarf.DwarfError:
        return
    dwarf.decode(clean)


PARTS = st.sampled_from(
    [
        (("regx", 40),),
        (("regx", 2560), "lit9", "offset"),
        (("addr", 0x1003),),
        ("lit3", "lit3", "form_aspace_address"),
        ("lit6", "lit5", "form_aspace_address"),
    ]
)


@BRIEF
@given(
    st.lists(st.tuples(PARTS, st.integers(1, 20), st.integers(0, 11)), min_size=1, max_size=6, unique_by=lambda p: p[0]),
    st.integers(0),
    st.data(),
)
def test_what_is_written_is_read_and_nothing_else_changes(
    parts: list[tuple[tuple[object, ...], int, int]], value: int, data: st.DataObject
) -> None:
    ctx = context()
    items = [item for part, bits, first in parts for item in (*part, ("bit_piece", bits, first))]
    location = dwarf.evaluate(assemble(*items), ctx, "location")  # type: ignore[arg-type]
    assert isinstance(location, dwarf.LocationDescription)
    size = sum(bits for _, bits, _ in parts)
    before = location.read(size)
    first = data.draw(st.integers(0, size - 1))
    bits = data.draw(st.integers(0, size - first))
    location.write(value, bits, first)
    mask = (1 << bits) - 1 << first
    assert location.read(size) == before & ~mask | value << first & mask


@BRIEF
@given(st.integers(0, (1 << 64) - 1), st.integers(1, 33), st.data())
def test_a_masked_selection_equals_its_parts_taken_one_by_one(mask: int, bits: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, min(64, 2048 // bits)))
    ctx = context()
    zero, one = ("regx", 2560), ("addr", 0x800)
    whole = dwarf.evaluate(
        assemble(zero, one, ("constu", mask), ("select_bit_piece", bits, count)), ctx, "location"
    )
    assert isinstance(whole, dwarf.LocationDescription)
    sources = [dwarf.evaluate(assemble(item), ctx, "location") for item in (zero, one)]
    expected = 0
    for lane in range(count):
        source = sources[mask >> lane & 1]
        assert isinstance(source, dwarf.LocationDescription)
        expected |= source.read(bits, lane * bits) << lane * bits
    assert whole.read(bits * count) == expected
    first = data.draw(st.integers(0, bits * count - 1))
    length = data.draw(st.integers(0, bits * count - first))
    assert whole.read(length, first) == expected >> first & (1 << length) - 1


def nested_entry_values(count: int) -> bytes:
    data = b"\x30"
    for _ in range(count):
        data = b"\xa3" + uleb128(len(data)) + data
    return data


HOSTILE: list[tuple[str, bytes]] = [
    ("endless loop", assemble("nop", ("skip", -4))),
    ("growing stack", assemble("lit1", "dup", ("skip", -4))),
    ("calls itself", assemble(("call4", 0x16))),
    ("location list that calls itself", assemble(("call4", 0x17))),
    ("implicit pointer to itself", assemble(("call4", 0x18), "deref")),
    ("frame base that needs itself", assemble(("fbreg", 0))),
    ("nested composites", assemble(("regx", 40), *[("extend", 32, 1)] * 1000)),
    ("doubling composites", assemble(("regx", 40), *["dup", "lit2", "lit2", "overlay"] * 40)),
    (
        "doubling selections",
        assemble(("regx", 40), *["dup", "lit1", ("select_bit_piece", 8, 4)] * 200, ("deref_size", 4)),
    ),
    (
        "sums of numbers of far exponents",
        assemble(
            ("const_type", 0x1C, b"\1" * 14 + b"\xfe\x7f"), ("const_type", 0x1C, b"\1" * 14 + b"\1\0"),
            *["over", "over", "plus", "drop"] * 1000,
        ),
    ),
    ("huge base type", assemble(("regval_type", 40, 0x1A))),
    ("huge composite", assemble(("piece", 1 << 200))),
    ("long expression", b"\x96" * 100_000 + assemble(("skip", -3))),
    ("entry value of entry value", nested_entry_values(200)),
]


@pytest.mark.parametrize(("name", "data"), HOSTILE, ids=[row[0] for row in HOSTILE])
def test_hostile_expressions_end_soon(name: str, data: bytes) -> None:
    start = time.process_time()
    with pytest.raises((dwarf.IllFormed, dwarf.EvaluationError)):
        dwarf.evaluate(data, context())
    assert time.process_time() - start < 20


HUGE = 1 << 20_000  # more digits than Python turns into decimal text


@pytest.mark.parametrize("items", [
    (("piece", HUGE),), (("regx", HUGE),), (("regx", 40), ("bit_piece", HUGE, HUGE)), (("regx", 40), ("extend", HUGE, HUGE)),
    (("lit5", "regx", HUGE)[1:],), (("addrx", HUGE),), (("fbreg", -HUGE),), (("const_type", HUGE, b""),), (("lit1"), ("convert", HUGE)),
    (("addr", 0), ("offset_uconst", HUGE)), ("lit1", ("aspace_bregx", 40, -HUGE)), (("implicit_pointer", 0x14, HUGE), "deref", "deref"),
])
def test_numbers_of_any_length_end_in_errors_and_can_be_shown(items: tuple[object, ...]) -> None:
    data = assemble(*items)  # type: ignore[arg-type]
    assert dwarf.format_expression(data)
    with pytest.raises((dwarf.IllFormed, dwarf.EvaluationError)) as caught:
        dwarf.evaluate(data, context())
    assert len(str(caught.value)) < 6000
    assert dwarf.explain(data, context()).error is not None
    for section in (b"\x9e" + uleb128(HUGE), b"\x9e" + uleb128(1 << 70)):
        with pytest.raises(dwarf.DecodeError):
            dwarf.decode(section)


def test_constants_of_any_length_are_cut_to_the_generic_type() -> None:
    assert dwarf.evaluate(assemble(("constu", HUGE + 5)), context()) == dwarf.Value(None, 5)
    assert dwarf.evaluate(assemble("lit1", ("plus_uconst", HUGE + 5)), context()) == dwarf.Value(None, 6)
    assert dwarf.format_expression(assemble(("consts", -HUGE))).startswith("DW_OP_consts -0x1000")
