"""Tiled images: the order of texels in blocks, against AMD's address library and in translated code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from image_bench import ImageBench, text
from msgspec.structs import replace

from rocdbg.arch.targets import target_by_name
from rocdbg.sim.core.layout import FaultKind, Status
from rocdbg.sim.images.chips import CHIPS, chip_of
from rocdbg.sim.images.fields import Rules
from rocdbg.sim.images.image_descriptor import ImageDescriptor, ImageType
from rocdbg.sim.images.made_image import made_image
from rocdbg.sim.images.texel_formats import code_of
from rocdbg.sim.images.tiles import TILINGS, equation, tiling_named

FORMATS = {1: "8_UINT", 2: "16_UINT", 4: "32_UINT", 8: "32_32_UINT", 16: "32_32_32_32_UINT"}
ADDRESSES = (Path(__file__).parent / "tiled_addresses.txt").read_text().splitlines()


def image_of(
    target: str, tiling: str, size: int, kind: ImageType, sizes: tuple[int, int, int], base: int = 0, levels: int = 1
) -> ImageDescriptor:
    chip = chip_of(target_by_name(target))
    known, code = tiling_named(chip.rules, tiling), code_of(chip.rules, FORMATS[size])
    assert known is not None and code is not None
    return made_image(chip, kind, code, base, sizes, levels, tiling=known.mode)[0]


@pytest.mark.parametrize("line", [line for line in ADDRESSES if not line.startswith("#")])
def test_addresses(line: str) -> None:
    target, tiling, size, kind, sizes, place, address, total, *level = line.split()
    levels, number = map(int, level or (1, 0))
    width, height, slices = map(int, sizes.split("x"))
    x, y, z = map(int, place.split(","))
    shape = ImageType.THREE if kind == "3D" else ImageType.TWO_ARRAY
    layout = image_of(target, tiling, int(size), shape, (width, height, slices), levels=levels).layout()
    assert layout is not None
    assert int(layout.offsets(number, slices)[z, y, x]) == int(address) and layout.size == int(total)


@pytest.mark.parametrize(
    ("size", "first"),
    [
        (1, "00 10 20 30 40 50 60 70 02 12"), (2, "00 10 20 30 40 50 60 70 01 11"),
        (4, "00 10 20 30 01 11 21 31 40 50"), (8, "00 10 01 11 20 30 21 31 40 50"),
        (16, "00 01 10 11 20 21 30 31 40 41"),
    ],
)
def test_order_for_displays(size: int, first: str) -> None:
    """The first texels of a block in memory are listed as column and row."""
    for target in ("gfx600", "gfx700", "gfx803"):
        layout = image_of(target, "1D_DISPLAY", size, ImageType.TWO, (16, 16, 1)).layout()
        assert layout is not None
        where = layout.offsets(0, 1)[0] // size
        places = {int(where[y, x]): f"{x}{y}" for y in range(8) for x in range(8)}
        assert [places[n] for n in range(10)] == first.split()
        assert int(where[8, 8]) == 3 * 64


def test_blocks_hold_each_texel_once() -> None:
    """The bits of the coordinates within a block alone reach every place of a texel, regardless of the other bits."""
    seen = 0
    for chip in CHIPS:
        for tiling in TILINGS[chip.rules]:
            for size in range(5):
                for three in (False, True):
                    order = equation(chip, tiling.mode, size, three)
                    if order is None:
                        continue
                    seen += 1
                    inside = [(1 << n) - 1 for n in (order.width, order.height, order.depth)]
                    rows = [sum((m & i) << 16 * k for k, (m, i) in enumerate(zip(bits, inside, strict=True)))
                            for bits in order.bits]  # fmt: skip
                    assert not any(rows[:size]) and rank(rows[size:]) == len(rows) - size, (chip, tiling, size)
                    assert order.width + order.height + order.depth == len(rows) - size
    assert seen > 1000


def rank(rows: list[int]) -> int:
    """The rank of a matrix of bits."""
    found = 0
    rows = list(rows)
    while rows:
        row = rows.pop()
        if row:
            found += 1
            low = row & -row
            rows = [other ^ row if other & low else other for other in rows]
    return found


RUNS = [
    # target, tiling, bytes of a texel, type, sizes
    ("gfx700", "1D_THIN", 4, ImageType.TWO, (50, 30, 1)), ("gfx803", "1D_THIN", 16, ImageType.TWO_ARRAY, (20, 9, 3)),
    ("gfx803", "1D_THIN", 1, ImageType.THREE, (20, 9, 3)), ("gfx803", "1D_DISPLAY", 4, ImageType.TWO, (50, 30, 1)),
    ("gfx700", "1D_DISPLAY", 16, ImageType.TWO_ARRAY, (20, 9, 3)),
    ("gfx900", "64KB_S", 4, ImageType.TWO, (300, 200, 1)), ("gfx906", "4KB_D_X", 2, ImageType.TWO_ARRAY, (99, 50, 5)),
    ("gfx906", "64KB_S_X", 8, ImageType.THREE, (40, 40, 40)), ("gfx900", "64KB_R_X", 1, ImageType.TWO, (600, 300, 1)),
    ("gfx1010", "64KB_R_X", 4, ImageType.CUBE, (200, 200, 6)), ("gfx1030", "64KB_R_X", 16, ImageType.TWO, (99, 77, 1)),
    ("gfx1030", "4KB_S_X", 4, ImageType.THREE, (20, 33, 40)), ("gfx1030", "256B_D", 1, ImageType.TWO, (70, 50, 1)),
    ("gfx1100", "256KB_R_X", 4, ImageType.TWO_ARRAY, (300, 300, 3)),
    ("gfx1100", "256KB_S_X", 1, ImageType.THREE, (70, 70, 70)), ("gfx1100", "64KB_D", 8, ImageType.TWO, (140, 140, 1)),
    ("gfx1201", "64KB_2D", 4, ImageType.TWO, (300, 150, 1)), ("gfx1201", "256KB_3D", 2, ImageType.THREE, (40, 70, 66)),
]


@pytest.mark.llvm
@pytest.mark.parametrize(("target", "tiling", "size", "kind", "sizes"), RUNS)
def test_loads_and_stores(
    target: str, tiling: str, size: int, kind: ImageType, sizes: tuple[int, int, int]
) -> None:
    deep = kind is not ImageType.TWO
    bench = ImageBench(text(target, "image_load", kind, 2 + deep, 15), target)
    image = image_of(target, tiling, size, kind, sizes)
    layout = image.layout()
    assert layout is not None
    area = bench.memory.allocate(layout.size + layout.align, layout.align, name="image")
    area.data[:] = np.random.default_rng(1).integers(0, 256, area.size, np.uint8)
    # Low bits of the base mix the channels: not of blocks of 256 bytes and less.
    mixed = 0x300 if layout.align > 256 else 0
    image = replace(image, base=area.address | mixed)
    bench.describe(image)
    rng, lanes, offsets = np.random.default_rng(2), bench.wave_size, layout.offsets(0, sizes[2]) ^ mixed
    x, y, z = (rng.integers(0, count, lanes) for count in sizes)
    places = [int(offsets[at]) for at in zip(z, y, x, strict=True)]
    assert bench.go(x, y, *[z] * deep) is Status.END
    read = bench.results().view(np.uint8)
    for lane, place in enumerate(places):
        channel = min(size, 4)
        want = np.zeros(16, np.uint8)
        for n in range(size // channel):
            want[4 * n : 4 * n + channel] = area.data[place + n * channel : place + (n + 1) * channel]
        assert read[lane].tolist() == want.tolist(), (lane, place)
    # One past each edge is outside, though the block continues.
    assert bench.go([sizes[0]], [0], *[[0]] * deep) is Status.END and not bench.results()[:, :1].any()

    store = ImageBench(text(target, "image_store", kind, 2 + deep, 15), target)
    area = store.memory.allocate(area.size, layout.align, name="image")
    store.describe(replace(image, base=area.address | mixed))
    area.data[:] = 0xEE
    wanted = area.data.copy()
    store.exec, store.vgpr(0)[:], store.vgpr(1)[:] = 1, 0x55, 0x66
    for place in places[:1]:
        wanted[place : place + size] = 0
        wanted[place] = 0x55
        if size >= 8:
            wanted[place + 4] = 0x66
    store.vgpr(2)[:] = store.vgpr(3)[:] = 0
    assert store.go(x, y, *[z] * deep) is Status.END
    assert np.array_equal(area.data, wanted)


LEVELS = [
    ("gfx1010", "64KB_R_X", 4, ImageType.TWO, (300, 260, 1)), ("gfx1030", "64KB_R_X", 2, ImageType.CUBE, (140, 140, 6)),
    ("gfx1030", "4KB_S_X", 4, ImageType.THREE, (40, 33, 20)), ("gfx1030", "256B_S", 1, ImageType.TWO, (99, 50, 1)),
    ("gfx1100", "256KB_R_X", 1, ImageType.TWO_ARRAY, (600, 300, 3)),
    ("gfx1100", "64KB_S_X", 8, ImageType.THREE, (70, 20, 30)),
    ("gfx1201", "4KB_2D", 16, ImageType.TWO_ARRAY, (50, 60, 2)),
]


@pytest.mark.llvm
@pytest.mark.parametrize(("target", "tiling", "size", "kind", "sizes"), LEVELS)
def test_levels(target: str, tiling: str, size: int, kind: ImageType, sizes: tuple[int, int, int]) -> None:
    deep, levels = kind is not ImageType.TWO, max(sizes[:2]).bit_length()
    bench = ImageBench(text(target, "image_load_mip", kind, 3 + deep, 1), target)
    image = image_of(target, tiling, size, kind, sizes, levels=levels)
    layout = image.layout()
    assert layout is not None
    area = bench.memory.allocate(layout.size, layout.align, name="image")
    area.data[:] = np.random.default_rng(1).integers(0, 256, area.size, np.uint8)
    bench.describe(replace(image, base=area.address))
    rng = np.random.default_rng(2)
    for level, known in enumerate(layout.levels):
        slices = known.depth if kind is ImageType.THREE else sizes[2]
        x, y, z = (rng.integers(0, n, bench.wave_size) for n in (known.width, known.height, slices))
        offsets = layout.offsets(level, slices)
        assert bench.go(x, y, *[z] * deep, np.full(bench.wave_size, level)) is Status.END
        for lane, at in enumerate(zip(z, y, x, strict=True)):
            place = int(offsets[at])
            want = int.from_bytes(area.data[place : place + min(size, 4)].tobytes(), "little")
            assert int(bench.vgpr(0)[lane]) == want, (level, at)
        assert bench.go([known.width], [0], *[[0]] * deep, [level]) is Status.END and not bench.vgpr(0).any()


def test_levels_do_not_overlap() -> None:
    for target, tiling, size, kind, sizes in LEVELS:
        layout = image_of(target, tiling, size, kind, sizes, levels=max(sizes[:2]).bit_length()).layout()
        assert layout is not None
        used = [
            layout.offsets(n, level.depth if kind is ImageType.THREE else sizes[2]).reshape(-1)
            for n, level in enumerate(layout.levels)
        ]
        places = np.concatenate(used)
        assert len(np.unique(places)) == len(places) and places.max() < layout.size and not (places % size).any()


@pytest.mark.llvm
def test_what_stops() -> None:
    bench = ImageBench(text("gfx1101", "image_load", ImageType.TWO, 2), "gfx1101")
    image = image_of("gfx1100", "64KB_R_X", 4, ImageType.TWO, (9, 9, 1), 1 << 16)
    for change, kind, why in (
        ({}, FaultKind.CHANNELS, "the image's tiling 64KB_R_X mixes memory channels, and the target's number"),
        ({"tiling": 24}, FaultKind.TILED, "the image is tiled in a way that is not simulated (mode 24)"),
        ({"tiling": 9}, FaultKind.TILED, "the image's tiling 64KB_S is not simulated for its type and format"),
    ):
        other = replace(image, chip=chip_of(target_by_name("gfx1101")), **change)  # type: ignore[arg-type]
        assert (other.problem or "").startswith(why)
        bench.describe(other)
        assert bench.go([0], [0]) is Status.FAULT and bench.engine.fault().kind is kind


@pytest.mark.llvm
@pytest.mark.parametrize(
    ("target", "tiling", "kind"),
    [("gfx900", "64KB_D", ImageType.TWO), ("gfx700", "1D_THIN", ImageType.TWO), ("gfx1201", "4KB_3D", ImageType.THREE)],
)
def test_levels_that_stop(target: str, tiling: str, kind: ImageType) -> None:
    bench = ImageBench(text(target, "image_load", kind, 3 if kind is ImageType.THREE else 2), target)
    image = replace(image_of(target, tiling, 4, kind, (9, 9, 9), 1 << 16), last_level=1, max_mip=1)
    assert image.problem == f"the image is tiled ({tiling}) and has levels of detail, which is not simulated"
    bench.describe(image)
    assert bench.go([0], [0], [0]) is Status.FAULT and bench.engine.fault().kind is FaultKind.LEVELS


def test_gfx9s_depth_tiling_is_not_linear() -> None:
    """Mode 20 is 4KB_Z_X, which must not be treated as linear."""
    known = tiling_named(Rules.GFX9, "4kb_z_x")
    assert known is not None and known.mode == 20 and Rules.GFX9.linear == 0
