"""Which instructions of the four targets have semantics: all of the scalar and vector units but those listed here."""

from __future__ import annotations

import re

import pytest

from rocdbg.isa.row import base_name
from rocdbg.isa.table import load
from rocdbg.sim.semantics import registry

LAYOUTS = re.compile(r"SOP[12CKP]|VOP(1|2|3|C|3P|3SD|D)(_|$)")
MISSING = {
    "graphics": r"v_interp_|v_screen_partition|s_sendmsghalt|v_illegal",
    "skips": r"s_setvskip",
    "forks and joins, traps' returns": r"s_cbranch_(g_fork|i_fork|join)|s_rfe_",
    "wave64 as two halves": r"s_subvector_loop_",
}


@pytest.mark.parametrize("target", ["gfx90a", "gfx942", "gfx1030", "gfx1100"])
def test_every_compute_instruction_has_semantics(target):
    rows = load(target)["rows"]
    mnemonics = {
        row[0] for layout, opcodes in rows.items() if LAYOUTS.match(layout) for row in opcodes.values()
    }
    names = {base_name(part) for mnemonic in mnemonics for part in mnemonic.split(" :: ")}
    assert len(names) > 600
    expected = re.compile("|".join(MISSING.values()))
    assert sorted(n for n in names if registry.lookup(n) is None and not expected.match(n)) == []
    # A listed instruction that got semantics must leave the list.
    assert sorted(n for n in names if registry.lookup(n) is not None and expected.match(n)) == []
