"""Completion: what can be added to a line at the cursor.

`complete_line` is a plain function of the shell's registry and symbols; the prompt and the `complete` command both use
it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rocdbg.cli.command_registry import WORD, Category, Completes, Node
from rocdbg.cli.settings.setting_value_kinds import PLACEHOLDER
from rocdbg.cli.signal_table import ACTIONS
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.cli.arguments import Arguments
    from rocdbg.cli.shell import Shell

LIMIT = 200  # the maximum number of candidates, as GDB's max-completions
LAST_NAME = re.compile(r"(?<!\w)\$?[A-Za-z_][A-Za-z0-9_:]*$|\$$")
_CONDITION = re.compile(r"(?<!\S)if(\s|\()")
"""Matches the keyword that begins the condition after a place."""
PLACES = ("-function", "-label", "-line", "-qualified", "-source")
"""The options of explicit locations."""
_BEHIND = {Completes.MEANING: re.compile(r"(?<=\s)=\s*"), Completes.SETTING: re.compile(r"(?<=\s)--\s+")}
"""Matches the text before a nested command: the command in an alias's definition, or the command after a setting."""


def complete_line(shell: Shell, line: str) -> tuple[int, list[str]]:
    """Return where the word to be completed starts in ``line``, and the words that fit, sorted, at most `LIMIT`."""
    node = shell.registry.root
    position = len(line) - len(line.lstrip())
    while True:
        word = WORD.match(line, position)
        end = word.end() if word else position
        if end == len(line):
            found = _names(node, line[position:])
            if found or node.spec is None:
                return position, found[:LIMIT]
            break
        if word is None or not node.children:
            break
        match = node.match(word.group())
        if isinstance(match, list):
            break
        if node is shell.registry.root:
            shell.registry.need(match[0])
            match = node.match(word.group())
            assert not isinstance(match, list)
        node = match[1]
        position = end
        if not line[position].isspace():
            break
        position += len(line[position:]) - len(line[position:].lstrip())
    return _arguments(shell, node, line, position)


def _names(node: Node, prefix: str) -> list[str]:
    """Return the words that may follow, sorted; an alias only if the command's own name does not fit."""
    found = {name: child for name, child in node.children.items() if name.startswith(prefix) and not _hidden(child)}
    own = {id(child.spec) for child in found.values() if child.spec is not None and not child.is_alias}
    return sorted(name for name, child in found.items() if not child.is_alias or id(child.spec) not in own)


def _hidden(node: Node) -> bool:
    return node.spec is not None and node.spec.hidden


def _arguments(shell: Shell, node: Node, line: str, start: int) -> tuple[int, list[str]]:
    spec = node.spec
    if spec is None:
        return start, []
    if spec.arguments is not None:
        return _declared(shell, spec.arguments, line, start)
    last = _last_word(line, start)
    if line[last:].startswith("-") and spec.options:
        return last, sorted(option for option in spec.options if option.startswith(line[last:]))
    return _of_kind(shell, spec.completes, line, start)


def _declared(shell: Shell, arguments: Arguments, line: str, start: int) -> tuple[int, list[str]]:
    """Complete a line whose command declares its arguments; the first argument for which words fit is used."""
    place = start
    found: list[str] = []
    for candidate in arguments.candidates(line[start:]):
        here, words = _of_kind(shell, candidate.completes, line, start + candidate.start)
        if not words or candidate.words:
            last = _last_word(line, start + candidate.start)
            word = line[last:]
            more = (w for w in candidate.words if w.startswith(word) and (word or not w.startswith("-")))
            words = [*(words if here == last else []), *(w for w in more if w != PLACEHOLDER or not word)]
            here = last
        if words and (not found or here == place):
            place, found = here, [*found, *words]
    return place, sorted(set(found))[:LIMIT]


def _last_word(line: str, start: int) -> int:
    """Return where the last word of an argument begins; the argument starts at ``start``."""
    text = line[start:]
    return len(line) - len(text.split(" ")[-1]) if text else start


def _of_kind(shell: Shell, kind: Completes, line: str, start: int) -> tuple[int, list[str]]:
    """Complete an argument that starts at ``start``."""
    if kind is Completes.CODE and _CONDITION.search(line, start):
        kind = Completes.EXPRESSION
    last = _last_word(line, start)
    if kind is Completes.NOTHING:
        return start, []
    if kind is Completes.CODE and line[last:].startswith("-"):
        return last, [word for word in PLACES if word.startswith(line[last:])]
    if kind is Completes.COMMAND:
        if line[start:] == "-":
            return start, []  # the beginning of an option, not the command of that name
        return _command_words(shell, line, start)
    if kind is Completes.HELP:
        here, words = _command_words(shell, line, start)
        classes = (category.value for category in Category) if here == start else ()
        return here, sorted({*words, *(name for name in classes if name.startswith(line[start:]))})
    if kind in (Completes.MEANING, Completes.SETTING):
        behind = _BEHIND[kind].search(line, start)
        if behind is not None:
            return _command_words(shell, line, behind.end())
        return _command_words(shell, line, start, "set " if kind is Completes.SETTING else "")
    if kind in (Completes.SIGNAL, Completes.HANDLING):
        words = [*shell.signal_table.rows, *(("all", *ACTIONS) if kind is Completes.HANDLING else ())]
        return last, sorted(name for name in words if name.startswith(line[last:]))[:LIMIT]
    if kind is Completes.FILE:
        return last, sorted(_files(line[last:]))[:LIMIT]
    if kind in (Completes.EXPRESSION, Completes.SYMBOL, Completes.TYPE):
        name = LAST_NAME.search(line)
        last = name.start() if name else len(line)
        if name is None and line[-1:].isalnum():
            return last, []  # a number
    try:
        words = list(shell.session.complete(kind.value, line[last:], line[start:]))
        if kind is Completes.TYPE:  # `ptype` takes expressions too
            words += shell.session.complete(Completes.EXPRESSION.value, line[last:], line[start:])
    except Error:
        return last, []  # nothing is loaded, or a name is unknown: there is nothing to offer
    return last, sorted(set(words))[:LIMIT]


def _command_words(shell: Shell, line: str, start: int, lead: str = "") -> tuple[int, list[str]]:
    """Complete a command that starts at ``start``; ``lead`` is treated as a prefix of the command."""
    inner, words = complete_line(shell, lead + line[start:])
    return start + inner - len(lead), words


def _files(prefix: str) -> Iterator[str]:
    folder, _, name = prefix.rpartition("/")
    base = Path(os.path.expanduser(folder + "/" if "/" in prefix else "."))  # noqa: PTH111 - "" must stay relative
    try:
        entries = list(os.scandir(base))
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith(name) and (name or not entry.name.startswith(".")):
            lead = f"{folder}/" if "/" in prefix else ""
            yield lead + entry.name + ("/" if entry.is_dir() else "")
