"""Findings as text, as JSON, and as SARIF 2.1.0 (OASIS), which editors and code hosts read."""

from __future__ import annotations

import json
from typing import Any

from rocdbg.dwarf.checker.findings import Finding
from rocdbg.dwarf.checker.rule_table import RULES

__all__ = ["as_json", "as_sarif", "as_text"]

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_INFORMATION = "https://llvm.org/docs/AMDGPUDwarfExtensionsForHeterogeneousDebugging.html"


def as_text(name: str, findings: list[Finding]) -> list[str]:
    """One line for each finding (``k.c:3: .debug_info+0x40: in k: message [rule, A.3.3.5 (4), amd]``), and a line with
    their number.
    """
    lines = []
    for found in findings:
        source = f"{found.file}:{found.line}: " if found.file and found.line else ""
        function = f"in {found.function}: " if found.function else ""
        dialect = f", {found.dialect}" if found.dialect else ""
        rule = f"[{found.rule.id}, {found.rule.section}{dialect}]"
        lines.append(f"{source}{found.place}: {function}{found.message} {rule}")
    count = len(findings)
    lines.append(f"{name}: " + ("no rule is broken" if not count else f"{count} finding{'s' * (count > 1)}"))
    return lines


def as_json(name: str, findings: list[Finding]) -> str:
    """A JSON object: ``file``, and ``findings`` with rule, section of the specification, message, place, function,
    source and dialect.
    """
    return json.dumps({
        "file": name,
        "findings": [
            {
                "rule": found.rule.id, "text": found.rule.section, "message": found.message, "section": found.section,
                "offset": found.offset, "function": found.function, "source": found.file, "line": found.line,
                "dialect": found.dialect,
            }
            for found in findings
        ],
    }, indent=2)


def as_sarif(name: str, findings: list[Finding], version: str) -> str:
    """A log of one run. The artifact is the object file; sections are logical locations, and places in source files are
    related locations.
    """
    order = list(RULES)
    rules = [
        {
            "id": rule.id, "shortDescription": {"text": rule.text}, "fullDescription": {"text": rule.text},
            "helpUri": _INFORMATION, "properties": {"section": rule.section},
        }
        for rule in RULES.values()
    ]
    return json.dumps({
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "rocdbg dwarf check", "version": version, "rules": rules}},
            "artifacts": [{"location": {"uri": _uri(name)}}],
            "results": [_result(name, found, order) for found in findings],
        }],
    }, indent=2)


def _result(name: str, found: Finding, order: list[str]) -> dict[str, Any]:
    logical = [{"name": found.section, "kind": "section", "fullyQualifiedName": found.place}]
    if found.function:
        logical.append({"name": found.function, "kind": "function", "fullyQualifiedName": found.function})
    result: dict[str, Any] = {
        "ruleId": found.rule.id,
        "ruleIndex": order.index(found.rule.id),
        "level": "error",
        "message": {"text": found.message},
        "locations": [{
            "physicalLocation": {"artifactLocation": {"uri": _uri(name), "index": 0}},
            "logicalLocations": logical,
        }],
        "properties": {"section": found.section, "offset": found.offset, "dialect": found.dialect},
    }
    if found.file and found.line:
        result["relatedLocations"] = [{
            "physicalLocation": {
                "artifactLocation": {"uri": _uri(found.file)}, "region": {"startLine": found.line},
            },
        }]
    return result


def _uri(path: str) -> str:
    from urllib.parse import quote

    return quote(path)
