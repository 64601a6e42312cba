"""The output of `rocdbg dwarf` for a file, line by line."""

from __future__ import annotations

from collections.abc import Iterator

from rocdbg import dwarf
from rocdbg.dwarf.checker.finding_formats import as_json, as_sarif, as_text
from rocdbg.dwarf.checker.listing import explained, listed


def check_file(path: str, target_id: str | None, form: str, version: str) -> tuple[bool, list[str]]:
    """Return whether a file breaks no rule, and the findings as lines of "text", "json" or "sarif"."""
    findings = dwarf.check(dwarf.open(path, target_id))
    if form == "json":
        lines = as_json(path, findings).splitlines()
    elif form == "sarif":
        lines = as_sarif(path, findings, version).splitlines()
    else:
        lines = as_text(path, findings)
    return not findings, lines


def print_file(path: str, target_id: str | None) -> Iterator[str]:
    """Yield the units, entries and attributes of a file."""
    return listed(dwarf.open(path, target_id))


def explain_file(path: str, target_id: str | None, name: str, pc: int | None, lane: int) -> Iterator[str]:
    """Yield the locations of the objects with this name, and the operations that determine them."""
    return explained(dwarf.open(path, target_id), name, pc, lane)
