"""What evaluating a breakpoint's condition costs: Python calls for each lane, and lanes in a second.

    python benchmarks/conditions.py

On saxpy, -O0 (locals in private memory) and -O2 (in registers), all lanes of a wave at a line in its middle.
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


def calls(session: Session, condition: str, thread: int, lanes: int) -> int:
    """Calls of Python functions that one evaluation for all lanes makes."""
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


def main() -> None:
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
