"""DWARF register numbers and address spaces."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from rocdbg.arch.address_spaces import (
    UnknownAddressSpaceError,
    address_space,
    address_space_by_name,
    from_llvm,
    wave_address,
)
from rocdbg.arch.dwarf_registers import (
    UnknownRegisterError,
    dwarf_register,
    register_name,
    register_number,
    register_size,
)
from rocdbg.dwarf.architecture import architecture_by_name


@pytest.mark.parametrize(
    ("number", "wave_size", "name", "size"),
    [
        (0, 64, "pc_32", 4), (16, 64, "pc", 8), (1, 32, "exec", 4), (17, 64, "exec", 8), (32, 32, "s0", 4),
        (95, 64, "s63", 4), (1088, 64, "s64", 4), (1129, 32, "s105", 4), (128, 64, "status", 4),
        (512, 32, "vcc", 4), (768, 64, "vcc", 8), (1536, 32, "v0", 128), (1791, 32, "v255", 128),
        (1792, 32, "v256", 128), (2047, 32, "v511", 128), (3584, 32, "v512", 128), (4095, 32, "v1023", 128),
        (2048, 32, "a0", 128), (2560, 64, "v0", 256), (2815, 64, "v255", 256), (3072, 64, "a0", 256),
        (3327, 64, "a255", 256),
    ],
)
def test_both_directions(number: int, wave_size: int, name: str, size: int) -> None:
    assert register_name(number, wave_size) == name
    assert register_number(name, wave_size) == number
    assert register_size(number, wave_size) == size


@pytest.mark.parametrize("number", [-1, 2, 15, 18, 31, 96, 127, 129, 513, 1087, 1130, 1535, 2304, 2816, 3328, 4096])
def test_reserved_numbers(number: int) -> None:
    with pytest.raises(UnknownRegisterError, match=f"AMDGPU has no DWARF register {number}$"):
        dwarf_register(number)


@pytest.mark.parametrize(("number", "wave_size"), [(1536, 64), (17, 32), (1, 64), (768, 32), (2560, 32)])
def test_register_of_the_other_wave_size(number: int, wave_size: int) -> None:
    with pytest.raises(UnknownRegisterError, match=f"register {number} in wave{wave_size} code"):
        register_name(number, wave_size)


@pytest.mark.parametrize("name", ["", "v", "v256", "v-1", "v01", "s106", "m0", "ttmp0", "exec0", "V0", "v٣"])
def test_unknown_names(name: str) -> None:
    with pytest.raises(UnknownRegisterError) as caught:
        register_number(name, 64)
    assert str(caught.value) == f'there is no DWARF register "{name}" in wave64 code'


@pytest.mark.llvm
@pytest.mark.parametrize(("processor", "wave_size"), [("gfx90a", 64), ("gfx1100", 32)])
def test_as_llvm_names_them(processor: str, wave_size: int, tmp_path: Path) -> None:
    """The assembler converts register names to the same numbers as the table."""
    names = ["pc", "exec", *(f"s{i}" for i in (0, 63, 64, 100))]
    if wave_size == 64:  # the dumper knows vector registers by their wave64 numbers only
        names += ["v0", "v7", "v255", "a0", "a255"]
    lines = [".cfi_sections .debug_frame", ".cfi_startproc"]
    lines += [f".cfi_offset {register_number(name, wave_size)}, {4 * i}" for i, name in enumerate(names)]
    lines += ["s_nop 0", ".cfi_endproc"]
    output = tmp_path / "cfi.o"
    command = ["llvm-mc-22", "-triple", "amdgcn-amd-amdhsa", f"-mcpu={processor}", "-filetype=obj"]
    subprocess.run([*command, "-o", str(output)], input="\n".join(lines).encode() + b"\n", check=True)
    dump = ["llvm-dwarfdump-22", "--debug-frame", str(output)]
    text = subprocess.run(dump, capture_output=True, text=True, check=True).stdout
    printed = re.findall(r"DW_CFA_offset\w*: (\w+)", text)
    llvm = {"pc": "PC_REG", "exec": "EXEC_LO" if wave_size == 32 else "EXEC"}
    spelled = {"s": "SGPR", "v": "VGPR", "a": "AGPR"}
    assert printed == [llvm.get(name) or spelled[name[0]] + name[1:] for name in names]


@pytest.mark.parametrize(
    ("number", "name", "size", "llvm"),
    [
        (0, "global", 8, 1),
        (1, "generic", 8, 0),
        (2, "region", 4, 2),
        (3, "local", 4, 3),
        (5, "private_lane", 4, 5),
    ],
)
def test_address_spaces(number: int, name: str, size: int, llvm: int) -> None:
    info = address_space(number)
    assert (info.name, info.address_size, info.llvm) == (name, size, llvm)
    assert address_space_by_name(name) is info
    assert from_llvm(llvm) is info


def test_unknown_address_space() -> None:
    with pytest.raises(UnknownAddressSpaceError) as caught:
        address_space(4)
    assert str(caught.value) == (
        "AMDGPU has no DWARF address space 4; there are global (0), generic (1), region (2), local (3), "
        "private_lane (5), private_wave (6)"
    )
    with pytest.raises(UnknownAddressSpaceError):
        from_llvm(7)


@pytest.mark.parametrize(
    ("lane_address", "lane", "wave_size", "expected"),
    [(0, 0, 64, 0), (0, 1, 64, 4), (4, 0, 64, 256), (6, 3, 32, 142)],
)
def test_wave_address(lane_address: int, lane: int, wave_size: int, expected: int) -> None:
    assert wave_address(lane_address, lane, wave_size) == expected


def test_numbers_of_large_register_files_are_for_gfx125x_only() -> None:
    small, large = (architecture_by_name(name) for name in ("amdgcn", "amdgcn_gfx125"))
    for number, size in ((1791, 128), (1792, None), (3584, None), (2560, 256)):
        assert small.register_size(number) == size
        assert large.register_size(number) == (size or 128)
