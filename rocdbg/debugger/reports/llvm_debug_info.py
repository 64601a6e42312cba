"""LLVM's debug information extensions in LLVM assembly files: the output of the tool and of ``maint llvmdi``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from rocdbg import llvmdi
from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.dwarf.operation_table import DIALECTS

__all__ = ["ACTIONS", "DIALECTS", "Report", "report"]

ACTIONS = ("check", "print", "canonical", "lower", "explain")


class Report(Struct, frozen=True):
    """The lines that an action prints, and whether what it checked is well-formed."""

    lines: Sequence[str]
    is_good: bool = True


def report(
    action: str, path: str | Path, name: str = "", dialect: str = "amd", places: str | Path | None = None
) -> Report:
    """Return the output of an action of `ACTIONS` for a file; `name` selects an object, `places` is a placement file.

    Raises `llvmdi.ReadError` for a file that cannot be read, and `DebuggerError` for an object that does not exist.
    """
    module = llvmdi.read(path)
    if action == "check":
        return _check(module)
    from rocdbg.llvmdi.module_listing import lowered_lines, object_lines

    info = llvmdi.DebugInfo(module)
    if action in ("print", "canonical"):
        return Report(list(object_lines(info, canonical=action == "canonical")))
    if action == "lower":
        placement = llvmdi.Placement({}) if places is None else llvmdi.read_placement(places)
        lowered = llvmdi.lower(info, placement, dialect)
        return Report(list(lowered_lines(lowered)), all(entry.trouble is None for entry in lowered.entries))
    if action == "explain":
        return _explain(info, name)
    raise DebuggerError(f'Undefined llvmdi action: "{action}".  There are {", ".join(ACTIONS)}.')


def _check(module: llvmdi.Module) -> Report:
    findings = llvmdi.check(module)
    wrong = sum(not finding.is_note for finding in findings)
    notes = len(findings) - wrong
    words = f"{wrong} rule{'s' * (wrong != 1)} broken" if wrong else "well-formed"
    end = f", {notes} note{'s' * (notes != 1)}" if notes else ""
    return Report([*map(str, findings), f"{words}{end}."], not wrong)


def _explain(info: llvmdi.DebugInfo, name: str) -> Report:
    from rocdbg.llvmdi.explaining import explanation_lines

    nodes = [node for node in info.objects if not name or name in (info.name_of(node), f"!{node.name}")]
    if name and not nodes:
        raise DebuggerError(f'No object "{name}" in the debug information.')
    return Report(list(explanation_lines(info, nodes)))
