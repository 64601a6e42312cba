"""Commands that document commands: help, apropos, and the prefixes info and show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rocdbg.cli.argument_kinds import text_of, words_of
from rocdbg.cli.arguments import Arguments, optional, required
from rocdbg.cli.command_options import Option
from rocdbg.cli.command_registry import (
    CATEGORY_TEXT,
    Category,
    CommandError,
    CommandSpec,
    Completes,
    Node,
    Repeat,
    command,
)
from rocdbg.cli.prefixes import (
    category_of,
    is_listed,
    list_end,
    list_subcommands,
    names,
    only_subcommands,
    prefix_summary,
    reason_against_all,
)
from rocdbg.debugger.base.patterns import PatternError, compile_pattern

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

SUPPORT = Category.SUPPORT
HOW_TO_DEFINE = 'Use the "define" command to define a command.'
OTHER_SUMMARIES = {
    "delete breakpoints": "Delete all or some breakpoints or auto-display expressions.",
    "disable breakpoints": "",
    "enable breakpoints": "",
    "exec-file": "Use FILE as program for getting contents of pure memory.",
    "info auto-load gdb-scripts": "",
    "info auto-load local-gdbinit": "",
    "info stack": "Backtrace of the stack, or innermost COUNT frames.",
    "record full": "Start full execution recording.",
    "record full restore": "Restore the execution log from a file.",
    "symbol-file": "Load symbol table from executable file FILE.",
}
"""Names that are separate commands in GDB, with GDB's help text if it differs."""
SUBCOMMAND = Arguments(optional("text", text_of("SUBCOMMAND"), ""))


@command(
    "help", category=SUPPORT, aliases=("h",),
    args=Arguments(optional("words", words_of("COMMAND|CLASS", Completes.HELP))),
)
def help_(shell: Shell, words: list[str] | None) -> None:
    """Print list of commands.

    With a class name, the commands of that class; with a command, its full documentation.
    """
    classes = {category.value: category for category in Category}
    if not words:
        _list_classes(shell)
    elif words == ["all"]:
        for category in sorted(Category, key=lambda category: category.value):
            shell.line(f"\nCommand class: {category.value}\n")
            _list_class(shell, category)
            shell.line()
    elif len(words) == 1 and words[0] in classes:
        shell.line(CATEGORY_TEXT[classes[words[0]]])
        if classes[words[0]] is Category.USER:
            shell.line(f"The commands in this class are those defined by the user.\n{HOW_TO_DEFINE}")
        shell.line("\nList of commands:\n")
        _list_class(shell, classes[words[0]])
        shell.line('\nType "help" followed by command name for full documentation.')
        list_end(shell)
    else:
        path, node = _named(shell, words)
        other = _as_typed(shell, words[: len(words)])
        if other != path and " ".join(other) in OTHER_SUMMARIES:
            _show_other(shell, other, node)
        elif tuple(words) in shell.registry.alias_help:
            _show_alias(shell, tuple(words))
        else:
            show_help(shell, path, node)


def _as_typed(shell: Shell, words: list[str]) -> list[str]:
    """The full name that was typed, if it is an alias of a command."""
    node, found = shell.registry.root, []
    for word in words:
        next_ = node.match(word)
        if isinstance(next_, list):
            break
        name, node = next_
        found.append(name)
    return found


def _show_other(shell: Shell, path: list[str], node: Node) -> None:
    """The help of a command under a name that is a separate command in GDB."""
    assert node.spec is not None
    prefix = " ".join(path[:-1]) + " "
    other = [" ".join(alias) for alias in node.spec.aliases]
    also = [name for name in other if name.startswith(prefix) and name != " ".join(path)]
    also = [name for name in also if name not in OTHER_SUMMARIES]
    if also:
        shell.line(", ".join([" ".join(path), *also]))
    shell.line(OTHER_SUMMARIES[" ".join(path)] or node.spec.summary)
    _, _, details = node.spec.help.partition("\n")
    shell.line(f'Usage: {node.spec.usage.replace(node.spec.name, " ".join(path), 1)}')
    if details:
        shell.line(details)


def _named(shell: Shell, words: list[str]) -> tuple[list[str], Node]:
    """The command that words name; as in GDB, text after a command with free-form arguments is ignored."""
    path, node = shell.registry.node(words[:1])
    for count in range(2, len(words) + 1):
        takes_any = node.spec is not None and path[0] not in ("info", "show", "maintenance")
        takes_any = takes_any and path[:2] != ["tui", "layout"]
        if takes_any and not (node.children and any(name.startswith(words[count - 1]) for name in node.children)):
            break
        path, node = shell.registry.node(words[:count])
    return path, node


def _list_classes(shell: Shell) -> None:
    shell.line("List of classes of commands:\n")
    for category in sorted(Category, key=lambda category: category.value):
        shell.line(f"{category.value} -- {CATEGORY_TEXT[category]}")
    shell.line('\nType "help" followed by a class name for a list of commands in that class.')
    shell.line('Type "help all" for the list of all commands.')
    shell.line('Type "help" followed by command name for full documentation.')
    list_end(shell)


@command(
    "info", category=Category.STATUS, aliases=("inf", "i"), usage="info SUBCOMMAND", repeat=Repeat.NEVER,
    args=SUBCOMMAND,
)
def info(shell: Shell, text: str) -> None:
    """Generic command for showing things about the program being debugged."""
    only_subcommands(shell, "info", text)


@command("show", category=Category.STATUS, usage="show SUBCOMMAND", repeat=Repeat.NEVER, args=SUBCOMMAND)
def show(shell: Shell, text: str) -> None:
    """Generic command for showing things about the debugger."""
    only_subcommands(shell, "show", text)


def _tree(node: Node, path: list[str]) -> Iterator[tuple[list[str], Node]]:
    """The commands below a node and those below them, by name; no aliases."""
    for name, child in sorted(node.children.items()):
        if is_listed(child):
            yield [*path, name], child
            yield from _tree(child, [*path, name])


def _list_class(shell: Shell, category: Category) -> None:
    """The commands of a class, each with those that begin with its words."""
    if category is Category.ALIASES:
        for words, node in sorted(shell.registry.user_aliases()):
            if node.spec is not None:
                shell.line(f"{' '.join(words)} -- {node.spec.summary}")
                _show_alias(shell, words)
        return
    shell.registry.complete()
    for name, node in sorted(shell.registry.root.children.items()):
        if not is_listed(node) or category_of(node) is not category:
            continue
        for path, child in ([name], node), *_tree(node, [name]):
            summary = child.spec.summary if child.spec is not None else prefix_summary(path)
            shell.line(f"{names(path, child.spec, shell)} -- {summary}")


def _show_alias(shell: Shell, words: tuple[str, ...]) -> None:
    """The default arguments of an alias, and its documentation by `document`."""
    registry = shell.registry
    own = " ".join(registry.node(list(words))[0])
    if registry.defaults[words]:
        shell.line(f"  alias {' '.join(words)} = {own} {registry.defaults[words]}")
    if words in registry.alias_help:
        shell.line(registry.alias_help[words])


def show_help(shell: Shell, path: list[str], node: Node) -> None:
    """The full documentation of a command, and of a prefix what may follow it."""
    spec = node.spec
    own = list(spec.words) if spec is not None else path
    also = names(own, spec, shell)
    if also != " ".join(own):
        shell.line(also)
        for line in shell.registry.default_lines(tuple(own)):
            shell.line(line)
    if spec is None:
        shell.line(prefix_summary(path))
        reason = reason_against_all(path, node)
        if reason:
            shell.line(f"\nDoes not apply to rocdbg: {reason}.")
    else:
        _show_text(shell, spec)
    if any(is_listed(child) for child in node.children.values()):
        shell.line()
        list_subcommands(shell, own, node)


def _show_text(shell: Shell, spec: CommandSpec) -> None:
    summary, _, details = spec.help.partition("\n")
    shell.line(summary)
    if spec.usage != spec.name:
        shell.line(f"Usage: {spec.usage}")
    if details:
        shell.line(details)
    table = spec.arguments.table() if spec.arguments is not None else []
    if table:
        shell.line()
        for line in table:
            shell.line(line)


@command(
    "apropos", category=SUPPORT, usage="apropos [-v] REGEXP",
    args=Arguments(
        Option("-v", key="verbose"), required("pattern", text_of("REGEXP"), "REGEXP string is empty"),
    ),
)
def apropos(shell: Shell, verbose: bool, pattern: str) -> None:
    """Search for commands matching a REGEXP.

    Names, aliases and documentation are searched. With -v, the full documentation of each is shown.
    """
    try:
        compiled = compile_pattern(pattern, ignore_case=True)
    except PatternError as error:
        raise CommandError(f"Error in regular expression: {str(error).removeprefix('Invalid regexp: ')}") from None
    shell.registry.complete()
    for path, node in _tree(shell.registry.root, []):
        spec = node.spec
        also = names(path, spec, shell)
        text = spec.help if spec is not None else prefix_summary(path)
        if not (compiled.search(also) or compiled.search(text)):
            continue
        summary = text.split("\n", 1)[0]
        if not verbose:
            shell.line(f"{also} -- {summary}")
        else:
            shell.line(f"\n{also}")
            if spec is not None:
                _show_text(shell, spec)
            else:
                shell.line(summary)
