"""A kernel's debug information after LLVM's passes: the evaluator and the lowered DWARF agree everywhere.

Every value in a record gets a place and a value; all variables are evaluated at all instructions.
"""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from rocdbg import dwarf, llvmdi
from rocdbg.errors import Error
from rocdbg.llvmdi.llvm_types import PointerType
from rocdbg.llvmdi.module import Function, Operand
from rocdbg.llvmdi.placement import CodeAddresses, FrameAddress
from tests.llvmdi.machine import Known, Machine, read
from tests.llvmdi.test_compiled import compiled

pytestmark = pytest.mark.llvm
LANE = 5
MEMORY = {0: {0: bytes(range(256)) * 32}, 3: {0: bytes(range(256)) * 32}}


def machine_for(info: llvmdi.DebugInfo, function: Function, numbers: random.Random) -> Machine:
    """Places and values for the entities in the function's records: allocas in the frame, other values in registers."""
    flow = info.flows[function.name]
    types = {parameter.name: parameter.type for parameter in function.parameters}
    types |= {instruction.name: instruction.type for instruction in flow.instructions if instruction.name}
    names = {
        operand.name for segment in info.segments if segment.function is function
        for operand in segment.arguments if isinstance(operand, Operand) and operand.name.startswith("%")
    }  # fmt: skip
    values: dict[str, int] = {}
    places: dict[str, object] = {name: 0x1000 + 8 * n for n, name in enumerate(info.module.globals)}
    register = 1
    for name in sorted(names):
        type = info.module.layout.resolved(types[name])
        if isinstance(type, PointerType) and type.space == 5:
            places[name] = f"frame+{8 * numbers.randrange(16)}"
            continue
        bits = info.module.layout.bits(type)
        last = register + (bits - 1) // 32
        places[name] = f"v[{register}:{last}]" if last > register else f"v{register}"
        values[name] = numbers.getrandbits(bits)
        register = last + 1
    return Machine(values, places, MEMORY)


def differences(info: llvmdi.DebugInfo, numbers: random.Random) -> tuple[int, list[str]]:
    """The number of comparisons of variables, and the positions where the answers differ."""
    asked, found = 0, []
    for flow in info.flows.values():
        function = flow.function
        machine = machine_for(info, function, numbers)
        lowered = llvmdi.lower(info, machine.placement)
        code = CodeAddresses(flow, machine.placement)
        places = machine.placement.places.items()
        values = dict(machine.values) | {name: place.value for name, place in places if name.startswith("@")}
        values |= {name: place.offset for name, place in places if isinstance(place, FrameAddress)}
        for entry in lowered.entries:
            segments = [s for s in info.segments_of.get(entry.node, ()) if s.inlined is entry.inlined]
            if entry.trouble is not None or not any(segment.function is function for segment in segments):
                continue
            assert entry.node is not None
            bits = info.type_bits(info.module.node(entry.node.fields.get("type"))) or 32
            for index, instruction in enumerate(flow.instructions):
                if instruction.is_debug:
                    continue  # at the address of what comes next
                context = machine.context(LANE, code.addresses[index], lowered)
                state = llvmdi.State(context, values, code.blocks)
                wanted: Known
                try:
                    where = llvmdi.Evaluator(info, state).locate(entry.node, function, index, entry.inlined)
                    wanted = read(where, bits)
                except Error:
                    wanted = "error"
                got: Known = (0, 0)
                if entry.content is not None:
                    try:
                        got = read(dwarf.evaluate(entry.content, context, "location", "amd"), bits)
                    except Error:
                        got = "error"
                asked += 1
                if got != wanted:
                    found.append(f"{function.name} {index} {entry.name}: {wanted} and {got}")
    return asked, found


@pytest.mark.parametrize(
    ("passes", "asked"),
    [
        ("sroa", 200),
        ("inline,sroa,instcombine<no-verify-fixpoint>", 300),
        ("sroa,loop-mssa(loop-rotate,licm),loop-reduce", 200),
    ],
)
def test_passes(passes: str, asked: int, tmp_path: Path) -> None:
    source, changed = compiled("calls", "O0", tmp_path), tmp_path / "changed.ll"
    source.write_text(source.read_text().replace("optnone", "").replace("noinline", ""))
    command = ["opt-22", "-S", f"-passes={passes}", str(source), "-o", str(changed)]
    subprocess.run(command, check=True, timeout=120)
    module = llvmdi.read(changed)
    assert [str(finding) for finding in llvmdi.check(module)] == []
    count, found = differences(llvmdi.DebugInfo(module), random.Random(1))
    assert found == []
    assert count > asked
