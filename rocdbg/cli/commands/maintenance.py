"""Commands for rocdbg's own developers and tool builders: complete, maint ..."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from rocdbg.cli.argument_kinds import COMMAND, text_of, word_of
from rocdbg.cli.arguments import Arguments, optional
from rocdbg.cli.command_registry import Category, CommandError, Repeat, command
from rocdbg.cli.line_completion import complete_line
from rocdbg.cli.text_columns import render
from rocdbg.debugger.reports.address_spaces import address_aliases, address_spaces
from rocdbg.debugger.reports.isa_coverage import coverage_rows
from rocdbg.debugger.reports.program_tables import line_table

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell


COMPLETIONS = 200


@command(
    "complete", category=Category.SUPPORT, usage="complete TEXT", repeat=Repeat.NEVER,
    args=Arguments(optional("text", structs.replace(COMMAND, keeps_blanks=True), "")), keeps_blanks=True,
)
def complete(shell: Shell, text: str) -> None:
    """List the completions for the rest of the line as a command."""
    limit = int(str(shell.settings.get("max-completions", COMPLETIONS)))
    if limit == 0:
        raise CommandError("max-completions is zero, completion is disabled.")
    start, words = complete_line(shell, text)
    shown = words if limit < 0 else words[:limit]
    for word in shown:
        shell.line(text[:start] + word)
    if limit > 0 and len(shown) == limit:
        shell.line(f"{text} *** List may be truncated, max-completions reached. ***")


@command(
    "maintenance info line-table", category=Category.INTERNALS,
    args=Arguments(optional("pattern", text_of("REGEXP"), "")),
)
def maint_info_line_table(shell: Shell, pattern: str) -> None:
    """Show the rows of the line tables, with file addresses; REGEXP selects files by name."""
    for file, rows in line_table(shell.session.inferior.need_program(), pattern):
        shell.line(f"symtab: {file.path}")
        cells = [
            (str(i), str(row[1]) if row[1] else "END", f"{row[0]:#018x}", str(row[2]), row[3])
            for i, row in enumerate(rows)
        ]
        shell.write(render(("INDEX", "LINE", "ADDRESS", "COLUMN", "FLAGS"), cells))
        shell.line()


@command(
    "maintenance isa coverage", category=Category.INTERNALS,
    usage="maintenance isa coverage [TARGET [REGEXP]]",
    args=Arguments(optional("target", word_of("TARGET"), ""), optional("pattern", text_of("REGEXP"), "")),
)
def maint_isa_coverage(shell: Shell, target: str, pattern: str) -> None:
    """Show which of a target's instructions are simulated exactly, approximately (and why), or only decoded.

    TARGET is a processor (gfx90a), by default the loaded program's; with a REGEXP only instructions that match are
    listed.
    """
    name, rows, counts = coverage_rows(shell.session.inferior, target, pattern)
    shell.write(render(("Instruction", "Simulated", "Why"), rows))
    shell.line(f"{name}: " + ", ".join(f"{count} {kind}" for kind, count in counts.items()) + ".")


@command("maintenance print address-spaces", category=Category.INTERNALS, args=Arguments())
def maint_print_address_spaces(shell: Shell) -> None:
    """Print the address spaces of the architecture.

    For each: its name, DWARF number, the bits of an address, the null address, and the scope in which an
    address is unique.
    """
    shell.write(render(("Name", "DWARF", "Size", "Null", "Access"), address_spaces()))


@command("maintenance info amdgpu address-aliases", category=Category.INTERNALS, args=Arguments())
def maint_info_amdgpu_address_aliases(shell: Shell) -> None:
    """Print which generic addresses are addresses of other spaces for the current lane."""
    shell.need_threads()
    rows = address_aliases(shell.session.data.environment().memory)
    if not rows:
        shell.line("There are no aliases: this target has no generic address space.")
        return
    shell.write(render(("First", "Last", "Alias of"), rows))
