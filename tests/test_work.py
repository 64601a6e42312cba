"""The token that long work checks: who is asked, what is counted, and threads that end when the process leaves."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocdbg import llvmdi, work
from rocdbg.api import launch_file
from rocdbg.llvmdi.errors import LoweringError
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import StopKind
from rocdbg.sim.device.dispatch import Dispatch
from rocdbg.sim.engine import translations
from rocdbg.sim.engine.native_jit import Jit
from rocdbg.sim.engine.translation_cache import default_cache_directory


def test_work_ends_where_it_is_asked_to() -> None:
    done = []
    with pytest.raises(work.Stopped), work.asking(lambda: len(done) == 3):
        for number in range(10):
            work.unit()
            done.append(number)
    assert done == [0, 1, 2]
    work.unit()  # nobody asks any more


def test_the_outer_one_asks_too_and_other_threads_are_not_concerned() -> None:
    seen: list[str] = []

    def other() -> None:
        work.unit()
        seen.append("other")

    with work.asking(lambda: True):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        with work.asking(lambda: False), pytest.raises(work.Stopped):
            work.unit()
    assert seen == ["other"]


def test_what_is_under_way_is_shown() -> None:
    with work.doing("reading units", 40):
        work.unit(3)
        task = work.shown()
        assert task is not None
        assert task.text == "reading units: 3 of 40"
        with work.doing("translating code"):
            inner = work.shown()
            assert inner is not None
            assert inner.text == "translating code: 0"
        assert work.shown() is task
    assert work.shown() is None


LEAVES = """
import sys, time
from rocdbg import work

def body():
    while True:
        time.sleep(0.001)
        {look}

def ended(thread):
    print(thread.name, flush=True)

work.when_leaving(lambda: print("asked", flush=True))
thread = work.start(body, "busy", ended)
sys.exit(7)
"""


def test_a_process_that_leaves_waits_for_its_threads() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LEAVES.format(look="work.unit()")], capture_output=True, text=True, timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (7, "busy\nasked\n", "")


def fragments(count: int) -> str:
    """A module whose fragments are retained by its only subprogram."""
    lines = ['!3 = distinct !DISubprogram(name: "f", retainedNodes: !4)', '!1 = !DIBasicType(name: "int", size: 32)']
    for i in range(count):
        lines += [
            f'!{4 * i + 10} = !DILocalVariable(name: "x{i}", scope: !3, type: !1)',
            f"!{4 * i + 11} = distinct !DIFragment()",
            f"!{4 * i + 12} = distinct !DILifetime(object: !{4 * i + 10}, location: !DIExpr(DIOpArg(0, i32)), "
            f"argObjects: {{!{4 * i + 11}}})",
            f"!{4 * i + 13} = distinct !DILifetime(object: !{4 * i + 11}, location: !DIExpr(DIOpConstant(i32 {i})))",
        ]
    kept = ", ".join(f"!{4 * i + k}" for i in range(count) for k in (10, 12, 13))
    return "\n".join([*lines, f"!4 = !{{{kept}}}"])


def calls_of(action: Callable[[], object]) -> int:
    """The number of functions (Python's and C's) that an action calls. It measures work, and is the same on every
    machine.
    """
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


INTERRUPTED_BEFORE_A_START = """
import threading
from rocdbg import work
def interrupt(thread): raise KeyboardInterrupt
threads = []
try:
    work.start(lambda: None, "a", lambda thread: (threads.append(thread), interrupt(thread)))
except KeyboardInterrupt:
    print("interrupted")
work.join(threads[0], 1)
work.leave()
print("left")
"""


def test_a_thread_that_never_started_is_not_waited_for() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED_BEFORE_A_START], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("interrupted\nleft\n", "")


def test_checking_and_lowering_grow_with_the_fragments() -> None:
    def both(text: str) -> None:
        module = llvmdi.read_text(text)
        assert not [finding for finding in llvmdi.check(module) if not finding.is_note]
        llvmdi.lower(llvmdi.DebugInfo(module), llvmdi.Placement({}))

    both(fragments(2))
    calls, units = [], []
    for count in (10, 40, 160):
        before = work.units()
        calls.append(calls_of(lambda: both(fragments(count))))  # noqa: B023
        units.append(work.units() - before)
    assert units[1] < 5 * units[0]
    assert units[2] < 5 * units[1]
    assert calls[2] < 5 * calls[1]


def test_checking_is_interrupted() -> None:
    module = llvmdi.read_text(fragments(20))
    with pytest.raises(work.Stopped), work.asking(lambda: True):
        llvmdi.check(module)


def chain(count: int) -> str:
    """Fragments, each of which is the previous one."""
    lines = [
        '!1 = !DIBasicType(name: "int", size: 32)', '!0 = distinct !DIGlobalVariable(name: "x", type: !1)',
        "!9 = distinct !DILifetime(object: !0, location: !DIExpr(DIOpArg(0, i32)), argObjects: {!100})",
    ]
    for i in range(count):
        inner = f"DIOpArg(0, i32)), argObjects: {{!{102 + 2 * i}}}" if i < count - 1 else "DIOpConstant(i32 7))"
        lines += [
            f"!{100 + 2 * i} = distinct !DIFragment()",
            f"!{101 + 2 * i} = distinct !DILifetime(object: !{100 + 2 * i}, location: !DIExpr({inner})",
        ]
    return "\n".join(lines)


@pytest.mark.parametrize("count", [31, 32, 33, 34, 70, 2000])
def test_chains_of_fragments_are_lowered(count: int) -> None:
    lowered = llvmdi.lower(llvmdi.DebugInfo(llvmdi.read_text(chain(count))), llvmdi.Placement({}))
    assert [entry.trouble for entry in lowered.entries] == [None] * len(lowered.entries)
    assert lowered.entry("x").content is not None


@pytest.mark.parametrize("type", ["<4294967295 x i32>", "[4294967295 x i8]", "<40000 x i32>", "i8388608"])
def test_constants_larger_than_their_text_are_refused(type: str) -> None:
    value = "7" if type[0] == "i" else "zeroinitializer"
    text = f"""!1 = !DIBasicType(name: "int", size: 32)
!0 = distinct !DIGlobalVariable(name: "x", type: !1)
!9 = distinct !DILifetime(object: !0, location: !DIExpr(DIOpConstant({type} {value})))
"""
    trouble = llvmdi.lower(llvmdi.DebugInfo(llvmdi.read_text(text)), llvmdi.Placement({})).entry("x").trouble
    assert isinstance(trouble, LoweringError)
    assert "bits; the limit is 1048576" in str(trouble)


SAXPY = Path(__file__).resolve().parent.parent / "demo_kernels" / "saxpy" / "saxpy.toml"


def run_saxpy(interrupt: Callable[[Dispatch], None] = lambda dispatch: None) -> tuple[list[StopKind], int, list[bytes]]:
    """Run it to its end: its stops, instructions, and all memory."""
    dispatch = launch_file(SAXPY, arch="gfx90a").launch.dispatch
    interrupt(dispatch)
    kinds = []
    while not dispatch.finished:
        kinds.append(dispatch.run(RunOptions()).kind)
    return kinds, dispatch.instructions, [each.data.tobytes() for each in dispatch.memory.allocations]


def test_translation_is_interrupted_before_each_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dispatch that should stop while its code is translated stops there, and continues to the same end."""
    straight = run_saxpy()
    jit = Jit(default_cache_directory())
    monkeypatch.setattr(translations, "shared_jit", lambda cache: jit)
    load, seen = jit.load, set[str]()

    def interrupt(dispatch: Dispatch) -> None:
        def interrupted_load(key: str, *rest: Any) -> bytes:
            if key not in seen:
                seen.add(key)
                dispatch.interrupt()
            return load(key, *rest)

        monkeypatch.setattr(jit, "load", interrupted_load)

    kinds, instructions, memory = run_saxpy(interrupt)
    assert kinds == [*[StopKind.INTERRUPTED] * (len(kinds) - 1), StopKind.DONE]
    assert len(kinds) > 3
    assert (instructions, memory) == straight[1:]


def test_who_is_stopped_leaves_the_compiler_to_a_large_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module is ready when it is requested again, compiled once."""
    jit = Jit(None)
    compiling, go_on = threading.Event(), threading.Event()

    def compile(text: str, optimised: bool) -> bytes:
        compiling.set()
        assert go_on.wait(60)
        jit.compiled += 1
        return b""

    monkeypatch.setattr(jit, "compile", compile)
    text = "; a comment\n" * 20_000
    with pytest.raises(work.Stopped), work.asking(compiling.is_set):
        jit.load("key", lambda: (text, b"note"))
    go_on.set()
    assert jit.load("key", lambda: pytest.fail("it was made")) == b"note"
    assert jit.compiled == 1
