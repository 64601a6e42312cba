"""A program with images on several GPUs, through the runtime's image extension, against NumPy.

    imaged.py FOLDER        which holds `pictures.cl` compiled for each GPU, GPU.co
"""

from __future__ import annotations

import struct
import sys
import traceback
from ctypes import byref, c_uint32, c_uint64, c_void_p
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from hsa import Gpu, call, each, info, out, refused, signal, status_of, wait

ONE, TWO, THREE, ONE_ARRAY, TWO_ARRAY, BUFFER = range(6)
R, RGBA, BGRA, SRGBA = 1, 8, 9, 14
UNORM8, SIGNED8, UNSIGNED32, FLOAT = 2, 8, 13, 15
FORMAT_UNSUPPORTED, SIZE_UNSUPPORTED, PITCH_UNSUPPORTED, INVALID = 0x3000, 0x3001, 0x3002, 0x1001
RW = 3


def described(geometry: int, sizes: tuple[int, int, int, int], kind: int, order: int) -> bytes:
    """hsa_ext_image_descriptor_t: width, height, depth, layers."""
    return struct.pack("<I4x4QII", geometry, *sizes, kind, order)


class Picture:
    """An image, in memory of its GPU."""

    def __init__(self, gpu: Gpu, geometry: int, sizes: tuple[int, int, int, int], kind: int, order: int) -> None:
        self.gpu = gpu
        data_info = (c_uint64 * 2)()
        descriptor = described(geometry, sizes, kind, order)
        call("hsa_ext_image_data_get_info", gpu.agent, descriptor, c_uint32(RW), data_info)
        self.size, alignment = data_info
        assert alignment == 256
        self.memory = gpu.allocate(self.size)
        self.handle = out("hsa_ext_image_create", gpu.agent, descriptor, c_void_p(self.memory), c_uint32(RW))

    def put(self, texels: NDArray[np.generic], at: tuple[int, ...] = (0, 0, 0), *, row: int = 0) -> None:
        """Texels [plane][row][texel...], from an offset on."""
        depth, height, width = texels.shape[:3]
        region = struct.pack("<6I", *at, width, height, depth)
        call("hsa_ext_image_import", self.gpu.agent, c_void_p(texels.ctypes.data), row, 0, self.handle, region)

    def get(self, like: NDArray[np.generic], at: tuple[int, ...] = (0, 0, 0)) -> NDArray[np.generic]:
        """As many texels as ``like`` has, exported into rows that are some bytes longer."""
        depth, height, width = like.shape[:3]
        line = width * like[0, 0, 0].nbytes + 12
        found = np.zeros((depth, height, line), np.uint8)
        region = struct.pack("<6I", *at, width, height, depth)
        call("hsa_ext_image_export", self.gpu.agent, self.handle, c_void_p(found.ctypes.data), line, 0, region)
        assert not found[:, :, -12:].any()
        return np.ascontiguousarray(found[:, :, :-12]).view(like.dtype).reshape(like.shape)

    def destroy(self) -> None:
        call("hsa_ext_image_destroy", self.gpu.agent, self.handle)
        call("hsa_amd_memory_pool_free", c_void_p(self.memory))


def check_kernels(gpu: Gpu, code: bytes) -> None:
    """Kernels read what the program has stored, and the program gets what kernels write."""
    rng, queue, kernels = np.random.default_rng(1), gpu.queue(), gpu.load(code)

    def run(name: str, grid: tuple[int, ...], group: tuple[int, ...], *pointers: int) -> None:
        done = signal()
        arguments = struct.pack(f"<{len(pointers)}Q", *pointers)
        queue.launch(kernels.kernel(name), arguments, grid, group, done)
        assert wait(done) == 0

    texels = rng.integers(0, 256, (1, 9, 21, 4), np.uint8)
    source = Picture(gpu, TWO, (21, 9, 0, 0), UNORM8, RGBA)
    target = Picture(gpu, TWO, (21, 9, 0, 0), UNORM8, BGRA)
    source.put(texels)
    assert np.array_equal(source.get(texels), texels)
    run("halve", (21, 9), (7, 3), source.handle, target.handle)
    read = (texels / np.float32(255)).astype(np.float64)
    halves = np.rint(read * 0.5 * 255).astype(np.uint8)
    assert np.array_equal(target.get(texels)[..., [2, 1, 0, 3]], halves)
    assert np.array_equal(target.get(texels[:, :4, :5], (3, 2, 0))[..., [2, 1, 0, 3]], halves[:, 2:6, 3:8])

    volume = rng.random((4, 5, 6, 1), np.float32)
    solid = Picture(gpu, THREE, (6, 5, 4, 0), FLOAT, R)
    solid.put(volume)
    mirror = out("hsa_ext_sampler_create", gpu.agent, struct.pack("<3I", 1, 0, 4))
    points = gpu.allocate(256)
    run("solid", (16,), (16,), solid.handle, mirror, points)
    got = np.frombuffer((c_uint32 * 64).from_address(points), np.float32).reshape(16, 4)
    for i in range(16):
        at = [np.float32(i) * np.float32(f) for f in (0.11, 0.07, 0.05)]
        x, y, z = (int(c * n) for c, n in zip(at, (6, 5, 4), strict=True))
        x, y, z = (n if n < size else 2 * size - 1 - n for n, size in ((x, 6), (y, 5), (z, 4)))
        assert got[i].tolist() == [volume[z, y, x, 0], 0, 0, 1]

    cells = rng.integers(0, 1000, (3, 5, 6, 4), np.uint32)
    layers = Picture(gpu, TWO_ARRAY, (6, 5, 0, 3), UNSIGNED32, RGBA)
    layers.put(cells)
    run("count", (6, 5, 3), (6, 5, 1), layers.handle, points)
    assert np.array_equal(layers.get(cells), cells + np.array([1, 2, 3, 4], np.uint32))
    assert list((c_uint32 * 5).from_address(points)) == [6, 5, 3, 0x10B5, 0x10DC]
    call("hsa_ext_sampler_destroy", gpu.agent, mirror)
    refused(INVALID, "hsa_ext_sampler_destroy", gpu.agent, mirror)
    for picture in (source, target, solid, layers):
        picture.destroy()
    refused(INVALID, "hsa_ext_image_destroy", gpu.agent, source.handle)


def check_copies(gpu: Gpu, code: bytes) -> None:
    """Between images, of parts, and to standard RGB and back."""
    texels = np.random.default_rng(2).integers(0, 256, (1, 4, 8, 4), np.uint8)
    linear, standard = (Picture(gpu, TWO, (8, 4, 0, 0), UNORM8, order) for order in (RGBA, SRGBA))
    linear.put(texels)
    whole, nothing = struct.pack("<3I", 8, 4, 1), bytes(12)
    call("hsa_ext_image_copy", gpu.agent, linear.handle, nothing, standard.handle, nothing, whole)
    part = texels[..., :3] / 255
    curve = np.where(part < 0.0031308, part * 12.92, 1.055 * part ** (1 / 2.4) - 0.055)
    converted = standard.get(texels)
    assert np.array_equal(converted[..., :3], np.rint(curve * 255))
    assert np.array_equal(converted[..., 3], texels[..., 3])
    part = converted[..., :3] / 255
    call("hsa_ext_image_copy", gpu.agent, standard.handle, nothing, linear.handle, nothing, whole)
    curve = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    assert np.array_equal(linear.get(texels)[..., :3], np.rint(curve * 255))
    # A part of an image onto another part of itself, and what does not fit.
    linear.put(texels)
    offsets = struct.pack("<3I", 1, 0, 0), struct.pack("<3I", 4, 2, 0)
    part = struct.pack("<3I", 3, 2, 1)
    call("hsa_ext_image_copy", gpu.agent, linear.handle, offsets[0], linear.handle, offsets[1], part)
    wanted = texels.copy()
    wanted[0, 2:4, 4:7] = texels[0, 0:2, 1:4]
    assert np.array_equal(linear.get(texels), wanted)
    refused(INVALID, "hsa_ext_image_copy", gpu.agent, linear.handle, offsets[0], linear.handle, nothing, whole)
    lines = Picture(gpu, ONE_ARRAY, (8, 0, 0, 4), UNORM8, RGBA)
    lines.put(texels)
    assert np.array_equal(lines.get(texels[:, 1:3, 2:5], (2, 1, 0)), texels[:, 1:3, 2:5])
    for picture in (linear, standard, lines):
        picture.destroy()


CLEARED = [  # channel type and order, four channels, the bytes of a texel
    (UNORM8, RGBA, "f", (0.5, 1.0, -1.0, 2.0), [128, 255, 0, 255]),
    (UNORM8, BGRA, "f", (0.0, 0.2, 1.0, 1.0), [255, 51, 0, 255]),
    (SIGNED8, RGBA, "i", (-200, -1, 5, 500), [0x80, 0xFF, 5, 127]),
    (UNSIGNED32, R, "I", (0x1234, 9, 9, 9), [0x34, 0x12, 0, 0]),
    (FLOAT, R, "f", (1.0, 0.0, 0.0, 0.0), [0, 0, 0x80, 0x3F]),
    (UNORM8, SRGBA, "f", (0.5, 0.001, 1.0, 0.5), [188, 3, 255, 128]),
    (6, 6, "f", (1.0, 0.0, 0.0, 0.0), [0x00, 0xF8]),  # 5-6-5: red is on top
    (14, 0, "f", (0.0, 0.0, 0.0, -2.0), [0x00, 0xC0]),  # half floats, alpha alone
]


def check_clearing(gpu: Gpu, code: bytes) -> None:
    for kind, order, letter, channels, wanted in CLEARED:
        picture = Picture(gpu, TWO, (3, 3, 0, 0), kind, order)
        region = struct.pack("<6I", 1, 1, 0, 2, 1, 1)
        call("hsa_ext_image_clear", gpu.agent, picture.handle, struct.pack(f"<4{letter}", *channels), region)
        all_texels = np.zeros((1, 3, 3, len(wanted)), np.uint8)
        all_texels[0, 1, 1:] = wanted
        assert np.array_equal(picture.get(all_texels), all_texels), (kind, order)
        picture.destroy()


def check_what_there_is(gpu: Gpu, code: bytes) -> None:
    """Capabilities, limits, refusals."""
    may = [
        out("hsa_ext_image_get_capability", gpu.agent, geometry, struct.pack("<II", kind, order), kind=c_uint32)
        for geometry, kind, order in (
            (TWO, UNORM8, RGBA), (TWO, UNORM8, SRGBA), (TWO, 4, 18), (6, FLOAT, 18), (6, FLOAT, R), (BUFFER, 6, 6)
        )
    ]  # fmt: skip
    assert may == [7, 1, 0, 3, 0, 0]
    assert info("hsa_agent_get_info", gpu.agent, 0x3007, c_uint32 * 3) == (16384, 16384, 8192)
    room = (c_uint64 * 2)()

    def asked(*image: object) -> int:
        return status_of("hsa_ext_image_data_get_info", gpu.agent, described(*image), c_uint32(1), room)  # type: ignore[arg-type]

    assert asked(TWO, (16385, 1, 0, 0), UNORM8, RGBA) == SIZE_UNSUPPORTED
    assert asked(TWO, (0, 1, 0, 0), UNORM8, RGBA) == INVALID
    assert asked(TWO, (8, 8, 0, 0), UNORM8, 11) == FORMAT_UNSUPPORTED
    assert asked(9, (8, 8, 0, 0), UNORM8, RGBA) == INVALID
    layout = "hsa_ext_image_data_get_info_with_layout"
    line = described(TWO, (100, 10, 0, 0), UNORM8, RGBA)
    refused(PITCH_UNSUPPORTED, layout, gpu.agent, line, c_uint32(1), c_uint32(1), 401, 0, room)
    call(layout, gpu.agent, line, c_uint32(1), c_uint32(1), 512, 5120, room)
    assert room[0] == 5120
    memory = gpu.allocate(8192)
    make = "hsa_ext_image_create"
    refused(INVALID, make, gpu.agent, line, c_void_p(memory + 64), c_uint32(1), byref(c_uint64()))
    refused(0x1004, make, gpu.cpu + 1, line, c_void_p(memory), c_uint32(1), byref(c_uint64()))
    refused(INVALID, "hsa_ext_sampler_create", gpu.agent, struct.pack("<3I", 1, 0, 5), byref(c_uint64()))


def check_levels_of_detail(gpu: Gpu, code: bytes) -> None:
    """The second version of the functions, from HIP 7."""
    room, image, level = (c_uint64 * 2)(), c_uint64(), c_uint64()
    descriptor = described(TWO, (16, 8, 0, 0), UNORM8, RGBA) + struct.pack("<Q", 5)
    call("hsa_ext_image_data_get_info_v2", gpu.agent, descriptor, c_uint32(RW), room)
    memory = gpu.allocate(room[0])
    call("hsa_ext_image_create_v2", gpu.agent, descriptor, c_void_p(memory), c_uint32(RW), byref(image))
    found = []
    for n in range(5):
        call("hsa_ext_image_mipmap_array_get_level", gpu.agent, byref(image), c_uint32(n), None, byref(level))
        size = struct.pack("<6I", 0, 0, 0, max(1, 16 >> n), max(1, 8 >> n), 1)
        colour = struct.pack("<4f", *[n / 255] * 4)
        call("hsa_ext_image_clear", gpu.agent, level, colour, size)
        too_large = struct.pack("<6I", 1, 0, 0, max(1, 16 >> n), 1, 1)
        refused(INVALID, "hsa_ext_image_clear", gpu.agent, level, colour, too_large)
        call("hsa_ext_image_destroy_v2", gpu.agent, level)
    texels = np.frombuffer((c_uint32 * (room[0] // 4)).from_address(memory), np.uint8)
    found = [int((texels == n).sum()) for n in range(1, 5)]
    assert found == [8 * 4 * 4, 4 * 2 * 4, 2 * 1 * 4, 4]  # levels 1 to 4: texels of four bytes each
    sampler = struct.pack("<6I", 1, 1, 1, 3, 1, 4)
    call("hsa_ext_sampler_destroy", gpu.agent, out("hsa_ext_sampler_create_v2", gpu.agent, sampler))


def main() -> None:
    call("hsa_init")
    for index in range(len(each("hsa_iterate_agents")) - 1):
        gpu = Gpu(index)
        name = info("hsa_agent_get_info", gpu.agent, 0, bytes)
        code = Path(sys.argv[1], f"{name}.co").read_bytes()
        for check, function in list(globals().items()):
            if check.startswith("check_"):
                try:
                    function(gpu, code)
                except Exception:  # the test that started this program shows it
                    traceback.print_exc()
                else:
                    print(f"{name} {check[6:]}", flush=True)


if __name__ == "__main__":
    main()
