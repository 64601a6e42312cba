"""The global data share, global wave sync, and rarely used instructions that access LDS."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from engine_bench import Bench

import rocdbg
from rocdbg.arch.targets import target_by_name
from rocdbg.sim.core.global_share import GlobalShare
from rocdbg.sim.core.layout import FaultKind, Space, Status
from rocdbg.sim.engine.native import Engine

pytestmark = pytest.mark.llvm


class ShareBench(Bench):
    """A wave on a device whose GDS and GWS can be examined. M0 is ``m0``."""

    def __init__(self, text: str, target: str = "gfx900", m0: int = 0, lds: int = 0) -> None:
        super().__init__(text + "\ns_endpgm", target, 32 if target >= "gfx10" and len(target) == 7 else 64, lds)
        self.share = GlobalShare(target_by_name(target))
        self.engine = Engine(
            self.target, self.wave_size, self.memory.page_table_address, self.fetch, share=self.share
        )
        self.sgprs[124 if self.target.generation < 11 else 125] = m0

    @property
    def gds(self) -> np.ndarray:
        return self.share.gds.view(np.uint32)

    def saved(self) -> tuple[np.ndarray, np.ndarray]:
        """The wave's current state: its registers, and the engine's data about it."""
        return self.state.copy(), self.block.engine.copy()

    def restore(self, wave: tuple[np.ndarray, np.ndarray]) -> None:
        self.state[:], self.block.engine[:] = wave

    def again(self) -> Status:
        """Run another wave with the same registers, from the beginning."""
        self.set("pc", self.text.address)
        self.set("gws", 0)
        return self.run()


@pytest.mark.parametrize(("target", "size"), [
    ("gfx900", 65536), ("gfx906", 65536), ("gfx908", 4096), ("gfx90a", 0), ("gfx942", 0), ("gfx1030", 65536),
    ("gfx1100", 4096), ("gfx1201", 0),
])
def test_sizes(target: str, size: int) -> None:
    assert target_by_name(target).gds_size == size


@pytest.mark.parametrize(("target", "size"), [("gfx900", 65536), ("gfx1100", 4096)])
def test_the_end_of_the_device_counts_whatever_m0_says(target: str, size: int) -> None:
    """Base and size in M0 extend beyond the global data share, after which a guard page begins."""
    load, store = ("ds_read_b64", "ds_write_b64") if target == "gfx900" else ("ds_load_b64", "ds_store_b64")
    text = f"{load} v[2:3], v0 gds\n{store} v0, v[4:5] gds\nds_add_rtn_u32 v6, v0, v4 gds"
    bench = ShareBench(text, target, (size - 8) << 16 | 0xFFFF)
    bench.exec = 1
    for address in (0, 4, 8, 16, 4096, 0xFFF4, 0xFFF8, 0x1_0000, 0xFFFF_FFF8):
        bench.gds[:] = 7
        bench.vgpr(0)[:], bench.vgpr(4)[:], bench.vgpr(5)[:] = address, 100, 200
        bench.set("pc", bench.text.address)
        assert bench.run() is Status.END
        wide, narrow = address == 0, address in (0, 4)
        assert [int(bench.vgpr(n)[0]) for n in (2, 3)] == ([7, 7] if wide else [0, 0])
        assert int(bench.vgpr(6)[0]) == (100 if wide else 7 if narrow else 0)
        assert bench.gds[-2:].tolist() == ([200, 200] if wide else [7, 107] if narrow else [7, 7])
        assert (bench.gds[:-2] == 7).all()


@pytest.mark.parametrize("target", ["gfx900", "gfx1030"])
def test_gds_lanes(target: str) -> None:
    """M0: base 256, size 100 bytes. Beyond them, reads give 0 and nothing is written, not even by half."""
    text = "ds_write_b32 v0, v1 offset:4 gds\nds_read_b32 v2, v0 offset:8 gds\nds_add_rtn_u32 v3, v0, v1 gds"
    bench = ShareBench(text, target, 256 << 16 | 100)
    bench.gds[:] = np.arange(bench.gds.size)
    lanes = np.arange(bench.wave_size)
    bench.vgpr(0)[:], bench.vgpr(1)[:] = lanes * 4, lanes + 5000
    assert bench.run() is Status.END
    after_store = np.arange(bench.gds.size)
    after_store[65:89] = lanes[:24] + 5000
    want = np.where(lanes < 23, after_store[66 : 66 + bench.wave_size], 0)
    np.testing.assert_array_equal(bench.vgpr(2), want)
    np.testing.assert_array_equal(
        bench.vgpr(3), np.where(lanes < 25, after_store[64 : 64 + bench.wave_size], 0)
    )
    after_store[64:89] += lanes[:25] + 5000
    np.testing.assert_array_equal(bench.gds, after_store)


def test_gds_of_gfx11_serves_the_lowest_active_lane_only() -> None:
    bench = ShareBench(
        "ds_store_b32 v0, v1 gds\nds_add_rtn_u32 v2, v0, v1 gds\nds_load_b32 v3, v0 gds", "gfx1100", 4096
    )
    bench.exec = 0b1101000
    bench.vgpr(0)[:], bench.vgpr(1)[:] = np.arange(32) * 4, np.arange(32) + 100
    bench.vgpr(2)[:], bench.vgpr(3)[:] = 7, 8
    assert bench.run() is Status.END
    assert np.flatnonzero(bench.gds).tolist() == [3] and bench.gds[3] == 206
    assert bench.vgpr(2).tolist() == [7] * 3 + [103] + [7] * 28
    assert bench.vgpr(3).tolist() == [8] * 3 + [206] + [8] * 28


def test_append_and_consume_count_lanes() -> None:
    """In GDS the dword is at the offset from M0's base, in LDS at M0 plus the offset."""
    text = "ds_append v1 offset:8 gds\nds_consume v2 offset:8 gds\nds_append v3 offset:4"
    bench = ShareBench(text, m0=16 << 16 | 64, lds=256)
    bench.exec = 0b10110
    bench.gds[6] = 40
    bench.lds.view(np.uint32)[17] = 9
    assert bench.run() is Status.END
    assert [int(bench.vgpr(n)[2]) for n in (1, 2, 3)] == [40, 43, 9]
    assert (bench.gds[6], bench.lds.view(np.uint32)[17]) == (40, 12)
    assert not bench.vgpr(1)[0]


@pytest.mark.parametrize(
    ("operation", "before", "value", "after"), [(0, 10, 3, 13), (1, 10, 3, 3), (3, 10, 3, 7)]
)
def test_ordered_count(operation: int, before: int, value: int, after: int) -> None:
    """The wave executes one operation, on the dword M0[31:16] + index."""
    bench = ShareBench(f"ds_ordered_count v1, v0 offset:{operation << 12 | 8} gds", m0=5 << 16)
    bench.gds[7] = before
    bench.exec = 0b1100
    bench.vgpr(0)[:] = np.arange(64) + value - 2
    assert bench.run() is Status.END
    assert (bench.gds[7], bench.vgpr(1)[2], bench.vgpr(1)[3], bench.vgpr(1)[0]) == (after, before, before, 0)


def test_misaligned_gds_atomic_faults() -> None:
    bench = ShareBench("ds_add_u32 v0, v1 gds", m0=100)
    bench.vgpr(0)[:] = 2
    assert bench.run() is Status.FAULT
    assert (bench.engine.fault().kind, bench.engine.fault().space) == (FaultKind.MISALIGNED, Space.GDS)


@pytest.mark.parametrize("target", ["gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100"])
def test_barrier_of_three_waves(target: str) -> None:
    """The resource is M0[21:16] + 5; a waiting wave is at the instruction again after each turn."""
    bench = ShareBench("ds_gws_init v0 offset:5 gds\nds_gws_barrier v2 offset:5 gds", target, 2 << 16)
    bench.vgpr(0)[:], bench.vgpr(2)[:] = 2, 1  # three waves now, two in the next pass
    entry = bench.text.address
    assert bench.run() is Status.SLEEP  # wave 1 makes the barrier and waits
    waiting = bench.saved()
    assert bench.pc == 8 and bench.share.gws[7].tolist() == [1, 0, 0, 1]
    bench.set("pc", entry + 8)
    bench.set("gws", 0)
    assert bench.run() is Status.SLEEP  # wave 2
    second = bench.saved()
    bench.set("pc", entry + 8)
    bench.set("gws", 0)
    assert bench.run() is Status.SLEEP and bench.pc == 16  # wave 3 goes through at once
    assert bench.run() is Status.END
    assert bench.share.gws[7].tolist() == [1, 1, 0, 1]
    for wave in (waiting, second):
        bench.restore(wave)
        assert bench.run() is Status.SLEEP and bench.pc == 16 and bench.get("gws") == 0


def test_semaphore() -> None:
    bench = ShareBench("ds_gws_sema_p offset:1 gds")
    assert bench.run() is Status.SLEEP and bench.pc == 0
    assert bench.share.gws[1].tolist() == [0, 0, 1, 0]
    assert bench.run() is Status.SLEEP and bench.share.gws[1, 2] == 1  # still one wave waits
    first = bench.saved()
    assert bench.again() is Status.SLEEP and bench.share.gws[1, 2] == 2
    release = ShareBench("ds_gws_sema_v offset:1 gds\nds_gws_sema_br v0 offset:1 gds")
    release.vgpr(0)[:] = 3
    release.share.gws[:] = bench.share.gws
    assert release.run() is Status.END and release.share.gws[1].tolist() == [4, 0, 2, 0]
    bench.share.gws[:] = release.share.gws
    bench.restore(first)
    assert bench.run() is Status.SLEEP and bench.pc == 8
    assert bench.share.gws[1].tolist() == [3, 0, 1, 0]
    everyone = ShareBench("ds_gws_sema_release_all offset:1 gds")
    everyone.share.gws[1] = [0, 0, 5, 0]
    assert everyone.run() is Status.END and everyone.share.gws[1, 0] == 5


SOURCE = """
#define KERNEL extern "C" __attribute__((global)) void
KERNEL phases(unsigned *cells, unsigned *out) {
  unsigned group = __builtin_amdgcn_workgroup_id_x(), lane = __builtin_amdgcn_workitem_id_x();
  if (group == 0) __builtin_amdgcn_ds_gws_init(7, 0);
  while (__atomic_load_n(&cells[16], __ATOMIC_RELAXED) != (group ? 1u : 0u)) {}
  if (group == 0 && lane == 0) __atomic_store_n(&cells[16], 1u, __ATOMIC_RELAXED);
  if (lane == 0) cells[group] = group + 10;
  __builtin_amdgcn_ds_gws_barrier(7, 0);
  if (lane == 0) out[group] = cells[(group + 1) % 8] + cells[(group + 7) % 8];
  __builtin_amdgcn_ds_gws_barrier(7, 0);
  if (lane == 0) cells[group] = 0;
}
"""


@pytest.mark.parametrize("target", ["gfx900", "gfx90a", "gfx942"])
def test_workgroups_meet_at_a_barrier(target: str, tmp_path: Path) -> None:
    """Each of eight workgroups sees the writes of the others before the barrier, and nothing written after the next
    barrier.
    """
    source, output = tmp_path / "phases.hip", tmp_path / "phases.co"
    source.write_text(SOURCE)
    command = ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "-O2"]
    command += [f"--offload-arch={target}", "--no-gpu-bundle-output", str(source), "-o", str(output)]
    subprocess.run(command, check=True)
    cells, out = np.zeros(17, np.uint32), np.zeros(8, np.uint32)
    rocdbg.load(output).kernels["phases"].launch(512, 64, [cells, out]).run(5_000_000)
    assert out.tolist() == [(g + 1) % 8 + (g + 7) % 8 + 20 for g in range(8)]
    assert cells[:8].tolist() == [0] * 8


COOPERATIVE = """
struct Sync { unsigned long mgs; unsigned grid, grids; unsigned long before, all; unsigned w0, w1, groups; };
#define ADD(N) __atomic_fetch_add(&sync->w0, N, __ATOMIC_SEQ_CST)
static __attribute__((device)) void wait() {
#ifdef GWS
  __builtin_amdgcn_ds_gws_barrier(GROUPS - 1, 0);
#else
  Sync *sync = ((Sync **)__builtin_amdgcn_implicitarg_ptr())[11];
  unsigned passed = ADD(1u);
  if ((passed & 0xffff) == sync->groups - 1) ADD(0x10000 - sync->groups);
  else while (__atomic_load_n(&sync->w0, __ATOMIC_SEQ_CST) >> 16 == passed >> 16) {}
#endif
}
extern "C" __attribute__((global)) void ring(unsigned *cells) {
  unsigned group = __builtin_amdgcn_workgroup_id_x();
  if (__builtin_amdgcn_workitem_id_x() == 0)
    for (unsigned step = 1; step <= 3; ++step) {
      unsigned next = __atomic_load_n(&cells[(group + 1) % GROUPS], __ATOMIC_RELAXED);
      wait();
      __atomic_store_n(&cells[group], next, __ATOMIC_RELAXED);
      wait();
    }
}
"""


IDLE = """
extern "C" __attribute__((global)) void idle(unsigned *cells) {
  Sync *sync = ((Sync **)__builtin_amdgcn_implicitarg_ptr())[11];
  cells[__builtin_amdgcn_workgroup_id_x()] = sync != 0;
}
"""


@pytest.mark.parametrize("target", ["gfx906", "gfx90a", "gfx1030", "gfx942", "gfx950", "gfx1100", "gfx1201"])
def test_cooperative_launch(target: str, tmp_path: Path) -> None:
    """The requirements of HIP's grid.sync(): GWS resource 0, or a structure to which a hidden argument points."""
    for groups in (5, 3):
        source, output = tmp_path / "ring.hip", tmp_path / f"ring{groups}.co"
        source.write_text(COOPERATIVE)
        command = ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "-O2"]
        command += ["-DGWS"] if target in ("gfx906", "gfx90a", "gfx1030") else []
        command += [f"--offload-arch={target}", f"-DGROUPS={groups}", "--no-gpu-bundle-output"]
        subprocess.run([*command, str(source), "-o", str(output)], check=True)
        ring = rocdbg.load(output).kernels["ring"]
        for _ in range(2):
            cells = np.arange(groups, dtype=np.uint32)
            ring.launch(groups * 64, 64, [cells]).run(5_000_000)
            assert cells.tolist() == [(n + 3) % groups for n in range(groups)]


@pytest.mark.parametrize(("target", "resident"), [("gfx942", 128), ("gfx1100", 64), ("gfx90a", 128), ("gfx1030", 64)])
def test_a_grid_too_large_to_wait_for_itself(target: str, resident: int, tmp_path: Path) -> None:
    """As hipErrorCooperativeLaunchTooLarge. The same grid is allowed for a kernel that only has the argument."""
    source, output = tmp_path / "ring.hip", tmp_path / "ring.co"
    source.write_text(COOPERATIVE + IDLE)
    command = ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "-O2", "-DGROUPS=5000"]
    command += ["-DGWS"] if target in ("gfx90a", "gfx1030") else []
    command += [f"--offload-arch={target}", "--no-gpu-bundle-output"]
    subprocess.run([*command, str(source), "-o", str(output)], check=True)
    program = rocdbg.load(output)
    cells = np.zeros(5000, np.uint32)
    with pytest.raises(rocdbg.GpuFault) as caught:
        program.kernels["ring"].launch(5000 * 64, 64, [cells]).run(5_000_000)
    why = f"waits for its whole grid of 5000 workgroups, but at most {resident} can be resident at once"
    assert str(caught.value).endswith(f": the kernel {why}")
    program.kernels["idle"].launch(5000 * 64, 64, [cells]).run(5_000_000)
    assert cells.tolist() == [1] * 5000


def test_a_barrier_left_half_passed_is_forgotten() -> None:
    bench = ShareBench("ds_gws_barrier v0 gds")
    bench.vgpr(0)[:] = 2
    assert bench.run() is Status.SLEEP and bench.share.gws[0].tolist() == [1, 0, 0, 2]
    bench.share.start_dispatch()
    assert bench.again() is Status.SLEEP and bench.share.gws[0].tolist() == [1, 0, 0, 2]
    assert bench.again() is Status.SLEEP and bench.again() is Status.SLEEP
    assert bench.share.gws[0].tolist() == [2, 1, 0, 0]


DIRECT = [
    # type in M0[18:16], value of the bytes f0 81 92 a3 at the address
    (0, 0xF0), (1, 0x81F0), (2, 0xA39281F0), (4, 0xFFFFFFF0), (5, 0xFFFF81F0),
]


@pytest.mark.parametrize(("kind", "value"), DIRECT)
@pytest.mark.parametrize("target", ["gfx1100", "gfx1201"])
def test_direct_load(target: str, kind: int, value: int) -> None:
    """All lanes of a quad with an active lane get the element."""
    text = "lds_direct_load v1" if target == "gfx1100" else "ds_direct_load v1"
    text += " wait_vdst:15" if target == "gfx1100" else " wait_va_vdst:15 wait_vm_vsrc:1"
    bench = ShareBench(text, target, kind << 16 | 8, lds=64)
    bench.lds[8:12] = [0xF0, 0x81, 0x92, 0xA3]
    bench.exec = 1 << 2 | 1 << 13 | 1 << 14
    bench.vgpr(1)[:] = 77
    assert bench.run() is Status.END
    want = [value if lane // 4 in (0, 3) else 77 for lane in range(32)]
    assert bench.vgpr(1).tolist() == want


@pytest.mark.parametrize(("kind", "value"), DIRECT)
@pytest.mark.parametrize("target", ["gfx600", "gfx700", "gfx803", "gfx900", "gfx908", "gfx1010", "gfx1030"])
def test_direct_operand(target: str, kind: int, value: int) -> None:
    """Vector arithmetic reads the element in the active lanes, with the modifiers of its operands; instructions that
    move single lanes read it regardless of EXEC.
    """
    both = "v_xad_u32 v2, lds_direct, v1, 1" if target.startswith("gfx10") else "v_xor_b32 v2, lds_direct, v1"
    bench = ShareBench(
        f"""v_mov_b32 v3, lds_direct
        {both}
        v_add_f32_e64 v4, -|lds_direct|, 0
        v_cvt_f32_ubyte1 v5, lds_direct
        v_cmp_lt_i32 vcc{"_lo" if target.startswith("gfx10") else ""}, lds_direct, v1
        v_readfirstlane_b32 s5, lds_direct
        s_mov_b64 exec, 0
        v_readlane_b32 s6, lds_direct, 3""",
        target, kind << 16 | 8, lds=64,
    )
    bench.lds[8:12] = [0xF0, 0x81, 0x92, 0xA3]
    bench.exec = active = 1 << 2 | 1 << 13
    bench.vgpr(1)[:] = lanes = np.arange(bench.wave_size, dtype=np.uint32)
    for number in (2, 3, 4, 5):
        bench.vgpr(number)[:] = 77
    assert bench.run() is Status.END
    is_active = active >> lanes & 1 != 0
    want = {
        2: (value ^ lanes) + target.startswith("gfx10"), 3: value,
        4: value | 0x80000000, 5: np.float32(value >> 8 & 255).view(np.uint32),
    }
    for number, values in want.items():
        assert bench.vgpr(number).tolist() == np.where(is_active, values, 77).tolist(), number
    signed = value - (value >> 31 << 32)
    assert bench.sgprs[106] == sum(1 << int(lane) for lane in lanes if is_active[lane] and signed < lane)
    assert bench.sgprs[5] == bench.sgprs[6] == value


def test_direct_operand_beyond_the_lds() -> None:
    bench = ShareBench("v_mov_b32 v3, 1\nv_mov_b32 v3, lds_direct", "gfx900", 2 << 16 | 64, lds=64)
    assert bench.run() is Status.FAULT
    assert set(bench.vgpr(3).tolist()) == {1} and bench.get("pc") == bench.text.address + 4
    idle = ShareBench("s_mov_b64 exec, 0\nv_mov_b32 v3, lds_direct", "gfx900", 2 << 16 | 64, lds=64)
    assert idle.run() is Status.END


@pytest.mark.parametrize(("target", "code", "what"), [
    ("gfx900", 0x280204FE, "v_or_b32_e32 v1, src_lds_direct, v2"), ("gfx900", 0x200204FE, "v_lshrrev_b32"),
    ("gfx900", 0xBE8000FE, "s_mov_b32"), ("gfx90a", 0x7E0202FE, "v_mov_b32"), ("gfx1100", 0x7E0202FE, "v_mov_b32"),
])
def test_who_cannot_read_it(target: str, code: int, what: str) -> None:
    """Shifts with reversed operands, the scalar unit, and targets without the operand stop; the first case shows that
    the rest of the word is valid.
    """
    bench = ShareBench(f".long {code:#x}", target, 2 << 16, lds=64)
    reads = "src_lds_direct" in what
    assert bench.run() is (Status.END if reads else Status.UNSUPPORTED)


@pytest.mark.parametrize("target", ["gfx900", "gfx1030", "gfx1100"])
def test_lanes_own_dwords(target: str) -> None:
    """The address of ds_*_addtid_b32 is M0[15:0] + offset + 4 * lane."""
    new = target == "gfx1100"
    write, read = ("store", "load") if new else ("write", "read")
    text = f"ds_{write}_addtid_b32 v1 offset:4\nds_{read}_addtid_b32 v2 offset:8"
    bench = ShareBench(text, target, 0xABCD0010, lds=1024)
    bench.vgpr(1)[:] = np.arange(bench.wave_size) + 50
    assert bench.run() is Status.END
    assert bench.lds.view(np.uint32)[5:8].tolist() == [50, 51, 52]
    assert bench.vgpr(2)[:3].tolist() == [51, 52, 53]
