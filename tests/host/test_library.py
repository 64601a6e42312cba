"""Building the runtime library, and the messages if that is not possible."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from rocdbg.host.find_runtime_library import RuntimeLibrary, RuntimeLibraryError, runtime_library


def test_it_is_kept_in_a_folder_of_the_users(library: RuntimeLibrary) -> None:
    status = library.folder.parent.stat()
    assert (status.st_uid, stat.S_IMODE(status.st_mode)) == (os.geteuid(), 0o700)
    assert (library.folder / "libhsa-runtime64.so").resolve() == library.runtime.resolve()
    assert runtime_library() == library


def test_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(RuntimeLibraryError) as caught:
        runtime_library()
    assert str(caught.value) == (
        "cannot build the runtime library for programs: no C compiler was found (cc, gcc, clang, hipcc, amdclang); "
        "install one, or set the environment variable CC to yours"
    )


def test_a_compiler_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = tmp_path / "my-cc"
    compiler.write_text("#!/bin/sh\necho 'here.c:1:2: error: no such header' >&2\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    monkeypatch.setenv("ROCDBG_CACHE_DIR", str(tmp_path / "cache"))
    with pytest.raises(RuntimeLibraryError) as caught:
        runtime_library()
    reason = f"{compiler} failed: here.c:1:2: error: no such header"
    assert str(caught.value) == f"cannot build the runtime library for programs: {reason}"
    assert list((tmp_path / "cache" / "host").iterdir()) == []


def test_a_folder_that_others_can_write_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setenv("ROCDBG_CACHE_DIR", str(folder))
    with pytest.raises(RuntimeLibraryError, match="cannot be trusted: it is writable by others"):
        runtime_library()
