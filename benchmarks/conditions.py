"""The cost of evaluating a breakpoint's condition: Python calls for each lane, and lanes per second.

    python benchmarks/conditions.py

The evaluator runs on saxpy, -O0 (locals in private memory) and -O2 (in registers), all lanes of a wave at a line in its
middle. The target evaluates in the loop of mandelbrot, with and without a condition that is never true.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path
from types import FrameType

from rocdbg.debugger import Session

SAXPY = Path(__file__).resolve().parent.parent / "demo_kernels" / "saxpy"
CASES = [
    ("saxpy.toml", "i > 5000"),
    ("saxpy.toml", "i == 7 && a > 1"),
    ("saxpy.toml", "x[i] > 5000"),
    ("saxpy.toml", "$_lane == 3"),
    ("saxpy.toml", "threadIdx.x == 3"),
    ("saxpy.O2.toml", "i > 5000"),
]

LOOPS = [
    ("mandelbrot.toml", "mandelbrot.cl:18", "count > 5000"),
    ("mandelbrot.toml", "mandelbrot.cl:18", "zr != zr"),
    ("mandelbrot.O2.toml", "mandelbrot.cl:13", "count > 5000"),
]


def calls(session: Session, condition: str, thread: int, lanes: int) -> int:
    """The number of calls of Python functions in one evaluation for all lanes."""
    count = 0

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    session.inferior.state_changed()
    sys.setprofile(profile)
    try:
        session.data.lanes_where(condition, thread, lanes)
    finally:
        sys.setprofile(None)
    return count


def loop(launch: str, line: str, condition: str | None, ignore: int = 0) -> tuple[float, int]:
    """Seconds of a run over 512 x 512 points, and how often waves reached a line that does not stop them."""
    session = Session()
    session.load(SAXPY.parent / "mandelbrot" / launch)
    session.launch.set_grid("512 512 1")
    for index, text in enumerate(("i32[262144]:zeros", "512", "512", "300")):
        session.launch.set_argument(index, text)
    hits = 0
    made = session.break_at(line, condition=condition) if condition is not None or ignore else None
    if made is not None:
        made.ignore_count = ignore
    begin = time.perf_counter()
    session.run()
    seconds = time.perf_counter() - begin
    if made is not None:
        hits = made.hit_count
    return seconds, hits


def main() -> None:
    for launch, line, condition in LOOPS:
        loop(launch, line, condition)  # translates
        plain = min(loop(launch, line, None)[0] for _ in range(3))
        seconds = min(loop(launch, line, condition)[0] for _ in range(3))
        waves = loop(launch, line, None, 1 << 40)[1]
        print(
            f"{launch:18} {line} if {condition:14} {plain:5.2f} s without, {seconds:5.2f} s with {waves:,} arrivals "
            f"of 64 lanes: {64 * waves / seconds / 1e6:6.1f} M lanes/s, the loop included"
        )
    for launch, condition in CASES:
        session = Session()
        session.load(SAXPY / launch)
        session.break_at("saxpy.hip:9")
        session.run()
        thread = session.focus.current.thread or 0
        lanes = session.inferior.active_lanes(thread)
        session.data.lanes_where(condition, thread, lanes)
        made = calls(session, condition, thread, lanes) / lanes.bit_count()
        times = []
        for _ in range(30):
            session.inferior.state_changed()
            begin = time.process_time()
            session.data.lanes_where(condition, thread, lanes)
            times.append(time.process_time() - begin)
        rate = lanes.bit_count() / statistics.median(times)
        print(f"{launch:14} {condition:18} {made:6.1f} calls a lane, {rate:8.0f} lanes/s")


if __name__ == "__main__":
    main()
