"""Which instructions of a target are modelled, and how precisely: the rows of ``maint isa coverage``."""

from __future__ import annotations

from rocdbg.debugger.base.patterns import compile_pattern
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.sim.instruction_coverage import instruction_coverage, summary


def coverage_rows(
    inferior: Inferior, target: str, pattern: str
) -> tuple[str, list[tuple[str, str, str]], dict[str, int]]:
    """Return the target's name, (instruction, coverage, reason) of matching instructions, and the number of each kind.

    Without a target, the loaded program's target is used. Raises `rocdbg.Error` for an unknown target.
    """
    name = target or inferior.need_program().code_object.target.name
    wanted = compile_pattern(pattern)
    rows = [row for row in instruction_coverage(name) if wanted.search(row.name)]
    counts = {kind.value: count for kind, count in summary(rows).items()}
    return name, [(row.name, row.coverage.value, row.reason) for row in rows], counts
