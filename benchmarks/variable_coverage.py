"""The share of pairs of a variable and an instruction in its scope that have a value, at -O2.

    python benchmarks/variable_coverage.py [--targets gfx90a,gfx1100] [--level O2] [--functions]

For the demo kernels and those of tests/e2e, tests/lanes and tests/recovery: pairs that the compiler describes, pairs
recovered from machine code, text and arguments, and pairs without a value. `maint dwarf coverage` counts the same.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
FOLDERS = ("tests/e2e/sources", "tests/lanes/sources", "tests/recovery/sources")
OPTIONS = {
    "hidden.hip": ["-DTILE=16", "-DREFERENCE=int&", "-grecord-command-line"],
    "opencl.cl": ["-Dbump(value)=((value) += 2)", "-grecord-command-line"],
}


def compiled(source: Path, target: str, level: str, folder: Path) -> Path | None:
    """The code object of a source; None if the source does not compile for the target."""
    output = folder / f"{source.stem}.{target}.co"
    if source.suffix == ".hip":
        language = ["-x", "hip", "--offload-device-only", "-nogpuinc", f"--offload-arch={target}",
                    "--no-gpu-bundle-output"]
    else:
        language = ["-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}"]
    options = [*language, "-nogpulib", "-w", "-g", f"-{level}", *OPTIONS.get(source.name, ())]
    done = subprocess.run(["clang-22", *options, source.name, "-o", str(output)], cwd=source.parent, check=False)
    return output if done.returncode == 0 else None


def count(path: Path, functions: bool) -> tuple[int, int, int]:
    """Pairs that the compiler describes, pairs that are recovered, and all pairs."""
    from rocdbg.debugger import Session
    from rocdbg.debugger.reports.variable_coverage import coverage_rows

    session = Session()
    session.load(path)
    rows = coverage_rows(session.inferior, session.data.recovery, session.focus, "")
    if functions:
        for row in rows:
            print(f"    {row.function:30} {row.name:20} {row.told:6} {row.recovered:6} {row.total:6}")
    return sum(row.told for row in rows), sum(row.recovered for row in rows), sum(row.total for row in rows)


def show(name: str, told: int, recovered: int, total: int) -> None:
    if total:
        print(
            f"{name:32} {total:8} {100 * told / total:7.1f}% {100 * recovered / total:7.1f}% "
            f"{100 * (total - told - recovered) / total:7.1f}%", flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--targets", default="gfx90a,gfx942,gfx1030,gfx1100")
    parser.add_argument("--level", default="O2")
    parser.add_argument("--functions", action="store_true")
    options = parser.parse_args()
    print("code object                         pairs compiler recovered    none")
    all_of_them = [0, 0, 0]
    with tempfile.TemporaryDirectory() as name:
        for target in options.targets.split(","):
            paths = sorted((ROOT / "demo_kernels").glob(f"*/*.{options.level}.{target}*.co"))
            for folder in FOLDERS:
                for source in sorted([*(ROOT / folder).glob("*.hip"), *(ROOT / folder).glob("*.cl")]):
                    path = compiled(source, target, options.level, Path(name))
                    paths += [path] if path is not None else []
            for path in paths:
                counts = count(path, options.functions)
                show(path.name, *counts)
                all_of_them = [one + other for one, other in zip(all_of_them, counts, strict=True)]
    told, recovered, total = all_of_them
    show("all", told, recovered, total)
    if told:
        print(f"with recovery {(told + recovered) / told:.2f} times as many pairs have a value")


if __name__ == "__main__":
    main()
