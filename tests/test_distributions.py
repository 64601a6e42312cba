"""The wheel and the source distribution: their contents, and that they work outside the checkout."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from dataclasses import dataclass
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import rocdbg
from tests.breadth import EVERYTHING
from tests.imports import imports

ROOT = Path(__file__).resolve().parent.parent
NAME = f"rocdbg-{rocdbg.__version__}"
LEFT_BEHIND = shutil.ignore_patterns(
    ".git", ".venv*", "__pycache__", ".*_cache", ".test-cache", ".hypothesis", "*.egg-info", "dist"
)
FOLDERS = ("benchmarks", "demo_kernels", "docs", "plugins", "rocdbg", "tests")
TOP = (
    "CHANGELOG.md", "LICENSE", "MANIFEST.in", "Makefile", "README.md", "demo", "pyproject.toml", "setup.py", "setup.sh",
    "test", ".ci/run",
)


COMPILERS = [name for name in ("cc", "gcc", "clang") if shutil.which(name)]
PREBUILT = ("libhsa-runtime64.so", "libhsa-runtime64.so.1", "librocdbg-gpu-side.so")


def run(*command: str | Path, cwd: Path, **variables: str) -> str:
    """The output of a command on both streams; Python's variables in the environment of the tests do not reach it."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(
        command, cwd=cwd, env=environment | variables, text=True, timeout=300, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@dataclass(frozen=True)
class Built:
    """What `python -m build` made of a copy of the checkout; ``unpacked`` is the source distribution's folder."""

    checkout: Path
    wheel: Path
    unpacked: Path
    log: str


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("distributions")
    checkout = folder / "checkout"
    shutil.copytree(ROOT, checkout, ignore=LEFT_BEHIND)
    # The wheel is built of the source distribution. The build backend is one of the tests' requirements.
    log = run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, checkout, cwd=folder)
    run("tar", "-xzf", f"{NAME}.tar.gz", cwd=folder)
    (wheel,) = folder.glob("*.whl")
    return Built(checkout, wheel, folder / NAME, log)


def test_both_are_built_without_a_warning(built: Built) -> None:
    assert re.findall(r"(?im)^.*\b(?:warning|deprecated)\b.*$", built.log) == []


def test_the_source_distribution_holds_the_checkout(built: Built) -> None:
    expected = {f"{folder}/{file}" for folder in FOLDERS for file in files_below(built.checkout / folder)} | {*TOP}
    made = {"PKG-INFO", "setup.cfg"}
    found = {name for name in files_below(built.unpacked) if not name.startswith("rocdbg.egg-info/")}
    assert found - made == expected


def test_the_wheel_holds_the_packages(built: Built) -> None:
    expected = {f"rocdbg/{file}" for file in files_below(built.checkout / "rocdbg")}
    expected |= {f"rocdbg_plugins/{file}" for file in files_below(built.checkout / "plugins")}
    expected |= {f"rocdbg/host/prebuilt/{name}" for name in (PREBUILT if COMPILERS else ())}
    assert built.wheel.name.endswith("-py3-none-linux_x86_64.whl" if COMPILERS else "-py3-none-any.whl")
    made = f"{NAME}.dist-info/"
    expected |= {made + name for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE",
                                          "top_level.txt")}
    with zipfile.ZipFile(built.wheel) as archive:
        assert set(archive.namelist()) == expected
        metadata = archive.read(made + "METADATA").decode().splitlines()
    assert {"License-Expression: MIT", f"Version: {rocdbg.__version__}", "Author: rocdbg contributors"} <= {*metadata}


COMMANDS = ("set print frame-arguments none", "tbreak divergence.hip:12", "run", "plugin load lanemap", "lanemap")
SESSION = """\
Temporary breakpoint 1 at 0x1fe0: file divergence.hip, line 12.
[Switching to thread 1, lane 0 (AMDGPU Lane 1:1:1:1/0 (0,0,0)[0,0,0])]

Thread 1 "divergence" hit Temporary breakpoint 1, with lanes [0 6 11-12 15 26 35 52 56], divergence (input=..., output=..., n=...) at divergence.hip:12
12\t            result = value - 40;
       0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15
   0 >A  b  c  b  b  b  A  b  b  c  b  A  A  b  b  A
  16   c  b  b  b  b  c  c  b  b  c  A  b  b  c  c  c
  32   b  b  b  A  c  c  c  b  b  b  b  c  b  c  c  c
  48   c  b  c  c  A  b  b  b  A  b  c  c  b  b  b  b
  A/a  divergence.hip:12  (9 active)
  B/b  divergence.hip:20  (34 inactive)
  C/c  divergence.hip:16  (21 inactive)
  upper case: active, lower case: inactive, >: the current lane
"""  # noqa: E501


def test_the_wheel_debugs_away_from_the_checkout(built: Built, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-compile", "--no-deps", "--no-index",
        built.wheel, cwd=tmp_path)
    # The packages it needs are those of the tests' environment: a plain path, so that this checkout, which is
    # installed there in place by a .pth file of its own, does not come along.
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(tmp_path / "venv")}))
    (packages / "needed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    assert run(tmp_path / "venv/bin/rocdbg", "--version", cwd=tmp_path) == f"{NAME.replace('-', ' ')}\n"
    where = "import rocdbg, rocdbg_plugins; print(rocdbg.__file__); print(rocdbg_plugins.__file__)"
    assert run(python, "-c", where, cwd=tmp_path).splitlines() == [
        str(packages / name / "__init__.py") for name in ("rocdbg", "rocdbg_plugins")
    ]
    if COMPILERS:  # it needs none any more
        library = "from rocdbg.host.find_runtime_library import runtime_library as f; print(f().folder)"
        assert run(python, "-c", library, cwd=tmp_path, CC="none").strip() == str(packages / "rocdbg/host/prebuilt")
        assert run(tmp_path / "venv/bin/rocdbg", "run", "echo", "it", "runs", cwd=tmp_path, CC="none") == "it runs\n"
    launch = built.unpacked / "demo_kernels" / "divergence" / "divergence.toml"
    text = run(
        tmp_path / "venv/bin/rocdbg", "-nx", "-batch", *(word for line in COMMANDS for word in ("-ex", line)), launch,
        cwd=tmp_path, HOME=str(tmp_path), ROCDBG_CACHE_DIR=str(tmp_path / "cache"),
    )
    assert text == SESSION


@pytest.mark.parametrize("variables", [{"CC": "false"}, {"ROCDBG_PREBUILT": "0"}], ids=["no compiler", "not wanted"])
def test_the_library_may_be_built_later(built: Built, tmp_path: Path, variables: dict[str, str]) -> None:
    run(sys.executable, "setup.py", "-q", "build_py", "--build-lib", tmp_path, cwd=built.checkout, **variables)
    assert (tmp_path / "rocdbg/host/runtime/queues.c").is_file()
    assert not (tmp_path / "rocdbg/host/prebuilt").exists()


def bytecode_of_the_checkout(built: Built) -> dict[str, str]:
    """Variables with which Python uses the checkout's bytecode for the source distribution's files. Python accepts
    bytecode made from a file with the same size and time, which unchanged files have.
    """
    if sys.pycache_prefix is None:
        return {}
    made, prefix = Path(sys.pycache_prefix), built.unpacked.parent / "bytecode"
    there = prefix / built.unpacked.relative_to("/")
    there.parent.mkdir(parents=True)
    there.symlink_to(made / ROOT.relative_to("/"))
    for folder in made.iterdir():  # that of packages
        if not (prefix / folder.name).exists():
            (prefix / folder.name).symlink_to(folder)
    return {"PYTHONPYCACHEPREFIX": str(prefix)}


@pytest.mark.truth
def test_the_source_distribution_collects_its_tests(built: Built) -> None:
    """In ``./test``, one file of each folder: those that `./test quick` runs."""
    quick = (built.unpacked / "tests" / "quick.txt").read_text().splitlines()
    chosen = sorted({line.partition("::")[0] for line in quick if line.endswith(".py")})
    text = run(sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider",
               *([] if EVERYTHING else chosen), cwd=built.unpacked, PYTHONPATH=str(built.unpacked),
               PYTHONDONTWRITEBYTECODE="1", **bytecode_of_the_checkout(built))
    found = set(re.findall(r"(?m)^(tests/.*\.py): \d+$", text))
    wanted = {name for name in files_below(built.checkout) if re.fullmatch(r"tests/(.*/)?test_[^/]*\.py", name)}
    if importlib.util.find_spec("triton") is None:  # its tests are skipped as a whole
        wanted = {name for name in wanted if not name.startswith("tests/triton/")}
    assert (wanted if EVERYTHING else set(chosen)) <= found


def imported(path: Path) -> set[str]:
    """The top-level modules that a file imports, anywhere in it."""
    found = set()
    for node, _ in imports(path.read_text()):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif node.module is not None:
            found.add(node.module.partition(".")[0])
    return found


def test_what_is_imported_is_required_and_the_other_way_round() -> None:
    modules = set().union(*(imported(path) for path in (ROOT / "rocdbg").rglob("*.py")))
    modules -= {*sys.stdlib_module_names, "rocdbg", "rocdbg_plugins"}
    modules -= {"pytest", "triton", "torch"}  # the user of the plug-in, or of rocdbg.triton, has them
    modules -= {"_typeshed"}  # exists for type checkers alone
    owners = packages_distributions()
    required = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]

    def plain(name: str) -> str:
        return re.sub(r"[-_.]+", "-", re.split(r"[<>=!~ ]", name)[0]).lower()

    assert sorted({plain(owners[module][0]) for module in modules}) == sorted(plain(name) for name in required)
