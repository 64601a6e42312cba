"""Commands that users define: their names, their bodies, their documentation, and hooks on other commands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from rocdbg.cli.command_registry import Category, CommandError, CommandSpec, Node
from rocdbg.cli.prefixes import list_subcommands
from rocdbg.cli.script import Line, Statement

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

NAME = re.compile(r"[A-Za-z0-9_.-]+")
BEFORE, AFTER = "hook-", "hookpost-"
STOP = "stop"
"""The name of the hook that runs at each stop; there is no such command."""
UNDOCUMENTED = "User-defined."
MISSING = "Argument required (name of command to define)."


# -- names

def _words(shell: Shell, text: str) -> tuple[str, ...]:
    """Return the words of the full name given to `define` or `document`; all words but the last must be prefixes.

    Raises `CommandError`.
    """
    words = text.split()
    if not words:
        raise CommandError(MISSING)
    if len(words) > 1:
        path, node = shell.registry.node(words[:-1])
        if not node.children and not is_user_prefix(shell, tuple(path)):
            raise CommandError(f'"{" ".join(path)}" is not a prefix command.')
        words[:-1] = path
    if not NAME.fullmatch(words[-1]):
        raise CommandError(f'Junk in argument list: "{words[-1]}"')
    return tuple(words)


def _at(shell: Shell, words: tuple[str, ...]) -> Node | None:
    """Return the node with this full name; `None` if there is none."""
    return shell.registry.node(list(words))[1] if shell.registry.has(" ".join(words)) else None


def is_user_prefix(shell: Shell, words: tuple[str, ...]) -> bool:
    """Whether `define-prefix` defined this name."""
    return " ".join(words) in shell.registry.user_prefixes


# -- define

def check_define(shell: Shell, text: str) -> None:
    """Check `define` before its body is read. Raises `CommandError`."""
    words = _words(shell, text)
    name = " ".join(words)
    hooked = hooked_name(name)
    if name in shell.registry.user:
        question = f'Redefine command "{name}"?'
    elif hooked and not (hooked == STOP or shell.registry.has(hooked)):
        shell.warn(f"Your new `{name}' command does not hook any existing command.")
        question = "Proceed?"
    elif _at(shell, words) is not None:
        question = f'Really redefine built-in command "{name}"?'
    else:
        return
    if not shell.confirm(question):
        raise CommandError(f'Command "{name}" not redefined.')


def define(shell: Shell, text: str, body: list[Statement]) -> None:
    """`define NAME ... end`."""
    words = _words(shell, text)
    name = " ".join(words)
    old = _at(shell, words)
    known = old is not None and old.spec is not None and name in shell.registry.user

    def handler(inner: Shell, arguments: str) -> None:
        inner.call(body, split_arguments(arguments))

    handler.user_body = body  # type: ignore[attr-defined]
    text = old.spec.help if known and old is not None and old.spec is not None else UNDOCUMENTED
    shell.registry.add(CommandSpec(words, handler, Category.USER, text, usage=name))
    shell.registry.user.add(name)
    if hooked_name(name):
        shell.registry.hooks.add(name)


def define_prefix(shell: Shell, text: str) -> None:
    """`define-prefix NAME`: allow further commands to be defined below this name."""
    words = _words(shell, text)
    name = " ".join(words)
    old = _at(shell, words)
    if old is None:
        def handler(inner: Shell, rest: str) -> None:
            node = inner.registry.node(list(words))[1]
            if rest:
                raise CommandError(f'Undefined {name} command: "{rest}".  Try "help {name}".')
            inner.line(f'"{name}" must be followed by the name of a subcommand.')
            list_subcommands(inner, list(words), node)

        shell.registry.add(CommandSpec(words, handler, Category.USER, UNDOCUMENTED, usage=name))
        shell.registry.user.add(name)
    elif name not in shell.registry.user:
        raise CommandError(f'Command "{name}" is built-in.')
    shell.registry.user_prefixes.add(name)
    shell.registry.changed()


# -- document

def check_document(shell: Shell, text: str) -> tuple[str, ...]:
    """Return the user-defined command or alias that `document` names. Raises `CommandError`."""
    words = tuple(text.split())
    if not words:
        raise CommandError(MISSING)
    node = _at(shell, words)
    if node is None:
        raise CommandError(f'Undefined command: "{text}".')
    if words not in shell.registry.defaults and " ".join(words) not in shell.registry.user:
        kind = "Alias" if node.is_alias else "Command"
        raise CommandError(f'{kind} "{text}" is built-in.')
    return words


def document(shell: Shell, text: str, body: list[Statement]) -> None:
    """`document NAME ... end`."""
    words = check_document(shell, text)
    node = shell.registry.node(list(words))[1]
    assert node.spec is not None
    lines = "\n".join(line.text for line in body if isinstance(line, Line))
    shell.registry.changed()
    if words in shell.registry.defaults:
        shell.registry.alias_help[words] = lines
    else:
        node.spec = replace(node.spec, help=lines)


# -- definitions

def show_definition(shell: Shell, text: str) -> None:
    """Show the text of a user-defined command, as `show user` does."""
    path, node = shell.registry.node(text.split())
    name = " ".join(node.spec.words if node.spec is not None else path)
    if name not in shell.registry.user:
        raise CommandError("Not a user command.")
    _show(shell, name, node)


def show_all_definitions(shell: Shell) -> None:
    """Show all user-defined commands, by name."""
    for name in sorted(shell.registry.user):
        words = name.split()
        if len(words) == 1 or words[0] not in shell.registry.user:  # commands below a user's prefix are shown with it
            _show(shell, name, shell.registry.node(words)[1])


def _show(shell: Shell, name: str, node: Node) -> None:
    if name in shell.registry.user_prefixes:
        shell.line(f'User prefixcommand "{name}":')
        _show_body(shell, node)
        for word in sorted(node.children):
            if f"{name} {word}" in shell.registry.user:
                _show(shell, f"{name} {word}", node.children[word])
        return
    shell.line(f'User command "{name}":')
    _show_body(shell, node)


def _show_body(shell: Shell, node: Node) -> None:
    body = getattr(node.spec.handler, "user_body", None) if node.spec is not None else None
    if body:
        for line in [*body_lines(body, 1), ""]:
            shell.line(line)


def body_lines(body: list[Statement], depth: int = 0) -> list[str]:
    """Return statements as text, indented by two blanks per level."""
    pad = "  " * depth
    lines = []
    for statement in body:
        if isinstance(statement, Line):
            lines.append(pad + statement.text)
            continue
        lines.append(pad + statement.head.text)
        lines += body_lines(statement.body, depth + 1)
        if statement.otherwise:
            lines.append(pad + "else")
            lines += body_lines(statement.otherwise, depth + 1)
        lines.append(pad + "end")
    return lines


# -- arguments

def split_arguments(text: str) -> list[str]:
    """Split the arguments of a user-defined command at blanks; quotes and backslashes are kept, as in GDB."""
    arguments: list[str] = []
    current = ""
    quote = ""
    index = 0
    while index < len(text):
        char = text[index]
        if char == "\\" and index + 1 < len(text):
            current += text[index : index + 2]
            index += 1
        elif quote:
            current += char
            if char == quote:
                quote = ""
        elif char in "'\"":
            quote = char
            current += char
        elif char.isspace():
            if current:
                arguments.append(current)
            current = ""
        else:
            current += char
        index += 1
    return [*arguments, current] if current else arguments


# -- hooks

def hooked_name(name: str) -> str:
    """Return the command to which a hook's name belongs; empty for other names."""
    words = name.split()
    for lead in (AFTER, BEFORE):
        if words and words[-1].startswith(lead):
            return " ".join([*words[:-1], words[-1].removeprefix(lead)])
    return ""


def run_hook(shell: Shell, lead: str, words: tuple[str, ...]) -> None:
    """Run the hook of a command, if it has one, unless that hook itself runs the command."""
    name = " ".join((*words[:-1], lead + words[-1]))
    running = shell.state.hooks_running
    if name not in shell.registry.hooks or words in running:
        return
    running.append(words)
    try:
        shell.run_line(name)
    finally:
        running.remove(words)
