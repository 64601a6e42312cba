#!/usr/bin/env python3
"""Random and mutated machine code, run straight, in single steps and optimised, compared bit for bit.

    benchmarks/fuzz_kernels.py [--seconds N | --count N] [--first NUMBER] [--target NAME] [--processes N]
    benchmarks/fuzz_kernels.py --replay NUMBER

Each program is made from its number alone (`random_kernels`). A program is bad if the three runs differ, or if there is
an internal error, an exception, the end of the process, a time over 5 s, or memory over 1 GiB. The exit status is 1 if
any program was bad.
"""

from __future__ import annotations

import argparse
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]

from random_kernels import BATCH, VARIANTS, Rig, make_code, mode_of, run_program  # noqa: E402

from rocdbg.isa.decoder import DecodeError, decode  # noqa: E402

SECONDS = 5
"""Seconds of processor time for one program."""
PATIENCE = 100
"""The factor by which a busy machine may take longer."""
MEMORY = 1 << 30
BATCHES_PER_WORKER = 60
"""The number of batches after which a worker is replaced, because translations are never freed."""


def variant_of(batch: int) -> tuple[str, int]:
    return VARIANTS[batch % len(VARIANTS)]


# -- in the worker ---------------------------------------------------------------------------------------------------


def limit(seconds: int) -> None:
    """Die after this many seconds of processor time, and after many more of waiting; 0 removes the limit."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, seconds * PATIENCE)


def work(batches: list[int], out: int) -> None:
    """Run batches of one variant. The output: ``+N`` program N begins, ``!N text`` it is bad, ``.`` it is over."""

    def say(text: str) -> None:
        os.write(out, f"{text}\n".encode())

    rig = Rig(*variant_of(batches[0]))
    rig.link_all()
    for engine in (rig.plain, rig.fast):
        engine.jit.cache = None  # programs are not worth keeping
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    for batch in batches:
        numbers = range(batch * BATCH, (batch + 1) * BATCH)
        mode = mode_of(batch)
        say(f"+{numbers[0]} translating")
        limit(SECONDS * 12)
        starts = rig.load(make_code(number, rig.target.name) for number in numbers)
        try:
            rig.translate(starts, mode)
        except Exception:  # what no input may raise is what is looked for
            say(f"!{numbers[0]} translating: {traceback.format_exc().splitlines()[-1]}")
            continue
        for number, start in zip(numbers, starts, strict=True):
            say(f"+{number}")
            limit(SECONDS)
            try:
                bad = run_program(rig, number, start, mode)
            except Exception:  # the same
                bad = traceback.format_exc().splitlines()[-1]
            if bad:
                say(f"!{number} {bad}")
            say(".")
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10 > base + MEMORY:
            say(f"!{numbers[0]} over {MEMORY >> 20} MiB of memory in {BATCHES_PER_WORKER} batches")
    limit(0)


# -- the driver ------------------------------------------------------------------------------------------------------


class Worker:
    """A child, and its output."""

    def __init__(self, batches: list[int]) -> None:
        self.batches = batches
        self.pipe, out = os.pipe()
        self.current, self.rest, self.done = "", b"", 0
        self.bad: list[str] = []
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.pipe)
            status = 1
            try:
                work(batches, out)
                status = 0
            except BaseException:
                traceback.print_exc()
            os._exit(status)
        os.close(out)

    def read(self) -> bool:
        """Read the available input; return False at its end."""
        data = os.read(self.pipe, 1 << 16)
        lines = (self.rest + data).split(b"\n")
        self.rest = lines.pop()
        for line in lines:
            text = line.decode()
            if text == ".":
                self.done += 1
            elif text[0] == "+":
                self.current = text[1:]
            else:
                self.bad.append(text[1:])
        if data:
            return True
        os.close(self.pipe)
        _, status = os.waitpid(self.pid, 0)
        if status:
            what = f"killed by {signal.Signals(status & 127).name}" if status & 127 else "exception"
            self.bad.append(f"{self.current}: {what}")
        return False

    def stop(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.pipe)


def chunks(first: int, count: int | None, target: str | None) -> Iterator[list[int]]:
    """Successive batches for workers, each of one variant."""
    start, end = first // BATCH, None if count is None else -(-(first + count) // BATCH)
    step = len(VARIANTS)
    while end is None or start < end:
        last = start + step * BATCHES_PER_WORKER
        for variant in range(step):
            batches = [b for b in range(start, last if end is None else min(last, end)) if b % step == variant]
            if batches and (target is None or VARIANTS[variant][0] == target):
                yield batches
        start = last


def fuzz(arguments: argparse.Namespace) -> int:
    deadline = time.monotonic() + arguments.seconds if arguments.seconds else None
    waiting = chunks(arguments.first, arguments.count, arguments.target)
    running: list[Worker] = []
    done = bad = 0
    started = time.monotonic()
    over = False
    while True:
        while not over and len(running) < arguments.processes:
            batches = next(waiting, None)
            if batches is None:
                over = True
            else:
                running.append(Worker(batches))
        if not running:
            break
        if deadline is not None and time.monotonic() > deadline:
            for worker in running:
                worker.stop()
                done += worker.done
            break
        ready, _, _ = select.select([w.pipe for w in running], [], [], 1)
        for worker in [w for w in running if w.pipe in ready]:
            alive = worker.read()
            for text in worker.bad:
                bad += 1
                print(text, flush=True)
            worker.bad.clear()
            if not alive:
                running.remove(worker)
                done += worker.done
                if arguments.progress:
                    rate = done / (time.monotonic() - started)
                    print(f"{done} programs, {bad} bad, {rate:.0f}/s", file=sys.stderr, flush=True)
    print(f"{done} programs, {bad} bad, {time.monotonic() - started:.0f} s")
    return 1 if bad else 0


def replay(number: int) -> int:
    """Run one program and print the result."""
    batch = number // BATCH
    rig, mode = Rig(*variant_of(batch)), mode_of(batch)
    code = make_code(number, rig.target.name)
    print(f"program {number}: {rig.target.name}, wave{rig.wave_size}, MODE {mode:#x}")
    at = 0
    while at < len(code):
        try:
            found = decode(code[at : at + 24].ljust(24, b"\0"), rig.target, at, wave_size=rig.wave_size)
        except DecodeError:
            break
        print(f"  {at:#x}: {code[at : at + found.size].hex()} {found.text}")
        at += max(4, found.size)
    # Jumps may lead into the programs next to it: all of the batch must be there.
    starts = rig.load(make_code(other, rig.target.name) for other in range(batch * BATCH, (batch + 1) * BATCH))
    bad = run_program(rig, number, starts[number % BATCH], mode)
    print(f"bad: {bad}" if bad else "good")
    return 1 if bad else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--count", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--target")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--progress", action="store_true")
    parser.add_argument("--replay", type=int)
    arguments = parser.parse_args()
    return replay(arguments.replay) if arguments.replay is not None else fuzz(arguments)


if __name__ == "__main__":
    sys.exit(main())
