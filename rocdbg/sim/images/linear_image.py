"""Descriptors of linear images, made from what they are to be: for launches and for programs' runtimes."""

from __future__ import annotations

from msgspec import structs

from rocdbg.sim.images.descriptor import IDENTITY, ImageDescriptor, ImageType
from rocdbg.sim.images.fields import Rules
from rocdbg.sim.images.layout import LinearLayout

PITCHED_TYPES = (ImageType.ONE, ImageType.TWO)
"""What has a pitch of its own from GFX10.3 on; up to GFX9 everything has."""


def linear_image(
    rules: Rules, kind: ImageType, code: int, base: int, sizes: tuple[int, int, int], levels: int = 1, *,
    select: tuple[int, int, int, int] = IDENTITY, border: int = 0, pitch: int = 0,
) -> tuple[ImageDescriptor, LinearLayout]:  # fmt: skip
    """An image at ``base`` and where its texels lie. ``sizes``: width, height, and planes or layers; ``code`` is that
    of a format that the rules have; ``pitch``: texels per row, 0 for the usual number.

    Raises ValueError for a pitch that the target cannot have, or a size that does not fit.
    """
    width, height, slices = sizes
    image = ImageDescriptor(
        rules, int(kind), base, width, height, code, depth=slices if kind is ImageType.THREE else 1,
        last_array=slices - 1 if kind.is_array else 0, last_level=levels - 1, max_mip=levels - 1,
        select=select, border_swizzle=0 if rules is Rules.GFX6 else border, tiling=rules.linear[0],
    )  # fmt: skip
    own = rules.shape_in_image or (kind in PITCHED_TYPES and levels == 1 and rules >= Rules.GFX10_3)
    layout = _layout(image)
    if pitch and pitch != layout.levels[0].pitch:
        if not own or levels > 1 or pitch < width:
            raise ValueError(f"rows of {pitch} texels")
        layout = _layout(structs.replace(image, pitch=pitch))
    if own:
        image = structs.replace(image, pitch=layout.field_pitch)
    image.encode()
    return image, layout


def _layout(image: ImageDescriptor) -> LinearLayout:
    found = image.layout()
    assert found is not None, image.problem
    return found


__all__ = ["PITCHED_TYPES", "linear_image"]
