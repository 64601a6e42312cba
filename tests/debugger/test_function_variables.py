"""``function::variable`` and ``'file'::variable``: static variables have a value everywhere, others only in their
frame.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.debugger import Session
from rocdbg.errors import Error

pytestmark = pytest.mark.llvm
Compile = Callable[..., Path]

STATIC = {
    "helper::inner": "12",
    "'helper'::inner": "12",
    "'helper(int)'::inner": "12",
    "'traps.hip'::hidden": "21",
    "'traps.hip'::helper(int)::inner": "12",
    "sizeof(helper::tally)": "16",
}


def show(session: Session, text: str) -> str:
    try:
        return session.data.format(session.data.evaluate(text))
    except Error as error:
        return str(error)


def start(path: Path, kernel: str) -> Session:
    session = Session()
    session.load(path)
    session.launch.set_kernel(kernel)
    session.launch.set_grid("64")
    session.launch.set_workgroup("64")
    session.launch.set_dynamic_lds(256)
    session.launch.set_argument(0, "i32[64]:zeros")
    session.launch.set_argument(1, "7")
    return session


def test_without_a_running_program(compiled: Compile) -> None:
    session = start(compiled("traps.hip"), "kern")
    assert {text: show(session, text) for text in STATIC} == STATIC
    assert show(session, "helper::n") == "No frame is currently executing in block helper(int)."
    assert show(session, "helper::nothing") == 'No symbol "nothing" in specified context.'


def test_from_another_frame(compiled: Compile) -> None:
    session = start(compiled("traps.hip"), "kern")
    session.run()
    assert session.focus.frame().name == "check"
    assert {text: show(session, text) for text in STATIC} == STATIC
    assert show(session, "helper::inner = 30") == "30"
    assert show(session, "helper::inner") == "30"
    assert show(session, "helper::n") == "No frame is currently executing in block helper(int)."


def test_lds_of_a_function_that_several_kernels_call(compiled: Compile) -> None:
    for kernel in ("kern", "other"):
        session = start(compiled("traps.hip"), kernel)
        session.break_at("traps.hip:15")
        session.run()
        while session.focus.frame().name != "helper":
            session.running.proceed()  # debug traps
        n = 7 if kernel == "kern" else 0
        assert show(session, "&tally") == "(int (*)[4]) local#0x0"
        assert show(session, "tally[n & 3]") == str(n + 60)  # of the lanes with the same n & 3 the last one


def test_the_name_of_dynamic_lds(compiled: Compile, tmp_path: Path) -> None:
    session = start(compiled("traps.hip"), "other")
    session.break_at("other")
    session.run()
    begin = "*(int *) local#0x10"  # after helper's tally
    assert show(session, "dynamic") == (
        'No symbol "dynamic" in current context.  If it is dynamic LDS (extern __shared__ in HIP), which has no debug '
        f"information, use the address at which dynamic LDS begins: {begin}."
    )
    assert show(session, begin) == "0"
    source, path = tmp_path / "local.cl", tmp_path / "local.co"
    source.write_text("kernel void k(global int *o, local int *tile) { tile[0] = 5; *o = tile[0]; }")
    command = ["clang-22", "-x", "cl", "-g", "-O0", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib"]
    subprocess.run([*command, str(source), "-o", str(path)], check=True)
    session = Session()
    session.load(path)
    session.launch.set_grid("1")
    session.launch.set_argument(0, "i32[1]:zeros")
    session.launch.set_argument(1, "local[256]")
    session.break_at("k")
    session.run()
    assert show(session, "tile") == "(int *) local#0x0"  # OpenCL names it: another name is not dynamic LDS
    assert show(session, "dynamic") == 'No symbol "dynamic" in current context.'
