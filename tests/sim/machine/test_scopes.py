"""Messages between work-items at the distance of each scope of the memory model, in each order."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocdbg import Debugger

pytestmark = pytest.mark.llvm

SOURCE = """
#define PASS(n, order, scope, from, to) \\
  if (item == from) { \\
    data[n] = 100 + n; \\
    __scoped_atomic_store_n(&flags[n], 1, order == __ATOMIC_SEQ_CST ? order : __ATOMIC_RELEASE, scope); \\
  } \\
  if (item == to) { \\
    while (!__scoped_atomic_load_n(&flags[n], order == __ATOMIC_SEQ_CST ? order : __ATOMIC_ACQUIRE, scope)) {} \\
    out[n] = data[n]; \\
  }
#define BOTH(n, scope, from, to) \\
  PASS(n, __ATOMIC_ACQ_REL, scope, from, to) PASS(n + 1, __ATOMIC_SEQ_CST, scope, to, from)

__attribute__((global)) void pass(int *data, int *flags, int *out) {
  int item = __builtin_amdgcn_workgroup_id_x() * 128 + __builtin_amdgcn_workitem_id_x();
  BOTH(0, __MEMORY_SCOPE_SYSTEM, 0, 255)
  BOTH(2, __MEMORY_SCOPE_DEVICE, 3, 200)
  BOTH(4, __MEMORY_SCOPE_WRKGRP, 5, 127)
  BOTH(6, __MEMORY_SCOPE_WVFRNT, 7, 7)
  BOTH(8, __MEMORY_SCOPE_SINGLE, 9, 9)
}
"""
LAUNCH = """
[launch]
file = "pass.co"
grid = 256
workgroup = 128
[[arg]]
buffer = "i32[10]"
init = "zeros"
[[arg]]
buffer = "i32[10]"
init = "zeros"
[[arg]]
buffer = "i32[10]"
init = "zeros"
expect = [100, 101, 102, 103, 104, 105, 106, 107, 108, 109]
"""


@pytest.mark.parametrize("target", ["gfx803", "gfx90a", "gfx942", "gfx1100", "gfx1201"])
def test_messages(target: str, tmp_path: Path) -> None:
    (tmp_path / "pass.hip").write_text(SOURCE)
    (tmp_path / "pass.toml").write_text(LAUNCH)
    command = ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", f"--offload-arch={target}"]
    command += ["-O2", "--no-gpu-bundle-output", "pass.hip", "-o", "pass.co"]
    subprocess.run(command, check=True, cwd=tmp_path)
    output = Debugger(tmp_path / "pass.toml").execute("run", to_string=True)
    assert "arg2: as expected" in output
    assert "exited normally" in output
