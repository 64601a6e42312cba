"""A code object with kernels of both wave sizes: frames, lanes and variables for each wave's own size."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocdbg.debugger import Session

SOURCE = """
extern "C" __attribute__((device, noinline)) int TWICE(int v)
{
  return 2 * v;
}
extern "C" __attribute__((global)) void KERNEL(int *out)
{
  out[__builtin_amdgcn_workitem_id_x()] = TWICE(__builtin_amdgcn_workitem_id_x() + 1);
}
"""


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mixed")
    (folder / "mixed.hip").write_text(SOURCE)

    def run(*command: str) -> None:
        subprocess.run(command, cwd=folder, check=True, timeout=120)

    modules = []
    for size, options in (("32", ()), ("64", ("-mwavefrontsize64",))):
        run("clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx1030",
            "-g", "-O0", "-S", "-emit-llvm", "--no-gpu-bundle-output", f"-DTWICE=twice{size}", f"-DKERNEL=kernel{size}",
            f"-cuid={size}", *options, "mixed.hip", "-o", f"{size}.ll")
        modules.append(f"{size}.ll")
    run("llvm-link-22", *modules, "-o", "mixed.bc")
    run("llc-22", "-O0", "-mtriple=amdgcn-amd-amdhsa", "-mcpu=gfx1030", "-filetype=obj", "mixed.bc", "-o", "mixed.o")
    run("ld.lld-22", "-shared", "mixed.o", "-o", "mixed.co")
    return folder / "mixed.co"


@pytest.mark.llvm
@pytest.mark.parametrize(("size", "waves"), [(32, 2), (64, 1)])
def test_each_kernel(mixed: Path, size: int, waves: int) -> None:
    session = Session()
    session.load(mixed)
    session.launch.set_kernel(f"kernel{size}")
    session.launch.set_grid("64")
    session.launch.set_workgroup("64")
    session.launch.set_argument(0, "i32[64]:zeros")
    session.break_at(f"twice{size}")
    event = session.run()
    assert event.lanes == (1 << size) - 1
    assert len(session.tables.threads()) == waves
    assert len(session.tables.lanes()) == size
    assert [frame.name for frame in session.focus.frames()] == [f"twice{size}", f"kernel{size}"]
    session.focus.select_lane(size - 1)
    assert session.data.evaluate("v").as_int() == size
    assert session.data.evaluate("$v0").size == 4 * size
    finished = session.running.finish()
    assert finished.returned is not None and finished.returned.value.as_int() == 2 * size


@pytest.mark.llvm
@pytest.mark.parametrize("name", ["vcc_hi", "exec_hi"])
def test_upper_halves_of_masks_in_wave32_are_registers(mixed: Path, name: str) -> None:
    """The upper halves hold no bit of a lane, and code may keep other values in them."""
    session = Session()
    session.load(mixed)
    session.launch.set_kernel("kernel32")
    session.launch.set_grid("32")
    session.launch.set_workgroup("32")
    session.launch.set_argument(0, "i32[32]:zeros")
    session.break_at("twice32")
    session.run()
    session.places.assemble(f"$pc s_mov_b32 {name}, 0x1234")
    session.running.stepi()
    assert session.data.evaluate(f"${name}").as_int() == 0x1234
    mask = session.data.evaluate("$exec").as_int()
    session.data.evaluate(f"${name} = 7")
    session.places.assemble(f"$pc s_mov_b32 s20, {name}")
    session.running.stepi()
    assert session.data.evaluate("$s20").as_int() == 7
    assert session.data.evaluate("$exec").as_int() == mask
    session.places.assemble(f"$pc s_mov_b32 {name}, 0x1234")
    holds = session.break_at(f"*{session.focus.frame().pc + 8:#x}", condition=f"${name} == 0x1234")
    assert session.running.proceed().breakpoints == (holds.number,)
