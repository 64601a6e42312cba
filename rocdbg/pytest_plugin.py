"""The pytest plug-in: the fixture ``gpu`` runs kernels on simulated GPUs.

``pytest --gpu gfx1100 --gpu gfx90a`` runs each test that takes the fixture once on each; see `docs/programs.md`. No
other module of rocdbg is imported until a test needs it, because pytest loads the plug-in wherever rocdbg is installed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocdbg.api import Dispatch, Program
    from rocdbg.cli.debugger_api import Debugger

DEFAULT = "gfx90a"
"""The default GPU of a run."""


class Gpu:
    """A simulated GPU on which a test can run kernels. Their output is captured like all output of a test.

    ``arch`` is the target id. Paths are relative to the test's file; ``{arch}`` in them is replaced by the target's
    name.
    """

    def __init__(self, arch: str, folder: Path) -> None:
        self.arch = arch
        self.folder = folder
        self._programs: dict[Path, Program] = {}

    def __repr__(self) -> str:
        return f"<Gpu {self.arch}>"

    @property
    def name(self) -> str:
        """The target's name: ``gfx90a`` of ``gfx90a:xnack+``."""
        return self.arch.partition(":")[0]

    def path(self, path: str | Path) -> Path:
        """The file to which a test's path refers."""
        return self.folder / str(path).replace("{arch}", self.name)

    def load(self, path: str | Path) -> Program:
        """Load a code object, a bundle or a host executable with ``rocdbg.load``, once for each file and test.

        Raises the errors of that function, such as `rocdbg.Error` for a file without code for this GPU.
        """
        from rocdbg.api import load

        where = self.path(path)
        program = self._programs.get(where)
        if program is None:
            program = self._programs[where] = load(where, self.arch)
        return program

    def close(self) -> None:
        """Unload everything that was loaded, running the destructors of globals."""
        programs, self._programs = self._programs, {}
        for program in programs.values():
            program.close()

    def run(
        self, path: str | Path, kernel: str, grid: int | Sequence[int], workgroup: int | Sequence[int], *args: Any,
        dynamic_lds: int = 0, max_instructions: int | None = None,
    ) -> Dispatch:
        """Launch a kernel of a file and run it to its end: ``Kernel.launch`` and ``Dispatch.run``.

        Arrays then contain what the kernel wrote. Raises `rocdbg.GpuFault` on an exception.
        """
        dispatch = self.load(path).kernels[kernel].launch(grid, workgroup, args, dynamic_lds)
        dispatch.run(max_instructions)
        return dispatch

    def check(self, path: str | Path) -> Dispatch:
        """Run a launch file; the test fails if a buffer differs from what the file expects."""
        from rocdbg.api import launch_file

        dispatch = launch_file(self.path(path), self.arch)
        dispatch.run()
        mismatches = dispatch.check()
        if mismatches:
            pytest.fail("\n".join(mismatch.text for mismatch in mismatches), pytrace=False)
        return dispatch

    def debug(self, path: str | Path) -> Debugger:
        """A session over a file: ``debugger.execute("break saxpy")``."""
        from rocdbg.cli.debugger_api import Debugger

        return Debugger(self.path(path), arch=self.arch)


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--gpu``, and the setting ``gpu`` of the configuration file."""
    group = parser.getgroup("rocdbg", "kernels on simulated AMD GPUs (rocdbg)")
    group.addoption(
        "--gpu", action="append", default=[], metavar="TARGET",
        help="run tests with the fixture `gpu` on this target (gfx90a, gfx1100:...); may be given several times",
    )
    parser.addini("gpu", f"targets of the fixture `gpu` where --gpu is not given (default: {DEFAULT})", type="args")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker; reject unknown targets before any test runs."""
    config.addinivalue_line("markers", "gpu(*targets): run only on these of the chosen simulated GPUs")
    if config.getoption("gpu") or config.getini("gpu"):
        from rocdbg.arch.target_id import TargetId
        from rocdbg.errors import Error

        for target in _targets(config):
            try:
                TargetId.parse(target)
            except Error as error:
                raise pytest.UsageError(f"--gpu: {error}") from None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with the fixture runs once on each GPU."""
    if "gpu" in metafunc.fixturenames:
        metafunc.parametrize("gpu", _targets(metafunc.config), indirect=True)


@pytest.fixture
def gpu(request: pytest.FixtureRequest) -> Iterator[Gpu]:
    """A simulated GPU: a `rocdbg.pytest_plugin.Gpu`."""
    target = getattr(request, "param", DEFAULT)
    wanted = [name for marker in request.node.iter_markers("gpu") for name in marker.args]
    if wanted and target not in wanted and target.partition(":")[0] not in wanted:
        pytest.skip(f"is for {', '.join(wanted)}, the GPU is {target}")
    made = Gpu(target, request.path.parent)
    yield made
    made.close()


def _targets(config: pytest.Config) -> list[str]:
    """The chosen GPUs, each once."""
    given = [name for text in config.getoption("gpu") or config.getini("gpu") or [DEFAULT] for name in text.split(",")]
    return list(dict.fromkeys(given))
