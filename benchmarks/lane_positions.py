"""The share of right positions of inactive lanes among those derived from machine code, and the time for deriving them.

    python benchmarks/lane_positions.py [--targets gfx90a,gfx1100] [--levels O0,O1,O2] [--samples 200] [LAUNCH ...]

Waves are stepped through the demo kernels and those of tests/lanes/sources, or through the kernels of the given launch
files; if Triton is installed, also through its kernels in benchmarks/triton_kernels.py and tests/triton/kernels.py
(Triton does not support gfx1030). At samples of their stops, the frame and line of every inactive lane are compared
with the place where the lane later continues. Prints one line per kernel and target, then the wrong positions, and the
places with most unknown ones. The last parts have backtraces at samples of the same steps, with the registers of
callers, and the times of `info lanes`.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import rocdbg
from rocdbg.codeobject import CodeObjectError

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.lanes.backtraces import Chains, check_chains  # noqa: E402
from tests.lanes.build import SOURCES, build  # noqa: E402
from tests.lanes.oracle import Score, check_launch, check_session  # noqa: E402

NOT_TRITONS = ("gfx1030",)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--targets", default="gfx90a,gfx942,gfx1030,gfx1100,gfx1201")
    parser.add_argument("--levels", default="O0,O1,O2")
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("launches", nargs="*", type=Path)
    options = parser.parse_args()
    total = Score()
    with tempfile.TemporaryDirectory() as folder:
        for target in options.targets.split(","):
            for launch in options.launches or sorted((ROOT / "demo_kernels").glob("*/*.toml")):
                report(total, launch, target, f"{target} {launch.stem}", options.samples)
            if options.launches:
                continue
            for level in options.levels.split(","):
                launches: dict[str, Path] = {}
                for source in sorted(SOURCES.glob("*.hip")):
                    launches |= build(source, target, level, Path(folder))
                for name, launch in launches.items():
                    report(total, launch, None, f"{target} {name} -{level}", options.samples)
                chains = Chains()
                for name in ("calls_in_branches", "pointers", "dynamic_stack", "frames"):
                    chains.add(check_chains(launches[name], samples=options.samples))
                print(f"{f'{target} backtraces -{level}':40} {chains}")
            if importlib.util.find_spec("triton") is not None and target not in NOT_TRITONS:
                os.environ |= {"TRITON_CACHE_DIR": folder, "TRITON_DEFAULT_FP_FUSION": "1"}
                for name, debugger in triton_sessions(target):
                    score = check_session(debugger, samples=options.samples, waves=2, most=30_000)
                    tell(total, score, f"{target} {name} Triton")
        print(f"{'all':40} {total}")
        times(Path(folder))


def report(total: Score, launch: Path, target: str | None, name: str, samples: int) -> None:
    try:
        score = check_launch(launch, target, samples=samples)
    except CodeObjectError:
        return  # not built for this target
    tell(total, score, name)


def tell(total: Score, score: Score, name: str) -> None:
    if not score.total:
        return
    total.add(score)
    print(f"{name:40} {score}", flush=True)
    for example in score.examples[:3]:
        print(f"    wrong: {example}")
    for place, count in score.unknowns.most_common(3):
        print(f"    unknown {count} times: {place}")


def triton_sessions(target: str) -> Iterator[tuple[str, rocdbg.Debugger]]:
    """Sessions in which kernels of Triton have just begun, including those without waiting lanes."""
    import rocdbg.triton

    own = module("triton_kernels", ROOT / "benchmarks" / "triton_kernels.py")
    tested = module("triton_tested", ROOT / "tests" / "triton" / "kernels.py")
    numbers = np.array([(7 * n * n + 13 * n + 5) % 61 for n in range(300)], np.int32)
    floats = np.linspace(-2, 2, 3200, dtype=np.float32)
    half = floats[:1280].astype(np.float16).reshape(40, 32)
    launches: list[tuple[str, Any, tuple[Any, ...], dict[str, int]]] = [
        ("histogram", own.histogram[(2,)], (numbers, np.zeros(16, np.int32), 250), {"BLOCK": 128}),
        ("swap_once", own.swap_once[(2,)], (numbers, np.zeros(32, np.int32), numbers * 0, 250), {"BLOCK": 128}),
        ("chase", own.chase[(2,)], (numbers, numbers * 0, 250), {"BLOCK": 128, "STEPS": 4}),
        ("add", tested.add[(2,)], (floats, floats, floats * 0, 200), {"BLOCK": 256}),
        ("softmax", tested.softmax[(3,)], (floats * 0, floats, 100, 70, 2.0), {"BLOCK": 128}),
        ("matmul", tested.matmul[(2, 2)],
         (half, half.reshape(32, 40).copy(), np.zeros((40, 40), np.float32), 40, 40, 32, 32, 40, 40),
         {"BM": 32, "BN": 32, "BK": 32}),
    ]
    rocdbg.triton.activate(target)
    for name, launch, arguments, constants in launches:
        debugger = rocdbg.triton.debug(launch, *arguments, **constants)
        debugger.execute("start", to_string=True)
        yield name, debugger


def module(name: str, path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def times(folder: Path) -> None:
    for level in ("O0", "O2"):
        launch = build(SOURCES / "lanes.hip", "gfx90a", level, folder)["pressure"]
        debugger = rocdbg.Debugger(str(launch))
        debugger.execute("start", to_string=True)
        for line in ("next",) * 12:
            debugger.execute(line, to_string=True)
        shown = []
        for _ in range(3):
            debugger.session.inferior.state_changed()
            began = time.perf_counter()
            debugger.execute("info lanes", to_string=True)
            shown.append(time.perf_counter() - began)
        size = debugger.session.inferior.need_program().code_object.symbols.get("pressure")
        assert size is not None
        print(f"-{level}: info lanes {shown[0] * 1e3:.0f} ms, then {shown[-1] * 1e3:.1f} ms; {size.size} bytes of code")


if __name__ == "__main__":
    main()
