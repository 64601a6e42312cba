"""Generates a big code object: thousands of templated HIP kernels with debug information.

    python benchmarks/big_object.py big.co                      # 3,000 kernels for gfx90a, about 18 MB, 63,000 entries
    python benchmarks/big_object.py small.co --kernels 300

Needs clang-22 and ld.lld-22 (packages clang-22, lld-22). Takes a minute or so for 3,000 kernels.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

PRELUDE = """\
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))

template <class T> struct Pair { T first, second; };

template <class T> __device__ T blend(T a, T b) { T c = a * b; return c + a; }
"""

KERNEL = """
template <class T, int N> __global__ void kern{number}(T *out, const T *in, int count)
{{
  int i = __builtin_amdgcn_workitem_id_x();
  Pair<T> pair;
  if (i < count) {{
    T sum = in[i];
    for (int k = 0; k < N; k++) {{
      T part = blend(in[k], sum);
      {{
        T twice = part + part;
        pair.first = twice;
      }}
      sum += pair.first;
    }}
    T result = sum, lowest = sum, highest = sum, mean = sum;
    int used = count;
    out[i] = used ? result + mean : result;
  }}
}}
template __global__ void kern{number}<{type}, {size}>({type} *, const {type} *, int);
"""


def source(kernels: int) -> str:
    """The HIP source of this many kernels, over four element types and sizes 2 to 5."""
    types = ("float", "int", "double", "unsigned")
    parts = [
        KERNEL.format(number=number, type=types[number % 4], size=2 + number % 4) for number in range(kernels)
    ]
    return PRELUDE + "".join(parts)


def build(path: Path, kernels: int = 3000, arch: str = "gfx90a", options: tuple[str, ...] = ("-O0",)) -> None:
    """Write the code object to ``path``. Raises subprocess.CalledProcessError when the compiler fails."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "big.hip"
        file.write_text(source(kernels))
        subprocess.run(
            ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", f"--offload-arch={arch}",
             "-g", *options, "--no-gpu-bundle-output", "-fdebug-compilation-dir=.", str(file), "-o", str(path)],
            check=True,
        )


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description="generate a big code object")
    parser.add_argument("output", type=Path)
    parser.add_argument("--kernels", type=int, default=3000)
    parser.add_argument("--arch", default="gfx90a")
    options = parser.parse_args()
    build(options.output, options.kernels, options.arch)


if __name__ == "__main__":
    main()
