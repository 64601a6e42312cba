"""The cost of collecting: values that a tracepoint in a loop collects per second, and the speed of making arrays of
them.

    python benchmarks/tracing.py
"""

from __future__ import annotations

import time
from pathlib import Path

from rocdbg.debugger import Session
from rocdbg.debugger.breakpoints.tracepoints.trace_experiments import TraceOptions
from rocdbg.debugger.breakpoints.tracepoints.tracepoint_table import Tracepoint

DEMOS = Path(__file__).resolve().parent.parent / "demo_kernels"
CASES = [
    ("mandelbrot/mandelbrot.toml", "mandelbrot.cl:18", ["collect count, zr, zi"], None),
    ("mandelbrot/mandelbrot.O2.toml", "mandelbrot.cl:13", ["collect count"], None),
    ("mandelbrot/mandelbrot.toml", "mandelbrot.cl:18", ["collect count, zr, zi"], "$_lane == 5"),
    ("saxpy/saxpy.toml", "saxpy.hip:9", ["collect $args, $locals, x[i]"], None),
]


def run(launch: str, line: str, actions: list[str], condition: str | None) -> tuple[float, float, int, int]:
    """Seconds of the run and of making the array, its rows, and values in a row."""
    session = Session()
    session.load(DEMOS / launch)
    if "mandelbrot" in launch:
        session.launch.set_grid("256 64 1")
        for index, text in enumerate(("i32[16384]:zeros", "256", "64", "100")):
            session.launch.set_argument(index, text)
    else:
        session.launch.set_grid("262144")
        for index, text in ((1, "f32[262144]:arange"), (2, "f32[262144]:ones"), (3, "262144")):
            session.launch.set_argument(index, text)
    made = session.break_at(line, condition=condition, form=Tracepoint)
    assert isinstance(made, Tracepoint)
    made.set_actions(actions)
    tracing = session.tracing
    tracing.start(TraceOptions())
    begin = time.perf_counter()
    session.run()
    seconds = time.perf_counter() - begin
    begin = time.perf_counter()
    array = tracing.buffer.array(made.number)
    return seconds, time.perf_counter() - begin, len(array), len(array.dtype.names or ()) - 3


def main() -> None:
    for case in CASES:
        run(*case)  # translates
        seconds, arrays, rows, values = min((run(*case) for _ in range(3)), key=lambda one: one[0])
        launch, line, actions, condition = case
        print(
            f"{launch:30} {line} {actions[0]}{f' if {condition}' if condition else ''}: {rows * values:,} values, "
            f"{rows * values / seconds / 1e6:.1f} M values/s; as an array {rows * values / arrays / 1e6:.1f} M values/s"
        )


if __name__ == "__main__":
    main()
