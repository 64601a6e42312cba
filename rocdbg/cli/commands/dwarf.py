"""Commands that inspect debug information: maint dwarf explain, eval, cfi."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rocdbg.cli.argument_kinds import EXPRESSION, INTEGER, words_of
from rocdbg.cli.arguments import Arguments, optional, required
from rocdbg.cli.command_options import Option, Unknown
from rocdbg.cli.command_registry import Category, Repeat, command
from rocdbg.cli.settings.setting_value_kinds import String
from rocdbg.debugger.reports.dwarf_inspection import DIALECTS

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

INTERNALS = Category.INTERNALS
KIND = "Literal['value', 'location'] | None"


@command(
    "maintenance dwarf explain", category=INTERNALS, repeat=Repeat.NEVER,
    args=Arguments(required("name", EXPRESSION, "Argument required (a variable's name).", "VARIABLE")),
)
def maint_dwarf_explain(shell: Shell, name: str) -> None:
    """Show how the location of a variable is found.

    Shows its expression (or location list, with the current entry marked), each operation with the stack before and
    after it, the resulting location with its parts, and the location in every lane.
    """
    for line in shell.session.dwarf.explain_variable(name):
        shell.line(line)


@command(
    "maintenance dwarf eval", category=INTERNALS, repeat=Repeat.NEVER,
    usage="maintenance dwarf eval [-v|-l] [-dialect NAME] HEX",
    args=Arguments(
        Option("-v", key="kind", value="value", default=None, gives=KIND),
        Option("-l", key="kind", value="location", default=None, gives=KIND),
        Option("-dialect", kind=String(offers=DIALECTS), default="amd", gives="str"),
        required("data", words_of("HEX"), "Argument required (the bytes of a DWARF expression, in hexadecimal)."),
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
    "maintenance dwarf cfi", category=INTERNALS, repeat=Repeat.NEVER,
    args=Arguments(optional("pc", INTEGER, shown="PC")),
)
def maint_dwarf_cfi(shell: Shell, pc: int | None) -> None:
    """Show the rules that find the caller's registers at PC, by default that of the selected frame."""
    session = shell.session
    at = pc if pc is not None else session.focus.frame().context.wave_pc
    for line in session.dwarf.describe_row(at or 0):
        shell.line(line)


@command(
    "maintenance dwarf coverage", category=INTERNALS, repeat=Repeat.NEVER,
    args=Arguments(optional("function", EXPRESSION, "", "FUNCTION")),
)
def maint_dwarf_coverage(shell: Shell, function: str) -> None:
    """Show at how many instructions of its scope each variable has a value.

    For the functions called FUNCTION (by default the selected frame's, otherwise all) and the calls inlined in them:
    for each variable, the share of instructions at which the compiler gives its location, at which its value is
    recovered, and at which neither is the case.
    """
    rows = shell.session.dwarf.coverage(function)
    width = max((len(row.name) for row in rows), default=0)
    for name in dict.fromkeys(row.function for row in rows):
        shell.line(f"{name}:")
        for row in rows:
            if row.function == name:
                shares = [row.located, row.recovered, row.total - row.located - row.recovered]
                texts = [f"{100 * share / row.total:5.1f} %" for share in shares]
                shell.line(f"  {row.name:<{width}}  compiler {texts[0]}  recovered {texts[1]}  none {texts[2]}")
    total = sum(row.total for row in rows)
    if total:
        located, recovered = sum(row.located for row in rows), sum(row.recovered for row in rows)
        shell.line(
            f"{len(rows)} variables: compiler {100 * located / total:.1f} %, "
            f"recovered {100 * recovered / total:.1f} %, "
            f"none {100 * (total - located - recovered) / total:.1f} %."
        )
