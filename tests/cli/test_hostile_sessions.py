"""Attacks of users, terminals and machines on a session: they must neither end it nor escape from it."""

# ruff: noqa: E501  (commands and messages)
from __future__ import annotations

import io
import os
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from rocdbg.cli.internal_errors import InternalError
from rocdbg.cli.repl import run_statement
from rocdbg.cli.shell import Shell

MakeShell = Callable[..., tuple[Shell, io.StringIO]]
ROOT = Path(__file__).resolve().parents[2]
DEMOS = ROOT / "demo_kernels"
SAXPY = str(DEMOS / "saxpy" / "saxpy.toml")
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028]")
NINES = "9" * 5000


@dataclass(frozen=True)
class Done:
    status: int
    out: str
    err: str


def environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "ROCDBG_INTERNAL_ERRORS"}
    return {**kept, "HOME": str(home), "PYTHONPATH": str(ROOT)}


def session(
    home: Path,
    *arguments: str | bytes,
    stdin: str | bytes = "",
    cwd: Path | None = None,
    **changes: str | None,
) -> Done:
    """Run rocdbg as a user would; its output must be text."""
    variables = {**environment(home), **changes}
    data = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        [sys.executable, "-m", "rocdbg", *arguments], cwd=cwd or home, input=data, capture_output=True, timeout=300,
        env={name: value for name, value in variables.items() if value is not None}, check=False,
    )
    return Done(
        done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    )


# Commands that a person or a script types: each ends in one line, and the next one runs.

LINES: list[tuple[str, str | bytes, str]] = [
    # id, command, what is written, errors included
    ("ten thousand terms", "print " + "+".join(["1"] * 10_000), "$1 = 10000\n"),
    ("ten thousand comparisons", "print " + "&&".join(["1"] * 10_000), "$1 = 1\n"),
    ("three thousand brackets", "print " + "(" * 3000 + "1" + ")" * 3000, "The expression is nested too deeply.\n"),
    ("three thousand signs", "print " + "- " * 3000 + "1", "The expression is nested too deeply.\n"),
    ("three thousand casts", "print " + "(int)" * 3000 + "1", "The expression is nested too deeply.\n"),
    ("three thousand questions", "print " + "1?" * 3000 + "1" + ":1" * 3000, "The expression is nested too deeply.\n"),
    ("three thousand scopes", "print " + "::" * 3000 + "x", "The expression is nested too deeply.\n"),
    ("three thousand types", "whatis " + "typeof(" * 3000 + "1" + ")" * 3000,
     f"A syntax error in expression, near `{'typeof(' * 2999}1{')' * 3000}'.\n"),
    ("ten thousand angles", "print " + "a<" * 10_000 + "1", 'No symbol table is loaded.  Use the "file" command.\n'),
    ("five thousand digits", f"print {NINES}", "Numeric constant too large.\n"),
    ("five thousand digits of history", f"print ${NINES}", "Numeric constant too large.\n"),
    ("five thousand digits of a format", f"x/{NINES}x 0", "Numeric constant too large.\n"),
    ("five thousand digits of a line", f"list {NINES}", 'No symbol table is loaded.  Use the "file" command.\n'),
    ("five thousand digits of a setting", f"set listsize {NINES}", "Numeric constant too large.\n"),
    ("five thousand digits of a range", f"info lanes {NINES}", "No thread selected\n"),
    ("a superscript digit", "print ²", 'Invalid number "²".\n'),
    ("a superscript breakpoint", "condition ² 1", "Bad breakpoint argument: '² 1'\n"),
    ("infinity as an integer", 'printf "%d\\n", 1e400', "-1\n"),
    ("infinity as a character", 'printf "%c|\\n", 1e400', "ÿ|\n"),
    ("a huge number as an integer", 'printf "%d\\n", 1e30', "-1\n"),
    ("an argument too few", 'printf "%d %d\\n", 1', "Wrong number of arguments for specified format-string\n"),
    ("no argument", 'printf "%d\\n"', "Wrong number of arguments for specified format-string\n"),
    ("a lone percent sign", 'printf "%"', "Incomplete format specifier at end of format string\n"),
    ("a huge width", 'printf "%999999999d", 1', "Bad format string: a width over 10000\n"),
    ("a width of many digits", f'printf "%{NINES}d", 1', "Numeric constant too large.\n"),
    ("%n", 'printf "%n", 1', "Format specifier `n' not supported in printf\n"),
    ("two thousand million elements", "print/x $_@2000000000", "Only values in memory can be extended with '@'.\n"),
    ("a huge array type", "print sizeof(int[99999999999][99999999999])", "$1 = -2058829820\n"),
    ("a huge repetition", 'print $_regex("a", "a{99999999999}")',
     "Python Exception <class 'OverflowError'>: the repetition number is too large\n"
     "Error occurred in Python: the repetition number is too large\n"),
    ("a range without end", "delete 1-99999999999", "range 1-99999999999 is too long\n"),
    ("a command with a control sequence", "nosuch\x1b[31m", 'Undefined command: "nosuch".  Try "help".\n'),
    ("an argument with a control sequence", "info \x1b[31m", 'Undefined info command: "\\033[31m".  Try "help info".\n'),
    ("bytes that are no text", b'print "\xff\x9b"', '$1 = "\\377\\233"\n'),
    ("a name that is not text", b"source \xff\x9b", "\\377\\233: No such file or directory.\n"),
    ("nobody's home", "source ~nobody-here/x", "~nobody-here/x: No such file or directory.\n"),
    ("a very long name", "source " + "x" * 5000, "x" * 5000 + ": File name too long.\n"),
    ("a folder as a script", "source .", ".: Is a directory.\n"),
    ("a device as a script", "source /dev/zero", "/dev/zero: Not a regular file.\n"),
    ("an empty command", "     ", ""),
    ("a negative setting", "set print elements -5", "integer -5 out of range\n"),
    ("a negative limit", "print -elements -5 -- 1", "integer -5 out of range\n"),
]


@pytest.mark.parametrize(("command", "text"), [row[1:] for row in LINES], ids=[row[0] for row in LINES])
def test_a_line_and_the_next(command: str | bytes, text: str, make_shell: MakeShell) -> None:
    """Runs in this process, because a process for each line would take minutes; the next test runs all lines in one
    process.
    """
    shell, out = make_shell()
    shell.reports_internal_errors = True
    line = command.decode("utf-8", "surrogateescape") if isinstance(command, bytes) else command
    run_statement(shell, line, lambda prompt: "end")
    run_statement(shell, "output 6 * 7", lambda prompt: "end")
    assert out.getvalue() == text + "42"


def test_lines_of_a_process(tmp_path: Path) -> None:
    """A real process reads the same lines from its standard input."""
    lines = [
        *(
            row[1] if isinstance(row[1], bytes) else row[1].encode()
            for row in LINES
            if row[0] not in ("an empty command",)
        )
    ]
    done = session(tmp_path, "-nx", "-q", stdin=b"\n".join([*lines, b"output 6 * 7\n"]))
    assert done.status == 0
    assert "42(rocdbg) quit" in done.out
    assert "internal-error" not in done.err and "Traceback" not in done.err
    assert not CONTROL.search(done.out + done.err)


# Scripts

SCRIPTS: list[tuple[str, bytes, str]] = [
    # id, the file `script`, what `source script` says
    ("sources itself", b"source script\n", "command files source each other without end"),
    ("calls itself", b"define a\na\nend\na\n", "Max user call depth exceeded -- command aborted."),
    ("two call each other", b"define a\nb\nend\ndefine b\na\nend\na\n", "Max user call depth exceeded -- command aborted."),
    ("redefines itself", b"define a\ndefine a\necho x\\n\nend\na\nend\na\n", ""),
    ("an alias of an alias", b"alias q1 = print\nalias q2 = q1\nq2 5\n", "$1 = 5"),
    ("an alias of itself", b"alias z = z\n", 'Undefined command: "z".  Try "help".'),
    ("null characters", b"print 1\0print 2\n", "A command line cannot have a null character in it."),
    ("binary", bytes(range(256)) * 10, "cannot have a null character"),
    ("no end", b"while 1\nprint 1\n", '"while" without a matching "end"'),
    ("an end too many", b"end\n", "This command cannot be used at the top level."),
    ("deep blocks", b"if 1\n" * 5000, "control structures are nested too deeply"),
    ("form feeds are no lines", b"echo a\x0cb\\n\nprint 1\x0b+ 1\n", "$1 = 2"),
    ("carriage returns", b"print 1\r\nprint 2\r\n", "$2 = 2"),
    ("sixteen mebibytes", b"#" * ((16 << 20) + 1), "File too big for a command file."),
    ("a condition that is not a number", b"if (char)nosuch\nend\n", "No symbol table is loaded."),
    ("an expression too long for a name", b"print " + b"a" * 100_000 + b"\n", "No symbol table is loaded."),
    ("document nothing", b"document nosuch\nend\n", 'Undefined command: "nosuch".'),
    ("latin-1", b"echo \xe9\\n\nprint '\xe9'\n", "$1 = -23"),
]


@pytest.mark.parametrize(("script", "text"), [row[1:] for row in SCRIPTS], ids=[row[0] for row in SCRIPTS])
def test_scripts(
    script: bytes, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_shell: MakeShell
) -> None:
    (tmp_path / "script").write_bytes(script)
    monkeypatch.chdir(tmp_path)
    shell, out = make_shell()
    shell.reports_internal_errors = True
    run_statement(shell, "source script", lambda prompt: "end")
    run_statement(shell, "output 6 * 7", lambda prompt: "end")
    written = out.getvalue()
    assert text in written
    assert written.endswith("42") and "internal-error" not in written


def test_a_fifo_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    done = session(tmp_path, "-nx", "-batch", "-x", "fifo", "-ex", "print 1")
    assert (done.status, done.out, done.err) == (1, "$1 = 1\n", "fifo: This pipe has no writer.\n")


def test_a_pipe_is_read(tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", f"'{sys.executable}' -m rocdbg -nx -batch -x <(sleep 2.5; echo print 1)"],
        cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, timeout=300, check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "$1 = 1\n", "")


# The process's surroundings


def test_closed_standard_streams(tmp_path: Path) -> None:
    """No file gets the numbers of closed streams, and nothing is written to such a file. The status reports the lost
    output.
    """
    log = tmp_path / "log"
    commands = f"'{sys.executable}' -m rocdbg -nx -batch '{SAXPY}' -ex 'set logging file {log}' -ex 'set logging enabled on' -ex 'print 6*7' <&- >&- 2>&-"
    done = subprocess.run(
        ["bash", "-c", commands], cwd=tmp_path, env=environment(tmp_path), timeout=300, check=False
    )
    assert done.returncode == 1
    assert log.read_text().endswith("$1 = 42\n")


def test_closed_standard_input_ends_the_session(tmp_path: Path) -> None:
    command = f"'{sys.executable}' -m rocdbg -nx -q <&-"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_reader_that_leaves(tmp_path: Path) -> None:
    command = f"'{sys.executable}' -m rocdbg -nx -batch -ex 'help all' -ex 'help all' | head -1"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("\n", "")


def test_a_full_disk_under_the_output(tmp_path: Path) -> None:
    command = f"'{sys.executable}' -m rocdbg -nx -q >/dev/full"
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env=environment(tmp_path), input="help all\nprint 1\nset var $x = 1\n",
        capture_output=True, text=True, timeout=300, check=False,
    )
    assert (done.returncode, done.stderr) == (
        1,
        "warning: cannot write output: No space left on device; further output is not shown.\n",
    )


def test_a_full_disk_under_the_log(tmp_path: Path) -> None:
    done = session(
        tmp_path, "-nx", "-batch", "-ex", "set logging file /dev/full", "-ex", "set logging enabled on", "-ex", "print 1",
        "-ex", "print 2",
    )
    assert "$1 = 1\n$2 = 2\n" in done.out
    assert done.err == "warning: cannot write to log file /dev/full: No space left on device; logging is now off.\n"


def test_output_that_cannot_be_encoded(tmp_path: Path) -> None:
    done = session(tmp_path, "-nx", "-batch", "-ex", "echo é中\\n", PYTHONIOENCODING="latin-1")
    assert (done.status, done.out.encode("utf-8"), done.err) == (0, "\ufffd\\344\\270\\255\n".encode(), "")
    done = session(tmp_path, "-nx", "-batch", "-ex", "echo é中\\n", PYTHONIOENCODING="ascii")
    assert done.out == "\\303\\251\\344\\270\\255\n"


ENVIRONMENTS: list[tuple[str, dict[str, str | None]]] = [
    ("no home", {"HOME": None}), ("an empty home", {"HOME": ""}), ("a relative home", {"HOME": "x"}),
    ("a home that is not there", {"HOME": "/nosuch"}), ("a long home", {"HOME": "/" + "x" * 5000}),
    ("no columns", {"COLUMNS": "0", "LINES": "0"}), ("odd columns", {"COLUMNS": "-1"}), ("no number", {"COLUMNS": "x"}),
    ("an unknown terminal", {"TERM": "unknown"}), ("no terminal", {"TERM": None}), ("the C locale", {"LC_ALL": "C", "LANG": "C"}),
    ("an unknown locale", {"LC_ALL": "xx_YY"}), ("a state folder that is none", {"XDG_STATE_HOME": "/dev/null"}),
    ("a relative state folder", {"XDG_STATE_HOME": "x"}), ("no path", {"PATH": None}), ("no temporary folder", {"TMPDIR": "/nosuch"}),
]


def test_surroundings(tmp_path: Path) -> None:
    """Runs `main` in a process that forks for each case, because starting up takes most of the time."""
    program = (
        "import os, sys\n"
        "from rocdbg.cli.main import main\n"
        "import rocdbg.debugger.session\n"
        "for changes in eval(sys.stdin.read()):\n"
        "    child = os.fork()\n"
        "    if not child:\n"
        "        for name, value in changes.items():\n"
        "            os.environ.pop(name, None) if value is None else os.environ.__setitem__(name, value)\n"
        "        status = main(['-batch', '-ex', 'print 1', '-ex', 'cd', '-ex', 'print 2'])\n"
        "        sys.stdout.flush(); os._exit(9 if status > 1 else 0)\n"
        "    print('status', os.waitpid(child, 0)[1], flush=True)\n"
    )
    rows = [{"XDG_STATE_HOME": None, **row[1]} for row in ENVIRONMENTS]  # the state is below the home
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment(tmp_path), input=repr(rows), capture_output=True,
        text=True, timeout=300, check=False,
    )
    assert done.stdout.count("status 0") == done.stdout.count("$2 = 2") == len(ENVIRONMENTS)
    assert "Traceback" not in done.stderr and "internal-error" not in done.stderr


def test_little_memory(tmp_path: Path) -> None:
    """A command that needs more memory than exists ends with one line, and its memory is free again."""
    commands = "set arg 1 f32[67000000]:arange\nrun\nrun\nset arg 1 f32[1000]:arange\nrun\nprint 1\n"
    done = subprocess.run(
        ["bash", "-c", f"ulimit -v 825000; exec '{sys.executable}' -m rocdbg -nx -q '{SAXPY}'"], cwd=tmp_path,
        env=environment(tmp_path), input=commands, capture_output=True, text=True, timeout=300, check=False,
    )
    assert done.stderr.count("memory") == 2 and "Traceback" not in done.stderr
    assert "y: as expected." in done.stdout and "$1 = 1\n" in done.stdout


def test_a_deleted_current_folder(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    command = (
        f"rmdir '{folder}'; '{sys.executable}' -m rocdbg -nx -batch -ex pwd -ex 'file x' -ex 'directory x' -ex 'file {SAXPY}' -ex 'list saxpy'"
        " -ex 'add-auto-load-safe-path x' -ex 'source x' -ex 'print 1' -ex 'cd /' -ex pwd"
    )
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stderr.startswith("Error finding name of working directory: No such file or directory\n")
    assert "$1 = 1\nWorking directory /.\n" in done.stdout
    assert "internal-error" not in done.stderr


# Nothing is imported or run that nobody named


def test_modules_of_the_current_folder_are_not_imported(tmp_path: Path) -> None:
    names = (
        "numpy",
        "typing",
        "dataclasses",
        "prompt_toolkit",
        "llvmlite",
        "msgspec",
        "elftools",
        "__future__",
        "argparse",
        "signal",
    )
    for name in names:
        (tmp_path / f"{name}.py").write_text(f"print('IMPORTED {name}')\n")
    done = session(tmp_path, "-nx", "-batch", SAXPY, "-ex", "run", "-ex", "print 1")
    assert "IMPORTED" not in done.out + done.err
    assert done.out.endswith("$1 = 1\n")


# Ctrl-C, being told to end


def long_launch(folder: Path) -> str:
    demo = DEMOS / "mandelbrot"
    text = (demo / "mandelbrot.toml").read_text().replace("value = 100\n", "value = 2000000000\n")
    (folder / "long.toml").write_text(
        text.replace('file = "', f'file = "{demo}/').replace("file:", f"file:{demo}/")
    )
    return "long.toml"


def processor_time(process: int) -> float:
    """Seconds that a process has computed."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for_work(process: int) -> None:
    """Wait until the process has computed for a while, regardless of the machine's load, or computes no more."""
    begin = last = processor_time(process)
    while last < begin + 0.3:
        time.sleep(0.5)
        now = processor_time(process)
        if now < last + 0.02:
            return
        last = now


SIGNALS: list[tuple[str, list[str], str, signal.Signals, list[str], int]] = [
    # id, commands, what is written before the signal, the signal, what is written after it, the status
    ("a kernel, batch", ["-batch", "-ex", "echo looping\\n", "-ex", "run", "-ex", "echo next\\n"], "looping", signal.SIGINT,
     ["received signal SIGINT, Interrupt.", "next"], 0),
    ("a loop in a script", ["-batch", "-x", "loop", "-ex", "echo next\\n"], "looping", signal.SIGINT, ["Quit", "next"], 1),
    ("a loop of steps", ["-batch", "-x", "steps", "-ex", "echo next\\n"], "SIGINT|in mandelbrot|mandelbrot.cl", signal.SIGINT, ["Quit", "next"], 1),
    ("a condition", ["-batch", "-x", "condition", "-ex", "echo next\\n"], "looping", signal.SIGINT,
     ["Error in testing breakpoint condition:", "Quit", "next"], 0),
    ("a long listing", ["-batch", "-ex", "echo looping\\n", "-ex", "x/99999999xb $pc", "-x", "listing", "-ex", "echo next\\n"], "looping",
     signal.SIGINT, ["next"], 1),
    ("a shell command", ["-batch", "-ex", "echo looping\\n", "-ex", "shell sleep 30", "-ex", "echo next\\n"], "looping", signal.SIGINT,
     ["Quit", "next"], 1),
    ("told to end while running", ["-ex", "run", "-ex", "echo next\\n"], "Starting kernel", signal.SIGTERM, [], 143),
    ("hung up while running", ["-ex", "run", "-ex", "echo next\\n"], "Starting kernel", signal.SIGHUP, [], 129),
    ("told to end at the prompt", ["-ex", "echo looping\\n"], "looping", signal.SIGTERM, [], 143),
]


@pytest.mark.parametrize(
    ("options", "before", "number", "after", "status"),
    [row[1:] for row in SIGNALS],
    ids=[row[0] for row in SIGNALS],
)
def test_signals(
    options: list[str], before: str, number: signal.Signals, after: list[str], status: int, tmp_path: Path
) -> None:
    (tmp_path / "loop").write_text("echo looping\\n\nwhile 1\nend\necho not reached\\n\n")
    (tmp_path / "steps").write_text("start\nwhile 1\nstepi\nend\necho not reached\\n\n")
    (tmp_path / "listing").write_text("start\nwhile 1\nx/4000xb $pc\nend\necho not reached\\n\n")
    (tmp_path / "condition").write_text(
        # what leads there is translated first: Ctrl-C would stop that
        'break mandelbrot\nrun\n'
        'condition 1 $_regex("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", "(a+)+$")\necho looping\\n\nrun\n'
    )
    launch = long_launch(tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-m", "rocdbg", "-nx", "-q", launch, *options], cwd=tmp_path, env=environment(tmp_path),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )
    try:
        assert process.stdout is not None
        written = ""
        while not re.search(before, written):
            line = process.stdout.readline()
            assert line, written
            written += line
        wait_for_work(process.pid)
        process.send_signal(number)
        rest, _ = process.communicate(timeout=30)
    finally:
        process.kill()
    place = 0
    for part in after:
        place = rest.find(part, place)
        assert place >= 0, rest[-2000:]
    assert "not reached" not in rest and "Traceback" not in rest
    assert process.returncode == status, rest[-2000:]


# Internal errors


def test_an_internal_error_ends_its_command_alone(tmp_path: Path) -> None:
    """The bug is in a command of rocdbg itself: for a plug-in's command, the guard would name the plug-in."""
    program = (
        "import sys\n"
        "from rocdbg.cli.commands import print_and_set as data\n"
        "from rocdbg.cli.main import main\n"
        "from msgspec import structs\n"
        "def bug(shell, text): raise SystemExit(5) if text == 'exit' else KeyError(text)\n"
        "data.output.command_spec = structs.replace(data.output.command_spec, handler=bug)\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    state = tmp_path / "state"
    done = subprocess.run(
        [sys.executable, "-c", program, "-nx", "-batch", *["-ex", "output \x1b[31m"] * 25, "-ex", "output exit", "-ex", "print 1"],
        env={**environment(tmp_path), "XDG_STATE_HOME": str(state)}, cwd=tmp_path, capture_output=True, text=True,
        timeout=300, check=False,
    )
    assert (done.returncode, done.stdout) == (1, "$1 = 1\n")
    head, told = done.stderr.splitlines()[:2]
    assert re.fullmatch(
        r"rocdbg/cli/shell\.py:\d+: internal-error: KeyError: '\\033\[31m'|\S+: internal-error: KeyError: .*",
        head,
    )
    assert told.startswith(
        "A problem internal to rocdbg has been detected, further debugging may prove unreliable; its traceback is in "
    )
    reports = list((state / "rocdbg").iterdir())
    assert len(reports) == 20
    assert {stat.S_IMODE(report.stat().st_mode) for report in reports} == {0o600}
    assert stat.S_IMODE((state / "rocdbg").stat().st_mode) == 0o700
    assert any("KeyError" in report.read_text() for report in reports)


def test_internal_errors_are_raised_for_those_who_look_for_them(make_shell: MakeShell) -> None:
    def bug(shell: Shell, text: str) -> None:
        raise KeyError(text)

    shell, _ = make_shell()
    output = shell.registry.find("output").spec
    shell.registry.add(replace(output, handler=bug))
    with pytest.raises(KeyError):
        shell.execute("output x")
    shell.reports_internal_errors = True
    with pytest.raises(InternalError, match=r"internal-error: KeyError: 'x'"):
        shell.execute("output x")
