"""Forms that cover every operand kind of every instruction: compared with their operands, compiled and run in both
tiers.

``make truth`` compares the accesses of all forms of all targets with their operands, and compiles the forms. ``./test``
uses the first target of each family: it examines one form in three, and compiles one form of each instruction, or of
one in four instructions that `tests.sim.semantics.test_both_builders` compiles in both tiers.

`python -m tests.sim.forms.compiling` does the same with every form of every target, in some hours.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import pytest

from rocdbg.arch.targets import target_by_name
from rocdbg.isa.instruction import Instruction
from rocdbg.sim.core.layout import Mode, mode_key
from rocdbg.sim.engine.native_jit import Jit
from rocdbg.sim.semantics.access import Context
from tests.breadth import EVERYTHING
from tests.sim.forms.compiling import troubles
from tests.sim.forms.listing import covering
from tests.sim.forms.touched import Recorder, excess
from tests.sim.semantics.test_both_builders import names_compared

PLACES = {
    "RDNA": (("gfx1200", 32), ("gfx1250", 32), ("gfx1100", 64), ("gfx1030", 32), ("gfx1010", 64), ("gfx1150", 32)),
    "early": (("gfx700", 64), ("gfx803", 64), ("gfx600", 64)),
    "CDNA": (("gfx950", 64), ("gfx90a", 64), ("gfx906", 64), ("gfx908", 64), ("gfx942", 64)),
}
"""Targets and wave sizes; each covers instructions that those before it lack."""
SHARE = {"early": 8}
"""One of this many forms is examined on targets that mostly share a later target's forms; the script tries all."""
BATCH = 250
MODES = (
    (0x3F0, False),  # as compilers set it: nearest, no flushing, IEEE
    (0x3F0, True),  # arithmetic exceptions watched for
    (0x305, False),  # rounding up, everything flushed
    (0x80_01E3, False),  # f32 toward zero, f16 limited instead of infinite, no IEEE
)
"""MODE, and whether arithmetic exceptions are recorded, in turn."""


def one_of_each(listed: Sequence[Instruction], seen: set[str]) -> list[Instruction]:
    """One form of each instruction that is not in ``seen``, which is extended; not always its first form."""
    forms: dict[str, list[Instruction]] = {}
    for instruction in listed:
        if instruction.name not in seen:
            forms.setdefault(instruction.name, []).append(instruction)
    seen |= forms.keys()
    chosen = [found[turn % len(found)] for turn, found in enumerate(forms.values())]
    elsewhere = frozenset(names_compared())
    return [one for turn, one in enumerate(chosen) if turn % 4 == 0 or one.name not in elsewhere]


@pytest.mark.truth
@pytest.mark.parametrize("family", PLACES)
def test_forms_in_both_tiers(family: str) -> None:
    jit, seen, compiled, bad, count = Jit(None), set[Hashable](), set[str](), [], 0
    for name, wave_size in PLACES[family][: None if EVERYTHING else 1]:
        target = target_by_name(name)
        listed = list(covering(name, wave_size, seen))[:: SHARE.get(family, 1 if EVERYTHING else 3)]
        chosen = listed if EVERYTHING else one_of_each(listed, compiled)
        count += len(listed)
        for turn, (mode, exceptions) in enumerate(MODES):
            context = Context(target, wave_size, Mode(mode_key(mode)), exceptions)
            recorder = Recorder(wave_size, jit.width, jit.masked_stores)
            for instruction in listed[turn :: len(MODES)]:
                if what := excess(recorder, instruction, context):
                    bad.append(f"{name} wave{wave_size} {instruction.text}: touches {what}")
                recorder.functions.clear()
            part = chosen[turn :: len(MODES)]
            for first in range(0, len(part), BATCH):
                bad += [f"{t.form}: {t.what}" for t in troubles(jit, part[first : first + BATCH], context)]
    assert not bad, "\n".join(bad)
    assert count > (500 if family in SHARE else 5_000) / (1 if EVERYTHING else 4)
