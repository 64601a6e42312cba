"""Declared arguments: the result of parsing a text, or the error, by declaration. GDB's cases are from GDB 13."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from rocdbg.cli.argument_kinds import (
    BREAKPOINTS,
    COMMAND,
    EXPRESSION,
    IDS,
    INTEGER,
    NUMBERS,
    SLASH,
    TEXT,
    WORD,
    number_of,
    word,
    word_of,
    words_while,
)
from rocdbg.cli.arguments import Arguments, Kind, optional, required
from rocdbg.cli.command_options import Option, Unknown
from rocdbg.cli.number_ranges import ITEM, NumberList
from rocdbg.cli.settings.setting_value_kinds import BOOLEAN, COUNT, DEPTH, STRING, Enumeration
from rocdbg.cli.shell import Shell
from rocdbg.errors import Error

MakeShell = Callable[..., tuple[Shell, io.StringIO]]

# The options of GDB's "maint test-options", whose answers the cases below repeat.
OPTIONS = (
    Option("-flag"),
    Option("-xx1"),
    Option("-xx2"),
    Option("-bool", kind=BOOLEAN),
    Option("-enum", kind=Enumeration(("xxx", "yyy", "zzz")), default="xxx", gives="str"),
    Option("-uinteger", kind=COUNT, default=0, gives="int"),
    Option("-zuinteger-unlimited", kind=DEPTH, default=0, gives="int"),
    Option("-string", kind=STRING, default="", gives="str"),
)
BY_MODE = {mode: Arguments(*OPTIONS, optional("rest", TEXT, ""), unknown=mode) for mode in Unknown}
DEFAULTS = {
    "flag": False, "xx1": False, "xx2": False, "bool": False, "enum": "xxx", "uinteger": 0, "zuinteger_unlimited": 0,
    "string": "", "rest": "",
}
NEEDS_NUMBER = 'Argument required (integer to set it to, or "unlimited").'
NEEDS_WORD = "Requires an argument. Valid arguments are xxx, yyy, zzz."

OPTION_CASES: list[tuple[Unknown, str, dict[str, object] | str]] = [
    # mode, text, what differs from the defaults or the error
    (Unknown.ERROR, "", {}),
    (Unknown.ERROR, "-flag", {"flag": True}),
    (Unknown.ERROR, "-f x", {"flag": True, "rest": "x"}),
    (Unknown.ERROR, "-bool", {"bool": True}),
    (Unknown.ERROR, "-bool 1", {"bool": True}),
    (Unknown.ERROR, "-bool off x", {"rest": "x"}),
    (Unknown.ERROR, "-bool foo", {"bool": True, "rest": "foo"}),
    (Unknown.ERROR, "-bool foo -- x", "Value given for `-bool' is not a boolean: foo"),
    (Unknown.ERROR, "-bool=1 x", "Unrecognized option at: -bool=1 x"),
    (Unknown.ERROR, "-flag -xx1 -enum xxx opd", {"flag": True, "xx1": True, "rest": "opd"}),
    (Unknown.ERROR, "-foo opd", "Unrecognized option at: -foo opd"),
    (Unknown.ERROR, "-flag --x", "Unrecognized option at: --x"),
    (Unknown.ERROR, "-flag-", "Unrecognized option at: -flag-"),
    (Unknown.ERROR, "-1", "Unrecognized option at: -1"),
    (Unknown.ERROR, "-xx", "Ambiguous option at: -xx"),
    (Unknown.ERROR, "-x", "Ambiguous option at: -x"),
    (Unknown.ERROR, "-enum", NEEDS_WORD),
    (Unknown.ERROR, "-enum --", NEEDS_WORD),
    (Unknown.ERROR, "-enum foo", 'Undefined item: "foo".'),
    (Unknown.ERROR, "-enum yy -- a", {"enum": "yyy", "rest": "a"}),
    (Unknown.ERROR, "-uinteger", NEEDS_NUMBER),
    (Unknown.ERROR, "-uinteger x", "Expected integer at: x"),
    (Unknown.ERROR, "-uinteger 3x", "Trailing junk at: x"),
    (Unknown.ERROR, "-uinteger -1", "integer -1 out of range"),
    (Unknown.ERROR, "-uinteger 7 3", {"uinteger": 7, "rest": "3"}),
    (Unknown.ERROR, "-uint unl 3", {"rest": "3"}),
    (Unknown.ERROR, "-zuinteger-unl -1", {"zuinteger_unlimited": -1}),
    (Unknown.ERROR, "-zu unlimited", {"zuinteger_unlimited": -1}),
    (Unknown.ERROR, "-string", "-string requires an argument"),
    (Unknown.ERROR, "-string --", "-string requires an argument"),
    (Unknown.ERROR, "-string 'a b' c", {"string": "a b", "rest": "c"}),
    (Unknown.ERROR, "-string a b", {"string": "a", "rest": "b"}),
    (Unknown.ERROR, "-f -- -flag", {"flag": True, "rest": "-flag"}),
    (Unknown.ERROR, "--", {}),
    (Unknown.ERROR, "-- -- x", {"rest": "-- x"}),
    (Unknown.OPERAND, "-foo opd", {"rest": "-foo opd"}),
    (Unknown.OPERAND, "-foo -- opd", "Unrecognized option at: -foo -- opd"),
    (Unknown.OPERAND, "-flag foo -flag", {"flag": True, "rest": "foo -flag"}),
    (Unknown.OPERAND, "-flag   a  b", {"flag": True, "rest": "a  b"}),
    (Unknown.OPERAND, "- x", "Ambiguous option at: - x"),
    # where GDB refuses: the dashes are those of the command that is applied
    (Unknown.OPERAND, "-flag print -pretty -- x", {"flag": True, "rest": "print -pretty -- x"}),
    (Unknown.EXPRESSION, "-flag -- foo", {"flag": True, "rest": "foo"}),
    (Unknown.EXPRESSION, "-fl -- foo", {"flag": True, "rest": "foo"}),
    (Unknown.EXPRESSION, "-flag x -- foo", "Unrecognized option at: x -- foo"),
    (Unknown.EXPRESSION, "-foo -- x", "Unrecognized option at: -foo -- x"),
    # GDB has no options here without "--"; we take those that are spelled out
    (Unknown.EXPRESSION, "-flag foo", {"rest": "-flag foo"}),
    (Unknown.EXPRESSION, "-fl + 1", {"rest": "-fl + 1"}),
    (Unknown.EXPRESSION, "-x", {"rest": "-x"}),
    (Unknown.EXPRESSION, "-5 -- 3", {"rest": "-5 -- 3"}),
]


@pytest.mark.parametrize(("mode", "text", "wanted"), OPTION_CASES, ids=[f"{c[0].value}: {c[1]}" for c in OPTION_CASES])
def test_options(mode: Unknown, text: str, wanted: dict[str, object] | str, make_shell: MakeShell) -> None:
    if isinstance(wanted, str):
        with pytest.raises(Error) as error:
            BY_MODE[mode].parse(make_shell()[0], text)
        assert str(error.value) == wanted
    else:
        assert BY_MODE[mode].parse(make_shell()[0], text) == {**DEFAULTS, **wanted}


LEADING = Kind("ID...", "NumberList", lambda shell, text: NumberList.parse(text), words_while(ITEM.match))
ONE_WORD = Kind("N", "int", lambda shell, text: shell.session.data.integer(text), word)
NONE = Arguments()
NONE_AT_ALL = Arguments(junk="No: {}")
COUNTED = Arguments(optional("count", INTEGER, 1))
TWO_WORDS = Arguments(required("old", WORD, "too few"), required("new", WORD, "too few"), junk="too many")
CONDITION = Arguments(required("number", number_of("N", "Bad: '{}'"), "Argument required."), optional("rest", TEXT, ""))
PRINT = Arguments(
    Option("-x"), optional("format", SLASH, ""), optional("text", EXPRESSION, ""), unknown=Unknown.EXPRESSION
)
APPLY = Arguments(
    optional("ids", LEADING), Option("-q"), Option("-all", key="which", value="all", default="", gives="str"),
    Option("-none", key="which", value="none", default="", gives="str"), required("line", COMMAND, "No command."),
)
LIST = Arguments(optional("ids", IDS), Option("-full"), unknown=Unknown.ERROR)
TRACE = Arguments(Option("-full", word="full"), optional("count", ONE_WORD, shown="COUNT"))
BREAKS = Arguments(optional("numbers", BREAKPOINTS))

CASES: list[tuple[Arguments, str, dict[str, object] | str]] = [
    (NONE, "", {}),
    (NONE, "whatever", {}),
    (NONE_AT_ALL, "a b", "No: a b"),
    (COUNTED, "", {"count": 1}),
    (COUNTED, "2 * 3", {"count": 6}),
    (COUNTED, "nosuch", 'No symbol table is loaded.  Use the "file" command.'),
    (TWO_WORDS, "", "too few"),
    (TWO_WORDS, "a", "too few"),
    (TWO_WORDS, "a  b", {"old": "a", "new": "b"}),
    (TWO_WORDS, "a b c", "too many"),
    (CONDITION, "", "Argument required."),
    (CONDITION, "x", "Bad: 'x'"),
    (CONDITION, "1x", "Bad: '1x'"),
    (CONDITION, "12", {"number": 12, "rest": ""}),
    (CONDITION, "12  a  ==  b", {"number": 12, "rest": "a  ==  b"}),
    (PRINT, "", {"x": False, "format": "", "text": ""}),
    (PRINT, "/x", {"x": False, "format": "x", "text": ""}),
    (PRINT, "/x  a  b", {"x": False, "format": "x", "text": "a  b"}),
    (PRINT, "a / b", {"x": False, "format": "", "text": "a / b"}),
    (PRINT, "-x -- /d a", {"x": True, "format": "d", "text": "a"}),
    (PRINT, "/d -x", {"x": False, "format": "d", "text": "-x"}),  # minus the variable x
    (APPLY, "p  i", {"ids": None, "q": False, "which": "", "line": "p  i"}),
    (APPLY, "0-3 5 p i", {"ids": NumberList("0-3 5", (0, 1, 2, 3, 5)), "q": False, "which": "", "line": "p i"}),
    (APPLY, "0 -q -all p -q", {"ids": NumberList("0", (0,)), "q": True, "which": "all", "line": "p -q"}),
    (APPLY, "0 -a -n p", {"ids": NumberList("0", (0,)), "q": False, "which": "none", "line": "p"}),
    (APPLY, "3-1 p", "inverted range"),
    (APPLY, "0 -q", "No command."),
    (LIST, "", {"ids": None, "full": False}),
    (LIST, "1-2 -full", {"ids": NumberList("1-2", (1, 2)), "full": True}),
    (LIST, "-full 1-2", {"ids": NumberList("1-2", (1, 2)), "full": True}),
    (LIST, "-fool", "Unrecognized option at: -fool"),
    (LIST, "x", "Invalid number or range: x"),
    (Arguments(optional("ids", NUMBERS)), "1 -full", "Invalid number or range: -full"),
    (LIST, "-", "Unrecognized option at: -"),
    (Arguments(Option("-v"), optional("pattern", TEXT)), "-", {"v": False, "pattern": "-"}),  # as GDB's apropos
    (TRACE, "full -- -3", {"full": True, "count": -3}),
    (TRACE, "full 3", {"full": True, "count": 3}),
    (TRACE, "-2 -full", {"full": True, "count": -2}),
    (TRACE, "3 4", "Junk at end of arguments."),
    (BREAKS, "1 3-4", {"numbers": [1, 3, 4]}),
    (BREAKS, "x", "Bad breakpoint number 'x'"),
]


@pytest.mark.parametrize(
    ("arguments", "text", "wanted"), CASES, ids=[f"{case[0].usage('c')}: {case[1]}" for case in CASES]
)
def test_arguments(
    arguments: Arguments, text: str, wanted: dict[str, object] | str, make_shell: MakeShell
) -> None:
    if isinstance(wanted, str):
        with pytest.raises(Error) as error:
            arguments.parse(make_shell()[0], text)
        assert str(error.value) == wanted
    else:
        assert arguments.parse(make_shell()[0], text) == wanted


USAGES = [
    (NONE, "c"),
    (COUNTED, "c [N]"),
    (TWO_WORDS, "c WORD WORD"),
    (PRINT, "c [-x] [/FMT] [EXPRESSION]"),
    (APPLY, "c [ID...] [-q] [-all|-none] COMMAND"),
    (TRACE, "c [-full] [COUNT]"),
    (BY_MODE[Unknown.ERROR], "c [-flag] [-xx1] [-xx2] [-bool [on|off]] [-enum xxx|yyy|zzz] "
     "[-uinteger NUMBER|unlimited] [-zuinteger-unlimited NUMBER|unlimited] [-string STRING] [TEXT]"),
]


@pytest.mark.parametrize(("arguments", "line"), USAGES, ids=[case[1] for case in USAGES])
def test_usage(arguments: Arguments, line: str) -> None:
    assert arguments.usage("c") == line


COMPLETED = [
    # declaration, text, fixed words that may stand at its end
    (LIST, "-", ["-full"]),
    (LIST, "1 -f", ["-full"]),
    (LIST, "1 ", []),
    (TRACE, "f", ["full"]),
    (BY_MODE[Unknown.ERROR], "-e", ["-enum"]),
    (BY_MODE[Unknown.ERROR], "-enum ", ["xxx", "yyy", "zzz"]),
    (BY_MODE[Unknown.ERROR], "-enum y", ["yyy"]),
    (BY_MODE[Unknown.ERROR], "-bool o", ["off", "on"]),
    (BY_MODE[Unknown.ERROR], "-bool -x", ["-xx1", "-xx2"]),
    (BY_MODE[Unknown.ERROR], "-uinteger u", ["unlimited"]),
    (BY_MODE[Unknown.ERROR], "-flag -b", ["-bool"]),
    (BY_MODE[Unknown.ERROR], "-- -b", []),
    (BY_MODE[Unknown.ERROR], "-nosuch -b", []),
    (Arguments(required("where", word_of("WHERE"), "")), "x", []),
]


@pytest.mark.parametrize(("arguments", "text", "words"), COMPLETED, ids=[case[1] for case in COMPLETED])
def test_candidates(arguments: Arguments, text: str, words: list[str]) -> None:
    found = [
        word for candidate in arguments.candidates(text) for word in candidate.words
        if word.startswith(text[candidate.start :])
    ]
    assert sorted(set(found)) == words


def test_the_option_table() -> None:
    arguments = Arguments(Option("-flag", "A flag."), Option("-enum", "Two\nlines.", kind=BOOLEAN), Option("-silent"))
    assert arguments.table() == [
        "Options:", "  -flag", "    A flag.", "", "  -enum [on|off]", "    Two", "    lines.",
    ]
