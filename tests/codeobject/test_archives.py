"""LLVM's offload binaries and archives as input files: written by LLVM's own tools, and damaged."""

from __future__ import annotations

import random
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocdbg.codeobject import ChoiceError, CodeObjectError, list_entries, open_file, open_modules

TARGETS = ("gfx90a", "gfx1100")
FLAGS = {"gfx90a": 0x53F, "gfx1100": 0x41}


def offload_binary(version: int, *images: tuple[str, bytes, int]) -> bytes:
    """An offload binary of images: processor, bytes and kind of image. Version 1 has one image."""
    entry, strings, data = struct.Struct("<HHIQQQQ"), b"", b""
    string = struct.Struct("<QQ" if version == 1 else "<QQQ")
    keys = 32 + entry.size * len(images)
    texts_at = keys + 2 * string.size * len(images)
    texts = b"triple\0arch\0amdgcn-amd-amdhsa\0"
    places = {"triple": texts_at, "arch": texts_at + 7, "amdgcn-amd-amdhsa": texts_at + 12}
    for arch, _, _ in images:
        places[arch] = texts_at + len(texts)
        texts += arch.encode() + b"\0"
    at = -(-(texts_at + len(texts)) // 8) * 8
    head = b""
    for index, (arch, content, form) in enumerate(images):
        head += entry.pack(form, 4, 0, keys + 2 * string.size * index, 2, at + len(data), len(content))
        for key, value in (("triple", "amdgcn-amd-amdhsa"), ("arch", arch)):
            sizes = (len(value),) if version > 1 else ()
            strings += string.pack(places[key], places[value], *sizes)
        data += content.ljust(-(-len(content) // 8) * 8, b"\0")
    body = head + strings + texts
    whole = body.ljust(at - 32, b"\0") + data
    count = entry.size if version == 1 else len(images)
    return struct.pack("<4sIQQQ", b"\x10\xff\x10\xad", version, 32 + len(whole), 32, count) + whole


def archive(*members: tuple[bytes, bytes]) -> bytes:
    """An archive of members, by the text of their name fields."""
    data = b"!<arch>\n"
    for name, content in members:
        header = name.ljust(16) + b"0".ljust(32) + str(len(content)).encode().ljust(10) + b"`\n"
        data += header + content + b"\n" * (len(content) % 2)
    return data


@pytest.fixture
def code(elf_builder: Any) -> dict[str, bytes]:
    return {target: elf_builder(flags=flags).build() for target, flags in FLAGS.items()}


@pytest.mark.llvm
def test_what_the_tools_write(compiled: Callable[..., Path], tmp_path: Path) -> None:
    """clang-offload-packager's file, a host object with it, and archives of these contain the code byte for byte."""
    inputs = {target: compiled("kernels.hip", target, 5) for target in TARGETS}
    packed, host, plain = tmp_path / "images.bin", tmp_path / "host.o", tmp_path / "plain.o"
    (tmp_path / "host.c").write_text("int f(void) { return 1; }")
    images = [f"--image=file={file},triple=amdgcn-amd-amdhsa,arch={t},kind=hip" for t, file in inputs.items()]
    images.append(f"--image=file={tmp_path / 'host.c'},triple=x86_64-linux-gnu,arch=,kind=openmp")
    subprocess.run(["clang-offload-packager-22", "-o", packed, *images], check=True)
    clang = ["clang-22", "--target=x86_64-linux-gnu", "-c", tmp_path / "host.c", "-o"]
    subprocess.run([*clang, plain], check=True)
    subprocess.run([*clang, host, "-Xclang", f"-fembed-offload-object={packed}"], check=True)
    containers = [packed, host]
    for form in ("gnu", "bsd", "darwin"):
        path = tmp_path / f"{form}.a"
        subprocess.run(["llvm-ar-22", "rc", f"--format={form}", path, plain, host], check=True)
        containers.append(path)
    for path in containers:
        for target, original in inputs.items():
            found = open_file(path, target)
            assert found.source.data == original.read_bytes()
            assert open_file(str(found.uri)).source.data == original.read_bytes()
    both = tmp_path / "both.a"
    subprocess.run(["llvm-ar-22", "rc", both, plain, host, inputs["gfx90a"]], check=True)
    assert [unit.source.data for unit in open_modules(both, "gfx90a")] == [inputs["gfx90a"].read_bytes()] * 2
    thin = tmp_path / "thin.a"
    subprocess.run(["llvm-ar-22", "rc", "--thin", thin, plain, inputs["gfx90a"]], check=True)
    with pytest.raises(CodeObjectError, match="a thin archive contains only the names of its members"):
        open_file(thin)
    subprocess.run(["llvm-ar-22", "rc", tmp_path / "none.a", plain], check=True)
    with pytest.raises(CodeObjectError, match="contains no AMDGPU code: no member of the archive has any"):
        open_file(tmp_path / "none.a")


@pytest.mark.llvm
def test_openmp_objects_have_bitcode(tmp_path: Path) -> None:
    """clang's output for OpenMP is not code before it is linked; the message says so."""
    source, made = tmp_path / "omp.c", tmp_path / "omp.o"
    source.write_text("int main() { int a[4];\n#pragma omp target\n  a[0] = 1;\n  return a[0]; }\n")
    command = ["clang-22", "-fopenmp", "--offload-arch=gfx90a", "-nogpulib", "-c", str(source), "-o", str(made)]
    subprocess.run(command, check=True, capture_output=True)
    wanted = r"found openmp-amdgcn-amd-amdhsa--gfx90a \(LLVM bitcode, which must first be compiled by a linker\)"
    with pytest.raises(ChoiceError, match=wanted):
        open_file(made)


@pytest.mark.parametrize("version", [1, 2])
def test_versions(version: int, code: dict[str, bytes], tmp_path: Path) -> None:
    path = tmp_path / "images"
    images = [(target, code[target], 1) for target in TARGETS]
    if version == 1:
        path.write_bytes(b"".join(offload_binary(1, image) for image in images))
    else:
        path.write_bytes(offload_binary(2, *images, ("gfx90a", b"BC\xc0\xde", 2)))
    names = [entry.id for entry in list_entries(path)]
    assert names[:2] == [f"hip-amdgcn-amd-amdhsa--{target}" for target in TARGETS]
    assert [open_file(path, target).source.data for target in TARGETS] == [code[target] for target in TARGETS]


def test_containers_within_each_other(
    code: dict[str, bytes], make_bundle: Any, make_ccob: Any, tmp_path: Path
) -> None:
    """The archive contains an offload binary, which contains a compressed bundle."""
    bundle = make_ccob(make_bundle(("hip-amdgcn-amd-amdhsa--gfx1100", code["gfx1100"])), 3, 1)
    path = tmp_path / "deep.a"
    images = offload_binary(1, ("gfx1100", bundle, 1))
    path.write_bytes(archive((b"//", b"a name of many words.bin/\n"), (b"/0", images)))
    [entry] = list_entries(path)
    assert entry.member == "a name of many words.bin"
    assert open_file(path).source.data == code["gfx1100"]
    assert open_file(str(entry.uri)).source.data == code["gfx1100"]
    data = code["gfx90a"]
    for _ in range(6):
        data = archive((b"x/", data))
    path.write_bytes(data)
    with pytest.raises(CodeObjectError, match="containers are nested more than 4 deep"):
        open_file(path)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"!<arch>\n" + b"x" * 60, "archive at offset 0x8: the archive is damaged: there is no member header"),
        (b"!<arch>\nx", "archive at offset 0x8: 60 bytes are needed, but the file ends at 0x9"),
        (archive((b"/7", b"abcd")), "archive at offset 0x8: the name of a member is at offset 7 of the table of long "
        "names, beyond its end"),
        (archive((b"#1/9", b"abcd")), "archive at offset 0x8: the name of a member has 9 bytes, which do not fit or "
        "exceed the limit of 4096"),
        (archive((b"x/", b"abcd"))[:-1], "archive at offset 0x8: a member of 4 bytes runs past the end of the file"),
        (b"\x10\xff\x10\xad\x09" + bytes(60), "offload binary at offset 0x4: unknown version 9; expected 1 or 2"),
        (
            b"\x10\xff\x10\xad\x02\0\0\0" + struct.pack("<QQQ", 32, 32, 1 << 40),
            f"offload binary at offset 0x0: it has {1 << 40} images; the limit is 4096",
        ),
        (
            b"\x10\xff\x10\xad\x01\0\0\0" + struct.pack("<QQQ", 99, 32, 40),
            "offload binary at offset 0x0: its size is stated as 99 bytes, but there are only 32",
        ),
    ],
)
def test_damaged(data: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(data)
    with pytest.raises(CodeObjectError) as caught:
        list_entries(path)
    assert str(caught.value) == f"{path}: {reason}"


def test_any_damage_is_an_error_of_its_own(code: dict[str, bytes], make_bundle: Any, tmp_path: Path) -> None:
    """Random bytes are changed and ends are cut off: no exception other than `CodeObjectError` occurs."""
    bundle = make_bundle(("hip-amdgcn-amd-amdhsa--gfx1100", code["gfx1100"]))
    images = offload_binary(2, ("gfx90a", code["gfx90a"], 1), ("gfx1100", bundle, 1))
    whole = archive((b"//", b"long.bin/\n"), (b"/0", images), (b"b.co/", code["gfx90a"]))
    chance, path, refused = random.Random(5), tmp_path / "f.a", 0
    for _ in range(400):
        data = bytearray(whole[: chance.randrange(len(whole))] if chance.random() < 0.2 else whole)
        for _ in range(chance.randrange(1, 6)):
            if data:
                data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data)
        try:
            for unit in open_modules(path, "gfx1100"):
                unit.source.bytes_at(0, 4, "code")
        except (CodeObjectError, ChoiceError):
            refused += 1
    assert refused > 50
