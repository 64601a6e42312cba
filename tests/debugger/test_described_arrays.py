"""Arrays whose data, bounds and strides are in a descriptor on a lane's stack, in flang's DWARF for GPUs."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocdbg.debugger import Session

pytestmark = pytest.mark.llvm
SOURCE = Path(__file__).parent / "sources" / "described.hip"
STOP = SOURCE.read_text().splitlines().index("  Holder *pointer = &holder;") + 2
ARRAY = """
!900 = !DICompositeType(tag: DW_TAG_array_type, baseType: INT, elements: !{!901},
  dataLocation: !DIExpression(DW_OP_push_object_address, DW_OP_deref),
  associated: !DIExpression(DW_OP_push_object_address, DW_OP_deref, DW_OP_lit0, DW_OP_ne))
!901 = !DISubrange(lowerBound: 1, count: !DIExpression(DW_OP_push_object_address, DW_OP_plus_uconst, 8, DW_OP_deref),
  stride: !DIExpression(DW_OP_push_object_address, DW_OP_constu, 16, DW_OP_plus, DW_OP_deref))
"""


@pytest.fixture(scope="module", params=["gfx90a", "gfx1100"])
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("described")
    subprocess.run(
        ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", f"--offload-arch={request.param}",
         "-g", "-O0", "-S", "-emit-llvm", str(SOURCE), "-o", "a.ll"], cwd=folder, check=True, timeout=120,
    )
    text = (folder / "a.ll").read_text()
    (described,) = re.findall(r'(!\d+) = [^\n]*!DICompositeType\(tag: DW_TAG_structure_type, name: "Described"', text)
    (integer,) = re.findall(r'(!\d+) = !DIBasicType\(name: "int"', text)
    text = re.sub(rf"((?:type|baseType): ){described}\b", r"\g<1>!900", text) + ARRAY.replace("INT", integer)
    (folder / "a.ll").write_text(text)
    subprocess.run(
        ["llc-22", "-O0", "-mtriple=amdgcn-amd-amdhsa", f"-mcpu={request.param}", "-filetype=obj", "a.ll", "-o", "a.o"],
        cwd=folder, check=True, timeout=120,
    )
    subprocess.run(["ld.lld-22", "-shared", "a.o", "-o", "a.co"], cwd=folder, check=True, timeout=60)
    session = Session()
    session.load(folder / "a.co")
    session.launch.set_grid("64")
    session.launch.set_workgroup("64")
    session.launch.set_argument(0, "i32[64]:zeros")
    session.break_at(f"{SOURCE}:{STOP}")
    session.run()
    session.focus.select_lane(5)
    yield session
    session.running.kill()


def shown(session: Session, expression: str) -> str:
    return session.data.format(session.data.evaluate(expression))


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("every_other", "{5, 15, 25, 35}"), ("every_other[2]", "15"), ("sizeof(every_other)", "32"),
        ("global", "{1, 2, 3, 4}"), ("nothing", "<not associated>"),
        ("holder", "{first = 7, inside = {15, 20}}"), ("holder.inside[1]", "15"),
        ("*pointer", "{first = 7, inside = {15, 20}}"), ("pointer->inside[2]", "20"),
    ],
)
def test_values(session: Session, expression: str, value: str) -> None:
    assert shown(session, expression) == value


def test_each_lane_has_its_own(session: Session) -> None:
    session.focus.select_lane(6)
    assert shown(session, "every_other") == "{6, 18, 30, 42}"
    session.focus.select_lane(5)


def test_elements_are_written_where_the_data_is(session: Session) -> None:
    session.data.evaluate("holder.inside[2] = 99")
    assert shown(session, "own[4]") == "99"
    session.data.evaluate("every_other[1] = 77")
    assert shown(session, "own[1]") == "77"
    session.data.evaluate("own[1] = 5, own[4] = 20")
