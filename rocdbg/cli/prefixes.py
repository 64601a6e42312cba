"""Commands that are only prefixes of others (`set print`, `show history`, `maintenance`), and their listings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rocdbg.cli.command_registry import Category, CommandError, CommandSpec, Node, Repeat
from rocdbg.cli.gdb_commands import reason_against

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

SUMMARIES = {
    "set": {
        "auto-load": "Auto-loading specific settings.",
        "backtrace": "Set backtrace specific variables.",
        "breakpoint": "Breakpoint specific settings.",
        "check": "Set the status of the type/range checker.",
        "dcache": "Use this command to set number of lines in dcache and line-size.",
        "debug": "Generic command for setting rocdbg debugging flags.",
        "debuginfod": "Set debuginfod options.",
        "history": "Generic command for setting command history parameters.",
        "index-cache": "Set index-cache options.",
        "logging": "Set logging options.",
        "mem": "Memory regions settings.",
        "print": "Generic command for setting how things print.",
        "print type": "Generic command for showing type-printing settings.",
        "record": "Set record options.",
        "record btrace": "Set record options.",
        "record btrace bts": "Set record btrace bts options.",
        "record btrace pt": "Set record btrace pt options.",
        "record full": "Set record options.",
        "serial": "Set default serial/parallel port configuration.",
        "source": "Generic command for setting how sources are handled.",
        "amdgpu": "Generic command for setting amdgpu flags.",
        "style": "Style-specific settings.",
        "style disassembler": "Style-specific settings for the disassembler.",
        "tcp": "TCP protocol specific variables.",
        "tdesc": "Set target description specific variables.",
        "tui": "TUI configuration variables.",
    },
    "show": {
        "auto-load": "Show auto-loading specific settings.",
        "backtrace": "Show backtrace specific variables.",
        "breakpoint": "Breakpoint specific settings.",
        "check": "Show the status of the type/range checker.",
        "dcache": "Show dcache settings.",
        "debug": "Generic command for showing rocdbg debugging flags.",
        "debuginfod": "Show debuginfod options.",
        "history": "Generic command for showing command history parameters.",
        "index-cache": "Show index-cache options.",
        "logging": "Show logging options.",
        "mem": "Memory regions settings.",
        "print": "Generic command for showing print settings.",
        "print type": "Generic command for setting how types print.",
        "record": "Show record options.",
        "record btrace": "Show record options.",
        "record btrace bts": "Show record btrace bts options.",
        "record btrace pt": "Show record btrace pt options.",
        "record full": "Show record options.",
        "serial": "Show default serial/parallel port configuration.",
        "source": "Generic command for showing source settings.",
        "amdgpu": "Generic command for showing amdgpu flags.",
        "style": "Style-specific settings.",
        "style disassembler": "Style-specific settings for the disassembler.",
        "tcp": "TCP protocol specific variables.",
        "tdesc": "Show target description specific variables.",
        "tui": "TUI configuration variables.",
    },
}
# Prefixes that are not commands themselves and do not concern settings.
OTHERS = {
    "agent": "Commands about agents (devices).",
    "dispatch": "Commands about dispatches.",
    "queue": "Commands about queues.",
    "append": "Append target code/data to a local file.",
    "append binary": "Append target code/data to a raw binary file.",
    "catch": "Set catchpoints to catch events.",
    "dump": "Dump target code/data to a local file.",
    "dump binary": "Write target code/data to a raw binary file.",
    "dump ihex": "Write target code/data to an intel hex file.",
    "dump npy": "Write target code/data to a NumPy array file.",
    "dump srec": "Write target code/data to an srec file.",
    "dump tekhex": "Write target code/data to a tekhex file.",
    "dump verilog": "Write target code/data to a verilog hex file.",
    "info module": "Print information about modules.",
    "function": "Placeholder command for showing help on convenience functions.",
    "maintenance": "Commands for use by rocdbg maintainers.",
    "maintenance info amdgpu": "Show information about AMD GPUs.",
    "maintenance print": "Maintenance command for printing rocdbg internal state.",
    "maintenance llvmdi": "Show LLVM's debug information extensions in files of LLVM assembly.",
    "macro": "Prefix for commands dealing with C preprocessor macros.",
    "memory-tag": "Generic command for printing and manipulating memory tag properties.",
    "overlay": "Commands for debugging overlays.",
    "save": "Save breakpoint definitions as a script.",
    "target": "Connect to a target machine or process.",
    "tcatch": "Set temporary catchpoints to catch events.",
    "task apply": "Apply a command to a list of tasks.",
    "tui": "Text User Interface commands.",
    "tui window": "Text User Interface window commands.",
    "unset": 'Complement to certain "set" commands.',
}
"""The help on the prefixes of settings, in GDB's words."""


def prefix_summary(path: list[str]) -> str:
    """Return the line of `help` for a prefix that is not itself a command."""
    name = " ".join(path[1:])
    own = SUMMARIES.get(path[0], {}).get(name, "") or OTHERS.get(" ".join(path), "")
    if not own and path[0] in ("set", "show"):
        from rocdbg.cli.settings.refused_settings import PREFIX  # imported late: only help needs them

        own = PREFIX.get(name, ("", ""))[path[0] == "show"]
    return own or (_styled(path[2:]) if path[1:2] == ["style"] else "")


def _styled(words: list[str]) -> str:
    """Return what a style applies to, if the style's name does not make that clear."""
    name = " ".join(words).replace("-", " ").replace("tui", "TUI")
    more = {"function": " name", "variable": " name", "version": " string"}.get(name, "")
    return f"{name[0].upper()}{name[1:]}{more} display styling."


def prefix_command(path: list[str], node: Node) -> CommandSpec:
    """Return the command that a prefix without a sub-command executes."""

    def handler(shell: Shell, text: str) -> None:
        reason = reason_against_all(path, node)
        if reason:
            raise CommandError(f'The "{" ".join(path)}" command does not apply to rocdbg: {reason}.')
        if path[0] == "show":
            show_settings(shell, path, node)
        else:
            list_subcommands(shell, path, node)

    return CommandSpec(
        tuple(path), handler, Category.SUPPORT, prefix_summary(path) or "Prefix of other commands.",
        usage=" ".join(path), repeat=Repeat.NEVER,
    )


def reason_against_all(path: list[str], node: Node) -> str:
    """Return why none of a prefix's commands apply here; empty if some do."""
    if any(True for _ in _own(node)):
        return ""
    from rocdbg.cli.settings.refused_settings import reason_against_setting  # imported late: rarely needed

    if path[0] in ("set", "show"):
        return reason_against_setting(" ".join(path[1:])) or ""
    return reason_against(" ".join(path)) or ""


def show_settings(shell: Shell, path: list[str], node: Node) -> None:
    """Show the lines of all settings below a ``show`` prefix, each preceded by the setting's name."""
    for name, child in _own(node):
        if child.spec is not None and child.spec.setting is not None:
            shell.line(f"{' '.join(child.spec.words[1:])}:  {child.spec.setting.shown(shell)}")
        show_settings(shell, [*path, name], child)


def names(path: list[str], spec: CommandSpec | None, shell: Shell) -> str:
    """Return a command's name and its aliases, the newest first."""
    aliases = [" ".join(alias) for alias in shell.registry.aliases(tuple(path))]
    return ", ".join([" ".join(path), *aliases])


def list_subcommands(shell: Shell, path: list[str], node: Node) -> None:
    """List the sub-commands of a prefix with their summaries, and refer to further help."""
    prefix = " ".join(path)
    shell.line(f"List of {prefix} subcommands:\n")
    for name, child in _own(node):
        own = [*path, name]
        summary = child.spec.summary if child.spec is not None else prefix_summary(own)
        shell.line(f"{names(own, child.spec, shell)} -- {summary or ', '.join(sorted(child.children))}")
    shell.line(f'\nType "help {prefix}" followed by {prefix} subcommand name for full documentation.')
    list_end(shell)


def list_end(shell: Shell) -> None:
    """Write the last lines of every list of commands."""
    shell.line('Type "apropos word" to search for commands related to "word".')
    shell.line('Type "apropos -v word" for full documentation of commands related to "word".')
    shell.line("Command name abbreviations are allowed if unambiguous.")


def _own(node: Node) -> Iterator[tuple[str, Node]]:
    """Yield the children that are not aliases, by name."""
    for name, child in sorted(node.children.items()):
        if is_listed(child):
            yield name, child


def is_listed(node: Node) -> bool:
    """Whether lists of commands include a node. They omit aliases, and commands that only report that they do not
    apply.
    """
    if node.is_alias:
        return False
    if node.spec is not None and not node.spec.hidden:
        return True
    return any(is_listed(child) for child in node.children.values())


def category_of(node: Node) -> Category | None:
    """Return the class of a node: that of its command or, for a pure prefix, of the first command below it."""
    if node.spec is not None and not node.spec.hidden:
        return node.spec.category
    return next((category_of(child) for _, child in _own(node)), None)


def only_subcommands(shell: Shell, name: str, text: str) -> None:
    """List the sub-commands of a prefix command; any other text after it is an unknown sub-command."""
    if text:
        raise CommandError(f'Undefined {name} command: "{text}".  Try "help {name}".')
    path, node = shell.registry.node([name])
    if name == "show":
        show_settings(shell, path, node)
    else:
        list_subcommands(shell, path, node)
