"""Commands about inferiors: there is always one, the program on its device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import TEXT
from rocdbg.cli.arguments import Arguments, optional
from rocdbg.cli.command_registry import Category, CommandError, command

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

ID = Arguments(optional("number", TEXT, "", "ID"))
IDS = Arguments(optional("numbers", TEXT, "", "ID..."))


def _state(shell: Shell) -> str:
    """The description of the process: nothing, its number, or the dispatch being debugged."""
    if shell.session.whole_program and shell.session.inferior.running:
        return f"process {shell.session.program_launch.pid}"
    return "dispatch 1" if shell.session.inferior.running else "<null>"


def _file(shell: Shell) -> str:
    if shell.session.whole_program:
        return shell.session.program_launch.path
    program = shell.session.inferior.program
    return str(program.path) if program is not None else ""


@command("info inferiors", category=Category.STATUS, usage="info inferiors [ID]...", args=IDS)
def info_inferiors(shell: Shell, numbers: str) -> None:
    """Print a list of inferiors being managed.

    There is only one, the program on its device.
    """
    if numbers and 1 not in _numbers(shell, numbers):
        shell.line("No inferiors.")
        return
    width = max(len(_state(shell)), 17)
    connection = "1 (simulated)" if shell.session.inferior.running else ""
    shell.line(f"  Num  {'Description':<{width}} {'Connection':<20} {'Executable':<17} ")
    shell.line(f"* 1    {_state(shell):<{width}} {connection:<20} {_file(shell):<17} ")


def _numbers(shell: Shell, text: str) -> set[int]:
    """The numbers in a list of inferiors. Raises `Error`."""
    return {shell.session.data.integer(word) for word in text.split()}


@command("inferior", category=Category.RUNNING, usage="inferior [ID]", args=ID)
def inferior(shell: Shell, number: str) -> None:
    """Use this command to switch between inferiors.

    There is only one, with the ID 1. Without an ID, the current one is shown.
    """
    where = f"1 [{_state(shell)}] ({_file(shell) or '<noexec>'})"
    if not number:
        shell.line(f"[Current inferior is {where}]")
    elif shell.session.data.integer(number) == 1:
        shell.line(f"[Switching to inferior {where}]")
    else:
        raise CommandError(f"Inferior ID {shell.session.data.integer(number)} not known.")


def _each(shell: Shell, numbers: str, verb: str) -> None:
    """``kill inferiors`` and ``detach inferiors``: at most one is running."""
    if not numbers:
        raise CommandError(f"Requires argument (inferior id(s) to {verb})")
    for number in sorted(_numbers(shell, numbers)):
        if number != 1:
            shell.warn(f"Inferior ID {number} not known.")
        elif not shell.session.inferior.running:
            shell.warn("Inferior ID 1 is not running.")
        else:
            shell.run_line(verb)


@command("kill inferiors", category=Category.RUNNING, usage="kill inferiors ID...", args=IDS)
def kill_inferiors(shell: Shell, numbers: str) -> None:
    """Kill inferior ID (or list of IDs)."""
    _each(shell, numbers, "kill")


@command("detach inferiors", category=Category.RUNNING, usage="detach inferiors ID...", args=IDS)
def detach_inferiors(shell: Shell, numbers: str) -> None:
    """Detach from inferior ID (or list of IDS)."""
    _each(shell, numbers, "detach")


@command("remove-inferiors", category=Category.RUNNING, usage="remove-inferiors ID...", args=IDS)
def remove_inferiors(shell: Shell, numbers: str) -> None:
    """Remove inferior ID (or list of IDs).

    There is only one, and it cannot be removed.
    """
    if not numbers:
        raise CommandError("Requires an argument (inferior id(s) to remove)")
    for number in sorted(_numbers(shell, numbers)):
        shell.warn(f"Inferior ID {number} not known." if number != 1 else "Can not remove current inferior 1.")
