"""The status line: the focus, and EXEC as a small picture. The prompt shows it as well."""

from __future__ import annotations

from rocdbg.cli.screen.fragments import Fragment, Line, columns, fitted, shortened_name
from rocdbg.cli.screen.session_view import View

DOT_ORDER = (0x01, 0x02, 0x04, 0x40, 0x08, 0x10, 0x20, 0x80)
"""The bits of a braille character from top to bottom: lanes 0-3 in the left column, lanes 4-7 in the right one."""

MOST_OF_FILE = 32
"""How many columns the name of a file may take, so that a long name does not displace EXEC."""


def exec_picture(mask: int, lanes: int, unicode: bool) -> str:
    """Return a mask of lanes with eight lanes per character, lane 0 first; in hexadecimal if only ASCII is available.
    """
    if not unicode:
        return f"{mask:0{max(1, lanes // 4)}x}"
    found = ""
    for first in range(0, lanes, 8):
        byte = mask >> first & 0xFF
        found += chr(0x2800 + sum(dot for index, dot in enumerate(DOT_ORDER) if byte >> index & 1))
    return found


def status_parts(view: View) -> list[tuple[int, Line]]:
    """Return the parts of the line, each with a number that says how dispensable it is (0: not at all)."""
    wave = view.wave
    if wave is None:
        program = view.session.inferior.program
        name = view.session.launch.spec.kernel if program is not None else None
        text = f"kernel {name}, not running" if name else "not running" if program is not None else "no file"
        return [(0, [("", f" {text}")])]
    frame = view.frame
    parts: list[tuple[int, Line]] = [
        (3, [("", f" dispatch {wave.id.agent}:{wave.id.queue}:{wave.id.dispatch}")]),
        (2, [("", f" group ({','.join(map(str, wave.workgroup))})")]),
        (0, [("class:status.strong", f" wave {wave.number}"), ("class:status.strong", f" lane {view.focus.lane}")]),
    ]
    if frame is not None:
        name = frame.name or "??"
        level = f"#{frame.level} " if frame.level else ""
        parts.append((4, [("class:status.function", f" {level}{name if len(name) <= 24 else name[:21] + '...'}")]))
        if frame.file is not None and frame.line is not None:
            parts.append((1, [("class:status.file", f" {shortened_name(frame.file.name, MOST_OF_FILE)}:{frame.line}")]))
        else:
            parts.append((1, [("class:status.file", f" {int(frame.pc):#x}")]))
    standing = view.standing
    if standing is not None:
        picture = exec_picture(standing.active, standing.lane_count, view.unicode)
        edge = ("▕", "▏") if view.unicode else ("", "")
        count = f"{standing.active.bit_count()}/{standing.used.bit_count()}"
        whose = "EXEC" if view.exec_is_of_source else "source lanes"
        parts.append((1, [("", f" {whose} {edge[0]}"), ("class:status.exec", picture), ("", edge[1])]))
        parts.append((2, [("", f" {count}")]))
        if not view.exec_is_of_source:
            parts.append((3, [("", f", EXEC {(wave.exec_mask & standing.used).bit_count()}")]))
    return parts


def status_line(view: View, width: int) -> Line:
    """Return the line with as many parts as fit into ``width`` columns."""
    parts = status_parts(view)
    while sum(columns(text) for _, line in parts for _, text in line) > width and any(rank for rank, _ in parts):
        most = max(rank for rank, _ in parts)
        parts = [part for part in parts if part[0] != most]
    flat: list[Fragment] = [fragment for _, line in parts for fragment in line]
    return fitted(flat, width, "class:status")
