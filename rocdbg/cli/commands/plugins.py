"""Commands about plug-ins: plugin load, plugin unload, info plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import text_of
from rocdbg.cli.arguments import Arguments, required
from rocdbg.cli.command_registry import Category, Completes, command
from rocdbg.cli.text_columns import render

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell


NEEDS_PLUGIN = "Argument required (the name of an installed plug-in, or a file)."
NEEDS_LOADED = "Argument required (the name of a loaded plug-in)."


@command(
    "plugin load", category=Category.SUPPORT,
    args=Arguments(required("name", text_of("NAME|PATH", Completes.PLUGIN), NEEDS_PLUGIN)),
)
def plugin_load(shell: Shell, name: str) -> None:
    """Load an installed plug-in by its name, or a plug-in from a Python file."""
    shell.session.plugins.load(name)


@command(
    "plugin unload", category=Category.SUPPORT,
    args=Arguments(required("name", text_of("NAME", Completes.PLUGIN), NEEDS_LOADED)),
)
def plugin_unload(shell: Shell, name: str) -> None:
    """Unload a plug-in: its commands, functions, pretty-printers and stop hooks are removed."""
    shell.session.plugins.unload(name)


@command("info plugins", category=Category.STATUS, args=Arguments())
def info_plugins(shell: Shell) -> None:
    """List the loaded plug-ins, and the installed ones."""
    host = shell.session.plugins
    cells = [(plugin.name, "yes", plugin.source, plugin.description) for plugin in host.plugins.values()]
    cells += [
        (name, "no", point.value, "") for name, point in host.available().items() if name not in host.plugins
    ]
    if not cells:
        shell.line("No plug-ins are installed.")
        return
    shell.write(render(("Name", "Loaded", "From", "What"), cells))
