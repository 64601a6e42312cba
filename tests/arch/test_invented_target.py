"""A target is one row: a test adds a row for a target that does not exist, and everything works on that target."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import rocdbg
from rocdbg import dwarf, isa
from rocdbg.arch import targets
from rocdbg.arch.target_id import TargetId
from rocdbg.arch.targets import Target, target_by_mach, target_by_name, target_by_version
from rocdbg.host.agents import agent_record, parse_agents
from rocdbg.isa.encoding_layouts import family_of
from rocdbg.sim.core.register_bounds import bounds, excess

DEMOS = Path(__file__).resolve().parents[2] / "demo_kernels"
NAME, MACH = "gfx1199", 0x7F
FLAGS_OFFSET = 48
"""Offset of e_flags in an ELF64 header; the low byte is the machine value."""


INDEXES = (targets._BY_NAME, targets._BY_MACH, targets._BY_ALIAS, targets._BY_VERSION)


@pytest.fixture
def invented() -> Iterator[Target]:
    """A relative of gfx1100 with other facts, registered during a test."""
    before = [dict(index) for index in INDEXES]
    row = targets._numbered(targets._GFX11, NAME, MACH, "unicorn", vgpr_block=20, wave_sizes=(64, 32))
    targets.add_target(row)
    yield row
    for index, old in zip(INDEXES, before, strict=True):
        index.clear()
        index.update(old)


@pytest.fixture
def code_object(invented: Target, tmp_path: Path) -> Path:
    """The demo kernel saxpy, built for gfx1100, and marked as a compiler for the invented target would mark it."""
    data = bytearray((DEMOS / "saxpy" / "saxpy.O0.gfx1100.co").read_bytes())
    assert data[FLAGS_OFFSET] == target_by_name("gfx1100").mach
    data[FLAGS_OFFSET] = MACH
    path = tmp_path / f"saxpy.{NAME}.co"
    path.write_bytes(data.replace(b"gfx1100", NAME.encode()))
    return path


def test_it_is_known_by_name_alias_machine_value_and_version(invented: Target) -> None:
    assert target_by_name(NAME) is target_by_name("unicorn") is invented
    assert target_by_mach(MACH) is target_by_version(11, 9, 9) is invented
    assert str(TargetId.parse(NAME)) == NAME


def test_code_is_decoded_and_assembled_by_the_table_and_in_the_wave_size_of_the_row(invented: Target) -> None:
    assert family_of(NAME) == "gfx11"
    assert isa.decoder_for(NAME).wave_size == 64
    for text in ("v_add_f32_e32 v1, v2, v3", "s_mov_b64 s[4:5], exec"):
        assert isa.decode(isa.assemble(text, NAME), NAME).text == text


def test_expressions_are_normalised_by_its_scratch(invented: Target) -> None:
    stack_pointer = bytes([0x90, 64])  # DW_OP_regx s32
    assert dwarf.normalise(stack_pointer, NAME) == dwarf.normalise(stack_pointer, "gfx1100")
    assert dwarf.normalise(stack_pointer, NAME) != dwarf.normalise(stack_pointer, "gfx90a")
    with pytest.raises(dwarf.DwarfError, match="'gfx1198' is not an AMDGPU processor"):
        dwarf.normalise(stack_pointer, "gfx1198")


def test_registers_are_allocated_as_the_row_says(invented: Target) -> None:
    names = isa.decode(isa.assemble("v_mov_b32 v39, v40", NAME), NAME)
    assert excess(names, bounds(invented, 64, 21, 0, 16)) == "v40 is past the wave's 40 VGPRs"
    assert excess(names, bounds(invented, 32, 41, 0, 16)) is None


def test_programs_may_have_it(invented: Target) -> None:
    (agent,) = parse_agents(NAME)
    assert agent_record(agent).startswith(NAME.encode())


def test_a_kernel_runs_on_it(code_object: Path) -> None:
    program = rocdbg.load(code_object)
    assert program.machine.target.name == NAME
    x, y = np.arange(64, dtype=np.float32), np.ones(64, np.float32)
    program.kernels["saxpy"].launch(grid=64, workgroup=64, args=[2.0, x, y, 64]).run()
    assert y.tolist() == (2 * x + 1).tolist()


def test_a_kernel_is_debugged_on_it(code_object: Path, tmp_path: Path) -> None:
    """Stack, locals and call frames of unoptimised code follow the row's kind of scratch and wave size."""
    launch = (DEMOS / "saxpy" / "saxpy.toml").read_text().replace("saxpy.O0.{arch}.co", code_object.name)
    expected = (DEMOS / "saxpy" / "expected.npy").read_bytes()
    (tmp_path / "expected.npy").write_bytes(expected)
    path = tmp_path / "saxpy.toml"
    path.write_text(launch.replace('arch = "gfx90a"', f'arch = "{NAME}"'))
    debugger = rocdbg.Debugger(path)
    lines = ["break saxpy", "run", "next", "next", "print i", "info frame", "delete", "continue"]
    text = debugger.execute("\n".join(lines), to_string=True)
    assert "$1 = 0" in text and "saxpy (" in text
    assert "exited normally" in text
