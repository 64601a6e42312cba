"""Commands about host code: while a CPU thread has the focus, the host debugger answers them, in its own words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rocdbg.cli.command_registry import CommandSpec
    from rocdbg.cli.shell import Shell

RESUMING: Final = frozenset({
    ("advance",), ("finish",), ("jump",), ("next",), ("nexti",), ("step",), ("stepi",), ("until",),
})  # fmt: skip
"""Commands that let the program continue."""
ASKING: Final = frozenset({
    ("backtrace",), ("call",), ("disassemble",), ("down",), ("explore",), ("frame",), ("frame", "apply"),
    ("frame", "function"), ("frame", "level"), ("info", "args"), ("info", "all-registers"), ("info", "frame"),
    ("info", "frame", "address"), ("info", "frame", "function"), ("info", "frame", "level"), ("info", "frame", "view"),

    ("info", "functions"), ("info", "line"), ("info", "locals"), ("info", "registers"), ("info", "scope"),
    ("info", "sharedlibrary"), ("info", "signals"), ("info", "source"), ("info", "symbol"), ("info", "types"),
    ("info", "variables"), ("list",), ("output",), ("print",), ("printf",), ("ptype",), ("return",),
    ("set", "variable"), ("up",), ("up-silently",), ("down-silently",), ("whatis",), ("x",),
})  # fmt: skip
"""Commands that look at host code, or change its state, without letting the program continue."""


def concerns_host(shell: Shell, spec: CommandSpec) -> bool:
    """Whether the host debugger answers a command now."""
    return shell.session.host.focused and (spec.words in ASKING or spec.words in RESUMING)


def run_on_host(shell: Shell, spec: CommandSpec, text: str) -> None:
    """Let the host debugger execute a command, and show its output. Raises a `rocdbg.Error`."""
    from rocdbg.cli.commands.running import finish_run

    host = shell.session.host
    command = shell.joined(spec, text)
    if spec.words not in RESUMING:
        shell.write(host.execute(command))
        return
    shell.out.flush()
    host.need().next_by(command)
    finish_run(shell, shell.session.running.proceed())


__all__ = ["ASKING", "RESUMING", "concerns_host", "run_on_host"]
