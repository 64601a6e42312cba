"""The few operations on memory shared with a program that need atomic instructions or a futex (runtime/gpu_side.c)."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path

_u32, _u64, _pointer = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p


class GpuSide:
    """The loaded library. Its functions take addresses in rocdbg's own mapping, which must be valid."""

    def __init__(self, path: Path) -> None:
        waiting = ctypes.CDLL(str(path))  # calls through CDLL let other threads run
        quick = ctypes.PyDLL(str(path))
        self.wait_for_work = waiting.rocdbg_wait_for_work
        """(control, seen, nanoseconds) -> count of work."""
        self.wait_for_work.argtypes, self.wait_for_work.restype = [_pointer, _u32, _u64], _u32
        self.more_work = quick.rocdbg_more_work
        """(control)"""
        self.signals_changed = quick.rocdbg_signals_changed
        """(control)"""
        for function in (self.more_work, self.signals_changed):
            function.argtypes, function.restype = [_pointer], None
        self.finish = quick.rocdbg_finish
        """(control, header, read index, its next value, signal, start)"""
        self.finish.argtypes, self.finish.restype = [_pointer, _pointer, _pointer, _u64, _pointer, _u64], None


@cache
def load_gpu_side(path: Path) -> GpuSide:
    """The library, once for each path."""
    return GpuSide(path)
