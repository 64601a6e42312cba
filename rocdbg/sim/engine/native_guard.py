"""Calls of generated code that return even if it crashes.

Generated code checks its accesses, and its data lie between guard pages (`guarded`). If a check is nevertheless wrong,
the host raises SIGSEGV, SIGBUS, SIGFPE or SIGILL within generated code. The handler in this module then abandons the
call, which returns `layout.Status.CRASH`, and records what is known about the crash. A signal anywhere else in the
process goes to its previous handler.

Other code may install handlers later: Python's faulthandler, or a compiler in the same process. Each call checks which
handler is installed, and puts this one in front again.

The routines are LLVM IR, as all native code is: ``guard_call(slot, function, five arguments)`` records in the slot
where to return to, and ``guard_handler`` jumps there. A slot serves one thread.
"""

from __future__ import annotations

import ctypes
import functools
import signal
import sys
import threading
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from rocdbg.sim.core.layout import Status, make_fields

if TYPE_CHECKING:
    from rocdbg.sim.engine.native_jit import Jit

SLOTS: Final = 64
"""How many threads can run generated code at the same time and recover from a crash."""
_JUMP_BUFFER: Final = 1024
"""Size in bytes, larger than any host's sigjmp_buf."""

_SLOT: Final = make_fields(("thread", 8), ("active", 8), ("signal", 8), ("address", 8), ("jump", 8))
_JUMP: Final = 64
_SLOT_SIZE: Final = _JUMP + _JUMP_BUFFER

_SIGNALS: Final = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)
_IS_MAC: Final = sys.platform == "darwin"
_FLAGS: Final = 0x40 | 0x10 if _IS_MAC else 4 | 0x4000_0000  # SA_SIGINFO | SA_NODEFER
_SETJMP: Final = "sigsetjmp" if _IS_MAC else "__sigsetjmp"
_CODE_IN_INFO: Final = 8
"""Offset of si_code in siginfo_t; the code is positive unless a process sent the signal."""
_ADDRESS_IN_INFO: Final = 24 if _IS_MAC else 16
"""Offset of si_addr in siginfo_t."""


class Crash(Struct, frozen=True):
    """The host's description of a crash: signal number, and the host address that was accessed."""

    signal: int
    address: int

    @property
    def text(self) -> str:
        """``SIGSEGV at host address 0x7f...``."""
        return f"{signal.Signals(self.signal).name} at host address {self.address:#x}"


class _Action(ctypes.Structure):
    """``struct sigaction``."""

    _fields_ = (
        [("handler", ctypes.c_void_p), ("mask", ctypes.c_uint32), ("flags", ctypes.c_int)]
        if _IS_MAC
        else [
            ("handler", ctypes.c_void_p), ("mask", ctypes.c_uint64 * 16), ("flags", ctypes.c_int),
            ("restorer", ctypes.c_void_p),
        ]
    )


def _text() -> str:
    """The module: one handler per signal, so that each knows which handler it has replaced."""
    slots = f"[{SLOTS * _SLOT_SIZE} x i8]"
    at = {name: field.offset for name, field in _SLOT.items()}
    handlers = "\n".join(_handler(int(number), at) for number in _SIGNALS)
    installed = "\n".join(f"  call void @guard.install.{int(number)}()" for number in _SIGNALS)
    return f"""
@guard.slots = internal global {slots} zeroinitializer, align 64
declare i32 @{_SETJMP}(ptr, i32) returns_twice
declare void @siglongjmp(ptr, i32) noreturn
declare i64 @pthread_self()
declare i32 @sigaction(i32, ptr, ptr)
declare i32 @raise(i32)
declare void @llvm.set.rounding(i32)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define ptr @rocdbg_guard_slots() {{
  ret ptr @guard.slots
}}

define i32 @rocdbg_guard_call(ptr %slot, ptr %function, ptr %a, ptr %b, ptr %c, ptr %d, ptr %e) {{
{installed}
  %active = getelementptr i8, ptr %slot, i64 {at["active"]}
  %thread = getelementptr i8, ptr %slot, i64 {at["thread"]}
  %me = call i64 @pthread_self()
  store volatile i64 %me, ptr %thread
  %jump = getelementptr i8, ptr %slot, i64 {_JUMP}
  %back = call i32 @{_SETJMP}(ptr %jump, i32 0) returns_twice
  %crashed = icmp ne i32 %back, 0
  br i1 %crashed, label %crash, label %go
go:
  store volatile i64 1, ptr %active
  %status = call i32 %function(ptr %a, ptr %b, ptr %c, ptr %d, ptr %e)
  store volatile i64 0, ptr %active
  ret i32 %status
crash:
  call void @llvm.set.rounding(i32 1)
  ret i32 {int(Status.CRASH)}
}}
{handlers}
"""


def _handler(number: int, at: dict[str, int]) -> str:
    return f"""
@guard.old.{number} = internal global [{ctypes.sizeof(_Action)} x i8] zeroinitializer, align 16
@guard.new.{number} = internal global [{ctypes.sizeof(_Action)} x i8] zeroinitializer, align 16
define ptr @rocdbg_guard_new_{number}() {{
  ret ptr @guard.new.{number}
}}
define internal void @guard.install.{number}() {{
  %now = alloca [{ctypes.sizeof(_Action)} x i8], align 16
  %asked = call i32 @sigaction(i32 {number}, ptr null, ptr %now)
  %there = load ptr, ptr %now
  %ours = icmp eq ptr %there, @rocdbg_guard_handler_{number}
  br i1 %ours, label %done, label %install
install:
  %installed = call i32 @sigaction(i32 {number}, ptr @guard.new.{number}, ptr %now)
  %before = load ptr, ptr %now
  %raced = icmp eq ptr %before, @rocdbg_guard_handler_{number}
  br i1 %raced, label %done, label %keep
keep:
  call void @llvm.memcpy.p0.p0.i64(ptr @guard.old.{number}, ptr %now, i64 {ctypes.sizeof(_Action)}, i1 false)
  br label %done
done:
  ret void
}}
define void @rocdbg_guard_handler_{number}(i32 %number, ptr %info, ptr %context) {{
entry:
  %me = call i64 @pthread_self()
  br label %look
look:
  %n = phi i64 [ 0, %entry ], [ %next, %on ]
  %offset = mul i64 %n, {_SLOT_SIZE}
  %slot = getelementptr i8, ptr @guard.slots, i64 %offset
  %thread.at = getelementptr i8, ptr %slot, i64 {at["thread"]}
  %thread = load volatile i64, ptr %thread.at
  %active.at = getelementptr i8, ptr %slot, i64 {at["active"]}
  %active = load volatile i64, ptr %active.at
  %mine = icmp eq i64 %thread, %me
  %runs = icmp ne i64 %active, 0
  %here = and i1 %mine, %runs
  br i1 %here, label %found, label %on
on:
  %next = add i64 %n, 1
  %more = icmp ult i64 %next, {SLOTS}
  br i1 %more, label %look, label %other
found:
  store volatile i64 0, ptr %active.at
  %wide = zext i32 %number to i64
  %signal.at = getelementptr i8, ptr %slot, i64 {at["signal"]}
  store volatile i64 %wide, ptr %signal.at
  %address.in = getelementptr i8, ptr %info, i64 {_ADDRESS_IN_INFO}
  %address = load i64, ptr %address.in
  %address.at = getelementptr i8, ptr %slot, i64 {at["address"]}
  store volatile i64 %address, ptr %address.at
  %jump = getelementptr i8, ptr %slot, i64 {_JUMP}
  call void @siglongjmp(ptr %jump, i32 1) noreturn
  unreachable
other:
  %restored = call i32 @sigaction(i32 %number, ptr @guard.old.{number}, ptr null)
  %code.at = getelementptr i8, ptr %info, i64 {_CODE_IN_INFO}
  %code = load i32, ptr %code.at
  %sent = icmp sle i32 %code, 0
  br i1 %sent, label %again, label %back
again:
  %raised = call i32 @raise(i32 %number)
  br label %back
back:
  ret void
}}"""


_CALL = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 7)


class Guard:
    """Calls generated code. There must be only one per process: two would each call the other as the previous handler.
    """

    def __init__(self, jit: Jit) -> None:
        self._jit = jit
        jit.load(jit.key("guard", _text()), lambda: (_text(), b""))
        self._call = _CALL(jit.address("rocdbg_guard_call"))
        getter = ctypes.CFUNCTYPE(ctypes.c_void_p)
        self._slots = getter(jit.address("rocdbg_guard_slots"))()
        self._free = list(range(SLOTS))
        self._mine = threading.local()
        for number in _SIGNALS:
            action = _Action.from_address(getter(jit.address(f"rocdbg_guard_new_{int(number)}"))())
            action.handler, action.flags = jit.address(f"rocdbg_guard_handler_{int(number)}"), _FLAGS

    def __call__(self, function: int, a: int, b: int, c: int = 0, d: int = 0, e: int = 0) -> Status:
        """Call native code at host address ``function`` with up to five pointers; CRASH if it crashed."""
        return Status(self._call(self._slot, function, a, b, c, d, e))

    @property
    def _slot(self) -> int:
        """Host address of the calling thread's slot. Raises RuntimeError if there are too many threads."""
        mine: _Claim | None = getattr(self._mine, "claim", None)
        if mine is None:
            mine = self._mine.claim = _Claim(self._free)
        return int(self._slots) + mine.number * _SLOT_SIZE

    def crash(self) -> Crash:
        """The description of the calling thread's last crash."""
        values = (ctypes.c_uint64 * len(_SLOT)).from_address(self._slot)
        return Crash(values[_SLOT["signal"].offset // 8], values[_SLOT["address"].offset // 8])


class _Claim:
    """A slot, released when its thread ends."""

    def __init__(self, free: list[int]) -> None:
        self.number = -1
        self._free = free
        if not free:
            raise RuntimeError(f"generated code runs in more than {SLOTS} threads")
        self.number = free.pop()

    def __del__(self) -> None:
        if getattr(self, "number", -1) >= 0:
            self._free.append(self.number)


@functools.cache
def _guards() -> list[Guard]:
    return []


def guard(jit: Jit) -> Guard:
    """The process's guard, linked by the first JIT that needs it, which keeps it."""
    guards = _guards()
    if not guards:
        guards.append(Guard(jit))
    return guards[0]


__all__ = ["SLOTS", "Crash", "Guard", "guard"]
