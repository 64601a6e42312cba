"""Commands for scripts: define, eval, document, if, while, commands, loop_break, python."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import EXPRESSION, text_of
from rocdbg.cli.arguments import Arguments, optional, required
from rocdbg.cli.breakpoint_numbers import act_on, numbers_of
from rocdbg.cli.command_registry import Category, CommandError, Completes, Repeat, command
from rocdbg.cli.leaving_commands import LoopBreak, LoopContinue
from rocdbg.cli.printf import format_printf
from rocdbg.cli.script import STEPPING, Block
from rocdbg.cli.settings.setting_value_kinds import split_word
from rocdbg.cli.settings.source_settings import LANGUAGES
from rocdbg.cli.user_commands import body_lines, check_define, check_document, define, document
from rocdbg.debugger.breakpoints.tracepoints.tracepoint_table import Tracepoint
from rocdbg.debugger.reports.symbol_queries import demangled

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

SUPPORT = Category.SUPPORT
NAMED = Arguments(optional("name", text_of("NAME", Completes.COMMAND), ""))
CONDITION = Arguments(optional("condition", EXPRESSION, ""))
ASSIGNMENT = re.compile(r"\s*(?:\$([A-Za-z_]\w*)|[A-Za-z_][^=]*?)\s*=(?!=)")
EQUALITY = re.compile(r"==")
NO_PYTHON = (
    "Python scripting is not supported in this version of rocdbg: "
    "use a plug-in, or drive rocdbg.Debugger from a Python program."
)


def check_head(shell: Shell, text: str) -> None:
    """Checks a block command before its body is read. Raises `CommandError`."""
    keyword, _, rest = text.partition(" ")
    if keyword == "define":
        check_define(shell, rest)
    elif keyword == "document":
        check_document(shell, rest)
    elif keyword == "commands":
        _check_commands(shell, rest.strip())
    elif keyword in ("actions", *STEPPING):
        from rocdbg.cli.commands.tracing import actions_head

        actions_head(shell, keyword, rest.strip())


def _check_commands(shell: Shell, numbers: str) -> None:
    """Checks that the breakpoints of `commands` exist; otherwise no lines are read. Raises `Error`."""
    breakpoints = shell.session.breakpoints
    if not numbers and not breakpoints.last_number:
        raise CommandError("Argument required (one or more breakpoint numbers).")
    for number in numbers_of(shell, numbers) if numbers else breakpoints.last_numbers:
        if number in breakpoints:
            return  # the lines are for this one at least
        act_on(shell, number, lambda number: None)
    raise CommandError("")


def run_block_command(shell: Shell, block: Block) -> None:
    """Run a block command whose body is its input. Called by the shell."""
    keyword = block.keyword
    if keyword == "define":
        define(shell, block.argument, block.body)
    elif keyword == "document":
        document(shell, block.argument, block.body)
    elif keyword == "commands":
        _set_commands(shell, block.argument.strip(), body_lines(block.body))
    elif keyword in ("actions", *STEPPING):
        from rocdbg.cli.commands.tracing import tracepoint_named

        shell.session.set_actions(tracepoint_named(shell, block.argument), body_lines(block.body))
    else:
        raise CommandError(NO_PYTHON)


def _set_commands(shell: Shell, numbers: str, lines: list[str]) -> None:
    """For a tracepoint the commands are its actions."""
    table = shell.session.breakpoints
    found = False
    for number in numbers_of(shell, numbers) if numbers else table.last_numbers:
        if number not in table:
            if found:  # those before the first were reported as missing before the lines were read
                shell.line(f"No breakpoint number {number}.")
            continue
        found = True
        if number in table and isinstance(made := table.get(number), Tracepoint):
            shell.session.set_actions(made, lines)
        else:
            table.set_commands(str(number), lines)


@command(
    "eval", category=SUPPORT, usage='eval "FORMAT", ARG...',
    args=Arguments(optional("text", text_of('"FORMAT", ARG...', Completes.EXPRESSION), "")),
)
def eval_(shell: Shell, text: str) -> None:
    """Construct a rocdbg command and then evaluate it.

    The command is the output that "printf" would print.
    """
    line = format_printf(shell.session, text)
    if line.strip():
        shell.run_line(line)


def _needs_block() -> None:
    raise CommandError('This command takes a block of lines that ends with "end".')


@command("define", category=SUPPORT, usage="define NAME", repeat=Repeat.NEVER, args=NAMED)
def define_(shell: Shell, name: str) -> None:
    """Define a new command name.  Command name is argument.

    The commands follow, one per line. End with a line of just "end". Arguments are
    $arg0, $arg1, ..., their number $argc. A command named hook-X runs before each X, hookpost-X after it, and hook-stop
    whenever the program stops.
    """
    _needs_block()


@command("document", category=SUPPORT, usage="document NAME", repeat=Repeat.NEVER, args=NAMED)
def document_(shell: Shell, name: str) -> None:
    """Document a user-defined command or user-defined alias.

    Give command or alias name as argument. Give documentation on following lines. End with a line of just "end".
    """
    _needs_block()


@command("if", category=SUPPORT, usage="if EXPRESSION", repeat=Repeat.NEVER, args=CONDITION)
def if_(shell: Shell, condition: str) -> None:
    """Execute nested commands once IF the conditional expression is non zero.

    The commands follow, one per line; an optional "else" line; end with a line of just "end".
    """
    _needs_block()


@command("while", category=SUPPORT, usage="while EXPRESSION", repeat=Repeat.NEVER, args=CONDITION)
def while_(shell: Shell, condition: str) -> None:
    """Execute nested commands WHILE the conditional expression is non zero.

    The commands follow, one per line; end with a line of just "end". loop_break leaves the loop, loop_continue begins
    the next iteration.
    """
    _needs_block()


@command("loop_break", category=SUPPORT, repeat=Repeat.NEVER, args=Arguments())
def loop_break(shell: Shell) -> None:
    """Exit the enclosing "while" block."""
    _needs_loop(shell, "loop_break")
    raise LoopBreak


@command("loop_continue", category=SUPPORT, repeat=Repeat.NEVER, args=Arguments())
def loop_continue(shell: Shell) -> None:
    """Continue with the next iteration of the enclosing "while" block."""
    _needs_loop(shell, "loop_continue")
    raise LoopContinue


def _needs_loop(shell: Shell, name: str) -> None:
    if not shell.state.loops:
        raise CommandError(f'Undefined command: "{name}".  Try "help".')


@command("end", category=SUPPORT, repeat=Repeat.NEVER, args=Arguments())
def end(shell: Shell) -> None:
    """Ends a list of commands or actions."""
    raise CommandError("This command cannot be used at the top level.")


@command(
    "python", category=SUPPORT, aliases=("py",), repeat=Repeat.NEVER,
    args=Arguments(optional("code", text_of("CODE"), "")),
)
def python(shell: Shell, code: str) -> None:
    """Evaluate a Python command.

    Python is not available in this version.

    Plug-ins (help plugin) and the Python package rocdbg replace GDB's Python.
    """
    raise CommandError(NO_PYTHON)


@command("dont-repeat", category=SUPPORT, repeat=Repeat.NEVER, args=Arguments())
def dont_repeat(shell: Shell) -> None:
    """Don't repeat this command.

    Used in user-defined commands that an empty line must not run again.
    """
    shell.state.last = None


@command(
    "init-if-undefined", category=Category.DATA, usage="init-if-undefined VARIABLE = EXPRESSION",
    args=Arguments(required("text", EXPRESSION, "Argument required (expression to compute).")),
)
def init_if_undefined(shell: Shell, text: str) -> None:
    """Initialize a convenience variable if necessary.

    A variable that has a value keeps it.
    """
    found = ASSIGNMENT.match(text)
    if found is None:
        if not EQUALITY.search(text):
            shell.session.data.expression_type(text)
        raise CommandError("Init-if-undefined requires an assignment expression.")
    if found[1] is None:
        shell.session.data.expression_type(text.partition("=")[0])
        raise CommandError("The first argument to init-if-undefined should be a GDB variable.")
    if found[1] not in shell.session.convenience:
        shell.session.data.evaluate(text)


@command(
    "demangle", category=SUPPORT, usage="demangle [-l LANGUAGE] [--] NAME",
    args=Arguments(optional("text", text_of("[-l LANGUAGE] [--] NAME"), "")),
)
def demangle_(shell: Shell, text: str) -> None:
    """Demangle a mangled name.

    LANGUAGE is the language to demangle NAME in, otherwise the current one.
    """
    language = shell.session.settings.language
    if language in ("auto", "local"):
        language = shell.session.data.language_name
    while text.startswith("-"):
        word, text = split_word(text)
        if word == "--":
            break
        if word != "-l":
            raise CommandError(f"Unrecognized option '{word}' to demangle command.  Try \"help demangle\".")
        language, text = split_word(text)
        if language not in LANGUAGES[2:]:
            raise CommandError(f'Unknown language "{language}"')
    if not text:
        raise CommandError("Usage: demangle [-l LANGUAGE] [--] NAME")
    shown = demangled(text) if language in ("c++", "hip") else text
    if shown == text:
        raise CommandError(f"Can't demangle \"{text}\"")
    shell.line(shown)
