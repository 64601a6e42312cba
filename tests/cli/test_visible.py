"""Output on a terminal: no control sequence of a file or kernel reaches the terminal through any command."""

# ruff: noqa: E501  (commands and messages)
from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.cli.highlight import shown_lines
from rocdbg.cli.repl import run_statement
from rocdbg.cli.shell import Shell
from rocdbg.cli.text_columns import render
from rocdbg.cli.visible_text import encodable, visible, visible_source
from rocdbg.cli.writer import STYLES, Capture, Writer
from rocdbg.debugger.program.source_files import split_lines

MakeShell = Callable[..., tuple[Shell, io.StringIO]]
SAXPY = Path(__file__).resolve().parents[2] / "demo_kernels" / "saxpy"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
STYLE = re.compile(r"\x1b\[(3[1-46]|[12])?m")

TEXTS = [
    # text, its output, its output as a source line
    ("plain", "plain", "plain"),
    ("tab\tstays", "tab\tstays", "tab\tstays"),
    ("\x1b[31m", r"\033[31m", "^[[31m"),
    ("\r\x07\x08\x00\x7f", r"\015\007\010\000\177", "^M^G^H^@^?"),
    ("\x9b2J\x85", r"\302\2332J\302\205", r"\302\2332J\302\205"),
    ("a\u202eb\u2066c", r"a\342\200\256b\342\201\246c", r"a\342\200\256b\342\201\246c"),
    ("\u2028\u2029\ufeff", r"\342\200\250\342\200\251\357\273\277", r"\342\200\250\342\200\251\357\273\277"),
    ("\U000e0041", r"\363\240\201\201", r"\363\240\201\201"),
    ("\udc9b\ud800", r"\233\355\240\200", r"\233\355\240\200"),
    ("é中😀", "é中😀", "é中😀"),
    ("क\u200dष", "क\u200dष", "क\u200dष"),
]


@pytest.mark.parametrize(("text", "shown", "in_source"), TEXTS)
def test_text(text: str, shown: str, in_source: str) -> None:
    assert (visible(text), visible_source(text)) == (shown, in_source)


def test_newlines_stay_where_lines_are_written_and_not_within_a_name() -> None:
    assert visible("a\nb") == "a\nb"
    assert Writer(io.StringIO()).render([("function", "f\ng"), ("", "\n")]) == "f\\ng\n"
    assert render(("Name", "What"), [("a\nb", "\x1b[m")]) == "Name What\na\\nb \\033[m\n"


def test_only_what_the_user_says_goes_past() -> None:
    out = io.StringIO()
    writer = Writer(out, colour=True)
    writer.line("\x1b[31m")
    writer.styled([("file", "\x1b[31m"), ("", "\x9b")])
    writer.raw("\x1b[1mraw")
    assert out.getvalue() == "\\033[31m\n\x1b[32m\\033[31m\x1b[m\\302\\233\x1b[1mraw"


ENCODINGS = [("ascii", r"\303\251\344\270\255"), ("latin-1", r"é\344\270\255"), ("utf-8", "é中")]


@pytest.mark.parametrize(("encoding", "shown"), ENCODINGS)
def test_what_an_encoding_does_not_have(encoding: str, shown: str) -> None:
    assert encodable("é中", encoding) == shown
    raw = io.BytesIO()
    writer = Writer(io.TextIOWrapper(raw, encoding=encoding))
    writer.write("é中")
    writer.flush()
    assert raw.getvalue() == shown.encode(encoding)


LINES = [
    ("", ()), ("a", ("a",)), ("a\nb\n", ("a", "b")), ("a\r\nb", ("a", "b")), ("\n\n", ("", "")),
    ("a\x0cb\x0bc\x1cd\x85e\u2028f\u2029g\n", ("a\x0cb\x0bc\x1cd\x85e\u2028f\u2029g",)), ("a\rb\nc", ("a\rb", "c")),
]


@pytest.mark.parametrize(("text", "lines"), LINES)
def test_source_lines_are_those_that_compilers_count(text: str, lines: tuple[str, ...]) -> None:
    assert split_lines(text) == lines


@pytest.mark.parametrize("name", ["k.hip", "k.s", "k.nosuch"])
def test_coloured_lines_stay_in_step(name: str) -> None:
    lines = ["int a; // \x1b[31m", "\x0c\x0bint\rb;", "\u2028 c", "\x85", '"', "last"]
    coloured = shown_lines(lines, name, 0, len(lines), colour=True)
    assert [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in coloured] == [
        visible_source(line) for line in lines
    ]


def hostile_launch(folder: Path) -> Path:
    """The saxpy kernel under a name that colours the terminal, with a type name and a source file name of C1
    characters.
    """
    data = (SAXPY / "saxpy.O0.gfx90a.co").read_bytes()
    (folder / "hostile.co").write_bytes(data.replace(b"saxpy", b"\x1b[31m").replace(b"float", b"fl\xc2\x9bt"))
    (folder / "\x1b[31m.hip").write_text("\x1b]0;title\x07\n\u202e\x0c\n" * 10)
    text = (
        (SAXPY / "saxpy.toml")
        .read_text()
        .replace("saxpy.O0.{arch}.co", "hostile.co")
        .replace('kernel = "saxpy"\n', "")
    )
    launch = folder / "hostile.toml"
    launch.write_text(text.replace("file:", f"file:{SAXPY}/"))
    return launch


COMMANDS = """info kernels|kernel|info functions|info variables|info types|info sources|info files|info line|show launch|
info scope *$pc|list|start|backtrace|frame|info frame|info source|info symbol $pc|print $pc|x/3i $pc|disassemble|disassemble /s|
info lanes|info threads|lane|thread|lane 3|thread 2|info breakpoints|info dispatches -full|info sharedlibrary|info args|info locals|
info program|lane apply 0-2 backtrace|thread apply all frame|info address y|whatis a|ptype y|ptype a|print y|print &a|print *x@3|
print *saxpy|info registers pc|break \x1b[31m|info breakpoints|list|list 1,9|info scope \x1b[31m|print nosuch\x1b[31m|next|step|
display a|info display|thread name \x1b[31m|info threads|thread find .|lane find .|finish|kill|file \x1b[31m|plugin load \x1b[31m|
source \x1b[31m|cd \x1b[31m|directory \x1b[31m|info plugins|set prompt \x1b[31m|set logging file \x1b[31m|show logging|
define \x1b[31m|help \x1b[31m|apropos \x1b[31m|alias \x1b = print|show user|show convenience|show values|tbreak \x1b[31m:9|run"""


def test_no_command_shows_a_control_sequence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_shell: MakeShell
) -> None:
    monkeypatch.chdir(tmp_path)
    hostile_launch(tmp_path)
    shell, text = make_shell()
    run_statement(shell, "file hostile.toml", lambda prompt: "end")
    named = 0
    for command in COMMANDS.replace("\n", "").split("|"):
        run_statement(shell, command, lambda prompt: "end")
        written = text.getvalue()
        text.seek(0)
        text.truncate()
        named += "\\033[31m" in written or "\\x1b[31m" in written  # escaped in the output, or as it was read
        assert not CONTROL.search(written), command
    assert named > 20


def test_values_of_printf_show_none_but_its_format_may(make_shell: MakeShell) -> None:
    shell, text = make_shell()
    shell.execute('printf "\\e[1m%s%c|", "\\033[31m", 27')
    assert text.getvalue() == "\x1b[1m\\033[31m\\033|"


def test_captured_text_is_made_visible_once() -> None:
    writer = Writer(io.StringIO())
    with Capture(writer) as captured:
        writer.write("\x1b")
    assert captured.getvalue() == "\\033"
    assert all(STYLE.fullmatch(style) for style in STYLES.values() if style)
