"""Which instructions of a target are modelled, and how well: the rows of ``maint isa coverage``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.debugger.reports.patterns import compile_pattern
from rocdbg.sim.coverage import instruction_coverage, summary

if TYPE_CHECKING:
    from rocdbg.debugger.session import Session


def coverage_rows(
    session: Session, target: str, pattern: str
) -> tuple[str, list[tuple[str, str, str]], dict[str, int]]:
    """The target's name; (instruction, coverage, reason) of those that match; and how many there are of each kind.

    Without a target, the loaded program's. Raises `rocdbg.Error` for a target that is none.
    """
    name = target or session.need_program().code_object.target.name
    wanted = compile_pattern(pattern)
    rows = [row for row in instruction_coverage(name) if wanted.search(row.name)]
    counts = {kind.value: count for kind, count in summary(rows).items()}
    return name, [(row.name, row.coverage.value, row.reason) for row in rows], counts
