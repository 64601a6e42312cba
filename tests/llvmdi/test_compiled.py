"""clang's LLVM assembly for the demo kernels: read, checked, and lowered; the DWARF agrees with clang's own.

The places of stack slots come from the machine IR of the same assembly; those of globals come from the symbols of the
checked-in object, whose DWARF clang wrote.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocdbg import codeobject, dwarf, llvmdi
from rocdbg.dwarf.info import DebugInfo, Die, Exprloc
from rocdbg.dwarf.operation_assembler import assemble
from rocdbg.llvmdi.placement import Constant, FrameAddress, Placement, Where
from tests.llvmdi.machine import Machine

DEMOS = Path(__file__).resolve().parents[2] / "demo_kernels"
HIP = ("-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "-fuse-cuid=none", "--offload-arch=gfx90a")
OPENCL = ("-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-mcpu=gfx90a")
DW_AT_LOCATION, DW_AT_NAME, DW_AT_LINE, DW_AT_LINKAGE, DW_AT_ORIGIN = 0x02, 0x03, 0x3B, 0x6E, 0x31
SUBPROGRAM, VARIABLES = 0x2E, (0x05, 0x34)

pytestmark = pytest.mark.llvm


def compiled(name: str, level: str, folder: Path) -> Path:
    """The LLVM assembly of a demo kernel."""
    (source,) = [path for path in (DEMOS / name).glob(f"{name}.*") if path.suffix in (".hip", ".cl")]
    out = folder / f"{name}.{level}.ll"
    flags = HIP if source.suffix == ".hip" else OPENCL
    command = ["clang-22", *flags, "-g", f"-{level}", "-S", "-emit-llvm", source.name, "-o", str(out)]
    subprocess.run(command, check=True, cwd=source.parent, timeout=120)
    return out


def slots(path: Path) -> dict[str, list[int]]:
    """The offsets of each function's stack objects that are allocas, in the order of the allocas."""
    text = subprocess.run(
        ["llc-22", "-mcpu=gfx90a", "-O0", "-stop-after=prologepilog", str(path), "-o", "-"],
        check=True, capture_output=True, text=True, timeout=120,
    ).stdout
    found: dict[str, list[int]] = {}
    for part in text.split("\nname: ")[1:]:
        name = part.partition("\n")[0].strip()
        stack = part.partition("\nstack:")[2].partition("\nentry_values:")[0]
        objects = re.findall(r"- \{ id: (\d+), [^}]*? offset: (-?\d+), [^}]*?(local-offset)?", stack)
        found[f"@{name}"] = [int(offset) for _, offset, _ in objects]
    return found


def placed(info: llvmdi.DebugInfo, path: Path, symbols: dict[str, int]) -> Placement:
    places: dict[str, Where] = {}
    offsets = slots(path)
    for flow in info.flows.values():
        allocas = [instruction.name for instruction in flow.instructions if instruction.opcode == "alloca"]
        for name, offset in zip(allocas, offsets[flow.function.name], strict=False):
            places[f"{flow.function.name}:{name}"] = FrameAddress(offset)
        body = info.module.source.text[flow.function.offset :].partition("\n}")[0]
        for name, slot in re.findall(r"(%\S+) = addrspacecast ptr addrspace\(5\) (%\S+) to ptr", body):
            if f"{flow.function.name}:{slot}" in places:  # the generic address of the same slot
                places[f"{flow.function.name}:{name}"] = places[f"{flow.function.name}:{slot}"]
    places |= {f"@{name}": Constant(address, relocated=True) for name, address in symbols.items()}
    return Placement(places)


Key = tuple[str, str, int]
"""Function (or "" for a global variable), variable, line."""


def clangs(path: Path) -> dict[Key, bytes]:
    """The locations of clang's own DWARF, after the normalisation that the debugger applies to them."""
    file = codeobject.open_file(str(path))
    info = DebugInfo({name: section.data for name, section in file.sections.items()})
    return {key: _direct(data, unit.debug_addr) for unit in info.units for key, data in variables(unit.top, "")}


def _direct(data: bytes, debug_addr: list[int]) -> bytes:
    """The same, with an address in place of its index."""
    (first, *others) = dwarf.decode(data)
    if first.info.meaning != "addrx" or others:
        return data
    index = first.operands[0]
    assert isinstance(index, int)
    return assemble(("addr", debug_addr[index]))


def variables(die: Die, function: str) -> Iterator[tuple[Key, bytes]]:
    for child in die.children:
        location = child.attribute(DW_AT_LOCATION)
        if child.tag in VARIABLES and isinstance(location, Exprloc) and child.find(DW_AT_NAME):  # a string has none
            name, line = child.find(DW_AT_NAME), child.find(DW_AT_LINE)
            yield (function, getattr(name, "text", None) or str(child.name), getattr(line, "value", 0)), (
                dwarf.normalise(location.data, "gfx90a")
            )
        inner = (child.string(DW_AT_LINKAGE) or child.name or "") if child.tag == SUBPROGRAM else function
        yield from variables(child, inner)


def ours(info: llvmdi.DebugInfo, lowered: llvmdi.Lowered) -> dict[Key, bytes]:
    found: dict[Key, bytes] = {}
    for entry in lowered.entries:
        if entry.node is None or not isinstance(entry.content, bytes):
            continue
        (segment,) = info.segments_of[entry.node]
        function = segment.function.name[1:] if segment.function is not None else ""
        line = entry.node.fields.get("line")
        assert isinstance(line, int)
        found[function, entry.name, line] = entry.content
    return found


@pytest.mark.parametrize("name", ["saxpy", "calls", "spaces", "vectors", "histogram"])
def test_unoptimised(name: str, tmp_path: Path) -> None:
    path = compiled(name, "O0", tmp_path)
    module = llvmdi.read(path)
    assert [str(finding) for finding in llvmdi.check(module)] == []
    info = llvmdi.DebugInfo(module)
    file = DEMOS / name / f"{name}.O0.gfx90a.co"
    symbols = {symbol.name: symbol.value for symbol in codeobject.open_file(str(file)).symbols}
    lowered = llvmdi.lower(info, placed(info, path, symbols))
    expected = clangs(file)
    assert len(expected) > 4
    assert ours(info, lowered) == expected
    # Variables in LDS: where the kernel's LDS is given out is not known here, and clang says nothing of them either.
    unknown = {str(entry.trouble) for entry in lowered.entries if entry.trouble is not None}
    assert all(re.fullmatch(r"the place of @(_ZZ\S+|\.str\S*) is not known", words) for words in unknown), unknown


@pytest.mark.parametrize("name", ["scan", "spaces"])
def test_optimised(name: str, tmp_path: Path) -> None:
    """All translations are well-formed; if there is none, the reason names the operation without a translation."""
    module = llvmdi.read(compiled(name, "O2", tmp_path))
    findings = llvmdi.check(module)
    assert [str(finding) for finding in findings if not finding.is_note] == []
    info = llvmdi.DebugInfo(module)
    values = [segment for segment in info.segments if segment.record is not None]
    assert len(values) > 20
    assert [segment for segment in values if segment.trouble is not None] == []


def test_a_value_computed_of_two(tmp_path: Path) -> None:
    """The variable `from` of scan has `DW_OP_LLVM_arg 0, DW_OP_LLVM_arg 1, DW_OP_plus`."""
    info = llvmdi.DebugInfo(llvmdi.read(compiled("scan", "O2", tmp_path)))
    segments = [s for s in info.segments if s.object and info.name_of(s.object) == "from" and len(s.arguments) == 2]
    assert len(segments) == 3
    for segment in segments:
        first, second = (str(getattr(argument, "name", "")) for argument in segment.arguments)
        machine = Machine({first: 1000, second: 0xFFFFFFFF}, {first: "v1", second: "v2"})
        code = str(segment.translated)
        assert code == (
            "!DIExpr(DIOpArg(0, i32), DIOpZExt(i64), DIOpArg(1, i32), DIOpZExt(i64), DIOpAdd(), DIOpConvert(i32))"
        )
        assert segment.object is not None
        assert segment.function is not None
        index = next(i for a, b in segment.ranges for i in range(a, b))
        location = llvmdi.Evaluator(info, llvmdi.State(machine.context(7), machine.values)).locate(
            segment.object, segment.function, index, segment.inlined
        )
        assert location.read(32) == 999
        lowered = llvmdi.lower(info, machine.placement)
        assert all(entry.trouble is None or "not known" in str(entry.trouble) for entry in lowered.entries)
