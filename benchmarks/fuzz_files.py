#!/usr/bin/env python3
"""Hostile files, by number: ELF, notes, metadata, bundles, debug information, launch files, .npy.

    benchmarks/fuzz_files.py [--seconds 60 | --count N] [--first N] [--kind NAME]
    benchmarks/fuzz_files.py --replay NUMBER [--keep FOLDER]

Each input is made from its number alone, opened, and used in the commands of a session. It must give results or
`rocdbg.Error`s within 5 s of processor time and 1 GiB of memory, and the process must survive. A number that fails is
printed with the command that replays it, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import faulthandler
import mmap
import os
import resource
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from file_attacks import kinds  # noqa: E402

Family = Any
"""A module of attacks by number: `NAMES`, `attack_of`, `survive` and `warm_up`, as `file_attacks.kinds` has them.
``RESERVES``: its inputs reserve more addresses than the memory that an input may use, so only resident memory counts.
"""

SECONDS = 5
"""Seconds of processor time for one input."""
PATIENCE = 500
"""Seconds of wall time for one input: a process that waits for a pipe takes no processor time. The limit is high,
because a busy machine delays processes that do not wait.
"""
MEMORY = 1 << 30
"""Resident bytes beyond the initial ones of the process."""
WORKER_INPUTS = 1500
"""Inputs after which a worker is replaced."""

MEMORY_FOLDER = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""The folder for files: writing them to a disk takes longer than reading them."""


class Progress:
    """A worker's report to its parent, in shared memory: the input's number, and how many were done."""

    LAYOUT = struct.Struct("<QQQ")

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, self.LAYOUT.size)

    def set(self, number: int, done: int, worked: int) -> None:
        self.LAYOUT.pack_into(self._memory, 0, number, done, worked)

    def get(self) -> tuple[int, int, int]:
        return self.LAYOUT.unpack_from(self._memory)


def limit() -> None:
    """Limit this process to its current memory and `MEMORY` more."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def run_one(number: int, folder: Path, family: Family = kinds) -> int:
    """Run one input; raises exceptions that are not allowed."""
    _, attack = family.attack_of(number)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        return int(family.survive(attack, folder))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


def work(
    numbers: range, deadline: float, folder: Path, progress: Progress, report: Path, family: Family = kinds
) -> None:
    """The work of a worker; never returns. Status 0: all done, 1: an exception was reported, signals as they come."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.chdir(folder)
    worked, start = 0, resident()
    for done, number in enumerate(numbers):
        progress.set(number, done, worked)
        if time.monotonic() > deadline:
            break
        try:
            worked += run_one(number, folder, family)
        except BaseException as error:
            report.write_text(shortened(error))
            os._exit(1)
        if done % 50 == 0 and resident() > start + MEMORY:
            report.write_text(f"{resident() - start >> 20} MiB more are resident\n")
            os._exit(1)
    else:
        progress.set(numbers.stop, len(numbers), worked)
    os._exit(0)


def shortened(error: BaseException) -> str:
    """Type and message, and the innermost places in rocdbg; a replay prints the whole traceback."""
    places = [
        f"{Path(frame.filename).relative_to(ROOT)}:{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(ROOT / "rocdbg")
    ]
    return f"{type(error).__name__}: {str(error)[:300]}\n    " + "\n    ".join(places[-4:])


def reason(status: int) -> str:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number == signal.SIGPROF:
            return f"took more than {SECONDS} s"
        return "waited for ever" if number == signal.SIGALRM else f"died of {signal.Signals(number).name}"
    return f"exit status {os.WEXITSTATUS(status)}"


def fuzz(
    first: int, step: int, count: int | None, seconds: float, family: Family = kinds, me: str = "fuzz_files"
) -> int:
    """Run inputs until the count or the time is reached; return how many were bad. ``me``: the command that replays
    them.
    """
    progress = Progress()
    deadline = time.monotonic() + seconds
    started = time.monotonic()
    number, done, bad, worked = first, 0, 0, 0
    with tempfile.TemporaryDirectory(dir=MEMORY_FOLDER) as name:
        folder, report = Path(name) / "files", Path(name) / "report"
        folder.mkdir()
        kinds.fifo(folder)
        family.warm_up(folder)
        while time.monotonic() < deadline and (count is None or done < count):
            share = WORKER_INPUTS if count is None else min(WORKER_INPUTS, count - done)
            numbers = range(number, number + share * step, step)
            progress.set(number, 0, 0)
            report.unlink(missing_ok=True)
            child = os.fork()
            if child == 0:
                if not getattr(family, "RESERVES", False):
                    limit()
                work(numbers, deadline, folder, progress, report, family)
            try:
                _, status = os.waitpid(child, 0)
            except KeyboardInterrupt:  # the figures so far are worth having
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                deadline = status = 0
            number, finished, some = progress.get()
            done, worked = done + finished, worked + some
            if status != 0:
                bad += 1
                done += 1
                kind = family.NAMES[number % len(family.NAMES)]
                text = report.read_text() if report.exists() else reason(status)
                print(f"{kind} {number}: {text.strip()}", flush=True)
                print(f"  replay: benchmarks/{me}.py --replay {number}", flush=True)
                number += step
    elapsed = time.monotonic() - started
    print(f"{done} inputs from {first} on in {elapsed:.0f} s, {worked} steps worked, {bad} bad", flush=True)
    return bad


def replay(number: int, keep: Path | None, family: Family = kinds) -> int:
    """Run one input in this process, with a traceback of any exception; its files are kept if requested."""
    kind, attack = family.attack_of(number)
    sizes = ", ".join(f"{name} ({len(data)} bytes)" for name, data in attack.files.items())
    print(f"{number} is of kind {kind}: {sizes}")
    with tempfile.TemporaryDirectory() as name:
        folder = keep or Path(name)
        folder.mkdir(exist_ok=True)
        kinds.fifo(folder)
        faulthandler.enable()
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        os.chdir(folder)
        before = time.process_time()
        worked = family.survive(attack, folder)
        faulthandler.cancel_dump_traceback_later()
        if keep:
            (folder / "commands").write_text("\n".join(attack.commands) + "\n")
        else:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"survived: {worked} steps worked, {time.process_time() - before:.2f} s, {peak} MiB")
    return 0 if peak << 20 < MEMORY else 1


def main(family: Family = kinds, me: str = "fuzz_files", about: str = __doc__) -> int:
    """The command line of a family."""
    parser = argparse.ArgumentParser(description=about.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=None)
    parser.add_argument("--count", type=int, default=None, help="number of inputs")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kind", choices=family.NAMES, help="inputs of this kind only")
    parser.add_argument("--replay", type=int, metavar="NUMBER")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="with --replay: leave the files there")
    options = parser.parse_args()
    if options.replay is not None:
        return replay(options.replay, options.keep and options.keep.absolute(), family)
    seconds = options.seconds if options.seconds is not None else 60 if options.count is None else float("inf")
    first, step = options.first, 1
    if options.kind:
        step = len(family.NAMES)
        first += (family.NAMES.index(options.kind) - first) % step
    return 1 if fuzz(first, step, options.count, seconds, family, me) else 0


if __name__ == "__main__":
    raise SystemExit(main())
