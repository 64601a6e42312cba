"""A wave with an image: its descriptor in s[8:15], a sampler in s[16:19], addresses from v4 on, results from v0 on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import numpy as np
from engine_bench import Bench
from numpy.typing import NDArray

from rocdbg.arch.targets import target_by_name
from rocdbg.sim.core.layout import Status
from rocdbg.sim.core.memory import Allocation
from rocdbg.sim.images.fields import Rules, rules_of
from rocdbg.sim.images.image_descriptor import ImageDescriptor, ImageType
from rocdbg.sim.images.sampler_descriptor import SamplerDescriptor
from rocdbg.sim.images.texel_formats import code_of, formats_of
from rocdbg.sim.images.texel_layout import ImageLayout

TARGETS = ("gfx700", "gfx803", "gfx900", "gfx1010", "gfx1030", "gfx1100", "gfx1201")
_DIMS = {
    ImageType.ONE: "1D", ImageType.TWO: "2D", ImageType.THREE: "3D", ImageType.CUBE: "CUBE",
    ImageType.ONE_ARRAY: "1D_ARRAY", ImageType.TWO_ARRAY: "2D_ARRAY", ImageType.TWO_MSAA: "2D_MSAA",
}


_EARLY = re.compile("gfx[6789]")
_GFX9_ORDER = ("unorm", "glc", "slc", "r128", "a16", "tfe", "lwe", "da", "d16")
"""The order of modifiers in GFX9's assembler."""


def text(
    target: str, name: str, kind: ImageType, addresses: int, dmask: int = 15, more: str = "", data: int | None = None,
    sampler: bool = False,
) -> str:
    """One instruction with ``addresses`` address registers, in the syntax of the target's assembler."""
    count = data or max(1, bin(dmask).count("1"))
    vdata = "v0" if count == 1 else f"v[0:{count - 1}]"
    vaddr = "v4" if addresses == 1 else f"v[4:{3 + addresses}]"
    if _EARLY.match(target):
        vaddr = "v4" if addresses == 1 else f"v[4:{3 + _tuple(addresses)}]"
        words = sorted([*more.split(), *["da"] * kind.is_array], key=_GFX9_ORDER.index)
        shape, more = "", " ".join(words)
    else:
        shape = f"dim:SQ_RSRC_IMG_{_DIMS[kind]}"
        if target.startswith("gfx12") and addresses > 1:
            names = [f"v{4 + n}" for n in range(addresses)]
            if addresses > 4:
                names = [*names[:3], f"v[7:{3 + addresses}]"]
            vaddr = f"[{', '.join(names)}]"
        if target.startswith("gfx12") and not sampler:
            more = more.replace("unorm", "")  # not in its encoding
    samp = ", s[16:19]" if sampler else ""
    return f"{name} {vdata}, {vaddr}, s[8:15]{samp} dmask:{dmask:#x} {shape} {more}\ns_endpgm"


def _tuple(count: int) -> int:
    """GFX9's assembler accepts only tuples of these sizes."""
    return next(size for size in (2, 3, 4, 8, 16) if size >= count)


class ImageBench(Bench):
    """One image instruction, run repeatedly."""

    def __init__(self, code: str, target: str) -> None:
        super().__init__(code, target, 64 if _EARLY.match(target) else 32)
        self.rules = rules_of(target_by_name(target))
        self.set("vgpr_limit", 256)

    def describe(self, image: ImageDescriptor) -> None:
        """Put a descriptor into s[8:15]."""
        self.sgprs[8:16] = image.encode()

    def sample_with(self, sampler: SamplerDescriptor) -> None:
        """Put a descriptor into s[16:19]."""
        self.sgprs[16:20] = sampler.encode()

    def go(self, *addresses: Sequence[float] | NDArray[np.generic]) -> Status:
        """Run with these address registers: integers unchanged, floats as f32."""
        for n, values in enumerate(addresses):
            array = np.asarray(values)
            words = array.astype(np.float32).view(np.uint32) if array.dtype.kind == "f" else array.astype(np.uint32)
            self.vgpr(4 + n)[:] = np.resize(words, self.wave_size)
        self.set("pc", self.text.address)
        return self.run()

    def results(self, count: int = 4) -> NDArray[np.uint32]:
        """[lane][component]."""
        return np.stack([self.vgpr(n).copy() for n in range(count)], 1)

    def real(self, count: int = 4) -> NDArray[np.float32]:
        """The same as `results`, but as f32."""
        return self.results(count).view(np.float32)


def made(
    bench: ImageBench, kind: ImageType, format: str, width: int, height: int = 1, *, depth: int = 1, layers: int = 1,
    levels: int = 1, seed: int = 1, **more: object,
) -> tuple[ImageDescriptor, Allocation, ImageLayout]:
    """A linear image with random bytes."""
    code = code_of(bench.rules, format)
    assert code is not None, format
    early = bench.rules is Rules.GFX6
    image = ImageDescriptor(
        bench.rules, int(kind), 0, width, height, code, depth=depth, last_array=layers - 1, last_level=levels - 1,
        max_mip=levels - 1, tiling=bench.rules.linear, padded=early and levels > 1,
        stored=layers if early and kind.is_array else 0, **more,  # type: ignore[arg-type]
    )
    layout = image.layout()
    assert layout is not None
    area = bench.memory.allocate(layout.size, name="image")
    area.data[:] = np.random.default_rng(seed).integers(0, 256, layout.size, np.uint8)
    values = {name: getattr(image, name) for name in image.__struct_fields__} | {"base": area.address}
    if bench.rules.shape_in_image:
        values["pitch"] = layout.levels[0].pitch if early else layout.field_pitch
    image = ImageDescriptor(**values)
    bench.describe(image)
    return image, area, layout


@cache
def standard_formats(rules: Rules) -> tuple[str, ...]:
    """The names of all formats."""
    return tuple(form.name for form in formats_of(rules).values())
