"""Descriptors of images and samplers: encoded and decoded, as text, and as runtimes write them."""

from __future__ import annotations

import random

import pytest

from rocdbg.arch.targets import target_by_name
from rocdbg.sim.images.buffer_images import buffer_text, buffer_words
from rocdbg.sim.images.chips import chip_of
from rocdbg.sim.images.fields import IMAGE_FIELDS, SAMPLER_FIELDS, Rules, read, room, write
from rocdbg.sim.images.image_descriptor import ImageDescriptor, ImageType
from rocdbg.sim.images.sampler_descriptor import Border, Clamp, SamplerDescriptor
from rocdbg.sim.images.texel_formats import code_of, formats_of
from rocdbg.sim.images.texel_layout import linear


@pytest.mark.parametrize("rules", Rules)
def test_fields_do_not_overlap(rules: Rules) -> None:
    for layout, dwords in ((IMAGE_FIELDS[rules], 8), (SAMPLER_FIELDS[rules], 4)):
        for name in layout:
            words = [0] * dwords
            write(layout, name, words, room(layout, name))
            assert read(layout, name, words) == room(layout, name)
            others = {n for n in layout if n != name and read(layout, n, words)}
            # From GFX10.3 on a pitch is where the layers of other images do.
            assert others <= ({"depth", "pitch"} if name in ("depth", "pitch") and rules > Rules.GFX9 else set())


WORDS = {
    # A 2D image of 200 by 100, 8_8_8_8_UNORM, BGRA, at 0x7f0000100000, as ROCm's runtime writes it.
    Rules.GFX6: [0x00001000, 0x00A0007F, 0x0018C0C7, 0x90800F2E, 0x001FE000, 0, 0, 0],
    Rules.GFX9: [0x00001000, 0x00A0007F, 0x0018C0C7, 0x90000F2E, 0x801FE000, 0, 0, 0],
    Rules.GFX10: [0x00001000, 0xC380007F, 0x0018C031, 0x98000F2E, 0, 0, 0, 0],
    Rules.GFX10_3: [0x00001000, 0xC380007F, 0x0018C031, 0x98000F2E, 0x000000FF, 0, 0, 0],
    Rules.GFX11: [0x00001000, 0xC2A0007F, 0x0018C031, 0x98000F2E, 0x000000FF, 0, 0, 0],
    Rules.GFX12: [0x00001000, 0xC054007F, 0x0018C031, 0x98000F2E, 0x000000FF, 0, 0, 0],
}


@pytest.mark.parametrize("rules", Rules)
def test_words(rules: Rules) -> None:
    code = code_of(rules, "8_8_8_8_UNORM")
    assert code is not None
    image = ImageDescriptor(
        rules, ImageType.TWO, 0x7F0000100000, 200, 100, code, pitch=0 if rules is Rules.GFX10 else 256,
        select=(6, 5, 4, 7), border_swizzle=0 if rules is Rules.GFX6 else 4, tiling=rules.linear,
    )
    assert [hex(word) for word in image.encode()] == [hex(word) for word in WORDS[rules]]
    assert ImageDescriptor.decode(WORDS[rules], rules) == image
    assert image.text == "2D image 200x100, 8_8_8_8_UNORM, zyxw, linear, at 0x7f0000100000"


@pytest.mark.parametrize("rules", Rules)
def test_any_words_are_some_descriptor(rules: Rules) -> None:
    generator = random.Random(7)
    for _ in range(500):
        words = [generator.getrandbits(32) for _ in range(8)]
        image = ImageDescriptor.decode(words, rules)
        assert "image" in image.text
        if image.problem is None and image.type >= ImageType.ONE:
            again = ImageDescriptor.decode(image.encode(), rules)
            assert again == image and image.layout() is not None
        sampler = SamplerDescriptor.decode(words[:4], rules)
        assert SamplerDescriptor.decode(sampler.encode(), rules) == sampler
        assert "sampler" in sampler.text


def test_samplers_in_words() -> None:
    sampler = SamplerDescriptor(
        Rules.GFX10, (Clamp.BORDER, Clamp.BORDER, Clamp.BORDER), 1, 1, 2, border=Border.OPAQUE_WHITE, lod_bias=-384
    )
    assert sampler.encode() == [0x000001B6, 0x00FFF000, 0x08503E80, 0x80000000]
    assert sampler.text == (
        "linear sampler, clamp to border, opaque white, normalized coordinates, linear between levels, "
        "levels 0 to 15.9961, bias -1.5"
    )
    plain = SamplerDescriptor.decode([0x8000, 0, 0, 0], Rules.GFX9)
    assert plain.text == "nearest sampler, wrap, coordinates in texels"


def test_problems() -> None:
    words = list(WORDS[Rules.GFX11])
    tiled = ImageDescriptor.decode([*words[:3], words[3] | 27 << 20, *words[4:]], Rules.GFX11)
    assert tiled.problem == (
        "the image's tiling 64KB_R_X mixes memory channels, and the target's number of these is unknown"
    )
    assert tiled.text == "2D image 200x100, 8_8_8_8_UNORM, zyxw, tiled (64KB_R_X), at 0x7f0000100000"
    odd = ImageDescriptor.decode([words[0], words[1] | 0xFF00000, *words[2:]], Rules.GFX11)
    assert odd.problem == "the image's format 0xff is not simulated"
    assert ImageDescriptor.decode([0] * 8, Rules.GFX11).text == "no image (nothing is bound)"


FORMATS = [
    # name, codes on GFX9, GFX10, GFX11
    ("8_8_8_8_UNORM", 10, 56, 42), ("32_FLOAT", 4 | 7 << 6, 22, 22), ("16_16_16_16_FLOAT", 12 | 7 << 6, 71, 57),
    ("8_8_8_8_SRGB", 10 | 9 << 6, 130, 66), ("5_6_5_UNORM", 16, 133, 68), ("5_9_9_9_FLOAT", 34 | 7 << 6, 132, 67),
    ("2_10_10_10_UNORM", 9, 50, 36), ("10_11_11_FLOAT", 6 | 7 << 6, 36, 30), ("32_32_32_32_UINT", 14 | 4 << 6, 75, 61),
]


@pytest.mark.parametrize(("name", "gfx9", "gfx10", "gfx11"), FORMATS)
def test_codes_of_formats(name: str, gfx9: int, gfx10: int, gfx11: int) -> None:
    assert [code_of(rules, name) for rules in Rules] == [gfx9, gfx9, gfx10, gfx10, gfx11, gfx11]
    assert formats_of(Rules.GFX9)[gfx9].name == name


LAYOUTS = [
    # rules, bytes of a texel, width, height, depth, slices, levels: pitches, offsets, bytes of a slice
    (Rules.GFX9, 4, 100, 50, 1, 1, 1, [128], [0], 25600),
    (Rules.GFX12, 4, 100, 50, 1, 1, 1, [128], [0], 25600),
    (Rules.GFX12, 4, 90, 50, 1, 1, 1, [96], [0], 19200),
    (Rules.GFX12, 4, 90, 50, 1, 3, 1, [96], [0], 25600),  # slices keep the alignment that rows have lost
    (Rules.GFX9, 4, 100, 5, 1, 2, 3, [128] * 3, [0, 2560, 4096], 5120),
    (Rules.GFX11, 4, 100, 5, 1, 2, 3, [128, 64, 64], [1280, 512, 0], 3840),
    (Rules.GFX10, 16, 3, 3, 3, 3, 2, [16, 16], [512, 0], 1280),
    (Rules.GFX10_3, 1, 1, 1, 1, 1, 1, [256], [0], 256),
    # Level by level, each with all its slices; sizes are powers of two.
    (Rules.GFX6, 4, 100, 50, 1, 3, 4, [128, 64, 32, 16], [0, 131072, 163840, 172032], 32768),
    (Rules.GFX6, 4, 100, 50, 5, 5, 4, [128, 64, 32, 16], [0, 262144, 278528, 280576], 32768),
    (Rules.GFX6, 1, 33, 7, 1, 6, 4, [64, 64, 256, 256], [0, 4096, 6144, 8192], 512),
    (Rules.GFX6, 16, 33, 7, 1, 6, 3, [64, 32, 64], [0, 65536, 81920], 8192),
]


@pytest.mark.parametrize(
    ("rules", "size", "width", "height", "depth", "slices", "levels", "pitches", "offsets", "slice"), LAYOUTS
)
def test_linear_layouts(
    rules: Rules, size: int, width: int, height: int, depth: int, slices: int, levels: int, pitches: list[int],
    offsets: list[int], slice: int,
) -> None:
    found = linear(rules, size, width, height, depth, slices, levels)
    assert [level.pitch for level in found.levels] == pitches
    assert [level.offset for level in found.levels] == offsets
    assert found.slice == slice
    if rules is not Rules.GFX6:
        assert found.size == slice * slices


@pytest.mark.parametrize("target", ["gfx700", "gfx803", "gfx900", "gfx1030", "gfx1100", "gfx1201"])
def test_buffers_in_words(target: str) -> None:
    chip = chip_of(target_by_name(target))
    words = buffer_words(chip, 0x7F00_0010_0010, "16_16_SINT", 50, (4, 0, 0, 5))
    assert words is not None
    assert buffer_text(chip, words) == "1D buffer image 50, 16_16_SINT, x00y, at 0x7f0000100010"
    assert buffer_text(chip, [0] * 8) == "no image (nothing is bound)"
