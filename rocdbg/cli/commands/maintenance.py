"""Commands for rocdbg's own developers and tool builders: complete, maint ..."""

from __future__ import annotations

from rocdbg.cli.completion import complete_line
from rocdbg.cli.registry import Category, Completes, Repeat, command
from rocdbg.cli.shell import Shell


@command(
    "complete",
    category=Category.SUPPORT,
    usage="complete TEXT",
    completes=Completes.COMMAND,
    repeat=Repeat.NEVER,
)
def complete(shell: Shell, text: str) -> None:
    """List the completions for the rest of the line as a command."""
    start, words = complete_line(shell, text)
    for word in words:
        shell.line(text[:start] + word)


@command("maint info line-table", category=Category.INTERNALS, aliases=("maintenance info line-table",),
         usage="maint info line-table [REGEXP]")  # fmt: skip
def maint_info_line_table(shell: Shell, text: str) -> None:
    """The rows of the line tables, as file addresses; REGEXP picks files by name."""
    for line in shell.session.symbols.line_table(text):
        shell.line(line)
