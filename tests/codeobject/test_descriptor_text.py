"""Kernel descriptors as directives: llvm-objdump's text for compiled kernels and for arbitrary bits, on all targets."""

from __future__ import annotations

import random
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from rocdbg.arch.target_id import TargetId
from rocdbg.arch.targets import TARGETS, Generation, ScratchKind, target_by_name
from rocdbg.codeobject import CodeObject, open_file
from rocdbg.codeobject.kernel_code_text import kernel_code_directives
from rocdbg.codeobject.kernel_descriptor_text import descriptor_directives
from tests.breadth import some_of

ROOT = Path(__file__).resolve().parents[2]
DEMOS = sorted((ROOT / "demo_kernels").glob("*/*.co"))
PRODUCERS = ROOT / "tests" / "producers"
OLDEST = Generation.GFX8
"""llvm-objdump disassembles no older targets."""
PROCESSORS = [
    name for name, row in TARGETS.items() if row.generation >= OLDEST and name not in ("gfx940", "gfx941")
]
RESERVED = {44: 0x7FFFFFC0, 48: 0x1B700C00, 52: 0x80FFE000, 56: 0xF780}
"""Bits that are reserved on most targets, by the offset of their words; some samples leave them clear."""


def objdump(path: Path) -> dict[str, list[str]]:
    """The lines of each descriptor of a file, without the bytes, by the kernel's name.

    For a descriptor that it does not decode, llvm-objdump 22 prints the bytes at the start of the section.
    """
    command = ["llvm-objdump-22", "-d", "-j", ".rodata", str(path)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    _, *parts = re.split(r"(?m)^[0-9a-f]{16} <(\S+)>:\n", text)
    return {
        name.removesuffix(".kd"): without_bytes(lines.splitlines())
        for name, lines in zip(parts[::2], parts[1::2], strict=True)
        if name.endswith(".kd")
    }


def without_bytes(lines: list[str]) -> list[str]:
    return [line for line in lines if line and "\t.byte" not in line]


def assembled(descriptors: dict[str, bytes], processor: str, version: int, folder: Path) -> Path:
    """An object that contains only the descriptors of these kernels."""
    lines = [
        f'.amdgcn_target "amdgcn-amd-amdhsa--{processor}"', f".amdhsa_code_object_version {version}",
        ".section .rodata", ".p2align 6",
    ]
    for name, data in descriptors.items():
        symbol = f"{name}.kd"
        lines += [f".type {symbol},@object", f".size {symbol}, 64", f"{symbol}:", ".byte " + ",".join(map(str, data))]
    source, made = folder / "k.s", folder / "k.o"
    source.write_text("\n".join(lines) + "\n")
    command = ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={processor}", "-filetype=obj"]
    subprocess.run([*command, "-o", str(made), str(source)], check=True)
    return made


@cache
def samples() -> list[bytes]:
    """Descriptors: each bit alone, and random ones with and without reserved bits."""
    chance = random.Random(14)
    found = [bytes(64), *((1 << bit).to_bytes(64, "little") for bit in range(512))]
    for number in range(400):
        data = bytearray(64)
        for at in (*range(12), *range(44, 60)):
            data[at] = chance.randrange(256) & chance.randrange(256)
        if number % 4:
            for at, mask in RESERVED.items():
                word = int.from_bytes(data[at : at + 4], "little") & ~mask
                # which of these are reserved depends on the generation
                if at == 48 and number & 8:
                    word &= ~0xE40003C0
                if at == 56 and number & 16:
                    word &= ~0x400
                data[at : at + 4] = word.to_bytes(4, "little")
            if number & 32:
                data[44:48] = bytes(4)
        found.append(bytes(data))
    return found


VERSIONS = [
    (processor, version) for version in (4, 6) for processor in PROCESSORS
    if version == 6 or not target_by_name(processor).is_generic  # which came with version 6
]
IN_TURN = [
    (name, 6 if turn % 2 or target_by_name(name).is_generic else 4) for turn, name in enumerate(PROCESSORS)
]


@pytest.mark.llvm
@pytest.mark.truth
@pytest.mark.parametrize(("processor", "version"), some_of(VERSIONS, IN_TURN))
def test_any_bits(processor: str, version: int, tmp_path: Path) -> None:
    wanted = objdump(assembled({f"k{n}": data for n, data in enumerate(samples())}, processor, version, tmp_path))
    decoded = 0
    for number, data in enumerate(samples()):
        found = descriptor_directives(data, f"k{number}", target_by_name(processor), version)
        found = [line for line in found if "user_sgpr_count" not in line.lower()]
        assert without_bytes(found) == wanted[f"k{number}"], f"sample {number}"
        decoded += found[0].startswith(".amdhsa_kernel")
    assert decoded > 150


@pytest.mark.llvm
@pytest.mark.parametrize("processor", ["gfx600", "gfx602", "gfx700", "gfx705"])
def test_early_targets_assemble_to_the_same_bytes(processor: str, tmp_path: Path) -> None:
    """Targets that llvm-objdump does not disassemble."""
    target = target_by_name(processor)
    texts = {
        f"k{number}": (data, descriptor_directives(data, f"k{number}", target, 5))
        for number, data in enumerate(samples())
        if not any(data[57:60])  # no kernel arguments are preloaded
    }
    texts = {name: row for name, row in texts.items() if row[1][0].startswith(".amdhsa_kernel")}
    lines = [f'.amdgcn_target "amdgcn-amd-amdhsa--{processor}"', ".amdhsa_code_object_version 5", ".text"]
    lines += [line for name in texts for line in (f"{name}:", "s_endpgm")]
    lines += [line for _, text in texts.values() for line in text]
    source, made, linked = tmp_path / "k.s", tmp_path / "k.o", tmp_path / "k.co"
    source.write_text("\n".join(lines) + "\n")
    command = ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={processor}", "-filetype=obj"]
    subprocess.run([*command, "-o", str(made), str(source)], check=True)
    subprocess.run(["ld.lld-22", "-shared", str(made), "-o", str(linked)], check=True)
    code_object = open_file(linked)
    assert len(texts) > 150
    for name, (data, _) in texts.items():
        symbol = code_object.kernels[name].descriptor_symbol
        assert symbol is not None
        found = code_object.read(symbol.value, 64)
        assert (found[:16], found[44:52], found[53:]) == (data[:16], data[44:52], data[53:]), name
        # no directive sets the bit of the trap handler or the count of user SGPRs, which follows from which there are
        assert (found[52] ^ data[52]) & ~0x7E == 0, name


@pytest.mark.llvm
@pytest.mark.parametrize("path", DEMOS, ids=lambda path: path.name)
def test_demos(path: Path, tmp_path: Path) -> None:
    wanted = objdump(path)
    code_object = open_file(path)
    assert set(wanted) == set(code_object.kernels)
    for name, kernel in code_object.kernels.items():
        assert kernel.descriptor_symbol is not None
        if "must be 64-byte aligned" in wanted[name][0]:
            # llvm-objdump takes strings that follow without a symbol for a part of the descriptor
            data = code_object.read(kernel.descriptor_symbol.value, 64)
            wanted |= objdump(assembled({name: data}, code_object.target.name, code_object.version, tmp_path))
        found = [line for line in kernel.directives() if "user_sgpr_count" not in line]
        assert _without_mask(found) == _without_mask(wanted[name])


def _without_mask(lines: list[str]) -> list[str]:
    """The text without directives that llvm-objdump writes but the assembler rejects where XNACK may be on."""
    return [line for line in lines if not line.startswith((".amdhsa_reserve_xnack", ".amdhsa_next_free_sgpr"), 1)]


def _targets() -> list[tuple[str, int]]:
    """Target ids of every processor with each setting of XNACK, and the version of the code object."""
    found = []
    for name in PROCESSORS:
        if name in ("gfx802", "gfx805"):
            continue  # the assembler always writes 96 SGPRs for these, regardless of the directive
        target = target_by_name(name)
        always_on = name.startswith(("gfx94", "gfx95", "gfx9-4", "gfx125"))  # the assembler refuses XNACK off there
        settings = ("", ":xnack+") if always_on else ("", ":xnack+", ":xnack-")
        for setting in settings if target.supports_xnack else ("",):
            found.append((name + setting, 6 if target.is_generic else 4 + len(found) % 3))
    return found


def _one_of_each_processor(targets: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """One target id of each processor; the settings of XNACK alternate between processors."""
    settings: dict[str, list[tuple[str, int]]] = {}
    for target_id, version in targets:
        settings.setdefault(target_id.partition(":")[0], []).append((target_id, version))
    return [found[turn % len(found)] for turn, found in enumerate(settings.values())]


@pytest.mark.llvm
@pytest.mark.truth
@pytest.mark.parametrize(("target_id", "version"), some_of(_targets(), _one_of_each_processor(_targets())))
def test_directives_assemble_to_the_same_bytes(target_id: str, version: int, tmp_path: Path) -> None:
    """Compares all of a descriptor except the address of the code, on every target and with each setting of XNACK."""
    parsed = TargetId.parse(target_id)
    texts: dict[str, tuple[bytes, list[str]]] = {}
    for number, sample in enumerate(samples()):
        data = bytearray(sample)
        data[58:60] = bytes(2)  # no arguments are preloaded
        if number % 3:
            data[52] = data[52] & ~0x3E | 16 << 1  # more user SGPRs than are named
        # what the assembler checks against each other: registers of all kinds
        data[48] = data[48] & 0x40 | (0x3F if parsed.target.unified_vgprs else 0x05)
        data[49] &= ~3
        if parsed.target.unified_vgprs and parsed.target.name.startswith("gfx9"):
            data[45] &= 0xFE
        # bits that mean nothing there, which neither llvm-objdump nor the assembler knows
        if parsed.target.scratch is ScratchKind.ARCHITECTED:
            data[56] &= ~0x21
        if version < 5:
            data[57] &= ~8
        if parsed.target.generation >= Generation.GFX12:
            data[50] &= ~0x80
        if parsed.target.generation < Generation.GFX10:
            data[57] &= ~4
        if parsed.target.is_gfx125:
            data[51] &= ~0x20
        text = descriptor_directives(data, f"k{number}", parsed.target, version, parsed.xnack)
        unsaid = [line for line in text if line.startswith("\t; ") and (line[-2:] != " 0" or "USER_SGPR" in line)]
        if text[0].startswith(".amdhsa_kernel") and not unsaid:
            texts[f"k{number}"] = bytes(data), text
    assert len(texts) > 100
    lines = [f'.amdgcn_target "amdgcn-amd-amdhsa--{target_id}"', f".amdhsa_code_object_version {version}", ".text"]
    lines += [line for name in texts for line in (f"{name}:", "s_endpgm")]
    lines += [line for _, text in texts.values() for line in text]
    source, made = tmp_path / "k.s", tmp_path / "k.o"
    source.write_text("\n".join(lines) + "\n")
    command = ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={parsed.target.name}", "-filetype=obj"]
    if ":" in target_id:
        command.append(f"-mattr={target_id[-1]}xnack")
    subprocess.run([*command, "-o", str(made), str(source)], check=True)
    code_object = CodeObject(made.read_bytes())
    for name, (data, _) in texts.items():
        symbol = code_object.kernels[name].descriptor_symbol
        assert symbol is not None
        at = code_object.file_offset(symbol, 64, "descriptor")
        found = code_object.source.bytes_at(at, 64, "descriptor")
        # no directive sets the bit of the trap handler
        assert (found[:16], found[44:52], found[53:]) == (data[:16], data[44:52], data[53:]), name
        assert (found[52] ^ data[52]) & ~0x40 == 0, name


def test_reserved_bits_show_the_bytes() -> None:
    data = bytes(range(1, 65))
    first, second, *rest = descriptor_directives(data, "k", target_by_name("gfx90a"), 5)
    assert first == "; error decoding k.kd: kernel descriptor reserved bits in range (127:96) set"
    assert second == "; decoding failed region as bytes"
    assert (len(rest), rest[0], rest[63]) == (64, "\t.byte\t 0x1", "\t.byte\t 0x40")


def test_v2() -> None:
    """The text equals the one that clang 14 wrote into its assembly for this kernel."""
    wanted = (PRODUCERS / "add.nodebug.clang14.v2.directives.txt").read_text().splitlines()
    [kernel] = open_file(PRODUCERS / "add.nodebug.clang14.v2.co").kernels.values()
    assert kernel.directives() == wanted


def test_v2_each_field() -> None:
    """If a field is all ones, only this field changes; if all bits are set, each field has the largest value of its
    width.
    """
    nothing = kernel_code_directives(bytes(256))
    for bit in range(2048):
        lines = kernel_code_directives((1 << bit).to_bytes(256, "little"))
        assert sum(line != other for line, other in zip(lines, nothing, strict=True)) <= 1
    lines = kernel_code_directives(b"\xff" * 256)
    values = {line.split()[0]: int(line.split()[2]) for line in lines[1:-1]}
    assert (values["float_mode"], values["enable_exception"], values["private_element_size"]) == (255, 127, 3)
    assert (values["kernel_code_entry_byte_offset"], values["call_convention"]) == (-1, -1)
    assert values["kernarg_segment_byte_size"] == 2**64 - 1


def test_v2_that_is_cut() -> None:
    with pytest.raises(ValueError, match="256 bytes, not 255"):
        kernel_code_directives(bytes(255))
