"""Readers other than those of code objects: a table of former faults, and short runs of `make fuzz-readers`."""

# ruff: noqa: E501  (tables)
from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
from file_attacks import elf_files, kinds, readers

from rocdbg.errors import Error
from rocdbg.llvmdi.placement import read_placement

from .conftest import Run

DIGITS = "9" * 5000
PLACEMENTS = (
    f'[places]\nx = "frame+{DIGITS}"', f'[places]\nx = "v[0:{DIGITS}]"', f'[places]\nx = "v3.{DIGITS}"', f"[places]\nx = {'9' * 40}",
    f"[labels]\nx = {'9' * 40}", "[labels]\nx = -1", "[labels]\nx = true", "[frame_register" + ".a" * 900 + "]\nb = 1", "a = " + "[" * 3000,
    '[places]\nx = [[-1, 8, "s0"]]', '[places]\nx = [[true, 8, "s0"]]', 'wave_size = "64"', f"x = {DIGITS}",
)


@pytest.mark.parametrize("text", PLACEMENTS, ids=[text[:24] for text in PLACEMENTS])
def test_a_placement_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "places.toml"
    path.write_text(text)
    with pytest.raises(Error) as caught:
        read_placement(path)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 1000


HEADERS = (
    "{'descr': ('<i4',), 'fortran_order': False, 'shape': (1,)}", "{[]: 1}", "{'descr': 'V0', 'fortran_order': True, 'shape': (5, 5)}",
    "{'descr': {}, 'fortran_order': False, 'shape': (1,)}", "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "(" * 200,
)


def test_arrays_that_numpy_fails_on_are_refused(run: Run) -> None:
    """All in one session: `restore` reads the arrays after the kernel has started."""
    files = {"file.co": elf_files.BASE.read_bytes()}
    for number, header in enumerate(HEADERS):
        data = header.encode() + b"\n"
        files[f"{number}.npy"] = b"\x93NUMPY\1\0" + struct.pack("<H", len(data)) + data + bytes(64)
    commands = (*kinds.START, *(f"restore {name} 0" for name in files if name.endswith(".npy")))
    outcome = run(kinds.Attack(files, "file.co", None, commands))
    assert outcome.ending == ""
    refused = [error for error in outcome.errors if ".npy'" in error]
    assert len(refused) == len(HEADERS), json.dumps(outcome.errors)


@pytest.mark.parametrize("first", [0, 70_000])
def test_random_input_of_other_readers(first: int) -> None:
    """A short run of `make fuzz-readers`."""
    import fuzz_files

    assert fuzz_files.fuzz(first, 1, 30, 120, readers, "fuzz_readers") == 0
