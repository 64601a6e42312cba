"""Kernels over images that clang compiled, OpenCL's and HIP's, against NumPy; arguments from Python and launch files.
"""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

import numpy as np
import pytest
from image_compiling import Build, builder
from image_reference import filtered

import rocdbg
from rocdbg.api import launch_file
from rocdbg.launch.argument_binding import arguments_from_specs
from rocdbg.launch.errors import LaunchError
from rocdbg.launch.image_arguments import ImageSpec, SamplerSpec
from rocdbg.launch.spec import ArgumentSpec
from rocdbg.sim.images.fields import Rules

pytestmark = pytest.mark.llvm
TARGETS = ("gfx803", "gfx900", "gfx1030", "gfx1100", "gfx1201")


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    return builder(tmp_path_factory.mktemp("images"))


def unorm(values: np.ndarray) -> np.ndarray:
    return (values / np.float32(255)).astype(np.float32)


@pytest.mark.parametrize("target", TARGETS)
def test_opencl(build: Build, target: str) -> None:
    kernels = rocdbg.load(build("pictures.cl", target)).kernels
    rng = np.random.default_rng(1)
    source = rng.integers(0, 256, (9, 21, 4), np.uint8)
    result = np.zeros_like(source)
    kernels["halve"].launch((21, 9), (7, 3), [source, rocdbg.Image(result, "bgra8")]).run()
    halves = np.rint(unorm(source).astype(np.float64) * 0.5 * 255).astype(np.uint8)
    assert np.array_equal(result[:, :, [2, 1, 0, 3]], halves)

    out = np.zeros((6, 16, 4), np.float32)
    given = "linear border opaque-white"
    step = np.float32(0.1)
    kernels["resample"].launch((16, 6), (16, 2), [source, rocdbg.Sampler(given), out, step]).run()
    texels = unorm(source).astype(np.float64)[None]
    samplers = [SamplerSpec.parse(text, "").descriptor(Rules.GFX10) for text in (given, "linear wrap")]
    for y in range(6):
        for x in range(16):
            at = (float(np.float32(x) * step - np.float32(0.25)), float(np.float32(y) * step * np.float32(0.5)))
            want = sum(filtered(texels, at, sampler, True) for sampler in samplers)
            # Multiply and subtract may be one operation, which moves a coordinate over to the next 1/256 at most.
            assert np.allclose(out[y, x], want, rtol=0, atol=2 / 256)

    cells = rng.integers(0, 1000, (3, 5, 6, 4), np.uint32)
    before, size = cells.copy(), np.zeros(5, np.int32)
    kernels["count"].launch((6, 5, 3), (6, 5, 1), [cells, size]).run()
    assert np.array_equal(cells, before + np.array([1, 2, 3, 4], np.uint32))
    assert size.tolist() == [6, 5, 3, 0x10B5, 0x10DC]  # CLK_RGBA, CLK_UNSIGNED_INT32

    volume = rng.random((4, 5, 6)).astype(np.float32)
    points = np.zeros((16, 4), np.float32)
    solid = [rocdbg.Image(volume, "r32f", "3d"), rocdbg.Sampler("nearest mirror"), points]
    kernels["solid"].launch(16, 16, solid).run()
    for i in range(16):
        at = [np.float32(i) * np.float32(f) for f in (0.11, 0.07, 0.05)]
        x, y, z = (int(c * n) for c, n in zip(at, (6, 5, 4), strict=True))
        x, y, z = (n if n < size else 2 * size - 1 - n for n, size in ((x, 6), (y, 5), (z, 4)))
        assert points[i].tolist() == [volume[z, y, x], 0, 0, 1]


    entries, found = rng.integers(0, 256, (20, 4), np.uint8), np.zeros((16, 4), np.float32)
    kernels["table"].launch(16, 16, [entries, found]).run()
    wanted = np.zeros((16, 4), np.float32)
    wanted[:10] = unorm(entries[::2])  # texels past the last read 0
    assert np.array_equal(found, wanted + np.array([0, 0, 0, 20], np.float32))


@pytest.mark.parametrize("target", ["gfx900", "gfx1100"])
def test_hip_textures(build: Build, target: str) -> None:
    kernel = rocdbg.load(build("textures.hip", target)).kernels["enlarge"]
    picture = np.random.default_rng(2).random((7, 5, 4)).astype(np.float32)
    out = np.zeros((64, 4), np.float32)
    texture = rocdbg.Image(picture, sampler="linear clamp unnormalized")
    kernel.launch(64, 32, [texture, out, np.int32(8), np.float32(0.75)]).run()
    sampler = SamplerSpec.parse("linear clamp unnormalized", "").descriptor(Rules.GFX10)
    for i in range(64):
        want = filtered(picture.astype(np.float64)[None], (i % 8 * 0.75, i // 8 * 0.75), sampler, True)
        assert np.allclose(out[i], want, rtol=0, atol=1e-6)


LAUNCH = """
[launch]
file = "{file}"
kernel = "columns"
grid = 8
workgroup = 8
[[arg]]
name = "source"
image = "r32f[8,3]"
init = "arange"
[[arg]]
name = "target"
image = "r32f[8]"
expect = [24, 27, 30, 33, 36, 39, 42, {last}]
"""


def test_launch_files(build: Build, tmp_path: Path) -> None:
    launch = tmp_path / "launch.toml"
    for last, wrong in ((45, []), (46, ["buffer 'target': element 7 is 45.0, expected 46.0 (1 of 8 elements differ)"])):
        launch.write_text(LAUNCH.format(file=build("pictures.cl", "gfx1030"), last=last))
        dispatch = launch_file(launch)
        while not dispatch.finished:
            dispatch.launch.dispatch.run()
        assert [mismatch.text for mismatch in dispatch.check()] == wrong


def test_at_the_prompt(build: Build, tmp_path: Path) -> None:
    debugger = rocdbg.Debugger(build("pictures.cl", "gfx1030", "O0"))

    def said(command: str) -> str:
        return debugger.execute(command, to_string=True)

    for command in ("kernel halve", "set grid 4 2", "set workgroup 4 2", "set arg 0 image rgba8[4,2]:arange",
                    "set arg 1 image rgba8[4,2]", "break pictures.cl:9"):
        said(command)
    assert "Breakpoint 1, with lanes [0-7]" in said("run")
    assert said("print colour * 255") == "$1 = {0, 1, 2, 3}\n"
    shown = said("print source")
    assert shown.startswith("$2 = (opencl_image2d_ro_t *) 0x7f")
    assert "<2D image 4x2, 8_8_8_8_UNORM, xyzw, linear, at 0x7f" in shown
    lines = said("info image source").splitlines()
    assert lines[0].startswith("2D image 4x2, 8_8_8_8_UNORM, xyzw, linear, at 0x7f") and lines[1:2] + lines[3:] == [
        "Texel: 4 bytes, channels of 8+8+8+8 bits", "Level 0: 4x2 at offset 0, 64 texels per row",
    ]
    assert said("info image *(unsigned (*)[8]) source").splitlines() == lines
    with pytest.raises(rocdbg.Error, match=r"The descriptor needs 8 registers, but s\[4:5\] names 2."):
        said("info image s[4:5]")
    said("set arg 1 sampler linear wrap")
    assert said("show launch").splitlines()[-2:] == [
        "Argument 0: rgba8[4,2] = arange", "Argument 1: sampler linear wrap",
    ]
    for wrong, why in (
        ("image rgba9[4,2]", "`rgba9` is not an image format"), ("image rgba8[0]", "the sizes of an image must be at "
        "least 1"),
        ("image rgba8[4] levels 9", "an image of this size can have 1 to 3 levels, not 9"),
        ("sampler smooth", "unknown property of a sampler `smooth`"), ("texture linear", "write a texture as"),
    ):
        with pytest.raises(rocdbg.Error, match=why):
            said(f"set arg 1 {wrong}")


@pytest.mark.parametrize("target", ["gfx900", "gfx1100"])
def test_buffers_and_samplers_at_the_prompt(build: Build, target: str) -> None:
    debugger = rocdbg.Debugger(build("pictures.cl", target, "O0"))

    def said(command: str) -> str:
        return debugger.execute(command, to_string=True)

    for command in ("kernel table", "set grid 4", "set workgroup 4", "set arg 0 image ra16f buffer[50]",
                    "set arg 1 f32[64]", "break pictures.cl:50", "run"):
        said(command)
    assert "<1D buffer image 50, 16_16_FLOAT, x00y, at 0x7f" in said("print source")
    assert said("info image source").startswith("1D buffer image 50, 16_16_FLOAT, x00y, at 0x7f")
    with pytest.raises(rocdbg.Error, match="source is an image: try"):
        said("info sampler source")
    for command in ("kill", "delete", "kernel resample", "set grid 4 4", "set workgroup 4 4", "set arg 0 image r8[4,4]",
                    "set arg 1 sampler linear", "set arg 2 f32[64]", "set arg 3 1.5", "break pictures.cl:16", "run"):
        said(command)
    assert said("info sampler given") == "Linear sampler, clamp to edge, normalized coordinates\n"
    with pytest.raises(rocdbg.Error, match="given is a sampler: try"):
        said("info image given")


def test_descriptors_of_gfx8_at_the_prompt(build: Build) -> None:
    debugger = rocdbg.Debugger(build("pictures.cl", "gfx803", "O1"))

    def said(command: str) -> str:
        return debugger.execute(command, to_string=True)

    for command in ("kernel halve", "set grid 4 2", "set workgroup 4 2", "set arg 0 image rgba8[5,3] levels 3",
                    "set arg 1 image rgba8[4,2] tiling 1d_thin", "break pictures.cl:9", "run"):
        said(command)
    assert "<2D image 5x3, 8_8_8_8_UNORM, xyzw, levels 0 to 2, linear, at 0x7f" in said("print source")
    lines = said("info image source").splitlines()
    assert [line for line in lines if line.startswith("Level")] == [
        "Level 0: 5x3 at offset 0, 16 texels per row", "Level 1: 2x1 at offset 256, 64 texels per row",
        "Level 2: 1x1 at offset 512, 64 texels per row",
    ]
    lines = said("info image target").splitlines()
    assert "tiled (1D_THIN)" in lines[0] and lines[-1] == "Level 0: 4x2 at offset 0, 8 texels per row"


TILED = [
    ("gfx803", "1D_THIN"), ("gfx900", "64KB_D_X"), ("gfx1030", "64KB_R_X"), ("gfx1100", "4KB_D"),
    ("gfx1201", "256KB_2D"),
]


@pytest.mark.parametrize(("target", "tiling"), TILED)
def test_tiled_images(build: Build, tmp_path: Path, target: str, tiling: str) -> None:
    """A launch stores contents and reads them back; the kernel sees the same data as in a linear image."""
    kernel = rocdbg.load(build("pictures.cl", target)).kernels["halve"]
    source = np.random.default_rng(6).integers(0, 256, (50, 70, 4), np.uint8)
    linear, tiled = np.zeros_like(source), np.zeros_like(source)
    kernel.launch((70, 50), (70, 1), [source, linear]).run()
    dispatch = kernel.launch(
        (70, 50), (70, 1),
        [rocdbg.Image(source, f"rgba8[70,50] tiling {tiling}"), rocdbg.Image(tiled, f"rgba8[70,50] tiling {tiling}")],
    )  # fmt: skip
    dispatch.run()
    assert np.array_equal(tiled, linear) and linear.any()


@pytest.mark.parametrize("target", ["gfx803", "gfx1030"])
def test_levels_of_an_array(build: Build, target: str) -> None:
    """One Python array has the levels, one after the other."""
    kernel = rocdbg.load(build("pictures.cl", target)).kernels["level"]
    sizes = [(5, 9), (2, 4), (1, 2), (1, 1)]
    levels = [np.float32(n + 1) + np.arange(w * h, dtype=np.float32).reshape(h, w) for n, (h, w) in enumerate(sizes)]
    image, out = np.concatenate([level.reshape(-1) for level in levels]), np.zeros(4, np.float32)
    sampler = rocdbg.Sampler("nearest clamp mip-nearest")
    kernel.launch(4, 4, [rocdbg.Image(image, "r32f[9,5] levels 4"), sampler, out]).run()
    assert out.tolist() == [level[-1, -1] for level in levels]
    with pytest.raises(LaunchError, match=r"r32f\[9,5\] levels 3 has 55 .*, but the array has 56 of type float32"):
        rocdbg.Image(image, "r32f[9,5] levels 3")


def test_a_tiled_image_stops_with_the_reason(build: Build) -> None:
    kernel = rocdbg.load(build("pictures.cl", "gfx1030")).kernels["halve"]
    source = np.zeros((2, 4, 4), np.uint8)
    dispatch = kernel.launch((4, 2), (4, 2), [source, source.copy()])
    dispatch.launch.objects[0].data.view(np.uint32)[3] |= 24 << 20  # SW_MODE: 64KB_Z_X
    with pytest.raises(rocdbg.GpuFault, match=r"unsupported instruction `image_load .*: its image is tiled in a way"):
        dispatch.run()


@pytest.mark.parametrize(
    ("text", "shape", "count"),
    [
        ("rgba8[64,32]", (32, 64, 4), 8192), ("r32f[5]", (5,), 5), ("rgb565[7,3]", (3, 7), 21),
        ("rg16f 2d_array[4,3,2]", (2, 3, 4, 2), 48), ("r8 cube[4,4,6]", (6, 4, 4), 96),
        ("r16ui[4,2] levels 3", (11,), 11), ("r8 1d_array[9,4]", (4, 9), 36), ("r8[3,4,5]", (5, 4, 3), 60),
        ("r8[9,8] tiling 64KB_S", (8, 9), 72),
    ],
)
def test_texts(text: str, shape: tuple[int, ...], count: int) -> None:
    spec = ImageSpec.parse(text, "arg 0")
    assert str(spec) == text and spec.dimensions == shape and spec.array.count == count


def test_hostile_texts() -> None:
    generator = random.Random(3)
    pieces = ["rgba8", "r32f", "[", "]", "64", "0", ",", " levels ", "9" * 5000, "2d_array ", "cube", "buffer",
              " tiling ", "64KB_S",
              "\u0661", "linear", " ", "-1", "16384", "rgb565", ":", "zeros", "sampler ", "texture ", "image "]
    for _ in range(3000):
        text = "".join(generator.choices(pieces, k=generator.randrange(1, 7)))
        for parse in (ImageSpec.parse, SamplerSpec.parse, ArgumentSpec.parse):
            with contextlib.suppress(LaunchError):
                parse(text, "arg 0")
    many = [ArgumentSpec.parse("image r8[1,16384]", "arg 0")] * 1000
    with pytest.raises(LaunchError, match="the limit is"):
        arguments_from_specs(many)


def test_recordings_with_images(build: Build, tmp_path: Path) -> None:
    debugger, saved = rocdbg.Debugger(build("pictures.cl", "gfx1030", "O0")), tmp_path / "run.rocdbg"
    for command in ("kernel solid", "set grid 4", "set workgroup 4", "set arg 0 image r8[4,4,2]:arange",
                    "set arg 1 sampler nearest clamp", "set arg 2 f32[16]", "start", f"record save {saved}"):
        debugger.execute(command, to_string=True)
    again = rocdbg.Debugger()
    again.execute(f"record restore {saved}\ncontinue", to_string=True)
    assert "<3D image 4x4x2, 8_UNORM, x001, linear, at 0x7f" in again.execute("print source", to_string=True)


def test_what_a_kernel_does_not_take(build: Build) -> None:
    kernels = rocdbg.load(build("pictures.cl", "gfx1030")).kernels
    flat, out = np.zeros((4, 4), np.float32), np.zeros((16, 4), np.float32)
    volume, sampler = rocdbg.Image(np.zeros((2, 4, 4), np.float32), "r32f", "3d"), rocdbg.Sampler("nearest")
    for name, arguments, reason in (
        ("halve", [flat, volume], r"arg 1 \(target\): a 3d image \(r32f\[4,4,2\]\) is given, but the parameter is an "
        "image2d_t"),
        ("halve", [flat, sampler], r"arg 1 \(target\): a sampler is given, but the parameter is an image2d_t"),
        ("solid", [volume, rocdbg.Image(flat), out], "an image is given, but the parameter is a sampler"),
    ):
        with pytest.raises(LaunchError, match=reason):
            kernels[name].launch(16, 16, arguments)


NO_IMAGES = [
    (np.zeros((4, 4, 3), np.uint8), None, "no image format has 3 channels: the array must have 1, 2 or 4"),
    (np.zeros((4, 4, 4), np.float32), "rgba8", "rgba8 has elements of type u8, but the array has elements of type "
    "float32"),
    (np.zeros((4, 4)), None, "no image format has elements of type float64: the array must have 8-bit"),
    (np.zeros((4, 4), bool), None, "no image format has elements of type bool"),
    (np.zeros((4, 4), ">f4"), None, "the byte order of an array of >f4 is not native"),
    (np.zeros((), np.float32), None, "an array with the shape \\(\\) cannot be an image with format r32f"),
    (np.zeros((0, 4), np.float32), None, "the sizes of an image must be at least 1"),
    ([[1.0, 2.0]], None, "its contents must be a NumPy array, not list"),
    (np.zeros((4, 4), np.float32), 32, "format and kind must be text"),
]


@pytest.mark.parametrize(("array", "format", "reason"), NO_IMAGES)
def test_arrays_that_are_no_images(array: np.ndarray, format: str | None, reason: str) -> None:
    with pytest.raises(LaunchError, match=reason):
        rocdbg.Image(array, format)


def test_samplers_that_are_no_text() -> None:
    with pytest.raises(LaunchError, match='write it as text, for example "linear clamp", not 5'):
        rocdbg.Sampler(5)  # type: ignore[arg-type]
