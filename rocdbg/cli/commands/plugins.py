"""Commands about plug-ins: plugin load, plugin unload, info plugins."""

from __future__ import annotations

from rocdbg.cli.registry import Category, CommandError, Completes, Repeat, command
from rocdbg.cli.shell import Shell
from rocdbg.cli.table import render


@command("plugin load", category=Category.SUPPORT, usage="plugin load NAME|PATH", completes=Completes.PLUGIN)
def plugin_load(shell: Shell, text: str) -> None:
    """Load a plug-in by the name it is installed under, or from a Python file."""
    if not text:
        raise CommandError("Argument required (the name of an installed plug-in, or a file).")
    shell.session.plugins.load(text)
    shell.sync_plugins()


@command("plugin unload", category=Category.SUPPORT, usage="plugin unload NAME", repeat=Repeat.NEVER)
def plugin_unload(shell: Shell, text: str) -> None:
    """Forget a plug-in: its commands, functions, printers and hooks."""
    if not text:
        raise CommandError("Argument required (the name of a loaded plug-in).")
    shell.session.plugins.unload(text)
    shell.sync_plugins()


@command("info plugins", category=Category.STATUS)
def info_plugins(shell: Shell, text: str) -> None:
    """The plug-ins that are loaded, and those that are installed."""
    rows = shell.session.plugins.rows()
    if not rows:
        shell.line("No plug-ins are installed.")
        return
    cells = [(row.name, "yes" if row.loaded else "no", row.origin, row.summary) for row in rows]
    shell.write(render(("Name", "Loaded", "From", "What"), cells))
