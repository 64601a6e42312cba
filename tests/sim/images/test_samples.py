"""Samples, gathers and levels of detail, against an oracle in NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from image_bench import TARGETS, ImageBench, made, text
from image_reference import Texels, filtered, gathered
from numpy.typing import NDArray

from rocdbg.sim.core.layout import Status
from rocdbg.sim.core.memory import Allocation
from rocdbg.sim.images.image_descriptor import ImageType
from rocdbg.sim.images.sampler_descriptor import LINEAR, MIP_LINEAR, MIP_POINT, POINT, Border, Clamp, SamplerDescriptor
from rocdbg.sim.images.texel_layout import ImageLayout

pytestmark = pytest.mark.llvm


def texels(area: Allocation, layout: ImageLayout, level: int = 0, slices: int | None = None) -> Texels:
    """[z][y][x][channel] of an 8_8_8_8_UNORM level."""
    at = layout.levels[level]
    found = np.zeros((slices or at.depth, at.height, at.width, 4), np.float64)
    for z in range(found.shape[0]):
        start = z * at.slice + at.offset
        rows = area.data[start : start + at.pitch * at.height * 4].reshape(at.height, at.pitch, 4)
        found[z] = (rows[:, : at.width] / np.float32(255)).astype(np.float32)
    return found


def places(bench: ImageBench, seed: int, low: float = -1.6, high: float = 2.7) -> NDArray[np.float32]:
    """Random coordinates, a few of them unusual."""
    found = np.random.default_rng(seed).uniform(low, high, bench.wave_size).astype(np.float32)
    found[:6] = (0, 1, 0.5, math.inf, math.nan, -0.0)
    return found


def sampler_of(bench: ImageBench, clamp: Clamp, filter: int, **more: object) -> SamplerDescriptor:
    made = SamplerDescriptor(bench.rules, (clamp, clamp, clamp), filter, filter, **more)  # type: ignore[arg-type]
    bench.sample_with(made)
    return made


def points(*axes: NDArray[np.float32]) -> list[tuple[float, ...]]:
    """The coordinates of each lane."""
    return [tuple(float(value) for value in lane) for lane in zip(*axes, strict=True)]


def agrees(bench: ImageBench, want: list[NDArray[np.float64]]) -> None:
    got = bench.real()
    for lane, expected in enumerate(want):
        assert np.allclose(got[lane], expected, rtol=0, atol=1e-6), f"lane {lane}: {got[lane]}, expected {expected}"


@pytest.mark.parametrize("target", TARGETS)
def test_wrapping_and_filters(target: str) -> None:
    bench = ImageBench(text(target, "image_sample_lz", ImageType.TWO, 2, sampler=True), target)
    _, area, layout = made(bench, ImageType.TWO, "8_8_8_8_UNORM", 13, 6)
    known = texels(area, layout)
    for seed, clamp in enumerate(Clamp):
        for filter in (POINT, LINEAR):
            sampler = sampler_of(bench, clamp, filter, border=seed % 3, truncate=seed % 2 == 1)
            x, y = places(bench, seed), places(bench, seed + 50)
            assert bench.go(x, y) is Status.END
            agrees(bench, [filtered(known, at, sampler, bool(filter)) for at in points(x, y)])


@pytest.mark.parametrize("target", ["gfx900", "gfx1030", "gfx1201"])
def test_coordinates_in_texels(target: str) -> None:
    bench = ImageBench(text(target, "image_sample_lz", ImageType.TWO, 2, sampler=True), target)
    _, area, layout = made(bench, ImageType.TWO, "8_8_8_8_UNORM", 13, 6)
    sampler = sampler_of(bench, Clamp.BORDER, LINEAR, unnormalized=True, border=Border.OPAQUE_BLACK)
    x, y = places(bench, 1, -2, 15), places(bench, 2, -2, 8)
    assert bench.go(x, y) is Status.END
    agrees(bench, [filtered(texels(area, layout), at, sampler, True) for at in points(x, y)])


@pytest.mark.parametrize("target", ["gfx900", "gfx1100"])
def test_dimensions(target: str) -> None:
    bench = ImageBench(text(target, "image_sample_lz", ImageType.ONE, 1, sampler=True), target)
    _, area, layout = made(bench, ImageType.ONE, "8_8_8_8_UNORM", 13)
    sampler, x = sampler_of(bench, Clamp.MIRROR, LINEAR), places(bench, 1)
    assert bench.go(x) is Status.END
    agrees(bench, [filtered(texels(area, layout), at, sampler, True) for at in points(x)])

    bench = ImageBench(text(target, "image_sample_lz", ImageType.THREE, 3, sampler=True), target)
    _, area, layout = made(bench, ImageType.THREE, "8_8_8_8_UNORM", 5, 4, depth=3)
    known, (x, y, z) = texels(area, layout), (places(bench, n) for n in range(3))
    for z_filter in range(3):
        sampler = sampler_of(bench, Clamp.WRAP, LINEAR, z_filter=z_filter)
        assert bench.go(x, y, z) is Status.END
        agrees(bench, [filtered(known, at, sampler, True, linear_z=z_filter != 1) for at in points(x, y, z)])

    bench = ImageBench(text(target, "image_sample_lz", ImageType.TWO_ARRAY, 3, sampler=True), target)
    _, area, layout = made(bench, ImageType.TWO_ARRAY, "8_8_8_8_UNORM", 5, 4, layers=3)
    known, sampler = texels(area, layout, slices=3), sampler_of(bench, Clamp.EDGE, LINEAR)
    layer = places(bench, 3, -1, 4)
    assert bench.go(x[: bench.wave_size], y[: bench.wave_size], layer) is Status.END
    numbers = [min(max(round(float(c)), 0), 2) if math.isfinite(c) else 0 for c in layer]
    wants = zip(points(x, y), numbers, strict=True)
    agrees(bench, [filtered(known[n : n + 1], at, sampler, True) for at, n in wants])

    # A cube's coordinates are from 1 to 2; its faces count eight to a cube.
    bench = ImageBench(text(target, "image_sample_lz", ImageType.CUBE, 3, sampler=True), target)
    _, area, layout = made(bench, ImageType.CUBE, "8_8_8_8_UNORM", 4, 4, layers=12)
    known, sampler = texels(area, layout, slices=12), sampler_of(bench, Clamp.EDGE, POINT)
    face = np.arange(bench.wave_size) % 14
    assert bench.go(x + 1, y + 1, face.astype(np.float32)) is Status.END
    numbers = [n // 8 * 6 + min(n % 8, 5) for n in face.tolist()]
    inner = points((x + 1).astype(np.float64) - 1, (y + 1).astype(np.float64) - 1)
    wants = zip(inner, numbers, strict=True)
    agrees(bench, [filtered(known[n : n + 1], at, sampler, False) for at, n in wants])


def face_of(x: float, y: float, z: float) -> tuple[int, float, float]:
    """Face, s and t (0 to 1) of a direction, by the table "Cube Map Face Selection" of Vulkan's specification."""
    if abs(z) >= max(abs(x), abs(y)):
        face, s, t, major = (4, x, -y, z) if z > 0 else (5, -x, -y, z)
    elif abs(y) >= abs(x):
        face, s, t, major = (2, x, z, y) if y > 0 else (3, x, -z, y)
    else:
        face, s, t, major = (0, -z, -y, x) if x > 0 else (1, z, -y, x)
    return face, (s / abs(major) + 1) / 2, (t / abs(major) + 1) / 2


def direction(face: int, s: float, t: float) -> NDArray[np.float64]:
    """The inverse: a direction from coordinates of a face, -1 to 1."""
    return np.array([(1, -t, -s), (-1, -t, s), (s, 1, t), (s, -1, -t), (s, -t, 1), (-s, -t, -1)][face], float)


def cube_texels(cube: Texels, face: int, x: int, y: int) -> list[NDArray[np.float64]]:
    """The texels whose mean is the value at a position up to one texel outside its face: three meet at a corner."""
    size = cube.shape[1]
    inside = [min(max(at, 0), size - 1) for at in (x, y)]
    if inside == [x, y]:
        return [cube[face, y, x]]
    if inside[0] != x and inside[1] != y:
        places = ((x, inside[1]), (inside[0], y), (inside[0], inside[1]))
        return [texel for place in places for texel in cube_texels(cube, face, *place)]
    s, t = ((2 * at + 1) / size - 1 for at in inside)
    # On the edge, then half a texel down on the face behind it.
    edge = direction(face, *((float(x > 0) * 2 - 1, t) if inside[0] != x else (s, float(y > 0) * 2 - 1)))
    edge -= direction(face, 0, 0) / size
    other, s, t = face_of(*edge)
    return [cube[other, int(t * size), int(s * size)]]


@pytest.mark.parametrize("target", ["gfx803", "gfx900", "gfx1030", "gfx1201"])
def test_seams_of_cubes(target: str) -> None:
    """Linear filters take texels beyond an edge from the adjoining face, except with DISABLE_CUBE_WRAP."""
    bench, size = ImageBench(text(target, "image_sample_lz", ImageType.CUBE, 3, sampler=True), target), 4
    _, area, layout = made(bench, ImageType.CUBE, "8_8_8_8_UNORM", size, size, layers=12)
    known, rng = texels(area, layout, slices=12), np.random.default_rng(8)
    for turn in range(6):
        x, y = (rng.choice([0.01, 0.06, 0.3, 0.5, 0.93, 0.99], bench.wave_size) for _ in range(2))
        face = rng.integers(0, 6, bench.wave_size)
        sampler_of(bench, Clamp.WRAP, LINEAR, no_cube_wrap=turn == 5)
        assert bench.go(*((1 + at).astype(np.float32) for at in (x, y)), (face + 8).astype(np.float32)) is Status.END
        wants = []
        for lane in range(bench.wave_size):
            (ix, wx), (iy, wy) = (
                divmod(round(float(np.float32(1 + at[lane]) - 1) * size * 256) - 128, 256) for at in (x, y)
            )
            want = np.zeros(4)
            for at, across in ((ix, 256 - wx), (ix + 1, wx)):
                for row, down in ((iy, 256 - wy), (iy + 1, wy)):
                    spot = [min(max(n, 0), size - 1) if turn == 5 else n for n in (at, row)]
                    want += np.mean(cube_texels(known[6:], int(face[lane]), *spot), 0) * across * down / 65536
            wants.append(want)
        agrees(bench, wants)


@pytest.mark.parametrize("target", ["gfx700", "gfx803", "gfx900", "gfx1030", "gfx1201"])
def test_levels(target: str) -> None:
    """Levels are explicit; the sampler adds a bias, limits them, and filters between levels in each of three ways."""
    bench = ImageBench(text(target, "image_sample_l", ImageType.TWO, 3, sampler=True), target)
    _, area, layout = made(bench, ImageType.TWO, "8_8_8_8_UNORM", 16, 12, levels=4)
    known = [texels(area, layout, n) for n in range(4)]
    x, y, lod = places(bench, 1), places(bench, 2), places(bench, 3, -2, 6)
    lod[:6] = (0, 0.5, 1, 1.498, 2.75, 9)
    for mip in (0, MIP_POINT, MIP_LINEAR):
        sampler = sampler_of(bench, Clamp.WRAP, LINEAR, mip_filter=mip, lod_bias=64, min_lod=100, max_lod=700)
        assert bench.go(x, y, lod) is Status.END
        wants = []
        for a, b, c in points(x, y, lod):
            fixed = min(max(round(c * 256) + 64, 100), 700)
            at = (a, b)
            if mip == MIP_LINEAR:
                low = min(fixed >> 8, 3)
                share = (fixed & 255) / 256 if low < 3 else 0.0
                first, second = (filtered(known[n], at, sampler, True) for n in (low, min(low + 1, 3)))
                wants.append(first * (1 - share) + second * share)
            else:
                level = min(fixed + 128 >> 8, 3) if mip else 0
                wants.append(filtered(known[level], at, sampler, True))
        agrees(bench, wants)


@pytest.mark.parametrize("target", ["gfx900", "gfx1030", "gfx1100", "gfx1201"])
def test_levels_from_derivatives(target: str) -> None:
    """Levels follow from explicit derivatives or differences of neighbouring lanes; image_get_lod returns them."""
    bench = ImageBench(text(target, "image_sample_d", ImageType.TWO, 6, sampler=True), target)
    _, area, layout = made(bench, ImageType.TWO, "8_8_8_8_UNORM", 32, 32, levels=6)
    sampler = sampler_of(bench, Clamp.WRAP, LINEAR, mip_filter=MIP_POINT)
    zero = np.zeros(bench.wave_size, np.float32)
    step = (2.0 ** np.arange(bench.wave_size).clip(0, 8) / 32).astype(np.float32)
    x, y = places(bench, 1), places(bench, 2)
    assert bench.go(zero, step, zero, zero, x, y) is Status.END  # dv/dx alone
    levels = np.arange(bench.wave_size).clip(0, 5)
    wants = zip(points(x, y), levels, strict=True)
    agrees(bench, [filtered(texels(area, layout, int(n)), at, sampler, True) for at, n in wants])

    lod = ImageBench(text(target, "image_get_lod", ImageType.TWO, 2, 3, sampler=True), target)
    made(lod, ImageType.TWO, "8_8_8_8_UNORM", 32, 32, levels=3)
    sampler_of(lod, Clamp.WRAP, LINEAR, mip_filter=MIP_POINT)
    lane = np.arange(lod.wave_size)
    scale = 2.0 ** (lane // 4)
    x, y = (scale * (lane & 1) / 32).astype(np.float32), (scale * (lane & 2) / 64).astype(np.float32)
    assert lod.go(x, y) is Status.END
    for n in range(lod.wave_size):
        assert lod.real(2)[n].tolist() == [min(n // 4, 2), n // 4]
    odd = np.array([0, 3 / 32, 0, 0], np.float32)
    assert lod.go(odd, np.zeros(4, np.float32)) is Status.END
    assert abs(float(lod.real(2)[0][1]) - math.log2(3)) <= 1 / 256


@pytest.mark.parametrize("target", ["gfx900", "gfx1030", "gfx1201"])
def test_biases_references_and_offsets(target: str) -> None:
    """The parts of an address are in order: offsets, bias, reference, coordinates, minimum level."""
    bench = ImageBench(text(target, "image_sample_c_b_cl_o", ImageType.TWO, 6, 1, sampler=True), target)
    _, area, layout = made(bench, ImageType.TWO, "8_8_8_8_UNORM", 16, 16, levels=3)
    sampler = sampler_of(bench, Clamp.EDGE, LINEAR, mip_filter=MIP_POINT, compare=3)
    lanes = bench.wave_size
    offset = np.full(lanes, 0x3F | 2 << 8, np.uint32)  # -1, 2
    bias, reference = np.full(lanes, 1.0, np.float32), places(bench, 4, 0, 1)
    reference[4] = 0.5
    x, y = np.full(lanes, 0.4, np.float32), np.full(lanes, 0.3, np.float32)
    least = np.where(np.arange(lanes) < 8, 0, 2).astype(np.float32)
    assert bench.go(offset, bias, reference, x, y, least) is Status.END
    got = bench.real(1)[:, 0]
    for lane in range(lanes):
        # All lanes are at one place, so the level from differences is none, and the bias moves nothing.
        known = texels(area, layout, int(least[lane]))
        limit = min(max(float(reference[lane]), 0.0), 1.0)
        passes = (limit <= known).astype(np.float64)
        want = filtered(passes, (float(x[0]), float(y[0])), sampler, True, (-1, 2, 0))[0]
        assert abs(got[lane] - want) < 1e-6, lane


@pytest.mark.parametrize("target", TARGETS)
def test_gathers(target: str) -> None:
    for dmask, channel in ((1, 0), (4, 2)):
        bench = ImageBench(text(target, "image_gather4_lz", ImageType.TWO, 2, dmask, data=4, sampler=True), target)
        _, area, layout = made(bench, ImageType.TWO, "8_8_8_8_UNORM", 9, 5)
        sampler = sampler_of(bench, Clamp.BORDER, POINT, border=Border.OPAQUE_WHITE)
        x, y = places(bench, 1, -0.3, 1.3), places(bench, 2, -0.3, 1.3)
        assert bench.go(x, y) is Status.END
        known = texels(area, layout)
        agrees(bench, [np.array(gathered(known, a, b, sampler, channel)) for a, b in points(x, y)])


@pytest.mark.parametrize("target", ["gfx900", "gfx1030", "gfx1201"])
def test_halves_of_coordinates_and_results(target: str) -> None:
    code = text(target, "image_sample_l", ImageType.TWO, 2, 7, "a16 d16", data=2, sampler=True)
    bench = ImageBench(code, target)
    _, area, layout = made(bench, ImageType.TWO, "8_8_8_8_UNORM", 8, 8, levels=2)
    sampler = sampler_of(bench, Clamp.WRAP, LINEAR, mip_filter=MIP_POINT)
    x, y, lod = (places(bench, n, 0, 1).astype(np.float16) for n in range(3))
    lod[:] = np.arange(bench.wave_size) & 1
    first = x.view(np.uint16).astype(np.uint32) | y.view(np.uint16).astype(np.uint32) << 16
    assert bench.go(first, lod.view(np.uint16).astype(np.uint32)) is Status.END
    got = np.ascontiguousarray(bench.results(2)).view(np.float16)
    for lane in range(bench.wave_size):
        known = texels(area, layout, int(lod[lane]))
        want = filtered(known, (float(x[lane]), float(y[lane])), sampler, True)[:3].astype(np.float32)
        assert got[lane, :3].tolist() == want.astype(np.float16).tolist(), lane


def test_integers_are_never_filtered() -> None:
    bench = ImageBench(text("gfx1030", "image_sample_lz", ImageType.TWO, 2, sampler=True), "gfx1030")
    _, area, layout = made(bench, ImageType.TWO, "32_32_32_32_UINT", 5, 4)
    sampler_of(bench, Clamp.EDGE, LINEAR)
    assert bench.go([0.5], [0.5]) is Status.END
    at = (2 * layout.levels[0].pitch + 2) * 16
    assert bench.results()[0].tolist() == area.data[at : at + 16].view(np.uint32).tolist()


@pytest.mark.parametrize("target", ["gfx900", "gfx1030", "gfx1201"])
def test_hostile_samplers(target: str) -> None:
    name = "image_sample_b_o"
    bench = ImageBench(text(target, name, ImageType.THREE, 5, sampler=True), target)
    rng = np.random.default_rng(4)
    area = bench.memory.allocate(1 << 16, name="area")
    seen: set[Status] = set()
    for turn in range(200):
        words = rng.integers(0, 1 << 32, 8, np.uint32)
        words[0] = area.address >> 8 & 0xFFFFFFFF
        words[1] = int(words[1]) & 0xFFFFFF00 | area.address >> 40
        words[3] = int(words[3]) & 0x0E0FFFFF | (8 + turn % 6) << 28
        words[6] &= 0xFFDFFFFF
        bench.sgprs[8:16] = words
        bench.sgprs[16:20] = rng.integers(0, 1 << 32, 4, np.uint32)
        odd = rng.integers(0, 1 << 32, (5, bench.wave_size), np.uint32)
        seen.add(bench.go(*odd))
    assert seen == {Status.END, Status.FAULT}
