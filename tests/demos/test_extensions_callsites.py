"""Entry values from call sites, a frame base in private memory, and the rules of the callee's frame, instruction by
instruction."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from rocdbg import dwarf
from rocdbg.arch.dwarf_registers import register_number
from rocdbg.debugger import Session
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.frames.frame_context import FrameContext, return_addr
from rocdbg.dwarf.cfi_rule_types import CfaRegister, ExpressionRule, OffsetRule, Rule, ValOffsetRule

WAVES = {"gfx90a": 64, "gfx1100": 32}
GROUP = 10
Open = Callable[..., Session]
Inputs = Callable[[str], NDArray[np.int32]]
targets = pytest.mark.parametrize("target", WAVES)


def innermost(session: Session, lane: int) -> FrameContext:
    return session.focus.frame(Focus(1, lane)).context


@targets
def test_every_instruction_of_the_callee(extension: Open, extension_input: Inputs, target: str) -> None:
    """Arguments that no longer exist, targets of pointers at the call, and the caller's registers."""
    n = extension_input("callsites")
    session = extension("callsites", target)
    session.break_at("*weigh")
    session.run()
    wave = WAVES[target]
    return_pc = session.inferior.need_program().to_file(innermost(session, 0).return_address() or 0)
    seen: set[str] = set()
    while session.focus.frame(Focus(1, 0)).name == "weigh":
        for lane in (0, 3, wave - 1):
            scope = Focus(1, lane)
            passed = int(n[lane]) + 1
            assert session.data.evaluate("x", scope).as_int() == passed
            assert session.data.evaluate("by", scope).as_int() == 8
            for name, value in (("factor", 3), ("y", 3 * passed + lane)):
                shown = session.data.evaluate(name, scope)
                if shown.absence is None:
                    assert shown.as_int() == value
                    seen.add(name)
            context = innermost(session, lane)
            caller = context.next_frame()
            assert caller is not None
            assert session.inferior.need_program().to_file((caller.pc or 0) + 1) == return_pc
            assert caller.register_location(register_number("s40", wave)).read(32) == GROUP
            assert caller.register_location(register_number("s32", wave)).read(32) == 16 * wave
            assert caller.register_location(register_number("v1", wave)).is_undefined
            saved = return_addr(context)
            assert saved is not None
            if not saved.is_undefined:
                assert saved.read(64) == context.return_address()
                seen.add("return_addr")
        session.running.stepi()
    assert seen == {"factor", "y", "return_addr"}


@targets
def test_kinds_of_rules(extension: Open, target: str) -> None:
    session = extension("callsites", target)
    session.break_at("*weigh")
    session.run()
    wave = WAVES[target]
    pc, s12, s32, s40 = (register_number(name, wave) for name in ("pc", "s12", "s32", "s40"))
    found: list[tuple[object, Rule | None, Rule | None, Rule | None]] = []
    while session.focus.frame(Focus(1, 0)).name == "weigh":
        found_row = innermost(session, 0).found_row
        assert found_row is not None and isinstance(found_row.row, dwarf.Row)
        rules = found_row.row.cfa, found_row.row.rule(pc), found_row.row.rule(s40), found_row.row.rule(s32)
        if rules not in found:
            found.append(rules)
        session.running.stepi()
    frame = 16 * wave
    unsaved = found[0][1]
    assert isinstance(unsaved, ExpressionRule)  # s[30:31]
    saved = OffsetRule(4 * wave), OffsetRule(4 * wave + 8)
    sp = ValOffsetRule(0)
    assert found == [
        (CfaRegister(s32, 0, 6), unsaved, None, None),
        (CfaRegister(s32, 0, 6), *saved, None),
        (CfaRegister(s32, -frame, 6), *saved, sp),  # DW_CFA_def_cfa_offset_sf
        (CfaRegister(s12, -frame, 6), *saved, sp),  # DW_CFA_LLVM_def_aspace_cfa_sf
        (CfaRegister(s12, -frame, 6), unsaved, None, sp),  # DW_CFA_restore, DW_CFA_restore_extended
        (CfaRegister(s32, -frame, 6), unsaved, None, sp),  # DW_CFA_def_cfa_register
    ]  # and the first again: DW_CFA_def_cfa_offset


@targets
def test_frame_base_of_a_lane(extension: Open, target: str) -> None:
    """DW_OP_fbreg, based on DW_OP_LLVM_aspace_bregx, locates the kernel's variable in each lane's own memory."""
    session = extension("callsites", target)
    session.break_at("callsites.hip:18")
    session.run()
    session.data.evaluate("weights.offset = 1000", Focus(1, 5))
    for lane in range(WAVES[target]):
        assert session.data.evaluate("weights.offset", Focus(1, lane)).as_int() == (1000 if lane == 5 else lane)
        assert session.data.evaluate("weights.factor", Focus(1, lane)).as_int() == 3
