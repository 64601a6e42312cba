"""Evaluation step by step."""

from __future__ import annotations

from rocdbg import dwarf
from rocdbg.dwarf.operation_assembler import assemble


def lines(explanation: dwarf.Explanation) -> list[str]:
    return [
        f"{'  ' * step.level}{step.operation.name}: {', '.join(step.before) or '-'} -> "
        + ("failed" if step.after is None else ", ".join(step.after) or "-")
        for step in explanation.steps
    ]


def context() -> dwarf.SimpleContext:
    return dwarf.SimpleContext(
        lane=5,
        registers={2560: bytes(256), 40: bytes(4)},
        entry_registers={40: b"\x07\0\0\0"},
        dies={0x10: assemble("lit4", "mul")},
    )


def test_each_step_shows_the_stack_before_and_after() -> None:
    data = assemble(("regx", 2560), "push_lane", ("call4", 0x10), "offset")
    explanation = dwarf.explain(data, context(), "location")
    assert lines(explanation) == [
        "DW_OP_regx: - -> register v0",
        "DW_OP_LLVM_push_lane: register v0 -> register v0, 0x5",
        "DW_OP_call4: register v0, 0x5 -> register v0, 0x14",
        "  DW_OP_lit4: register v0, 0x5 -> register v0, 0x5, 0x4",
        "  DW_OP_mul: register v0, 0x5, 0x4 -> register v0, 0x14",
        "DW_OP_LLVM_offset: register v0, 0x14 -> register v0, bit 160",
    ]
    assert explanation.error is None
    assert isinstance(explanation.result, dwarf.LocationDescription)
    assert explanation.result.describe() == "register v0, bit 160"


def test_an_error_ends_the_steps() -> None:
    explanation = dwarf.explain(assemble(("piece", 4), "dup"), context())
    assert lines(explanation) == [
        "DW_OP_piece: - -> incomplete composite of 32 bits in 1 part",
        "DW_OP_dup: incomplete composite of 32 bits in 1 part -> failed",
    ]
    assert isinstance(explanation.error, dwarf.IllFormed)
    assert explanation.result is None


def test_explaining_gives_the_same_result_for_rules_on_the_last_operation() -> None:
    data = assemble(("entry_value", assemble(("regx", 40))))
    explanation = dwarf.explain(data, context())
    assert explanation.error is None
    assert explanation.result == dwarf.evaluate(data, context())
    assert lines(explanation)[1] == "  DW_OP_regx: - -> implicit value 0x7 of 4 bytes"
