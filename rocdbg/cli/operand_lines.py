"""The lines of `info operands`, and operands after instructions in listings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.register_tables import register_lines
from rocdbg.debugger.base.errors import RegisterAccessError
from rocdbg.debugger.reports.operand_values import OperandRow, operands_here
from rocdbg.debugger.reports.session_tables import RegisterRow
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

_NAME = 10


def write_operands(shell: Shell, all_lanes: bool = False) -> None:
    """Write ``info operands``, and keep the values for comparison with the next ones. Raises `NoRegistersError`."""
    session = shell.session
    text, operands = operands_here(session.inferior, session.focus, session.data)
    thread, lane = session.focus.current.thread, session.focus.current.lane or 0
    key = (session.inferior.life, thread)
    known = shell.state.operands_shown if shell.state.operands_of == key else {}
    changed = set()
    lines = []
    for name, (before, written) in known.items():
        row = register_row(shell, name)
        if row is None or row.value.absence is not None or row.value.contents() == before.contents():
            continue
        changed.add(name)
        if written:
            old, new = shown_value(before, lane, name), shown_value(row.value, lane, name)
            lines.append(f"changed      {name:<{_NAME}} " + (f"{old} -> {new}" if old != new else "in other lanes"))
    lines.append(f"next         {text}")
    shown: dict[str, tuple[Value, bool]] = {}
    rows: list[tuple[OperandRow, RegisterRow]] = []
    for operand in operands:
        found = register_row(shell, operand.name)
        if found is not None:
            rows.append((operand, found))
            if found.value.absence is None:
                data = found.value.contents()
                shown[operand.name] = Value(found.value.type, data=data), operand.writes
    for operand, found in rows:
        role = ("reads" if operand.reads else "") + ("+" if operand.reads and operand.writes else "")
        role += "writes" if operand.writes else ""
        mark = "*" if operand.name in changed else " "
        if all_lanes and found.value.absence is None and c_types.is_vector_like(found.value.type):
            lines.append(f"{role:<13.13}{mark}")
            lines += register_lines([found])
            continue
        value = found.raw if found.value.absence is not None else shown_value(found.value, lane, operand.name)
        lines.append(f"{role:<12}{mark}{operand.name:<{_NAME}} {value}")
    shell.state.operands_shown, shell.state.operands_of = shown, key
    for line in lines:
        shell.line(line)


def register_row(shell: Shell, name: str) -> RegisterRow | None:
    """Return a register's contents; ``None`` if the wave does not have the register."""
    try:
        [row] = shell.session.tables.registers([name])
    except RegisterAccessError:
        return None
    return row


def in_lane(value: Value, lane: int, name: str) -> Value:
    """Return a lane's part of a register: the element of a vector register, or the whole of any other."""
    if c_types.is_vector_like(value.type) and name[:1] in "va" and name[:3] != "vcc":
        elements = list(value.each_element())
        return elements[lane] if lane < len(elements) else elements[0]
    return value


def shown_value(value: Value, lane: int, name: str) -> str:
    """Return the text of a value in the focused lane, in hexadecimal and as other interpretations of a dword."""
    data = in_lane(value, lane, name).contents()
    number = int.from_bytes(data, "little")
    if len(data) > 8:
        words = [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)]
        return " ".join(f"{word:#x}" for word in words)
    if len(data) != 4:
        return f"{number:#x}"
    signed = number - (number >> 31 << 32)
    return f"{number:#x} ({signed})"


_NOTED = 4
"""How many dwords of an operand are shown after an instruction."""


def operand_note(shell: Shell) -> str:
    """Return what the instruction at the selected frame's PC reads and will write: ``v1=0x5 s4=0x3 -> v0=0x0``.

    Empty if `set print asm-operands` is off or there are no registers.
    """
    session = shell.session
    if not session.settings.print.asm_operands:
        return ""
    try:
        _, operands = operands_here(session.inferior, session.focus, session.data)
    except Error:
        return ""
    lane = session.focus.current.lane or 0
    texts = {operand.name: _noted(shell, operand.name, lane) for operand in operands}
    read = [f"{row.name}={texts[row.name]}" for row in operands if row.reads and texts[row.name]]
    written = [f"{row.name}={texts[row.name]}" for row in operands if row.writes and texts[row.name]]
    return " ".join([*read, *(["->", *written] if written else [])])


def _noted(shell: Shell, name: str, lane: int) -> str:
    row = register_row(shell, name)
    if row is None:
        return ""
    if row.value.absence is not None:
        return row.raw
    data = in_lane(row.value, lane, name).contents()
    if len(data) <= 8:
        return f"{int.from_bytes(data, 'little'):#x}"
    words = [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)]
    cut = ", ..." if len(words) > _NOTED else ""
    return "{" + ", ".join(f"{word:#x}" for word in words[:_NOTED]) + cut + "}"
