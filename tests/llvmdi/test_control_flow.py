"""The instructions reached along control flow, compared with a walk instruction by instruction."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rocdbg import llvmdi
from rocdbg.llvmdi.function_flow import ControlFlow


@st.composite
def flows(draw: st.DrawFn) -> ControlFlow:
    """A function of some blocks with up to three instructions before a branch, a return, or nothing."""
    count = draw(st.integers(1, 7))
    lines = ["define void @f(i1 %c) {"]
    for number in range(count):
        lines.append(f"b{number}:")
        lines += ["  nop"] * draw(st.integers(0, 3))
        targets = draw(st.lists(st.integers(0, count - 1), max_size=2))
        if len(targets) == 2:
            lines.append(f"  br i1 %c, label %b{targets[0]}, label %b{targets[1]}")
        elif targets:
            lines.append(f"  br label %b{targets[0]}")
        elif draw(st.booleans()):
            lines.append("  ret void")
        else:
            lines.append("  nop")  # continues at the next block
    return ControlFlow(llvmdi.read_text("\n".join([*lines, "}"])).functions["@f"])


def following(flow: ControlFlow, index: int) -> list[int]:
    block = flow.block_of(index)
    if index + 1 < flow.ends[block]:
        return [index + 1]
    return [flow.starts[successor] for successor in flow.successors[block]]


@settings(max_examples=150)
@given(data=st.data(), flow=flows())
def test_reach(data: st.DataObject, flow: ControlFlow) -> None:
    count = len(flow.instructions)
    start = data.draw(st.integers(0, count - 1))
    ends = data.draw(st.sets(st.integers(0, count - 1), max_size=3))
    passed: set[int] = set()
    met: set[int] = set()
    pending = following(flow, start)
    while pending:
        index = pending.pop()
        if index in ends:
            met.add(index)
        elif index not in passed:
            passed.add(index)
            pending += following(flow, index)
    reach = flow.reach(start, ends)
    assert {index for first, last in reach.ranges for index in range(first, last)} == passed
    assert reach.ends == met
    assert list(reach.ranges) == sorted(reach.ranges)
