"""Writes the manual of all commands from the registry: ``python -m rocdbg.cli.manual > docs/commands.md``."""

from __future__ import annotations

import sys

from rocdbg.cli.commands import add_all
from rocdbg.cli.commands.unavailable import NOT_YET
from rocdbg.cli.registry import CATEGORY_TEXT, Category, CommandSpec, Registry

HEAD = """\
# Commands

Every command, by class, as `help` shows it. This file is written by `python -m rocdbg.cli.manual` from the
declarations in `rocdbg/cli/commands/`; a test compares the two.

Commands and their sub-commands may be abbreviated where that is unambiguous (`i b`, `lane ap`). An empty line repeats
the last command.
"""


def manual(registry: Registry) -> str:
    """The manual as Markdown."""
    parts = [HEAD]
    specs = [spec for spec in registry.specs() if spec.name not in NOT_YET]
    for category in Category:
        chosen = [spec for spec in specs if spec.category is category]
        settings = [spec for spec in chosen if _is_row(spec)]
        if not chosen:
            continue
        parts.append(f"\n## {CATEGORY_TEXT[category].rstrip('.')} (`help {category.value}`)\n")
        parts += [_entry(spec) for spec in chosen if not _is_row(spec)]
        if settings:
            parts.append("\n### Settings (`set NAME VALUE`, `show NAME`)\n\n| | |\n|---|---|\n")
            parts += [_row(spec) for spec in settings if spec.words[0] == "set"]
    names = ", ".join(f"`{name}`" for name in sorted(NOT_YET))
    parts.append(f"\n## Not there yet\n\nKnown by name, and answered with a message that says so: {names}.\n")
    return "".join(parts)


def _is_row(spec: CommandSpec) -> bool:
    """Whether a command is one of a `set` and `show` pair whose help is one line: a row of a table is enough."""
    return spec.is_setting and "\n" not in spec.help


def _entry(spec: CommandSpec) -> str:
    aliases = ", ".join(f"`{' '.join(alias)}`" for alias in spec.aliases)
    also = f" (also {aliases})" if aliases else ""
    text = "\n".join("    " + line if line else "" for line in spec.help.splitlines())
    table = spec.arguments.table() if spec.arguments is not None else []
    if table:
        text += "\n" + "".join(f"\n    {line}" if line else "\n" for line in table)
    return f"\n### `{spec.name}`{also}\n\n    Usage: {spec.usage}\n\n{text}\n"


def _row(spec: CommandSpec) -> str:
    usage = spec.usage.replace("|", "\\|")
    return f"| `{usage}` | {spec.help.removeprefix('Set ')} |\n"


def main() -> None:
    """Write the manual to the standard output."""
    registry = Registry()
    add_all(registry)
    sys.stdout.write(manual(registry))


if __name__ == "__main__":
    main()
