"""The demo kernels with hand-made debug information: results, builds, and the output of LLVM's tools for them."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from rocdbg.api import launch_file, load

DEMOS = Path(__file__).resolve().parent.parent.parent / "demo_kernels"
EXTENSIONS = DEMOS / "extensions"
TARGETS = ("gfx90a", "gfx1100")


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"extension_{name}", DEMOS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


reference = _module("reference")
build = _module("build")
LAUNCHES = sorted(EXTENSIONS.glob("*/*.toml"))
OBJECTS = sorted(EXTENSIONS.glob("*/*.co"))


def test_there_are_all_of_them() -> None:
    assert {launch.parent.name for launch in LAUNCHES} == set(reference.EXTENSIONS)
    assert len(OBJECTS) == 22  # nine programs for two targets, one of them in three dialects


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("launch", LAUNCHES, ids=lambda launch: launch.stem)
def test_result_equals_numpy(launch: Path, target: str) -> None:
    arrays = reference.EXTENSIONS[launch.parent.name]()
    for name, array in arrays.items():
        stored = np.load(launch.parent / name)
        assert stored.dtype == np.int32
        np.testing.assert_array_equal(stored, array)
    kernel = load(_object(launch, target)).kernels[launch.parent.name]
    out = np.zeros(len(arrays["expected.npy"]), np.int32)
    kernel.launch(len(out), 64, [out, arrays["input.npy"]]).run()
    np.testing.assert_array_equal(out, arrays["expected.npy"])


def _object(launch: Path, target: str) -> Path:
    name = next(line for line in launch.read_text().splitlines() if line.startswith("file")).split('"')[1]
    return launch.parent / name.format(arch=target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("launch", LAUNCHES, ids=lambda launch: launch.stem)
def test_launch_file_checks_itself(launch: Path, target: str) -> None:
    dispatch = launch_file(launch, target)
    before = dispatch.check()
    assert [mismatch.name for mismatch in before] == ["out"]  # the check can fail
    dispatch.launch.dispatch.run()
    assert dispatch.finished
    assert dispatch.check() == []


@pytest.mark.llvm
def test_builds_are_reproduced(tmp_path: Path) -> None:
    """Byte for byte; clang's output only if the compiler's version is that with which the objects were built."""
    version = subprocess.run(["clang-22", "--version"], capture_output=True, text=True, check=True, timeout=60).stdout
    for demo in build.DEMOS:
        if demo.name not in reference.EXTENSIONS:
            continue
        for made in build.build(demo, tmp_path):
            stored = (DEMOS / made).read_bytes()
            if demo.source.endswith(".S") or version.splitlines()[0].encode() in stored:
                assert (tmp_path / made).read_bytes() == stored, made


# What llvm-dwarfdump 22 does not decode first, by program: DW_OP_deref_type, and the operations whose codes the
# document leaves open (ours); of the proposal of 2020 everything but standard operations.
UNKNOWN_OPERATIONS = {
    "nested.amd": {"deref_type"},
    "nested.llvm22": {"deref_type"},
    "nested.proposal2020": {"extend", "undefined", "push_lane", "piece_end"},
    "wholewave": {"deref_type"},
    "unwinding": {"deref_type"},
    "callsites": set(),
    "pieces": set(),
    "overlay": {"overlay", "push_iteration"},
    "pointers": {"aspace_implicit_pointer"},
    "types": {"deref_type", "bit_overlay"},
    "embedded.O0": set(),
}
CODES = {
    r"a6": "deref_type", r"e9 70": "aspace_implicit_pointer", r"e9 71": "push_iteration", r"e9 72": "overlay",
    r"e9 73": "bit_overlay",
    r"eb": "extend", r"e7": "undefined",
    r"e2": "push_lane", r"ea": "piece_end",
}


@pytest.mark.llvm
@pytest.mark.parametrize("path", OBJECTS, ids=lambda path: path.name)
def test_llvm_verifies_what_it_understands(path: Path) -> None:
    run = subprocess.run(["llvm-dwarfdump-22", "--verify", str(path)], capture_output=True, text=True, timeout=60)
    text = run.stdout + run.stderr
    known = UNKNOWN_OPERATIONS[path.name.rsplit(".", 2)[0]]
    stopped_at = set()
    for rest in re.findall(r"<decoding error>((?: [0-9a-f]{2})+)", text):
        stopped_at |= {name for code, name in CODES.items() if rest.startswith(f" {code}")} or {rest}
    assert stopped_at == known
    kinds = set(re.findall(r"^error: (.*) occurred \d+ time", text, re.MULTILINE))
    others = {"Invalid DW_AT_LLVM_stmt_sequence encoding"} if path.name.startswith("types") else set()  # vector_size
    assert kinds == others | ({"Invalid DWARF expressions"} if known else set())
    assert run.returncode == (1 if known else 0)
