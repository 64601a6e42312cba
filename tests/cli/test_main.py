"""The command line: options, exit status, input without a terminal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rocdbg.host.program_api import Program

ROOT = Path(__file__).resolve().parents[2]
SAXPY = "demo_kernels/saxpy/saxpy.toml"
COMMAND = [sys.executable, "-m", "rocdbg"]


def rocdbg(*arguments: str, stdin: str = "", home: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if home is not None:
        environment["HOME"] = str(home)
    return subprocess.run(
        [*COMMAND, *arguments], cwd=ROOT, env=environment, input=stdin, capture_output=True, text=True, timeout=60,
        check=False,
    )


STATUS = [
    # arguments, exit status, output, errors
    (["-nx", "-batch", "-ex", "print 1 + 2"], 0, "$1 = 3\n", ""),
    (["-nx", "--batch", "--ex", "print 1 +"], 1, "", "A syntax error in expression, near `'.\n"),
    (["-nx", "-batch", "-ex", "nosuch", "-ex", "print 5"], 1, "$1 = 5\n",
     'Undefined command: "nosuch".  Try "help".\n'),
    (["-nx", "-batch", "-ex", "quit 7", "-ex", "print 5"], 7, "", ""),
    (["-nx", "-batch", "-x", "/nosuch"], 1, "", "/nosuch: No such file or directory.\n"),
    (["-nx", "-batch", "/nosuch"], 1, "", "/nosuch: cannot be read: No such file or directory\n"),
    (["-nx", "-batch", "-iex", "set listsize 1", SAXPY, "-ex", "list 7,"], 0, "7\t    int i = global_x();\n", ""),
    (["-nx", "-batch", "--arch", "gfx1100", SAXPY, "-ex", "print sizeof(n)"], 1, "",
     'No symbol "n" in current context.\n'),
    (["--version"], 0, "rocdbg 0.3.0\n", ""),
]


@pytest.mark.parametrize(("arguments", "status", "output", "errors"), STATUS, ids=lambda value: str(value)[:40])
def test_batch(arguments: list[str], status: int, output: str, errors: str) -> None:
    done = rocdbg(*arguments)
    assert (done.returncode, done.stdout, done.stderr) == (status, output, errors)


TOOLS = [
    (["run", "no\x1b[31m"], "rocdbg: cannot run no\\x1b[31m: No such file or directory"),
    (["llvmdi", "check", "f", "\x1b[31m"], r"rocdbg llvmdi: error: unrecognized arguments: \x1b[31m"),
    (["annotate", "f", "-o", "g", "\x1b[31m"], r"rocdbg annotate: error: unrecognized arguments: \x1b[31m"),
]


@pytest.mark.parametrize(("arguments", "said"), TOOLS, ids=[arguments[0] for arguments, _ in TOOLS])
def test_tools_show_no_control_sequences(arguments: list[str], said: str) -> None:
    assert rocdbg(*arguments).stderr.splitlines()[-1] == said


def test_kernels_that_fail_show_no_control_sequences(capfd: pytest.CaptureFixture[str]) -> None:
    """The names of kernels come from a file."""
    Program(["true"], "gfx90a")._report("kernel \x1b[31mred: illegal instruction")
    assert capfd.readouterr().err == "rocdbg: kernel \\x1b[31mred: illegal instruction\n"


def test_scripts_and_commands_run_in_order(tmp_path: Path) -> None:
    script = tmp_path / "commands"
    script.write_text("echo two\\n\n")
    done = rocdbg("-nx", "-batch", "-ex", r"echo one\n", "-x", str(script), "-ex", r"echo three\n")
    assert done.stdout == "one\ntwo\nthree\n"


def test_the_users_init_file(tmp_path: Path) -> None:
    (tmp_path / ".rocdbginit").write_text("set listsize 3\n")
    assert rocdbg("-batch", "-ex", "show listsize", home=tmp_path).stdout.endswith(" is 3.\n")
    assert rocdbg("-nx", "-batch", "-ex", "show listsize", home=tmp_path).stdout.endswith(" is 10.\n")


def test_commands_from_a_pipe() -> None:
    done = rocdbg("-q", "-nx", stdin="print 1\n\ndefine two\nprint 2\nend\ntwo\nnosuch\n")
    assert done.stdout == "(rocdbg) $1 = 1\n(rocdbg) $2 = 1\n(rocdbg) >>(rocdbg) $3 = 2\n(rocdbg) (rocdbg) quit\n"
    assert done.stderr == 'Undefined command: "nosuch".  Try "help".\n'
    assert (done.returncode, "\x1b" in done.stdout) == (0, False)


def test_an_unfinished_block_at_the_end_of_the_input() -> None:
    done = rocdbg("-q", "-nx", stdin="if 1\nprint 1\n")
    assert done.stderr == "the input ended inside a block\n"


def test_interrupting_a_kernel_that_does_not_end(tmp_path: Path) -> None:
    """SIGINT stops the wave within moments, and the session continues."""
    demo = ROOT / "demo_kernels" / "mandelbrot"
    text = (demo / "mandelbrot.toml").read_text().replace("value = 100\n", "value = 2000000000\n")
    launch = tmp_path / "long.toml"
    launch.write_text(text.replace('file = "', f'file = "{demo}/').replace("file:", f"file:{demo}/"))
    process = subprocess.Popen(
        [*COMMAND, "-q", "-nx", str(launch)], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    lines, wait, began = [""], 1, 0.0
    while "received signal SIGINT, Interrupt." not in lines[-1]:
        if not lines[-1] or "Quit" in lines[-1]:  # on a busy machine, the code may not have been translated yet
            process.stdin.write("run\n")
            process.stdin.flush()
            assert "Starting kernel mandelbrot" in process.stdout.readline()
            time.sleep(wait)
            wait *= 2
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
        lines.append(process.stdout.readline())
        assert lines[-1], "".join(lines)
    assert time.monotonic() - began < 20  # of a kernel that takes hours
    rest, _ = process.communicate("print 6 * 7\n", timeout=30)
    assert "$1 = 42" in rest
