"""The instructions that each pattern of `deviations` matches: a row per pattern in ``deviating_names.txt``.

If a pattern matches an additional instruction, the test fails until the row is updated::

    python -m tests.sim.pcode.deviating_names
"""

from __future__ import annotations

import re
from pathlib import Path

from rocdbg.sim.semantics.index import MODULES
from tests.sim.pcode.deviations import NOT_COMPARED, REPLACED

FILE = Path(__file__).with_name("deviating_names.txt")


def rows() -> str:
    """All patterns, with the instructions with semantics that they match and no earlier pattern does."""
    names = sorted({name.upper() for text in MODULES.values() for name in text.split()})
    lines = []
    for number, row in enumerate(REPLACED):
        before = [one for one in REPLACED[:number] if one.targets == ".*"]
        matching = [
            name for name in names
            if re.fullmatch(row.pattern, name) and not any(re.fullmatch(one.pattern, name) for one in before)
        ]
        lines.append(f"# {row.pattern} ({row.targets}): {row.why}\n{' '.join(matching)}\n")
    for pattern, why in NOT_COMPARED.items():
        lines.append(f"# {pattern}, not compared: {why}\n{' '.join(n for n in names if re.fullmatch(pattern, n))}\n")
    return "\n".join(lines)


if __name__ == "__main__":
    FILE.write_text(rows(), encoding="utf-8")
