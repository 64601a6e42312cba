"""The commands, one module per subject; each handler is declared with `rocdbg.cli.registry.command`."""

from __future__ import annotations

from types import ModuleType


def modules() -> tuple[ModuleType, ...]:
    """The modules whose commands every shell has."""
    from rocdbg.cli.commands import scripting, support

    return (support, scripting)
