"""The cost of the analysis of machine code, and how it grows with a kernel.

    python benchmarks/analysis_cost.py [--sizes 1000,10000] [--targets gfx90a,gfx1100] [--shapes branches,nests,...]

Kernels of a shape are generated and compiled with clang (100,000 instructions take up to a minute; 30,000 instructions
of the shape "variables" take two). Prints processor time in milliseconds: positions of lanes, computed and from the
cache; the state of registers for unwinding; following the variables of a kernel; `maint dwarf coverage`. Then, in a
session that has stopped while lanes wait: `info lanes`, `bt` and `info locals`, each for the first time and again after
the state has changed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

HEAD = """
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __noinline__ __attribute__((noinline))
"""
KERNEL = """
extern "C" __global__ void big(int *out, const int *in, int count)
{
    const int gid = __builtin_amdgcn_workitem_id_x();
    int x = in[gid];
"""
END = "    out[gid] = x;\n}\n"


def branches(count: int) -> str:
    """Small ifs, one after the other."""
    return "".join(
        f"    if (x & {1 + k % 61}) {{ out[x & 63] = x + {k}; x = in[x & 63] * {k + 3}; }}\n" for k in range(count)
    )


def nests(count: int) -> str:
    """Nests of 40 ifs."""
    lines = []
    for k in range(count):
        lines += [f"if (in[x + {d} & 63] > {k + d}) {{ out[x & 63] = {d};" for d in range(40)]
        lines.append(f"x += {k};")
        lines += [f"}} else {{ x ^= {d + k}; out[x & 31] = x; }}" if d % 3 == 0 else "}" for d in range(40)]
    return "\n".join(lines) + "\n"


def loops(count: int) -> str:
    """Two nested loops, which lanes leave early."""
    return "".join(
        f"    for (int i = 0; i < (x & 7); ++i) {{\n        out[i] = x;\n"
        f"        for (int j = i; j < (x & 15); ++j) {{\n            if (in[j] == {k}) break;\n"
        "            x += in[j + x & 63];\n        }\n    }\n" for k in range(count)
    )


def straight(count: int) -> str:
    """One block."""
    return "".join(f"    x = (x ^ in[x & 63]) * {2 * k + 3};\n" for k in range(count))


def calls(count: int) -> str:
    """Calls of 16 functions, every third in a branch."""
    return "".join(
        f"    {'if (x & 5) ' if k % 3 == 0 else ''}x = help{k % 16}(x, in[{k} & 63], out);\n" for k in range(count)
    )


def variables(count: int) -> str:
    """Variables that never change, with half of the code in branches."""
    lines = []
    for k in range(count):
        lines.append(f"const int a{k} = in[x + {k} & 63]; const int b{k} = a{k} * {k + 3} + gid;")
        lines.append(f"int c{k} = b{k} ^ count;")
        lines.append(
            f"if (c{k} & {k % 29 + 1}) {{ const int d{k} = c{k} - a{k}; out[d{k} & 63] = b{k}; x += d{k}; }}"
            if k % 2 else f"out[c{k} & 63] = x; x ^= b{k};"
        )
    return "\n".join(lines) + "\n"


HELPERS = "".join(
    f"__device__ __noinline__ int help{k}(int a, int b, int *o)"
    f" {{ if (a > b) {{ o[b & 63] = a; return a * {k} + b; }} return b ^ a + {k}; }}\n" for k in range(16)
)
SHAPES: dict[str, tuple[Callable[[int], str], str, float]] = {
    "branches": (branches, "O1", 13),
    "branches -O0": (branches, "O0", 80),
    "nests": (nests, "O1", 560),
    "nests -O0": (nests, "O0", 3500),
    "loops": (loops, "O1", 60),
    "loops -O0": (loops, "O0", 450),
    "straight": (straight, "O1", 7),
    "calls -O0": (calls, "O0", 70),
    "variables": (variables, "O2", 15),
}
"""The function that makes the shape, clang's optimisation level, and about how many instructions one more element adds.
"""


def build(shape: str, size: int, target: str, folder: Path) -> Path:
    """A code object with a kernel of about ``size`` instructions."""
    make, level, each = SHAPES[shape]
    source = folder / f"{shape.split()[0]}.{size}.{level}.hip"
    source.write_text(HEAD + (HELPERS if make is calls else "") + KERNEL + make(max(1, round(size / each))) + END)
    output = source.with_suffix(f".{target}.co")
    subprocess.run(
        ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", f"--offload-arch={target}",
         "--no-gpu-bundle-output", "-g", f"-{level}", source.name, "-o", str(output)], check=True, cwd=folder,
    )
    return output


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Milliseconds of processor time, and the result."""
    began = time.process_time()
    result = function()
    return 1000 * (time.process_time() - began), result


def of_the_code(path: Path, shape: str, size: int, target: str) -> None:
    """Print what a kernel costs before anything runs."""
    from rocdbg.debugger import Session
    from rocdbg.debugger.frames.machine_code import MachineCode
    from rocdbg.debugger.frames.recovered_values import Recovery
    from rocdbg.debugger.program.functions_with_code import Routine
    from rocdbg.debugger.program.source_text.constant_variables import ConstantVariables
    from rocdbg.debugger.reports.variable_coverage import coverage_rows

    session = Session()
    session.load(path)
    program = session.inferior.need_program()
    function = program.info.functions_named("big")[0]
    low, wave_size = function.low_pc, program.wave_size
    assert low is not None
    anew, _ = timed(lambda: MachineCode(program).lane_pc(low, wave_size))
    cached, reason = timed(lambda: MachineCode(program).reason(low, wave_size))
    code = session.inferior.machine_code(program)
    unwinding, analysis = timed(lambda: code.rows(wave_size).analysis(low))
    recovery = Recovery(lambda of, size: code.rows(size), ConstantVariables(session.sources))
    following, followed = timed(lambda: recovery.followed(program, Routine(function), wave_size))
    coverage, _ = timed(lambda: coverage_rows(session.inferior, recovery, session.focus, "big"))
    count = sum(len(block.instructions) for block in analysis.blocks.values())
    print(
        f"{shape:13} {target:8} {count:7} {len(analysis.blocks):6} {anew:8.0f} {cached:7.0f} {unwinding:9.0f} "
        f"{following:10.0f} {coverage:9.0f} {len(followed.numbers):5}  {reason}", flush=True,
    )


def of_the_session(path: Path, shape: str) -> None:
    """Print what commands cost while most lanes wait."""
    import rocdbg

    debugger = rocdbg.Debugger(str(path))
    session = debugger.session
    session.launch.set_kernel("big")
    session.launch.set_grid("64")
    session.launch.set_workgroup("64")
    for index, text in enumerate(("i32[4096]:zeros", "i32[4096]:arange", "3")):
        session.launch.set_argument(index, text)
    debugger.execute("start", to_string=True)
    for number in range(60):
        wave = session.inferior.wave(1)
        if (wave.exec_mask & wave.used_lanes).bit_count() < 48:
            break
        debugger.execute("next" if number % 4 == 0 else "stepi 3", to_string=True)
    waiting = 64 - (wave.exec_mask & wave.used_lanes).bit_count()
    shown = []
    for command in ("info lanes", "bt", "info locals"):
        taken = []
        for _ in range(5):
            session.inferior.state_changed()
            taken.append(timed(lambda: debugger.execute(command, to_string=True))[0])  # noqa: B023
        shown.append(f"{command} {taken[0]:.0f}, then {sorted(taken[1:])[1]:.1f}")
    print(f"{shape:13} {waiting} of 64 lanes wait: {'; '.join(shown)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", default="1000,10000")
    parser.add_argument("--targets", default="gfx90a")
    parser.add_argument("--shapes", default=",".join(SHAPES))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        os.environ["ROCDBG_CACHE_DIR"] = str(Path(name) / "cache")
        print("shape         target   instrs. blocks    lanes  cached unwinding  variables  coverage followed")
        for shape in options.shapes.split(","):
            paths = []
            for target in options.targets.split(","):
                for size in map(int, options.sizes.split(",")):
                    paths.append(build(shape, size, target, Path(name)))
                    of_the_code(paths[-1], shape, size, target)
            of_the_session(paths[-1], shape)


if __name__ == "__main__":
    main()
