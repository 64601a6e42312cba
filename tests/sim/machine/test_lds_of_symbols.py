"""LDS for an unlinked object's symbols counts as much as the size in the kernel descriptor."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest

from rocdbg.codeobject import open_file
from rocdbg.sim.device.machine import LaunchLimitError, Machine

pytestmark = pytest.mark.llvm
SOURCE = """
.amdgpu_lds big, 4112, 16
.globl kernel
.p2align 8
.type kernel,@function
kernel:
v_mov_b32 v0, big@abs32@lo
s_endpgm
.rodata
.p2align 6
.amdhsa_kernel kernel
.amdhsa_next_free_sgpr 8
.amdhsa_next_free_vgpr 8
.amdhsa_accum_offset 8
.end_amdhsa_kernel
"""


@pytest.mark.parametrize(("size", "fits"), [(1024, True), (65536, True), (65552, False), (3 << 30, False)])
def test_limit(tmp_path: Path, size: int, fits: bool) -> None:
    (tmp_path / "k.s").write_text(SOURCE)
    command = ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-filetype=obj", "k.s", "-o", "k.o"]
    subprocess.run(command, cwd=tmp_path, check=True)
    # The assembler refuses more than a device has; a file does not: alignment and size in the symbol table.
    data, symbol = (tmp_path / "k.o").read_bytes(), struct.pack("<QQ", 16, 4112)
    assert data.count(symbol) == 1
    (tmp_path / "k.o").write_bytes(data.replace(symbol, struct.pack("<QQ", 16, size)))
    machine = Machine("gfx90a")
    loaded = machine.load(open_file(tmp_path / "k.o"))
    kernel = loaded.code_object.kernels["kernel"]
    if fits:
        machine.dispatch(kernel, (64, 1, 1), (64, 1, 1), b"").release()
    else:
        with pytest.raises(LaunchLimitError, match=f"LDS: {size} bytes"):
            machine.dispatch(kernel, (64, 1, 1), (64, 1, 1), b"")
