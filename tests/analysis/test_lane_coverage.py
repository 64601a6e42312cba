"""Random structured code is run lane by lane: where no gap is reported, active lanes must hold the described values."""

from __future__ import annotations

import random

import pytest

from rocdbg.analysis import followed_masks
from rocdbg.analysis.control_flow import FunctionCode
from rocdbg.analysis.lane_coverage import LaneCoverage
from rocdbg.analysis.register_effects import BY_CONVENTION, Machine
from rocdbg.analysis.saved_registers import analyse
from rocdbg.analysis.value_flow import VECTOR
from rocdbg.isa import assemble

TARGET = "gfx1030"
LANES = 6
EVERYONE = (1 << LANES) - 1
TEXT = {
    "compare": "v_cmp_gt_u32_e32 vcc_lo, 3, v9",
    "save": "s_and_saveexec_b32 s{0}, vcc_lo",
    "save if": "s_and_saveexec_b32 s{0}, s{1}",
    "others": "s_xor_b32 s{0}, exec_lo, s{0}",
    "turn": "s_andn2_saveexec_b32 s{0}, s{0}",
    "restore": "s_or_b32 exec_lo, exec_lo, s{0}",
    "clear": "s_mov_b32 s{0}, 0",
    "leave": "s_or_b32 s{0}, vcc_lo, s{0}",
    "stay": "s_andn2_b32 exec_lo, exec_lo, s{0}",
    "passed": "s_orn2_b32 s{0}, vcc_lo, exec_lo",
    "if none": "s_cbranch_execz {0}",
    "if some": "s_cbranch_execnz {0}",
    "write": "v_mov_b32 v{0}, v8",
    "end": "s_endpgm",
}
Code = list[tuple[str, list[int]]]
"""Operations with their operands: a label's number for branches and labels, else registers."""


class Writer:
    """Writes code with LLVM's structure, with and without jumps around code that no lane executes."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.code: Code = []
        self.labels = 0

    def add(self, name: str, *operands: int) -> None:
        self.code.append((name, list(operands)))

    def label(self) -> int:
        self.labels += 1
        return self.labels

    def statements(self, depth: int) -> None:
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.choice(("write", "if", "else", "loop", "rest") if depth < 3 else ("write",))
            if kind == "write":
                self.add("write", self.random.choice((1, 1, 2)))
            else:
                getattr(self, f"{kind}_")(depth + 1, 4 + 2 * depth)

    def region(self, depth: int) -> None:
        """Statements with a jump around them, unless they are few and contain no jump themselves. LLVM does the same,
        because it would otherwise execute the exits of loops without any active lane.
        """
        start, label = len(self.code), self.label()
        self.statements(depth)
        inside = self.code[start:]
        if self.random.random() < 0.5 or any(name.startswith("if ") for name, _ in inside):
            self.code.insert(start, ("if none", [label]))
        self.add("label", label)

    def if_(self, depth: int, mask: int) -> None:
        self.add("compare")
        self.add("save", mask)
        self.region(depth)
        self.add("restore", mask)

    def else_(self, depth: int, mask: int) -> None:
        self.add("compare")
        self.add("save", mask)
        self.add("others", mask)
        self.region(depth)
        self.add("turn", mask)
        self.region(depth)
        self.add("restore", mask)

    def loop_(self, depth: int, mask: int) -> None:
        self.add("clear", mask)
        head = self.label()
        self.add("label", head)
        self.statements(depth)
        self.add("compare")
        self.add("leave", mask)
        self.add("stay", mask)
        self.add("if some", head)
        self.add("restore", mask)

    def rest_(self, depth: int, mask: int) -> None:
        """Only lanes that do not leave an unrolled loop continue."""
        self.add("compare")
        self.add("save", mask)
        self.add("compare")
        self.add("passed", mask + 1)
        self.add("restore", mask)
        self.add("save if", mask, mask + 1)
        self.region(depth)
        self.add("restore", mask)


def addresses(code: Code) -> tuple[bytes, list[int]]:
    """The machine code, and the address at which each operation begins."""
    sizes = [0 if name == "label" else len(assemble(TEXT[name].format(*to), TARGET)) for name, to in code]
    starts = [sum(sizes[:index]) for index in range(len(code))]
    labels = {to[0]: start for (name, to), start in zip(code, starts, strict=True) if name == "label"}
    data = b""
    for (name, to), start in zip(code, starts, strict=True):
        if name.startswith("if "):
            to = [(labels[to[0]] - start - 4) // 4]
        data += b"" if name == "label" else assemble(TEXT[name].format(*to), TARGET)
    return data, starts


def passed(code: Code, chance: random.Random) -> list[tuple[int, int, list[int]]]:
    """Execution with random comparisons: for each operation that is reached, its index, EXEC, and the operation that
    last wrote v1 in each lane.
    """
    labels = {to[0]: index for index, (name, to) in enumerate(code) if name == "label"}
    mask, vcc, scalars, writers = EVERYONE, 0, [0] * 64, [-1] * LANES
    index, found = 0, list[tuple[int, int, list[int]]]()
    while len(found) < 400:
        name, to = code[index]
        found.append((index, mask, list(writers)))
        index += 1
        match name:
            case "compare":
                vcc = chance.randrange(EVERYONE + 1) & mask
            case "save" | "save if":
                chosen = vcc if name == "save" else scalars[to[1]]
                scalars[to[0]], mask = mask, mask & chosen
            case "others":
                scalars[to[0]] ^= mask
            case "turn":
                scalars[to[0]], mask = mask, scalars[to[0]] & ~mask
            case "restore":
                mask |= scalars[to[0]]
            case "clear":
                scalars[to[0]] = 0
            case "leave":
                scalars[to[0]] |= vcc
            case "stay":
                mask &= ~scalars[to[0]]
            case "passed":
                scalars[to[0]] = (vcc | ~mask) & EVERYONE
            case "write" if to[0] == 1:
                writers = [index - 1 if mask >> lane & 1 else old for lane, old in enumerate(writers)]
            case "if none" | "if some":
                index = labels[to[0]] if (mask == 0) == (name == "if none") else index
            case "end":
                break
    return found


# (code, the operations after which all lanes are surely together)
TOGETHER: list[tuple[Code, list[int]]] = [
    ([("compare", []), ("save", [4]), ("if none", [1]), ("write", [1]), ("label", [1]), ("restore", [4]), ("end", [])],
     [5]),
    ([("compare", []), ("save", [4]), ("if none", [1]), ("write", [1]), ("label", [1]), ("restore", [4]),
      ("compare", []), ("save", [4]), ("write", [1]), ("restore", [4]), ("end", [])], [5]),
    # regions that begin in the block itself do not show that nothing is around them
    ([("save", [4]), ("save", [6]), ("restore", [6]), ("save", [6]), ("restore", [6]), ("restore", [4]), ("end", [])],
     []),
    ([("compare", []), ("save", [4]), ("if none", [1]), ("write", [1]), ("label", [1]), ("restore", [6]),
      ("save", [8]), ("restore", [8]), ("restore", [4]), ("end", [])], [8]),
]


@pytest.mark.parametrize(("code", "expected"), TOGETHER)
def test_where_all_lanes_are_together(code: Code, expected: list[int]) -> None:
    data, starts = addresses(code)
    function = FunctionCode(0, len(data), is_kernel=True)
    analysis = analyse(function, data, TARGET, Machine(32, False, lambda address: BY_CONVENTION))
    assert sorted(analysis.rejoins) == [starts[index] for index in expected]


LIMITS = {"exact": ((400, 24), (40_000, 150_000)), "coarse": ((400, 4), (0, 150_000))}


@pytest.mark.parametrize("limits", LIMITS)
def test_lanes_have_what_is_described(limits: str, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes, in_all = LIMITS[limits]
    monkeypatch.setattr(followed_masks, "_MOST_NODES", nodes)
    monkeypatch.setattr(followed_masks, "_MOST_IN_ALL", in_all)
    known = described = 0
    for seed in range(22):
        writer = Writer(seed)
        writer.statements(0)
        writer.add("end")
        code = writer.code
        data, starts = addresses(code)
        writes = [index for index, (name, to) in enumerate(code) if (name, to) == ("write", [1])]
        begun = [write for write in writes if code[write + 1][0] != "label"]  # elsewhere all lanes that join get it
        if not begun or len(code) > 60:
            continue
        analysis = analyse(
            FunctionCode(0, len(data), is_kernel=True), data, TARGET,
            Machine(32, False, lambda address: BY_CONVENTION),
        )
        coverage = LaneCoverage(analysis)
        chosen = writer.random.sample(begun, min(len(begun), 2))
        ends = [writer.random.choice(starts[write + 1 :]) for write in chosen]
        extents = list[tuple[int, int]]()
        for begin, end in sorted((starts[write + 1], end) for write, end in zip(chosen, ends, strict=True)):
            if begin < end and not (extents and begin < extents[-1][1]):
                extents.append((begin, end))
        gaps = coverage.gaps(extents, {VECTOR + 1}).active
        inside = {start for start in starts if any(low <= start < high for low, high in extents)}
        fitting = {write for write in writes if starts[write] in inside or starts[write + 1] in inside}
        described += len(inside)
        known += len(inside - gaps)
        for run in range(8):
            for index, mask, writers in passed(code, random.Random(1000 * seed + run)):
                if code[index][0] != "label" and starts[index] in inside - gaps:
                    have = [writers[lane] in fitting for lane in range(LANES) if mask >> lane & 1]
                    assert all(have), (seed, hex(starts[index]), [hex(low) for low, _ in extents])
    assert known > described // 3
