"""A faulty plug-in causes one message, and the session continues."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.cli.shell import Shell
from rocdbg.debugger.base.errors import PluginError

MakeShell = Callable[..., tuple[Shell, io.StringIO]]

BROKEN = [
    # source, the error of `plugin load`
    ("import nosuchmodule", "Plug-in p cannot be loaded: ModuleNotFoundError: No module named 'nosuchmodule'"),
    ("def register(api", "Plug-in p cannot be loaded: SyntaxError: '(' was never closed"),
    ("x = 1", "Plug-in p has no function register(api)."),
    ("def register(api): raise ValueError('no')", "Plug-in p cannot be loaded: ValueError: no"),
    ("def register(api): api.command(print)", "p registers a command that is not declared with @command."),
    ("def register(api): api.nosuch()", "has no attribute 'nosuch'"),
]


@pytest.mark.parametrize(("source", "message"), BROKEN, ids=[case[1][:40] for case in BROKEN])
def test_one_that_cannot_be_loaded(source: str, message: str, tmp_path: Path, make_shell: MakeShell) -> None:
    path = tmp_path / "p.py"
    path.write_text(source + "\n")
    shell, text = make_shell()
    with pytest.raises(PluginError) as error:
        shell.execute(f"plugin load {path}")
    assert message in str(error.value)
    shell.execute("print 1")
    assert text.getvalue() == "$1 = 1\n"
    assert not shell.session.plugins.plugins


FAULTY = '''
"""Faults everywhere."""
from rocdbg.plugin import Category, command

@command("fail", category=Category.USER)
def fail(shell, text):
    """Fail."""
    raise KeyError("fail")

def printer(value):
    raise IndexError("printer")

def hook(session, event):
    raise RuntimeError("hook")

def function(host, values):
    raise ZeroDivisionError("function")

def register(api):
    api.command(fail)
    api.pretty_printer(printer)
    api.on_stop(hook)
    api.function("_fail", function)
'''


def test_one_that_fails_when_called(tmp_path: Path, make_shell: MakeShell) -> None:
    path = tmp_path / "faulty.py"
    path.write_text(FAULTY)
    shell, text = make_shell("saxpy/saxpy.toml")
    shell.execute(f"plugin load {path}")
    with pytest.raises(PluginError, match=r"Plug-in faulty: command fail failed: KeyError: 'fail'"):
        shell.execute("fail")
    with pytest.raises(PluginError, match=r"Plug-in faulty: function \$_fail failed: ZeroDivisionError: function"):
        shell.execute("print $_fail(1)")
    shell.execute("tbreak 8\nrun\nnext")
    shell.execute("print i\nprint i")
    warnings = [line for line in text.getvalue().splitlines() if line.startswith("warning:")]
    assert sorted(warnings) == [
        "warning: Plug-in faulty: a pretty-printer failed and is switched off: IndexError: printer",
        "warning: Plug-in faulty: a stop hook failed and is switched off: RuntimeError: hook",
    ]
    assert text.getvalue().splitlines()[-1] == "$2 = 0"


def test_what_is_not_there(make_shell: MakeShell) -> None:
    shell, _ = make_shell()
    with pytest.raises(PluginError, match=r"No plug-in nosuch is installed; installed plug-ins: .*lanemap, vectors"):
        shell.execute("plugin load nosuch")
    with pytest.raises(PluginError, match=r"/nosuch\.py: No such file or directory\."):
        shell.execute("plugin load /nosuch.py")


def test_loading_twice(make_shell: MakeShell) -> None:
    shell, text = make_shell()
    shell.execute("plugin load lanemap\ninfo plugins")
    assert "lanemap yes" in text.getvalue()
    with pytest.raises(PluginError, match=r"Plug-in lanemap is already loaded\."):
        shell.execute("plugin load lanemap")


REPLACING = '''
"""Replaces what is there."""
from rocdbg.plugin import Category, command

@command("echo", category=Category.USER, aliases=("ec2",))
def echo(shell, text):
    """Say something else."""
    shell.line("replaced")

def register(api):
    api.command(echo)
    api.function("_strlen", lambda host, values: values[0])
    api.function("mine", lambda host, values: values[0])
    api.pretty_printer(lambda value: "printed" if str(value.type) == "long" else None)
'''


def test_unloading_puts_back_what_was_there(tmp_path: Path, make_shell: MakeShell) -> None:
    path = tmp_path / "replacing.py"
    path.write_text(REPLACING)
    shell, text = make_shell()
    commands = r'echo plain\n' + '\nprint $_strlen("abc")\noutput 5L\necho \\n'
    shell.execute(f"plugin load {path}\necho plain\nec2\noutput 5L\nplugin unload replacing\n{commands}")
    assert text.getvalue() == "replaced\nreplaced\nprintedplain\n$1 = 3\n5\n"
    assert not shell.registry.has("ec2")
    assert not shell.session.plugins.has_printers
    with pytest.raises(PluginError, match=r"Plug-in replacing is not loaded\."):
        shell.execute("plugin unload replacing")
