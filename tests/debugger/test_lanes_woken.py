"""If the quick check says that EXEC has the active lanes, the full analysis of masks says so too."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocdbg import isa
from rocdbg.addresses import FileAddress
from rocdbg.debugger.frames.machine_code import MachineCode
from rocdbg.debugger.program.exec_map import ExecMap
from rocdbg.debugger.program.program import Program

DEMOS = Path(__file__).resolve().parents[2] / "demo_kernels"
OBJECTS = [
    f"{name}.{target}.co" for name in ("calls/calls.O0", "spill/spill.O2", "saxpy/saxpy.O0")
    for target in ("gfx90a", "gfx1100")
] + ["extensions/wholewave/wholewave.gfx90a.co"]


@pytest.mark.parametrize("name", OBJECTS)
def test_a_quick_look_is_right(name: str) -> None:
    program = Program.open_all(DEMOS / name)[0]
    code_object, machine_code, quick = program.code_object, MachineCode(program), ExecMap(program)
    size = program.wave_size
    quiet = woken = 0
    for symbol in code_object.symbols:
        if symbol.type != 2 or not symbol.is_defined or not symbol.size:
            continue
        low = code_object.address_of(symbol)
        code = code_object.read(low, symbol.size)
        for instruction in isa.disassemble(code, code_object.target.name, address=low, wave_size=size):
            address = FileAddress(instruction.address)
            says = machine_code.active_lanes(address, size)
            if quick.wakes_lanes(address, size):
                woken += says is not None
            else:
                quiet += 1
                assert says is None, hex(address)
    assert quiet
    assert woken or not name.startswith("calls")
