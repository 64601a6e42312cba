"""Signals, waits and handlers."""

from __future__ import annotations

import ctypes
import threading
import time
from ctypes import POINTER, byref, c_bool, c_uint32, c_uint64, c_void_p

from hsa import EQ, FOREVER, GTE, LT, NE, call, lib, out, raw, refused, signal, wait


def check_signals() -> None:
    handle = signal(10)
    for order in ("relaxed", "scacquire", "screlease", "scacq_screl", "acquire", "release", "acq_rel"):
        lib[f"hsa_signal_add_{order}"](c_uint64(handle), c_uint64(5))
        lib[f"hsa_signal_subtract_{order}"](c_uint64(handle), c_uint64(3))
        lib[f"hsa_signal_or_{order}"](c_uint64(handle), c_uint64(1 << 40))
        lib[f"hsa_signal_xor_{order}"](c_uint64(handle), c_uint64(1 << 41))
        lib[f"hsa_signal_and_{order}"](c_uint64(handle), c_uint64(~(3 << 40)))
    assert raw("hsa_signal_load_relaxed", handle) == 10 + 7 * 2
    assert raw("hsa_signal_exchange_scacq_screl", handle, -4) == 24
    assert raw("hsa_signal_cas_scacq_screl", handle, 5, 6) == -4
    assert raw("hsa_signal_cas_scacq_screl", handle, -4, 6) == -4
    assert raw("hsa_signal_load_scacquire", handle) == 6
    raw("hsa_signal_silent_store_relaxed", handle, 9)
    pointer = POINTER(ctypes.c_int64)()
    call("hsa_amd_signal_value_pointer", handle, byref(pointer))
    assert pointer[0] == 9
    call("hsa_signal_destroy", handle)
    refused(0x1006, "hsa_signal_destroy", handle)
    refused(0x1001, "hsa_signal_destroy", 0)


def later(seconds: float, action: object) -> None:
    threading.Timer(seconds, action).start()  # type: ignore[arg-type]


def check_waits() -> None:
    handle = signal(1)
    begin = time.monotonic()
    assert wait(handle, timeout=20_000_000) == 1
    assert time.monotonic() - begin >= 0.02
    later(0.02, lambda: raw("hsa_signal_store_screlease", handle, -7))
    assert wait(handle, 0, LT) == -7
    pointer = POINTER(ctypes.c_int64)()
    call("hsa_amd_signal_value_pointer", handle, byref(pointer))

    def behind_its_back() -> None:
        pointer[0] = 3

    later(0.02, behind_its_back)
    assert wait(handle, 3, GTE) == 3
    assert wait(handle, 5, NE) == 3
    signals = (c_uint64 * 3)(signal(1), signal(1), signal(1))
    conditions, values = (c_uint32 * 3)(EQ, EQ, EQ), (ctypes.c_int64 * 3)()
    later(0.02, lambda: raw("hsa_signal_store_relaxed", signals[1], 0))
    value = ctypes.c_int64(55)
    assert raw("hsa_amd_signal_wait_any", 3, signals, conditions, values, FOREVER, 0, byref(value)) == 1
    assert value.value == 0
    assert raw("hsa_amd_signal_wait_all", 3, signals, conditions, values, 1000, 0, None) == 0xFFFFFFFF
    later(0.01, lambda: raw("hsa_signal_store_relaxed", signals[0], 0))
    later(0.02, lambda: raw("hsa_signal_store_relaxed", signals[2], 0))
    assert raw("hsa_amd_signal_wait_all", 3, signals, conditions, values, FOREVER, 0, None) == 0
    group = out("hsa_signal_group_create", 3, signals, 0, None)
    which, found = c_uint64(), ctypes.c_int64()
    call("hsa_signal_group_wait_any_scacquire", group, conditions, values, 0, byref(which), byref(found))
    assert which.value == signals[0]
    call("hsa_signal_group_destroy", group)


def check_conditions() -> None:
    """Of signals that are less than, equal to and greater than a value."""
    holds = {EQ: (0,), NE: (-1, 1), LT: (-1,), GTE: (0, 1)}
    for condition, values in holds.items():
        for value in (-1, 0, 1):
            found = raw(
                "hsa_amd_signal_wait_any", 1, byref(c_uint64(signal(value))), byref(c_uint32(condition)),
                byref(ctypes.c_int64(0)), 1000, 0, None,
            )
            assert found == (0 if value in values else 0xFFFFFFFF), (condition, value)


def check_signal_handlers() -> None:
    seen: list[int] = []
    over = threading.Event()
    handle = signal(3)

    @ctypes.CFUNCTYPE(c_bool, ctypes.c_int64, c_void_p)
    def handler(value: int, data: int) -> bool:
        seen.append(value)
        raw("hsa_signal_store_relaxed", handle, value + 10)
        if value > 15:
            over.set()
        return value <= 15

    call("hsa_amd_signal_async_handler", handle, LT, 100, handler, None)
    assert over.wait(10)
    assert seen == [3, 13, 23]
    called = threading.Event()
    function = ctypes.CFUNCTYPE(None, c_void_p)(lambda data: called.set())
    call("hsa_amd_async_function", function, None)
    assert called.wait(10)


def check_many_signals() -> None:
    handles = [signal(i) for i in range(3000)]
    assert len(set(handles)) == 3000
    assert all(raw("hsa_signal_load_relaxed", handle) == i for i, handle in enumerate(handles))
    for handle in handles:
        call("hsa_signal_destroy", handle)
