"""Commands about the debugger itself: help, apropos, echo, shell, source, quit, alias, history, logging."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

from rocdbg.cli.escapes import unescape
from rocdbg.cli.leaving import Quit
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


@command("help", category=SUPPORT, aliases=("h",), usage="help [COMMAND|CLASS]", completes=Completes.COMMAND)
def help_(shell: Shell, text: str) -> None:
    """Print list of commands.

    With a class name, the commands of that class; with a command, its full documentation.
    """
    words = text.split()
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


@command("info", category=Category.STATUS, aliases=("i", "inf"), usage="info SUBCOMMAND", repeat=Repeat.NEVER)
def info(shell: Shell, text: str) -> None:
    """Generic command for showing things about the program being debugged."""
    _only_subcommands(shell, "info", text)


@command("show", category=Category.STATUS, usage="show SUBCOMMAND", repeat=Repeat.NEVER)
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


@command("apropos", category=SUPPORT, usage="apropos [-v] REGEXP", options=("-v",))
def apropos(shell: Shell, text: str) -> None:
    """Search for commands matching a REGEXP.

    With -v, the full documentation of each is shown.
    """
    verbose = text.startswith("-v ") or text == "-v"
    pattern = text[2:].strip() if verbose else text
    if not pattern:
        raise CommandError("REGEXP string is empty")
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


@command("quit", category=SUPPORT, aliases=("q", "exit"), usage="quit [STATUS]", repeat=Repeat.NEVER)
def quit_(shell: Shell, text: str) -> None:
    """Exit the debugger.

    The optional expression STATUS becomes the exit status.
    """
    status = shell.session.integer(text) if text else 0
    target = shell.session.target
    if target is not None and not target.finished:
        question = "A debugging session is active.\n\n\tInferior 1 will be killed.\n\nQuit anyway?"
        if not shell.confirm(question):
            return
    raise Quit(status & 0xFF)


@command("echo", category=SUPPORT, usage="echo TEXT", repeat=Repeat.NEVER)
def echo(shell: Shell, text: str) -> None:
    r"""Print a constant string. Give string as argument.

    C escape sequences may be used: \n for a new line, "\ " for leading spaces. No newline is added at the
    end; a final backslash keeps trailing spaces.
    """
    shell.out.raw(unescape(text))


@command("shell", category=SUPPORT, aliases=("!",), usage="shell [COMMAND]", completes=Completes.FILE)
def shell_(shell: Shell, text: str) -> None:
    """Execute the rest of the line as a shell command.

    With no arguments, run an inferior shell. $_shell_exitcode is the exit status afterwards.
    """
    shell.out.flush()
    if shell.interactive or not text:
        status = subprocess.run(text or "exec ${SHELL:-/bin/sh}", shell=True, check=False).returncode
    else:
        # not the user's terminal: the child's output takes its turn with ours
        done = subprocess.run(
            text, shell=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, errors="replace", text=True,
        )  # fmt: skip
        shell.out.raw(done.stdout)
        status = done.returncode
    name = "_shell_exitcode" if status >= 0 else "_shell_exitsignal"
    shell.session.evaluate(f"${name} = {abs(status)}")


@command("source", category=SUPPORT, usage="source [-v] FILE", options=("-v",), completes=Completes.FILE)
def source(shell: Shell, text: str) -> None:
    """Read commands from a file named FILE.

    With -v each command is shown as it is executed. An error ends the file.
    """
    verbose = text.startswith("-v ")
    path = text[3:].strip() if verbose else text
    if not path:
        raise CommandError("source command requires file name of file to source.")
    shell.source(path, verbose)


@command("alias", category=SUPPORT, usage="alias NAME = COMMAND", completes=Completes.COMMAND)
def alias(shell: Shell, text: str) -> None:
    """Define a new command that is an alias of an existing command.

    COMMAND is a command's name of one or more words.
    """
    name, equals, target = (part.strip() for part in text.partition("="))
    if not (name and equals and target):
        raise CommandError("Usage: alias NAME = COMMAND")
    path, node = shell.registry.node(target.split())
    if node.spec is None:
        raise CommandError(f'"{" ".join(path)}" is no command by itself.')
    if shell.registry.has(name):
        raise CommandError(f"Alias already exists: {name}")
    shell.registry.add_alias(tuple(name.split()), node)


@command("show version", category=SUPPORT)
def show_version(shell: Shell, text: str) -> None:
    """Show what version of rocdbg this is."""
    import rocdbg

    shell.line(f"rocdbg {rocdbg.__version__}")


@command("show user", category=SUPPORT, usage="show user [NAME]")
def show_user(shell: Shell, text: str) -> None:
    """Show definitions of user-defined commands."""
    from rocdbg.cli.commands.scripting import show_definition

    names = [text] if text else sorted(shell.registry.user)
    for name in names:
        show_definition(shell, name)
