"""Generated code that crashes: there is an ordinary stop, the wave stays where it is, and the rest of the machine
continues.

A wrong pointer in the wave's header simulates a wrong check.
"""

from __future__ import annotations

import ctypes
import mmap
import signal

import numpy as np
import pytest

from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import StopKind

pytestmark = pytest.mark.llvm
CODE = """
v_mov_b32 v1, 7
s_nop 0
.globl bad
bad: ds_read_b32 v1, v0
"""


@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
@pytest.mark.parametrize("way", ["run", "only", "step", "range"])
def test_crash(assembled, target, way):
    code = CODE if target == "gfx90a" else CODE.replace("ds_read_b32", "ds_load_b32")
    kernel = assembled(target, code, groups=3)
    _, second, _ = kernel.dispatch.waves
    right = second.word("lds_pointer")
    guard = -(-(right + 4096) // mmap.PAGESIZE) * mmap.PAGESIZE  # after the 4096 bytes of LDS
    second.set_word("lds_pointer", guard)
    options = {
        "run": RunOptions(),
        "only": RunOptions(wave=2, only=True),
        "step": RunOptions(wave=2, step=True),
        "range": RunOptions(wave=2, range=(second.pc, kernel.at("bad") + 8)),
    }[way]
    stop = kernel.dispatch.run(options)
    while stop.kind is StopKind.STEP:
        stop = kernel.dispatch.run(options)
    assert stop.kind is StopKind.INTERNAL and stop.is_exception and stop.wave.number == 2
    assert "crashed: SIGSEGV at host address 0x" in stop.reason and stop.pc == second.pc
    assert stop.message.startswith(f"internal error at {stop.pc:#x}: generated code of the block at")
    second.set_word("lds_pointer", right)
    assert kernel.dispatch.run(options) is stop  # it does not continue


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGBUS])
def test_who_installs_a_handler_later_does_not_take_it_away(assembled, number):
    """Compilers in the same process, and faulthandler, install handlers in this way."""
    before, default = (ctypes.create_string_buffer(256) for _ in range(2))
    sigaction = ctypes.CDLL(None).sigaction
    kernel = assembled("gfx90a", CODE)
    assert kernel.dispatch.run(RunOptions(wave=1, step=True)).kind is StopKind.STEP
    sigaction(number, default, before)
    try:
        kernel.wave.set_word("lds_pointer", 0x1000)
        assert kernel.dispatch.run().kind is StopKind.INTERNAL
        sigaction(number, None, default)
        assert default.raw[:8] == before.raw[:8]
    finally:
        sigaction(number, before, None)


def test_other_dispatches_are_not_concerned(assembled):
    broken, sound = assembled("gfx90a", CODE), assembled("gfx90a", CODE)
    broken.wave.set_word("lds_pointer", 0x1000)
    assert broken.dispatch.run().kind is StopKind.INTERNAL
    assert sound.dispatch.run().kind is StopKind.DONE
    assert np.count_nonzero(broken.wave.vgpr(1)) in (0, 64)
