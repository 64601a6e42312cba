"""Hidden arguments are at the same addresses in each process: one process can repeat the recording of another."""

from __future__ import annotations

import os
import subprocess
import sys

SCRIPT = """
from rocdbg.sim.core.memory import GlobalMemory
from rocdbg.sim.services.host_services import SERVED, HostServices
found = HostServices(GlobalMemory(), 8).arguments(SERVED)
print(sorted((kind.name, address) for kind, address in found.items()))
"""


def test_processes_with_other_hashes_agree() -> None:
    told = set()
    for seed in range(4):
        environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
        command = [sys.executable, "-c", SCRIPT]
        told.add(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)
    assert len(told) == 1 and "HIDDEN_HEAP_V1" in next(iter(told))
