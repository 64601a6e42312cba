"""Values in many places as text: equal neighbours are folded, and outliers listed below."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rocdbg.cli.text_columns import render
from rocdbg.cli.visible_text import one_line
from rocdbg.debugger import lane_mask, lane_ranges
from rocdbg.debugger.reports.across_lanes import Sample, runs, spread

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

_CONDITION = re.compile(r"^[!$]|[=!<>]=|[<>]|&&|\|\|")

WIDTH, GAP, MOST_COLUMNS = 80, 4, 8
"""Limits on columns: characters per line, blanks between two columns, and the number of columns."""
MOST_ROWS = 16
"""The largest number of rows in a single column; if there are more, several columns are used."""
MOST_ODD = 8
"""The largest number of outliers that are listed; any further ones are only counted."""


class Places(enum.Enum):
    """The places in which an expression is evaluated; the value is the word for one of them."""

    LANES = "lane"
    WAVES = "wave"
    GROUPS = "workgroup"


def is_condition(text: str) -> bool:
    """Whether the argument of a `find` command is an expression, not a regular expression.

    It is if it has a comparison or logical operator (``== != < > <= >= && ||``), or begins with ``!`` or ``$``.
    """
    return _CONDITION.search(text) is not None


def write_samples(shell: Shell, kind: str, samples: Iterable[Sample]) -> None:
    """Write samples as a folded table with a summary; ``kind``: "lane", "wave" or "workgroup".

    Samples may be computed one by one: after an interrupt, those collected so far are shown. Raises the error if all
    samples failed.
    """
    seen: list[Sample] = []
    interrupted = False
    try:
        for sample in samples:
            seen.append(sample)
    except KeyboardInterrupt:
        interrupted = True
    if seen and seen[0].failed is not None and all(sample.failed is not None for sample in seen):
        raise seen[0].failed
    rows = [(run.places, run.last.text if run.last.active else f"({run.last.text})") for run in runs(seen)]
    _write_rows(shell, f"{kind.capitalize()}s", rows)
    active = [sample for sample in seen if sample.active]
    for line in summary(kind, active):
        shell.line(line)
    if len(active) < len(seen):
        shell.line(f"Values in parentheses: {_counted(len(seen) - len(active), f'inactive {kind}')}.")
    if interrupted:
        raise KeyboardInterrupt


def _write_rows(shell: Shell, head: str, rows: list[tuple[str, str]]) -> None:
    """Write places and values one below the other; many short ones go into columns, which are read downwards."""
    cells = [(places, one_line(text)) for places, text in rows]
    left = max((len(places) for places, _ in cells), default=0)
    right = max((len(text) for _, text in cells), default=0)
    columns = min((WIDTH + GAP) // (left + 2 + right + GAP), MOST_COLUMNS)
    if len(cells) <= MOST_ROWS or columns < 2:
        shell.write(render((head, "Value"), cells))
        return
    shell.line(f"{head}, values")
    height = -(-len(cells) // columns)
    for row in range(height):
        line = (f"{places:>{left}}  {text:<{right}}" for places, text in cells[row::height])
        shell.line((" " * GAP).join(line).rstrip())


def summary(kind: str, samples: list[Sample]) -> list[str]:
    """Return the lines below a table: the number of values, the minimum and maximum, and the outliers."""
    found = spread(samples)
    if not found.count:
        return [f"No active {kind}s."]
    many = "all the same" if found.values == 1 else f"{found.values} different values"
    lines = [f"{_counted(found.count, kind)}, {many}."]
    if found.values > 1 and found.least is not None and found.greatest is not None:
        least, greatest = found.least, found.greatest
        lines.append(
            f"Minimum {one_line(least.text)} in {kind} {least.label}, "
            f"maximum {one_line(greatest.text)} in {kind} {greatest.label}."
        )
    if found.odd:
        named = ", ".join(f"{kind} {sample.label} has {one_line(sample.text)}" for sample in found.odd[:MOST_ODD])
        more = f", and {len(found.odd) - MOST_ODD} more" if len(found.odd) > MOST_ODD else ""
        lines.append(f"Odd ones out: {named}{more}.")
    return lines


def _counted(count: int, kind: str) -> str:
    return f"1 {kind}" if count == 1 else f"{count} {kind}s"


def write_groups(shell: Shell, head: str, samples: Iterable[Sample]) -> None:
    """Write lanes grouped by their text, largest group first; ``head`` is the title of the last column."""
    lanes: dict[tuple[str, bool], list[int]] = {}
    for sample in samples:
        lanes.setdefault((sample.text, sample.active), []).append(sample.number)
    rows = [
        (str(len(numbers)), "A" if active else "I", lane_ranges(lane_mask(numbers)), text)
        for (text, active), numbers in sorted(lanes.items(), key=lambda item: (-len(item[1]), item[1]))
    ]
    shell.write(render(("Count", "State", "Lanes", head), rows))
