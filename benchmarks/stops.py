"""The cost of stops that are not reported (conditions, watchpoints, dprintf, in large numbers), and of a step.

    python benchmarks/stops.py [--most 10000]

All figures are processor time. The kernel stores a word in each iteration of a loop. It runs without stops; with a
watchpoint on another page than the one it stores to, and on the same; with a watchpoint whose condition never holds,
and with a breakpoint that ignores its hits, forwards and back; and with 10, 100, ... breakpoints and watchpoints with
conditions that never hold (nearly all of this time is the first iteration, where the conditions are compiled).
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
from rocdbg.debugger.breakpoints.dynamic_printf import DynamicPrintf

DEMOS = Path(__file__).resolve().parent.parent / "demo_kernels"
KERNEL = """
extern "C" __attribute__((global)) void spin(volatile int *out, int n)
{
    for (int i = 0; i < n; ++i)
        out[0] = i;
}
"""
WORDS = 1 << 16
"""The words in the buffer: 64 pages of 4 KiB."""
LINE = "spin.hip:5"


def build(folder: Path) -> Path:
    source, output = folder / "spin.hip", folder / "spin.co"
    source.write_text(KERNEL)
    subprocess.run(
        ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx90a", "-g",
         "-O2", "--no-gpu-bundle-output", source.name, "-o", str(output)], cwd=folder, check=True,
    )
    return output


def made(path: Path, count: int) -> tuple[Session, int]:
    """A session at the beginning of ``count`` iterations, and the address of the buffer."""
    session = Session()
    session.load(path)
    session.launch.set_grid("64")
    session.launch.set_workgroup("64")
    session.launch.set_argument(0, f"i32[{WORDS}]:zeros")
    session.launch.set_argument(1, str(count))
    session.start_at_entry()
    assert session.launch.bound is not None
    return session, session.launch.bound.buffers[0].allocation.address


def timed(action: Callable[[], object]) -> float:
    began = time.process_time()
    action()
    return time.process_time() - began


def word(address: int, index: int) -> str:
    return f"*(int *) {address + 4 * index:#x}"


def pages(path: Path) -> None:
    """Stores to pages other than the watched one, and to the watched one."""
    count = 4_000_000
    plain, others, same = [], [], []
    for _ in range(3):
        session, address = made(path, count)
        plain.append(timed(session.running.proceed))
        session, address = made(path, count)
        session.watch(word(address, WORDS // 2))
        others.append(timed(session.running.proceed))
        session, address = made(path, count)
        session.watch(word(address, 64))
        same.append(timed(session.running.proceed))
    print(f"stores, M/s: {count / min(plain) / 1e6:.0f}, another page watched {count / min(others) / 1e6:.0f}, "
          f"another word of the page {count / min(same) / 1e6:.0f}")


def watched(path: Path, count: int) -> None:
    """Each iteration changes the watched value, and the condition never holds."""
    session, address = made(path, count)
    session.watch(word(address, 0)).condition = "1 == 0"
    forwards = timed(session.running.proceed)
    session.time.go_to(session.time.need().bounds[1] - 1)
    back = timed(session.time.proceed)
    print(f"{count} changes of a watched word, false condition: {forwards / count * 1e6:.0f} us each forwards, "
          f"{back / count * 1e6:.0f} us back")


def ignored(path: Path, count: int) -> None:
    """All hits except the first are ignored, forwards and backwards."""
    session, _ = made(path, count)
    one = session.break_at(LINE)
    one.ignore_count = 1 << 40
    forwards = timed(session.running.proceed)
    one.ignore_count = count - 1
    back = timed(session.time.proceed)
    print(f"{count} hits ignored: {forwards:.2f} s forwards, {back:.2f} s back")


def many(path: Path, count: int) -> None:
    """Breakpoints at a line of the loop, then watchpoints on words of the page; none of them ever stops."""
    passes = 1000 if count <= 1000 else 20
    session, address = made(path, passes)

    def breaks() -> None:
        for index in range(count):
            session.break_at(LINE, condition=f"i == -{index + 1}")

    making = timed(breaks)
    running = timed(session.running.proceed)
    session, address = made(path, passes)

    def watches() -> None:
        for index in range(count):
            session.watch(word(address, 1 + index)).condition = "1 == 0"

    watching = timed(watches)
    watched = timed(session.running.proceed)
    print(f"{count:6} breakpoints: made in {making:6.2f} s, {passes} passes in {running:6.2f} s;  watchpoints: made in "
          f"{watching:6.2f} s, {passes} passes in {watched:6.2f} s", flush=True)


def steps() -> None:
    for launch, line in (("reduce/reduce.toml", "reduce"), ("mandelbrot/mandelbrot.toml", "mandelbrot")):
        session = Session()
        session.load(DEMOS / launch)
        session.break_at(line)
        session.run()
        times = list[float]()
        while len(times) < 120:
            times.append(timed(session.running.step))
            if session.focus.current.thread is None:  # the wave has ended
                session.run()
        print(f"step in {launch}: median {statistics.median(times) * 1e3:.2f} ms, longest {max(times) * 1e3:.1f} ms")


def printing() -> None:
    session = Session()
    session.load(DEMOS / "saxpy" / "saxpy.toml")
    session.launch.set_grid("65536")
    for index, text in ((1, "f32[65536]:arange"), (2, "f32[65536]:ones"), (3, "65536")):
        session.launch.set_argument(index, text)
    one = session.break_at("saxpy.hip:9", form=DynamicPrintf)
    assert isinstance(one, DynamicPrintf)
    one.format, one.arguments = '"%d %d\\n", i, n', ("i", "n")
    lines = 0

    def show(made: object, thread: int, lanes: object, columns: object) -> None:
        nonlocal lines
        lines += len(lanes)  # type: ignore[arg-type]

    session.running.watch_inside(show)
    seconds = timed(session.run)
    print(f"dprintf, collected: {lines:,} lines, {60 * lines / seconds / 1e6:.1f} M lines/min")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=10_000)
    options = parser.parse_args()
    steps()
    printing()
    with tempfile.TemporaryDirectory() as folder:
        path = build(Path(folder))
        pages(path)
        for count in (10, 100, 1000):
            watched(path, count)
        ignored(path, 100_000)
        count = 10
        while count <= options.most:
            many(path, count)
            count *= 10


if __name__ == "__main__":
    main()
