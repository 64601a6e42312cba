"""The worked examples of the specification: read, checked, evaluated, made canonical, lowered, the DWARF evaluated.

Each is a file in examples/, copied from the specification, with values where the specification has none.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import Struct

from rocdbg import dwarf, llvmdi
from rocdbg.dwarf.operation_table import DIALECTS
from tests.llvmdi.machine import Machine, by_dwarf, by_llvm

EXAMPLES = Path(__file__).parent / "examples"
LANES = range(64)
X = 0x1122334455667788
NOWHERE = (0, 0)


class Case(Struct, frozen=True):
    """One example. `expected` maps each variable to its bits and its value, by the code that follows."""

    file: str
    machine: Machine
    expected: dict[str, tuple[int, dict[int, int | None]]]
    """Variable: (bits, {instruction: value, or None for nowhere}); a function of the lane if the value depends on it.
    """
    canonical: dict[str, str] = {}


def known(value: int | None, bits: int) -> tuple[int, int]:
    return NOWHERE if value is None else (value, (1 << bits) - 1)


CASES = (
    Case("alloca", Machine({}, {"%x.addr": "frame+16"}), {"x": (64, {0: None, 2: X, 3: X, 5: None})}),
    Case(
        "promoted", Machine({"%x": X}, {"%x": "v[3:4]"}), {"x": (64, {0: None, 2: X, 4: None})},
        {"!2": "!DIExpr(DIOpReferrer(i64))"},
    ),
    Case(
        "implicit_pointer_1", Machine({}, {"%x.addr": "frame+16", "%p.addr": "frame+24"}),
        {"x": (64, {2: X, 5: X}), "p": (32, {3: None, 5: 16})},
    ),
    Case(
        "implicit_pointer_2", Machine({"%p": 16}, {"%x.addr": "frame+16", "%p": "v5"}),
        {"x": (64, {1: None, 3: X}), "p": (32, {5: 16})},
        {"!4": "!DIExpr(DIOpReferrer(ptr addrspace(5)))"},
    ),
    Case("implicit_pointer_3", Machine({}, {"%x.addr": "frame+16"}), {"x": (64, {4: X}), "p": (32, {4: 16})}),
    # p is an address that exists nowhere: what it leads to is compared.
    Case(
        "implicit_pointer_4", Machine({"%x": X}, {"%x": "s[4:5]"}), {"x": (64, {3: X}), "p": (64, {3: X})},
        {"!2": "!DIExpr(DIOpReferrer(i64))", "!4": "!DIExpr(DIOpReferrer(i64), DIOpAddrOf(5))"},
    ),
    Case("implicit_pointer_5", Machine(), {"x": (64, {2: 7}), "p": (64, {2: 7})}),
    Case(
        "two_scalars", Machine({"%x.lo": X & 0xFFFFFFFF, "%x.hi": X >> 32}, {"%x.lo": "v6", "%x.hi": "s7"}),
        {"x": (64, {5: X, 8: None})},
    ),
    Case(
        "further_decomposition",
        Machine(
            {"%x.lo": X & 0xFFFFFFFF, "%x.hi.lo": X >> 32 & 0xFFFF, "%x.hi.hi": X >> 48},
            {"%x.lo": "s6", "%x.hi.lo": "v8", "%x.hi.hi": "v9"},
        ),
        {"x": (64, {6: X, 10: None})},
    ),
    Case(
        "two_allocas", Machine({}, {"%x.lo.addr": "frame+16", "%x.hi.addr": "frame+20"}), {"x": (64, {5: X})},
        {"!2": "!DIExpr(DIOpArg(0, i32), DIOpArg(1, i32), DIOpComposite(2, i64))"},
    ),
    Case(
        "two_allocas_pointers", Machine({}, {"%x.lo.addr": "frame+16", "%x.hi.addr": "frame+20"}), {"x": (64, {5: X})},
        {
            "!2": "!DIExpr(DIOpArg(0, ptr addrspace(5)), DIOpDeref(i32), DIOpArg(1, ptr addrspace(5)), "
            "DIOpDeref(i32), DIOpComposite(2, i64))"
        },
    ),
    Case(
        "live_ranges",
        Machine({"$r0": 5, "$r1": 5, "%frame.index.0": 5}, {"$r0": "s0", "$r1": "v1", "%frame.index.0": "slot+40"}),
        {"x": (32, {0: None, 2: 5, 5: 5, 6: 5, 9: 5, 12: 5, 16: None}), "y": (32, {6: None, 9: 5, 12: 5, 16: None})},
    ),
    Case(
        "global", Machine({}, {"@g": 0x1000}, {0: {0x1000: X.to_bytes(8, "little")}}), {"g": (64, {-1: X})},
        {"!3": "!DIExpr(DIOpArg(0, ptr addrspace(1)), DIOpDeref(i64))"},
    ),
    Case(
        "global_scalars",
        Machine(
            {}, {"@g.lo": 0x1000, "@g.hi": 0x2000},
            {0: {0x1000: X.to_bytes(8, "little")[:4], 0x2000: X.to_bytes(8, "little")[4:]}},
        ),
        {"g": (64, {-1: X})},
    ),
    Case(
        "induction", Machine({"%x": X, "%y": (1 << 64) - 2}, {"%x": "v[3:4]", "%y": "s[4:5]"}),
        {"x": (64, {7: X}), "y": (64, {7: (1 << 64) - 2}), "i": (64, {5: None, 7: X - 2, 11: None})},
    ),
    Case("constant", Machine(), {"x": (64, {1: 42, 3: None})}),
    Case(
        "common_subexpression",
        Machine(
            {"%bar": 0x1000, "%arg": 1, "%more": 2, "%0": 987654},
            {"%bar": "s[10:11]", "%arg": "s12", "%more": "s13", "%0": "v1"},
        ),
        {
            "bar": (64, {3: 0x1000}), "arg": (32, {3: 1}),
            "redundant": (32, {3: None, 6: 987654}), "loaded": (32, {6: 987654}),
        },
    ),
)  # fmt: skip


def load(case: Case) -> llvmdi.DebugInfo:
    case.machine.frame[16:24] = X.to_bytes(8, "little")
    case.machine.frame[24:28] = (16).to_bytes(4, "little")
    return llvmdi.DebugInfo(llvmdi.read(EXAMPLES / f"{case.file}.ll"))


IDS = [case.file for case in CASES]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_well_formed(case: Case) -> None:
    module = llvmdi.read(EXAMPLES / f"{case.file}.ll")
    assert [str(finding) for finding in llvmdi.check(module) if not finding.is_note] == []


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_values(case: Case) -> None:
    info = load(case)
    function = info.module.functions.get("@") or info.module.functions.get("@foo")
    nodes = {info.name_of(node): node for node in info.objects}
    for name, (bits, values) in case.expected.items():
        for index, value in values.items():
            where = (function, index) if index >= 0 else (None, 0)
            for lane in (0, 37):
                assert by_llvm(info, case.machine, nodes[name], bits, *where, lane) == known(value, bits), (name, index)
                for dialect in DIALECTS:
                    found = by_dwarf(info, case.machine, nodes[name], bits, *where, lane, dialect)
                    assert found == known(value, bits), (name, index, dialect)


@pytest.mark.parametrize("case", [case for case in CASES if case.canonical], ids=lambda case: case.file)
def test_canonical(case: Case) -> None:
    info = load(case)
    found = {segment.name: str(llvmdi.canonical_expression(info, segment)) for segment in info.segments}
    assert {name: found[name] for name in case.canonical} == case.canonical


def test_every_lane_has_its_own_value() -> None:
    values = [lane * 0x0101010101 + 3 for lane in LANES]
    machine = Machine({"%x": values}, {"%x": "v[3:4]"})
    info = llvmdi.DebugInfo(llvmdi.read(EXAMPLES / "promoted.ll"))
    (x,) = info.objects
    function = info.module.functions["@"]
    for lane in LANES:
        assert by_llvm(info, machine, x, 64, function, 2, lane) == known(values[lane], 64)
        assert by_dwarf(info, machine, x, 64, function, 2, lane) == known(values[lane], 64)


def test_a_variable_in_two_places_is_written_to_both() -> None:
    info = llvmdi.DebugInfo(llvmdi.read(EXAMPLES / "live_ranges.ll"))
    state = llvmdi.State(None, {"$r0": 5, "%frame.index.0": 5, "$r1": 5})
    x = info.objects[0]
    function = info.module.functions["@"]
    location = llvmdi.Evaluator(info, state).locate(x, function, 5)
    assert location.describe() == "in 2 places: physical register $r0; stack slot %frame.index.0"
    location.write(9, 32)
    assert state.values == {"$r0": 9, "%frame.index.0": 9, "$r1": 5}
    location = llvmdi.Evaluator(info, state).locate(x, function, 12)
    assert location.describe() == "in 2 places: stack slot %frame.index.0; physical register $r1"


def test_a_value_that_was_read_cannot_be_written() -> None:
    info = llvmdi.DebugInfo(llvmdi.read(EXAMPLES / "common_subexpression.ll"))
    loaded = info.objects[-1]
    location = llvmdi.Evaluator(info, llvmdi.State(None, {"%0": 7})).locate(loaded, info.module.functions["@foo"], 6)
    assert location.read(32) == 7
    with pytest.raises(dwarf.EvaluationError, match="cannot be written"):
        location.write(8, 32)
