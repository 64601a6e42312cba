"""How the registry finds the command of a line: abbreviations, aliases, prefixes, ambiguity, with GDB's messages."""

from __future__ import annotations

import pytest

from rocdbg.cli.command_registry import Category, CommandError, CommandSpec, Registry
from rocdbg.cli.commands import add_all
from tests.passes import check_each

REGISTRY = Registry()
add_all(REGISTRY)

FOUND = [
    # typed line, command, text after it
    ("print x", "print", "x"),
    ("p x", "print", "x"),
    ("p/x  y", "print", "/x  y"),
    ("printf \"x\"", "printf", "\"x\""),
    ("x/4i $pc", "x", "/4i $pc"),
    ("b f", "break", "f"),
    ("br f", "break", "f"),
    ("tb f", "tbreak", "f"),
    ("r", "run", ""),
    ("n 3", "next", "3"),
    ("ni", "nexti", ""),
    ("s", "step", ""),
    ("si", "stepi", ""),
    ("c", "continue", ""),
    ("u", "until", ""),
    ("fin", "finish", ""),
    ("bt full", "backtrace", "full"),
    ("where", "backtrace", ""),
    ("f 2", "frame", "2"),
    ("l", "list", ""),
    ("h lane apply", "help", "lane apply"),
    ("q", "quit", ""),
    ("exit", "quit", ""),
    ("d 1", "delete", "1"),
    ("dis 1", "disable", "1"),
    ("disas", "disassemble", ""),
    ("t 2:5", "thread", "2:5"),
    ("thread apply all bt", "thread apply all", "bt"),
    ("lane 5", "lane", "5"),
    ("lane ap 0-3 p i", "lane apply", "0-3 p i"),
    ("i s", "backtrace", ""),
    ("i b", "info breakpoints", ""),
    ("i r exec", "info registers", "exec"),
    ("info th", "info threads", ""),
    ("info la -all", "info lanes", "-all"),
    ("info f", "info frame", ""),
    ("set var x = 1", "set variable", "x = 1"),
    ("set x = 1", "set", "x = 1"),
    ("set $i = 1", "set", "$i = 1"),
    ("set print pretty on", "set print pretty", "on"),
    ("set p pretty on", "set print pretty", "on"),
    ("show print pretty", "show print pretty", ""),
    ("!ls -l", "shell", "ls -l"),
    ("shell ls", "shell", "ls"),
    ("k", "kill", ""),
    ("plugin load a.py", "plugin load", "a.py"),
]


@pytest.mark.parametrize(("line", "name", "text"), FOUND, ids=lambda value: str(value))
def test_a_line_finds_its_command(line: str, name: str, text: str) -> None:
    resolved = REGISTRY.find(line)
    assert (resolved.spec.name, resolved.text) == (name, text)


REFUSED = [
    ("frobnicate 3", 'Undefined command: "frobnicate".  Try "help".'),
    ("thread fro 1", None),  # arguments of thread
    ("lane apply", None),
    ("de", 'Ambiguous command "de": define, define-prefix, del, delete, demangle, detach.'),
    ("pri y", 'Ambiguous command "pri y": print, print-object, printf.'),
    ("info sou", 'Ambiguous info command "sou": source, sources.'),
    ("set print fro on", 'Undefined set print command: "fro on".  Try "help set print".'),
    ("?", 'Undefined command: "".  Try "help".'),
    ("", 'Undefined command: "".  Try "help".'),
]


@pytest.mark.parametrize(("line", "message"), REFUSED, ids=lambda value: str(value))
def test_a_line_without_a_command_says_so(line: str, message: str | None) -> None:
    if message is None:
        REGISTRY.find(line)
        return
    with pytest.raises(CommandError) as error:
        REGISTRY.find(line)
    assert str(error.value) == message


def test_every_command_is_documented() -> None:
    check_each(REGISTRY.specs(), lambda spec: spec.name, _is_documented)


def _is_documented(spec: CommandSpec) -> None:
    assert spec.summary.endswith((".", ":")) or spec.summary.rstrip(")").endswith("."), spec.summary
    assert spec.usage.split()[0].startswith(spec.words[0]) or any(
        spec.usage.startswith(" ".join(alias)) for alias in spec.aliases
    )
    assert isinstance(spec.category, Category)


def test_aliases_reach_the_same_command_and_its_subcommands() -> None:
    assert REGISTRY.find("i lanes").spec is REGISTRY.find("info lanes").spec
    assert REGISTRY.find("t apply 1 bt").spec is REGISTRY.find("thread apply 1 bt").spec


def test_no_alias_hides_a_command() -> None:
    names = {spec.name for spec in REGISTRY.specs()}
    hidden = [
        (spec.name, alias)
        for spec in REGISTRY.specs()
        for alias in map(" ".join, spec.aliases)
        if alias in names
    ]
    assert hidden == []
