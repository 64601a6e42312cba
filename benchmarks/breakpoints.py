"""Thousands of breakpoints: the cost of creating, passing, listing and deleting them.

    python benchmarks/breakpoints.py [--least 100] [--most 10000] [--case NAME] [--interrupt]

All figures are processor time of typed commands. The conditions differ and never hold. They are at one line of a loop:
of one shape (only a number differs), of two hundred shapes, of one shape next to a condition that only the evaluator
can decide; or on a thousand lines of ten functions. "first" is the first run, which compiles conditions; "again" is the
same in a new run; "passes" is the number of iterations of the loop. With ``--interrupt``, SIGINT arrives at several
moments of each command: the result is the longest time from the signal to the prompt.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import rocdbg

PASSES = 20
FUNCTIONS, LINES = 10, 100
NAMES = ("i", "n", "j", "out[0]", "out[i]", "(i ^ j)", "(n - i)", "(j & n)", "(i | 5)", "(unsigned char) i")


def source() -> str:
    """The loop is at line 5; each function has a hundred lines with code."""
    lines = [
        'extern "C" __attribute__((global)) void spin(volatile int *out, int n)', "{", "    int j = n;",
        "    for (int i = 0; i < n; ++i)", "        out[i & 15] = i + j;", "}",
    ]
    names = [f"many{number}" for number in range(FUNCTIONS)]
    for name in names:
        lines += [f"__attribute__((device, noinline)) void {name}(volatile int *out, int i, int j)", "{"]
        lines += ["    out[i & 15] += j;"] * LINES
        lines += ["}"]
    lines += ['extern "C" __attribute__((global)) void all(volatile int *out, int n)', "{"]
    lines += [f"    {name}(out, n, 3);" for name in names] + ["}", ""]
    return "\n".join(lines)


def build(folder: Path) -> Path:
    path, output = folder / "many.hip", folder / "many.co"
    path.write_text(source())
    subprocess.run(
        ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx90a", "-g",
         "-O0", "--no-gpu-bundle-output", path.name, "-o", str(output)], cwd=folder, check=True,
    )
    return output


def many_lines() -> list[int]:
    return [number for number, line in enumerate(source().split("\n"), 1) if line.startswith("    out[i & 15] +=")]


def one_shape(number: int) -> str:
    return f"break many.hip:5 if i == {number + 1000}"


def two_tests(number: int) -> str:
    return f"break many.hip:5 if out[i] == {number + 1000} && j > {number}"


def shapes(number: int) -> str:
    a, b = NAMES[number % 10], NAMES[number // 10 % 10]
    operator = "+-"[number // 100 % 2]
    return f"break many.hip:5 if {a} {operator} {b} == {number + 100000}"


def beside_another(number: int) -> str:
    return one_shape(number) if number else "break many.hip:5 if $count++ == 1000000"


def on_lines(number: int, places: list[int] = many_lines()) -> str:  # noqa: B008
    return f"break many.hip:{places[number % len(places)]} if i == {number + 1000}"


CASES: dict[str, tuple[str, Callable[[int], str]]] = {
    "one shape": ("spin", one_shape), "two tests": ("spin", two_tests), "200 shapes": ("spin", shapes),
    "beside another": ("spin", beside_another), "1,000 lines": ("all", on_lines),
    "same": ("spin", lambda number: "break many.hip:5 if i == 1000"),
    "plain": ("all", lambda number: on_lines(number).partition(" if ")[0]),
}


def session(path: Path, kernel: str) -> rocdbg.Debugger:
    dbg = rocdbg.Debugger()
    for command in ("set confirm off", f"file {path}", f"kernel {kernel}", "set grid 64", "set workgroup 64",
                    "set arg 0 i32[64]:zeros", f"set arg 1 {PASSES}", "set $count = 0"):
        dbg.execute(command, to_string=True)
    return dbg


def timed(action: Callable[[], object]) -> float:
    began = time.process_time()
    action()
    return time.process_time() - began


def measured(path: Path, name: str, count: int) -> None:
    kernel, text = CASES[name]
    dbg = session(path, kernel)

    def run(command: str) -> float:
        return timed(lambda: dbg.execute(command, to_string=True))

    begin = timed(lambda: dbg.execute("run", to_string=True))  # what is translated, is
    making = timed(lambda: [dbg.execute(text(number), to_string=True) for number in range(count)])
    first, again = run("run"), run("run")
    listed, disabled, deleted = run("info breakpoints"), run("disable"), run("delete")
    print(f"{name:15} {count:6}: without {begin:5.2f}, made {making:6.2f}, first {first:6.2f}, again {again:6.2f}, "
          f"listed {listed:5.2f}, disabled {disabled:5.2f}, deleted {deleted:5.2f}", flush=True)


def interrupted(path: Path, name: str, count: int) -> None:
    """The longest time from SIGINT to the answer in the first run; signals are sent 0.1 s of processor time apart."""
    kernel, text = CASES[name]
    folder = path.parent
    script = folder / "many.gdb"
    script.write_text("\n".join(text(number) for number in range(count)))
    longest, after, moments = 0.0, 0.05, 0
    while True:
        dbg = session(path, kernel)
        dbg.execute(f"source {script}", to_string=True)
        began, sent = time.process_time(), list[float]()

        def send(began: float = began, after: float = after, sent: list[float] = sent) -> None:
            while time.process_time() - began < after:
                time.sleep(0.005)
            sent.append(time.process_time())
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=send, daemon=True)
        thread.start()
        ended = 0.0
        try:
            dbg.execute("run", to_string=True)
            ended = time.process_time()
            while thread.is_alive():
                sum(range(1000))
        except KeyboardInterrupt:
            ended = ended or time.process_time()
        except rocdbg.Error:
            ended = time.process_time()
        if sent[0] >= ended:
            break
        longest, moments, after = max(longest, ended - sent[0]), moments + 1, after + 0.1
    print(f"{name:15} {count:6}: longest answer to SIGINT {longest:5.2f} s, of {moments}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=10_000)
    parser.add_argument("--least", type=int, default=100)
    parser.add_argument("--case", choices=CASES, action="append")
    parser.add_argument("--interrupt", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = build(Path(folder))
        for name in options.case or CASES:
            count = options.least
            while count <= options.most:
                (interrupted if options.interrupt else measured)(path, name, count)
                count *= 10


if __name__ == "__main__":
    main()
