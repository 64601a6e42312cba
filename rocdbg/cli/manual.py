"""Writes the manual of all commands from the registry: ``python -m rocdbg.cli.manual > docs/commands.md``."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from textwrap import fill

from rocdbg.cli.command_registry import CATEGORY_TEXT, Category, CommandSpec, Registry
from rocdbg.cli.commands import add_all
from rocdbg.cli.gdb_commands import GDB_COMMANDS, reason_against
from rocdbg.cli.settings.settings_without_effect import NOTE

HEAD = """\
# Commands

Every command, by class, as `help` shows it. This file is written by `python -m rocdbg.cli.manual` from the
declarations in `rocdbg/cli/commands/`; a test compares the two.

Commands and their sub-commands may be abbreviated where that is unambiguous (`i b`, `lane ap`). An empty line repeats
the last command.
"""
KEPT = """
## Settings of GDB that change nothing here

`set` stores their values and `show` prints them, so that scripts written for GDB run without errors:
"""
STATES = """
## The commands of GDB 13

The tables list the commands of GDB's manual that do not work in rocdbg, by GDB's classes of
commands. All other commands work.
"""
COMPARISON = Path(__file__).parents[2] / "tests" / "gdb"
EQUALITY = """
## How equal the answers are

The same programs, built for the host and for the device, are debugged with GDB 13 and with rocdbg,
command by command (`tests/gdb/`; `python -m tests.gdb.report` shows every pair that differs). Two
answers are equal if their texts are the same except for addresses and for things that a device does
not have. Every pair that differs is a row of `tests/gdb/differences/`, with both answers and the
reason. The first word of the reason is its kind: `GDB` (a fault or a limit of GDB), `host` (GDB
debugs the program as compiled for the host, which behaves differently), `device` (a device cannot
do this), `not offered` (rocdbg could do this, but does not) or `ours` (rocdbg differs on purpose).

"""
COUNTED = """
| difference | pairs |
|---|--:|
"""


def manual(registry: Registry) -> str:
    """Return the manual as Markdown."""
    parts = [HEAD]
    every = [spec for spec in registry.specs() if not spec.hidden]
    specs = [spec for spec in every if not _is_kept(spec)]
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
    kept = ", ".join(f"`{' '.join(s.words[1:])}`" for s in every if _is_kept(s) and s.words[0] == "set")
    parts.append(f"{KEPT}\n{kept}.\n")
    parts.append(STATES)
    parts += _states(registry)
    parts.append(EQUALITY)
    parts += _differences()
    return "".join(parts)


def _states(registry: Registry) -> Iterator[str]:
    """Yield a table for each class of GDB's commands: the commands that are missing, and why."""
    for name, commands in GDB_COMMANDS.items():
        rows = []
        there = 0
        for command in commands:
            reason = reason_against(command)
            if reason is None and registry.has(command):
                there += 1
            else:
                rows.append(f"| `{command}` | {'not applicable: ' + reason if reason else 'not implemented yet'} |\n")
        yield f"\n### {name}\n\n{there} of {len(commands)} work.\n"
        if rows:
            yield "\n| | |\n|---|---|\n" + "".join(rows)


def _differences() -> Iterator[str]:
    """Yield the reasons why output differs from GDB's, most frequent first, with the number of cases."""
    reasons: Counter[str] = Counter()
    for file in sorted((COMPARISON / "differences").glob("*.txt")):
        why = ""
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.startswith("# "):
                why = line[2:]
            elif line.startswith("(gdb"):
                reasons[why] += 1
    ordered = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    for why, count in ordered:
        yield f"{fill(f'{why} ({count})', 100, initial_indent='* ', subsequent_indent='  ')}\n"
    yield COUNTED
    kinds: Counter[str] = Counter()
    for why, count in ordered:
        kinds[why.partition(":")[0]] += count
    for kind, count in kinds.most_common():
        yield f"| {kind} | {count} |\n"
    every = sum(
        line.startswith("(gdb) ")
        for file in (COMPARISON / "golden").glob("*.txt")
        for line in file.read_text(encoding="utf-8").splitlines()
    )
    equal = every - reasons.total()
    yield f"| none: the answers are equal | {equal} of {every}, {_share(equal, every)} |\n"


def _share(part: int, whole: int) -> str:
    """Return a percentage, rounded down, so that 100 % means all."""
    return f"{part * 1000 // whole / 10} %"


def _is_kept(spec: CommandSpec) -> bool:
    """Whether a command sets or shows a setting that is stored without effect."""
    return spec.setting is not None and NOTE in spec.setting.set_help


def _is_row(spec: CommandSpec) -> bool:
    """Whether a command belongs to a `set` and `show` pair with one line of help, for which a table row is enough."""
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
