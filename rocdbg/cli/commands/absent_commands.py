"""GDB's commands that rocdbg does not have. Each reports that it does not exist here, unless GDB would first report
another error.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from rocdbg.cli.arguments import Arguments
from rocdbg.cli.command_registry import Category, CommandError, CommandSpec, Node, Registry, Repeat
from rocdbg.cli.gdb_commands import GDB_COMMANDS, HELP_TOPICS, OTHER_NAMES, reason_against
from rocdbg.cli.gdb_summaries import SUMMARIES
from rocdbg.debugger.base.errors import NotRunningError

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell

WITHOUT_ARGUMENT = {
    "attach": "Argument required (process-id to attach).",
    "detach inferiors": "Requires argument (inferior id(s) to detach)",
    "core-file": "No core file now.",
    "handle": "Argument required (signal to handle).",
    "info auxv": "The program has no auxiliary information now.",
    "info connections": "No connections.",
    "info os": "Argument required (one of: processes, threads...)",
    "monitor": '"monitor" command not supported by this target.',
    "path": "Argument required (folders).",
    "remove-symbol-file": "remove-symbol-file: no symbol file provided",
}
"""GDB's error for a missing argument."""
NEED_PROGRAM = {
    "checkpoint", "detach", "disconnect", "generate-core-file", "queue-signal", "record", "record btrace", "return",
}
"""Commands for which GDB, and so rocdbg, first reports that the program is not being run."""
BOTH = {"compile", "record btrace", "detach", "explore", "info probes", "info proc", "task"}
"""Prefixes that are commands too."""
OBSCURE = Category.OBSCURE
TOPIC = "That is not a command, just a help topic."


def add_unavailable(registry: Registry) -> None:
    """Declare the unused names of `GDB_COMMANDS`; those below a prefix with deferred commands are added after those."""
    late: dict[str, list[tuple[str, str]]] = {}
    for class_name, names in GDB_COMMANDS.items():
        prefixes = {name.rsplit(" ", 1)[0] for name in names if " " in name}
        for name in names:
            if name in prefixes and name not in BOTH:
                continue
            first, *rest = name.split()
            if rest and registry.is_late(first):
                late.setdefault(first, []).append((name, class_name))
            else:
                _add(registry, name, class_name)
    for first, found in late.items():
        registry.add_late((first,), partial(_add_all, registry, found))
    for name in ("maintenance", "overlay"):  # only prefixes, whose other names no command declares
        for other in OTHER_NAMES[name]:
            if not registry.has(other):
                registry.add_alias((other,), registry.node([name])[1], (name,))
    for topic in HELP_TOPICS:
        node = Node(_unavailable(topic, TOPIC, TOPIC, OBSCURE), is_topic=True, is_alias=True)
        registry.root.children.setdefault(topic, node)


def _add_all(registry: Registry, names: Iterable[tuple[str, str]]) -> None:
    for name, class_name in names:
        _add(registry, name, class_name)


def _add(registry: Registry, name: str, class_name: str) -> None:
    reason = reason_against(name)
    if reason is not None and not registry.has(name):
        message = f'The "{name}" command does not apply to rocdbg: {reason}.'
        registry.add(_unavailable(name, message, f"Does not apply to rocdbg: {reason}.", Category(class_name)))


def _unavailable(name: str, message: str, text: str, category: Category) -> CommandSpec:
    summary = SUMMARIES.get(name.removeprefix("t") if name.startswith("tcatch ") else name)
    if summary is not None:
        text = f"{summary}\n\n{text}"

    def handler(shell: Shell, arguments: str) -> None:
        if name in NEED_PROGRAM and not shell.session.inferior.running:
            raise NotRunningError
        raise CommandError(message if arguments else WITHOUT_ARGUMENT.get(name, message))

    return CommandSpec(
        tuple(name.split()), handler, category, text, usage=name, repeat=Repeat.NEVER, arguments=Arguments(),
        hidden=True,
    )
