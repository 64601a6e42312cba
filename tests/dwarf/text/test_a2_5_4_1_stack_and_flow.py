"""A.2.5.4.1 stack operations and A.2.5.4.2 control flow operations."""

# ruff: noqa: E501  (a case is a line)
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rocdbg.dwarf import ConstValue
from rocdbg.dwarf.operation_table import DIALECTS

INCOMPLETE = "regx 32; piece 4"
LEAF = {"leaf": "lit7"}

CASES: list[tuple[Any, ...]] = [
    # A.2.5.4.1
    ("dup a value", "lit5; dup; plus", "0xa"),
    ("dup a location", "regx 32; dup; drop", "reg32"),
    ("dup of nothing", "dup", "ill-formed"),
    ("drop", "lit1; lit2; drop", "0x1"),
    ("drop of nothing", "drop", "ill-formed"),
    ("pick 0 is dup", "lit1; lit2; pick 0; plus", "0x4"),
    ("pick 2", "lit1; lit2; lit3; pick 2", "0x1"),
    ("pick a location", "regx 32; lit2; lit3; pick 2", "reg32"),
    ("pick beyond the stack", "lit1; lit2; pick 2", "ill-formed"),
    ("over is pick 1", "lit17; lit1; over", "0x11"),
    ("over with one entry", "lit1; over", "ill-formed"),
    ("swap", "lit1; lit2; swap; minus", "0x1"),
    ("swap value and location", "lit2; regx 32; swap; offset", "reg32+16"),
    ("swap with one entry", "lit1; swap", "ill-formed"),
    ("rot: the top becomes the third", "lit1; lit2; lit3; rot; drop; drop", "0x3"),
    ("rot: the second becomes the top", "lit1; lit2; lit3; rot", "0x2"),
    ("rot: the third becomes the second", "lit1; lit2; lit3; rot; drop", "0x1"),
    ("rot with two entries", "lit1; lit2; rot", "ill-formed"),
    *((f"{op} of an incomplete composite is ill-formed", f"lit1; {INCOMPLETE}; {op}", "ill-formed")
      for op in ("dup", "drop", "pick 0", "swap")),
    ("over of an incomplete composite is ill-formed", f"{INCOMPLETE}; lit1; over", "ill-formed"),
    ("over above one that it does not access", f"{INCOMPLETE}; lit1; lit2; over", "0x1"),
    ("pick above one that it does not access", f"{INCOMPLETE}; lit1; pick 0", "0x1"),
    ("pick of one below", f"{INCOMPLETE}; lit1; pick 1", "ill-formed"),
    ("swap with one below", f"{INCOMPLETE}; lit1; swap", "ill-formed"),
    ("rot with one at the third place", f"{INCOMPLETE}; lit1; lit2; rot", "ill-formed"),
    ("drop above one", f"{INCOMPLETE}; lit1; drop", "composite {32: 2}"),
    ("stack operations take complete ones", f"{INCOMPLETE}; piece_end; dup; drop", "composite {32: 2}"),
    # A.2.5.4.2: nop and comparisons
    ("nop", "lit4; nop", "0x4"),
    *((f"{op} of {a} and {b}", f"consts {a}; consts {b}; {op}", hex(result)) for op, a, b, result in [
        ("le", 1, 2, 1), ("le", 2, 2, 1), ("le", 3, 2, 0), ("ge", 1, 2, 0), ("ge", 2, 2, 1), ("eq", 2, 2, 1),
        ("eq", 2, 3, 0), ("lt", 1, 2, 1), ("lt", 2, 2, 0), ("gt", 3, 2, 1), ("gt", 2, 2, 0), ("ne", 1, 2, 1),
        ("ne", 2, 2, 0), ("lt", -1, 0, 1), ("gt", 0, -1, 1), ("le", -5, -6, 0), ("ge", -5, -6, 1)]),
    ("comparisons of typed values give the generic type", "lit1; convert s32; lit2; convert s32; lt", "0x1"),
    ("unsigned types compare unsigned", "consts -1; convert u32; lit1; convert u32; gt", "0x1"),
    ("signed types compare signed", "consts -1; convert s32; lit1; convert s32; lt", "0x1"),
    ("operands of different types", "lit1; convert s32; lit1; eq", "ill-formed"),
    ("addresses compare", "addr 0x1000; addrx 0; lt", "0x1"),
    # skip and bra
    ("skip forwards", "lit1; skip @end; lit2; end: nop", "0x1"),
    ("skip 0", "skip 0; lit3", "0x3"),
    ("skip to one past the end completes", "lit1; skip 1; lit2", "0x1"),
    ("skip past that is ill-formed", "lit1; skip 2; lit2", "ill-formed"),
    ("skip before the start is ill-formed", "lit1; skip -5", "ill-formed"),
    ("skip into an operation is ill-formed", "skip 1; const2u 0x3030", "ill-formed"),
    ("skip backwards", "skip @b; a: lit9; skip @end; b: skip @a; end: nop", "0x9"),
    ("an endless loop ends in an error", "a: skip @a", "error"),
    ("a loop that fills the stack ends in an error", "a: lit1; skip @a", "error"),
    ("bra taken", "lit1; lit1; bra @end; drop; lit2; end: nop", "0x1"),
    ("bra not taken", "lit1; lit0; bra @end; drop; lit2; end: nop", "0x2"),
    ("bra pops", "lit8; lit1; bra 0", "0x8"),
    ("bra not taken does not check where to", "lit8; lit0; bra 100", "0x8"),
    ("bra out of the expression", "lit8; lit1; bra 100", "ill-formed"),
    ("bra to one past the end", "lit8; lit1; bra 1; lit9", "0x8"),
    ("bra with an address", "lit8; addr 0x1000; bra @end; lit9; end: nop", "0x8"),
    ("bra with a register", "regx 32; bra 0", "ill-formed"),
    ("bra of nothing", "bra 0", "ill-formed"),
    ("bra with a typed zero", "lit8; lit0; convert s8; bra @end; lit9; end: nop", "0x9"),
    ("a counting loop", "lit0; lit10; a: swap; over; plus; swap; lit1; minus; dup; bra @a; drop", "0x37"),
    # DW_OP_call*: D has a DW_AT_location of class exprloc
    ("call2 leaves what the callee leaves", "call2 $leaf", "0x7", {"dies": LEAF}),
    ("call4", "call4 $leaf", "0x7", {"dies": LEAF}),
    ("call_ref", "call_ref $leaf", "0x7", {"dies": LEAF}),
    ("call_ref in 64-bit DWARF", "call_ref $leaf", "0x7", {"dies": LEAF, "offset_size": 8}),
    ("execution goes on behind the call", "call4 $leaf; lit1; plus", "0x8", {"dies": LEAF}),
    ("the callee sees and removes entries", "lit1; lit2; call4 $add", "0x3", {"dies": {"add": "plus"}}),
    ("the callee may leave several entries", "call4 $two; minus", "0x1", {"dies": {"two": "lit3; lit2"}}),
    ("the callee may leave none", "lit4; call4 $empty", "0x4", {"dies": {"empty": ""}}),
    ("calls nest", "call4 $b; lit1; plus", "0x9", {"dies": LEAF | {"b": "call4 $leaf; lit1; plus"}}),
    ("an incomplete composite passes a call", "regx 32; piece 4; call4 $p", "composite {32: 2, 32+32: 0x1002}",
     {"dies": {"p": "regx 33; piece 4"}}),
    ("a call does not complete a composite", "call4 $p; dup", "ill-formed", {"dies": {"p": "regx 33; piece 4"}}),
    ("a branch cannot leave the callee", "call4 $jump; lit1; lit2", "ill-formed", {"dies": {"jump": "skip 1"}}),
    ("the callee keeps the object", "call4 $object", "reg33", {"dies": {"object": "push_object_address"}, "object": "regx 33"}),
    ("the callee keeps the lane", "call4 $lane", "0x5", {"dies": {"lane": "push_lane"}}),
    ("endless recursion ends in an error", "call4 $self", "error", {"dies": {"self": "call4 $self"}}),
    ("an error in the callee is one", "call4 $bad", "error", {"dies": {"bad": "call_frame_cfa"}}),
    ("an ill-formed callee", "call4 $bad", "ill-formed", {"dies": {"bad": "drop"}}),
    # ... of class loclist
    ("a location list is evaluated by itself", "lit1; lit2; call4 $list", "reg32",
     {"dies": {"list": [(0x1000, 0x1004, "regx 32")]}}),
    ("its initial stack is empty", "lit1; lit2; call4 $list", "ill-formed", {"dies": {"list": [(0x1000, 0x1004, "plus")]}}),
    ("its result is a location", "call4 $list; stack_value", "implicit {8: 4}", {"dies": {"list": [(0x1000, 0x1004, "lit4")]}}),
    ("its result is one location only", "lit9; call4 $list; drop", "0x9", {"dies": {"list": [(0x1000, 0x1004, "lit3; lit4")]}}),
    ("several entries give several places", "call4 $list", "reg32 | reg33",
     {"dies": {"list": [(0x1000, 0x1004, "regx 32"), (0xFF0, 0x1001, "regx 33")]}}),
    ("no entry gives the undefined location", "call4 $list", "undefined", {"dies": {"list": [(0x1004, 0x1008, "regx 32")]}}),
    ("a list needs a program location", "call4 $list", "error", {"dies": {"list": [(0x1000, 0x1004, "lit4")]}, "pc": None}),
    ("the object is not passed on to a list", "call4 $list", "error",
     {"dies": {"list": [(0x1000, 0x1004, "push_object_address")]}, "object": "regx 32"}),
    # ... and a constant, or nothing
    ("a constant is an implicit value", "call4 $c", "implicit {32: 0x04030201}", {"dies": {"c": ConstValue(b"\1\2\3\4")}}),
    ("an entry that offers nothing has no effect", "lit6; call4 $n", "0x6", {"dies": {"n": None}}),
    ("a base type offers nothing", "lit6; call4 u32", "0x6"),
    ("there is no such entry", "call4 $nowhere", "ill-formed"),
    ("no compilation unit", "call4 $nowhere", "error", {"dies": None}),
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_the_text(case: tuple[Any, ...], dialect: str, check: Callable[..., None]) -> None:
    _, text, expected, *changes = case
    check(text, expected, dialect, *changes)

