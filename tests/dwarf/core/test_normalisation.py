"""Upstream clang's location expressions in clean form."""

# ruff: noqa: E501  (one case, one line)
from __future__ import annotations

from collections.abc import Callable

import pytest

from rocdbg import dwarf
from rocdbg.dwarf.conventions import UpstreamClang, conventions_of
from rocdbg.dwarf.operation_assembler import assemble

PRIVATE = ("lit5", "swap", "xderef")
HIP = ("lit1", "swap", "xderef")
LANE = ("push_lane", "lit4", "mul", "offset")

CASES: list[tuple[str, str, tuple[object, ...], tuple[object, ...]]] = [
    # target, what it is, upstream's expression, the clean one
    ("gfx90a", "frame base, buffered scratch", (("regx", 65),), (("regx", 65), ("deref_size", 4), "lit6", "shr", "lit5", "form_aspace_address")),
    ("gfx1030", "the same, wave32", (("regx", 64),), (("regx", 64), ("deref_size", 4), "lit5", "shr", "lit5", "form_aspace_address")),
    ("gfx9-generic", "the same, generic target", (("regx", 65),), (("regx", 65), ("deref_size", 4), "lit6", "shr", "lit5", "form_aspace_address")),
    ("gfx942:xnack-", "frame base, flat scratch", (("regx", 65),), (("regx", 65), ("deref_size", 4), "lit5", "form_aspace_address")),
    ("gfx1100", "frame base, flat scratch", (("regx", 64),), (("regx", 64), ("deref_size", 4), "lit5", "form_aspace_address")),
    ("gfx11-generic", "frame base, flat scratch", (("regx", 64),), (("regx", 64), ("deref_size", 4), "lit5", "form_aspace_address")),
    ("gfx90a", "stack variable, OpenCL", (("fbreg", 8), *PRIVATE), (("fbreg", 8),)),
    ("gfx90a", "stack variable, HIP", (("fbreg", -8), *HIP), (("fbreg", -8),)),
    ("gfx90a", "byref parameter", (("fbreg", 8), "deref", *HIP), (("fbreg", 8), ("deref_size", 4), "lit5", "form_aspace_address")),
    ("gfx90a", "part of a stack variable", (("fbreg", 8), ("plus_uconst", 4), *HIP), (("fbreg", 8), ("offset_uconst", 4))),
    ("gfx90a", "in a vector register", (("bregx", 2560, 0), *PRIVATE), (("regx", 2560), *LANE)),
    ("gfx1100", "in a wave32 vector register", (("bregx", 1536, 0), *HIP), (("regx", 1536), *LANE)),
    ("gfx1250", "in a high vector register", (("bregx", 3600, 0), *HIP), (("regx", 3600), *LANE)),
    ("gfx90a", "EXEC, computed with", (("bregx", 17, 0), *HIP, "stack_value"), (("regx", 17), "deref", "stack_value")),
    ("gfx90a", "in a scalar register", (("bregx", 36, 0), *HIP), (("regx", 36),)),
    ("gfx90a", "a constant", (("consts", -3), *PRIVATE, "stack_value"), (("consts", -3), "stack_value")),
    ("gfx90a", "computed", (("bregx", 2560, 0), ("convert", 0x27), ("plus_uconst", 1), *HIP, "stack_value"), (("regx", 2560), *LANE, ("deref_size", 4), ("convert", 0x27), ("plus_uconst", 1), "stack_value")),
    ("gfx90a", "computed with a displacement", (("bregx", 36, -2), *HIP, "stack_value"), (("regx", 36), ("deref_size", 4), ("consts", -2), "plus", "stack_value")),
    ("gfx90a", "in two registers", (("bregx", 2560, 0), *HIP, ("piece", 4), ("bregx", 2561, 0), *HIP, ("piece", 4)), (("regx", 2560), *LANE, ("piece", 4), ("regx", 2561), *LANE, ("piece", 4))),
    ("gfx90a", "half of it optimised out", (("piece", 4), ("bregx", 2561, 0), *HIP, ("piece", 4)), (("piece", 4), ("regx", 2561), *LANE, ("piece", 4))),
    ("gfx90a", "a mask in lanes of a register", (("regx", 2565), ("bit_piece", 32, 0), ("regx", 2565), ("bit_piece", 32, 32)), (("regx", 2565), ("bit_piece", 32, 0), ("regx", 2565), ("bit_piece", 32, 32))),
    ("gfx90a", "bits of a register", (("regx", 2565), ("bit_piece", 7, 0), ("regx", 2565), ("bit_piece", 9, 7)), (("regx", 2565), *LANE, ("bit_piece", 7, 0), ("regx", 2565), *LANE, ("bit_piece", 9, 7))),
    ("gfx1100", "in the low half of a register", (("bregx", 1536, 0), ("constu", 0xFFFF), "and", *HIP), (("regx", 1536), *LANE)),
    ("gfx1100", "in the high half of a register", (("bregx", 1536, 0), "lit16", "shr", ("constu", 0xFFFF), "and", *HIP), (("regx", 1536), *LANE, "lit16", "bit_offset")),
    ("gfx1100", "a piece in a high half", (("bregx", 1536, 0), "lit16", "shr", ("constu", 0xFFFF), "and", *HIP, ("bit_piece", 16, 16)), (("regx", 1536), *LANE, "lit16", "bit_offset", ("bit_piece", 16, 0))),
    ("gfx90a", "constants behind a conversion", (("bregx", 2560, 0), ("convert", 0x27), ("constu", 80), "minus", *HIP, "stack_value"), (("regx", 2560), *LANE, ("deref_size", 4), ("convert", 0x27), ("constu", 80), ("convert", 0x27), "minus", "stack_value")),
    ("gfx90a", "shared memory", (("addrx", 1), "lit3", "swap", "xderef"), (("addrx", 1), "lit3", "form_aspace_address")),
    ("gfx90a", "global variable, HIP", (("addrx", 1), *HIP), (("addrx", 1),)),
    ("gfx90a", "global variable, OpenCL", (("addrx", 1),), (("addrx", 1),)),
    ("gfx90a", "at the stack pointer", (("bregx", 64, 16), *PRIVATE), (("regx", 64), ("deref_size", 4), "lit6", "shr", ("plus_uconst", 16), "lit5", "form_aspace_address")),
    ("gfx90a", "call target, clean already", (("regx", 36), ("piece", 4), ("regx", 37), ("piece", 4)), (("regx", 36), ("piece", 4), ("regx", 37), ("piece", 4))),
    ("gfx90a", "a structured binding", (("fbreg", 8), *HIP, ("plus_uconst", 4)), (("fbreg", 8), ("offset_uconst", 4))),
    ("gfx90a", "a binding to a reference", (("fbreg", 8), *HIP, "deref", ("plus_uconst", 4)), (("fbreg", 8), "deref", ("plus_uconst", 4), "lit1", "form_aspace_address")),
    ("gfx90a", "a binding to a bit-field", (("fbreg", 8), *HIP, "deref", ("plus_uconst", 8), ("deref_size", 1), ("constu", 59), "shl", ("constu", 59), "shra", "stack_value"), (("fbreg", 8), "deref", ("plus_uconst", 8), "lit1", "form_aspace_address", ("deref_size", 1), ("constu", 59), "shl", ("constu", 59), "shra", "stack_value")),
    ("gfx90a", "a stack variable, flang", (("fbreg", 8),), (("fbreg", 8),)),
    ("gfx90a", "a dummy argument kept on the stack, flang", (("bregx", 64, 1456), "deref"), (("regx", 64), ("deref_size", 4), "lit6", "shr", ("plus_uconst", 1456), "lit5", "form_aspace_address", "deref", "lit1", "form_aspace_address")),
    ("gfx942", "part of one", (("fbreg", 8), "deref", ("plus_uconst", 4)), (("fbreg", 8), "deref", ("plus_uconst", 4), "lit1", "form_aspace_address")),
    ("gfx1100", "a spilled value, flang", (("bregx", 65, 0), ("deref_size", 4), "stack_value"), (("regx", 65), ("deref_size", 4), "lit5", "form_aspace_address", ("deref_size", 4), "stack_value")),
    ("gfx90a", "a dummy argument by its address, flang", (("bregx", 2560, 0), ("piece", 4), ("bregx", 2561, 0), ("piece", 4)), (("regx", 2561), *LANE, ("deref_size", 4), ("const1u", 32), "shl", ("regx", 2560), *LANE, ("deref_size", 4), "plus", "lit1", "form_aspace_address")),
    ("gfx90a", "half of an address", (("bregx", 2560, 0), ("piece", 4)), ("undefined",)),
    ("gfx90a", "computed, without a space", (("bregx", 2560, 0), "lit3", "mul", "stack_value"), (("regx", 2560), *LANE, ("deref_size", 4), "lit3", "mul", "stack_value")),
    ("gfx90a", "computed of two registers", (("bregx", 2560, 0), ("bregx", 2561, -1), "minus", "stack_value"), (("regx", 2560), *LANE, ("deref_size", 4), ("regx", 2561), *LANE, ("deref_size", 4), ("consts", -1), "plus", "minus", "stack_value")),
    ("gfx90a", "a register's location, fetched", (("regx", 2560), ("deref_size", 2), "neg", "stack_value"), (("regx", 2560), *LANE, ("deref_size", 2), "neg", "stack_value")),
    ("gfx90a", "of a base type", (("regval_type", 2560, 0x27), "neg", "stack_value"), (("regx", 2560), *LANE, ("deref_size", 4), ("convert", 0x27), "neg", "stack_value")),
    ("gfx90a", "on entry", (("entry_value", assemble(("regx", 2560))), "stack_value"), (("entry_value", assemble(("regx", 2560), *LANE, ("deref_size", 4))), "stack_value")),
    ("gfx90a", "a constant before a typed value", ("lit1", ("bregx", 2560, 0), ("convert", 0x27), "minus", "stack_value"), ("lit1", ("regx", 2560), *LANE, ("deref_size", 4), ("convert", 0x27), "swap", ("convert", 0x27), "swap", "minus", "stack_value")),
    ("gfx90a", "shifted with its sign", (("bregx", 2560, 0), "lit2", "shra", "stack_value"), (("regx", 2560), *LANE, ("deref_size", 4), "lit2", "swap", ("const1u", 32), "shl", ("const1u", 32), "shra", "swap", "shra", "stack_value")),
    ("gfx90a", "at an address of no known space", (("bregx", 2560, 0),), ("undefined",)),
    ("gfx90a", "the same in a piece", (("bregx", 2560, 4), ("piece", 4), ("regx", 2561), ("piece", 4)), ("undefined", ("piece", 4), ("regx", 2561), *LANE, ("piece", 4))),
    ("gfx90a", "behind an address of no known space", (("bregx", 2560, 0), "deref", "stack_value"), ("undefined",)),
    ("gfx90a", "at an address in private memory or LDS", (("bregx", 2560, 8), *HIP), ("undefined",)),
    ("gfx90a", "at a place on the stack, in parts", (("bregx", 64, 8), ("plus_uconst", 4), *HIP), (("regx", 64), ("deref_size", 4), "lit6", "shr", ("plus_uconst", 8), "lit5", "form_aspace_address", ("offset_uconst", 4))),
    ("gfx90a", "all lanes of a register", (("regx", 2565), ("piece", 0x80)), (("regx", 2565), ("piece", 0x80))),
    ("gfx90a", "more than the lane's dword", (("regx", 2565), ("piece", 8)), (("regx", 2565), *LANE, ("bit_piece", 32, 0), ("bit_piece", 32, 0))),
    ("gfx90a", "a load, not at the end", ("lit8", "lit5", "swap", "xderef", "lit1", "plus"), ("lit8", "lit5", "swap", "xderef", "lit1", "plus")),
    ("gfx90a", "nothing", (), ()),
]


@pytest.mark.parametrize(("target", "what", "upstream", "clean"), CASES, ids=[row[1] for row in CASES])
def test_clean_form(target: str, what: str, upstream: tuple[object, ...], clean: tuple[object, ...]) -> None:
    result = dwarf.normalise(assemble(*upstream), target=target)  # type: ignore[arg-type]
    assert dwarf.format_expression(result) == dwarf.format_expression(assemble(*clean))  # type: ignore[arg-type]
    # A clean expression stays unchanged.
    assert dwarf.normalise(result, target=target, frame_base=False) == result


def test_a_lone_stack_pointer_is_a_variable_where_it_is_known_to_be_one() -> None:
    data = assemble(("regx", 65))
    assert dwarf.normalise(data, target="gfx90a", frame_base=False) == data


def test_what_is_larger_than_its_register_is_elsewhere() -> None:
    upstream = assemble(("bregx", 2560, 0), *HIP)
    assert dwarf.normalise(upstream, target="gfx90a", size=4) == assemble(("regx", 2560), *LANE)
    assert dwarf.normalise(upstream, target="gfx90a", size=8) == assemble("undefined")
    assert dwarf.normalise(assemble(("bregx", 2560, 4), "stack_value"), "gfx90a", size=8) == assemble("undefined")


def test_an_array_in_a_tuple_of_registers_is_known_as_far_as_the_first() -> None:
    # clang 15 -O3: int a[8] is in v2, v1, v6, v3, v4, v5, v8, v7, and v9 is a loop's counter.
    registers = range(2562, 2570)
    upstream = assemble(*[item for number in registers for item in (("regx", number), ("piece", 4))])
    known = assemble(("regx", 2562), *LANE, ("piece", 4), ("piece", 28))
    assert UpstreamClang(15).location(upstream, "gfx90a", 64, 32, True) == known
    assert UpstreamClang(22).location(upstream, "gfx90a", 64, 32, True) != known
    assert dwarf.normalise(upstream, "gfx90a", size=32, aggregate=True, split_tuples=True) == known
    vector = dwarf.normalise(upstream, "gfx90a", size=32)
    assert vector == assemble(*[item for n in registers for item in (("regx", n), *LANE, ("piece", 4))])
    pair = assemble(("regx", 2562), ("piece", 4), ("regx", 2563), ("piece", 4))
    apart = assemble(*[item for n in (2562, 2565, 2564) for item in (("regx", n), ("piece", 4))])
    for data, size in ((pair, 8), (apart, 12)):
        described = dwarf.normalise(data, "gfx90a", size=size)
        assert dwarf.normalise(data, "gfx90a", size=size, aggregate=True, split_tuples=True) == described


def test_an_aggregate_that_is_not_in_pieces_is_where_its_register_leads() -> None:
    # clang 22 at -O2, `struct { char c[4]; } q` that AMDGPUPromoteAlloca has moved to LDS: v0 is its address there
    upstream = assemble(("bregx", 2560, 0), *HIP)
    assert dwarf.normalise(upstream, "gfx90a", size=4, aggregate=True) == assemble("undefined")
    assert dwarf.normalise(upstream, "gfx90a", aggregate=True) == assemble("undefined")  # of no known size
    in_pieces = assemble(("bregx", 2560, 0), *HIP, ("piece", 2), ("bregx", 2561, 0), *HIP, ("piece", 2))
    assert dwarf.normalise(in_pieces, "gfx90a", size=4, aggregate=True) == dwarf.normalise(in_pieces, "gfx90a", size=4)
    assert dwarf.normalise(assemble(("regx", 2560)), "gfx90a", aggregate=True) == assemble(("regx", 2560), *LANE)


def test_a_frame_base_in_a_vector_register_is_each_lanes_own() -> None:
    data = dwarf.normalise(assemble(("bregx", 2560, 16)), target="gfx90a", frame_base=True)
    place = (("regx", 2560), *LANE, ("deref_size", 4), ("plus_uconst", 16), "lit5", "form_aspace_address")
    assert data == assemble(*place)


def test_amds_own_operations_mean_what_the_text_says() -> None:
    conventions = conventions_of("amd", "AMD clang version 17.0.0")
    for data in (assemble(("regx", 2565), ("piece", 0x80)), assemble(("regx", 2565), ("piece", 4), "undefined", ("piece", 4))):
        assert conventions.location(data, "gfx90a", 64) == data


def as_lane_has_it(expression: tuple[object, ...], value: int, size: int) -> int | None:
    """The value of an object of some bytes when lane 3 has a value in v0; None if it is not known."""
    register = bytearray(256)
    register[12:16] = (value % (1 << 32)).to_bytes(4, "little")
    data = dwarf.normalise(assemble(*expression, "stack_value"), target="gfx90a", size=size)  # type: ignore[arg-type]
    location = dwarf.evaluate(data, dwarf.SimpleContext(lane=3, registers={2560: bytes(register)}), "location")
    assert isinstance(location, dwarf.LocationDescription)
    number, known = location.read_known(8 * size)
    return number if known == (1 << 8 * size) - 1 else None


V0 = ("bregx", 2560, 0)
ARITHMETIC: list[tuple[tuple[object, ...], int, Callable[[int], int | None]]] = [
    # LLVM's operations, bytes of the object, and what C says about a signed 32-bit value
    ((V0, "lit2", "mul", "lit5", "plus"), 4, lambda k: 2 * k + 5),
    ((V0, "neg"), 4, lambda k: -k),
    ((V0, "lit1", "shra"), 4, lambda k: k >> 1),
    ((V0, "lit1", "shr"), 4, lambda k: k % (1 << 32) >> 1),
    ((V0, ("constu", 0x9E3779B9), "mul", ("const1u", 27), "shr"), 4, lambda k: k * 0x9E3779B9 % (1 << 32) >> 27),
    ((V0, "lit3", "div"), 4, lambda k: int(k / 3)),
    ((V0, ("consts", -3), "div"), 4, lambda k: int(k / -3)),
    ((V0, "lit7", "mod"), 4, lambda k: k - 7 * int(k / 7)),
    ((V0, ("consts", -10), "eq"), 1, lambda k: k == -10),
    ((V0, "lit7", "gt"), 1, lambda k: k > 7 if k >= 0 else None),
    ((V0, ("consts", -7), "le"), 1, lambda k: k <= -7 if k < 0 else None),
    ((("bregx", 2560, 0x7FFFFFFF), "lit1", "shra"), 4, lambda k: ((k + 0x7FFFFFFF + (1 << 31)) % (1 << 32) - (1 << 31)) >> 1),
    ((V0, "lit3", "shra"), 2, lambda k: ((k + (1 << 15)) % (1 << 16) - (1 << 15)) >> 3),
    ((V0, "lit3", "shr"), 1, lambda k: k % 256 >> 3),
    ((V0, "dup", "mul"), 4, lambda k: k * k),
    (("lit9", V0, "swap", "minus"), 4, lambda k: k - 9),
    (("lit9", V0, "over", "plus", "plus"), 4, lambda k: k + 18),
    ((V0, "lit9", "drop", "nop", "neg"), 4, lambda k: -k),
    ((V0, "swap"), 4, lambda k: None),
    ((V0, "drop", "drop"), 4, lambda k: None),
    ((V0, "lit1", "rot"), 4, lambda k: None),
    ((("entry_value", b"\xff"),), 4, lambda k: None),
    ((("entry_value", assemble("lit1", "lit2")),), 4, lambda k: None),
]


@pytest.mark.parametrize(("expression", "size", "right"), ARITHMETIC, ids=range(len(ARITHMETIC)))
def test_values_are_computed_in_the_size_that_the_compiler_had(
    expression: tuple[object, ...], size: int, right: Callable[[int], int | None]
) -> None:
    for value in (0, 1, 6, 7, 8, 1000, 0x7FFFFFFF, -1, -7, -10, -35000, -(1 << 31)):
        expected = right(value)
        assert as_lane_has_it(expression, value, size) == (None if expected is None else expected % (1 << 8 * size)), value


def test_the_wave_size_of_the_code_decides() -> None:
    data = dwarf.normalise(assemble(("regx", 65)), target="gfx1030", wave_size=64)
    assert dwarf.format_expression(data).startswith("DW_OP_regx 0x41, DW_OP_deref_size 0x4, DW_OP_lit6, DW_OP_shr")


def test_bad_input() -> None:
    with pytest.raises(dwarf.DecodeError):
        dwarf.normalise(b"\x02", target="gfx90a")
    with pytest.raises(dwarf.DwarfError, match="not an AMDGPU processor"):
        dwarf.normalise(assemble(("regx", 65)), target="sm_90")


@pytest.mark.parametrize(("target", "scale"), [("gfx90a", 64), ("gfx942", 1)])
def test_a_stack_variable_of_the_focused_lane_is_found(target: str, scale: int) -> None:
    ctx = dwarf.SimpleContext(
        lane=9,
        registers={65: (0x20 * scale).to_bytes(4, "little")},
        memory={5: {0x28: b"\x2a\0\0\0"}},
        frame_base=dwarf.normalise(assemble(("regx", 65)), target=target),
    )
    location = dwarf.evaluate(dwarf.normalise(assemble(("fbreg", 8), *HIP), target=target), ctx, "location")
    assert isinstance(location, dwarf.LocationDescription)
    assert location.describe() == "memory at private_lane#0x28 of lane 9"
    assert location.read(32) == 42
