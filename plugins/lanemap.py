"""Draws a wave as a grid of lanes: which are active, inactive or unused, and the source line of each."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase

from rocdbg.plugin import Category, CommandError, LaneRow, LaneState, PluginApi, Shell, command

COLUMNS = 16
# Colours are an aid only: the letters say the same.
STYLES = ("function", "variable", "address", "file", "highlight", "title")
LETTERS = ascii_lowercase


def place(row: LaneRow) -> str:
    """The position of a lane: ``divergence.hip:13``, or its address if no line is known."""
    frame = row.frame
    if frame is None:
        return ""
    if frame.file is not None and frame.line is not None:
        return f"{frame.file.name}:{frame.line}"
    return f"{frame.pc:#x}"


def letters(rows: Sequence[LaneRow]) -> dict[str, str]:
    """A letter for each place, in order of the lanes; places beyond the alphabet share the last letter."""
    places = dict.fromkeys(place(row) for row in rows if row.frame is not None)
    return {name: LETTERS[min(index, len(LETTERS) - 1)] for index, name in enumerate(places)}


def symbol(row: LaneRow, letter: dict[str, str]) -> str:
    """One character: a capital letter for an active lane, a small one for an inactive lane, ``.`` for an unused one."""
    if row.state is LaneState.UNUSED:
        return "."
    name = letter[place(row)]
    return name.upper() if row.state is LaneState.ACTIVE else name


def draw(rows: Sequence[LaneRow], columns: int = COLUMNS) -> list[list[tuple[str, str]]]:
    """The map as lines of (style, text) parts: a ruler, the lanes ``columns`` to a line, the legend."""
    letter = letters(rows)
    styles = {name: STYLES[index % len(STYLES)] for index, name in enumerate(letter)}
    lines: list[list[tuple[str, str]]] = []
    lines.append([("metadata", "     " + "".join(f"{column:>3}" for column in range(columns)))])
    for start in range(0, len(rows), columns):
        line = [("metadata", f"{start:>4} ")]
        for row in rows[start : start + columns]:
            style = styles.get(place(row), "metadata")
            line.append(("", ">" if row.current else " "))
            line.append(("", " ") if not row.current else ("", ""))
            line.append((style, symbol(row, letter)))
        lines.append(line)
    for name, mark in letter.items():
        at = [row for row in rows if row.frame is not None and place(row) == name]
        active = sum(row.state is LaneState.ACTIVE for row in at)
        inactive = len(at) - active
        counts = " and ".join(
            part
            for part in (f"{active} active" * bool(active), f"{inactive} inactive" * bool(inactive))
            if part
        )
        lines.append([(styles[name], f"  {mark.upper()}/{mark}"), ("", f"  {name}  ({counts})")])
    unused = sum(row.state is LaneState.UNUSED for row in rows)
    if unused:
        lines.append([("metadata", "  .  "), ("", f"  unused ({unused})")])
    lines.append([("metadata", "  upper case: active, lower case: inactive, >: the current lane")])
    return lines


@command("lanemap", category=Category.STATUS, usage="lanemap [COLUMNS]")
def lanemap(shell: Shell, text: str) -> None:
    """Draw the current wave as a grid of lanes.

    Each lane is a letter that represents its source line: in upper case if the lane is active, in lower case if it is
    inactive. A dot is a lane that the wave does not have. Each row has COLUMNS lanes (by default 16).
    """
    shell.need_threads()
    columns = shell.session.integer(text) if text else COLUMNS
    if not 1 <= columns <= 64:
        raise CommandError("lanemap: the number of columns must be from 1 to 64.")
    for line in draw(list(shell.session.lanes()), columns):
        shell.out.styled([*line, ("", "\n")])


def register(api: PluginApi) -> None:
    """Called by rocdbg when the plug-in is loaded."""
    api.command(lanemap)
