"""The ``rocdbg`` command and ``python -m rocdbg``."""

from __future__ import annotations

from rocdbg import early
from rocdbg.cli.main import main


def run() -> int:
    """Run the debugger on the command line's arguments; returns the exit status."""
    early.imported()
    return main(interrupts=early.interrupts)


if __name__ == "__main__":
    raise SystemExit(run())
