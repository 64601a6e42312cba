"""``maint llvmdi``: LLVM's debug information extensions in files of LLVM assembly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import text_of, word_of
from rocdbg.cli.arguments import Arguments, optional, required
from rocdbg.cli.command_options import Option, Unknown
from rocdbg.cli.command_registry import Category, Completes, Repeat, command
from rocdbg.cli.settings.setting_value_kinds import String

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

DIALECTS = ("amd", "proposal2020", "llvm22")
FILE = word_of("FILE", Completes.FILE)
MISSING = "Argument required (a file of LLVM assembly)."


def _show(shell: Shell, action: str, file: str, name: str = "", dialect: str = "amd", places: str = "") -> None:
    from rocdbg.debugger.reports.llvm_debug_info import report

    for line in report(action, file, name, dialect, places or None).lines:
        shell.line(line)


@command(
    "maintenance llvmdi check", category=Category.INTERNALS, repeat=Repeat.NEVER,
    args=Arguments(required("file", FILE, MISSING)),
)
def maint_llvmdi_check(shell: Shell, file: str) -> None:
    """Show which rules of LLVM's debug information extensions a file of LLVM assembly breaks."""
    _show(shell, "check", file)


@command(
    "maintenance llvmdi print", category=Category.INTERNALS, repeat=Repeat.NEVER,
    args=Arguments(required("file", FILE, MISSING)),
)
def maint_llvmdi_print(shell: Shell, file: str) -> None:
    """Show the objects, lifetime segments and expressions of a file of LLVM assembly."""
    _show(shell, "print", file)


@command(
    "maintenance llvmdi canonical", category=Category.INTERNALS, repeat=Repeat.NEVER,
    args=Arguments(required("file", FILE, MISSING)),
)
def maint_llvmdi_canonical(shell: Shell, file: str) -> None:
    """Show the objects of a file of LLVM assembly with expressions in canonical form."""
    _show(shell, "canonical", file)


@command(
    "maintenance llvmdi lower", category=Category.INTERNALS, repeat=Repeat.NEVER,
    usage="maintenance llvmdi lower [-dialect NAME] FILE [PLACES]",
    args=Arguments(
        Option("-dialect", kind=String(offers=DIALECTS), default="amd", gives="str"),
        required("file", FILE, MISSING), optional("places", text_of("PLACES", Completes.FILE), ""),
        unknown=Unknown.ERROR,
    ),
)
def maint_llvmdi_lower(shell: Shell, dialect: str, file: str, places: str) -> None:
    """Show the DWARF that results from the debug information of a file of LLVM assembly.

    PLACES is a TOML file that gives the places of registers and stack slots. -dialect amd|proposal2020|llvm22: how the
    extensions are encoded.
    """
    _show(shell, "lower", file, "", dialect, places)


@command(
    "maintenance llvmdi explain", category=Category.INTERNALS, repeat=Repeat.NEVER,
    args=Arguments(required("file", FILE, MISSING), optional("name", text_of("VARIABLE"), "")),
)
def maint_llvmdi_explain(shell: Shell, file: str, name: str) -> None:
    """Show where the objects of a file of LLVM assembly are, and by which operations.

    VARIABLE is the name of a variable or a fragment (!12); by default all are shown.
    """
    _show(shell, "explain", file, name)
