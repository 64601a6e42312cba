"""The manual equals the text made from the registry, and every command has `help`."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

from rocdbg.cli.command_registry import Registry
from rocdbg.cli.commands import add_all
from rocdbg.cli.manual import manual
from rocdbg.cli.shell import Shell

MANUAL = Path(__file__).resolve().parents[2] / "docs" / "commands.md"


def test_the_manual_is_up_to_date() -> None:
    registry = Registry()
    add_all(registry)
    assert MANUAL.read_text() == manual(registry), "run: python -m rocdbg.cli.manual > docs/commands.md"


def test_every_command_has_help(make_shell: Callable[..., tuple[Shell, io.StringIO]]) -> None:
    shell, text = make_shell()
    for spec in list(shell.registry.specs()):
        text.seek(0)
        text.truncate()
        shell.execute(f"help {spec.name}")
        lines = text.getvalue().splitlines()
        assert spec.summary in lines[:2], spec.name
        assert spec.usage == spec.name or f"Usage: {spec.usage}" in lines, spec.name
