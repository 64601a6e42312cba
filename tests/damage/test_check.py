"""`rocdbg dwarf check`: each violation is found under its rule's name, and compilers' output has no findings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rocdbg
from rocdbg import dwarf
from rocdbg.cli.main import main
from rocdbg.dwarf.checker.finding_formats import as_sarif
from rocdbg.dwarf.checker.rule_table import RULES
from rocdbg.dwarf.operation_assembler import assemble
from tests.damage.described_kernel import Described, build

DEMOS = Path(__file__).resolve().parents[2] / "demo_kernels"
LANES, ITERATIONS, CONSTANT, LANE_PC, ACTIVE, BASE, LINK, LIST, TWICE, TWO_PLACES = range(4, 14)

# what is other, the rule that is broken, a part of the message
CASES = [
    ([("k", LANES, None, 0)], "lanes", "the value is 0, but must be greater than 0"),
    ([("k", ITERATIONS, None, assemble(("regx", 2563)))], "iterations", "implicit location description"),
    ([("k", ITERATIONS, None, assemble("lit0", "stack_value"))], "iterations", "the value is 0"),
    ([("k", LANE_PC, 0x3E0B, assemble("lit0", "stack_value", ("extend", 64, 32)))], "lane-pc", "too few for 64 lanes"),
    ([("k", LANE_PC, 0x3E0B, assemble("drop"))], "lane-pc", "DW_OP_drop"),
    ([("k", ACTIVE, 0x3E08, assemble("drop"))], "active-lane", "DW_OP_drop"),
    ([("k", TWICE, 0x3E0B, None)], "lane-pc", "but is in 2 places"),
    ([("k", TWICE, 0x3E08, None)], "active-lane", "but is in 2 places"),
    ([("k", LINK, 0x3FFE, None), ("k", TWO_PLACES, 0x48, None)], "static-link", "but is in 2 places"),
    ([("k", TWO_PLACES, 0x2A, None)], "return-addr", "but is in 2 places"),
    ([("k", BASE, 0x3FFE, None), ("k", TWO_PLACES, 0x40, None)], "frame-base", "in 2 places"),
    ([("k", ITERATIONS, 0x3FFE, None), ("k", TWO_PLACES, 0x3E0A, None)], "iterations", "but is in 2 places"),
    ([("k", LINK, 0x48, assemble(("regx", 36)))], "static-link", "a location in memory, but is register s4"),
    ([("k", LINK, 0x2A, assemble(("regx", 36)))], "return-addr", "a location in memory, but is register s4"),
    ([("k", BASE, None, assemble(("fbreg", 0)))], "frame-base", "DW_OP_fbreg"),
    ([("k", BASE, None, assemble("lit1", "stack_value"))], "frame-base", "must be in memory"),
    ([("x", 2, None, b"\xff")], "expression", "unknown operation code 0xff"),
    ([("x", 2, None, assemble(("regx", 9999)))], "location", "9999"),
    ([("vector", 3, None, 0)], "vector-size", "the value is 0"),
    ([("pointer", 2, None, 0x44)], "address-space", "no address space 0x44"),
    ([("pointer", 2, 0x3E0F, 9)], "memory-space", "no memory space 0x9"),
    ([("struct.b", 2, None, assemble("drop", "drop"))], "member-location", "DW_OP_drop"),
    ([("pointer", 2, 0x3E08, None)], "attribute-class", "0x3e08"),
    ([("k", CONSTANT, 0x49, None)], "", ""),
]


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Described:
    return build(tmp_path_factory.mktemp("checked"))


@pytest.mark.llvm
@pytest.mark.parametrize(("patches", "rule", "words"), CASES, ids=[f"{c[1]}-{c[2][:20]}" for c in CASES])
def test_found(
    patches: list[tuple[str, int, int | None, bytes | int | None]], rule: str, words: str, described: Described
) -> None:
    found = dwarf.check(dwarf.open(described.patched(*patches)))
    assert [each.rule.id for each in found] == ([rule] if rule else [])
    for each in found:
        assert words in each.message
        assert each.section == ".debug_info" and each.offset and each.dialect == "amd"


@pytest.mark.llvm
def test_nothing_is_found_where_all_is_well(described: Described) -> None:
    assert dwarf.check(dwarf.open(described.file)) == []


@pytest.mark.parametrize("name", [
    "calls/calls.O2.gfx1100.co", "divergence/divergence.O0.gfx90a.co", "extensions/nested/nested.amd.gfx90a.co",
    "extensions/nested/nested.proposal2020.gfx1100.co", "extensions/unwinding/unwinding.gfx90a.co",
    "extensions/types/types.gfx1100.co", "extensions/callsites/callsites.gfx90a.co",
])
def test_demo_kernels_break_no_rule(name: str) -> None:
    assert dwarf.check(dwarf.open(DEMOS / name)) == []


@pytest.mark.llvm
def test_forms_and_status(described: Described, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = tmp_path / "good.co", tmp_path / "bad file.co"
    good.write_bytes(described.file)
    bad.write_bytes(described.patched(("k", LANES, None, 0)))
    assert main(["dwarf", "check", str(good)]) == 0
    assert capsys.readouterr().out == f"{good}: no rule is broken\n"
    assert main(["dwarf", "check", str(bad)]) == 1
    first, last = capsys.readouterr().out.splitlines()
    assert "in k: the value is 0, but must be greater than 0 [lanes, A.3.3.5 (4), amd]" in first
    assert last == f"{bad}: 1 finding"
    assert main(["dwarf", "check", "--format", "json", str(bad)]) == 1
    (found,) = json.loads(capsys.readouterr().out)["findings"]
    told = found["rule"], found["section"], found["function"], found["dialect"]
    assert told == ("lanes", ".debug_info", "k", "amd")
    assert main(["dwarf", "check", str(tmp_path / "nothing.co")]) == 2
    assert "nothing.co" in capsys.readouterr().err


@pytest.mark.llvm
def test_sarif(described: Described) -> None:
    """The requirements of the SARIF 2.1.0 schema on a log, a run, a tool, a rule and a result."""
    findings = dwarf.check(dwarf.open(described.patched(("k", LANES, None, 0), ("vector", 3, None, 0))))
    log = json.loads(as_sarif("a b.co", findings, rocdbg.__version__))
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert [rule["id"] for rule in driver["rules"]] == list(RULES) and driver["name"]
    assert len(run["results"]) == 2
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error") and result["message"]["text"]
        (place,) = result["locations"]
        assert place["physicalLocation"]["artifactLocation"] == {"uri": "a%20b.co", "index": 0}
        assert all(set(logical) <= {"name", "kind", "fullyQualifiedName"} for logical in place["logicalLocations"])


# Of SARIF 2.1.0: an object's properties with the kinds of their values; "!" is after those that are required.
STRUCTURE: dict[str, dict[str, str]] = {
    "log": {"$schema": "uri", "version": "2.1.0!", "runs": "[run!"},
    "run": {"tool": "tool!", "artifacts": "[artifact", "results": "[result"},
    "tool": {"driver": "component!"},
    "component": {"name": "text!", "version": "text", "rules": "[descriptor"},
    "descriptor": {
        "id": "text!", "shortDescription": "multiformat", "fullDescription": "multiformat", "helpUri": "uri",
        "properties": "any",
    },
    "multiformat": {"text": "text!"},
    "message": {"text": "text!"},
    "artifact": {"location": "artifactLocation"},
    "artifactLocation": {"uri": "uri", "index": "number"},
    "result": {
        "ruleId": "text", "ruleIndex": "number", "level": "level", "message": "message!", "locations": "[location",
        "relatedLocations": "[location", "properties": "any",
    },
    "location": {"physicalLocation": "physicalLocation", "logicalLocations": "[logicalLocation", "message": "message"},
    "physicalLocation": {"artifactLocation": "artifactLocation", "region": "region"},
    "region": {"startLine": "number"},
    "logicalLocation": {"name": "text", "kind": "text", "fullyQualifiedName": "text"},
}


def wrong(value: object, kind: str, path: str = "$") -> list[str]:
    """The positions of values that are not of a kind in the structure."""
    kind = kind.removesuffix("!")
    if kind.startswith("["):
        if not isinstance(value, list):
            return [f"{path} is no list"]
        return [words for index, each in enumerate(value) for words in wrong(each, kind[1:], f"{path}[{index}]")]
    if kind in STRUCTURE:
        if not isinstance(value, dict):
            return [f"{path} is no object"]
        rows = STRUCTURE[kind]
        found = [f"{path} lacks {name}" for name, row in rows.items() if row.endswith("!") and name not in value]
        found += [f"{path} has {name}" for name in value if name not in rows]
        return found + [w for name in value if name in rows for w in wrong(value[name], rows[name], f"{path}.{name}")]
    good = {
        "text": isinstance(value, str) and bool(value),
        "uri": isinstance(value, str) and bool(value) and not set(value) & set(' <>"{}|\\^`'),
        "number": isinstance(value, int) and value >= 0,
        "level": value in ("none", "note", "warning", "error"),
        "2.1.0": value == "2.1.0",
        "any": True,
    }[kind]
    return [] if good else [f"{path}: {value!r}"]


@pytest.mark.llvm
def test_structure_of_sarif(described: Described) -> None:
    findings = dwarf.check(dwarf.open(described.patched(("k", LANES, None, 0), ("x", 2, None, b"\xff"))))
    for name in ("a b.co", "/tmp/<x>|y.co", "sub/ä.co"):
        assert wrong(json.loads(as_sarif(name, findings, rocdbg.__version__)), "log") == []
    assert wrong(json.loads(as_sarif("a.co", [], "1")), "log") == []
    assert wrong({"version": "2.0", "runs": [{"results": [{"level": "bad", "more": 1}]}]}, "log") == [
        "$.version: '2.0'", "$.runs[0] lacks tool", "$.runs[0].results[0] lacks message",
        "$.runs[0].results[0] has more", "$.runs[0].results[0].level: 'bad'",
    ]


@pytest.mark.parametrize(("action", "words"), [
    (["print"], "DW_AT_LLVM_lane_pc: list at"), (["explain"], "result: "), (["explain", "x", "--lane", "3"], "bit 96"),
])
def test_shown(action: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(DEMOS / "extensions/nested/nested.amd.gfx90a.co")
    assert main(["dwarf", action[0], file, *action[1:]]) == 0
    assert words in capsys.readouterr().out
