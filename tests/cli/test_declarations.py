"""Declarations of commands and settings: handlers fit, usage lines parse, options complete, settings can be restored.
"""

from __future__ import annotations

import inspect
import io
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rocdbg.cli.command_options import Option
from rocdbg.cli.command_registry import Category, CommandError, CommandSpec, Registry, command
from rocdbg.cli.commands import add_all
from rocdbg.cli.line_completion import complete_line
from rocdbg.cli.settings.all_settings import SETTINGS
from rocdbg.cli.settings.print_settings import FRAME_OPTIONS, PRINT_OPTIONS
from rocdbg.cli.settings.running_settings import PlainText, ScheduleKind
from rocdbg.cli.settings.setting_declaration import Setting
from rocdbg.cli.settings.setting_value_kinds import (
    COUNT,
    DEPTH,
    PLACEHOLDER,
    SIGNED,
    UNSIGNED,
    AutoBoolean,
    Boolean,
    Enumeration,
    FileList,
    FileName,
    Number,
    Radix,
    String,
)
from rocdbg.cli.settings.setting_value_kinds import (
    LINES as LINE_COUNTS,
)
from rocdbg.cli.settings.settings_without_effect import settings_without_effect
from rocdbg.cli.settings.style_settings import style_settings
from rocdbg.cli.shell import Shell
from rocdbg.cli.writer import Writer
from rocdbg.debugger.base.engine_settings import PrintSettings, Settings
from rocdbg.debugger.session import Session
from rocdbg.errors import Error
from tests.passes import check_each

MakeShell = Callable[..., tuple[Shell, io.StringIO]]

DEMO = Path(__file__).resolve().parents[2] / "demo_kernels" / "spaces" / "spaces.toml"
REGISTRY = Registry()
add_all(REGISTRY)
SPECS = list(REGISTRY.specs())
FUNCTIONS = {
    value.command_spec.name: value
    for name, module in list(sys.modules.items())
    if name.startswith("rocdbg.cli.commands.")
    for value in vars(module).values()
    if hasattr(value, "command_spec")
}


@pytest.fixture(scope="module", name="running")
def running_fixture() -> Shell:
    """A shell in which a kernel has stopped."""
    shell = Shell(Session(), Writer(io.StringIO()), Writer(io.StringIO()))
    shell.session.load(DEMO)
    shell.execute("tbreak 44\nrun")
    return shell


def test_a_command_declares_its_arguments() -> None:
    assert [spec.name for spec in SPECS if spec.arguments is None] == []


def test_a_function_takes_what_its_declaration_gives() -> None:
    def check(name: str) -> None:
        function = FUNCTIONS[name]
        parameters = dict(inspect.signature(function).parameters)
        assert parameters.pop("shell").annotation == "Shell"
        declared = function.command_spec.arguments.parameters()
        assert {key: value.annotation for key, value in parameters.items()} == declared

    check_each(FUNCTIONS, str, check)


# What may represent the metasyntactic words of the usage lines; the others are 1.
SAMPLES = {
    "KIND": "abort",
    "/FMT": "/x", "/FLAGS": "/o", "/rsm": "/r /s", "COMMAND": "print 1", "FILE": "a.co", "FILE.toml": "a.toml",
    "NAME": "name", "REGEXP": "^a", "LOCATION": "spaces", "N:LANE": "1:2", "TEXT": "some text",
    '"FORMAT",': '"%d",', "ARG...": "1", "=": "=", "FROM": "/a", "TO": "/b", "SYMBOL": "spaces", "HEX": "30",
    "DIR...": "/a /b", "ID...": "1-2 3", "N...": "1-2 3", "NAME...": "s0 exec", "VARIABLE": "nodes",
    "TARGET-ID": "gfx90a", "TARGET": "gfx90a",
}


def _lines(usage: str) -> list[str]:
    """The shortest and the longest line that a usage line allows, with its first and its last alternatives."""
    found = set()
    for keep in ("", r"\1"):  # what is in brackets
        text = usage.replace("ptype[", "ptype [").replace("[OPTION...]", "")
        while "[" in text:
            text = re.sub(r"\[([^][]*)\]", keep, text)
        for alternative in (0, -1):
            # the values of an enumeration are what they are
            words = [(part.split("|")[alternative], part.startswith("auto|")) for part in text.split()]
            found.add(" ".join(SAMPLES.get(w, "1" if w.isupper() and not is_value else w) for w, is_value in words))
    return sorted(found)


def test_lines_of_a_usage() -> None:
    assert _lines("lane apply [ID...|all] [-q|-c] COMMAND") == [
        "lane apply 1-2 3 -q print 1", "lane apply all -c print 1", "lane apply print 1",
    ]
    assert _lines("maint isa coverage [TARGET [REGEXP]]") == ["maint isa coverage", "maint isa coverage gfx90a ^a"]


# Metasyntax that is about a text within one argument.
NOT_LINES = {"set arg"}


def test_a_usage_line_parses_with_its_own_declaration(running: Shell) -> None:
    def check(spec: CommandSpec) -> None:
        assert spec.arguments is not None
        for line in _lines(spec.usage):
            found = running.registry.find(line)
            if found.spec.name == spec.name:
                spec.arguments.parse(running, found.text)
            else:  # `show` and a sub-command of it
                assert found.spec.name.startswith(spec.name)

    check_each((spec for spec in SPECS if spec.name not in NOT_LINES), lambda spec: spec.name, check)


OPTIONS = [(spec, option) for spec in SPECS if spec.arguments is not None for option in spec.arguments.options]


def test_an_option_completes_and_so_do_its_values(make_shell: MakeShell) -> None:
    shell, _ = make_shell()

    def check(case: tuple[CommandSpec, Option]) -> None:
        spec, option = case
        assert option.name in complete_line(shell, f"{spec.name} {option.name[:2]}")[1]
        assert option.name in complete_line(shell, f"{spec.name} {option.name}")[1]
        if option.kind is not None:
            for word in option.kind.words:
                assert word in complete_line(shell, f"{spec.name} {option.name} {begun(word)}")[1]

    check_each(OPTIONS, lambda case: f"{case[0].name} {case[1].name}", check)


def begun(word: str) -> str:
    """The typed beginning of a word that completion should offer; empty for a word that represents a number."""
    return "" if word == PLACEHOLDER else word[:1]


def test_a_setting_is_declared_once() -> None:
    every = [setting.name for setting in (*SETTINGS, *style_settings(), *settings_without_effect())]
    assert sorted(set(every)) == sorted(every)


def test_options_of_print_are_the_settings_of_print() -> None:
    settings = {setting.name.removeprefix("print "): setting for setting in SETTINGS}
    for option in (*PRINT_OPTIONS.options, *FRAME_OPTIONS.options):
        setting = settings[option.name.removeprefix("-")]
        assert (option.kind, option.help) == (setting.kind, f"Set {setting.what}.")
        assert option.parameter in PrintSettings.__slots__


ONCE = [
    # print with options, as the settings would have it
    ("print -elements 2 -- weights", "{3, 1...}"),
    ("print -e 2 -- weights", "{3, 1...}"),
    ("print -elements 2 -- weights", "{3, 1...}"),
    ("print -array-indexes -elem 2 -- weights", "{[0] = 3, [1] = 1...}"),
    ("print -array-indexes off -elements unlimited -- weights", "{3, 1, 4, 1, 5, 9, 2, 6}"),
    ("print -elements 2 -- /x weights", "{0x3, 0x1...}"),
    ("call -elements 2 -- weights", "{3, 1...}"),
]


@pytest.mark.parametrize(("line", "shown"), ONCE, ids=[case[0] for case in ONCE])
def test_an_option_holds_for_one_command(line: str, shown: str, make_shell: MakeShell) -> None:
    shell, text = make_shell("spaces/spaces.toml")
    shell.execute(f"{line}\nprint weights")
    assert text.getvalue().splitlines() == [f"$1 = {shown}", "$2 = {3, 1, 4, 1, 5, 9, 2, 6}"]


# -- settings


def _values(setting: Setting) -> list[tuple[str, str]]:
    """Values to set, and the output of `show` for them."""
    kind = setting.kind
    if isinstance(kind, Boolean):
        return [("off", "off"), ("on", "on"), ("0", "off"), ("yes", "on"), ("of", "off"), ("", "on")]
    if isinstance(kind, AutoBoolean):
        return [("off", "off"), ("on", "on"), ("auto", "auto"), ("1", "on"), ("a", "auto")]
    if isinstance(kind, Number):
        unlimited = [("unlimited", "unlimited"), ("u", "unlimited")] if kind.unlimited is not None else []
        return [("7", "7"), ("0x10", "16"), *unlimited]
    if isinstance(kind, Enumeration):
        return [(choice, choice) for choice in kind.choices]
    if isinstance(kind, ScheduleKind):
        return [(word, word) for word in ("random 7", "lockstep 3", "one-at-a-time", "round-robin")]
    if isinstance(kind, Radix):
        return [(hex(int(word)), word) for word in kind.words]  # the input radix changes what 10 is
    return [("/a", "/a")]


# What `show` says where it is not "WHAT is VALUE."
LINES = {
    ("breakpoint condition-evaluation", "auto"): "Breakpoint condition evaluation mode is auto (currently target).",
    ("breakpoint condition-evaluation", "host"): "Breakpoint condition evaluation mode is host.",
    ("breakpoint condition-evaluation", "target"): "Breakpoint condition evaluation mode is target.",
    ("exec-direction", "forward"): "Forward.",
    ("exec-direction", "reverse"): "Reverse.",
    ("directories", "/a"): "Source directories searched: /a:$cdir:$cwd",
    ("logging enabled", "on"): "on: Logging is enabled.",
    ("logging enabled", "off"): "off: Logging is disabled.",
    ("logging file", "/a"): 'The current logfile is "/a".',
    ("logging overwrite", "on"): "on: Logging overwrites the log file.",
    ("logging overwrite", "off"): "off: Logging appends to the log file.",
    ("logging redirect", "on"): "on: Output will go only to the log file.",
    ("logging redirect", "off"): "off: Output will go to both the screen and the log file.",
    ("style enabled", "on"): "CLI output styling is enabled.",
    ("style enabled", "off"): "CLI output styling is disabled.",
    ("style sources", "on"): "Source code styling is enabled.",
    ("style sources", "off"): "Source code styling is disabled.",
    ("architecture", "/a"): 'The target architecture is set to "/a".',
    ("cwd", "/a"): 'Current working directory that will be used when starting the inferior is "/a".',
    ("endian", "big"): "The target is set to big endian.",
    ("endian", "little"): "The target is set to little endian.",
    ("endian", "auto"): "The target endianness is set automatically (currently little endian).",
    ("extended-prompt", "/a"): "The extended prompt is: /a",
    ("interactive-mode", "on"): "Debugger's interactive mode is on.",
    ("interactive-mode", "off"): "Debugger's interactive mode is off.",
    ("interactive-mode", "auto"): "Debugger's interactive mode is auto (currently off).",
    ("logging debugredirect", "on"): "on: Debug output will go only to the log file.",
    ("logging debugredirect", "off"): "off: Debug output will go to both the screen and the log file.",
    ("mem inaccessible-by-default", "on"): "Unknown memory addresses will be treated as inaccessible.",
    ("mem inaccessible-by-default", "off"): "Unknown memory addresses will be treated as RAM.",
    ("auto-load safe-path", "/a"): "List of directories from which it is safe to auto-load files is /a.",
}


IN_WORDS = {name for name, _ in LINES}
GO_ROUND = [
    setting for setting in (*SETTINGS, *(each for each in style_settings() if " " not in each.name.partition(" ")[2]))
    if (setting.line is None or setting.name in IN_WORDS) and setting.name != "trace-commands"  # it shows commands, too
]


def test_a_setting_goes_round(make_shell: MakeShell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # for the log
    check_each(GO_ROUND, lambda setting: setting.name, lambda setting: _goes_round(setting, make_shell))


def _goes_round(setting: Setting, make_shell: MakeShell) -> None:
    shell, text = make_shell("spaces/spaces.toml")
    shell.can_colour = True
    for value, shown in _values(setting):
        shell.execute(f"set {setting.name} {value}")
        text.seek(0)
        text.truncate()
        shell.execute(f"show {setting.name}")
        quoted = f'"{shown}"' if setting.kind.is_quoted else shown
        usual = f"{setting.what[0].upper()}{setting.what[1:]} is {quoted}."
        expected = setting.sentence.replace("{}", shown) or LINES.get((setting.name, shown), usual)
        assert text.getvalue() == expected + "\n"
    shell.execute("set logging enabled off")
    for word in setting.kind.words:
        assert word in complete_line(shell, f"set {setting.name} {begun(word)}")[1]


REFUSED: list[tuple[type, str, str]] = [
    # the type, a text, what is said (GDB 13's words, except for numbers)
    (Boolean, "maybe", '"on" or "off" expected.'),
    (Boolean, "o", '"on" or "off" expected.'),
    (Boolean, "on off", '"on" or "off" expected.'),
    (AutoBoolean, "maybe", '"on", "off" or "auto" expected.'),
    (AutoBoolean, "", '"on", "off" or "auto" expected.'),
    (Number, "", "Argument required (integer to set it to{unlimited})."),
    (Number, "x", 'No symbol "x" in current context.'),
    (Number, "1 2", "A syntax error in expression, near `2'."),
    (Number, "99999999999", "integer 99999999999 out of range"),
    (Enumeration, "nosuch", 'Undefined item: "nosuch".'),
    (FileName, "", "Argument required (filename to set it to.)."),
]


@pytest.mark.parametrize(("kind", "text", "message"), REFUSED, ids=[f"{c[0].__name__}: {c[1]}" for c in REFUSED])
def test_a_wrong_value_changes_nothing(kind: type, text: str, message: str, make_shell: MakeShell) -> None:
    shell, _ = make_shell("spaces/spaces.toml")
    for setting in SETTINGS:
        if type(setting.kind) is kind:
            before = setting.place.read(shell)
            with pytest.raises(Error) as error:
                shell.execute(f"set {setting.name} {text}")
            unlimited = ', or "unlimited"' if "unlimited" in setting.kind.words else ""
            assert str(error.value) == message.replace("{unlimited}", unlimited)
            assert setting.place.read(shell) == before


EDGES = [
    # the type of numbers, the least and the greatest that it takes
    (COUNT, 0, 2**32 - 1),
    (DEPTH, -1, 2**31 - 1),
    (UNSIGNED, 0, 2**32 - 1),
    (SIGNED, -(2**31), 2**31 - 1),
    (LINE_COUNTS, -(2**31), 2**31 - 1),
]


@pytest.mark.parametrize(("kind", "least", "greatest"), EDGES)
def test_the_least_and_the_greatest_number(kind: Number, least: int, greatest: int) -> None:
    """As the value of a setting and of an option."""
    for number in (least, greatest):
        assert kind.parse(str(number)) == number
        assert kind.take("-option", f"{number} x", False) == (number, "x")
    for number in (least - 1, greatest + 1):
        for take in (kind.parse, lambda text: kind.take("-option", text, False)):
            with pytest.raises(CommandError, match=r"out of range|only -1 is allowed"):
                take(str(number))


def _every_setting() -> Iterator[Setting]:
    registry = Registry()
    add_all(registry)
    for spec in registry.specs():
        if spec.words[0] == "show" and spec.setting is not None:
            yield spec.setting


def test_what_a_setting_shows_can_be_set(make_shell: MakeShell) -> None:
    shell, text = make_shell()  # one for all: a setting that is set to what it is changes no other
    check_each(_every_setting(), lambda setting: setting.name, lambda setting: _shows_and_sets(setting, shell, text))


def _shows_and_sets(setting: Setting, shell: Shell, text: io.StringIO) -> None:
    text.seek(0)
    text.truncate()
    shell.execute(f"show {setting.name}")
    shown = text.getvalue()
    assert len(shown) > 1
    value = setting.kind.show(setting.place.read(shell))
    if value and not isinstance(setting.kind, (FileName, FileList)) and setting.name != "exec-direction":
        shell.execute(f"set {setting.name} {value}\nshow {setting.name}")
        assert text.getvalue().endswith(shown)
    assert shell.registry.find(f"set {setting.name}").spec.summary.endswith(".")


def test_every_field_of_the_settings_can_be_set() -> None:
    fields = {setting.place.field for setting in SETTINGS}
    assert set(PrintSettings.__slots__) <= fields
    by_commands = {"print", "substitute_path"}  # `set print ...` above, `set substitute-path`
    assert set(Settings.__slots__) - by_commands <= fields


def test_every_type_of_values_is_tried() -> None:
    assert {type(setting.kind) for setting in GO_ROUND} == {
        Boolean, AutoBoolean, Number, Enumeration, String, PlainText, FileName, FileList, Radix, ScheduleKind,
    }


def test_a_handler_may_still_take_its_text_apart(make_shell: MakeShell) -> None:
    @command("greet", category=Category.USER, usage="greet [-loud] NAME", options=("-loud",))
    def greet(shell: Shell, text: str) -> None:
        """Greet somebody."""
        shell.line(f"Hello {text}.")

    shell, text = make_shell()
    shell.registry.add(greet.command_spec)  # type: ignore[attr-defined]
    shell.execute("greet -loud  world\nhelp greet")
    assert text.getvalue() == "Hello -loud  world.\nGreet somebody.\nUsage: greet [-loud] NAME\n"
    assert complete_line(shell, "greet -l") == (6, ["-loud"])
