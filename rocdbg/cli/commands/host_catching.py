"""`catch throw`, `catch fork` and others for events of host processes: they can be set as in GDB, but are never hit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import text_of
from rocdbg.cli.arguments import Arguments, optional
from rocdbg.cli.command_registry import Category, CommandError, Completes, command
from rocdbg.debugger.base.patterns import compile_pattern
from rocdbg.debugger.breakpoints.breakpoint_table import Disposition
from rocdbg.debugger.breakpoints.catchpoints import THROWN, HostCatchpoint

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

Handler = Callable[..., None]
SUMMARIES = {
    "throw": "Catch an exception, when thrown.", "catch": "Catch an exception, when caught.",
    "rethrow": "Catch an exception, when rethrown.", "fork": "Catch calls to fork.", "vfork": "Catch calls to vfork.",
    "exec": "Catch calls to exec.", "syscall": "Catch system calls by their names, groups and/or numbers.",
    "hiperr": "Catch errors that HIP functions return.",
}
NEVER = "Kernels never do this: the command is accepted for scripts written for GDB, but it never stops a kernel."


def _set(shell: Shell, word: str, text: str, temporary: bool) -> None:
    if shell.session.whole_program:
        raise CommandError(f'The "catch {word}" command does not apply to rocdbg: it debugs kernels, not host code.')
    if word == "syscall" and text:
        raise CommandError(f'The "catch {word}" command does not apply to rocdbg: kernels make no system calls.')
    before, _, condition = f" {text} ".partition(" if ")
    argument = before.strip()
    if (argument or text.split()[-1:] == ["if"]) and word not in THROWN:
        raise CommandError("Junk at end of arguments.")
    if argument:
        compile_pattern(argument)
    if condition.strip() and word not in THROWN:  # whose condition is first parsed when an exception is thrown
        shell.session.data.expression_type(condition.strip())
    made = HostCatchpoint(0, word, argument=argument, condition=condition.strip() or None)
    made.disposition = Disposition.DELETE if temporary else Disposition.KEEP
    shell.session.breakpoints.adopt(made)
    shell.session.convenience.set_int("bpnum", made.number)
    lead = "Temporary catchpoint " if temporary and made.is_thrown else "Catchpoint"
    shell.line(f"{lead} {made.number} ({made.title})")


def _declare(word: str) -> tuple[Handler, Handler]:
    """``catch WORD`` and ``tcatch WORD``."""
    what = "" if word == "syscall" else "[REGEXP] [if CONDITION]" if word in THROWN else "[if CONDITION]"

    def handler(lead: str) -> Handler:
        def catch(shell: Shell, text: str) -> None:
            _set(shell, word, text, temporary=lead == "tcatch")

        catch.__doc__ = f"{SUMMARIES[word]}\n\n{NEVER}"
        arguments = Arguments(optional("text", text_of(what, Completes.EXPRESSION), ""))
        return command(f"{lead} {word}", category=Category.BREAKPOINTS, args=arguments)(catch)

    return handler("catch"), handler("tcatch")


catch_throw, tcatch_throw = _declare("throw")
catch_catch, tcatch_catch = _declare("catch")
catch_rethrow, tcatch_rethrow = _declare("rethrow")
catch_fork, tcatch_fork = _declare("fork")
catch_vfork, tcatch_vfork = _declare("vfork")
catch_exec, tcatch_exec = _declare("exec")
catch_syscall, tcatch_syscall = _declare("syscall")
catch_hiperr, tcatch_hiperr = _declare("hiperr")
