"""Instructions after which all lanes of a kernel are active again, in blocks through which all paths lead."""

from __future__ import annotations

import pytest

from rocdbg.analysis.control_flow import FunctionCode
from rocdbg.analysis.register_effects import BY_CONVENTION, Machine
from rocdbg.analysis.saved_registers import analyse
from rocdbg.isa import assemble

END = "s_endpgm"
# (name, target, code; the index of the instruction after which all lanes are surely together)
BLOCKS = [
    ("the end of a region", "gfx90a", ["s_or_b64 exec, exec, s[2:3]", END], 0),
    ("its mask is reloaded", "gfx90a",
     ["v_readlane_b32 s4, v40, 0", "v_readlane_b32 s5, v40, 1", "s_or_b64 exec, exec, s[4:5]", END], 2),
    ("the other branch of a region begins", "gfx90a",
     ["s_or_b64 exec, exec, s[2:3]", "s_or_saveexec_b64 s[4:5], s[4:5]", "s_xor_b64 exec, exec, s[4:5]", END], None),
    ("with a mask that is reloaded", "gfx90a",
     ["s_or_b64 exec, exec, s[2:3]", "v_readlane_b32 s4, v40, 0", "v_readlane_b32 s5, v40, 1",
      "s_or_saveexec_b64 s[4:5], s[4:5]", "s_xor_b64 exec, exec, s[4:5]", END], None),
    ("and ends", "gfx90a",
     ["s_or_saveexec_b64 s[4:5], s[4:5]", "s_xor_b64 exec, exec, s[4:5]", "s_or_b64 exec, exec, s[4:5]", END], 2),
    ("a region of the block", "gfx90a",
     ["s_or_b64 exec, exec, s[2:3]", "s_and_saveexec_b64 s[6:7], vcc", "v_mov_b32 v1, 0", "s_or_b64 exec, exec, s[6:7]",
      END], 0),
    ("a region of the block, saved in vcc", "gfx90a",
     ["s_and_saveexec_b64 vcc, s[8:9]", "v_mov_b32 v1, 0", "s_or_b64 exec, exec, vcc", END], None),
    ("a region of the block with an else", "gfx90a",
     ["s_and_saveexec_b64 s[6:7], vcc", "s_xor_b64 s[6:7], exec, s[6:7]", "s_or_saveexec_b64 s[6:7], s[6:7]",
      "s_xor_b64 exec, exec, s[6:7]", "s_or_b64 exec, exec, s[6:7]", "s_or_b64 exec, exec, s[2:3]", END], 5),
    ("a region as without optimisation", "gfx90a",
     ["s_mov_b64 s[0:1], exec", "s_and_b64 s[2:3], s[0:1], s[8:9]", "s_mov_b64 exec, s[2:3]", "v_mov_b32 v1, 0",
      "s_or_b64 exec, exec, s[0:1]", "s_or_b64 exec, exec, s[4:5]", END], 5),
    ("inside of a region of the block", "gfx90a",
     ["s_and_saveexec_b64 s[6:7], vcc", "s_or_b64 exec, exec, s[2:3]", END], None),
    ("narrowed by a comparison", "gfx1100",
     ["v_cmpx_gt_u32 v0, v1", "s_or_b32 exec_lo, exec_lo, s3", END], None),
    ("narrowed by a comparison after it", "gfx1100",
     ["s_or_b32 exec_lo, exec_lo, s2", "v_cmpx_gt_u32 v0, v1", "s_or_b32 exec_lo, exec_lo, s3", END], 0),
    ("a comparison that a copy undoes", "gfx1100",
     ["s_mov_b32 s4, exec_lo", "v_cmpx_gt_u32 v0, v1", "v_mov_b32 v2, 0", "s_mov_b32 exec_lo, s4",
      "s_or_b32 exec_lo, exec_lo, s3", END], 4),
    ("narrowed by a mask", "gfx1100", ["s_and_b32 exec_lo, exec_lo, s7", "s_or_b32 exec_lo, exec_lo, s3", END], None),
    ("the other branch's mask is rewritten", "gfx90a",
     ["s_or_saveexec_b64 s[4:5], s[4:5]", "s_mov_b64 s[4:5], s[8:9]", "s_and_b64 exec, exec, s[4:5]",
      "s_or_b64 exec, exec, s[2:3]", END], None),
    ("the other branch's mask is lost in a call", "gfx90a",
     ["s_or_saveexec_b64 s[4:5], s[4:5]", "s_swappc_b64 s[30:31], s[8:9]", "s_and_b64 exec, exec, s[4:5]",
      "s_or_b64 exec, exec, s[2:3]", END], None),
    ("a copy in s0 stays when something else is written", "gfx90a",
     ["s_mov_b64 s[0:1], exec", "v_writelane_b32 v9, s2, 0", "s_and_b64 exec, exec, s[8:9]", "s_mov_b64 exec, s[0:1]",
      "s_or_b64 exec, exec, s[2:3]", END], 4),
    ("narrowed and written", "gfx1100",
     ["s_and_not0_wrexec_b32 s8, s9", "s_or_b32 exec_lo, exec_lo, s3", END], None),
]


@pytest.mark.parametrize(("target", "code", "expected"), [row[1:] for row in BLOCKS], ids=[row[0] for row in BLOCKS])
def test_blocks(target: str, code: list[str], expected: int | None) -> None:
    data, starts = b"", []
    for line in code:
        starts.append(len(data))
        data += assemble(line, target)
    machine = Machine(64 if target == "gfx90a" else 32, False, lambda address: BY_CONVENTION)
    analysis = analyse(FunctionCode(0, len(data), is_kernel=True), data, target, machine)
    assert sorted(analysis.rejoins) == ([] if expected is None else [starts[expected]])
