"""GDB's commands that rocdbg does not have yet: known by name, so that they say so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.arguments import Arguments
from rocdbg.cli.registry import Category, CommandError, CommandSpec, Registry, Repeat

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

NOT_YET: dict[str, str] = {
    "attach": "",
    "awatch": "",
    "catch": "",
    "checkpoint": "",
    "compare-sections": "",
    "compile": "",
    "core-file": "",
    "detach": "",
    "dprintf": 'a breakpoint with "commands" and "printf" does the same',
    "dump": "",
    "explore": "",
    "find": "",
    "generate-core-file": "",
    "handle": "",
    "hbreak": "every breakpoint is exact on the simulated target: use break",
    "inferior": "",
    "jump": "set var $pc = ADDRESS moves the wave",
    "load": "",
    "macro": "",
    "monitor": "",
    "record": "",
    "restore": "",
    "return": "",
    "reverse-continue": "",
    "reverse-finish": "",
    "reverse-next": "",
    "reverse-nexti": "",
    "reverse-step": "",
    "reverse-stepi": "",
    "rwatch": "",
    "save": "",
    "signal": "",
    "skip": "",
    "target": "rocdbg has one target, the simulated one",
    "tui": "",
    "watch": "",
    "info macro": "",
    "info signals": "",
    "info watchpoints": "",
    "info auxv": "",
    "info proc": "",
    "layout": "",
}


def add_unavailable(registry: Registry) -> None:
    """Declare the names of `NOT_YET` that are free."""
    for name, hint in NOT_YET.items():
        if not registry.has(name):
            registry.add(_unavailable(name, hint))


def _unavailable(name: str, hint: str) -> CommandSpec:
    message = f'The "{name}" command is not available in rocdbg yet'
    text = message + (f": {hint}." if hint else ".")

    def handler(shell: Shell, arguments: str) -> None:
        raise CommandError(text)

    return CommandSpec(
        tuple(name.split()), handler, Category.OBSCURE, "Not available yet.", usage=name, repeat=Repeat.NEVER,
        arguments=Arguments(),
    )
