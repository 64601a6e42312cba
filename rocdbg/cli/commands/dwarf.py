"""Commands that look into the debug information: maint dwarf explain, eval, cfi."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rocdbg.cli.arguments import Arguments, optional, required
from rocdbg.cli.kinds import EXPRESSION, INTEGER, words_of
from rocdbg.cli.options import Option, Unknown
from rocdbg.cli.registry import Category, Repeat, command
from rocdbg.cli.value_kinds import String
from rocdbg.debugger.reports.dwarf_inspection import DIALECTS

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

INTERNALS = Category.INTERNALS
KIND = "Literal['value', 'location'] | None"


@command(
    "maint dwarf explain", category=INTERNALS, aliases=("maintenance dwarf explain",), repeat=Repeat.NEVER,
    args=Arguments(required("name", EXPRESSION, "Argument required (a variable's name).", "VARIABLE")),
)
def maint_dwarf_explain(shell: Shell, name: str) -> None:
    """Show how the location of a variable is found.

    Its expression (or location list, with the entry in force marked), each operation with the stack before and
    after it, the location that comes out with its parts, and the same for every lane.
    """
    for line in shell.session.dwarf.explain_variable(name):
        shell.line(line)


@command(
    "maint dwarf eval", category=INTERNALS, aliases=("maintenance dwarf eval",), repeat=Repeat.NEVER,
    usage="maint dwarf eval [-v|-l] [-dialect NAME] HEX",
    args=Arguments(
        Option("-v", key="kind", value="value", default=None, gives=KIND),
        Option("-l", key="kind", value="location", default=None, gives=KIND),
        Option("-dialect", kind=String(offers=DIALECTS), default="amd", gives="str"),
        required("data", words_of("HEX"), "The bytes of an expression are expected, in hexadecimal."),
        unknown=Unknown.ERROR,
    ),
)
def maint_dwarf_eval(shell: Shell, kind: Literal["value", "location"] | None, dialect: str, data: list[str]) -> None:
    """Evaluate the bytes of a DWARF expression in the selected frame and lane.

    -v: as a value; -l: as a location; -dialect amd|proposal2020|llvm22: how the extensions are encoded.
    """
    for line in shell.session.dwarf.evaluate_hex(data, kind, dialect):
        shell.line(line)


@command(
    "maint dwarf cfi", category=INTERNALS, aliases=("maintenance dwarf cfi",), repeat=Repeat.NEVER,
    args=Arguments(optional("pc", INTEGER, shown="PC")),
)
def maint_dwarf_cfi(shell: Shell, pc: int | None) -> None:
    """Show the rules that find the caller's registers at PC, by default that of the selected frame."""
    session = shell.session
    at = pc if pc is not None else session.focus.frame().context.wave_pc
    for line in session.dwarf.describe_row(at or 0):
        shell.line(line)
