#!/usr/bin/env python3
"""Fuzz sessions: random command lines over all commands, and signals, in every state of a program.

    benchmarks/fuzz_session.py [--seconds 60] [--count N] [--first NUMBER]
    benchmarks/fuzz_session.py --replay NUMBER                            one session, with what it prints

Session NUMBER always has the same state and the same lines. It runs in its own process, which may use 1 GiB more memory
than at its beginning. A command that takes long is interrupted after 2 s, as by a user, and may then take 5 s more. A
session is bad if it has a traceback, an internal error, a fatal signal, a hang, a control character that no `echo`
requested, or no answer at its end. The exit status is 1 if a session was bad.
"""

# ruff: noqa: E501  (tables)
from __future__ import annotations

import argparse
import io
import os
import random
import re
import resource
import select
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from rocdbg.cli.command_registry import Completes, Registry  # noqa: E402
from rocdbg.cli.interrupts import Signals, Terminated  # noqa: E402
from rocdbg.cli.leaving_commands import Quit  # noqa: E402
from rocdbg.cli.line_completion import complete_line  # noqa: E402
from rocdbg.cli.outermost_level import attempt  # noqa: E402
from rocdbg.cli.repl import run_statement  # noqa: E402
from rocdbg.cli.shell import Shell  # noqa: E402
from rocdbg.cli.writer import OutputLost, Writer  # noqa: E402
from rocdbg.debugger.session import Session  # noqa: E402

INTERRUPT_AFTER = 2.0
"""Seconds after which a command is interrupted, and again after twice as many."""
LIMIT = 7.0
"""Seconds after which a command counts as hanging."""
MEMORY = 1 << 30
BATCH = 25
"""Sessions that start from one prepared state."""
DEMOS = ROOT / "demo_kernels"
ESCAPES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
SPEAKS = re.compile(r"ec|printf|sh|!|make")
"""Lines with which the user may send any text to the terminal."""
COMPLETE = "complete: "
"""Marks a line that is not run but completed."""
SKIPPED = ("shell", "!", "make", "python", "quit", "tui", "edit", "pipe", "|", "append", "dump", "save", "tsave")
"""Command words that leave the session, or write files, including the user's own."""

# States

STATES: dict[str, tuple[str, ...]] = {
    "empty": (),
    "object": (f"file {DEMOS}/saxpy/saxpy.O2.gfx90a.co",),
    "loaded": (f"file {DEMOS}/saxpy/saxpy.toml",),
    "running": (f"file {DEMOS}/saxpy/saxpy.toml", "break saxpy", "run"),
    "optimised": (f"file {DEMOS}/calls/calls.O2.toml", "start", "next"),
    "calls": (f"file {DEMOS}/calls/calls.toml", "start", "step", "step", "step", "step"),
    "divergent": (f"file {DEMOS}/divergence/divergence.toml", "start", "next 4"),
    "spaces": (f"file {DEMOS}/spaces/spaces.toml", "start", "next 3"),
    "faulted": (f"file {DEMOS}/wildaccess/wildaccess.toml", "run"),
    "trapped": (f"file {DEMOS}/trap/trap.toml", "run"),
    "finished": (f"file {DEMOS}/saxpy/saxpy.toml", "run"),
    "killed": (f"file {DEMOS}/saxpy/saxpy.toml", "start", "kill"),
    "hostile": ("file hostile.toml", "start"),
    "plugins": (
        f"file {DEMOS}/vectors/vectors.toml",
        "plugin load lanemap",
        "plugin load vectors",
        "start",
        "next 2",
    ),
    "conditional": (
        f"file {DEMOS}/reduce/reduce.O2.toml",
        "break reduce if $_lane == 3",
        "display $exec",
        "commands",
        "run",
    ),
}


def hostile_program(folder: Path) -> None:
    """A program whose kernel and source file have control sequences in their names: ``hostile.toml``."""
    data = (DEMOS / "saxpy" / "saxpy.O0.gfx90a.co").read_bytes()
    (folder / "hostile.co").write_bytes(data.replace(b"saxpy", b"\x1b[31m").replace(b"float", b"fl\xc2\x9bt"))
    text = (DEMOS / "saxpy" / "saxpy.toml").read_text().replace("saxpy.O0.{arch}.co", "hostile.co")
    text = text.replace('kernel = "saxpy"\n', "").replace("file:", f"file:{DEMOS}/saxpy/")
    (folder / "hostile.toml").write_text(text)


# Lines

NAMES = ("i", "x", "y", "n", "a", "acc", "p", "saxpy", "calls", "divergence", "threadIdx", "blockIdx.x", "this", "nosuch",
         "*x", "&x", "x[3]", "y[i]", "x[100000000]", "p->next", "p.x", "sizeof(int)", "global_x", "warpSize")
REGISTERS = ("$pc", "$sp", "$exec", "$vcc", "$m0", "$scc", "$s0", "$s[4:5]", "$v0", "$v5[3]", "$v[0:1]", "$a0", "$ttmp6",
             "$mode", "$s105", "$v255", "$v256", "$s[0:99]", "$flat_scratch", "$status", "$pc_32")
DOLLARS = ("$", "$$", "$1", "$$3", "$_", "$__", "$_lane", "$_thread", "$_lane_count", "$__lane_pc_array", "$_siginfo", "$i",
           "$foo", "$99999999999999999999", "$_exitcode", "$_dispatch_pos", "$_strlen", "$x", "$y")
TYPES = ("int", "char", "float", "double", "unsigned long", "void", "int *", "char (*)[4]", "float4", "struct nosuch",
         "int[3]", "int[99999999]", "half", "long double", "int (*)(int)", "uint3", "__int128", "float16", "int[0]",
         "int[2][2][2]", "bool", "local int *")
NUMBERS = ("0", "1", "-1", "2", "7", "63", "64", "0x10", "1e400", "1.5", "0x7fffffffffffffff", "18446744073709551615",
           "99999999999999999999", "9" * 5000, "010", "1e-400", "'a'", "0b11", "nan", "1f", "4294967296")
OPERATORS = ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "&&", "||", "==", "<", ",", "@", "=", "+=", ".", "->", "::",
             ".*", "?", ":", "#")
FORMATS = ("/x", "/d", "/t", "/c", "/f", "/a", "/s", "/i", "/o", "/u", "/z", "/r", "/10xw", "/3i", "/-3i", "/2s", "/999999xb",
           "/4xg", "/", "/q", "/xyz", "/-5xw", "/99999999999999999999x", "/s", "/m", "/rs")
HOSTILE = ("\x1b[31m", "\x9b2J", "\u202e", "\u2028", "\x85", "\udc9b", "%s%n", "%", "\\", '"', "'", "((((", "))))", "[[", "{", "}",
           "*" * 300, "(" * 150, "[0" * 200, "$" * 100, "a" * 5000, "²", "٣", "é", "😀", "\t", "\x0c", "~", "~nobody/x", "/", "..",
           "/dev/zero", "/dev/null", "/proc/self/mem", "fifo", "-", "--", "-1", "#", ";", "|", "&", "<", "a<b<c<d", "operator<<",
           "a{99999}", "[", "(?P<", "1-99999999999", "2:5", "*:*", "0-3", "all", "if", "thread 1", "-all", "nul\0nul",
           "\r", "x" * 200 + "::")
LOCATIONS = ("saxpy", "calls", "9", "saxpy.hip:9", "*$pc", "*0", "nosuch", "nosuch.c:1", "+1", "-1", "+99999", "0", "9,12", ",9",
             "-line 3", "-function saxpy", "-source x", "calls.hip:30", "*0x1000", "divergence.hip:20", "1,99999999",
             "'saxpy.hip':9", "99999999999999999999", "*x", "*1/0")
FILES = ("hostile.toml", "hostile.co", "script", "fifo", "empty", "binary", "/nosuch", "/dev/zero", ".", "self",
         f"{DEMOS}/saxpy/saxpy.toml", f"{DEMOS}/trap/trap.toml", f"{DEMOS}/calls/calls.O2.gfx90a.co")
RANGES = (
    "1",
    "1-3",
    "0",
    "*",
    "all",
    "1:5",
    "*:*",
    "5",
    "1-99999999",
    "3-1",
    "1 2 3",
    "-1",
    "64",
    "0-63",
    "$_thread",
)
REGEXPS = ("", ".", "sax", "(", "[", "*", "a{9999999999}", "^$", "\\d+", "x|y", ".*")


class Maker:
    """Makes the lines of one session."""

    def __init__(self, number: int, registry: Registry) -> None:
        self.rng = random.Random(number)
        self.specs = [spec for spec in registry.specs() if not set(spec.words) & set(SKIPPED)]

    def pick(self, choices: tuple[str, ...]) -> str:
        return self.rng.choice(choices)

    def expression(self, depth: int = 0) -> str:
        kind = self.rng.random()
        if depth > 3 or kind < 0.45:
            return self.pick(self.rng.choice((NAMES, NAMES, REGISTERS, DOLLARS, NUMBERS)))
        inner = self.expression(depth + 1)
        if kind < 0.65:
            return f"{inner} {self.pick(OPERATORS)} {self.expression(depth + 1)}"
        if kind < 0.75:
            return f"({inner})"
        if kind < 0.82:
            return f"({self.pick(TYPES)}){inner}"
        if kind < 0.86:
            return f"{{{self.pick(TYPES)}}} {inner}"
        if kind < 0.9:
            return f"{self.rng.choice('-!~*&')}{inner}"
        if kind < 0.93:
            return f"{inner}[{self.expression(depth + 1)}]"
        if kind < 0.96:
            return (
                f"{self.pick(('local', 'private_lane', 'global', 'generic', 'region', 'gibberish'))}#{inner}"
            )
        if kind < 0.98:
            return f"${self.pick(('_strlen', '_regex', '_streq', '_memeq', '_as_string', '_isvoid', 'i'))}({inner})"
        return self.pick(OPERATORS).join([inner[:20]] * self.rng.choice((3, 50, 2000)))

    def argument(self, kind: Completes) -> str:
        choice = self.rng.random()
        if choice < 0.08:
            return self.pick(HOSTILE)
        if choice < 0.12:
            return self.pick(RANGES)
        return {
            Completes.EXPRESSION: self.expression, Completes.LOCATION: lambda: self.pick(LOCATIONS),
            Completes.CODE: lambda: self.pick(LOCATIONS),
            Completes.SYMBOL: lambda: self.pick(NAMES), Completes.TYPE: lambda: self.pick(TYPES),
            Completes.REGISTER: lambda: self.pick(REGISTERS), Completes.FILE: lambda: self.pick(FILES),
            Completes.COMMAND: lambda: self.line(1), Completes.KERNEL: lambda: self.pick(("saxpy", "calls", "nosuch")),
            Completes.HELP: lambda: self.line(1), Completes.MEANING: lambda: "zz = " + self.line(1),
            Completes.SETTING: lambda: f"listsize {self.pick(NUMBERS)} -- {self.line(1)}",
            Completes.SIGNAL: lambda: self.pick(("SIGINT", "SIGSEGV", "14", "nosuch")),
            Completes.HANDLING: lambda: self.pick(("SIGSEGV nostop", "all", "1-15 noprint", "nosuch")),
            Completes.PLUGIN: lambda: self.pick(("lanemap", "vectors", "nosuch", "plugin.py")),
            Completes.BREAKPOINT: lambda: self.pick(RANGES), Completes.THREAD: lambda: self.pick(RANGES),
            Completes.LANE: lambda: self.pick(RANGES),
            Completes.NOTHING: lambda: self.pick(self.rng.choice((RANGES, NUMBERS, REGEXPS, NAMES, ("on", "off", "unlimited")))),
        }[kind]()

    def line(self, depth: int = 0) -> str:
        if self.rng.random() < 0.02:
            return self.pick(HOSTILE)
        spec = self.rng.choice(self.specs)
        words = spec.name
        if self.rng.random() < 0.1:
            words = " ".join(word[: self.rng.randrange(1, len(word) + 1)] for word in spec.words)
        if set(words.split()[:2]) & set(SKIPPED):
            words = "print"
        parts = [words]
        if (
            spec.words[0] in ("print", "x", "output", "display", "disassemble", "call")
            and self.rng.random() < 0.5
        ):
            parts[0] += self.pick(FORMATS)
        if spec.options and self.rng.random() < 0.4:
            parts.append(self.rng.choice(spec.options))
        if "apply" in spec.words:
            parts += [
                self.pick(RANGES),
                self.pick(("", "-q", "-c", "-s", "-active", "-all")),
                self.line(depth + 1) if depth < 3 else "",
            ]
        elif spec.words == ("printf",):
            parts.append(self.printf())
        elif self.rng.random() < 0.85:
            parts += [self.argument(spec.completes) for _ in range(self.rng.choice((1, 1, 1, 2, 3)))]
        return " ".join(parts)

    def printf(self) -> str:
        conversions = (
            "%d",
            "%s",
            "%c",
            "%f",
            "%5.2lf",
            "%llu",
            "%p",
            "%x",
            "%%",
            "%",
            "%z",
            "%99999999d",
            "%*d",
            "%.3s",
            "%n",
            "%a",
            "%hhd",
        )
        chosen = [self.pick(conversions) for _ in range(self.rng.randrange(4))]
        arguments = [self.expression(2) for _ in range(self.rng.choice((len(chosen), len(chosen), 0, 5)))]
        return ", ".join([f'"{" ".join(chosen)}\\n"', *arguments])

    def entry(self) -> list[str]:
        """A line, or a block with its body."""
        kind = self.rng.random()
        if kind < 0.9:
            return [self.line()]
        if kind < 0.94:
            line = self.line()
            return [COMPLETE + line[: self.rng.randrange(len(line) + 1)]]
        body = [self.line() for _ in range(self.rng.randrange(3))]
        head = self.rng.choice(
            (
                "define a",
                "define b",
                "document a",
                "if $_lane",
                "while $i++ < 5",
                "while 1",
                "commands",
                "commands 1",
                "if",
                "while",
                "define",
            )
        )
        return [head, *body, *(["a"] if head == "define a" else []), "end"]


def entries(number: int, registry: Registry) -> list[tuple[list[str], float]]:
    """The lines of a session, each with its time of interruption (0: not before it takes long; below 0: terminated)."""
    maker = Maker(number, registry)
    found = []
    for _ in range(maker.rng.randrange(5, 25)):
        kind = maker.rng.random()
        when = (
            maker.rng.random() * 0.05 if kind < 0.1 else -maker.rng.random() * 0.05 if kind < 0.105 else 0.0
        )
        found.append((maker.entry(), when))
    return found


# Running


class Output(io.StringIO):
    """The output of a session since the last check."""

    def take(self) -> str:
        text = self.getvalue()
        self.seek(0)
        self.truncate()
        return text


def play(shell: Shell, output: Output, number: int, tell: Callable[[str], None], show: bool = False) -> None:
    """Run a session; ``tell`` is called when each command begins, and for each problem. Returns at the end of the
    session.
    """
    assert shell.signals is not None
    shell.signals.install()
    # what the timer does is what a terminal would: a signal at any moment
    leaving = [False]
    signal.signal(
        signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGTERM if leaving[0] else signal.SIGINT)
    )
    for lines, when in [
        *entries(number, shell.registry),
        (["echo"], 0.0),
        (["echo"], 0.0),
        (["output 6 * 7"], 0.0),
    ]:
        tell("begin " + repr("\n".join(lines))[:300])
        if show:
            print(f"(rocdbg) {lines}", flush=True)
        rest = iter(lines[1:])
        leaving[0] = when < 0
        if when:
            signal.setitimer(signal.ITIMER_REAL, abs(when))
        try:
            if lines[0].startswith(COMPLETE):
                text = lines[0].removeprefix(COMPLETE)
                attempt(
                    shell, lambda text=text: shell.guard(lambda: complete_line(shell, text), "completion")
                )
            else:
                run_statement(shell, lines[0], lambda prompt, rest=rest: next(rest, "end"))
        except (Quit, Terminated, OutputLost):
            return
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        text = output.take()
        if show:
            print(ESCAPES.sub("?", text)[:3000], flush=True)
        if ": internal-error: " in text or "Traceback (most" in text:
            tell("bad " + repr(text[-1500:]))
        found = ESCAPES.search(text)
        if found is not None and not any(SPEAKS.search(line) for line in lines) and "prompt" not in lines[0]:
            tell(f"bad escape {found[0]!r} in {text[max(0, found.start() - 60) : found.end() + 20]!r}")
    if not text.endswith("42"):
        tell(f"bad lost session: {text!r}")


def make_shell(state: str) -> tuple[Shell, Output]:
    """A shell in a state."""
    output = Output()
    shell = Shell(Session(), Writer(output), Writer(output))
    shell.signals = Signals(shell)
    shell.reports_internal_errors = True
    for line in STATES[state]:
        run_statement(shell, line, lambda prompt: "end")
    output.take()
    return shell, output


def limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    size = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def watch(child: int, pipe: int) -> tuple[list[str], int]:
    """Follow one session's process to its end; return the problem, and how many commands it began."""
    bad: list[str] = []
    command, began, interrupted, count = "", time.monotonic(), 0, 0
    buffer = b""
    while True:
        ready, _, _ = select.select([pipe], [], [], 0.2)
        if ready:
            data = os.read(pipe, 1 << 16)
            if not data:
                break
            *lines, buffer = (buffer + data).split(b"\n")
            for line in lines:
                kind, _, text = line.decode().partition(" ")
                if kind == "begin":
                    command, began, interrupted, count = text, time.monotonic(), 0, count + 1
                else:
                    bad.append(f"{command}: {text}")
        taken = time.monotonic() - began
        if taken > LIMIT:
            bad.append(f"{command}: hangs")
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return bad, count
        if taken > INTERRUPT_AFTER * (interrupted + 1) and interrupted < 2:
            interrupted += 1
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGINT)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        bad.append(f"{command}: death by signal {os.WTERMSIG(status)}")
    elif os.WEXITSTATUS(status):
        bad.append(
            f"{command}: the process ended with status {os.WEXITSTATUS(status)}: {''.join(bad)[-300:]}"
        )
    return bad, count


def run_one(shell: Shell, output: Output, number: int) -> tuple[list[str], int]:
    """Run a session in its own process."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        status = 0
        try:
            limit_memory()
            play(
                shell,
                output,
                number,
                lambda text: os.write(writer, text.encode("utf-8", "backslashreplace") + b"\n"),
            )
        except BaseException as error:
            import traceback

            os.write(
                writer, f"bad {type(error).__name__} came out: {traceback.format_exc()[-1500:]!r}\n".encode()
            )
            status = 1
        os._exit(status)
    os.close(writer)
    try:
        return watch(child, reader)
    finally:
        os.close(reader)


def state_of(number: int) -> str:
    names = list(STATES)
    return names[number // BATCH % len(names)]


def run_batch(numbers: list[int], stop_at: float) -> Iterator[tuple[int, list[str], int]]:
    """Sessions of one state, which a process prepares once."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        shell, output = make_shell(state_of(numbers[0]))
        for number in numbers:
            if time.monotonic() > stop_at:
                break
            bad, count = run_one(shell, output, number)
            os.write(writer, repr((number, bad, count)).encode() + b"\n")
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as lines:
        for line in lines:
            yield eval(line)
    os.waitpid(child, 0)


def prepare_folder() -> Path:
    """Prepare a current folder with files of all kinds, and a separate home."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-session-"))
    os.chdir(folder)
    hostile_program(folder)
    (folder / "script").write_text("print 1\nsource script\nnosuch\n")
    (folder / "self").write_text("source self\n")
    (folder / "empty").write_text("")
    (folder / "binary").write_bytes(random.Random(0).randbytes(4000))
    (folder / "plugin.py").write_text("def register(api):\n    raise SystemExit(3)\n")
    os.mkfifo(folder / "fifo")
    os.environ["HOME"] = str(folder)
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    os.environ.setdefault("ROCDBG_CACHE_DIR", str(folder / "cache"))
    return folder


def main() -> int:
    parser = argparse.ArgumentParser(description="Random sessions.")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--count", type=int, default=1 << 40, help="sessions at most")
    parser.add_argument("--first", type=int, default=0, help="number of the first session")
    parser.add_argument(
        "--stride", type=int, default=BATCH, help="sessions of each state before the next one's"
    )
    parser.add_argument("--replay", type=int)
    options = parser.parse_args()
    prepare_folder()
    if options.replay is not None:
        shell, output = make_shell(state_of(options.replay))
        print(f"state: {state_of(options.replay)}")
        limit_memory()
        play(
            shell,
            output,
            options.replay,
            lambda text: None if text.startswith("begin") else print(text),
            show=True,
        )
        return 0
    stop_at = time.monotonic() + options.seconds
    number, left = options.first, options.count
    done = commands = 0
    failures: Counter[str] = Counter()
    while left > 0 and time.monotonic() < stop_at:
        end = min(number + left, number + options.stride, (number // BATCH + 1) * BATCH)
        left -= end - number
        for found, bad, count in run_batch(list(range(number, end)), stop_at):
            done += 1
            commands += count
            for text in bad:
                failures[text[-200:]] += 1
                print(
                    f"session {found} ({state_of(found)}): {text}\n    replay: {sys.argv[0]} --replay {found}",
                    flush=True,
                )
        number = (number // BATCH + 1) * BATCH if options.stride < BATCH else end
    print(f"{done} sessions, {commands} commands, {sum(failures.values())} bad")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
