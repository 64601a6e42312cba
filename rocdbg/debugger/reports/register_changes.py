"""Which registers of a wave have changed between two of its stops."""

from __future__ import annotations

from msgspec import Struct, field

from rocdbg.arch.dwarf_registers import register_number
from rocdbg.debugger.frames.frame_registers import special_names
from rocdbg.debugger.target.capabilities.target_state import Target

Snapshot = dict[str, bytes]
"""The contents of registers by name; a vector register has one dword for each lane."""


def register_names(target: Target, thread: int) -> list[str]:
    """All registers of a wave, in the order of ``info registers``."""
    wave = target.wave(thread)
    return [
        "pc", "exec", "vcc", "status", *special_names(target, thread),
        *(f"s{n}" for n in range(wave.sgprs)), *(f"v{n}" for n in range(wave.vgprs)),
        *(f"a{n}" for n in range(wave.agprs)),
    ]


def snapshot(target: Target, thread: int) -> Snapshot:
    """Return the present contents of a wave's registers."""
    size = target.wave(thread).lane_count
    special = special_names(target, thread)
    found: Snapshot = {}
    for name in register_names(target, thread):
        if name in special:
            found[name] = (target.read_special(thread, name) or 0).to_bytes(8, "little")
        else:
            found[name] = target.read_register(thread, register_number(name, size))
    return found


class RegisterChanges(Struct):
    """The registers of waves at their last stop and at the one before, if they were saved."""

    run: int = 0
    """The run in which the registers were saved."""
    last: dict[int, Snapshot] = field(default_factory=dict)
    before: dict[int, Snapshot] = field(default_factory=dict)

    def stop(self, run: int, target: Target, thread: int) -> None:
        """Save a wave's registers at a stop."""
        if run != self.run:
            self.run, self.last, self.before = run, {}, {}
        resident = {wave.number for wave in target.waves()}
        self.last = {number: seen for number, seen in self.last.items() if number in resident}
        self.before = {number: seen for number, seen in self.before.items() if number in resident}
        if thread in self.last:
            self.before[thread] = self.last[thread]
        self.last[thread] = snapshot(target, thread)

    def changed(self, run: int, target: Target, thread: int) -> dict[str, tuple[bytes, bytes]] | None:
        """Return old and new contents of the registers that changed since the previous stop; ``None``: none were saved.
        """
        if run != self.run or thread not in self.before:
            return None
        before = self.before[thread]
        return {
            name: (before[name], now) for name, now in snapshot(target, thread).items()
            if name in before and before[name] != now
        }
