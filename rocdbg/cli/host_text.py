"""The text of the host debugger, with rocdbg's numbers of breakpoints and threads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rocdbg.debugger.running.host_side import HostSide
    from rocdbg.debugger.target.host_stop import HostStop

_BREAKPOINT: Final = re.compile(
    r"^((?:Thread \d+ .*? hit )?(?:Temporary breakpoint|Breakpoint|Catchpoint|Hardware watchpoint|Watchpoint) )(\d+)",
    re.MULTILINE,
)
_THREAD: Final = re.compile(r"^(Thread |\[Switching to thread |\[Current thread is )(\d+)\b", re.MULTILINE)


def stop_text(host: HostSide, stop: HostStop) -> str:
    """Return what the host debugger says about a stop, with rocdbg's numbers of breakpoints and threads."""
    text = _BREAKPOINT.sub(lambda found: f"{found[1]}{host.breakpoint_number(int(found[2]))}", stop.text)
    return thread_text(host, text)


def thread_text(host: HostSide, text: str) -> str:
    """Return a text of the host debugger with rocdbg's numbers of threads."""
    return _THREAD.sub(lambda found: f"{found[1]}{host.thread_number(int(found[2]))}", text)


__all__ = ["stop_text", "thread_text"]
