"""The pytest plug-in, as test suites use it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest_plugins = ("pytester",)

DEMOS = Path(__file__).parents[2] / "demo_kernels"


Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, request: pytest.FixtureRequest) -> Run:
    """Runs a test suite with the plug-in, which an installed rocdbg provides automatically.

    Tests that run kernels need their own process, because pytester forgets all modules that a run has imported.
    """
    there = request.config.pluginmanager.has_plugin("rocdbg")

    def run(*arguments: str, subprocess: bool = False) -> pytest.RunResult:
        function = pytester.runpytest_subprocess if subprocess else pytester.runpytest_inprocess
        return function(*([] if there else ["-p", "rocdbg.pytest_plugin"]), *arguments)

    return run


SAXPY = f"""
    import numpy as np

    def test_saxpy(gpu):
        x, y = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
        dispatch = gpu.run(r"{DEMOS}/saxpy/saxpy.O2.{{arch}}.co", "saxpy", 128, 64, np.float32(2), x, y, np.int32(100))
        assert (y == 2 * x + 1).all() and dispatch.finished
"""


def test_a_test_runs_on_each_gpu(pytester: pytest.Pytester, run: Run) -> None:
    pytester.makepyfile(SAXPY)
    result = run("-v", "--gpu", "gfx1100", "--gpu=gfx90a,gfx1100", subprocess=True)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*::test_saxpy[[]gfx1100[]] PASSED*", "*::test_saxpy[[]gfx90a[]] PASSED*"])


def test_the_configuration_and_markers_choose(pytester: pytest.Pytester, run: Run) -> None:
    pytester.makeini("[pytest]\ngpu = gfx1100")
    pytester.makepyfile(
        """
        import pytest

        def test_any(gpu):
            assert gpu.arch == gpu.name == "gfx1100"

        @pytest.mark.gpu("gfx90a", "gfx942")
        def test_one(gpu):
            assert gpu.name == "gfx90a"
        """
    )
    run("--strict-markers").assert_outcomes(passed=1, skipped=1)
    run("--gpu", "gfx90a:xnack+", "-k", "one").assert_outcomes(passed=1, deselected=1)


def test_a_target_that_does_not_exist(pytester: pytest.Pytester, run: Run) -> None:
    pytester.makepyfile(SAXPY)
    result = run("--gpu", "gfx90b")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(['ERROR: --gpu: unknown AMDGPU target "gfx90b" (did you mean *'])


def test_launch_files_sessions_and_faults(pytester: pytest.Pytester, run: Run) -> None:
    pytester.makefile(
        ".toml",
        wrong=f"""
        [launch]
        file = "{DEMOS}/saxpy/saxpy.O2.{{arch}}.co"
        kernel = "saxpy"
        grid = [64, 1, 1]
        workgroup = [64, 1, 1]
        [[arg]]
        value = 2.0
        [[arg]]
        buffer = "f32[64]"
        init = "arange"
        [[arg]]
        name = "y"
        buffer = "f32[64]"
        init = "ones"
        expect = "ones"
        [[arg]]
        value = 64
        """,
    )
    pytester.makepyfile(
        test_fault=SAXPY.replace("np.int32(100)", "np.int32(120)"),
        test_more="""
        def test_wrong(gpu):
            gpu.check("wrong.toml")

        def test_session(gpu):
            debugger = gpu.debug("wrong.toml")
            debugger.execute("break saxpy")
            debugger.execute("run")
            assert debugger.execute("output gridDim", to_string=True) == "{x = 1, y = 1, z = 1}"
        """
    )
    result = run("--gpu", "gfx1100", subprocess=True)
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["E *GpuFault: kernel *saxpy*: memory violation by `*`*past the end of buffer*"])
    result.stdout.fnmatch_lines(["buffer 'y': element 1 is 3.0, expected 1.0 (63 of 64 elements differ)"])


def test_a_suite_without_kernels_pays_nothing(pytester: pytest.Pytester, run: Run) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_light():
            assert not {"rocdbg.api", "rocdbg.sim", "llvmlite", "rocdbg.arch.targets"} & sys.modules.keys()
        """
    )
    run(subprocess=True).assert_outcomes(passed=1)
