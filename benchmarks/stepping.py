"""The cost of steps in processor time, compared with `continue` over the same instructions.

    python benchmarks/stepping.py [--rounds 100000] [--level O0]

Each row is a command, the number of resumes of the target, the seconds, and the ratio to the time for the same
instructions without a stop; "decided anew" is the same command without plans, in loops a thousandth as long. The first
iteration, which translates, does not count.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rocdbg.debugger import Session
from rocdbg.debugger.running.runner import Runner
from rocdbg.debugger.target.capabilities.runnable import Resume, TargetStop

SOURCE = Path(__file__).resolve().parent.parent / "tests" / "debugger" / "sources" / "waits.hip"
TURNS = 3
Action = Callable[[Session], object]
SCENES: list[tuple[str, int, int, Action]] = [
    ("next, where a lane waits for a loop", 16, 1, lambda s: s.running.next()),
    ("next over a loop in one line", 22, 5, lambda s: s.running.next()),
    ("next over calls at different depths", 23, 0, lambda s: s.running.next()),
    ("advance behind a loop", 22, 5, lambda s: s.running.advance("23")),
    ("until behind a loop", 22, 5, lambda s: s.running.until("23")),
    ("stepi 20000", 22, 5, lambda s: s.running.stepi(20_000)),
    ("nexti 20000", 22, 5, lambda s: s.running.nexti(20_000)),
    ("nexti 20000 over calls", 23, 0, lambda s: s.running.nexti(20_000)),
    ("reverse-stepi 20000", 23, 5, lambda s: s.time.stepi(20_000)),
    ("reverse-next over a call", 24, 5, lambda s: s.time.next()),
    ("step", 21, 5, lambda s: s.running.step()),
]


def build(folder: Path, level: str) -> Path:
    output = folder / "waits.co"
    subprocess.run(
        ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx90a", "-g",
         f"-{level}", "--no-gpu-bundle-output", str(SOURCE), "-o", str(output)], check=True,
    )
    return output


def stopped_at(path: Path, line: int, lane: int, rounds: int, crowded: bool) -> Session:
    """A session where a wave has reached a line. ``crowded``: with ten conditional breakpoints and two watchpoints."""
    session = Session()
    session.load(path)
    session.launch.set_grid("64")
    session.launch.set_workgroup("64")
    session.launch.set_argument(0, "i32[64]:arange")
    session.launch.set_argument(1, str(rounds))
    made = session.break_at(str(line))
    session.run()
    session.breakpoints.delete(made.number)
    if crowded:
        assert session.launch.bound is not None
        address = session.launch.bound.buffers[0].allocation.address
        for number in range(10):
            session.break_at(str((17, 22, 26)[number % 3]), condition=f"s == {-100 - number}")
        for number in range(2):
            session.watch(f"*(int *) {address + 4 * (60 + number):#x}", condition="0 == 1")
    session.focus.select_lane(lane)
    return session


def measured(path: Path, line: int, lane: int, rounds: int, action: Action, plans: bool, crowded: bool = False
             ) -> tuple[float, int, int]:
    """Median seconds, the number of resumes of the target, and instructions."""
    seconds, count, instructions, resume = list[float](), 0, 0, Runner.resume
    for turn in range(TURNS + 1):
        session = stopped_at(path, line, lane, rounds, crowded)
        session.running.runner.parts.state.plans = plans
        requests: list[Resume] = []

        def counted(
            runner: Runner, request: Resume, follows: int | None = None, requests: list[Resume] = requests
        ) -> TargetStop:
            requests.append(request)
            return resume(runner, request, follows)

        Runner.resume = counted  # type: ignore[method-assign]
        before, began = session.time.position, time.process_time()
        try:
            action(session)
        finally:
            Runner.resume = resume  # type: ignore[method-assign]
        if turn:
            seconds.append(time.process_time() - began)
        count = len(requests)
        instructions = abs(session.time.position - before)
    return statistics.median(seconds), count, instructions


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=100_000)
    parser.add_argument("--level", default="O0")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = build(Path(folder), options.level)
        run, _, whole = measured(path, 16, 0, options.rounds, lambda s: s.running.proceed(), True)
        print(f"continue: {run:.3f} s for {whole:,} instructions, {whole / run / 1e6:.1f} M/s")
        for name, line, lane, action in SCENES:
            seconds, count, instructions = measured(path, line, lane, options.rounds, action, True)
            crowd = measured(path, line, lane, options.rounds, action, True, crowded=True)[0]
            rounds = max(1, options.rounds // 1000)
            old, before, _ = measured(path, line, lane, rounds, action, False)
            print(
                f"{name:38} {seconds:7.3f} s, {count:4} resumes, {instructions:10,} instructions"
                f" ({seconds / max(instructions / whole * run, 1e-9):8.1f} x continue); with ten breakpoints and two"
                f" watchpoints {crowd:7.3f} s; decided anew, {rounds} rounds: {old:7.3f} s, {before} resumes"
            )


if __name__ == "__main__":
    main()
