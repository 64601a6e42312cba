"""Formats `info registers`: scalar registers in two columns, vector registers as a grid of lanes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rocdbg.debugger.reports.session_tables import RegisterRow
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value

NAME_WIDTH = 15
RAW_WIDTH = 20
LANES_PER_LINE = 8  # for dwords; half as many for wider registers


def register_lines(rows: Sequence[RegisterRow], marks: Mapping[str, str] | None = None) -> list[str]:
    """Return the lines of ``info registers``; ``marks`` has the marks that follow names."""
    marks = marks or {}
    titles = [f"{row.name} {marks[row.name]}" if row.name in marks else row.name for row in rows]
    name_width = max([len(title) + 1 for title in titles] + [NAME_WIDTH])
    lines = []
    for row, title in zip(rows, titles, strict=True):
        if row.value.absence is None and c_types.is_vector_like(row.value.type):
            lines += _vector(row, title, name_width)
        else:
            lines.append(f"{title:<{name_width}}{row.raw:<{RAW_WIDTH - 1}} {row.natural}".rstrip())
    return lines


def _vector(row: RegisterRow, title: str, name_width: int) -> list[str]:
    """Format a vector register: one value in braces if all lanes agree, otherwise eight lanes per line, in hexadecimal.
    """
    elements = list(row.value.each_element())
    texts = [_hex(element) for element in elements]
    if len(set(texts)) == 1:
        return [f"{title:<{name_width}}{{{texts[0]} <repeats {len(texts)} times>}}"]
    width = max(len(text) for text in texts)
    mark = len(f"[{len(texts) - 1}]")
    lines = []
    per_line = LANES_PER_LINE if elements[0].size <= 4 else LANES_PER_LINE // 2
    for first in range(0, len(texts), per_line):
        cells = " ".join(text.rjust(width) for text in texts[first : first + per_line])
        name = title if first == 0 else ""
        lines.append(f"{name:<{name_width}}{f'[{first}]':<{mark}} {cells}")
    return lines


def _hex(element: Value) -> str:
    if c_types.is_vector_like(element.type) or c_types.is_float(element.type):
        return f"{int.from_bytes(element.contents(), 'little'):#x}"
    return f"{element.as_int() & ((1 << 8 * element.size) - 1):#x}"
