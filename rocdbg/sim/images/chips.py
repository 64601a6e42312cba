"""How many pipes, banks and packers a chip spreads tiled images over: what its register GB_ADDR_CONFIG says.

The values are those of the devices that Mesa has recorded. A target whose chips differ, or whose value is not recorded,
is left out: its images can only have tilings that do not depend on them.
"""

from __future__ import annotations

from msgspec import Struct

from rocdbg.arch.targets import TARGETS, Generation, Target
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


_BY_RULES = [Chip(rules) for rules in Rules]
_GFX8 = Chip(Rules.GFX6, counts_bytes=True)


def chip_of(target: Target) -> Chip:
    """The chip that a target is simulated as."""
    rules, config = rules_of(target), target.gb_addr_config
    if target.generation is Generation.GFX8:
        return _GFX8
    return _BY_RULES[rules] if config is None else _chip(rules, config)


def _chip(rules: Rules, config: int) -> Chip:
    pipes = config & 7
    if rules is Rules.GFX9:
        return Chip(rules, pipes + (config >> 19 & 3), banks=config >> 12 & 7)
    return Chip(rules, pipes, packers=0 if rules is Rules.GFX10 else config >> 8 & 7)


_KNOWN = [
    _chip(rules_of(target), target.gb_addr_config) for target in TARGETS.values() if target.gb_addr_config is not None
]
CHIPS: tuple[Chip, ...] = tuple(dict.fromkeys([*_BY_RULES, _GFX8, *_KNOWN]))
"""Every chip, without repetition. Instructions name theirs by its place here; the first ones are those of which only
the rules are known, in their order."""


__all__ = ["CHIPS", "Chip", "chip_of"]
