"""`info registers`: scalar registers as two columns, vector registers as a grid of lanes."""

from __future__ import annotations

from collections.abc import Sequence

from rocdbg.debugger.reports.session_tables import RegisterRow
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value

NAME_WIDTH = 15
RAW_WIDTH = 20
LANES_PER_LINE = 8  # of dwords; half as many of wider registers


def register_lines(rows: Sequence[RegisterRow]) -> list[str]:
    """The lines of ``info registers``."""
    name_width = max([len(row.name) + 1 for row in rows] + [NAME_WIDTH])
    lines = []
    for row in rows:
        if row.value.absence is None and c_types.is_vector_like(row.value.type):
            lines += _vector(row, name_width)
        else:
            lines.append(f"{row.name:<{name_width}}{row.raw:<{RAW_WIDTH - 1}} {row.natural}".rstrip())
    return lines


def _vector(row: RegisterRow, name_width: int) -> list[str]:
    """A vector register: one value in braces where all lanes agree, else eight lanes to a line in hexadecimal."""
    elements = list(row.value.each_element())
    texts = [_hex(element) for element in elements]
    if len(set(texts)) == 1:
        return [f"{row.name:<{name_width}}{{{texts[0]} <repeats {len(texts)} times>}}"]
    width = max(len(text) for text in texts)
    mark = len(f"[{len(texts) - 1}]")
    lines = []
    per_line = LANES_PER_LINE if elements[0].size <= 4 else LANES_PER_LINE // 2
    for first in range(0, len(texts), per_line):
        cells = " ".join(text.rjust(width) for text in texts[first : first + per_line])
        name = row.name if first == 0 else ""
        lines.append(f"{name:<{name_width}}{f'[{first}]':<{mark}} {cells}")
    return lines


def _hex(element: Value) -> str:
    if c_types.is_vector_like(element.type) or c_types.is_float(element.type):
        return f"{int.from_bytes(element.contents(), 'little'):#x}"
    return f"{element.as_int() & ((1 << 8 * element.size) - 1):#x}"
