"""Changes of the runtime library in fat binaries before an old HIP reads them: the kinds of two hidden arguments."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import msgpack
import pytest
import zstandard

from rocdbg.host.find_runtime_library import RuntimeLibrary

HIP = """
#include <stdio.h>
struct fat { unsigned magic, version; const char *binary; void *unused; };
void **__hipRegisterFatBinary(struct fat *fat) { fwrite(fat->binary, 1, SIZE, stdout); return (void **)fat; }
"""
PROGRAM = """
#include <stdio.h>
struct fat { unsigned magic, version; const char *binary; void *unused; };
void **__hipRegisterFatBinary(struct fat *);
static char bytes[1 << 20] __attribute__((aligned(4096)));
int main(int count, char **arguments) {
  fread(bytes, 1, sizeof bytes, fopen(arguments[1], "rb"));
  struct fat fat = {0x48495046, 1, bytes, 0};
  return !__hipRegisterFatBinary(&fat);
}
"""
MODULE_HIP = """
#include <stdio.h>
int hipModuleLoadData(void **module, const void *image) { fwrite(*module = (void *)image, 1, SIZE, stdout); return 0; }
int hipModuleLoadDataEx(void **module, const void *image, unsigned n, int *o, void **v) {
  return hipModuleLoadData(module, image);
}
int hipModuleLoad(void **module, const char *path) { return !fopen(path, "rb") ? 301 : printf("by name"); }
int hipModuleUnload(void *module) { fwrite(module, 1, 4, stdout); return 0; }
"""
MODULE_PROGRAM = """
#include <stdio.h>
int hipModuleLoad(void **, const char *), hipModuleLoadData(void **, const void *), hipModuleUnload(void *);
int hipModuleLoadDataEx(void **, const void *, unsigned, int *, void **);
static char bytes[1 << 20];
int main(int count, char **arguments) {
  void *modules[3] = {0};
  fread(bytes, 1, sizeof bytes, fopen(arguments[1], "rb"));
  int named = hipModuleLoad(&modules[0], arguments[1]), missing = hipModuleLoad(&modules[1], "/no/file");
  hipModuleLoadData(&modules[1], bytes), hipModuleLoadDataEx(&modules[2], bytes, 0, 0, 0);
  for (int i = !!named; i < 3; i++) hipModuleUnload(modules[i]);
  return missing != 301;
}
"""
OFFSETS = [0, 8, 120, 127, 128, 248, 255, 256, 264, 4096, 65535]
KINDS = ("hidden_default_queue", "hidden_completion_action")


def argument(kind: str, offset: int, **more: object) -> dict[str, object]:
    return {".offset": offset, ".size": 8, ".value_kind": kind, **more}


def bundle(data: bytes) -> bytes:
    """An offload bundle with one entry."""
    name, start = b"hipv4-amdgcn-amd-amdhsa--gfx90a", 4096
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<QQQQ", 1, start, len(data), len(name)) + name
    return head.ljust(start, b"\0") + data


def compressed(data: bytes, version: int, method: int = 1) -> bytes:
    """A bundle as clang compresses it."""
    packed = zstandard.ZstdCompressor().compress(data)
    sizes = {2: "<4sHHIIQ", 3: "<4sHHQQQ"}[version]
    return struct.pack(sizes, b"CCOB", version, method, struct.calcsize(sizes) + len(packed), len(data), 0) + packed


def registered(
    folder: Path, library: RuntimeLibrary, data: bytes, soname: str, size: int | None = None,
    sources: tuple[str, str] = (HIP, PROGRAM),
) -> tuple[bytes, str]:
    """The first ``size`` bytes that a HIP library of this name reads from a program's fat binary, and the text on
    standard error.
    """
    compiler = shutil.which("cc") or shutil.which("clang-22")
    assert compiler is not None
    (folder / "map").write_text("hip_4.2 { global: *; };")
    (folder / "fat").write_bytes(data)
    for name, text in zip(("hip", "program"), sources, strict=True):
        (folder / f"{name}.c").write_text(text)
    hip, program = folder / soname, folder / "program"
    options = ["-w", f"-DSIZE={size or len(data)}", f"-Wl,-soname,{soname}", f"-Wl,--version-script={folder / 'map'}"]
    subprocess.run([compiler, "-shared", "-fPIC", *options, str(folder / "hip.c"), "-o", str(hip)], check=True)
    subprocess.run([compiler, "-w", str(folder / "program.c"), str(hip), "-o", str(program)], check=True)
    done = subprocess.run(
        [program, folder / "fat"], capture_output=True, check=True,
        env={**os.environ, "LD_PRELOAD": str(library.runtime), "LD_LIBRARY_PATH": str(folder)},
    )
    return done.stdout, done.stderr.decode()


@pytest.fixture(scope="module")
def before() -> list[dict[str, Any]]:
    arguments = [argument(kind, offset) for kind in KINDS for offset in OFFSETS]
    return [
        *arguments, argument("hidden_none", 8), argument("hidden_default_queue", 16, **{".name": "named"}),
        {".note": "hidden_default_queue"},
    ]


def test_hidden_arguments_of_enqueue_become_none(
    library: RuntimeLibrary, before: list[dict[str, Any]], tmp_path: Path
) -> None:
    packed = bundle(msgpack.packb(before))
    found, said = registered(tmp_path, library, packed, "libamdhip64.so.5")
    assert len(found) == len(packed) and found[:4096] == packed[:4096]
    renamed = len(KINDS) * len(OFFSETS)
    after = msgpack.unpackb(found[4096:])
    assert after == [*({**one, ".value_kind": "hidden_none"} for one in before[:renamed]), *before[renamed:]]
    assert said.count("\n") == 1 and "hidden arguments for device-side enqueue" in said


@pytest.mark.parametrize("soname", ["libamdhip64.so.6", "libamdhip64.so.7"])
def test_later_releases_read_what_was_compiled(
    library: RuntimeLibrary, before: list[dict[str, Any]], tmp_path: Path, soname: str
) -> None:
    packed = bundle(msgpack.packb(before))
    assert registered(tmp_path, library, packed, soname) == (packed, "")


def test_what_is_no_bundle_is_left_alone(library: RuntimeLibrary, before: list[dict[str, Any]], tmp_path: Path) -> None:
    plain = msgpack.packb(before)
    assert registered(tmp_path, library, plain, "libamdhip64.so.5") == (plain, "")


@pytest.mark.parametrize("version", [2, 3])
def test_compressed_bundles_are_unpacked(
    library: RuntimeLibrary, before: list[dict[str, Any]], tmp_path: Path, version: int
) -> None:
    packed = bundle(msgpack.packb(before))
    found, said = registered(tmp_path, library, compressed(packed, version), "libamdhip64.so.5", len(packed))
    assert found[:4096] == packed[:4096]
    assert {one[".value_kind"] for one in msgpack.unpackb(found[4096:])[: len(KINDS) * len(OFFSETS)]} == {"hidden_none"}
    assert "compressed" not in said


def test_a_compression_that_cannot_be_undone_is_named(library: RuntimeLibrary, tmp_path: Path) -> None:
    packed = compressed(bundle(b"code"), 3, method=0)
    found, said = registered(tmp_path, library, packed, "libamdhip64.so.5")
    assert found == packed
    assert "compressed, which HIP 5 cannot read: compile with -no-offload-compress" in said


def elf(data: bytes) -> bytes:
    """An ELF file with its header, these bytes and a table of one section."""
    head = b"\x7fELF" + bytes(36) + struct.pack("<Q", 64 + len(data)) + bytes(10) + struct.pack("<HHH", 64, 1, 0)
    return head + data + bytes(64)


@pytest.mark.parametrize("kind", ["object", "bundle", "compressed"])
def test_modules_are_changed_in_a_copy(
    library: RuntimeLibrary, before: list[dict[str, Any]], tmp_path: Path, kind: str
) -> None:
    packed = (elf if kind == "object" else bundle)(msgpack.packb(before))
    data = compressed(packed, 3) if kind == "compressed" else packed
    found, said = registered(
        tmp_path, library, data, "libamdhip64.so.5", len(packed), (MODULE_HIP, MODULE_PROGRAM)
    )
    start = 64 if kind == "object" else 4096
    loaded, begins = found[: 3 * len(packed)], found[3 * len(packed) :]
    for number in range(3):  # by name, from memory, from memory with options
        image = loaded[number * len(packed) :][: len(packed)]
        assert image[:start] == packed[:start]
        unpacker = msgpack.Unpacker()
        unpacker.feed(image[start:])
        kinds = [one[".value_kind"] for one in unpacker.unpack()[: len(KINDS) * len(OFFSETS)]]
        assert set(kinds) == {"hidden_none"}
    assert begins == packed[:4] * 3  # each copy is there until its unload
    assert said.count("\n") == 1 and "hidden arguments for device-side enqueue" in said


@pytest.mark.parametrize("soname", ["libamdhip64.so.5", "libamdhip64.so.6"])
def test_modules_that_hip_can_read_are_its_own_affair(library: RuntimeLibrary, tmp_path: Path, soname: str) -> None:
    data = elf(msgpack.packb([argument("hidden_none", 8)]))
    found, said = registered(tmp_path, library, data, soname, sources=(MODULE_HIP, MODULE_PROGRAM))
    assert found == b"by name" + data * 2 + data[:4] * 2 and not said


def test_a_module_that_is_cut_short_is_hips_affair(
    library: RuntimeLibrary, before: list[dict[str, Any]], tmp_path: Path
) -> None:
    data = elf(msgpack.packb(before))[:-65]
    found, _ = registered(tmp_path, library, data, "libamdhip64.so.5", 64, (MODULE_HIP, MODULE_PROGRAM))
    assert found.startswith(b"by name")
