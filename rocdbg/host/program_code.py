"""Finds the GPUs for which a program's own device code was compiled, without running it."""

from __future__ import annotations

import shutil
from contextlib import suppress
from typing import Final

from rocdbg.arch.target_id import TargetId
from rocdbg.codeobject.finding_code_objects import list_entries
from rocdbg.errors import Error
from rocdbg.host.agents import parse_agents

DEFAULT_GPU: Final = "gfx90a"
"""The GPU that is simulated if neither the caller nor the program's own code determines one."""


def default_gpu(program: str) -> str:
    """The first target of a program's own code that can be simulated; `DEFAULT_GPU` if there is none."""
    path = shutil.which(program)
    for target_id in program_targets(path) if path is not None else ():
        target = target_id.target
        name = str(target_id) if not target.is_generic else target.device(None)
        with suppress(Error):
            parse_agents(name)
            return name
    return DEFAULT_GPU


def program_targets(path: str) -> list[TargetId]:
    """The targets of the device code in a file, in order; empty for files that cannot be read or have none."""
    with suppress(Error):
        entries = list_entries(path)
        return [entry.target_id for entry in entries if entry.target_id is not None and entry.is_code_object]
    return []
