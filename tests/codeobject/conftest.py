"""Builders of ELF files and bundles, and objects compiled once per run."""

from __future__ import annotations

import struct
import subprocess
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import zstandard

HERE = Path(__file__).parent
HIP = [
    "clang-22",
    "-x",
    "hip",
    "--offload-device-only",
    "-nogpuinc",
    "-nogpulib",
    "--no-gpu-bundle-output",
    "-g",
]
OPENCL = ["clang-22", "-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-g"]


@dataclass
class ElfBuilder:
    """A small 64-bit ELF file: sections one after the other, loaded at their file offsets by one segment."""

    os_abi: int = 64
    abi_version: int = 4
    flags: int = 0x53F
    type: int = 3
    machine: int = 224
    _sections: list[dict[str, object]] = field(default_factory=list)

    def section(
        self,
        name: str,
        data: bytes = b"",
        *,
        kind: int = 1,
        flags: int = 2,
        link: int = 0,
        info: int = 0,
        entry_size: int = 0,
        align: int = 8,
        size: int | None = None,
    ) -> int:
        """Add a section, return its index."""
        self._sections.append(locals() | {"size": len(data) if size is None else size})
        return len(self._sections)

    def symbols(self, *rows: tuple[str, int, int, int, int], kind: int = 2) -> int:
        """Add a symbol table of (name, value, size, info, section index), return its index."""
        strings, data = b"\0", bytes(24)
        for name, value, size, info, index in rows:
            data += struct.pack("<IBBHQQ", len(strings), info, 0, index, value, size)
            strings += name.encode() + b"\0"
        link = len(self._sections) + 2
        table = self.section(".symtab" if kind == 2 else ".dynsym", data, kind=kind, flags=0, link=link)
        self.section(".strtab", strings, kind=3, flags=0)
        return table

    def note(self, *notes: tuple[bytes, int, bytes]) -> int:
        """Add a note section of (owner, type, description)."""
        data = b""
        for owner, kind, description in notes:
            owner += b"\0"
            data += struct.pack("<III", len(owner), len(description), kind)
            data += owner.ljust(-(-len(owner) // 4) * 4, b"\0")
            data += description.ljust(-(-len(description) // 4) * 4, b"\0")
        return self.section(".note", data, kind=7, align=4)

    def offset_of(self, index: int) -> int:
        """File offset (and address) of a section."""
        at = 64 + 56
        for section in self._sections[:index]:
            at = -(-at // section["align"]) * section["align"]  # type: ignore[operator]
            last = at
            if section["kind"] != 8:
                at += len(section["data"])  # type: ignore[arg-type]
        return last

    def build(self) -> bytes:
        names = b"\0"
        headers = [bytes(64)]
        self.section(".shstrtab", kind=3, flags=0)
        for section in self._sections:
            section["name_at"] = len(names)
            names += section["name"].encode() + b"\0"  # type: ignore[attr-defined]
        self._sections[-1] |= {"data": names, "size": len(names)}
        body = bytearray(64 + 56)
        for index, section in enumerate(self._sections, 1):
            at = self.offset_of(index)
            body = body.ljust(at, b"\0")
            if section["kind"] != 8:
                body += section["data"]  # type: ignore[arg-type]
            address = at if self.type == 3 and section["flags"] else 0
            headers.append(
                struct.pack(
                    "<IIQQQQIIQQ",
                    section["name_at"],
                    section["kind"],
                    section["flags"],
                    address,
                    at,
                    section["size"],
                    section["link"],
                    section["info"],
                    section["align"],
                    section["entry_size"],
                )
            )
        shoff = len(body)
        linked = self.type == 3
        ident = (b"\x7fELF", 2, 1, 1, self.os_abi, self.abi_version)
        headers_at = (0, 64 if linked else 0, shoff)
        counts = (64, 56, int(linked), 64, len(headers), len(headers) - 1)
        body[:64] = struct.pack(
            "<4s5B7xHHIQQQIHHHHHH", *ident, self.type, self.machine, 1, *headers_at, self.flags, *counts
        )
        if linked:
            body[64:120] = struct.pack("<IIQQQQQQ", 1, 7, 0, 0, 0, len(body), len(body), 4096)
        self._sections.pop()
        return bytes(body) + b"".join(headers)


def bundle(*entries: tuple[str, bytes], align: int = 1) -> bytes:
    """A plain offload bundle of (entry id, bytes)."""
    table = b""
    at = 32 + sum(24 + len(name) for name, _ in entries)
    for name, data in entries:
        at = -(-at // align) * align
        table += struct.pack("<QQQ", at, len(data), len(name)) + name.encode()
        at += len(data)
    out = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(entries)) + table
    for _, data in entries:
        out = out.ljust(-(-len(out) // align) * align, b"\0") + data
    return out


def compress(data: bytes, version: int, method: int) -> bytes:
    """A CCOB bundle, of method 0 (zlib) or 1 (zstd)."""
    stream = zlib.compress(data) if method == 0 else zstandard.ZstdCompressor().compress(data)
    sizes = {1: "<IQ", 2: "<IIQ", 3: "<QQQ"}[version]
    total = 8 + struct.calcsize(sizes) + len(stream)
    values = (len(data), 0) if version == 1 else (total, len(data), 0)
    return struct.pack("<4sHH", b"CCOB", version, method) + struct.pack(sizes, *values) + stream


@pytest.fixture
def elf_builder() -> type[ElfBuilder]:
    return ElfBuilder


@pytest.fixture
def make_bundle() -> Callable[..., bytes]:
    return bundle


@pytest.fixture
def make_ccob() -> Callable[[bytes, int, int], bytes]:
    return compress


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str, int], Path]:
    """Compiles kernels.hip or kernels.cl for (source, processor, code object version), each once."""
    folder = tmp_path_factory.mktemp("compiled")

    def compile_once(source: str, processor: str, version: int) -> Path:
        output = folder / f"{source}.{processor}.v{version}.co"
        if not output.exists():
            tool = (
                [*HIP, f"--offload-arch={processor}"]
                if source.endswith(".hip")
                else [*OPENCL, f"-mcpu={processor}"]
            )
            command = [*tool, "-O1", f"-mcode-object-version={version}", source, "-o", str(output)]
            subprocess.run(command, cwd=HERE, check=True)
        return output

    return compile_once


@pytest.fixture
def assemble(tmp_path: Path) -> Callable[..., Path]:
    """Assembles text for a processor into an unlinked object."""

    def run(text: str, processor: str, *options: str) -> Path:
        output = tmp_path / f"{processor}-{abs(hash(text))}.o"
        command = ["llvm-mc-22", "-triple", "amdgcn-amd-amdhsa", f"-mcpu={processor}", "-filetype=obj"]
        subprocess.run([*command, *options, "-o", str(output)], input=text.encode(), check=True)
        return output

    return run
