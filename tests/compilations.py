"""A cache of compilers' outputs for later test runs, by the content of everything that determines an output.

`Compilations.run` replaces ``subprocess.run``. It knows a few commands that make one file, or text, from files that
they name: compilers, assemblers, linkers. All other commands run as usual. The key of an entry consists of the tool,
its arguments, the text of all files that the arguments name and that those files include, and the state of the
installed packages, which provide the system's headers and libraries. Folders that pytest makes have different names in
each run: their names are part of the key only if the output contains them, as debug information does.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TOOL = re.compile(r"(clang(\+\+)?|ld\.lld|llvm-mc|llc|opt)-\d+|gcc(-\d+)?|g\+\+(-\d+)?|cc|c\+\+|hipcc")
MORE_FILES = re.compile(
    "-gsplit-dwarf|-save-temps|-M[DMFTPQ]|@|-fmodules|-ftime-trace|-fprofile|-fplugin|--coverage|-E$"
)
"""Arguments with which a command reads or writes files that the command line does not name."""
COMPRESSED = re.compile("-gz|--compress-debug-sections")
"""Arguments that conceal the names of folders in an output."""
INCLUDED = re.compile(rb'^\s*(?:#\s*include(?:_next)?|\.include|\.incbin)\s*["<]([^">\n]+)[">]', re.MULTILINE)
SHAPING = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "HIP_PATH", "ROCM_PATH", "LC_ALL")
"""Variables that change the output of a compiler."""
KNOWN = {"check", "cwd", "timeout", "input", "text", "capture_output", "stdout", "stderr", "encoding"}
KEPT_DAYS = 30

Run = Callable[..., "subprocess.CompletedProcess[Any]"]


class Compilations:
    """Outputs of commands, in a folder of files named by digests. ``temporary`` is the folder of this run's temporary
    folders.
    """

    def __init__(self, folder: Path, temporary: Path) -> None:
        self.folder, self.temporary = folder, str(temporary)
        self._run: Run = subprocess.run
        self._system = _system()

    def install(self) -> None:
        """Replace ``subprocess.run`` from now on."""
        subprocess.run = self.run  # type: ignore[assignment]

    def uninstall(self) -> None:
        subprocess.run = self._run  # type: ignore[assignment]

    def run(self, *positional: Any, **named: Any) -> subprocess.CompletedProcess[Any]:
        """Run a command as ``subprocess.run`` does."""
        command = [str(word) for word in positional[0]] if len(positional) == 1 and _is_list(positional[0]) else []
        folder = Path(named.get("cwd") or Path.cwd()).resolve()
        parts = self._parts(command, folder, named) if command else None
        if parts is None:
            return self._run(*positional, **named)
        exact = _digest(parts)
        anywhere = _digest([part.replace(self.temporary.encode(), b"<temporary>") for part in parts])
        output = _output(command, folder)
        for key in (anywhere, exact):
            if (found := self._take(key, output, named, positional[0])) is not None:
                return found
        done = self._run(*positional, **named)
        if not done.returncode:
            self._keep(anywhere, exact, output, done)
        return done

    # -- what shapes an output --------------------

    def _parts(self, command: list[str], folder: Path, named: dict[str, Any]) -> list[bytes] | None:
        """Everything that determines the output of a command; None if that is not known."""
        tool = shutil.which(command[0])
        if tool is None or not TOOL.fullmatch(Path(command[0]).name) or not set(named) <= KNOWN:
            return None
        if any(MORE_FILES.match(word) or COMPRESSED.match(word) for word in command[1:]) or command.count("-o") != 1:
            return None
        if {named.get("stdout"), named.get("stderr")} - {None, subprocess.PIPE}:
            return None
        output = _output(command, folder)
        if output is not None and output.exists() and not output.is_file():
            return None
        status = Path(tool).resolve().stat()
        parts = [self._system, f"{tool} {status.st_size} {status.st_mtime_ns}".encode(), str(folder).encode()]
        parts += [word.encode() for word in command[1:]]
        parts += [f"{name}={os.environ.get(name, '')}".encode() for name in SHAPING]
        given = named.get("input")
        text = given.encode() if isinstance(given, str) else bytes(given or b"")
        parts.append(text)
        words = [word.removeprefix("-I") for word in command[1:]]
        named_files = [folder / word for word in words if not word.startswith("-")]
        places = [folder, *(path for path in named_files if path.is_dir())]
        files = [path for path in named_files if path.is_file() and path != output]
        contents = [text, *(path.read_bytes() for path in files)]
        seen = set(files)
        while contents:
            data = contents.pop()
            parts.append(hashlib.sha256(data).digest())
            for name in INCLUDED.findall(data):
                for place in {*places, *(path.parent for path in seen)}:
                    path = place / os.fsdecode(name)
                    if path not in seen and path.is_file():
                        seen.add(path)
                        contents.append(path.read_bytes())
        return parts

    # -- the folder --------------------

    def _take(
        self, key: str, output: Path | None, named: dict[str, Any], arguments: Any
    ) -> subprocess.CompletedProcess[Any] | None:
        """Copy an entry to its destination, if the entry exists."""
        note, data = self.folder / f"{key}.json", self.folder / f"{key}.out"
        try:
            said = json.loads(note.read_text())
            if output is not None:
                contents = data.read_bytes()
                output.unlink(missing_ok=True)
                output.write_bytes(contents)
                output.chmod(said["mode"])
            os.utime(note)
        except (OSError, ValueError):
            return None
        texts = [bytes.fromhex(said["stdout"]), bytes.fromhex(said["stderr"])]
        if not named.get("capture_output") and named.get("stdout") is None and named.get("stderr") is None:
            return subprocess.CompletedProcess(arguments, 0, None, None)
        is_text = bool(named.get("text") or named.get("encoding"))
        return subprocess.CompletedProcess(arguments, 0, *(one.decode() if is_text else one for one in texts))

    def _keep(self, anywhere: str, exact: str, output: Path | None, done: subprocess.CompletedProcess[Any]) -> None:
        texts = [one.encode() if isinstance(one, str) else one or b"" for one in (done.stdout, done.stderr)]
        if output is not None and not output.is_file():
            return
        data = output.read_bytes() if output is not None else b""
        here = self.temporary.encode()
        key = exact if here in data or any(here in text for text in texts) else anywhere
        mode = output.stat().st_mode & 0o777 if output is not None else 0
        note = {"mode": mode, "stdout": texts[0].hex(), "stderr": texts[1].hex()}
        _write(self.folder / f"{key}.out", data)
        _write(self.folder / f"{key}.json", json.dumps(note).encode())  # the last: it makes the entry

    def clean(self) -> None:
        """Remove entries that no run has used for a long time."""
        oldest = time.time() - KEPT_DAYS * 86400
        for note in self.folder.glob("*.json"):
            with contextlib.suppress(OSError):
                if note.stat().st_mtime < oldest:
                    note.unlink()
                    note.with_suffix(".out").unlink()


def _is_list(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(word, (str, Path)) for word in value)


def _output(command: list[str], folder: Path) -> Path | None:
    """The file that a command writes; None if it writes to its standard output."""
    name = command[command.index("-o") + 1]
    return None if name == "-" else folder / name


def _system() -> bytes:
    """A key that changes with the packages of the system: its headers, its libraries, and the programs that compilers
    start.
    """
    try:
        status = Path("/var/lib/dpkg/status").stat()
    except OSError:
        return b""
    return f"{status.st_size} {status.st_mtime_ns}".encode()


def _digest(parts: list[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def _write(path: Path, data: bytes) -> None:
    """Write a file so that no other process sees it half written."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    temporary.write_bytes(data)
    temporary.replace(path)
