"""``private_lane<N>#ADDRESS``: the private memory of lane N, regardless of the lane in focus, in all commands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import rocdbg

SPACES = Path(__file__).resolve().parents[2] / "demo_kernels/spaces/spaces.toml"
HOPS = 0x50
"""The address of the kernel's `hops` in each lane's memory."""

CASES = [
    (f"print *(int *) private_lane9#{HOPS:#x}", " = 9"),
    (f"x/dw private_lane63#{HOPS:#x}", "private_lane63#0x50:\t63"),
    (f"x/dw private_lane#{HOPS:#x}", "private_lane#0x50:\t7"),
    ("print private_lane9#0x3c", " = (void *) private_lane9#0x3c"),
    ("print (int *) private_lane9#0x10 + 1", " = (int *) private_lane9#0x14"),
    ("ptype private_lane9#0", "type = void *"),
    ("output private_lane9#4", "(void *) private_lane9#0x4"),
    (f"print -elements 2 -- *(int *) private_lane9#{HOPS:#x}@1", " = {9}"),
    ("print private_lane9#0xffffffff == 0", "true"),
    ("print !private_lane9#0", "false"),
    (f"find /w private_lane9#{HOPS:#x}, +4, 9", "private_lane9#0x50\n1 pattern found."),
    (f"find /w private_lane8#{HOPS:#x}, +4, 9", "Pattern not found."),
    (f"watch -l *(int *) private_lane9#{HOPS:#x}", "atchpoint 2: -location *(int *) private_lane9#0x50"),
]


@pytest.fixture(scope="module")
def stopped() -> Iterator[rocdbg.Debugger]:
    debugger = rocdbg.Debugger(SPACES)
    for command in ("break 45", "run", "lane 7"):
        debugger.execute(command, to_string=True)
    for lane in range(64):
        debugger.execute(f"set var *(int *) private_lane{lane}#{HOPS:#x} = {lane}", to_string=True)
    yield debugger
    debugger.execute("kill", to_string=True)


@pytest.mark.parametrize(("command", "answer"), CASES, ids=[case[0] for case in CASES])
def test_commands(command: str, answer: str, stopped: rocdbg.Debugger) -> None:
    shown = stopped.execute(command, to_string=True).strip()
    assert answer in shown


def test_it_is_the_variable_of_that_lane(stopped: rocdbg.Debugger) -> None:
    for lane in (0, 9, 63):
        stopped.execute(f"lane {lane}", to_string=True)
        assert stopped.execute("print hops", to_string=True).endswith(f"= {lane}\n")
    stopped.execute("lane 7", to_string=True)


def test_dump(stopped: rocdbg.Debugger, tmp_path: Path) -> None:
    file = tmp_path / "lane9.bin"
    stopped.execute(f"dump memory {file} private_lane9#{HOPS} private_lane9#{HOPS + 4}", to_string=True)
    assert file.read_bytes() == bytes((9, 0, 0, 0))


@pytest.mark.parametrize("name", ["private_lane64#0", "private_lane#", "private_lane-1#0", "private_lane09#0"])
def test_what_is_no_space(name: str, stopped: rocdbg.Debugger) -> None:
    with pytest.raises(rocdbg.Error):
        stopped.execute(f"print {name}", to_string=True)
