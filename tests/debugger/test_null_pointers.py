"""Null pointers, and places with address 0 if these differ; unused lanes; LDS of some kernels; GDS."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import rocdbg
from rocdbg.debugger import Session
from rocdbg.debugger.running.stop_events import StopReason
from rocdbg.errors import Error
from tests.breadth import in_turn

pytestmark = pytest.mark.llvm
Compile = Callable[..., Path]
LINE = 37
"""Line of nulls.hip after all of its statements except the last one."""

VALUES = (
    ("np", "(int *) private_lane#0xffffffff"),
    ("nl == 0", "true"),
    ("0 != np", "false"),
    ("!np", "true"),
    ("nl ? 1 : 2", "2"),
    ("np && 1", "false"),
    ("mine == nl", "false"),
    ("tile == (int *) local#0", "true"),
    ("&tile[0] == 0", "false"),
    ("!&tile[0]", "false"),
    ("&tile[0] ? 1 : 2", "1"),
    ("np == generic", "true"),
    ("np == nl", "true"),
    ("nl == generic", "true"),
    ("(int *) np", "(int *) 0x0"),
    ("(long) np", "0"),
    ("(long) (int *) local#0", "281474976710656"),
    ("(bool) nl", "false"),
    ("generic = np", "(int *) generic#0x0"),
    ("generic = &own[1]", "(int *) generic#0x2000000000024"),
    ("yours = generic", "(int *) private_lane#0x24"),
    ("*yours", "1"),
    ("nl = &tile[2]", "(int *) local#0x8"),
    ("*nl", "102"),
    ("nl = 0", "(int *) local#0xffffffff"),
    ("yours = 0", "(int *) private_lane#0xffffffff"),
    ("yours == np", "true"),
    ("((Counter *) private_lane#0)->peek()", "42"),
    ("(*(Counter *) private_lane#0).peek()", "42"),
    ("counter.peek()", "6"),
    ("counter.step", "4"),
    ("Counter::step", "4"),
    ("tile[5]", "105"),
    ("other", "<place in LDS not known>"),
)


def debugger(path: Path, grid: int = 50, kernel: str = "first") -> rocdbg.Debugger:
    launch = path.with_suffix(f".{grid}.{kernel}.toml")
    launch.write_text(
        f'[launch]\nfile = "{path}"\nkernel = "{kernel}"\ngrid = [{grid}, 1, 1]\nworkgroup = [64, 1, 1]\n'
        f'[[arg]]\nname = "out"\nbuffer = "i32[{grid}]"\n'
    )
    made = rocdbg.Debugger(str(launch))
    made.execute(f"break nulls.hip:{LINE if kernel == 'first' else 44}", to_string=True)
    made.execute("run", to_string=True)
    return made


def shown(made: rocdbg.Debugger, expression: str) -> str:
    return made.execute(f"print {expression}", to_string=True).partition(" = ")[2].strip()


def test_null_is_no_place_and_zero_is_one(compiled: Compile) -> None:
    made = debugger(compiled("nulls.hip"))
    made.execute("lane 2", to_string=True)
    made.execute("set var *(int *) private_lane#0 = 38", to_string=True)
    assert [(text, shown(made, text)) for text, _ in VALUES] == list(VALUES)


CONDITIONS = (
    "np == 0", "!nl", "nl != 0", "yours == 0", "yours ? 0 : i < 4", "yours && i > 10", "mine == 0", "mine",
    "np == generic", "yours == generic && i & 2", "(int *) yours == 0", "mine == generic", "(long) yours == 0",
    "counter.step == 4 && i == 3", "tile == 0", "&tile[0] != 0 && i == 9", "Counter::step == i", "np < mine",
    "yours == np",
)


@pytest.mark.truth
@pytest.mark.parametrize(("target", "condition"), in_turn(("gfx90a", "gfx1100"), CONDITIONS))
def test_conditions_hold_alike_evaluated_and_compiled(compiled: Compile, target: str, condition: str) -> None:
    found = []
    for way in ("host", "auto"):
        session = Session()
        session.settings.condition_evaluation = way
        session.load(compiled("nulls.hip", target))
        session.launch.set_kernel("first")
        session.launch.set_grid("200")
        session.launch.set_workgroup("64")
        session.launch.set_argument(0, "i32[200]:zeros")
        session.break_at(f"nulls.hip:{LINE}", condition=condition)
        lanes, event = [], session.run()
        while event.reason is StopReason.BREAKPOINT:
            lanes.append((event.scope.thread, event.lanes))
            event = session.running.proceed()
        found.append(lanes)
    assert found[0] == found[1]


def test_an_address_that_no_pointer_of_the_space_can_have_is_refused(compiled: Compile) -> None:
    made = debugger(compiled("nulls.hip"))
    with pytest.raises(Error, match="This generic address cannot be converted to a pointer into the local"):
        made.execute("print nl = (int *) out")
    with pytest.raises(Error, match="This private_lane address cannot be converted to a pointer into the local"):
        made.execute("print nl = &own[1]")


def test_a_watch_on_what_a_generic_pointer_points_to_triggers(compiled: Compile) -> None:
    made = debugger(compiled("nulls.hip"))
    made.execute("delete", to_string=True)
    made.execute("break bump", to_string=True)
    made.execute("run", to_string=True)
    made.execute("lane 3", to_string=True)
    for text in ("p[3]", "text[3]", "*(int *) ((long) p + 20)"):
        assert "Hardware watchpoint" in made.execute(f"watch -l {text}", to_string=True)
    stopped = made.execute("continue", to_string=True)
    assert "watchpoint 3: -location p[3]" in stopped and "Old value = 3\nNew value = 13" in stopped
    stopped = made.execute("continue", to_string=True)
    assert "watchpoint 4: -location text[3]" in stopped and "New value = 122 'z'" in stopped
    with pytest.raises(Error, match="Cannot access memory at address local#0xfffff0"):
        made.execute("watch -l *(int *) local#0xfffff0")


def test_unused_lanes_have_no_frames(compiled: Compile) -> None:
    made = debugger(compiled("nulls.hip"))
    made.execute("lane 55", to_string=True)
    assert shown(made, "$_lane") == "55"
    for command in ("bt", "info locals", "frame", "step", "finish"):
        with pytest.raises(Error, match="No stack: lane 55 is unused"):
            made.execute(command)
    with pytest.raises(Error, match='No symbol "i" in current context'):
        made.execute("print i")
    assert made.execute("thread find /55", to_string=True) == "No threads match '/55'\n"
    assert made.execute("lane apply 49-60 print i", to_string=True).count(" = 49") == 1
    assert "lanes [0-49]" in made.execute("run", to_string=True)
    assert "50 lanes" not in made.execute("info threads", to_string=True)


def test_lds_of_some_kernels_is_placed_where_the_layout_proves_it(compiled: Compile) -> None:
    made = debugger(compiled("nulls.hip"), 64, "second")
    assert shown(made, "other[3]") == "35" and shown(made, "&other") == "(float (*)[32]) local#0x0"
    assert shown(made, "tile") == "<place in LDS not known>"
    assert "static storage at address local#0x0." in made.execute("info address other", to_string=True)
    assert "static storage" not in made.execute("info address tile", to_string=True)


def test_global_data_share_is_memory(tmp_path: Path) -> None:
    output = tmp_path / "gds.co"
    source = Path(__file__).parent / "sources" / "gds.s"
    command = ["clang-22", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx906", "-g", str(source), "-o", str(output)]
    subprocess.run(command, check=True, timeout=60)
    launch = tmp_path / "gds.toml"
    launch.write_text(f'[launch]\nfile = "{output}"\nkernel = "share"\ngrid = [64, 1, 1]\nworkgroup = [64, 1, 1]\n')
    made = rocdbg.Debugger(str(launch))
    made.execute("break share", to_string=True)
    made.execute("run", to_string=True)
    assert "watchpoint 2: -location" in made.execute("watch -l *(int *) region#8", to_string=True)
    assert "Old value = 0\nNew value = 4660" in made.execute("continue", to_string=True)
    assert made.execute("x/2xw region#8", to_string=True) == "region#0x8:\t0x00001234\t0x00000000\n"
    made.execute("set var *(int *) region#12 = 85", to_string=True)
    assert shown(made, "*(int (*)[2]) region#8") == "{4660, 85}"
    assert made.execute("find (int *) region#0, +64, 85", to_string=True) == "region#0xc\n1 pattern found.\n"
    made.execute(f"dump binary memory {tmp_path / 'part'} region#8 region#16", to_string=True)
    made.execute(f"restore {tmp_path / 'part'} binary region#32", to_string=True)
    assert shown(made, "*(int *) region#36") == "85"
    with pytest.raises(Error, match="Cannot access memory at address region#0x20000"):
        made.execute("print *(int *) region#0x20000")


STATICS = """struct S {
    static const int width = 42;
    static constexpr float scale = 2.5f;
    static const long big = -7000000000;
    int x;
};
template<int N> struct T { static const int size = N; static constexpr short unused = -N; int y; };
__attribute__((global)) void k(int *out) { S s; T<3> t; s.x = S::width; out[0] = s.x + T<3>::size + (int) sizeof(t); }
"""


@pytest.mark.parametrize("version", ("-gdwarf-4", "-gdwarf-5"))
def test_constants_of_classes_are_found_by_every_name(version: str, tmp_path: Path) -> None:
    (tmp_path / "s.hip").write_text(STATICS)
    command = ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx90a"]
    command += ["-O0", version, "--no-gpu-bundle-output", "s.hip", "-o", "s.co"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=60)
    session = Session()
    session.load(tmp_path / "s.co")
    session.launch.set_grid("1")
    session.launch.set_workgroup("1")
    session.launch.set_argument(0, "i32[1]:zeros")
    session.break_at("k", condition="s.width == 42 && S::scale == 2.5")
    assert session.run().reason is StopReason.BREAKPOINT
    data = session.data
    texts = ("S::width", "s.width", "s.scale", "S::big", "sizeof(S::width)", "s.width * 2")
    assert [data.format(data.evaluate(text)) for text in texts] == ["42", "42", "2.5", "-7000000000", "4", "84"]
    texts = ("T<3>::size", "T<3>::unused", "t.unused")  # of the unused one the compiler keeps the declaration only
    assert [data.format(data.evaluate(text)) for text in texts] == ["3", "<optimized out>", "<optimized out>"]
