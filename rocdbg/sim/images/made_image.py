"""Makes image descriptors from the properties of an image: for launches and for programs' runtimes."""

from __future__ import annotations

from msgspec import structs

from rocdbg.sim.images.chips import Chip
from rocdbg.sim.images.fields import Rules
from rocdbg.sim.images.image_descriptor import IDENTITY, ImageDescriptor, ImageType
from rocdbg.sim.images.texel_layout import ImageLayout

PITCHED_TYPES = (ImageType.ONE, ImageType.TWO)
"""The types that have an explicit pitch from GFX10.3 on; up to GFX9 all types have one."""


def made_image(
    chip: Chip, kind: ImageType, code: int, base: int, sizes: tuple[int, int, int], levels: int = 1, *,
    select: tuple[int, int, int, int] = IDENTITY, border: int = 0, pitch: int = 0, tiling: int | None = None,
) -> tuple[ImageDescriptor, ImageLayout]:  # fmt: skip
    """Make an image at ``base``, and the layout of its texels. ``sizes`` holds width, height, and planes or layers;
    ``code`` is the code of a format that the rules have; ``pitch`` the texels per row, 0 for the usual number;
    ``tiling`` the number of a tiling, None for a linear image.

    Raises ValueError, with a reason, if the target cannot have such an image.
    """
    width, height, slices = sizes
    rules, linear = chip.rules, chip.rules.linear
    early = rules is Rules.GFX6
    image = ImageDescriptor(
        rules, int(kind), base, width, height, code, depth=slices if kind is ImageType.THREE else 1,
        last_array=slices - 1 if kind.is_array else 0, last_level=levels - 1, max_mip=levels - 1,
        select=select, border_swizzle=0 if early else border, tiling=linear if tiling is None else tiling, chip=chip,
        padded=early and levels > 1, stored=slices if early and kind.is_array else 0,
    )  # fmt: skip
    own = rules.shape_in_image or (kind in PITCHED_TYPES and levels == 1 and rules >= Rules.GFX10_3)
    layout = _layout(image)
    if pitch and pitch != layout.levels[0].pitch:
        if not own or levels > 1 or pitch < width:
            raise ValueError(f"rows cannot have {pitch} texels")
        layout = _layout(structs.replace(image, pitch=pitch))
    if own:
        image = structs.replace(image, pitch=layout.field_pitch if not early else layout.levels[0].pitch)
    image.encode()
    return image, layout


def _layout(image: ImageDescriptor) -> ImageLayout:
    found = image.layout()
    if found is None:
        raise ValueError(image.problem)
    return found


__all__ = ["PITCHED_TYPES", "made_image"]
