"""Recognises host programs, which can be started, as opposed to files that only contain GPU code."""

from __future__ import annotations

import os
import shutil
import struct
from contextlib import suppress
from pathlib import Path
from typing import Final

from rocdbg.codeobject.elf import EM_AMDGPU
from rocdbg.codeobject.finding_code_objects import MAX_FILE_SIZE
from rocdbg.errors import Error
from rocdbg.regular_file import open_regular

_MAGIC: Final = b"\x7fELF\x02\x01"
_ELF: Final = struct.Struct("<6s10xHH12xQ14xHH6x")  # magic number, type, machine; place, size and count of segments
_EXECUTABLE, _SHARED = 2, 3
_INTERPRETER: Final = struct.pack("<I", 3)
_MOST: Final = 1 << 16


def find_program(name: str) -> str | None:
    """The absolute path of a program: the name itself as a path, otherwise the program in the folders of PATH; None if
    there is none.
    """
    here = Path(name).expanduser()
    with suppress(OSError):
        if here.is_file() and os.access(here, os.X_OK):
            return str(here.absolute())
    found = shutil.which(name)
    return str(Path(found).absolute()) if found is not None else None


def is_program(path: str) -> bool:
    """Whether a file is a host program: an executable ELF file, not a library, for a machine other than a GPU."""
    with suppress(Error, OSError, ValueError), open_regular(path, MAX_FILE_SIZE) as file:
        head = file.read(_ELF.size)
        if len(head) < _ELF.size or not os.access(path, os.X_OK):
            return False
        magic, kind, machine, table, size, count = _ELF.unpack(head)
        if magic != _MAGIC or machine == EM_AMDGPU or size < 4:
            return False
        if kind == _EXECUTABLE:
            return True
        file.seek(table)
        headers = file.read(min(size * count, _MOST))
        starts = range(0, len(headers) - 3, size)
        # A library does not have an interpreter, except for the few that print something when executed.
        return kind == _SHARED and any(headers[at : at + 4] == _INTERPRETER for at in starts)
    return False
