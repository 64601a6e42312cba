"""Forms that show every operand kind of every instruction: compiled and run in both tiers, and held to their operands.

`python -m tests.sim.forms.compiling` does the same with every form of every target, in some hours.
"""

from __future__ import annotations

from collections.abc import Hashable

import pytest

from rocdbg.arch.targets import target_by_name
from rocdbg.sim.core.layout import Mode, mode_key
from rocdbg.sim.engine.native_jit import Jit
from rocdbg.sim.semantics.access import Context
from tests.sim.forms.compiling import troubles
from tests.sim.forms.listing import covering

PLACES = {
    "RDNA": (("gfx1200", 32), ("gfx1250", 32), ("gfx1100", 64), ("gfx1030", 32), ("gfx1010", 64), ("gfx1150", 32)),
    "early": (("gfx700", 64), ("gfx803", 64), ("gfx600", 64)),
    "CDNA": (("gfx950", 64), ("gfx90a", 64), ("gfx906", 64), ("gfx908", 64), ("gfx942", 64)),
}
"""Targets and wave sizes; each shows what those before it do not have."""
SHARE = {"early": 8}
"""One of so many forms is looked at where most are a later target's; the script tries them all."""
BATCH = 250
MODES = (
    (0x3F0, False),  # as compilers set it: nearest, no flushing, IEEE
    (0x3F0, True),  # arithmetic exceptions watched for
    (0x305, False),  # rounding up, everything flushed
    (0x80_01E3, False),  # f32 toward zero, f16 limited instead of infinite, no IEEE
)
"""MODE, and whether arithmetic exceptions are noted: in turn."""


@pytest.mark.parametrize("family", PLACES)
def test_forms_in_both_tiers(family: str) -> None:
    jit, seen, bad, count = Jit(None), set[Hashable](), [], 0
    for name, wave_size in PLACES[family]:
        target = target_by_name(name)
        listed = list(covering(name, wave_size, seen))[:: SHARE.get(family, 1)]
        count += len(listed)
        for turn, (mode, exceptions) in enumerate(MODES):
            context = Context(target, wave_size, Mode(mode_key(mode)), exceptions)
            part = listed[turn :: len(MODES)]
            for first in range(0, len(part), BATCH):
                bad += troubles(jit, part[first : first + BATCH], context)
    assert not bad, "\n".join(f"{t.form}: {t.what}" for t in bad)
    assert count > (500 if family in SHARE else 5_000)
