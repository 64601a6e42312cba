"""The numbers of pipes, banks and packers over which a chip spreads tiled images, from its register GB_ADDR_CONFIG.

The values are those that Mesa records for devices. A target whose chips differ, or whose value is not recorded, is
omitted: its images can only have tilings that do not depend on these numbers.
"""

from __future__ import annotations

from msgspec import Struct

from rocdbg.arch.targets import TARGETS, Generation, Target
from rocdbg.sim.images.fields import Rules, rules_of


class Chip(Struct, frozen=True):
    """All numbers are logarithms. GFX9's ``pipes`` includes its shader engines; only GFX9 has ``banks``, only GFX10.3
    and GFX11 have ``packers``.
    """

    rules: Rules
    pipes: int | None = None
    """None: not known."""
    banks: int = 0
    packers: int = 0
    counts_bytes: bool = False
    """Whether a buffer that has a stride but is not swizzled gives its size in bytes (GFX8) rather than in records."""


_BY_RULES = [Chip(rules) for rules in Rules]
_GFX8 = Chip(Rules.GFX6, counts_bytes=True)


def chip_of(target: Target) -> Chip:
    """The chip that is simulated for a target."""
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
"""Every distinct chip. Requests name a chip by its index here. The first chips, in the order of `Rules`, are those of
which only the rules are known.
"""


__all__ = ["CHIPS", "Chip", "chip_of"]
