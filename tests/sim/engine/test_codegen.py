"""Faults of LLVM's code generator that the engine must not pass on."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from rocdbg.sim.engine.native_jit import Jit

# select(c, x, (x & C) | (y & ~C)): with AVX-512, LLVM 22 mixes the operands up at -O1.
TEXT = """
define void @merge(ptr %a, ptr %b, ptr %o) {
%x = load <8 x i32>, ptr %a, align 4
%y = load <8 x i32>, ptr %b, align 4
%z = add <8 x i32> %x, %y
%high = and <8 x i32> %x, splat (i32 -8388608)
%low = and <8 x i32> %z, splat (i32 8388607)
%both = or <8 x i32> %high, %low
%field = and <8 x i32> %x, splat (i32 2139095040)
%special = icmp eq <8 x i32> %field, splat (i32 2139095040)
%chosen = select <8 x i1> %special, <8 x i32> %x, <8 x i32> %both
store <8 x i32> %chosen, ptr %o, align 4
ret void
}
"""


@pytest.mark.parametrize("optimised", [False, True])
def test_bit_merge_under_a_select(tmp_path, optimised):
    jit = Jit(tmp_path)
    jit.load(jit.key("merge", optimised), lambda: (TEXT, b""), optimised)
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(jit.address("merge"))
    x = np.array([1.5, -2.25, np.inf, 3, 0, 1e10, -1e-10, 7], np.float32)
    y, out = np.arange(8, dtype=np.uint32), np.zeros(8, np.uint32)
    function(x.ctypes.data, y.ctypes.data, out.ctypes.data)
    bits = x.view(np.uint32)
    want = np.where(np.isinf(x), bits, bits & 0xFF800000 | bits + y & 0x7FFFFF)
    np.testing.assert_array_equal(out, want)
