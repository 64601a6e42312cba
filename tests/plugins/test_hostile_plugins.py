"""Plug-ins that raise any exception anywhere: a message names them, and the session continues."""

# ruff: noqa: E501  (commands and messages)
from __future__ import annotations

import io
import signal
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import rocdbg
from rocdbg.cli.interrupts import Signals
from rocdbg.cli.repl import run_statement
from rocdbg.cli.shell import Shell

MakeShell = Callable[..., tuple[Shell, io.StringIO]]
RAISED = [
    "SystemExit(3)",
    "KeyboardInterrupt",
    "GeneratorExit",
    "MemoryError",
    "RecursionError",
    "BaseException('odd')",
    "Odd()",
]
HEAD = """
from rocdbg.plugin import *
class Odd(BaseException):
    def __str__(self):
        raise ValueError
"""
PLACES = {
    # where it is raised: the plug-in, what is typed after `plugin load`, what is said
    "import": ("raise {error}", "", "Plug-in odd cannot be loaded: {name}"),
    "attribute": ("def __getattr__(name):\n    raise {error}", "", "Plug-in odd cannot be loaded: {name}"),
    "registration": ("def register(api):\n    raise {error}", "", "Plug-in odd cannot be loaded: {name}"),
    "command": (
        "@command('odd', category=Category.USER)\ndef odd(shell, text):\n    '''Odd.'''\n    raise {error}\n"
        "def register(api):\n    api.command(odd)",
        "odd", "Plug-in odd: command odd failed: {name}",
    ),
    "function": (
        "def odd(host, values):\n    raise {error}\ndef register(api):\n    api.function('odd', odd)",
        "print $odd(1)", "Plug-in odd: function $odd failed: {name}",
    ),
    "printer": (
        "def odd(value):\n    raise {error}\ndef register(api):\n    api.pretty_printer(odd)",
        "print 5", "Plug-in odd: a pretty-printer failed and is switched off: {name}",
    ),
    "children": (
        "def odd(value):\n    def each():\n        yield 'a', value\n        raise {error}\n    return Pretty('x', each())\n"
        "def register(api):\n    api.pretty_printer(odd)",
        "print 5", "Plug-in odd: a pretty-printer failed and is switched off: {name}",
    ),
}


@pytest.fixture(name="shell")
def shell_fixture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_shell: MakeShell
) -> Iterator[tuple[Shell, io.StringIO]]:
    """A shell as a user has it, with its own handlers for Ctrl-C."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    shell, text = make_shell()
    shell.reports_internal_errors = True
    shell.signals = Signals(shell)
    shell.signals.install()
    yield shell, text
    shell.signals.restore()


def run(shell: Shell, source: str, *lines: str) -> None:
    Path("odd.py").write_text(HEAD + source + "\n")
    for line in ("plugin load ./odd.py", *lines, "output 6 * 7"):
        run_statement(shell, line, lambda prompt: "end")


@pytest.mark.parametrize("error", RAISED)
@pytest.mark.parametrize("place", PLACES)
def test_anything_is_raised_anywhere(place: str, error: str, shell: tuple[Shell, io.StringIO]) -> None:
    source, line, message = PLACES[place]
    run(shell[0], source.replace("{error}", error), *filter(None, [line]))
    written = shell[1].getvalue()
    assert message.replace("{name}", error.partition("(")[0]) in written
    assert written.endswith("42") and "internal-error" not in written


RESULTS = [
    # what a pretty-printer gives, what is written after the first line
    (
        "5",
        "a pretty-printer failed and is switched off: TypeError: a pretty-printer must return Pretty, str or None, not int",
    ),
    ("Pretty(5)", "TypeError: the text of a Pretty must be str or None, not int"),
    ("Pretty('x', 5)", "switched off: TypeError"),
    ("Pretty('x', [5])", "TypeError: each child of a Pretty must be a pair of a name and a Value"),
    ("Pretty('x', [('a', 'b')])", "TypeError: each child of a Pretty must be a pair of a name and a Value"),
    ("Pretty('x', (('a', value) for _ in iter(int, 1)))", "ValueError: a Pretty can have at most 100000 children"),
    ("Pretty('x', [('self', value)])", "$1 = x = {self = x = {self = "),
    ("'\\x1b[31m'", "$1 = \\033[31m"),
    ("Pretty('\\x9b', [('\\x1b', value)], 'array')", "$1 = \\302\\233 = {"),
    ("session.format(value)", "$1 = 5"),
    ("type('S', (str,), {'__str__': lambda self: 1/0})('text')", "$1 = text"),
]


@pytest.mark.parametrize(("result", "written"), RESULTS, ids=[row[0][:30] for row in RESULTS])
def test_results_of_printers(result: str, written: str, shell: tuple[Shell, io.StringIO]) -> None:
    source = f"""
    def register(api):
        session = api.session
        api.pretty_printer(lambda value: {result})
    """
    run(shell[0], textwrap.dedent(source), "plugin unload nosuch", "print 5")
    text = shell[1].getvalue()
    assert written in text
    assert "internal-error" not in text and "\x1b" not in text


REGISTERED = [
    ("api.command(5)", "registers a command that is not declared with @command"),
    (
        "api.command(command('', category=Category.USER)(lambda shell, text: None))",
        "by a name that cannot be typed",
    ),
    (
        "api.command(command('\\x1b', category=Category.USER)(lambda shell, text: None))",
        "by a name that cannot be typed",
    ),
    ("api.function(5, None)", "5 is not a valid name for a convenience function"),
    ("api.function('a b', None)", "'a b' is not a valid name for a convenience function"),
]


@pytest.mark.parametrize(("call", "message"), REGISTERED)
def test_what_cannot_be_registered(call: str, message: str, shell: tuple[Shell, io.StringIO]) -> None:
    run(shell[0], f"def register(api):\n    {call}", "info plugins")
    assert message in shell[1].getvalue()
    assert shell[1].getvalue().endswith("42")


def test_a_function_that_gives_no_value(shell: tuple[Shell, io.StringIO]) -> None:
    run(shell[0], "def register(api):\n    api.function('f', lambda host, values: 'text')", "print $f(1) + 1")
    assert shell[1].getvalue() == "Plug-in odd: function $f returned str, not a Value.\n42"


def test_a_stop_hook_that_leaves(
    make_shell: MakeShell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shell, text = make_shell("saxpy/saxpy.toml")
    run(
        shell,
        "def hook(session, event):\n    raise SystemExit\ndef register(api):\n    api.on_stop(hook)",
        "start",
        "next",
    )
    assert text.getvalue().count("Plug-in odd: a stop hook failed and is switched off: SystemExit") == 1
    assert text.getvalue().endswith("42")


def test_ctrl_c_ends_one_that_takes_for_ever(shell: tuple[Shell, io.StringIO]) -> None:
    """The exception of the Ctrl-C handler comes from the user, not from the plug-in: nothing is switched off."""
    source = "def odd(value):\n    while True:\n        pass\ndef register(api):\n    api.pretty_printer(odd)"
    signal.signal(signal.SIGALRM, lambda number, frame: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    run(shell[0], source, "print 5", "plugin unload odd")
    assert shell[1].getvalue() == "Quit\n42"


OBSERVER = """
from rocdbg.plugin import Observer

class Teller(Observer):
    def launched(self, target):
        print("launched", len(target.code_objects()))
    def left(self):
        raise RuntimeError("enough")

def register(api):
    api.observer(Teller())
"""


def test_an_observer_is_told_until_it_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "teller.py").write_text(OBSERVER)
    debugger = rocdbg.Debugger(Path(__file__).resolve().parents[2] / "demo_kernels" / "saxpy" / "saxpy.toml")
    debugger.execute(f"plugin load {tmp_path / 'teller.py'}")
    for _ in range(2):
        debugger.execute("run")
    said = capsys.readouterr()
    assert said.out.count("launched 1\n") == 1
    assert said.err.count("Plug-in teller: an observer failed and is switched off: RuntimeError: enough") == 1
