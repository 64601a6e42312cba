"""Commands that look into the debug information: maint dwarf explain, eval, cfi."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.registry import Category, CommandError, Completes, Repeat, command
from rocdbg.debugger.reports.dwarf_inspection import describe_row, evaluate_hex, explain_variable

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

INTERNALS = Category.INTERNALS


@command("maint dwarf explain", category=INTERNALS, aliases=("maintenance dwarf explain",),
         usage="maint dwarf explain VARIABLE", completes=Completes.EXPRESSION, repeat=Repeat.NEVER)  # fmt: skip
def maint_dwarf_explain(shell: Shell, text: str) -> None:
    """Show how the location of a variable is found.

    Its expression (or location list, with the entry in force marked), each operation with the stack before and
    after it, the location that comes out with its parts, and the same for every lane.
    """
    if not text:
        raise CommandError("Argument required (a variable's name).")
    for line in explain_variable(shell.session, text):
        shell.line(line)


@command("maint dwarf eval", category=INTERNALS, aliases=("maintenance dwarf eval",),
         usage="maint dwarf eval [-v|-l] [-dialect NAME] HEX", options=("-v", "-l", "-dialect"),
         repeat=Repeat.NEVER)  # fmt: skip
def maint_dwarf_eval(shell: Shell, text: str) -> None:
    """Evaluate the bytes of a DWARF expression in the selected frame and lane.

    -v: as a value; -l: as a location; -dialect amd|proposal2020|llvm22: how the extensions are encoded.
    """
    for line in evaluate_hex(shell.session, text):
        shell.line(line)


@command("maint dwarf cfi", category=INTERNALS, aliases=("maintenance dwarf cfi",), usage="maint dwarf cfi [PC]",
         completes=Completes.EXPRESSION, repeat=Repeat.NEVER)  # fmt: skip
def maint_dwarf_cfi(shell: Shell, text: str) -> None:
    """Show the rules that find the caller's registers at PC, by default that of the selected frame."""
    session = shell.session
    pc = session.integer(text) if text else session.frame().context.wave_pc
    for line in describe_row(session, pc or 0):
        shell.line(line)
