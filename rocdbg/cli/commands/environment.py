"""Commands about the environment of a whole program; kernels have none."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import TEXT
from rocdbg.cli.arguments import Arguments, optional
from rocdbg.cli.command_registry import Category, CommandError, command

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

NEEDS_VALUE = "Argument required (environment variable and value)."
NONE_GIVEN = "Argument required (environment variable to set)."


def _environment(shell: Shell) -> dict[str, str]:
    if shell.environment is None:
        shell.environment = dict(os.environ)
    return shell.environment


@command(
    "set environment", category=Category.DATA, usage="set environment VAR VALUE",
    args=Arguments(optional("text", TEXT, "", "VAR VALUE")),
)
def set_environment(shell: Shell, text: str) -> None:
    """Set environment variable value to give the program.

    VAR and VALUE may be separated by "=". It applies to whole programs; kernels have no environment.
    """
    if not text:
        raise CommandError(NEEDS_VALUE)
    if text.startswith("="):
        raise CommandError(NONE_GIVEN)
    end = next((index for index, char in enumerate(text) if char in "= \t"), len(text))
    name, rest = text[:end], text[end:].lstrip()
    value = rest[1:].lstrip() if rest.startswith("=") else rest
    if not value:
        shell.line(f'Setting environment variable "{name}" to null value.')
    _environment(shell)[name] = value


@command(
    "unset environment", category=Category.RUNNING, usage="unset environment VAR",
    args=Arguments(optional("name", TEXT, "", "VAR")),
)
def unset_environment(shell: Shell, name: str) -> None:
    """Cancel environment variable VAR for the program.

    Without VAR, all are cancelled.
    """
    if name:
        _environment(shell).pop(name, None)
    elif shell.confirm("Delete all environment variables?"):
        shell.environment = {}


@command(
    "show environment", category=Category.DATA, usage="show environment [VAR]",
    args=Arguments(optional("name", TEXT, "", "VAR")),
)
def show_environment(shell: Shell, name: str) -> None:
    """The environment to give the program, or one variable's value.

    With an argument VAR, prints the value of environment variable VAR to give the program being debugged. Without an
    argument, prints the entire environment.
    """
    environment = _environment(shell)
    if not name:
        for each, value in environment.items():
            shell.line(f"{each}={value}")
    elif name in environment:
        shell.line(f"{name} = {environment[name]}")
    else:
        shell.line(f'Environment variable "{name}" not defined.')
