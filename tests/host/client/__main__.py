"""A program that uses the runtime library through ctypes, with one function for each subject.

    client CODE_OBJECT [NAME...]

Each function of the modules here whose name begins with ``check_`` is run; a line reports ``NAME: ok`` or the problem.
"""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import code_objects
import memory
import queues
import signals
import system
import virtual
from hsa import call


def main() -> None:
    modules = (system, memory, virtual, signals, code_objects, queues)
    checks = {name[6:]: check for one in modules for name, check in vars(one).items() if name.startswith("check_")}
    call("hsa_init")
    for name in sys.argv[2:] or checks:
        try:
            checks[name]()
        except Exception:  # the test that started this program shows it as that check's failure
            print(f"{name}: {' '.join(traceback.format_exc().split())}", flush=True)
        else:
            print(f"{name}: ok", flush=True)


if __name__ == "__main__":
    main()
