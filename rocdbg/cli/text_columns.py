"""Columns of `info` tables, as wide as their contents."""

from __future__ import annotations

from collections.abc import Sequence

from rocdbg.cli.visible_text import one_line


def render(
    head: Sequence[str], rows: Sequence[Sequence[str]], marks: Sequence[bool] | None = None, keep_blanks: bool = False
) -> str:
    """Format a table as text. The last column is not padded; ``marks`` puts `* ` before the current rows.

    As in GDB, a column of ids has room for four digits. With ``keep_blanks``, a row whose last cell is empty ends with
    the blanks that pad the cell before it.
    """
    rows = [[one_line(cell) for cell in row] for row in rows]  # widths are those of the visible text
    columns = len(head)
    widths = [max(len(row[k]) for row in (head, *rows)) for k in range(columns - 1)]
    if marks is not None and head[0] == "Id":
        widths[0] = max(widths[0], 4)
    lines = []
    for index, row in enumerate((head, *rows)):
        lead = ""
        if marks is not None:
            lead = "* " if index and marks[index - 1] else "  "
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        text = lead + " ".join([*cells, row[-1]])
        lines.append(text.rstrip() if index and not keep_blanks else text)
    return "".join(line + "\n" for line in lines)
