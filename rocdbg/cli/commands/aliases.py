"""Additional names and prefixes of commands: alias, define-prefix, show user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import TEXT, text_of
from rocdbg.cli.arguments import Arguments, optional, required
from rocdbg.cli.command_options import Option, Unknown
from rocdbg.cli.command_registry import Category, CommandError, Completes, Node, Repeat, command
from rocdbg.cli.user_commands import define_prefix, show_all_definitions, show_definition

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

SUPPORT = Category.SUPPORT
ALIAS_USAGE = "Usage: alias [-a] [--] ALIAS = COMMAND [DEFAULT-ARGS...]"


@command(
    "alias", category=SUPPORT, usage="alias [-a] [--] ALIAS = COMMAND [DEFAULT-ARGS...]",
    args=Arguments(
        Option("-a", key="abbreviation"),
        required("text", text_of("ALIAS = COMMAND [DEFAULT-ARGS...]", Completes.MEANING), ALIAS_USAGE),
        unknown=Unknown.ERROR,
    ),
)
def alias(shell: Shell, abbreviation: bool, text: str) -> None:
    """Define a new command that is an alias of an existing command.

    ALIAS is one or more words. If there are several, all but the last must also be a prefix of COMMAND. DEFAULT-ARGS
    are inserted before the arguments that are typed. With -a the alias is an abbreviation: help and completion
    omit it.
    """
    name, equals, target = (part.strip() for part in text.partition("="))
    words = tuple(name.split())
    if not equals or (target and not words):
        raise CommandError(ALIAS_USAGE)
    if not target:
        raise CommandError('Undefined command: "".  Try "help".')
    path, node, arguments = _command(shell, target.split())
    if len(words) > 1:
        _need_prefix(shell, words, tuple(target.split())[: len(target.split()) - len(arguments)])
    registry = shell.registry
    if registry.has(name):
        known = registry.node(list(words))[1].is_alias
        raise CommandError(
            f"Alias already exists: {name}" if known else f"Alias {name} is the name of an existing command"
        )
    own = node.spec.words if node.spec is not None else tuple(path)
    inherited = registry.defaults.get(tuple(path), "")
    registry.add_alias(words, node, own, listed=not abbreviation)
    if abbreviation:
        registry.abbreviations.add(words)
    registry.defaults[words] = " ".join(filter(None, [inherited, *arguments]))


def _command(shell: Shell, words: list[str]) -> tuple[list[str], Node, list[str]]:
    """The command at the beginning of some words, and the words after its name. Raises `CommandError`."""
    path, node = shell.registry.node(words[:1])
    for index, word in enumerate(words[1:], 1):
        found = node.match(word) if node.children else []
        if isinstance(found, list):
            if node.spec is None:
                shell.registry.node(words)
            return path, node, words[index:]
        path, node = [*path, found[0]], found[1]
    return path, node, []


def _need_prefix(shell: Shell, words: tuple[str, ...], target: tuple[str, ...]) -> None:
    """An alias of several words must have the same prefix as its command."""
    if len(words) != len(target):
        raise CommandError("Mismatched command length between ALIAS and COMMAND.")
    for mine, other in zip(words[:-1], target[:-1], strict=True):
        if mine != other:
            raise CommandError("ALIAS and COMMAND prefixes do not match.")


@command("define-prefix", category=SUPPORT, repeat=Repeat.NEVER, args=Arguments(optional("name", TEXT, "", "NAME")))
def define_prefix_(shell: Shell, name: str) -> None:
    """Define or mark a command as a user-defined prefix command.

    Further commands can then be defined below it: after "define-prefix my", "define my thing".
    """
    define_prefix(shell, name)


@command("show user", category=SUPPORT, args=Arguments(optional("name", text_of("COMMAND", Completes.COMMAND))))
def show_user(shell: Shell, name: str | None) -> None:
    """Show definitions of non-python/scheme user defined commands.

    Argument is the name of the user defined command. With no argument, show definitions of all user defined commands.
    """
    if name is None:
        show_all_definitions(shell)
    else:
        show_definition(shell, name)


SHOWN_COMMANDS = 10


@command("show commands", category=Category.STATUS, args=Arguments(optional("first", text_of("N|+"), "")))
def show_commands(shell: Shell, first: str) -> None:
    """Show the history of commands you typed.

    Shows the last ten lines, or the lines around line N; "+" shows those after the lines that were shown last. Lines
    from files and pipes are not included.
    """
    state = shell.state
    count = state.typed_before + len(state.typed)
    if first == "+":
        number = state.next_command
    elif first:
        number = shell.session.data.integer(first) - SHOWN_COMMANDS // 2
    else:
        number = count
    number = max(min(number, count - SHOWN_COMMANDS + 1), state.typed_before + 1, 1)
    end = min(number + SHOWN_COMMANDS, count + 1)
    for index in range(number, end):
        shell.line(f"{index:5}  {state.typed[index - state.typed_before - 1]}")
    state.next_command = end
