"""The small languages of the front end: number lists, escapes, printf, scripts, settings."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from rocdbg.cli.argument_kinds import words_while
from rocdbg.cli.escapes import unescape
from rocdbg.cli.number_ranges import ITEM, RangeError, is_thread_spec, parse_ranges, parse_thread_spec
from rocdbg.cli.printf import format_printf
from rocdbg.cli.script import Block, Line, ScriptError, Statement, numbered, parse
from rocdbg.cli.shell import Shell
from rocdbg.cli.text_columns import render
from rocdbg.cli.user_commands import split_arguments
from rocdbg.cli.writer import Capture, Writer
from rocdbg.errors import Error

RANGES = [
    ("3", [3]),
    ("0-3", [0, 1, 2, 3]),
    ("5 1-2 2", [5, 1, 2]),
    ("", []),
    ("3-1", "inverted range"),
    ("x", "Invalid number or range: x"),
    ("-1", "Invalid number or range: -1"),
    ("0-99999999999", "range 0-99999999999 is too long"),
]


@pytest.mark.parametrize(("text", "result"), RANGES)
def test_ranges(text: str, result: list[int] | str) -> None:
    if isinstance(result, str):
        with pytest.raises(RangeError) as error:
            parse_ranges(text.split())
        assert str(error.value) == result
    else:
        assert parse_ranges(text.split()) == result


def test_leading_numbers_of_a_line() -> None:
    assert words_while(ITEM.match)("1  3-4 print 5") == len("1  3-4")


THREADS = [("2", "2", None), ("2:5", "2", "5"), ("1-3:*", "1-3", "*"), ("*:0-3", "*", "0-3"), ("*", "*", None)]


@pytest.mark.parametrize(("text", "threads", "lanes"), THREADS)
def test_thread_and_lane(text: str, threads: str, lanes: str | None) -> None:
    spec = parse_thread_spec(text)
    assert (spec.threads, spec.lanes) == (threads, lanes)
    assert spec.picks_thread(2)
    assert not is_thread_spec("print")


ESCAPES = [
    (r"a\nb", "a\nb"), (r"\t|", "\t|"), (r"\101", "A"), (r"\x41", "x41"), (r"\\n", "\\n"), (r"\ x", " x"),
    (r"\q", "q"), ("end\\", "end"), (r"\"", '"'), (r"\e[1m", "e[1m"),
]


@pytest.mark.parametrize(("text", "result"), ESCAPES)
def test_escapes(text: str, result: str) -> None:
    assert unescape(text) == result


PRINTF = [
    (r'"%d %i\n", 3, -4', "3 -4\n"),
    ('"%u", -1', "4294967295"),
    ('"%#o|%#o", 42, 0', "052|0"),
    ('"%d", 1,', "1"),
    ('"%s", 0', "(null)"),
    ('"%lu", -1', "18446744073709551615"),
    ('"%f", 1073741824', "2.000000"),  # an integer's bytes
    ('"%x %X %#x %o", 255, 255, 255, 8', "ff FF 0xff 10"),
    ('"%5d|%-5d|%05d|%+d", 42, 42, 42, 42', "   42|42   |00042|+42"),
    ('"%.3d", 7', "007"),
    ('"%c%c", 65, 0x42', "AB"),
    ('"%5.2f|%e|%g", 1.5, 1500.0, 0.25', " 1.50|1.500000e+03|0.25"),
    ('"%f", 2.0', "2.000000"),
    ('"%d", 2.75', "2"),
    ('"%s|%.2s|%5s", "text", "text", "ab"', "text|te|   ab"),
    ('"%p %p", 16, 0', "0x10 (nil)"),
    ('"100%%"', "100%"),
    ('"%d", (1, 2)', "2"),
    ('"a, b"', "a, b"),
]


@pytest.mark.parametrize(("text", "result"), PRINTF)
def test_printf(text: str, result: str, make_shell: Callable[..., tuple[Shell, io.StringIO]]) -> None:
    assert format_printf(make_shell()[0].session, text) == result


PRINTF_ERRORS = [
    ("", "Argument required (format-control string and values to print)."),
    ("x", "Bad format string, missing '\"'."),
    ('"x', "Bad format string, non-terminated '\"'."),
    ('"%d"', "Wrong number of arguments for specified format-string"),
    ('"%d", 1, 2', "Wrong number of arguments for specified format-string"),
    ('"%d" 1', "Invalid argument syntax"),
    ('"%d", ', "Wrong number of arguments for specified format-string"),
    ('"%*d", 5, 1', "`*' not supported for precision or width in printf"),
    ('"%n", 1', "Format specifier `n' not supported in printf"),
    ('"%q", 1', "Unrecognized format specifier 'q' in printf"),
    ('"%99999d", 1', "Bad format string: a width over 10000"),
    ('"%", 1', "Incomplete format specifier at end of format string"),
]


@pytest.mark.parametrize(("text", "message"), PRINTF_ERRORS)
def test_printf_refuses(
    text: str, message: str, make_shell: Callable[..., tuple[Shell, io.StringIO]]
) -> None:
    with pytest.raises(Error) as error:
        format_printf(make_shell()[0].session, text)
    assert message in str(error.value)


def shape(statement: Statement) -> object:
    """A statement as nested tuples."""
    if isinstance(statement, Line):
        return statement.text
    return (statement.head.text, [shape(s) for s in statement.body], [shape(s) for s in statement.otherwise])


SCRIPTS = [
    ("print 1\n\n# comment\n  print 2  \n", ["print 1", "print 2  "]),
    ("print \\\n1", ["print 1"]),
    ("if x\n p 1\nelse\n p 2\nend\nq", [("if x", ["p 1"], ["p 2"]), "q"]),
    ("while 1\nif 2\nloop_break\nend\nend", [("while 1", [("if 2", ["loop_break"], [])], [])]),
    ("document f\n if this\n else\nend", [("document f", [" if this", " else"], [])]),
    ("python print(1)", ["python print(1)"]),
    ("python\nif x:\n  y\nend", [("python", ["if x:", "  y"], [])]),
    ("commands 1\nsilent\nend", [("commands 1", ["silent"], [])]),
]


@pytest.mark.parametrize(("text", "result"), SCRIPTS)
def test_scripts(text: str, result: list[object]) -> None:
    assert [shape(s) for s in parse(numbered(text))] == result


@pytest.mark.parametrize("text", ["if 1\nprint 2", "while 1", "define f\nif 1\nend", "if 1\n" * 200])
def test_a_block_without_its_end_is_an_error(text: str) -> None:
    with pytest.raises(ScriptError) as error:
        list(parse(numbered(text), "script"))
    assert str(error.value).startswith("script:")


def test_an_error_in_a_script_names_file_and_line(
    tmp_path_factory: pytest.TempPathFactory, make_shell: Callable[..., tuple[Shell, io.StringIO]]
) -> None:
    path = tmp_path_factory.mktemp("script") / "commands"
    path.write_text("echo one\\n\n\nfrobnicate\necho two\\n\n")
    shell, text = make_shell()
    with pytest.raises(ScriptError) as error:
        shell.source(path)
    assert (error.value.file, error.value.line) == (str(path), 3)
    where, _, what = str(error.value).partition("\n")
    assert where == f"{path}:3: Error in sourced command file:"
    assert what == 'Undefined command: "frobnicate".  Try "help".'
    assert text.getvalue() == "one\n"


def test_scripts_that_source_each_other_end(
    tmp_path_factory: pytest.TempPathFactory, make_shell: Callable[..., tuple[Shell, io.StringIO]]
) -> None:
    path = tmp_path_factory.mktemp("script") / "again"
    path.write_text(f"source {path}\n")
    with pytest.raises(ScriptError, match="source each other without end"):
        make_shell()[0].source(path)


def test_a_recursive_command_ends(make_shell: Callable[..., tuple[Shell, io.StringIO]]) -> None:
    shell, _ = make_shell()
    with pytest.raises(ScriptError, match="Max user call depth exceeded"):
        shell.execute("define f\nf\nend\nf")


ARGUMENTS = [
    ("a b", ["a", "b"]),
    ('"a b" c', ['"a b"', "c"]),
    (r"a\ b c", [r"a\ b", "c"]),
    ("'x y'z", ["'x y'z"]),
    ("", []),
]


@pytest.mark.parametrize(("text", "result"), ARGUMENTS)
def test_arguments_of_user_defined_commands(text: str, result: list[str]) -> None:
    assert split_arguments(text) == result


def test_more_than_ten_arguments(make_shell: Callable[..., tuple[Shell, io.StringIO]]) -> None:
    shell, text = make_shell()
    shell.execute("define f\necho $arg1-$arg11-$argc\nend\nf a b c d e f g h i j k l")
    assert text.getvalue() == "b-l-12"


def test_table() -> None:
    assert render(("Id", "Name"), [("1", "a"), ("22", "long name")], [True, False]) == (
        "  Id   Name\n* 1    a\n  22   long name\n"
    )


def test_styles_are_dropped_without_colour() -> None:
    parts = [("function", "f"), ("", " at "), ("file", "k.hip")]
    plain, coloured = io.StringIO(), io.StringIO()
    Writer(plain).styled(parts)
    Writer(coloured, colour=True).styled(parts)
    assert plain.getvalue() == "f at k.hip"
    assert coloured.getvalue() == "\x1b[33mf\x1b[m at \x1b[32mk.hip\x1b[m"


def test_captured_text_has_no_colour_and_the_writer_is_restored() -> None:
    stream = io.StringIO()
    writer = Writer(stream, colour=True)
    with Capture(writer) as captured:
        writer.styled([("function", "f")])
    writer.styled([("function", "g")])
    assert (captured.getvalue(), stream.getvalue()) == ("f", "\x1b[33mg\x1b[m")


def test_block_keywords() -> None:
    (block,) = parse(numbered("commands 3-4\nend"))
    assert isinstance(block, Block)
    assert (block.keyword, block.argument) == ("commands", "3-4")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a\nb", [("a", 1), ("b", 2)]), ("a\\\nb\nc", [("ab", 1), ("c", 3)]),
        ("a\r\n\nb\n", [("a", 1), ("", 2), ("b", 3)]),
        ("x\na\\\nb\\\nc\nd", [("x", 1), ("abc", 2), ("d", 5)]), ("a\\", [("a", 1)]),
    ],
)
def test_lines_are_numbered_by_where_they_begin(text: str, lines: list[tuple[str, int]]) -> None:
    assert [(line.text, line.number) for line in numbered(text)] == lines
