"""Buffer resources: addresses and range checks of each generation."""

from __future__ import annotations

import random

import numpy as np
import pytest
from engine_bench import Bench
from resource_reference import Resource, access

from rocdbg.sim.core.layout import FaultKind, Space, Status
from tests.breadth import EVERYTHING

pytestmark = pytest.mark.llvm
EARLY = {"gfx700": 7, "gfx803": 8}
TARGETS = {"gfx900": 9, "gfx90a": 9, "gfx942": 9, "gfx1030": 10, "gfx1100": 11, "gfx1201": 12}
NEW = {"ubyte": "u8", "ushort": "u16", "dword": "b32", "dwordx2": "b64", "dwordx3": "b96", "dwordx4": "b128"}
SIZES = {"ubyte": 1, "ushort": 2, "dword": 4, "dwordx2": 8, "dwordx3": 12, "dwordx4": 16}


def load(target: str, kind: str, modifiers: str) -> str:
    """A load into v4 and following registers; v0 is the index or the offset, or v[0:1] holds both; s8 is SOFFSET."""
    count = max(1, SIZES[kind] // 4)
    vdata = "v4" if count == 1 else f"v[4:{3 + count}]"
    both = "idxen" in modifiers and "offen" in modifiers
    vaddr = "v[0:1]" if both else "v0" if "en" in modifiers else "off"
    name = NEW[kind] if TARGETS.get(target, 0) >= 11 else kind
    return f"buffer_load_{name} {vdata}, {vaddr}, s[4:7], s8 {modifiers}\ns_endpgm"


class ResourceBench(Bench):
    """One load over an area whose dword n holds n."""

    SIZE = 1 << 16

    def __init__(self, target: str, kind: str, modifiers: str) -> None:
        self.size, self.generation = SIZES[kind], TARGETS.get(target, 9)
        super().__init__(load(target, kind, modifiers), target, 64 if self.generation == 9 else 32)
        self.area = self.memory.allocate(self.SIZE, name="area")
        self.area.data[:] = np.random.default_rng(1).integers(0, 256, self.SIZE, np.uint8)

    def numbered(self) -> None:
        """Make dword n of the area n + 1."""
        self.area.data.view(np.uint32)[:] = np.arange(1, self.SIZE // 4 + 1)

    def go(self, resource: Resource, soffset: int = 0) -> Status:
        for n, word in enumerate(resource.words(self.generation)):
            self.sgprs[4 + n] = word
        self.sgprs[8] = soffset
        self.set("pc", self.text.address)
        for n in range(4):
            self.vgpr(4 + n)[:] = 0xEEEEEEEE
        return self.run()

    def got(self, lane: int) -> list[int]:
        return [int(self.vgpr(4 + n)[lane]) for n in range(max(1, self.size // 4))]


MEASURED = [
    # OOB_SELECT, stride, records, SOFFSET, VGPR offset: dwords 1.. of a 16-byte load; seen on gfx1100 and gfx1201
    (0, 8, 7, 0, 0, [1, 2, 0, 0]),
    (0, 8, 7, 4, 4, [3, 0, 0, 0]),
    (1, 8, 7, 4, 4, [3, 4, 5, 6]),
    (2, 8, 0, 0, 0, [0, 0, 0, 0]),
    (2, 8, 1, 0, 12, [4, 5, 6, 7]),
    (3, 0, 17, 4, 0, [2, 3, 4, 0]),
]


@pytest.mark.parametrize("target", ["gfx1100", "gfx1201"])
@pytest.mark.parametrize(("mode", "stride", "records", "soffset", "offset", "want"), MEASURED)
def test_dwords_are_checked_one_by_one(
    target: str, mode: int, stride: int, records: int, soffset: int, offset: int, want: list[int]
) -> None:
    bench = ResourceBench(target, "dwordx4", "offen")
    bench.numbered()
    bench.vgpr(0)[:] = offset
    assert bench.go(Resource(bench.area.address, stride, records, oob=mode), soffset) is Status.END
    assert bench.got(31) == want


SWIZZLES = [
    # swizzle, add_tid, idxen, index, lane, byte offset that instruction offset 4 and SOFFSET 4 (0 for lane 63) give
    (1, 1, True, 1, 5, 40),
    (1, 1, False, 0, 5, 56),
    (1, 0, False, 0, 5, 8),
    (3, 0, True, 1, 5, 24),
    (0, 1, True, 1, 5, 40),
    (0, 1, False, 0, 5, 168),
]


@pytest.mark.parametrize("target", ["gfx1100", "gfx1201"])
@pytest.mark.parametrize(("swizzle", "add_tid", "idxen", "index", "lane", "where"), SWIZZLES)
def test_swizzled_addresses(
    target: str, swizzle: int, add_tid: int, idxen: bool, index: int, lane: int, where: int
) -> None:
    bench = ResourceBench(target, "dword", f"{'idxen ' * idxen}offset:4")
    bench.numbered()
    bench.vgpr(0)[:] = index
    bench.exec = 1 << lane
    resource = Resource(bench.area.address, 32, 100, swizzle=swizzle, add_tid=add_tid, oob=2)
    assert bench.go(resource, 4) is Status.END
    assert bench.got(lane) == [where // 4 + 1]


GFX9 = [
    # modifiers, resource, SOFFSET, v0, v1: what lane 3 loads (dword n holds n + 1)
    ("offen", Resource(0, records=16), 0, 12, 0, [4]),
    ("offen", Resource(0, records=16), 0, 13, 0, [0]),  # the last byte is one too far
    ("offen", Resource(0, records=16), 4, 12, 0, [0]),  # SOFFSET counts
    ("offen", Resource(0, stride=8, records=16), 0, 12, 0, [4]),  # bytes, not records, without IDXEN
    ("idxen", Resource(0, stride=8, records=2), 0, 1, 0, [3]),
    ("idxen", Resource(0, stride=8, records=2), 0, 2, 0, [0]),
    (
        "idxen offen",
        Resource(0, stride=8, records=2),
        0,
        1,
        800,
        [203],
    ),  # offsets within records are not checked
    ("idxen", Resource(0, stride=0, records=4), 0, 9, 0, [1]),  # a stride of 0: bytes
    (
        "",
        Resource(0, stride=4, records=0, add_tid=1, format=0),
        0,
        0,
        0,
        [4],
    ),  # the lane is the index; no check
    (
        "",
        Resource(0, stride=4, records=0, add_tid=1, format=1),
        0,
        0,
        0,
        [4 * 3 // 4 + 3 * 4096 + 1],
    ),  # stride[17:14]
    ("", Resource(0, records=64, format=0), 0, 0, 0, [0]),  # unbound
]


@pytest.mark.parametrize(("modifiers", "resource", "soffset", "v0", "v1", "want"), GFX9)
@pytest.mark.parametrize("target", ["gfx900", "gfx90a", "gfx942"])
def test_gfx9(
    target: str, modifiers: str, resource: Resource, soffset: int, v0: int, v1: int, want: list[int]
) -> None:
    bench = ResourceBench(target, "dword", modifiers)
    bench.numbered()
    bench.vgpr(0)[:], bench.vgpr(1)[:] = v0, v1
    bench.exec = 8
    values = {**{f: getattr(resource, f) for f in resource.__dataclass_fields__}, "base": bench.area.address}
    assert bench.go(Resource(**values), soffset) is Status.END
    assert bench.got(3) == want


UNSWIZZLED = [
    # modifiers, stride, records, SOFFSET, index, offset: what gfx700 and what gfx803 load (dword n holds n + 1)
    ("idxen", 8, 2, 0, 1, 0, 3, 0),  # two records; two bytes
    ("idxen", 8, 12, 0, 1, 0, 3, 3),
    ("idxen", 8, 11, 0, 1, 0, 3, 0),  # the last byte is one too far
    ("idxen", 8, 12, 4, 1, 0, 4, 0),  # SOFFSET counts
    ("idxen", 8, 400, 0, 50, 0, 101, 0),  # 50 records of 8 bytes are before it
    ("idxen offen", 8, 16, 0, 1, 4, 4, 4),
    ("idxen offen", 8, 15, 0, 1, 4, 4, 0),
    ("idxen", 0, 4, 0, 9, 0, 1, 1),  # no stride: bytes of either
    ("offen", 8, 16, 0, 0, 12, 4, 4),  # no index: bytes of either
    ("offen", 8, 15, 0, 0, 12, 0, 0),
]


@pytest.mark.parametrize(("modifiers", "stride", "records", "soffset", "index", "offset", "gfx7", "gfx8"), UNSWIZZLED)
@pytest.mark.parametrize("target", EARLY)
def test_gfx8_counts_bytes_where_nothing_is_swizzled(
    target: str, modifiers: str, stride: int, records: int, soffset: int, index: int, offset: int, gfx7: int, gfx8: int
) -> None:
    bench = ResourceBench(target, "dword", modifiers)
    bench.numbered()
    bench.vgpr(0)[:] = index if "idxen" in modifiers else offset
    bench.vgpr(1)[:] = offset
    assert bench.go(Resource(bench.area.address, stride, records, format=4), soffset) is Status.END
    assert bench.got(3) == [gfx7 if target == "gfx700" else gfx8]


def test_structured_swizzle_of_gfx9_and_what_gfx940_makes_of_it() -> None:
    """Index 9, offset 4, groups of 8, stride 16: (1 * 16 + 4) * 8 + 1 * 4 bytes; linear on gfx942."""
    for target, where in (("gfx900", 164), ("gfx942", 9 * 16 + 4)):
        bench = ResourceBench(target, "dword", "idxen offset:4")
        bench.numbered()
        bench.vgpr(0)[:] = 9
        assert bench.go(Resource(bench.area.address, 16, 10, swizzle=2)) is Status.END
        assert bench.got(0) == [where // 4 + 1]


def test_the_scale_of_a_stride() -> None:
    """GFX12: the two bits count strides in units of 1, 4, 8 or 32 bytes."""
    bench = ResourceBench("gfx1201", "dword", "idxen")
    bench.numbered()
    for scale, factor in enumerate((1, 4, 8, 32)):
        for stride in (4, 12):
            bench.vgpr(0)[:] = 3
            assert bench.go(Resource(bench.area.address, stride, 10, scale=scale)) is Status.END
            assert bench.got(0) == [3 * stride * factor // 4 + 1], (scale, stride)


MODIFIERS = ("", "offset:20", "offen", "idxen", "idxen offen", "idxen offset:4")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", SIZES)
def test_random_resources(target: str, kind: str) -> None:
    """Values of the bytes in range, zeros for the rest, and faults exactly where bytes are not mapped."""
    rng = random.Random(f"{target} {kind}")
    generation, measured = TARGETS[target], target == "gfx942"
    faults = hits = misses = 0
    for modifiers in MODIFIERS:
        bench = ResourceBench(target, kind, modifiers)
        idxen, offen = "idxen" in modifiers, "offen" in modifiers
        constant = int(modifiers.partition("offset:")[2] or 0)
        for _ in range(12 if EVERYTHING else 6):
            swizzle = rng.choice((0, 0, 2) if generation < 11 else (0, 0, 1, 3))
            resource = Resource(
                bench.area.address + rng.choice((0, 64, 1001, bench.SIZE - 400)), rng.choice((0, 0, 4, 16, 64, 100)),
                rng.choice((0, 1, 3, 16, 60, 300, 5000, 0xFFFFFFFF)), swizzle, rng.randrange(4),
                rng.choice((0, 0, 1)), rng.randrange(4), rng.choice((20, 20, 1, 0)) if generation > 9 else
                rng.choice((4, 4, 1, 0)), rng.choice((0, 0, 1, 2, 3)),
            )
            soffset = rng.choice((0, 0, 4, 40, 1000))
            indices = np.array([rng.choice((0, 1, 2, 5, 30, 400)) for _ in range(bench.wave_size)], np.uint32)
            # Swizzled multi-dword accesses stay aligned: what unaligned ones do is not specified.
            unit = 4 if swizzle else 1
            offsets = np.array([rng.randrange(0, 80, unit) for _ in range(bench.wave_size)], np.uint32)
            bench.vgpr(0)[:] = indices if idxen else offsets
            bench.vgpr(1)[:] = offsets
            status = bench.go(resource, soffset)
            bad = {}
            for lane in range(bench.wave_size):
                offset = constant + (int(offsets[lane]) if offen else 0)
                addresses, live = access(
                    resource,
                    generation,
                    measured,
                    bench.size,
                    lane,
                    idxen,
                    int(indices[lane]),
                    offset,
                    soffset,
                )
                outside = [a for a in addresses[:live] if not bench.area.address <= a < bench.area.end]
                if outside:
                    bad[lane] = addresses[0] if not resource.swizzle else None
                if status is Status.END:
                    assert not outside
                    data = bytes(bench.area.data[a - bench.area.address] for a in addresses[:live])
                    want = np.frombuffer(data.ljust(max(4, bench.size), b"\0"), np.uint32).tolist()
                    assert bench.got(lane) == want, (resource, soffset, modifiers, lane, live)
                    hits, misses = hits + (live > 0), misses + (live == 0)
            assert (status is Status.FAULT) == bool(bad), (resource, soffset, modifiers)
            if bad:
                faults += 1
                fault = bench.engine.fault()
                assert (fault.kind, fault.space, sorted(fault.addresses)) == (
                    FaultKind.UNMAPPED, Space.BUFFER, sorted(bad),
                )
                assert all(
                    fault.addresses[n] == a for n, a in bad.items() if a is not None and not resource.swizzle
                )
    assert faults and hits > 300 and misses > 300


STORES = {1: "byte", 2: "short", 4: "dword", 8: "dwordx2", 12: "dwordx3", 16: "dwordx4"}
NEW_STORES = {1: "b8", 2: "b16", 4: "b32", 8: "b64", 12: "b96", 16: "b128"}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("size", STORES)
def test_random_stores(target: str, size: int) -> None:
    """Memory after stores through random resources: lane by lane, the bytes in range."""
    rng = random.Random(f"stores {target} {size}")
    generation, measured, wave = TARGETS[target], target == "gfx942", 64 if target.startswith("gfx9") else 32
    count = max(1, size // 4)
    name = (NEW_STORES if generation >= 11 else STORES)[size]
    vdata = "v4" if count == 1 else f"v[4:{3 + count}]"
    text = f"buffer_store_{name} {vdata}, v[0:1], s[4:7], s8 idxen offen offset:8\ns_endpgm"
    bench = Bench(text, target, wave)
    area = bench.memory.allocate(1 << 16, name="area")
    for n in range(count):
        bench.vgpr(4 + n)[:] = np.random.default_rng(n).integers(0, 1 << 32, wave)
    stored = 0
    for _ in range(25):
        swizzle = rng.choice((0, 0, 2) if generation < 11 else (0, 0, 1, 3))
        adds = rng.choice((0, 0, 1))
        format = rng.choice((20, 20, 0)) if generation > 9 else 0 if adds else rng.choice((4, 0))
        resource = Resource(
            area.address + rng.choice((0, 64, 1001)),
            rng.choice((0, 4, 16, 20)),
            rng.choice((0, 3, 60, 900, 0xFFFFFFFF)),
            swizzle,
            rng.randrange(4),
            adds,
            rng.randrange(4),
            format,
            rng.choice((0, 1)),
        )
        for n, word in enumerate(resource.words(generation)):
            bench.sgprs[4 + n] = word
        bench.sgprs[8] = soffset = rng.choice((0, 4, 40))
        bench.vgpr(0)[:] = [rng.choice((0, 1, 2, 5, 30)) for _ in range(wave)]
        bench.vgpr(1)[:] = [rng.randrange(0, 80, 4 if swizzle else 1) for _ in range(wave)]
        area.data[:] = 0xCC
        want = area.data.copy()
        for lane in range(wave):
            index, offset = int(bench.vgpr(0)[lane]), int(bench.vgpr(1)[lane]) + 8
            addresses, live = access(resource, generation, measured, size, lane, True, index, offset, soffset)
            data = b"".join(int(bench.vgpr(4 + n)[lane]).to_bytes(4, "little") for n in range(count))
            for at, byte in zip(addresses[:live], data, strict=False):
                want[at - area.address] = byte
            stored += live > 0
        bench.set("pc", bench.text.address)
        assert bench.run() is Status.END
        np.testing.assert_array_equal(area.data, want, err_msg=str(resource))
    assert stored > 100


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("wide", [False, True])
def test_atomics_out_of_range_give_zero_and_do_nothing(target: str, wide: bool) -> None:
    """22 bytes: all of an atomic's bytes must be in range (from gfx11 on; gfx10 checks where dwords begin)."""
    size, suffix = (8, "u64" if TARGETS[target] >= 11 else "x2") if wide else (4, "u32")
    new = TARGETS[target] >= 11
    name = f"add_{suffix}" if new else "add_x2" if wide else "add"
    returns = {9: "glc", 10: "glc", 11: "glc", 12: "th:TH_ATOMIC_RETURN"}[TARGETS[target]]
    returns = "sc0" if target == "gfx942" else returns
    data = "v[4:5]" if wide else "v4"
    zero = "null" if target == "gfx1201" else "0"
    bench = Bench(
        f"buffer_atomic_{name} {data}, v0, s[4:7], {zero} offen {returns}\ns_endpgm",
        target, 64 if target.startswith("gfx9") else 32,
    )
    area = bench.memory.allocate(1024, name="area")
    area.data.view(np.uint32)[:] = 100 + np.arange(256)
    for n, word in enumerate(Resource(area.address, 0, 22, oob=3).words(TARGETS[target])):
        bench.sgprs[4 + n] = word
    lanes = np.arange(bench.wave_size)
    bench.vgpr(0)[:], bench.vgpr(4)[:], bench.vgpr(5)[:] = lanes * size, lanes + 1, 0
    assert bench.run() is Status.END
    inside = lanes * size + size <= (24 if TARGETS[target] == 10 else 22)
    np.testing.assert_array_equal(bench.vgpr(4), np.where(inside, 100 + lanes * size // 4, 0))
    want = 100 + np.arange(256)
    want[lanes[inside] * size // 4] += lanes[inside] + 1
    np.testing.assert_array_equal(area.data.view(np.uint32), want)
