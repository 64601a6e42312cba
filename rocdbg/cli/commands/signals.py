"""Commands about signals, as which kernel exceptions are reported: handle, signal, info signals, interrupt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import text_of, words_of
from rocdbg.cli.arguments import Arguments, optional, required
from rocdbg.cli.command_registry import Category, Completes, Repeat, command
from rocdbg.cli.commands.running import finish_run
from rocdbg.cli.signal_table import HEAD, IGNORED
from rocdbg.debugger.running.stop_events import Signal

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell


@command(
    "handle", category=Category.RUNNING, usage="handle SIGNAL [ACTIONS]",
    args=Arguments(
        required("words", words_of("SIGNAL [ACTIONS]", Completes.HANDLING), "Argument required (signal to handle).")
    ),
)
def handle(shell: Shell, words: list[str]) -> None:
    """Specify how to handle signals.

    SIGNAL is a name, a number from 1 to 15, a range of those, or "all". ACTIONS are "stop", "nostop", "print",
    "noprint", "pass" or "nopass", and may be abbreviated. After a signal that does not stop, the program continues at
    once.
    """
    table = shell.signal_table
    changed, own = table.change(words)
    for name in own:
        if not shell.confirm(f"{name} is used by the debugger.\nAre you sure you want to change it?"):
            return
    if changed and shell.at_prompt:
        shell.line(HEAD)
        for row in changed:
            shell.line(row.row)


@command(
    "info signals", category=Category.STATUS, aliases=("info handle",), usage="info signals [SIGNAL]",
    args=Arguments(optional("signal", text_of("SIGNAL", Completes.SIGNAL), "")),
)
def info_signals(shell: Shell, signal: str) -> None:
    """What debugger does when program gets various signals.

    With a name or number, only for that signal.
    """
    table = shell.signal_table
    shell.line(HEAD)
    if signal:
        shell.line((table.rows.get(signal) or table.by_number(shell.session.data.integer(signal))).row)
        return
    shell.line()
    for row in table.rows.values():
        shell.line(row.row)
    shell.line('\nUse the "handle" command to change these tables.')


@command("interrupt", category=Category.RUNNING, repeat=Repeat.NEVER, args=Arguments())
def interrupt(shell: Shell) -> None:
    """Interrupt the execution of the debugged program.

    Every command waits until the program has stopped, so this one never finds a running program: use Ctrl-C instead.
    """


@command(
    "signal", category=Category.RUNNING, usage="signal SIGNAL", repeat=Repeat.NEVER,
    needs=lambda shell: shell.need_running(),
    args=Arguments(required("signal", text_of("SIGNAL", Completes.SIGNAL), "Argument required (signal number).")),
)
def signal(shell: Shell, signal: str) -> None:
    """Continue program with the specified signal.

    SIGNAL is a name, or a number from 1 to 15. Kernels have no handlers: a signal whose default action ends a process
    ends the program. With 0 the program continues without the signal that stopped it, and executes the instruction
    again.
    """
    table = shell.signal_table
    row = table.rows.get(signal)
    if row is None:
        number = shell.session.data.integer(signal)
        row = table.by_number(number) if number else None
    if shell.at_prompt:
        shell.line(f"Continuing with {f'signal {row.name}' if row is not None else 'no signal'}.")
    shell.out.flush()
    ends = row is not None and row.name not in IGNORED
    given = Signal(row.name, row.description) if row is not None and ends else None
    finish_run(shell, shell.session.running.proceed(signal=given))
