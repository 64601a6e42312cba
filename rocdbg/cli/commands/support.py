"""Commands about the debugger itself: help, apropos, echo, shell, source, quit, alias, history, logging."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocdbg.cli.arguments import Arguments, Kind, optional, required
from rocdbg.cli.commands.scripting import show_definition
from rocdbg.cli.escapes import unescape
from rocdbg.cli.kinds import FILE, INTEGER, NAME, TEXT, text_of, words_of
from rocdbg.cli.leaving import Quit
from rocdbg.cli.options import Option
from rocdbg.cli.registry import (
    CATEGORY_TEXT,
    Category,
    CommandError,
    CommandSpec,
    Completes,
    Node,
    Repeat,
    command,
)

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

SUPPORT = Category.SUPPORT


def _alias_parts(shell: Shell, text: str) -> tuple[str, list[str]]:
    """``NAME = COMMAND``, taken apart."""
    name, equals, target = (part.strip() for part in text.partition("="))
    if not (name and equals and target):
        raise CommandError(ALIAS_USAGE)
    return name, target.split()


ALIAS_USAGE = "Usage: alias NAME = COMMAND"
ALIAS = Kind("NAME = COMMAND", "tuple[str, list[str]]", _alias_parts, completes=Completes.COMMAND)
SUBCOMMAND = Arguments(optional("text", text_of("SUBCOMMAND"), ""))


@command(
    "help", category=SUPPORT, aliases=("h",),
    args=Arguments(optional("words", words_of("COMMAND|CLASS", Completes.COMMAND))),
)
def help_(shell: Shell, words: list[str] | None) -> None:
    """Print list of commands.

    With a class name, the commands of that class; with a command, its full documentation.
    """
    if not words:
        shell.line("List of classes of commands:\n")
        for category in sorted(Category, key=lambda category: category.value):
            shell.line(f"{category.value} -- {CATEGORY_TEXT[category]}")
        shell.line('\nType "help" followed by a class name for a list of commands in that class.')
        shell.line('Type "help all" for the list of all commands.')
        shell.line('Type "help" followed by command name for full documentation.')
        shell.line('Type "apropos word" to search for commands related to "word".')
        shell.line("Command name abbreviations are allowed if unambiguous.")
        return
    if words == ["all"]:
        for category in sorted(Category, key=lambda category: category.value):
            _list_class(shell, category, all_levels=True)
        return
    classes = {category.value: category for category in Category}
    if len(words) == 1 and words[0] in classes and words[0] not in shell.registry.root.children:
        _list_class(shell, classes[words[0]], all_levels=False)
        return
    path, node = shell.registry.node(words)
    if node.spec is not None:
        _show_help(shell, node.spec)
    if node.children:
        if node.spec is not None:
            shell.line()
        _list_children(shell, path, node)


@command(
    "info", category=Category.STATUS, aliases=("i", "inf"), usage="info SUBCOMMAND", repeat=Repeat.NEVER,
    args=SUBCOMMAND,
)
def info(shell: Shell, text: str) -> None:
    """Generic command for showing things about the program being debugged."""
    _only_subcommands(shell, "info", text)


@command("show", category=Category.STATUS, usage="show SUBCOMMAND", repeat=Repeat.NEVER, args=SUBCOMMAND)
def show(shell: Shell, text: str) -> None:
    """Generic command for showing things about the debugger."""
    _only_subcommands(shell, "show", text)


def _only_subcommands(shell: Shell, name: str, text: str) -> None:
    """A prefix alone lists what may follow; anything else that came here is no subcommand."""
    if text:
        raise CommandError(f'Undefined {name} command: "{text}".  Try "help {name}".')
    path, node = shell.registry.node([name])
    _list_children(shell, path, node)


def _list_class(shell: Shell, category: Category, all_levels: bool) -> None:
    specs = [spec for spec in shell.registry.specs() if spec.category is category]
    if not specs and all_levels:
        return
    shell.line(f"{CATEGORY_TEXT[category]}\n\nList of commands:\n")
    for spec in specs:
        if all_levels or len(spec.words) == 1:
            shell.line(f"{_names(spec)} -- {spec.summary}")
    shell.line()
    if not all_levels:
        shell.line('Type "help" followed by command name for full documentation.')
        shell.line('Type "apropos word" to search for commands related to "word".')
        shell.line("Command name abbreviations are allowed if unambiguous.")


def _names(spec: CommandSpec) -> str:
    same_level = [" ".join(alias) for alias in spec.aliases]
    return ", ".join([spec.name, *same_level])


def _show_help(shell: Shell, spec: CommandSpec) -> None:
    if spec.aliases:
        shell.line(_names(spec))
    shell.line(spec.help)
    if spec.usage != spec.name:
        shell.line(f"Usage: {spec.usage}")
    table = spec.arguments.table() if spec.arguments is not None else []
    if table:
        shell.line()
        for line in table:
            shell.line(line)


def _list_children(shell: Shell, path: list[str], node: Node) -> None:
    prefix = " ".join(path)
    shell.line(f"List of {prefix} subcommands:\n")
    for name, child in sorted(node.children.items()):
        if child.is_alias:
            continue
        if child.spec is not None:
            shell.line(f"{prefix} {name} -- {child.spec.summary}")
        else:
            shell.line(f"{prefix} {name} -- {', '.join(sorted(child.children))}")
    shell.line(f'\nType "help {prefix}" followed by {prefix} subcommand name for full documentation.')
    shell.line("Command name abbreviations are allowed if unambiguous.")


@command(
    "apropos", category=SUPPORT,
    args=Arguments(
        Option("-v", key="verbose"), required("pattern", text_of("REGEXP"), "REGEXP string is empty"),
    ),
)
def apropos(shell: Shell, verbose: bool, pattern: str) -> None:
    """Search for commands matching a REGEXP.

    With -v, the full documentation of each is shown.
    """
    try:
        compiled = re.compile(pattern, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError) as error:
        raise CommandError(f"Error in regular expression: {error}") from None
    for spec in shell.registry.specs():
        if compiled.search(spec.name) or compiled.search(spec.help):
            if verbose:
                _show_help(shell, spec)
                shell.line()
            else:
                shell.line(f"{spec.name} -- {spec.summary}")


@command(
    "quit", category=SUPPORT, aliases=("q", "exit"), repeat=Repeat.NEVER,
    args=Arguments(optional("status", INTEGER, 0, "STATUS")),
)
def quit_(shell: Shell, status: int) -> None:
    """Exit the debugger.

    The optional expression STATUS becomes the exit status.
    """
    target = shell.session.inferior.target
    if target is not None and not target.finished:
        question = "A debugging session is active.\n\n\tInferior 1 will be killed.\n\nQuit anyway?"
        if not shell.confirm(question):
            return
    raise Quit(status & 0xFF)


@command(
    "echo", category=SUPPORT, usage="echo TEXT", repeat=Repeat.NEVER, args=Arguments(optional("text", TEXT, ""))
)
def echo(shell: Shell, text: str) -> None:
    r"""Print a constant string. Give string as argument.

    C escape sequences may be used: \n for a new line, "\ " for leading spaces. No newline is added at the
    end; a final backslash keeps trailing spaces.
    """
    shell.out.raw(unescape(text))


@command(
    "shell", category=SUPPORT, aliases=("!",),
    args=Arguments(optional("line", text_of("COMMAND", Completes.FILE), "")),
)
def shell_(shell: Shell, line: str) -> None:
    """Execute the rest of the line as a shell command.

    With no arguments, run an inferior shell. $_shell_exitcode is the exit status afterwards.
    """
    import subprocess  # few sessions need it

    shell.out.flush()
    if shell.interactive or not line:
        status = subprocess.run(line or "exec ${SHELL:-/bin/sh}", shell=True, check=False).returncode
    else:
        # not the user's terminal: the child's output takes its turn with ours
        done = subprocess.run(
            line, shell=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, errors="replace", text=True,
        )
        shell.out.raw(done.stdout)
        status = done.returncode
    name = "_shell_exitcode" if status >= 0 else "_shell_exitsignal"
    shell.session.data.evaluate(f"${name} = {abs(status)}")


@command(
    "source", category=SUPPORT,
    args=Arguments(
        Option("-v", key="verbose"),
        required("path", FILE, "source command requires file name of file to source."),
    ),
)
def source(shell: Shell, verbose: bool, path: str) -> None:
    """Read commands from a file named FILE.

    With -v each command is shown as it is executed. An error ends the file.
    """
    shell.source(path, verbose)


@command("alias", category=SUPPORT, args=Arguments(required("parts", ALIAS, ALIAS_USAGE)))
def alias(shell: Shell, parts: tuple[str, list[str]]) -> None:
    """Define a new command that is an alias of an existing command.

    COMMAND is a command's name of one or more words.
    """
    name, target = parts
    path, node = shell.registry.node(target)
    if node.spec is None:
        raise CommandError(f'"{" ".join(path)}" is no command by itself.')
    if shell.registry.has(name):
        raise CommandError(f"Alias already exists: {name}")
    shell.registry.add_alias(tuple(name.split()), node)


@command("show version", category=SUPPORT, args=Arguments())
def show_version(shell: Shell) -> None:
    """Show what version of rocdbg this is."""
    import rocdbg

    shell.line(f"rocdbg {rocdbg.__version__}")


@command("show user", category=SUPPORT, args=Arguments(optional("name", NAME)))
def show_user(shell: Shell, name: str | None) -> None:
    """Show definitions of user-defined commands."""
    for shown in sorted(shell.registry.user) if name is None else [name]:
        show_definition(shell, shown)
