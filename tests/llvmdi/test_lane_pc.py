"""The specification's divergent lane PC, lowered: it equals the procedures of demo_kernels/extensions/nested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from rocdbg import codeobject, dwarf, llvmdi
from rocdbg.dwarf.info import DebugInfo, Exprloc
from rocdbg.dwarf.operation_table import DIALECTS
from rocdbg.llvmdi.placement import CodeAddresses
from tests.llvmdi.machine import Machine

EXAMPLE = Path(__file__).parent / "examples" / "lane_pc.ll"
NESTED = Path(__file__).resolve().parents[2] / "demo_kernels" / "extensions" / "nested"
PLACES = {"$PC": "pc", "$EXEC": "exec", "%1": "s[10:11]", "%3": "s[12:13]"}
ALL = (1 << 64) - 1
C1, C2 = 0x0F0F0F0F0F0F0F0F, 0x3333333333333333
ENTRY = 0x0FFFFFFFFFFFFFFF
"""Lanes 60 to 63 were not active on entry."""

OUTER, INNER = ENTRY, ENTRY & C1
EXEC = {
    "lex_start": ENTRY, "lex_1_start": ENTRY, "lex_1_then": INNER, "lex_1_1_start": INNER, "lex_1_1_then": INNER & C2,
    "lex_1_1_else": INNER & ~C2, "lex_1_1_end": INNER, "lex_1_else": OUTER & ~C1, "lex_1_end": OUTER,
}  # fmt: skip
"""EXEC at the first instruction of each block."""


def waiting(block: str, lane: int) -> str | None:
    """The place, according to the prose, of a lane that is not active at the first instruction of a block."""
    bit = 1 << lane
    if not ENTRY & bit:
        return None
    in_then = block in ("lex_1_then", "lex_1_1_start", "lex_1_1_then", "lex_1_1_else", "lex_1_1_end")
    if in_then and not INNER & bit:
        return "lex_1_start"
    if block == "lex_1_1_then":
        return "lex_1_1_start"
    if block == "lex_1_1_else":
        return "lex_1_1_end"
    return "lex_1_end" if block == "lex_1_else" else None


def test_well_formed() -> None:
    findings = llvmdi.check(llvmdi.read(EXAMPLE))
    assert {finding.rule for finding in findings} == {"spelling"}
    assert [finding.reason for finding in findings].count("'DExprCode' taken for DIExprCode") == 4


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_lane_at_every_block(dialect: str) -> None:
    info = llvmdi.DebugInfo(llvmdi.read(EXAMPLE))
    function = info.module.functions["@"]
    flow = info.flows["@"]
    machine = Machine({}, PLACES, labels={"lex_start": 0x1000})
    code = CodeAddresses(flow, machine.placement)
    fragment = info.module.nodes["active_lane_pc.fragment"]
    for number, block in enumerate(function.blocks):
        if block.label not in EXEC:
            continue
        index = next(
            flow.starts[number] + i for i, instruction in enumerate(block.instructions) if not instruction.is_debug
        )
        pc, active = code.addresses[index], EXEC[block.label]
        # A mask that is not saved yet, or no more, is whatever is left in the registers.
        machine = Machine({"$EXEC": active, "%1": OUTER, "%3": INNER}, PLACES, labels={"lex_start": 0x1000})
        state = llvmdi.State(machine.context(0, pc), {**machine.values, "$PC": pc}, code.blocks)
        vector = llvmdi.Evaluator(info, state).locate(fragment, function, index)
        expected = []
        for lane in range(64):
            place = block.label if active >> lane & 1 else waiting(block.label, lane)
            expected.append(None if place is None else pc if active >> lane & 1 else code.blocks[place])
        assert vector.read_elements(64, 64) == expected, block.label
        lowered = llvmdi.lower(info, machine.placement, dialect)
        content = lowered.entry(fragment).content
        assert isinstance(content, bytes)
        found = dwarf.evaluate_location(content, machine.context(0, pc, lowered), dialect)
        assert found.read_elements(64, 64) == expected, block.label


@pytest.mark.parametrize("dialect", DIALECTS)
def test_procedures_are_the_demos(dialect: str) -> None:
    """The lowered procedures equal those of the demo, operation for operation."""
    info = llvmdi.DebugInfo(llvmdi.read(EXAMPLE))
    placement = Machine({}, PLACES).placement
    lowered = llvmdi.lower(info, placement, dialect)
    labels = {address: label for label, address in CodeAddresses(info.flows["@"], placement).blocks.items()}
    names = {entry.offset: entry.name for entry in lowered.entries}
    ours = {
        entry.name: shown(entry.content, dialect, lowered.debug_addr, labels, names)
        for entry in lowered.entries
        if entry.name.startswith("!divergent.") and isinstance(entry.content, bytes)
    }
    assert len(ours) == 5
    entry = lowered.entry("!active_lane_pc.fragment")
    assert (entry.tag, entry.attribute, entry.owner) == ("DW_TAG_subprogram", "DW_AT_LLVM_lane_pc", "!subprogram")
    assert ours == demo_procedures(dialect)


PLACES_IN_ORDER = ("lex_1_start", "lex_1_1_start", "lex_1_1_end", "lex_1_end")
NAMES = {
    "__divergent_lane_pc": "!divergent.lex.fragment",
    "__divergent_lane_pc_1_then": "!divergent.lex_1_then.fragment",
    "__divergent_lane_pc_1_1_then": "!divergent.lex_1_1_then.fragment",
    "__divergent_lane_pc_1_1_else": "!divergent.lex_1_1_else.fragment",
    "__divergent_lane_pc_1_else": "!divergent.lex_1_else.fragment",
    "__lex_1_save_exec": "!save_exec.lex_1.fragment",
    "__lex_1_1_save_exec": "!save_exec.lex_1_1.fragment",
}
LOCATION = 0x02


def demo_procedures(dialect: str) -> dict[str, list[tuple[object, ...]]]:
    """The procedures of the demo, in the same terms; the order of its four addresses identifies them."""
    file = codeobject.open_file(str(NESTED / f"nested.{dialect}.gfx90a.co"))
    (unit,) = DebugInfo({name: section.data for name, section in file.sections.items()}).units
    names: dict[int, str] = {}
    code: dict[str, bytes] = {}
    pending = list(unit.top.children)
    while pending:
        die = pending.pop()
        pending += die.children
        location = die.attribute(LOCATION)
        if die.name in NAMES:
            names[die.offset] = NAMES[die.name]
            if isinstance(location, Exprloc):
                code[NAMES[die.name]] = location.data
    used = {
        unit.debug_addr[operation.operands[0]]  # type: ignore[index]
        for data in code.values() for operation in dwarf.decode(data, dialect) if operation.info.meaning == "addrx"
    }
    labels = dict(zip(sorted(used), PLACES_IN_ORDER, strict=True))
    return {name: shown(data, dialect, unit.debug_addr, labels, names) for name, data in code.items()}


def shown(
    data: bytes, dialect: str, debug_addr: Sequence[int], labels: Mapping[int, str], names: Mapping[int, str]
) -> list[tuple[object, ...]]:
    """Operations, with entries by name and addresses by label; base types are omitted, because their offsets differ."""
    found: list[tuple[object, ...]] = []
    for operation in dwarf.decode(data, dialect):
        operands: list[object] = list(operation.operands)
        first = operation.operands[0] if operands else 0
        assert isinstance(first, int)
        if operation.info.meaning == "addrx":
            operands = [labels[debug_addr[first]]]
        elif operation.info.meaning == "call_ref":
            operands = [names[first]]
        elif operation.info.meaning == "deref_type":
            operands = operands[:1]
        found.append((operation.info.meaning, *operands))
    return found
