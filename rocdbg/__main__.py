"""The ``rocdbg`` command and ``python -m rocdbg``.

Ctrl-C is kept from the first line on, while modules are still imported: the session answers it.
"""

from __future__ import annotations

import signal
from types import FrameType

_interrupts: list[int] = []


def _keep(number: int, frame: FrameType | None) -> None:
    _interrupts.append(number)


def run() -> int:
    """Run the debugger on the command line's arguments; returns the exit status."""
    signal.signal(signal.SIGINT, _keep)
    from rocdbg.cli.main import main

    return main(interrupts=_interrupts)


if __name__ == "__main__":
    raise SystemExit(run())
