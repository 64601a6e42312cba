"""Commands that scripts are made of: define, eval, document, if, while, commands, loop_break, python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.cli.arguments import Arguments, optional
from rocdbg.cli.kinds import EXPRESSION, NAME, text_of
from rocdbg.cli.leaving import LoopBreak, LoopContinue
from rocdbg.cli.number_words import as_digits
from rocdbg.cli.printf import format_printf
from rocdbg.cli.registry import Category, CommandError, CommandSpec, Completes, Repeat, command
from rocdbg.cli.script import Block, Line, Statement

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

SUPPORT = Category.SUPPORT
NAMED = Arguments(optional("name", NAME, ""))
CONDITION = Arguments(optional("condition", EXPRESSION, ""))
NO_PYTHON = (
    "Python scripting is not supported in this version of rocdbg: "
    "use a plug-in, or drive rocdbg.Debugger from a Python program."
)


def run_block_command(shell: Shell, block: Block) -> None:
    """Run a block command whose body is its input. Called by the shell."""
    keyword = block.keyword
    if keyword == "define":
        define_user_command(shell, block.argument, block.body)
    elif keyword == "document":
        document(shell, block.argument, block.body)
    elif keyword == "commands":
        shell.session.breakpoints.set_commands(as_digits(shell, block.argument), body_lines(block.body))
    else:
        raise CommandError(NO_PYTHON)


def define_user_command(shell: Shell, name: str, body: list[Statement]) -> None:
    """`define NAME ... end`."""
    words = name.split()
    if len(words) != 1 or not words[0].replace("-", "_").isidentifier():
        raise CommandError("Argument required (name of command to define)." if not words else
                           f"Junk in argument list: \"{name}\"")
    built_in = name in shell.registry.root.children and name not in shell.registry.user
    if built_in and not shell.confirm(f'Really redefine built-in command "{name}"?'):
        raise CommandError(f'Command "{name}" not redefined.')
    old = shell.registry.root.children.get(name)
    help_text = (
        old.spec.help if old is not None and old.spec is not None and name in shell.registry.user else ""
    )

    def handler(inner: Shell, text: str) -> None:
        inner.call(body, split_arguments(text))

    handler.user_body = body  # type: ignore[attr-defined]
    shell.registry.add(CommandSpec((name,), handler, Category.USER, help_text or "User-defined.", usage=name))
    shell.registry.user.add(name)


def document(shell: Shell, name: str, body: list[Statement]) -> None:
    """`document NAME ... end`."""
    node = shell.registry.root.children.get(name)
    if name not in shell.registry.user or node is None or node.spec is None:
        raise CommandError(f"Command {name} not built by user." if node else f'Undefined command: "{name}".')
    text = "\n".join(line.text.strip() for line in body if isinstance(line, Line))
    shell.registry.changed()
    node.spec = CommandSpec(node.spec.words, node.spec.handler, Category.USER, text, usage=node.spec.usage)


def split_arguments(text: str) -> list[str]:
    """Arguments of a user-defined command: separated by blanks, quotes and backslashes as GDB keeps them."""
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


def show_definition(shell: Shell, name: str) -> None:
    """The text of a user-defined command, as `show user` prints it."""
    node = shell.registry.root.children.get(name)
    body = (
        getattr(node.spec.handler, "user_body", None) if node is not None and node.spec is not None else None
    )
    if body is None:
        raise CommandError(f"Not a user command: {name}" if node is None else "Not a user command.")
    shell.line(f'User command "{name}":')
    for text in body_lines(body, 1):
        shell.line(text)
    shell.line()


def body_lines(body: list[Statement], depth: int = 0) -> list[str]:
    """Statements as text, indented two blanks a level."""
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


@command(
    "eval", category=SUPPORT, usage='eval "FORMAT", ARG...',
    args=Arguments(optional("text", text_of('"FORMAT", ARG...', Completes.EXPRESSION), "")),
)
def eval_(shell: Shell, text: str) -> None:
    """Construct a command and then evaluate it.

    The command is what "printf" would print.
    """
    line = format_printf(shell.session, text)
    if line.strip():
        shell.run_line(line)


def _needs_block() -> None:
    raise CommandError('This command takes a block of lines that ends with "end".')


@command("define", category=SUPPORT, usage="define NAME", repeat=Repeat.NEVER, args=NAMED)
def define(shell: Shell, name: str) -> None:
    """Define a new command name. Command name is argument.

    Definition appears on following lines, one command per line. End with a line of just "end". Arguments are
    $arg0, $arg1, ..., their number $argc.
    """
    _needs_block()


@command("document", category=SUPPORT, usage="document NAME", repeat=Repeat.NEVER, args=NAMED)
def document_(shell: Shell, name: str) -> None:
    """Document a user-defined command.

    Give command name as argument. Give documentation on following lines. End with a line of just "end".
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

    The commands follow, one per line; end with a line of just "end". loop_break and loop_continue do what
    their names say.
    """
    _needs_block()


@command("loop_break", category=SUPPORT, repeat=Repeat.NEVER, args=Arguments())
def loop_break(shell: Shell) -> None:
    """Exit the "while" block that this command stands in."""
    _needs_loop(shell)
    raise LoopBreak


@command("loop_continue", category=SUPPORT, repeat=Repeat.NEVER, args=Arguments())
def loop_continue(shell: Shell) -> None:
    """Go on with the next round of the "while" block that this command stands in."""
    _needs_loop(shell)
    raise LoopContinue


def _needs_loop(shell: Shell) -> None:
    if not shell.state.loops:
        raise CommandError("This command cannot be used at the top level.")


@command("end", category=SUPPORT, repeat=Repeat.NEVER, args=Arguments())
def end(shell: Shell) -> None:
    """Ends a block of commands."""
    raise CommandError("This command cannot be used at the top level.")


@command(
    "python", category=SUPPORT, aliases=("py",), repeat=Repeat.NEVER,
    args=Arguments(optional("code", text_of("CODE"), "")),
)
def python(shell: Shell, code: str) -> None:
    """Evaluate a Python command: not in this version.

    Plug-ins (help plugin) and the Python package rocdbg do what GDB's Python does.
    """
    raise CommandError(NO_PYTHON)
