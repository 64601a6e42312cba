"""How many pipes, banks and packers a chip spreads tiled images over: what its register GB_ADDR_CONFIG says.

The values are those of the devices that Mesa has recorded. A target whose chips differ, or whose value is not recorded,
is left out: its images can only have tilings that do not depend on them.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from rocdbg.arch.targets import Generation, Target, target_by_name
from rocdbg.sim.images.fields import Rules, rules_of


class Chip(Struct, frozen=True):
    """All but ``rules`` are logarithms. ``pipes`` of GFX9 counts its shader engines too; ``banks`` is GFX9's alone,
    ``packers`` of GFX10.3 and GFX11."""

    rules: Rules
    pipes: int | None = None
    """None: not known."""
    banks: int = 0
    packers: int = 0
    counts_bytes: bool = False
    """GFX8: a buffer with a stride that is not swizzled says its size in bytes, elsewhere in records."""


_GB_ADDR_CONFIG: Mapping[str, int] = {
    "gfx900": 0x2A114042, "gfx902": 0x24000042, "gfx906": 0x2A114042, "gfx909": 0x26013041,
    "gfx1010": 0x00100044, "gfx1012": 0x00000043, "gfx1030": 0x00000444, "gfx1033": 0x00000142,
    "gfx1035": 0x00000242, "gfx1036": 0x00000042,
    "gfx1100": 0x00000545, "gfx1102": 0x00000343, "gfx1103": 0x00000242, "gfx1150": 0x00000242,
}  # fmt: skip
_BY_RULES = [Chip(rules) for rules in Rules]
_GFX8 = Chip(Rules.GFX6, counts_bytes=True)


def chip_of(target: Target) -> Chip:
    """The chip that a target is simulated as."""
    rules, config = rules_of(target), _GB_ADDR_CONFIG.get(target.name)
    if target.generation is Generation.GFX8:
        return _GFX8
    return _BY_RULES[rules] if config is None else _chip(rules, config)


def has_images(target: Target) -> bool:
    """Whether a target has image instructions."""
    return not (target.name.startswith(("gfx94", "gfx95")) or target.is_gfx125 or target.is_r600)


def _chip(rules: Rules, config: int) -> Chip:
    pipes = config & 7
    if rules is Rules.GFX9:
        return Chip(rules, pipes + (config >> 19 & 3), banks=config >> 12 & 7)
    return Chip(rules, pipes, packers=0 if rules is Rules.GFX10 else config >> 8 & 7)


_KNOWN = [_chip(rules_of(target_by_name(name)), config) for name, config in _GB_ADDR_CONFIG.items()]
CHIPS: tuple[Chip, ...] = tuple(dict.fromkeys([*_BY_RULES, _GFX8, *_KNOWN]))
"""Every chip, without repetition. Instructions name theirs by its place here; the first ones are those of which only
the rules are known, in their order."""


__all__ = ["CHIPS", "Chip", "chip_of", "has_images"]
