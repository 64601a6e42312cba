"""The native routine that runs a wave by a plan (`rocdbg.sim.core.stop_plan`)."""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.sim.core.builder import I32, I64, Value
from rocdbg.sim.core.layout import PAGE_SHIFT, PAGE_SIZE, WINDOW_SIZE, Status
from rocdbg.sim.core.stop_plan import HEAD, ROW, RowFlag, State
from rocdbg.sim.translator.routine import Routine

_LINKS = ("link_0", "link_1", "link_2")


def planned(mode_key: Callable[[Routine], Value]) -> Callable[[Routine], None]:
    """``i32 run_planned(ptr state, ptr env, ptr tables)``. %tables: page directories of single instructions.

    If a block that lies within the range begins at the PC, the block is run; otherwise one instruction is run.
    """

    def body(r: Routine) -> None:
        plan = r.pointer(r.env("plan"))
        steps_only, returns_to = r.local(), r.local()
        r.store(steps_only, r.const(0, I64))

        def get(name: str) -> Value:
            return r.load(r.gep(plan, HEAD[name]), I64)

        def put(name: str, value: Value | int) -> None:
            r.store(r.gep(plan, HEAD[name]), r.const(value, I64) if isinstance(value, int) else value)

        def leave(status: Status) -> None:
            r.lines.append(f"ret i32 {int(status)}")

        r.go("loop")
        r.mark("loop")
        inside = (r.state("pc") - get("low")).ult(get("size"))
        r.branch_if(inside, "run", "arrived")

        # -- arrivals
        r.mark("arrived")
        pc = r.state("pc")
        in_call = get("state").eq(int(State.CALL))
        r.branch_if(in_call, "returned", "look")
        r.mark("returned")
        frame = get("frame")
        found = r.load(r.gep("%state", frame), I32).zext(I64)
        same = frame.eq(0) | found.eq(get("frame_value"))
        r.branch_if(same, "over", "run")
        r.mark("over")
        put("in_calls", get("in_calls") + r.state("instructions") - get("call_began"))
        for name in ("state", "low", "size"):
            put(name, get(f"caller_{name}"))
        r.store(steps_only, r.const(0, I64))
        r.branch_if((pc - get("low")).ult(get("size")), "run", "look")

        r.mark("look")
        row = _row(r, get, pc, "look", "left")
        flags = r.load(r.gep(row, ROW["flags"]), I64)
        begins = (flags & (RowFlag.ENTRY | RowFlag.WAITING_ENTRY)).ne(0)
        r.branch_if(begins & ~in_call, "starts", "lane")
        r.mark("starts")
        waits = get("state").eq(int(State.WAITING))
        asked = waits.select(r.const(int(RowFlag.WAITING_ENTRY), I64), r.const(int(RowFlag.ENTRY), I64))
        r.branch_if((flags & asked).ne(0), "links", "left")
        r.mark("links")
        for number, name in enumerate(_LINKS):
            link = r.load(r.gep(row, ROW[name]), I64)
            target = r.load(r.gep("%state", link), I64)
            calls = link.ne(0) & (target - get("function") - 1).ult(get("function_size"))
            after = f"entry{number}"
            r.branch_if(calls, f"called{number}", after)
            r.mark(f"called{number}")
            r.store(returns_to, target)
            r.go("called")
            r.mark(after)
        r.go("lane")
        r.mark("called")
        waits = get("state").eq(int(State.WAITING))
        r.branch_if(waits, "anyframe", "ownframe")
        r.mark("ownframe")
        behind = _row(r, get, r.load(returns_to, I64), "back", "left")
        known = (r.load(r.gep(behind, ROW["flags"]), I64) & RowFlag.FRAME).ne(0)
        tells = r.load(r.gep(behind, ROW["frame"]), I64)
        r.branch_if(known, "callframe", "left")
        r.mark("callframe")
        r.go("call")
        r.mark("anyframe")
        r.go("call")
        r.mark("call")
        register = r.new(I64, True, f"phi i64 [ {tells.ref}, %callframe ], [ 0, %anyframe ]")
        put("frame", register)
        put("frame_value", r.load(r.gep("%state", register), I32).zext(I64))
        for name in ("state", "low", "size"):
            put(f"caller_{name}", get(name))
        put("call_began", r.state("instructions"))
        put("state", int(State.CALL))
        put("low", r.load(returns_to, I64) + 1)
        put("size", (1 << 64) - 1)
        r.go("run")

        r.mark("lane")
        mask = r.load(r.gep("%state", r.load(r.gep(row, ROW["mask"]), I64) + get("half")), I32).zext(I64)
        active = (mask.lshr(get("bit")) & 1).ne(0)
        waiting = get("state").eq(int(State.WAITING))
        r.branch_if(active, "active", "inactive")
        r.mark("active")
        goes_on = (flags & RowFlag.ACTIVE).ne(0) & ~(waiting & get("comes_back").ne(0))
        r.branch_if(goes_on, "goes", "left")
        r.mark("goes")
        put("state", int(State.ACTIVE))
        table = r.load(r.gep(row, ROW["leads_to"]), I64)
        put("table", table.eq(0).select(get("table"), table))
        for name in ("low", "size"):
            put(name, r.load(r.gep(row, ROW[f"active_{name}"]), I64))
        r.go("run")
        r.mark("inactive")
        may_wait = (flags & RowFlag.WAITING).ne(0) & (waiting | (flags & RowFlag.KNOWN_WAIT).ne(0))
        r.branch_if(may_wait, "stays", "left")
        r.mark("stays")
        put("state", int(State.WAITING))
        put("waited", 1)
        for name in ("low", "size"):
            put(name, r.load(r.gep(row, ROW[f"waiting_{name}"]), I64))
        r.go("run")
        r.mark("left")
        leave(Status.RANGE)

        # -- continuing
        r.mark("run")
        key = mode_key(r).zext(I64)
        offset = r.state("pc") - r.env("window_base")
        r.branch_if(offset.ult(WINDOW_SIZE) & (offset & 3).eq(0), "code", "wild")
        r.mark("wild")
        leave(Status.FETCH)
        r.mark("code")
        r.branch_if(r.load(steps_only, I64).ne(0), "step", "blocks")
        r.mark("blocks")
        block = _entry(r, r.pointer(r.env("mode_tables")), key, offset, "block", "noblock")
        end = _entry(r, r.pointer(get("ends")), key, offset, "end", "step")
        r.branch_if((end - get("low")).ule(get("size")), "whole", "step")
        r.mark("whole")
        status = r.new(I32, True, f"call i32 {r.pointer(block)}(ptr %state, ptr %env)")
        r.branch_if(status.eq(0), "loop", "ended")
        r.mark("ended")
        short = status.eq(int(Status.BUDGET)) & r.state("instructions").ult(r.state("limit"))
        r.branch_if(short | status.eq(int(Status.REGISTERS)), "piecewise", "back")
        r.mark("piecewise")  # the budget, or the number of registers, does not suffice for the whole block
        r.store(steps_only, r.const(1, I64))
        r.go("step")
        r.mark("back")
        r.lines.append(f"ret i32 {status.ref}")
        r.mark("noblock")
        wanted = get("whole_blocks").ne(0) | get("state").eq(int(State.CALL))
        r.branch_if(wanted, "missblock", "step")
        r.mark("missblock")
        put("missed", 1)
        leave(Status.MISS)
        r.mark("step")
        single = _entry(r, "%tables", key, offset, "single", "misssingle")
        status = r.new(I32, True, f"call i32 {r.pointer(single)}(ptr %state, ptr %env)")
        r.branch_if(status.eq(0), "loop", "stopped")
        r.mark("stopped")
        r.lines.append(f"ret i32 {status.ref}")
        r.mark("misssingle")
        put("missed", 0)
        leave(Status.MISS)

    return body


def _row(r: Routine, get: Callable[[str], Value], pc: Value, name: str, none: str) -> str:
    """Pointer to the row of a PC; branches to label ``none`` if there is no row."""
    index = (pc - get("base")).lshr(2)
    r.branch_if(index.ult(get("count")), f"{name}.in", none)
    r.mark(f"{name}.in")
    number = r.load(r.gep(r.pointer(get("table")), index.shl(2)), I32).zext(I64)
    r.branch_if(number.ne(0), f"{name}.row", none)
    r.mark(f"{name}.row")
    return r.gep(r.pointer(get("rows")), number * (8 * len(ROW)))


def _entry(r: Routine, roots: str, key: Value, offset: Value, name: str, none: str) -> Value:
    """The entry of page directories for an offset in the window and a MODE key; branches to label ``none`` if it is 0.
    """
    directory = r.load(r.gep(roots, key.shl(3)), I64)
    r.branch_if(directory.eq(0), none, f"{name}.page")
    r.mark(f"{name}.page")
    page = r.load(r.gep(r.pointer(directory), offset.lshr(PAGE_SHIFT).shl(3)), I64)
    r.branch_if(page.eq(0), none, f"{name}.entry")
    r.mark(f"{name}.entry")
    found = r.load(r.gep(r.pointer(page), (offset & PAGE_SIZE - 1).shl(1)), I64)
    r.branch_if(found.eq(0), none, f"{name}.found")
    r.mark(f"{name}.found")
    return found


__all__ = ["planned"]
