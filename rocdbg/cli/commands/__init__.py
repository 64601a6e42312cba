"""The commands, one module per subject; each handler is declared with `rocdbg.cli.registry.command`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocdbg.cli.registry import Registry


def add_all(registry: Registry) -> None:
    """Add the commands that every shell has."""
    from rocdbg.cli.commands import (
        autoload,
        breakpoints,
        data,
        dwarf,
        files,
        info,
        lanes,
        maintenance,
        plugins,
        running,
        scripting,
        settings,
        sources,
        stack,
        support,
        unavailable,
    )

    for module in (
        support, scripting, settings, autoload, running, breakpoints, stack, lanes, data, sources, info, files, plugins,
        maintenance, dwarf,
    ):
        registry.add_module(module)
    settings.add_settings(registry)
    unavailable.add_unavailable(registry)
