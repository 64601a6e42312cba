#!/usr/bin/env python3
"""Build the demo kernels with LLVM 22, byte for byte the same on every machine.

    demo_kernels/build.py [--check] [NAME ...]

Without names, it builds all of them. ``--check`` builds into a temporary folder and compares the result with the
checked-in files; the exit status shows whether they are equal. Needs clang-22, lld-22 and clang-offload-bundler-22
(Debian: clang-22 lld-22).
"""

from __future__ import annotations

import argparse
import filecmp
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGETS = ("gfx90a", "gfx942", "gfx1030", "gfx1100")
EXTENDED = ("gfx90a", "gfx1100")  # 64 lanes and a scratch buffer, 32 lanes and flat scratch
DIALECTS = ("amd", "proposal2020", "llvm22")

# Nothing in the output may depend on where the tree is or on the time.
REPRODUCIBLE = ("-fdebug-compilation-dir=.", "-fdebug-prefix-map={resources}=clang")
LANGUAGES = {
    ".hip": ("-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--no-gpu-bundle-output",
             "-fuse-cuid=none", "--offload-arch={target}"),
    ".cl": ("-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-mcpu={target}"),
    ".S": ("-x", "assembler-with-cpp", "-target", "amdgcn-amd-amdhsa", "-mcpu={target}"),
}


@dataclass(frozen=True)
class Demo:
    """One program: its source, the optimisation levels at which it is built, and its own flags."""

    source: str
    levels: tuple[str, ...] = ("O0", "O2")
    flags: tuple[str, ...] = ()
    wave64_too: bool = False  # an extra build of 64-lane waves for the targets whose default is 32
    targets: tuple[str, ...] = TARGETS
    dialects: tuple[str, ...] = ()  # one build for each encoding of the DWARF extensions

    @property
    def name(self) -> str:
        return Path(self.source).stem


DEMOS = (
    Demo("saxpy/saxpy.hip"),
    Demo("divergence/divergence.hip", wave64_too=True),
    Demo("calls/calls.hip"),
    Demo("spaces/spaces.hip"),
    Demo("reduce/reduce.hip"),
    # clang 22 refuses LDS in the function it makes of an OpenCL kernel at -O0
    Demo("matmul/matmul.cl", levels=("O2",)),
    Demo("histogram/histogram.hip"),
    Demo("spill/spill.hip", levels=("O2",)),
    Demo("scan/scan.hip"),
    # contraction off: NumPy has no fma to compare with
    Demo("mandelbrot/mandelbrot.cl", flags=("-ffp-contract=off",)),
    Demo("vectors/vectors.cl"),
    Demo("ramp/ramp.S", levels=("",)),
    Demo("wildaccess/wildaccess.hip"),
    Demo("trap/trap.hip"),
    # The DWARF of these is written by hand, with all the extensions for heterogeneous debugging.
    Demo("extensions/nested/nested.S", ("",), ("-g0", "-P"), targets=EXTENDED, dialects=DIALECTS),
    Demo("extensions/wholewave/wholewave.S", ("",), ("-g0", "-P"), targets=EXTENDED),
    Demo("extensions/unwinding/unwinding.S", ("",), ("-g0", "-P"), targets=EXTENDED),
    Demo("extensions/callsites/callsites.S", ("",), ("-g0", "-P"), targets=EXTENDED),
    Demo("extensions/pieces/pieces.S", ("",), ("-g0", "-P"), targets=EXTENDED),
    Demo("extensions/overlay/overlay.S", ("",), ("-g0", "-P"), targets=EXTENDED),
    Demo("extensions/pointers/pointers.S", ("",), ("-g0", "-P"), targets=EXTENDED),
    Demo("extensions/types/types.S", ("",), ("-g0", "-P"), targets=EXTENDED),
    # Its source is to be found in the debug information only: the recorded name is no file's.
    Demo(
        "extensions/embedded/embedded.hip",
        ("O0",),
        ("-gdwarf-5", "-gembed-source", "-fdebug-prefix-map=embedded.hip=only_in_the_debug_information.hip"),
        targets=EXTENDED,
    ),
)
BUNDLED = ("saxpy", "O2")  # also packed into one compressed offload bundle of all targets


def outputs(demo: Demo) -> Iterator[tuple[Path, list[str]]]:
    """Each (output path below the demo folder, compiler arguments) of one demo."""
    suffix = Path(demo.source).suffix
    resources = subprocess.run(
        ["clang-22", "-print-resource-dir"], check=True, capture_output=True, text=True
    ).stdout.strip()
    for level in demo.levels:
        for target in demo.targets:
            flags = [flag.format(target=target) for flag in LANGUAGES[suffix]]
            flags += [flag.format(resources=resources) for flag in REPRODUCIBLE]
            flags += ["-g", *demo.flags]
            if level:
                flags.append(f"-{level}")
            stem = f"{demo.name}.{level}" if level else demo.name
            folder = Path(demo.source).parent
            for dialect in demo.dialects:
                yield folder / f"{stem}.{dialect}.{target}.co", [*flags, f"-DDIALECT_{dialect}"]
            if demo.dialects:
                continue
            yield folder / f"{stem}.{target}.co", flags
            if demo.wave64_too and target in ("gfx1030", "gfx1100"):
                yield folder / f"{stem}.{target}.wave64.co", [*flags, "-mwavefrontsize64"]


def build(demo: Demo, into: Path) -> list[Path]:
    """Build one demo below `into`; returns the paths made, relative to it."""
    made = []
    for relative, flags in outputs(demo):
        out = into / relative
        out.parent.mkdir(parents=True, exist_ok=True)
        folder = HERE / Path(demo.source).parent
        # compiled from the source's own folder, so that only its bare name is recorded
        subprocess.run(["clang-22", *flags, Path(demo.source).name, "-o", str(out)], check=True, cwd=folder)
        out.chmod(0o644)
        made.append(relative)
    if demo.name == BUNDLED[0]:
        made.append(bundle(demo, into))
    return made


def bundle(demo: Demo, into: Path) -> Path:
    level = BUNDLED[1]
    folder = Path(demo.source).parent
    relative = folder / f"{demo.name}.{level}.hipfb"
    ids = ["host-x86_64-unknown-linux-gnu-"] + [f"hipv4-amdgcn-amd-amdhsa--{target}" for target in TARGETS]
    inputs = ["/dev/null"] + [str(into / folder / f"{demo.name}.{level}.{target}.co") for target in TARGETS]
    subprocess.run(
        ["clang-offload-bundler-22", "-type=o", "-compress", f"-targets={','.join(ids)}",
         *(f"-input={path}" for path in inputs), f"-output={into / relative}"],
        check=True,
    )
    return relative


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="demos to build (default: all)")
    parser.add_argument(
        "--check", action="store_true", help="compare with what is checked in, change nothing"
    )
    options = parser.parse_args()
    known = {demo.name: demo for demo in DEMOS}
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(f"no demo named {', '.join(unknown)}; there are {', '.join(known)}")
    chosen = [known[name] for name in options.names] or list(DEMOS)
    if not options.check:
        for demo in chosen:
            build(demo, HERE)
        return 0
    different = []
    with tempfile.TemporaryDirectory() as scratch:
        for demo in chosen:
            for relative in build(demo, Path(scratch)):
                checked_in = HERE / relative
                if not checked_in.exists() or not filecmp.cmp(
                    Path(scratch) / relative, checked_in, shallow=False
                ):
                    different.append(relative)
    for relative in different:
        print(f"differs: {relative}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
