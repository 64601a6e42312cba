"""The message of ``__builtin_verbose_trap(CATEGORY, REASON)``.

clang stores the message as the name of an inlined function that it puts around the trap:
``__clang_trap_msg$CATEGORY$REASON``.
"""

from __future__ import annotations

from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.program.program import Program
from rocdbg.text import printable

PREFIX = "__clang_trap_msg"


def message_in(name: str | None) -> str:
    """Return ``CATEGORY: REASON`` from the name of such a function; "" for other names."""
    if name is None or not name.startswith(f"{PREFIX}$"):
        return ""
    category, _, reason = name.removeprefix(f"{PREFIX}$").partition("$")
    return printable(": ".join(part for part in (category, reason) if part))


def trap_message(program: Program, pc: LoadedAddress) -> str:
    """Return the message of the trap at an address; "" if there is none."""
    for instance in program.info.inline_frames_at(program.to_file(pc)):
        if message := message_in(instance.function.name):
            return message
    return ""
