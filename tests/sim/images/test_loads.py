"""Loads, stores and atomics of images: formats, dimensions, levels, edges, modifiers."""

from __future__ import annotations

import numpy as np
import pytest
from format_reference import loaded, loaded_half, selected, stored_element
from image_bench import TARGETS, ImageBench, made, standard_formats, text
from msgspec.structs import replace

from rocdbg.sim.core.layout import FaultKind, PageFlags, Status
from rocdbg.sim.data.buffer_formats import BufferFormat, NumberFormat
from rocdbg.sim.images.image_descriptor import ImageDescriptor, ImageType
from rocdbg.sim.images.texel_formats import ImageFormat, formats_of

pytestmark = pytest.mark.llvm
SPECIAL = (NumberFormat.SRGB, NumberFormat.SHARED)
SWIZZLES = ((4, 5, 6, 7), (6, 5, 4, 1), (4, 0, 0, 1), (7, 4, 5, 6))


def as_buffer(form: ImageFormat) -> BufferFormat:
    return BufferFormat(form.name, form.widths, NumberFormat(int(form.number)))


def channels(raw: bytes, form: ImageFormat) -> list[int]:
    """The four channels of a texel as f32 or integer bits."""
    if form.number is NumberFormat.SRGB:
        found = []
        for n in range(form.channels):
            x = raw[n] / 255
            linear = x if n == 3 else x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4
            found.append(int(np.float32(linear).view(np.uint32)))
        return found + [0] * (4 - len(found))
    if form.number is NumberFormat.SHARED:
        word = int.from_bytes(raw, "little")
        scale = 2.0 ** ((word >> 27) - 24)
        return [int(np.float32((word >> 9 * n & 511) * scale).view(np.uint32)) for n in range(3)] + [0]
    return [loaded(raw, as_buffer(form), n) for n in range(4)]


@pytest.mark.parametrize("target", ["gfx700", "gfx900", "gfx1030", "gfx1100"])
def test_every_format(target: str) -> None:
    bench = ImageBench(text(target, "image_load", ImageType.ONE, 1, more="unorm"), target)
    store = ImageBench(text(target, "image_store", ImageType.ONE, 1, more="unorm"), target)
    store.memory, lanes = bench.memory, bench.wave_size
    for n, name in enumerate(standard_formats(bench.rules)):
        select = SWIZZLES[n % 4]
        _, area, _ = made(bench, ImageType.ONE, name, lanes, select=select, seed=n)
        form = next(f for f in formats_of(bench.rules).values() if f.name == name)
        assert bench.go(range(lanes)) is Status.END
        one = 1 if form.number.is_integer else 0x3F800000
        selectors = sum(s << 3 * n for n, s in enumerate(select))
        got = bench.results()
        for lane in range(0, lanes, 5):
            raw = bytes(area.data[lane * form.size : (lane + 1) * form.size])
            want = selected(channels(raw, form), as_buffer(replaced(form)), selectors, one)
            same = [a == b or (nan(a) and nan(b)) for a, b in zip(got[lane].tolist(), want, strict=True)]
            assert all(same), f"{name} {lane}: {got[lane]} {want}"
        bench.memory.free(area)


def replaced(form: ImageFormat) -> ImageFormat:
    return ImageFormat(form.name, form.widths, NumberFormat.UNORM) if form.number in SPECIAL else form


def nan(bits: int) -> bool:
    return bits & 0x7FFFFFFF > 0x7F800000


@pytest.mark.parametrize("target", ["gfx900", "gfx1201"])
def test_stores_of_every_format(target: str) -> None:
    bench = ImageBench(text(target, "image_store", ImageType.ONE, 1), target)
    rng = np.random.default_rng(3)
    for n, name in enumerate(standard_formats(bench.rules)):
        form = next(f for f in formats_of(bench.rules).values() if f.name == name)
        select = SWIZZLES[n % 4]
        _, area, _ = made(bench, ImageType.ONE, name, bench.wave_size, select=select)
        before = area.data.copy()
        values = (rng.random((bench.wave_size, 4)) * 2.5 - 1).astype(np.float32).view(np.uint32)
        if form.number.is_integer:
            values = rng.integers(0, 1 << 32, (bench.wave_size, 4), np.uint32)
        for component in range(4):
            bench.vgpr(component)[:] = values[:, component]
        status = bench.go(range(bench.wave_size))
        if form.number in SPECIAL:
            assert status is Status.FAULT and bench.engine.fault().kind is FaultKind.READ_ONLY_FORMAT
            assert np.array_equal(area.data, before)
            continue
        assert status is Status.END
        selectors = sum(s << 3 * n for n, s in enumerate(select))
        for lane in range(0, bench.wave_size, 7):
            want = stored_element([int(v) for v in values[lane]], as_buffer(form), selectors)
            assert bytes(area.data[lane * form.size : (lane + 1) * form.size]) == want, f"{name} lane {lane}"
        bench.memory.free(area)


CASES = [
    # type, addresses, width, height, depth, layers, levels
    (ImageType.ONE, 2, 70, 1, 1, 1, 1), (ImageType.TWO, 3, 70, 9, 1, 1, 1), (ImageType.TWO, 3, 33, 17, 1, 1, 5),
    (ImageType.THREE, 4, 9, 7, 5, 1, 1), (ImageType.THREE, 4, 9, 7, 6, 1, 3), (ImageType.CUBE, 4, 8, 8, 1, 6, 2),
    (ImageType.ONE_ARRAY, 3, 90, 1, 1, 4, 2), (ImageType.TWO_ARRAY, 4, 20, 11, 1, 3, 1),
    (ImageType.TWO_ARRAY, 4, 20, 11, 1, 3, 4),
]


@pytest.mark.parametrize("target", TARGETS)
def test_where_texels_lie(target: str) -> None:
    for kind, addresses, width, height, depth, layers, levels in CASES:
        bench = ImageBench(text(target, "image_load_mip", kind, addresses, 1, "unorm"), target)
        _, area, layout = made(bench, kind, "32_UINT", width, height, depth=depth, layers=layers, levels=levels)
        area.data.view(np.uint32)[:] = np.arange(1, area.size // 4 + 1)
        rng = np.random.default_rng(5)
        lanes = bench.wave_size
        x, y = rng.integers(0, width + 2, lanes), rng.integers(0, height + 2, lanes)
        z = rng.integers(0, max(depth, layers) + 1, lanes)
        level = rng.integers(0, levels + 1, lanes)
        flat = kind in (ImageType.ONE, ImageType.ONE_ARRAY)
        deep = kind in (ImageType.THREE, *(k for k in ImageType if k.is_array))
        parts = [x] + [y] * (not flat) + [z] * deep + [level]
        assert bench.go(*parts) is Status.END
        for lane in range(lanes):
            cx, cy, cz, n = int(x[lane]), 0 if flat else int(y[lane]), int(z[lane]) * deep, int(level[lane])
            want = 0
            if n < levels:
                at = layout.levels[n]
                planes = at.depth if kind is ImageType.THREE else layers
                if cx < at.width and cy < at.height and cz < planes:
                    want = (cz * at.slice + at.offset) // 4 + cy * at.pitch + cx + 1
            assert int(bench.vgpr(0)[lane]) == want, f"{kind.text} {(cx, cy, cz, n)}"


@pytest.mark.parametrize("target", TARGETS)
def test_outside_reads_zero_and_writes_nothing(target: str) -> None:
    bench = ImageBench(text(target, "image_load", ImageType.TWO, 2, more="unorm"), target)
    made(bench, ImageType.TWO, "8_8_8_8_UNORM", 5, 5, select=(4, 5, 6, 1))
    assert bench.go([5, 0, 0xFFFFFFFF, 0], [0, 5, 0, 0x80000000]) is Status.END
    assert bench.real().tolist() == [[0, 0, 0, 1]] * bench.wave_size
    bench.sgprs[8:16] = 0  # nothing is bound
    assert bench.go([0], [0]) is Status.END
    assert not bench.results().any()
    store = ImageBench(text(target, "image_store", ImageType.TWO, 2, more="unorm"), target)
    _, area, _ = made(store, ImageType.TWO, "8_8_8_8_UINT", 5, 5)
    before = area.data.copy()
    assert store.go([5, 0, 0xFFFFFFFF, 0], [0, 5, 0, 0x80000000]) is Status.END
    assert np.array_equal(area.data, before)


@pytest.mark.parametrize("target", ["gfx900", "gfx1030", "gfx1201"])
def test_halves(target: str) -> None:
    """d16 packs two components into a register, a16 two coordinates; r128 reads four dwords of the descriptor."""
    kind = ImageType.TWO
    for name in ("8_8_8_8_UNORM", "32_32_32_32_FLOAT", "16_16_16_16_SINT"):
        short = "r128 " if target == "gfx1030" else ""
        bench = ImageBench(text(target, "image_load", kind, 1, 7, f"{short}a16 d16", data=2), target)
        image, area, layout = made(bench, kind, name, 40, 3)
        form = image.format
        assert form is not None
        bench.vgpr(1)[:] = 0xABCD1234
        x, y = np.arange(bench.wave_size) % 40, np.arange(bench.wave_size) % 3
        if target == "gfx1030":
            bench.sgprs[12:16] = 0xFFFFFFFF
        assert bench.go(x | y << 16) is Status.END
        for lane in range(bench.wave_size):
            at = (int(y[lane]) * layout.levels[0].pitch + int(x[lane])) * form.size
            raw = bytes(area.data[at : at + form.size])
            halves = [loaded_half(raw, as_buffer(form), n) for n in range(3)]
            want = [halves[0] | halves[1] << 16, halves[2] | 0xABCD0000]
            got = bench.results(2)[lane].tolist()
            nans = any(h & 0x7FFF > 0x7C00 for h in halves) and not form.number.is_integer
            assert got == want or nans, f"{name} lane {lane}"


def test_addresses_in_separate_registers() -> None:
    code = "image_load v[0:3], [v9, v4, v20], s[8:15] dmask:0xf dim:SQ_RSRC_IMG_2D_ARRAY unorm\ns_endpgm"
    for target in ("gfx1030", "gfx1100"):
        bench = ImageBench(code, target)
        _, area, layout = made(bench, ImageType.TWO_ARRAY, "32_32_32_32_UINT", 6, 5, layers=3)
        bench.vgpr(9)[:], bench.vgpr(4)[:], bench.vgpr(20)[:] = 3, 2, 1
        bench.set("pc", bench.text.address)
        assert bench.run() is Status.END
        at = layout.slice + (2 * layout.levels[0].pitch + 3) * 16
        assert bench.results()[7].tolist() == area.data[at : at + 16].view(np.uint32).tolist()


@pytest.mark.parametrize("target", ["gfx700", "gfx900"])
def test_addresses_past_the_last_register_are_zero(target: str) -> None:
    """The missing addresses do not come from an earlier instruction, whose layer is 2 and whose row is 1."""
    first = "image_load v[8:11], v[4:7], s[8:15] dmask:0xf unorm da"
    bench = ImageBench(f"{first}\nimage_load v[0:3], v255, s[8:15] dmask:0xf unorm da\ns_endpgm", target)
    _, area, _ = made(bench, ImageType.TWO_ARRAY, "32_32_32_32_UINT", 6, 5, layers=3)
    bench.vgpr(255)[:] = 3
    assert bench.go([0], [1], [2]) is Status.END
    assert bench.results()[7].tolist() == area.data[48:64].view(np.uint32).tolist()


def test_components_that_a_store_does_not_give() -> None:
    """The missing components are 0; from GFX12 on they repeat the first component."""
    for target, want in (("gfx1030", [7, 0, 9, 0]), ("gfx1201", [7, 7, 9, 7])):
        bench = ImageBench(text(target, "image_store", ImageType.ONE, 1, 5), target)
        _, area, _ = made(bench, ImageType.ONE, "32_32_32_32_UINT", 1)
        bench.vgpr(0)[:], bench.vgpr(1)[:] = 7, 9
        assert bench.go([0]) is Status.END
        assert area.data[:16].view(np.uint32).tolist() == want


ATOMICS = [
    # GFX9 to GFX11, GFX12, old, operand, new
    ("add", "add_uint", 5, 7, 12), ("smax", "max_int", 5, 0xFFFFFFFF, 5), ("umax", "max_uint", 5, 1 << 31, 1 << 31),
    ("swap", "swap", 5, 9, 9), ("inc", "inc_uint", 5, 4, 0), ("xor", "xor", 5, 1, 4),
]


@pytest.mark.parametrize("target", ["gfx900", "gfx1030", "gfx1201"])
def test_atomics(target: str) -> None:
    late = target == "gfx1201"
    returns = "th:TH_ATOMIC_RETURN" if late else "glc"
    for early, name12, old, operand, new in ATOMICS:
        name = f"image_atomic_{name12 if late else early}"
        bench = ImageBench(text(target, name, ImageType.TWO, 2, 1, f"unorm {returns}" if not late else returns), target)
        _, area, layout = made(bench, ImageType.TWO, "32_UINT", 9, 4)
        at = 2 * layout.levels[0].pitch + 5
        area.data.view(np.uint32)[at] = old
        bench.exec = 4
        bench.vgpr(0)[:] = operand
        assert bench.go([5], [2]) is Status.END
        assert int(area.data.view(np.uint32)[at]) == new and int(bench.vgpr(0)[2]) == old, name
    swap = ImageBench(text(target, "image_atomic_cmpswap", ImageType.ONE, 1, 15, returns, data=4), target)
    _, area, _ = made(swap, ImageType.ONE, "32_32_UINT", 8)
    area.data.view(np.uint64)[3] = 0x1122334455667788
    swap.exec = 1
    for n, word in enumerate((0x9, 0x8, 0x55667788, 0x11223344)):
        swap.vgpr(n)[:] = word
    assert swap.go([3]) is Status.END
    assert int(area.data.view(np.uint64)[3]) == 0x800000009
    assert [int(swap.vgpr(n)[0]) for n in range(2)] == [0x55667788, 0x11223344]


@pytest.mark.parametrize("target", TARGETS)
def test_sizes(target: str) -> None:
    bench = ImageBench(text(target, "image_get_resinfo", ImageType.TWO_ARRAY, 1), target)
    image, _, _ = made(bench, ImageType.TWO_ARRAY, "8_UNORM", 33, 17, layers=6, levels=4)
    # Where texels are does not matter, nor what they are.
    for described in (image, replace(image, tiling=31), replace(image, code=0xFF)):
        bench.describe(described)
        assert bench.go([0, 1, 3, 4]) is Status.END
        assert bench.results()[:4].tolist() == [[33, 17, 6, 4], [16, 8, 6, 4], [4, 2, 6, 4], [0, 0, 0, 4]]


@pytest.mark.parametrize("target", ["gfx900", "gfx1030"])
def test_raw_texels(target: str) -> None:
    bench = ImageBench(text(target, "image_load_pck_sgn", ImageType.ONE, 1, 1), target)
    _, area, _ = made(bench, ImageType.ONE, "8_UNORM", bench.wave_size)
    assert bench.go(range(bench.wave_size)) is Status.END
    assert bench.vgpr(0).view(np.int32).tolist() == area.data[: bench.wave_size].view(np.int8).tolist()
    store = ImageBench(text(target, "image_store_pck", ImageType.ONE, 1, 3), target)
    _, area, _ = made(store, ImageType.ONE, "16_16_16_16_FLOAT", store.wave_size)
    store.vgpr(0)[:], store.vgpr(1)[:] = 0x12345678, 0x9ABCDEF0
    assert store.go([2]) is Status.END
    assert area.data[16:24].view(np.uint32).tolist() == [0x12345678, 0x9ABCDEF0]


def test_what_is_not_simulated_is_named() -> None:
    bench = ImageBench(text("gfx1100", "image_load", ImageType.TWO, 2), "gfx1100")
    image, _, _ = made(bench, ImageType.TWO, "8_UNORM", 5, 5)
    values = {name: getattr(image, name) for name in image.__struct_fields__}
    odd = {"tiling": FaultKind.TILED, "code": FaultKind.FORMAT, "compressed": FaultKind.COMPRESSED}
    for name, kind in odd.items():
        bench.describe(ImageDescriptor(**{**values, name: 200 if name == "code" else 9 if name == "tiling" else True}))
        assert bench.go([0], [0]) is Status.FAULT
        record = bench.engine.fault()
        assert record.kind is kind and kind.is_unsupported
        assert record.addresses == {}  # not those of an access before it
    bench.exec = 0
    assert bench.go([0], [0]) is Status.END  # no lane asks


@pytest.mark.parametrize("target", TARGETS)
def test_hostile_descriptors_stay_in_memory(target: str) -> None:
    """Random descriptors and coordinates: texels in allocations are read and written; other accesses fault or are
    dropped.
    """
    benches = [
        ImageBench(text(target, name, ImageType.TWO_ARRAY, 4, more="unorm"), target)
        for name in ("image_load_mip", "image_store_mip")
    ]
    rng = np.random.default_rng(11)
    seen: set[Status] = set()
    for bench in benches:
        area = bench.memory.allocate(1 << 16, name="area")
        guard = bench.memory.allocate(1 << 12, name="guard", protection=PageFlags.READ)
        guard.data[:] = 0x5A
        for turn in range(150):
            words = rng.integers(0, 1 << 32, 8, np.uint32)
            words[0] = area.address >> 8 & 0xFFFFFFFF
            words[1] = int(words[1]) & 0xFFFFFF00 | area.address >> 40
            words[3] = int(words[3]) & 0x0E0FFFFF | (8 + turn % 8) << 28 | int(bench.rules.linear) << 20
            words[6] &= 0xFFDFFFFF
            if turn % 3:
                words[2] = int(words[2]) & 0x000F000F
                words[4] = int(words[4]) & 0x000F00FF
            bench.sgprs[8:16] = words
            wide = 1 << 32 if turn % 2 else 8
            seen.add(bench.go(*(rng.integers(0, wide, bench.wave_size) for _ in range(4))))
        assert (guard.data == 0x5A).all()
    assert seen == {Status.END, Status.FAULT}


def test_images_before_gfx9() -> None:
    """Row 8 of the table of tilings is linear, row 0 is not; the last layer has a separate field; d16 on gfx803 uses
    one register for each component.
    """
    bench = ImageBench(text("gfx803", "image_load", ImageType.TWO_ARRAY, 3), "gfx803")
    image, area, layout = made(bench, ImageType.TWO_ARRAY, "8_8_8_8_UINT", 5, 3, layers=4)
    assert bench.go([4], [2], [3]) is Status.END
    place = layout.slice * 3 + (layout.levels[0].pitch * 2 + 4) * 4
    assert bench.results()[0].tolist() == area.data[place : place + 4].tolist()
    assert bench.go([4], [2], [4]) is Status.END and not bench.results()[:, :3].any()  # after the last layer
    bench.describe(replace(image, tiling=0))
    assert bench.go([4], [2], [3]) is Status.FAULT and bench.engine.fault().kind is FaultKind.TILED
    halves = ImageBench(text("gfx803", "image_load", ImageType.ONE, 1, more="d16"), "gfx803")
    _, area, _ = made(halves, ImageType.ONE, "16_16_16_16_UINT", 5)
    assert halves.go([2]) is Status.END
    assert halves.results()[0].tolist() == area.data.view(np.uint16)[8:12].tolist()
