"""Commands about plug-ins: plugin load, plugin unload, info plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.registry import Category, CommandError, Completes, command
from rocdbg.cli.table import render

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell


@command("plugin load", category=Category.SUPPORT, usage="plugin load NAME|PATH", completes=Completes.PLUGIN)
def plugin_load(shell: Shell, text: str) -> None:
    """Load a plug-in by the name it is installed under, or from a Python file."""
    if not text:
        raise CommandError("Argument required (the name of an installed plug-in, or a file).")
    shell.session.plugins.load(text)


@command("plugin unload", category=Category.SUPPORT, usage="plugin unload NAME", completes=Completes.PLUGIN)
def plugin_unload(shell: Shell, text: str) -> None:
    """Unload a plug-in: its commands, functions, pretty-printers and stop hooks are gone."""
    if not text:
        raise CommandError("Argument required (the name of a loaded plug-in).")
    shell.session.plugins.unload(text)


@command("info plugins", category=Category.STATUS)
def info_plugins(shell: Shell, text: str) -> None:
    """The plug-ins that are loaded, and those that are installed."""
    host = shell.session.plugins
    cells = [(plugin.name, "yes", plugin.source, plugin.description) for plugin in host.plugins.values()]
    cells += [
        (name, "no", point.value, "") for name, point in host.available().items() if name not in host.plugins
    ]
    if not cells:
        shell.line("No plug-ins are installed.")
        return
    shell.write(render(("Name", "Loaded", "From", "What"), cells))
