"""``$_siginfo``: information about the signal with which a wave stopped, in the form of Linux's siginfo_t.

Codes and fields are those of POSIX's <signal.h>. The union ``_sifields`` has only the member for faults. The address is
the one that the lane in focus accessed; if that lane did not fault, the address that the first faulting lane accessed.
It belongs to the address space of the fault.
"""

from __future__ import annotations

from functools import lru_cache

from rocdbg.arch.address_spaces import AddressSpace, address_space
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.expr.names.convenience_variables import Convenience
from rocdbg.debugger.running.run_state import RunState
from rocdbg.debugger.running.stop_events import StopEvent, StopReason
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import ClassBody, ClassKind, ClassType, Member, Type

_NUMBERS = {"SIGINT": 2, "SIGILL": 4, "SIGTRAP": 5, "SIGABRT": 6, "SIGBUS": 7, "SIGFPE": 8, "SIGSEGV": 11}
_CODES = {
    "divide-by-zero": 3, "integer-divide-by-zero": 1, "overflow": 4, "underflow": 5, "inexact": 6,  # FPE_*
    "invalid": 7, "denormal": 7,
    "illegal-instruction": 1, "unsupported-instruction": 1, "internal-error": 1,  # ILL_ILLOPC
    "memory-violation": 1, "permission": 2,  # SEGV_MAPERR, SEGV_ACCERR
    "aperture-violation": 2, "misaligned": 1,  # BUS_ADRERR, BUS_ADRALN
    "abort": -6,  # SI_TKILL
}
_BREAKPOINT, _TRACE, _WATCHPOINT = 1, 2, 4  # TRAP_*
_FROM_KERNEL = 0x80  # SI_KERNEL
_OF_REASON = {
    StopReason.STEP: _TRACE, StopReason.LOCATION: _TRACE, StopReason.FINISHED: _TRACE,
    StopReason.WATCHPOINT: _WATCHPOINT, StopReason.WATCHPOINT_SCOPE: _WATCHPOINT,
}
_WORD = 32


def define_signal_info(convenience: Convenience, state: RunState) -> None:
    """Define the variable; it is void for waves that are not concerned by the last stop."""

    def value(focus: Focus) -> Value:
        stop = state.last_stop
        if stop is None or focus.thread is None or focus.thread != stop.scope.thread:
            return Value(c_types.VOID)
        name = stop.signal.name if stop.signal is not None else "SIGTRAP"
        if name not in _NUMBERS:
            return Value(c_types.VOID)
        address, space = _address(stop, focus.lane)
        fields = (_NUMBERS[name], 0, _code(stop, name), 0)
        data = b"".join((field & 0xFFFFFFFF).to_bytes(4, "little") for field in fields)
        return Value(_siginfo(space), data=data + address.to_bytes(8, "little"))

    convenience.define_dynamic("_siginfo", value)


def _code(stop: StopEvent, name: str) -> int:
    if name == "SIGINT":
        return _FROM_KERNEL
    if name == "SIGTRAP":
        return _OF_REASON.get(stop.reason, _BREAKPOINT)
    words = stop.device.exceptions if stop.device is not None else ()
    return next((_CODES[word] for word in reversed(words) if word in _CODES), _FROM_KERNEL)


def _address(stop: StopEvent, lane: int | None) -> tuple[int, int]:
    """Return the address and address space of a lane's access; for other stops, the address of the code."""
    if stop.device is None:
        return 0, AddressSpace.GLOBAL
    if not stop.device.addresses:
        return stop.device.pc, AddressSpace.GLOBAL
    by_lane = dict(stop.device.addresses)
    return by_lane.get(lane if lane in by_lane else None, stop.device.addresses[0][1]), stop.device.space


@lru_cache(maxsize=len(AddressSpace))
def _siginfo(space: int) -> Type:
    """Return the structure's type, with pointers to an address space."""
    width = address_space(space).address_size if space != AddressSpace.GLOBAL else 8
    fault = _class(ClassKind.STRUCT, None, 8, (("si_addr", c_types.pointer_to(c_types.VOID, space, width), 0),))
    fields = _class(ClassKind.UNION, None, 8, (("_sigfault", fault, 0),))
    numbers = tuple((name, c_types.INT, _WORD * at) for at, name in enumerate(("si_signo", "si_errno", "si_code")))
    return _class(ClassKind.STRUCT, "siginfo", 24, (*numbers, ("_sifields", fields, 4 * _WORD)))


def _class(kind: ClassKind, name: str | None, size: int, rows: tuple[tuple[str, Type, int], ...]) -> ClassType:
    members = tuple(Member(field, type_, bit) for field, type_, bit in rows)
    return ClassType(kind, name, name, size, lambda: ClassBody(members))
