"""Counting reads of bytes that were never written."""

from __future__ import annotations

import numpy as np
import pytest
from engine_bench import Bench, assemble

from rocdbg.arch.targets import target_by_name
from rocdbg.sim.core import layout
from rocdbg.sim.core.layout import PageFlags, Status
from rocdbg.sim.core.memory import Allocation, AllocationKind, GlobalMemory
from rocdbg.sim.core.uninitialized_reads import CAPACITY, UninitializedRead, UninitializedReads
from rocdbg.sim.engine.native import Engine

pytestmark = pytest.mark.llvm


class WatchedBench(Bench):
    """As `Bench`, with memory that records which bytes were written."""

    def __init__(self, text: str, target: str = "gfx90a", wave_size: int = 64, lds: int = 0) -> None:
        super().__init__(text + "\ns_endpgm", target, wave_size, lds)
        self.reads = UninitializedReads()
        self.memory = GlobalMemory(watched=True)
        self.code = assemble(text + "\ns_endpgm", target, wave_size)
        self.text = self.memory.allocate(
            len(self.code) + 64, name="code", kind=AllocationKind.CODE, protection=PageFlags(7)
        )
        self.memory.write(self.text.address, self.code)
        self.engine = Engine(
            target_by_name(target), wave_size, self.memory.page_table_address, self.fetch,
            reads_table=self.reads.address,
        )
        self.set("pc", self.text.address)
        self.set("number", 3)

    def rows(self) -> list[tuple[int, int, int, int | None, int]]:
        """(offset of the instruction, reads, bytes, first lane, first address) per row."""
        return [
            (row.pc - self.text.address, row.reads, row.bytes, row.lane, row.address)
            for row in self.reads.rows
        ]

    def fresh(self, size: int) -> Allocation:
        return self.memory.allocate(size, name="fresh")


def test_loads_count_lanes_and_bytes_and_name_the_first() -> None:
    bench = WatchedBench("s_nop 0\nglobal_load_dword v1, v0, s[0:1]")
    buffer = bench.fresh(1024)
    bench.memory.write(buffer.address, bytes(5 * 4 + 2))
    bench.set64(0, buffer.address)
    bench.vgpr(0)[:] = np.arange(64) * 4
    bench.exec = 0xFF
    assert bench.run() is Status.END
    # Lane 5 misses two bytes, lanes 6 and 7 four each.
    assert bench.rows() == [(4, 3, 10, 5, buffer.address + 22)]
    row = bench.reads.rows[0]
    assert (row.wave, row.size) == (3, 4)
    bench.set("pc", bench.text.address)
    assert bench.run() is Status.END
    assert bench.rows() == [(4, 6, 20, 5, buffer.address + 22)]
    bench.reads.clear()
    assert bench.reads.rows == ()


def test_stores_mark_exactly_what_they_write() -> None:
    bench = WatchedBench(
        "global_store_byte v0, v1, s[0:1]\ns_mov_b64 exec, -1\nglobal_load_ubyte v2, v3, s[0:1]"
    )
    buffer = bench.fresh(64)
    bench.set64(0, buffer.address)
    bench.vgpr(0)[:], bench.vgpr(3)[:] = np.arange(64) ^ 1, np.arange(64)
    bench.exec = 0x0F0F
    assert bench.run() is Status.END
    assert buffer.written is not None
    assert np.flatnonzero(buffer.written).tolist() == [0, 1, 2, 3, 8, 9, 10, 11]
    assert [row[1:4] for row in bench.rows()] == [(56, 56, 4)]


def test_atomics_read_and_write() -> None:
    bench = WatchedBench("global_atomic_add v0, v1, s[0:1]")
    buffer = bench.fresh(64)
    bench.set64(0, buffer.address)
    assert bench.run() is Status.END  # all lanes on one dword: only the first finds it unwritten
    assert [row[1:4] for row in bench.rows()] == [(1, 4, 0)]


def test_flat_accesses_count_in_global_memory_only() -> None:
    bench = WatchedBench("flat_load_dword v1, v[2:3]", lds=256)
    buffer = bench.fresh(256)
    addresses = np.full(64, layout.SHARED_APERTURE, np.uint64)
    addresses[7] = buffer.address + 8
    bench.set_vgpr64(2, addresses)
    assert bench.run() is Status.END
    assert bench.rows() == [(0, 1, 4, 7, buffer.address + 8)]


def test_scalar_loads() -> None:
    bench = WatchedBench("s_load_dwordx4 s[4:7], s[0:1], 0x8")
    buffer = bench.fresh(64)
    bench.memory.write(buffer.address, bytes(16))
    bench.set64(0, buffer.address)
    assert bench.run() is Status.END
    assert bench.rows() == [(0, 1, 8, None, buffer.address + 16)]


@pytest.mark.parametrize(("target", "kind"), [("gfx90a", "dwordx2"), ("gfx1100", "b64")])
def test_buffer_loads_count_what_is_in_range(target: str, kind: str) -> None:
    bench = WatchedBench(f"buffer_load_{kind} v[2:3], v0, s[0:3], 0 offen", target, 64)
    buffer = bench.fresh(1024)
    bench.memory.write(buffer.address, bytes(64))
    bench.set64(0, buffer.address)
    bench.set64(2, 84 | (0x27FAC if target == "gfx90a" else 0x31014FAC) << 32)
    bench.vgpr(0)[:] = np.arange(64) * 8
    assert bench.run() is Status.END
    assert bench.rows() == [(0, 3, 20, 8, buffer.address + 64)]  # 64..83: two whole lanes and half of one


def test_formats_count_the_bytes_of_their_elements() -> None:
    bench = WatchedBench(
        "tbuffer_store_format_x v1, v0, s[0:3], 0 format:[BUF_DATA_FORMAT_16] idxen\n"
        "buffer_load_format_xyzw v[4:7], v0, s[0:3], 0 idxen",
        "gfx900",
    )
    buffer = bench.fresh(1024)
    bench.set64(0, buffer.address | 4 << 48)
    bench.set64(2, 64 | (0xFAC | 4 << 12 | 10 << 15) << 32)  # 8_8_8_8_UINT
    bench.vgpr(0)[:] = np.arange(64)
    assert bench.run() is Status.END
    assert bench.rows() == [(8, 64, 128, 0, buffer.address + 2)]


def test_more_instructions_than_rows_are_counted_as_lost() -> None:
    bench = WatchedBench("global_load_ubyte v1, v0, s[0:1]\n" * (CAPACITY + 5))
    buffer = bench.fresh(64)
    bench.set64(0, buffer.address)
    bench.exec = 1
    assert bench.run() is Status.END
    assert len(bench.reads.rows) == CAPACITY and bench.reads.lost == 5
    assert all(row == UninitializedRead(row.pc, 1, 1, 3, 0, buffer.address, 1) for row in bench.reads.rows)


def test_a_fault_counts_nothing() -> None:
    bench = WatchedBench("global_load_dword v1, v0, s[0:1]")
    buffer = bench.fresh(64)
    bench.set64(0, buffer.address)
    bench.vgpr(0)[:] = np.arange(64) * 4
    assert bench.run() is Status.FAULT
    assert bench.rows() == []


def test_what_is_not_watched_has_no_shadow() -> None:
    plain, watched = GlobalMemory(), GlobalMemory(watched=True)
    assert plain.allocate(100).written is None
    for kind in (AllocationKind.CODE, AllocationKind.KERNARG, AllocationKind.SCRATCH):
        assert watched.allocate(100, kind=kind).written is None
    buffer = watched.allocate(100)
    buffer.mark_written(10, 5)
    watched.write(buffer.address + 50, b"ab")
    assert buffer.written is not None and np.flatnonzero(buffer.written).tolist() == [*range(10, 15), 50, 51]
    assert buffer.data.size == 100 and not np.shares_memory(buffer.data, buffer.written)
