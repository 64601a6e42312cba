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
from rocdbg.cli.gdb_settings import NOTE

HEAD = """\
# Commands

Every command, by class, as `help` shows it. This file is written by `python -m rocdbg.cli.manual` from the
declarations in `rocdbg/cli/commands/`; a test compares the two.

Commands and their sub-commands may be abbreviated where that is unambiguous (`i b`, `lane ap`). An empty line repeats
the last command.
"""
KEPT = """
## Settings of GDB that change nothing here

`set` keeps them and `show` tells them, so that scripts written for GDB go through:
"""
STATES = """
## The commands of GDB 13

Every command of GDB's manual, by the classes of its `help`. Where nothing is said a command works.
"""
COMPARISON = Path(__file__).parents[2] / "tests" / "gdb"
EQUALITY = """
## How equal the answers are

The same programs, built for the host and for the device, are debugged with GDB 13 and with rocdbg, command by command
(`tests/gdb/`; `python -m tests.gdb.report` shows every pair that differs). An answer is equal if its text is, but for
addresses and what a device does not have; one value more or less in the history makes all later `$N` of a session
differ. Answers that differ on purpose are not counted. `tests/gdb/differences.txt` lists them by their reasons:

"""
COUNTED = """
Beside them these differences will stay, wherever they show:

* what the program's memory held last can be read after its end: results are what kernels are run for. GDB shows what
  the file has;
* a kernel has no caller: where GDB goes on to the code that called `main`, or returns to it, the kernel ends or stays;
* lines that exist on one side only, for one compiler has a jump there and the other none; numbers of instructions
  (`stepi 3`), their text, and variables that have no value yet;
* what is about processes: `detach`, `catch syscall`, addresses of unloaded shared libraries.

| area | equal | answers | |
|---|--:|--:|--:|
"""


def manual(registry: Registry) -> str:
    """The manual as Markdown."""
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
    reasons = (COMPARISON / "differences.txt").read_text(encoding="utf-8").splitlines()
    parts += [f"{fill(line[2:], 100, initial_indent='* ', subsequent_indent='  ')}\n" for line in dict.fromkeys(reasons)
              if line.startswith("# ")]  # fmt: skip
    parts.append(COUNTED)
    parts += _equality((COMPARISON / "scores.txt").read_text(encoding="utf-8"))
    return "".join(parts)


def _states(registry: Registry) -> Iterator[str]:
    """A table for each class of GDB's commands: those that are not there, and why."""
    for name, commands in GDB_COMMANDS.items():
        rows = []
        there = 0
        for command in commands:
            reason = reason_against(command)
            if reason is None and registry.has(command):
                there += 1
            else:
                rows.append(f"| `{command}` | {'not applicable: ' + reason if reason else 'not there yet'} |\n")
        yield f"\n### {name}\n\n{there} of {len(commands)} work.\n"
        if rows:
            yield "\n| | |\n|---|---|\n" + "".join(rows)


def _equality(scores: str) -> Iterator[str]:
    """A row for each area of the lines ``SESSION, AREA: EQUAL/TOTAL``, and one for all."""
    equal: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for line in scores.splitlines():
        place, _, figures = line.rpartition(": ")
        good, every = (int(figure) for figure in figures.split("/"))
        area = place.partition(", ")[2]
        equal[area] += good
        total[area] += every
    for area, every in sorted(total.items()):
        yield f"| {area} | {equal[area]} | {every} | {_share(equal[area], every)} |\n"
    good, every = equal.total(), total.total()
    yield f"| **all** | {good} | {every} | {_share(good, every)} |\n"


def _share(part: int, whole: int) -> str:
    """Per cent, rounded down: 100 % is all."""
    return f"{part * 1000 // whole / 10} %"


def _is_kept(spec: CommandSpec) -> bool:
    """Whether a command is about a setting without effect."""
    return spec.setting is not None and NOTE in spec.setting.set_help


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
