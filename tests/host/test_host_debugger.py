"""Sessions that begin in host code: a GDB that rocdbg owns has the CPU threads, rocdbg the waves."""

from __future__ import annotations

import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.cli.command_registry import Registry
from rocdbg.cli.commands import add_all
from rocdbg.cli.host_commands import ASKING, RESUMING
from rocdbg.debugger import Session
from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.running.stop_events import HostStopped
from rocdbg.debugger.target.host_debugger import HostDebuggerError
from rocdbg.debugger.target.host_gdb import HostGdb
from tests.host.test_runtimes import PROGRAMS, build, hip

SOURCE = Path(__file__).parent / "sources" / "sums.c"


@functools.cache
def may_trace() -> bool:
    """Whether GDB may trace a program here: some sandboxes forbid it."""
    if shutil.which("gdb") is None:
        return True
    command = ["gdb", "-nx", "-batch", "-ex", "run", "/bin/true"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    return "exited normally" in done.stdout


pytestmark = [
    pytest.mark.usefixtures("library"),
    pytest.mark.skipif(shutil.which("gdb") is None and "ROCDBG_REQUIRE_TOOLS" not in os.environ, reason="needs gdb"),
    pytest.mark.skipif("not may_trace()", reason="GDB may not trace programs here"),
]


@pytest.fixture(scope="module")
def sums(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sums") / "sums"
    subprocess.run(["cc", "-g", "-O0", "-o", path, str(SOURCE)], check=True)
    return path


def lines(output: str) -> list[str]:
    """Lines without addresses, process ids and folders."""
    output = re.sub(r"0x[0-9a-f]{8,}", "0xADDRESS", output.replace(f"{SOURCE.parent}/", ""))
    output = re.sub(r"(process|LWP) \d+", r"\1 N", output)
    return [line.rstrip() for line in output.splitlines() if line.strip()]


def session(program: Path, *commands: str, arguments: tuple[str, ...] = (), gpu: str = "gfx90a") -> tuple[str, str]:
    """What a script prints, to its output and its error output."""
    options = [word for each in commands for word in ("-ex", each)]
    words = [sys.executable, "-m", "rocdbg", "-q", "-nx", "-batch", "-gpu", gpu, *options]
    done = subprocess.run(
        [*words, "--args", str(program), *arguments], capture_output=True, text=True, timeout=200, check=False
    )
    return done.stdout, done.stderr


# (commands, output)
SESSIONS: list[tuple[list[str], list[str]]] = [
    (
        ["break main", "info breakpoints", "run", "next", "print sum", "bt", "continue"],
        [
            "Breakpoint 1 at 0x1HEX: file sums.c, line 13.",
            "Num     Type           Disp Enb Address            What",
            "1       breakpoint     keep y   0xADDRESS in main at sums.c:13",
            "Breakpoint 1, main (argc=1, argv=0xADDRESS) at sums.c:13",
            "13\t  int sum = 0;",
            "14\t  for (int i = 0; i < 4; i++)",
            "$1 = 0",
            "#0  main (argc=1, argv=0xADDRESS) at sums.c:14",
            "12 a 'b\" c",
            "[Inferior 1 (process N) exited with code 03]",
        ],
    ),
    (  # a condition, which is in force from the beginning; the value that is returned; a frame above
        ["break twice if x == 2", "run", "up", "info locals", "down", "finish", "info breakpoints", "kill"],
        [
            "Breakpoint 1 at 0x1HEX: file sums.c, line 8.",
            "Breakpoint 1, twice (x=2) at sums.c:8",
            "8\t  int y = 2 * x;",
            "#1  0xADDRESS in main (argc=1, argv=0xADDRESS) at sums.c:15",
            "15\t    sum += twice(i);",
            "i = 2",
            "sum = 2",
            "#0  twice (x=2) at sums.c:8",
            "8\t  int y = 2 * x;",
            "Run till exit from #0  twice (x=2) at sums.c:8",
            "0xADDRESS in main (argc=1, argv=0xADDRESS) at sums.c:15",
            "15\t    sum += twice(i);",
            "Value returned is $1 = 4",
            "Num     Type           Disp Enb Address            What",
            "1       breakpoint     keep y   0xADDRESS in twice at sums.c:8",
            "\tstop only if x == 2",
            "\tbreakpoint already hit 1 time",
            "[Inferior 1 (process N) killed]",
        ],
    ),
    (  # numbers: a deleted breakpoint comes first, and one is temporary, one ignored, one disabled and one changed
        [
            "tbreak main", "delete", "tbreak 13", "break twice", "break 10", "ignore 3 3", "disable 4", "start",
            "continue", "print x", "condition 3 x > 5", "ignore 3 0", "continue",
        ],
        [
            "Temporary breakpoint 1 at 0x1HEX: file sums.c, line 13.",
            "Temporary breakpoint 2 at 0x1HEX: file sums.c, line 13.",
            "Breakpoint 3 at 0x1HEX: file sums.c, line 8.",
            "Breakpoint 4 at 0x1HEX: file sums.c, line 10.",
            "Temporary breakpoint 5 at 0x1HEX: file sums.c, line 13.",
            "Temporary breakpoint 2, main (argc=1, argv=0xADDRESS) at sums.c:13",
            "13\t  int sum = 0;",
            "Breakpoint 3, twice (x=3) at sums.c:8",
            "8\t  int y = 2 * x;",
            "$1 = 3",
            "12 a 'b\" c",
            "[Inferior 1 (process N) exited with code 03]",
        ],
    ),
    (
        ["start", "set var sum = 100", "until 16", "print sum", "info line twice", "whatis main", "next", "kill"],
        [
            "Temporary breakpoint 1 at 0x1HEX: file sums.c, line 13.",
            "Temporary breakpoint 1, main (argc=1, argv=0xADDRESS) at sums.c:13",
            "13\t  int sum = 0;",
            "main (argc=1, argv=0xADDRESS) at sums.c:16",
            '16\t  printf("%d %s\\n", sum, getenv("GREETING"));',
            "$1 = 12",
            'Line 7 of "sums.c" starts at address 0xADDRESS <twice> and ends at 0xADDRESS <twice+7>.',
            "type = int (int, char **)",
            "17\t  fflush(stdout);",
            "[Inferior 1 (process N) killed]",
        ],
    ),
    (  # a temporary breakpoint that is ignored at first; how often others are still ignored
        ["tbreak twice", "break 10", "ignore 1 2", "ignore 2 7", "run", "info breakpoints", "disable", "continue"],
        [
            "Temporary breakpoint 1 at 0x1HEX: file sums.c, line 8.",
            "Breakpoint 2 at 0x1HEX: file sums.c, line 10.",
            "Temporary breakpoint 1, twice (x=2) at sums.c:8",
            "8\t  int y = 2 * x;",
            "Num     Type           Disp Enb Address            What",
            "2       breakpoint     keep y   0xADDRESS in twice at sums.c:10",
            "\tbreakpoint already hit 2 times",
            "\tignore next 5 hits",
            "12 a 'b\" c",
            "[Inferior 1 (process N) exited with code 03]",
        ],
    ),
    (
        ["break main", "run", "thread", "info threads", "delete", "run", "bt"],
        [
            "Breakpoint 1 at 0x1HEX: file sums.c, line 13.",
            "Breakpoint 1, main (argc=1, argv=0xADDRESS) at sums.c:13",
            "13\t  int sum = 0;",
            "[Current thread is 1 (Thread 0xADDRESS (LWP N))]",
            "  Id   Target Id                                Frame",
            '* 1    Thread 0xADDRESS (LWP N) "sums" main (argc=1, argv=0xADDRESS) at sums.c:13',
            "12 a 'b\" c",
            "[Inferior 1 (process N) exited with code 03]",
        ],
    ),
]


@pytest.mark.parametrize(("commands", "wanted"), SESSIONS, ids=[row[0][0] for row in SESSIONS])
def test_sessions(commands: list[str], wanted: list[str], sums: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREETING", "a 'b\" c")
    out, _ = session(sums, *commands)
    shown = [re.sub(r"at 0x1[0-9a-f]{3}:", "at 0x1HEX:", line) for line in lines(out)]
    columns = re.compile(r" +(Frame$|main \(argc)")  # the process id has a varying width
    assert [columns.sub(r" \1", line) for line in shown] == [columns.sub(r" \1", line) for line in wanted]


# (commands, the last line of the error output)
REFUSED = [
    (["start", "print nosuch"], 'No symbol "nosuch" in current context.'),
    (["start", "finish"], '"finish" not meaningful in the outermost frame.'),
    (["start", "break 20 if nosuch"], 'No symbol "nosuch" in current context.'),
    (["break twice if nosuch"], 'No symbol "nosuch" in current context.'),
    (["start", "list nosuch"], 'Function "nosuch" not defined.'),
    (["start", "thread 7"], "Unknown thread 7."),
    (["start", "break twice thread 1"], "A breakpoint in host code cannot be limited to a thread."),
]


@pytest.mark.parametrize(("commands", "wanted"), REFUSED, ids=[row[0][-1] for row in REFUSED])
def test_refused(commands: list[str], wanted: str, sums: Path) -> None:
    _, err = session(sums, *commands)
    assert wanted in err.splitlines(), err


def test_signals(sums: Path) -> None:
    out, _ = session(sums, "start", "continue", "print $_siginfo.si_signo", "continue", arguments=("s",))
    shown = lines(out)
    assert "Program received signal SIGUSR1, User defined signal 1." in shown
    assert f"$1 = {int(signal.SIGUSR1)}" in shown
    assert shown[-2] == "Program terminated with signal SIGUSR1, User defined signal 1."


def test_redirections_and_folders(sums: Path, tmp_path: Path) -> None:
    session(sums, f"set cwd {tmp_path}", "set environment GREETING hello", "set args 'a b' >there", "start", "continue")
    assert (tmp_path / "there").read_text() == "12 hello\n"


def test_what_is_missing_is_named(sums: Path) -> None:
    _, err = session(sums, "set host-debugger /nowhere/gdb", "break main", "break main")
    assert err.count("Debugging host code needs GDB, but there is no /nowhere/gdb: install gdb") == 1


def test_commands_for_host_code_exist() -> None:
    registry = Registry()
    add_all(registry)
    registry.complete()
    assert not (ASKING | RESUMING) - {spec.words for spec in registry.specs()}


def test_without_a_debugger_for_host_code(sums: Path) -> None:
    out, err = session(sums, "set host-debugger off", "break main", "show host-debugger")
    assert "Make breakpoint pending on future code object load?" in out
    assert 'The debugger of the program\'s host code is "off".' in out
    assert err == ""


@pytest.fixture
def stopped(sums: Path) -> Callable[..., Session]:
    """A session whose program has stopped in main."""
    made: list[Session] = []

    def start(*arguments: str) -> Session:
        session = Session()
        session.debug_program(str(sums), " ".join(arguments))
        session.program_launch.gpu = "gfx90a"
        made.append(session)
        assert session.break_in_host("main") is not None
        assert isinstance(session.run().cause, HostStopped)
        return session

    yield start
    for session in made:
        session.running.leave()
        session.host.close()


def is_gone(pid: int) -> bool:
    for _ in range(300):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def test_an_interrupt_stops_host_code(stopped: Callable[..., Session]) -> None:
    session = stopped("w")
    host = session.host.need()
    text = host.resume()
    assert text == "Continuing.\n"
    host.interrupt(reported=True)
    stop = host.take_stop()
    assert stop is not None and stop.signal == "SIGINT"
    assert "received signal SIGINT, Interrupt." in stop.text
    host.resume()
    host.interrupt()  # because another command needs the program to stand still: nothing is reported
    assert (host.running, host.take_stop()) == (False, None)
    assert "main" in session.host.execute("bt")


@pytest.mark.parametrize("victim", ["program", "debugger"])
def test_who_is_killed_takes_the_others_along(victim: str, stopped: Callable[..., Session]) -> None:
    session = stopped("w")
    host = session.host.need()
    program, debugger = host.pid, host._process.pid
    os.kill(program if victim == "program" else debugger, signal.SIGKILL)
    if victim == "debugger":
        for _ in range(300):
            if host.is_over:
                break
            time.sleep(0.02)
        with pytest.raises(HostDebuggerError, match="The host debugger has ended unexpectedly"):
            host.execute("bt")
    event = session.running.proceed()
    assert event.exit is not None and event.exit.process is not None
    assert event.exit.process.signal == signal.SIGKILL
    assert is_gone(program)


def test_a_new_debugger_gets_the_breakpoints_of_one_that_was_killed(stopped: Callable[..., Session]) -> None:
    session = stopped()
    assert session.break_in_host("twice", condition="x == 3") is not None
    host = session.host.need()
    os.kill(host._process.pid, signal.SIGKILL)
    assert is_gone(host._process.pid)
    session.running.proceed()
    assert isinstance(session.run().cause, HostStopped)
    cause = session.running.proceed().cause
    assert isinstance(cause, HostStopped)
    assert "twice (x=3)" in cause.stop.text
    assert [one.hit_count for one in session.breakpoints] == [1, 1]


def test_nothing_is_left_when_rocdbg_is_killed(sums: Path) -> None:
    code = (
        "import sys, time\nfrom rocdbg.debugger import Session\ns = Session()\n"
        "s.debug_program(sys.argv[1], 'w')\ns.program_launch.gpu = 'gfx90a'\ns.break_in_host('main')\ns.run()\n"
        "print(s.host.need().pid, s.host.need()._process.pid, flush=True)\ntime.sleep(100)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(sums)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        program, debugger = map(int, process.stdout.readline().split())
        process.kill()
    assert is_gone(program)
    assert is_gone(debugger)


def test_detach(stopped: Callable[..., Session]) -> None:
    session = stopped("w")
    pid = session.host.need().pid
    session.program_launch.detach()
    session.running.leave()
    state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    assert state in "SR"
    os.kill(pid, signal.SIGKILL)
    session.program_launch.wait_for_detached()


def test_commands_have_one_line(stopped: Callable[..., Session]) -> None:
    with pytest.raises(DebuggerError, match="newline"):
        stopped().host.execute("print 1\nshell touch /nowhere")


def test_text_of_the_program_is_not_gdbs(sums: Path) -> None:
    """A program's output goes where rocdbg's does, however much it looks like GDB's."""
    out, _ = session(sums, "start", "continue")
    assert out.count("12 (null)\n") == 1


def test_breakpoints_and_conditions_by_the_interface(sums: Path) -> None:
    gdb = shutil.which("gdb")
    assert gdb is not None
    host = HostGdb(gdb, str(sums))
    try:
        assert host.insert("nosuch") is None
        assert host.insert("sums.c:1000") is None
        number, place = host.insert("twice", condition="x == 1") or (0, None)
        assert number and place is not None
        assert (place.function, Path(place.file).name, place.line, place.count) == ("twice", "sums.c", 8, 1)
        with pytest.raises(HostDebuggerError, match="nosuch"):
            host.set_condition(number, "nosuch == 1")
    finally:
        host.close()


@hip
def test_from_main_into_a_kernel_and_back(tmp_path: Path) -> None:
    path, source = tmp_path / "saxpy", PROGRAMS / "saxpy.hip"
    subprocess.run(build.hip_command(source, path), check=True)
    free = next(n for n, text in enumerate(source.read_text().splitlines(), 1) if "hipFree(dy)" in text)
    commands = [
        "break main", "break saxpy", f"tbreak {source.name}:{free}", "run", "info threads", "continue",
        "info threads 1-2", "print $_lane", "thread 1", "bt -1", "thread 2", "print $_lane", "delete 2", "continue",
        "print n", "continue",
    ]  # fmt: skip
    out, err = session(path, *commands)
    shown = lines(out)
    order = [
        r"Breakpoint 1, main \(argc=1, ",
        r"\* 1    Thread 0xADDRESS \(LWP N\) \"saxpy\" +main \(argc=1",
        r"Thread 2 \"saxpy\" hit Breakpoint 2, with lanes \[0-63\], saxpy \(",
        r"  1    Thread 0xADDRESS \(LWP N\) \"saxpy\" ",
        r"\* 2    AMDGPU Wave 1:1:1:2 \(0,0,0\)/0 \"saxpy\" ",
        r"\$1 = 0$",
        r"\[Switching to thread 1 \(Thread 0xADDRESS \(LWP N\)\)\]$",
        r"#\d+ +0xADDRESS in main \(",
        r"\[Switching to thread 2, lane 0 ",
        r"\$2 = 0$",
        rf"Thread 1 \"saxpy\" hit Temporary breakpoint 3, main .*:{free}$",
        r"\$\d = 1000$",
        r".*: 0 of 1000 wrong$",
        r"\[Inferior 1 \(process N\) exited normally\]$",
    ]
    found = iter(shown)
    for pattern in order:
        assert any(re.match(pattern, line) for line in found), (pattern, out, err)
