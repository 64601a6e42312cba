"""Code loaded at other addresses than those of its file: the values to which the evaluator adds the load bias."""

from __future__ import annotations

import pytest

from rocdbg import dwarf
from rocdbg.dwarf.context import DieContent, load_bias
from rocdbg.dwarf.expression_text import format_operation
from rocdbg.dwarf.operation_assembler import assemble

BIAS = 0x7F00_0000_0000
GLOBAL = assemble(("addr", 0x2000))
LIST = dwarf.LocationList([(0x1000, 0x1010, assemble("lit1")), (0x1010, 0x1020, GLOBAL)])
DIES: dict[int, DieContent] = {0x20: GLOBAL, 0x21: LIST}


def context(bias: int) -> dwarf.SimpleContext:
    return dwarf.SimpleContext(pc=bias + 0x1010, load_bias=bias, dies=DIES, debug_addr=[0x3000], frame_base=GLOBAL)


@pytest.mark.parametrize(
    ("what", "file_address"),
    [
        pytest.param(GLOBAL, 0x2000, id="addr"),
        pytest.param(assemble(("addr", 0x2000), ("offset_uconst", 8)), 0x2008, id="moved"),
        pytest.param(LIST, 0x2000, id="the range of a list that holds"),
        pytest.param(assemble(("call4", 0x20)), 0x2000, id="called"),
        pytest.param(assemble(("call4", 0x21)), 0x2000, id="a list that is called"),
        pytest.param(assemble(("fbreg", 4)), 0x2004, id="frame base"),
    ],
)
@pytest.mark.parametrize("bias", [0, BIAS])
def test_addresses_in_debug_information_are_moved(
    what: bytes | dwarf.LocationList, file_address: int, bias: int
) -> None:
    place = dwarf.evaluate_location(what, context(bias)).memory
    assert place is not None
    assert place.address == bias + file_address


def test_what_the_context_itself_gives_is_as_loaded() -> None:
    place = dwarf.evaluate_location(assemble(("addrx", 0)), context(BIAS)).memory
    assert place is not None
    assert place.address == 0x3000


def test_a_context_that_says_nothing_has_addresses_as_loaded() -> None:
    silent = context(0)
    del silent.load_bias
    assert load_bias(silent) == 0
    assert dwarf.evaluate_location(GLOBAL, silent).describe() == "memory at 0x2000"


@pytest.mark.parametrize(
    ("bias", "texts"),
    [
        (None, ["DW_OP_addr 0x7f0000002000", "DW_OP_call4 0x20", "DW_OP_addr 0x7f0000002000"]),
        (0, ["DW_OP_addr 0x2000", "DW_OP_call4 0x20", "DW_OP_addr 0x7f0000002000"]),
    ],
)
def test_an_expression_written_with_loaded_addresses_is_explained(bias: int | None, texts: list[str]) -> None:
    """Only its own addresses are loaded addresses, not those of expressions that it calls."""
    told = dwarf.explain(GLOBAL + assemble(("call4", 0x20)), context(BIAS), "location", load_bias=bias)
    assert [format_operation(step.operation, load_bias=step.load_bias) for step in told.steps] == texts
    own, called = (told.steps[index].after for index in (0, 2))
    assert own == (f"memory at {texts[0].split()[1]}",)
    assert called == (*own, "memory at 0x7f0000002000")


def test_rules_are_found_at_the_address_of_the_file() -> None:
    return_address_in_vcc = bytes([0x09, 16]) + b"\x80\x06"
    entry = b"\xff" * 4 + b"\x04[amd:v0.0]\0\x08\0\x04\x04\x10" + return_address_in_vcc
    then_undefined = bytes([0x02, 16, 0x07, 16])  # 16 instructions on
    code = bytes(4) + (0x1000).to_bytes(8, "little") + (0x100).to_bytes(8, "little") + then_undefined
    frames = dwarf.parse_frames(b"".join(len(body).to_bytes(4, "little") + body for body in (entry, code)))
    registers = {768: (BIAS + 0x1081).to_bytes(8, "little")}
    caller = frames.unwind(dwarf.SimpleContext(pc=BIAS + 0x1010, load_bias=BIAS, registers=registers))
    assert caller is not None
    assert (caller.pc, caller.load_bias) == (BIAS + 0x1080, BIAS)
    assert "undefined" in caller.entry_register_location(16).describe()  # by the rules at 0x1080
