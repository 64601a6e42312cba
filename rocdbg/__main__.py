"""The ``rocdbg`` command and ``python -m rocdbg``."""

from __future__ import annotations

import sys

from rocdbg import early


def run() -> int:
    """Run the debugger on the command line's arguments; returns the exit status."""
    status = _run()
    early.ended()
    return status


def _run() -> int:
    if sys.argv[1:2] == ["run"]:
        from rocdbg.host.command import main as run_program
        from rocdbg.streams import with_streams

        early.imported()
        return with_streams(lambda: run_program(sys.argv[2:], early.interrupts), inherited=True)
    from rocdbg.cli.main import main

    early.imported()
    return main(interrupts=early.interrupts, owns_process=True)


if __name__ == "__main__":
    raise SystemExit(run())
