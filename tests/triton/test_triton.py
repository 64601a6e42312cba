"""Triton's kernels on the simulator, from plain Python: results against NumPy's."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rocdbg

pytest.importorskip("triton", reason="needs Triton (pip install 'rocdbg[triton]')")

import rocdbg.triton

HERE = Path(__file__).parent
LINES = (HERE / "kernels.py").read_text().splitlines()


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The module kernels.py; Triton's compiled code is kept in a folder of the test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.mktemp("triton")))
        patch.setenv("TRITON_DEFAULT_FP_FUSION", "1")
        spec = importlib.util.spec_from_file_location("triton_kernels", HERE / "kernels.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module


@pytest.fixture(autouse=True)
def deactivated() -> Iterator[None]:
    yield
    rocdbg.triton.deactivate()


def normal(*shape: int) -> np.ndarray:
    """Random numbers that are the same each time."""
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


def test_add(kernels: Any) -> None:
    device = rocdbg.triton.activate("gfx942")
    x, y, out = normal(300), normal(300), np.zeros(300, np.float32)
    kernels.add[(2,)](x, y, out, np.int32(300), BLOCK=256)
    assert (out == x + y).all() and device.instructions > 0


def test_fused_softmax(kernels: Any) -> None:
    rocdbg.triton.activate("gfx1100")
    x, out = normal(3, 100), np.zeros((3, 70), np.float32)
    kernels.softmax[lambda meta: (3,)](out, x, x.strides[0] // 4, 70, 2.0, BLOCK=128)
    raised = np.exp(2 * x[:, :70])
    assert np.allclose(out, raised / raised.sum(axis=1, keepdims=True), rtol=1e-5)


def test_matmul_of_views(kernels: Any) -> None:
    """Two arrays that are parts of one array, and a result that is part of another."""
    rocdbg.triton.activate("gfx90a")
    both = normal(48, 96).astype(np.float16)
    a, b = both[:40, :32], both[8:40, 40:80]
    wide = np.zeros((40, 64), np.float32)
    c = wide[:, 8:48]
    kernels.matmul[(2, 2)](a, b, c, 40, 40, 32, 96, 96, 64, BM=32, BN=32, BK=32)
    assert np.allclose(c, a.astype(np.float32) @ b.astype(np.float32), atol=2e-2)
    assert not wide[:, :8].any() and not wide[:, 48:].any()


def test_flash_attention(kernels: Any) -> None:
    rocdbg.triton.activate("gfx1201")
    length, depth = 64, 32
    q, k, v = normal(3, length, depth).astype(np.float16)
    out = np.zeros((length, depth), np.float32)
    kernels.attention[(2,)](q, k, v, out, length, depth**-0.5, BM=32, BN=32, D=depth, CAUSAL=True)
    scores = q.astype(np.float32) @ k.astype(np.float32).T * depth**-0.5
    weights = np.exp(np.where(np.tril(np.ones((length, length), bool)), scores, -np.inf))
    assert np.allclose(out, weights / weights.sum(axis=1, keepdims=True) @ v.astype(np.float32), atol=5e-3)


class Tensor:
    """The parts of a CPU tensor of torch that `rocdbg.triton` and Triton use; torch is not required here."""

    def __init__(self, array: np.ndarray, first: int = 0, device: str = "cpu") -> None:
        self.array, self.first, self.dtype = array, first, f"torch.{array.dtype}"
        self.device = SimpleNamespace(type=device)

    def data_ptr(self) -> int:
        return self.array.ctypes.data + self.first * self.array.itemsize

    def untyped_storage(self) -> SimpleNamespace:
        return SimpleNamespace(data_ptr=lambda: self.array.ctypes.data, nbytes=lambda: self.array.nbytes)


def test_tensors(kernels: Any) -> None:
    rocdbg.triton.activate("gfx942")
    x, out = normal(400), np.zeros(400, np.float32)
    kernels.add[(2,)](Tensor(x), Tensor(x, 100), Tensor(out, 64), 300, BLOCK=256)
    assert (out[64:364] == x[:300] + x[100:]).all() and not out[:64].any() and not out[364:].any()
    with pytest.raises(rocdbg.triton.TritonError, match="argument out is on cuda"):
        kernels.add[(2,)](Tensor(x), Tensor(x), Tensor(out, device="cuda"), 300, BLOCK=256)


def test_other_arguments(kernels: Any, capsys: pytest.CaptureFixture[str]) -> None:
    rocdbg.triton.activate("gfx1100")
    x, y, out = np.arange(32, dtype=np.float32), np.ones(32, np.float32), np.zeros(32, np.float32)
    kernels.sum_of[(1,)]((x, y), 3.0, out, BLOCK=32)
    assert (out == 3 * (x + y)).all()
    kernels.printing[(1,)](x, BLOCK=32, num_warps=1)
    assert capsys.readouterr().out.splitlines() == [f"pid (0, 0, 0) idx ({i:2}) value: {i:f}" for i in range(32)]


def test_what_is_wrong(kernels: Any) -> None:
    rocdbg.triton.activate("gfx942")
    x, small = normal(300), np.zeros(280, np.float32)
    with pytest.raises(rocdbg.GpuFault, match=r"write of 4 bytes .* just past the end of buffer 'out' \(1120 bytes"):
        kernels.add[(2,)](x, x, small, 300, BLOCK=256)
    with pytest.raises(rocdbg.triton.TritonError, match="an array of object cannot be an argument"):
        kernels.add[(2,)](np.array([None]), x, small, 300, BLOCK=256)
    with pytest.raises(rocdbg.Error, match="unknown AMDGPU target"):
        rocdbg.triton.activate("gfx943")
    rocdbg.triton.deactivate()
    with pytest.raises(rocdbg.triton.TritonError, match=r"call rocdbg\.triton\.activate"):
        rocdbg.triton.debug(kernels.add[(2,)], x, x, x, 300, BLOCK=256)


def test_a_session_at_the_lines_of_the_script(kernels: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLVM_EXTRACT_DI_LOCAL_VARIABLES", "1")
    rocdbg.triton.activate("gfx942")
    x, y, out = normal(300), normal(300), np.zeros(300, np.float32)
    debugger = rocdbg.triton.debug(kernels.add[(3,)], x, y, out, 300, BLOCK=128)
    line = LINES.index("    second = tl.load(y + at, mask=inside)") + 1
    assert f"file {HERE}/kernels.py, line {line}." in debugger.execute(f"break kernels.py:{line}", to_string=True)
    stop = debugger.execute("run", to_string=True).splitlines()
    assert stop[-1] == f"{line}\t    second = tl.load(y + at, mask=inside)"
    assert stop[-2].endswith(f", n@entry=300) at {HERE}/kernels.py:{line}") and "*x@entry" not in stop[-2]
    assert debugger.execute("output *(float *)x@entry", to_string=True) == f"{x[0]:.9g}"
    assert not out.any()
    debugger.execute("delete")
    debugger.execute("continue")
    assert (out == x + y).all()


def test_triton_is_not_needed_to_import() -> None:
    code = "import sys; sys.modules['triton'] = None\nimport rocdbg.triton\nrocdbg.triton.activate('gfx90a')"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=HERE.parents[1])
    assert "rocdbg.triton.errors.TritonError: Triton cannot be imported" in result.stderr.splitlines()[-1]
