"""No typed line raises any exception other than `rocdbg.Error`."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rocdbg.cli.command_registry import Registry
from rocdbg.cli.commands import add_all
from rocdbg.cli.leaving_commands import Quit
from rocdbg.cli.line_completion import complete_line
from rocdbg.cli.shell import Shell
from rocdbg.cli.writer import Writer
from rocdbg.debugger.session import Session
from rocdbg.errors import Error

DEMO = Path(__file__).resolve().parents[2] / "demo_kernels" / "spaces" / "spaces.toml"

DUMPED = ("value", "memory")
WRITTEN = (("binary",), ("ihex",), ("srec",), ("npy",))
# Commands that touch the machine, leave files or run for long have their own tests.
LEFT_OUT = {
    "shell", "make", "edit", "pipe", "cd", "source", "save breakpoints", "save tracepoints", "record save",
    "set logging enabled", "file", "launch", "plugin load", "while", "set logging file",
    *(" ".join(("dump", *words, what)) for words in ((), *WRITTEN) for what in DUMPED),
    *(" ".join(("append", *words, what)) for words in ((), ("binary",)) for what in DUMPED),
}


def _names() -> list[str]:
    registry = Registry()
    add_all(registry)
    return [spec.name for spec in registry.specs() if spec.name not in LEFT_OUT]


NAMES = _names()
WORDS = [
    "0", "1", "-1", "3-5", "2:5", "*", "1:*", "64", "99999999999999999999", "0x10", "1e9", "x", "nodes", "tile", "sum",
    "nodes[0]", "nodes->next", "*nodes", "&tile", "local#0x10", "private_lane#0", "generic#0", "nosuch#1", "$pc",
    "$v0", "$v[0:1]", "$s[99:98]", "$1", "$$", "$_", "spaces", "spaces.hip:40", "44", "*0x1a00", "+1", "-", ",", "=",
    "==", "(", ")", "[", "{", "'", '"', "\\", "/x", "/20i", "/s", "/o", "/999999999x", "-q", "-all", "-active",
    "if", "thread", "lane", "all", "on", "off", "unlimited", "%d", '"%d %s"', "@3", "sizeof", "struct", "Node", "int",
    "é", "\t", "#", "!", "?",
]
LINES = st.one_of(
    st.builds(
        lambda name, words, glue: name + glue + " ".join(words),
        st.sampled_from(NAMES),
        st.lists(st.sampled_from(WORDS), max_size=4),
        st.sampled_from([" ", " ", "", "/"]),
    ),
    st.text(max_size=30).filter(lambda text: not text.lstrip().startswith(("!", "shell", "she"))),
)


def _shell(*commands: str) -> Shell:
    text = io.StringIO()
    shell = Shell(Session(), Writer(text), Writer(text))
    shell.session.settings.instruction_budget = 20_000
    for command in commands:
        shell.session.load(DEMO)
        shell.execute(command)
    return shell


EMPTY = _shell()
RUNNING = _shell("tbreak 44\nrun")


def _try(shell: Shell, line: str) -> None:
    resolved = None
    with contextlib.suppress(Error):
        resolved = shell.registry.find(line)
    if resolved is not None and resolved.spec.name in LEFT_OUT:
        return
    shell.session.settings.instruction_budget = 20_000
    with contextlib.suppress(Error, Quit):
        shell.execute(line)
    if shell is RUNNING and shell.session.inferior.target is None:
        shell.session.load(DEMO)
        shell.execute("delete\ntbreak 44\nrun")


@pytest.fixture(autouse=True, scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Files that a line writes go to a temporary folder."""
    with contextlib.chdir(tmp_path_factory.mktemp("lines")):
        yield


@settings(max_examples=300, suppress_health_check=list(HealthCheck))
@given(LINES)
def test_with_nothing_loaded(line: str) -> None:
    _try(EMPTY, line)


@settings(max_examples=300, suppress_health_check=list(HealthCheck))
@given(LINES)
def test_while_a_kernel_runs(line: str) -> None:
    _try(RUNNING, line)


@settings(max_examples=200)
@given(LINES)
def test_completion(line: str) -> None:
    start, words = complete_line(RUNNING, line)
    assert 0 <= start <= len(line)
    assert words == sorted(words)
