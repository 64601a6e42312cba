"""`info registers` for groups: GDB's groups, registers by their initial meaning, and registers that changed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rocdbg.cli.command_registry import CommandError
from rocdbg.cli.register_tables import register_lines
from rocdbg.debugger.base.errors import NoRegistersError
from rocdbg.debugger.reports.kernel_registers import (
    ALL,
    CHANGED,
    GENERAL,
    GIVEN,
    GROUPS,
    SYSTEM,
    SYSTEM_REGISTERS,
    USER,
    VECTOR,
    WORK_ITEM,
    GivenRegister,
    given_registers,
    group_of,
)
from rocdbg.debugger.reports.register_changes import register_names
from rocdbg.debugger.reports.session_tables import RegisterRow

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

_HEADINGS = {
    USER: "User SGPRs", SYSTEM: "Workgroup registers", WORK_ITEM: "Work-item registers",
    GENERAL: "Scalar registers", VECTOR: "Vector registers", SYSTEM_REGISTERS: "System registers",
}
MAX_RANGE = 64
"""The maximum number of registers in an operand."""
CHANGE, ELSEWHERE = "*", "~"
"""Marks of a register that changed, and of one that changed only in lanes other than the focused one."""


def keep_registers(shell: Shell, thread: int | None = None) -> None:
    """`set register-changes`: save a wave's registers for comparison at its next stop."""
    session = shell.session
    target = session.inferior.target
    thread = session.focus.current.thread if thread is None else thread
    if session.settings.register_changes and target is not None and thread is not None:
        shell.state.register_changes.stop(session.inferior.life, target, thread)


def write_registers(shell: Shell, names: Sequence[str]) -> None:
    """Write ``info registers``; names may be those of groups."""
    tables = shell.session.tables
    if not names:
        _write(shell, tables.registers())
    for name in names:
        if name in GIVEN:
            _write_given(shell, GIVEN[name])
        elif name == CHANGED:
            _write_changed(shell)
        elif name in GROUPS:
            within = [each for each in _all_names(shell) if name in (ALL, group_of(each))]
            _write(shell, tables.registers(within) if within else [])
        else:
            _write(shell, tables.registers([name]))


def write_grouped(shell: Shell) -> None:
    """Write ``info registers -grouped``: initialised registers by their meaning, then the others by kind."""
    given = _given(shell)
    for group in (USER, SYSTEM, WORK_ITEM):
        if any(row.group == group for row in given):
            shell.line(f"{_HEADINGS[group]}:")
            _write_given(shell, group)
    shown = {name for row in given for name in _single(row.name)}
    for group in (GENERAL, VECTOR, SYSTEM_REGISTERS):
        names = [name for name in _all_names(shell) if group_of(name) == group and name not in shown]
        if names:
            shell.line(f"{_HEADINGS[group]}:")
            _write(shell, shell.session.tables.registers(names))


def _all_names(shell: Shell) -> list[str]:
    target, thread = shell.session.inferior.target, shell.session.focus.current.thread
    if target is None or thread is None:
        raise NoRegistersError
    return register_names(target, thread)


def _given(shell: Shell) -> list[GivenRegister]:
    session = shell.session
    thread = session.focus.current.thread
    if thread is None:
        raise NoRegistersError
    kernel = session.inferior.program_of(thread).code_object.kernels.find(session.inferior.wave(thread).kernel)
    return given_registers(kernel.descriptor) if kernel is not None else []


def _write_given(shell: Shell, group: str) -> None:
    given = _given(shell)
    rows = [row for row in given if row.group == group]
    width = max((len(row.meaning) for row in given), default=0) + 2
    for row in rows:
        for number, line in enumerate(_lines(shell, shell.session.tables.registers([row.name]))):
            shell.line(f"{'' if number else row.meaning:<{width}}{line}")


def _write_changed(shell: Shell) -> None:
    if not shell.session.settings.register_changes:
        raise CommandError('Changes of registers are not recorded. Use "set register-changes on".')
    changes = _changes(shell)
    if changes is None:
        raise CommandError("The registers of this wave were not saved at the previous stop.")
    names = [name for name in changes if name != "pc"]
    if not names:
        shell.line("No registers have changed.")
        return
    _write(shell, shell.session.tables.registers(names))


def _changes(shell: Shell) -> dict[str, tuple[bytes, bytes]] | None:
    session = shell.session
    target, focus = session.inferior.target, session.focus.current
    if not session.settings.register_changes or target is None or focus.thread is None or focus.frame:
        return None
    return shell.state.register_changes.changed(session.inferior.life, target, focus.thread)


def _write(shell: Shell, rows: Sequence[RegisterRow]) -> None:
    for line in _lines(shell, rows):
        shell.line(line)


def _lines(shell: Shell, rows: Sequence[RegisterRow]) -> list[str]:
    lane = shell.session.focus.current.lane or 0
    marks = {}
    for name, (old, new) in (_changes(shell) or {}).items():
        here = slice(4 * lane, 4 * lane + 4) if group_of(name) == VECTOR else slice(None)
        marks[name] = CHANGE if old[here] != new[here] else ELSEWHERE
    for row in rows:
        parts = [marks[name] for name in _single(row.name) if name in marks]
        if row.name not in marks and parts:
            marks[row.name] = min(parts)  # the star takes precedence
    return register_lines(rows, marks)


_RANGE = re.compile(r"\$?([sva])\[(\d+):(\d+)\]")


def _single(name: str) -> list[str]:
    """Return the registers of a range; any other name is returned unchanged."""
    match = _RANGE.fullmatch(name)
    if match is None:
        return [name]
    first, last = int(match[2]), int(match[3])
    return [f"{match[1]}{index}" for index in range(first, min(last, first + MAX_RANGE) + 1)]
