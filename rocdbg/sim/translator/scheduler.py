"""The native scheduler: gives the resident waves their turns, keeps barriers, ends waves and creates workgroups.

It does the same as `rocdbg.sim.device.residency_and_barriers` and `rocdbg.sim.device.dispatch`, on the same memory
(`rocdbg.sim.device.schedule`), and returns to them for everything else:
* with CONTINUE when there is nothing to report: budget or time are used up, an interrupt is requested, no wave is left
  or can run, or the next wave was already reported;
* with MISS when code must be translated for the wave whose turn it is;
* with the status that ended the turn of ``current``.
"""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.sim.core.builder import I8, I32, I64, INTEGER, Value
from rocdbg.sim.core.layout import ENGINE_OFFSET, ENGINE_SIZE, SCALARS_END, VGPRS, WORDS, Status
from rocdbg.sim.device.schedule import RANDOM_FACTOR, RANDOM_INCREMENT, SCHEDULE, Varying, WaveFlag
from rocdbg.sim.translator.routine import Routine

_NONE = 0xFFFF_FFFF
_LOOK_EVERY = 20_000
"""Instructions between two checks of the clock."""
_SECOND = 1_000_000_000
_MANY_BYTES = 1 << 16
_DONTNEED = 4
"""MADV_DONTNEED of Linux."""


class Schedule(Routine):
    """Emits routines over a schedule."""

    def at(self, name: str, index: Value | None = None, size: int = 8) -> str:
        """Pointer to a field, or to element ``index`` of one."""
        offset = SCHEDULE[name].offset
        if index is None:
            return self.gep("%schedule", offset)
        return self.gep("%schedule", index * size + offset)

    def get(self, name: str) -> Value:
        """A field, zero-extended to 64 bits."""
        value = self.load(self.at(name), INTEGER[SCHEDULE[name].size * 8])
        return value if value.type is I64 else value.zext(I64)

    def assign(self, name: str, value: Value | int) -> None:
        """Set a field."""
        type = INTEGER[SCHEDULE[name].size * 8]
        new = self.const(value, type) if isinstance(value, int) else value
        self.store(self.at(name), new.trunc(type) if new.type.bits > type.bits else new)

    def element(self, array: str, index: Value, size: int) -> str:
        """Pointer to an element of an array that a field points to."""
        return self.gep(self.pointer(self.get(array)), index * size)

    def flag(self, slot: Value) -> Value:
        return self.load(self.element("flags", slot, 1), I8)

    def set_flag(self, slot: Value, value: Value) -> None:
        self.store(self.element("flags", slot, 1), value)

    def link(self, chain: str, slot: Value) -> Value:
        return self.load(self.element(chain, slot, 4), I32)

    def set_link(self, chain: str, slot: Value, to: Value) -> None:
        self.store(self.element(chain, slot, 4), to)

    def wave(self, slot: Value) -> str:
        """Pointer to the state block of a slot's wave."""
        return self.gep(self.pointer(self.get("states")), slot * self.get("state_stride"))

    def header(self, wave: str, name: str) -> str:
        return self.gep(wave, WORDS[name].offset)

    def call_void(self, name: str, *args: str) -> None:
        self.lines.append(f"call i32 @{name}({', '.join(args)})")

    def choose(self, condition: Value, yes: Callable[[], None], no: Callable[[], None]) -> None:
        first, second, after = (self.fresh(n)[1:] for n in ("yes", "no", "after"))
        self.branch_if(condition, first, second)
        self.mark(first)
        yes()
        self.go(after)
        self.mark(second)
        no()
        self.go(after)
        self.mark(after)

    def clear(self, pointer: str, size: Value) -> None:
        self.declare("llvm.memset.p0.i64", "void", ["ptr", "i8", "i64", "i1"])
        self.lines.append(f"call void @llvm.memset.p0.i64(ptr {pointer}, i8 0, i64 {size.ref}, i1 false)")

    def copy(self, to: str, source: str, size: Value | int) -> None:
        self.declare("llvm.memcpy.p0.p0.i64", "void", ["ptr", "ptr", "i64", "i1"])
        count = size if isinstance(size, int) else size.ref
        self.lines.append(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {source}, i64 {count}, i1 false)")


# -- turns --------------------


def turns(r: Schedule) -> None:
    """``i32 schedule(ptr schedule, ptr env, ptr run, ptr blocks, ptr steps)``."""
    done = f"ret i32 {int(Status.CONTINUE)}"
    r.go("turn")
    r.mark("turn")
    first = r.get("first")
    idle = first.eq(_NONE) | r.get("interrupted").ne(0) | r.get("budget").eq(0)
    r.branch_if(idle, "idle", "time")
    r.mark("idle")
    r.lines.append(done)
    r.mark("time")
    r.branch_if(r.get("executed").ult(r.get("look_at")), "pick", "look")
    r.mark("look")
    r.assign("look_at", r.get("executed") + _LOOK_EVERY)
    clock, now = r.pointer(r.get("clock")), r.at("now")
    r.lines.append(f"call i32 {clock}(i32 {r.get('clock_id').trunc(I32).ref}, ptr {now})")
    time = r.load(now, I64) * _SECOND + r.load(r.gep(now, 8), I64)
    r.branch_if(time.ult(r.get("deadline")), "pick", "idle")

    r.mark("pick")
    hint = r.get("following")
    r.branch_if(hint.eq(_NONE), "search", "hinted")
    r.mark("search")  # the first one with the cursor's number or a higher one; if there is none, the first
    _search(r)
    r.mark("hinted")
    start = r.new(I64, True, f"phi i64 [ {hint.ref}, %pick ], [ %found, %searched ]")
    r.go("candidate")
    r.mark("candidate")
    r.lines += [
        f"%slot = phi i64 [ {start.ref}, %hinted ], [ %other, %waits ]",
        "%tries = phi i64 [ 0, %hinted ], [ %tried, %waits ]",
    ]
    slot = r.value("%slot")
    flag = r.flag(slot)
    r.branch_if((flag & WaveFlag.WAITING).ne(0), "skip", "runnable")
    r.mark("skip")
    r.lines.append("%tried = add i64 %tries, 1")
    following = r.link("next", slot).zext(I64)
    r.lines.append(f"%other = {_select(following.eq(_NONE), r.get('first'), following)}")
    r.branch_if(r.value("%tried").ule(r.get("created") - r.get("numbered_before")), "waits", "idle")
    r.mark("waits")
    r.go("candidate")
    r.mark("runnable")
    r.branch_if((flag & WaveFlag.REPORTED).ne(0), "idle", "ready")

    r.mark("ready")
    wave = r.wave(slot)
    number = r.load(r.header(wave, "number"), I64)
    count, limit = r.header(wave, "instructions"), r.header(wave, "limit")
    before = r.load(count, I64)
    followed = r.get("followed").eq(number)
    most = followed.select(r.get("followed_end"), r.const((1 << 64) - 1, I64))
    r.branch_if(before.ult(most), "allowed", "idle")
    r.mark("allowed")
    r.assign("cursor", number)
    same = r.get("turn_of").eq(number)
    quantum = r.get("quantum")
    r.branch_if(~same & r.get("is_random").ne(0), "draw", "fixed")
    r.mark("draw")
    state = r.get("random") * RANDOM_FACTOR + RANDOM_INCREMENT
    r.assign("random", state)
    drawn = state.lshr(32).urem(quantum) + 1
    r.go("drawn")
    r.mark("fixed")
    r.go("drawn")
    r.mark("drawn")
    length = r.new(I64, True, f"phi i64 [ {drawn.ref}, %draw ], [ {quantum.ref}, %fixed ]")
    turn_left = same.select(r.get("turn_left"), length)
    r.assign("turn_of", number)
    budget = r.get("budget")
    end = (before + turn_left.umin(budget)).umin(most)
    r.store(limit, end)
    other = r.get("followed_run")
    r.branch_if(followed & other.ne(0), "another", "plain")
    r.mark("another")
    call = f"call i32 {r.pointer(other)}(ptr {wave}, ptr %env, ptr %steps)"
    directed = r.new(I32, True, call)
    r.go("ran")
    r.mark("plain")
    native = r.new(I32, True, f"call i32 %run(ptr {wave}, ptr %env, ptr %blocks)")
    short = native.eq(int(Status.BUDGET)) & r.load(count, I64).ult(end)
    r.branch_if(short, "rest", "whole")
    r.mark("rest")  # not enough for the next block
    single = r.new(I32, True, f"call i32 %run(ptr {wave}, ptr %env, ptr %steps)")
    r.go("ran")
    r.mark("whole")
    r.go("ran")
    r.mark("ran")
    ways = f"[ {native.ref}, %whole ], [ {single.ref}, %rest ], [ {directed.ref}, %another ]"
    status = r.new(I32, True, f"phi i32 {ways}")
    used = r.load(count, I64) - before
    r.store(limit, r.const(0, I64))
    turn_left = turn_left - used
    r.assign("turn_left", turn_left)
    r.assign("budget", budget - used)
    r.assign("executed", r.get("executed") + used)
    cases = {
        Status.BUDGET: "end.budget", Status.SLEEP: "over", Status.BARRIER: "end.barrier", Status.END: "end.wave",
        Status.SIGNAL: "end.signal", Status.SIGNAL_FIRST: "end.first", Status.WAIT: "end.wait",
    }
    r.branch_if(followed & status.eq(int(Status.END)), "leave", "decide")
    r.mark("decide")
    table = " ".join(f"i32 {int(s)}, label %{label}" for s, label in cases.items())
    r.lines.append(f"switch i32 {status.ref}, label %leave [ {table} ]")

    r.mark("leave")
    r.assign("current", slot)
    r.assign("following", _NONE)
    r.lines.append(f"ret i32 {status.ref}")

    r.mark("end.budget")
    r.branch_if(turn_left.ne(0), "again", "over")
    r.mark("again")
    r.assign("following", slot)
    r.go("turn")

    r.mark("end.barrier")
    r.set_flag(slot, r.flag(slot) | int(WaveFlag.WAITING | WaveFlag.SIGNALLED))
    r.call_void("complete", "ptr %schedule", f"i64 {slot.ref}")
    r.go("over")

    r.mark("end.first")
    scc = r.new(I32, True, f"call i32 @is_first(ptr %schedule, i64 {slot.ref})")
    r.store(r.header(wave, "scc"), scc)
    r.go("end.signal")
    r.mark("end.signal")
    r.set_flag(slot, r.flag(slot) | int(WaveFlag.SIGNALLED))
    r.call_void("complete", "ptr %schedule", f"i64 {slot.ref}")
    r.go("end.budget")
    r.mark("end.wait")
    passed = (r.flag(slot) & int(WaveFlag.PASSED)).ne(0)
    r.branch_if(passed, "passes", "stays")
    r.mark("passes")
    r.set_flag(slot, r.flag(slot) & (0xFF ^ WaveFlag.PASSED))
    r.go("end.budget")
    r.mark("stays")
    r.set_flag(slot, r.flag(slot) | int(WaveFlag.WAITING))
    r.go("over")

    r.mark("end.wave")
    after = r.link("next", slot)
    r.call_void("end", "ptr %schedule", f"i64 {slot.ref}")
    r.go("next")
    r.mark("over")
    alive = r.link("next", slot)
    r.go("next")
    r.mark("next")
    hint_next = r.new(I32, True, f"phi i32 [ {after.ref}, %end.wave ], [ {alive.ref}, %over ]")
    r.assign("following", hint_next)
    r.assign("cursor", number + 1)
    r.assign("turn_of", 0)
    r.go("turn")


def _select(condition: Value, yes: Value, no: Value) -> str:
    return f"select i1 {condition.ref}, i64 {yes.ref}, i64 {no.ref}"


def _search(r: Schedule) -> None:
    """The code from label ``search`` to label ``searched``; afterwards %found is the slot to examine first."""
    oldest, cursor = r.get("first"), r.get("cursor")
    r.go("seek")
    r.mark("seek")
    r.lines.append(f"%seen = phi i64 [ {oldest.ref}, %search ], [ %farther, %seek.on ]")
    seen = r.value("%seen")
    reached = r.load(r.header(r.wave(seen), "number"), I64).uge(cursor)
    r.branch_if(reached, "searched", "seek.next")
    r.mark("seek.next")
    r.lines.append(f"%farther = zext i32 {r.link('next', seen).ref} to i64")
    r.branch_if(r.value("%farther").eq(_NONE), "searched", "seek.on")
    r.mark("seek.on")
    r.go("seek")
    r.mark("searched")
    r.lines.append(f"%found = phi i64 [ %seen, %seek ], [ {oldest.ref}, %seek.next ]")
    r.go("hinted")


# -- barriers --------------------


def _group(r: Schedule) -> tuple[Value, Value]:
    """First slot of %slot's workgroup, and its number of slots."""
    size = r.get("group_waves")
    slot = r.value("%slot")
    # Both fit in 32 bits, and 32-bit divisions take half the time, which matters because every wave comes here at every
    # barrier.
    return slot - slot.trunc(I32).urem(size.trunc(I32)).zext(I64), size


def is_first(r: Schedule) -> None:
    """``i32 is_first(ptr schedule, i64 slot)``: 1 if no wave of the group has signalled its barrier."""
    first, size = _group(r)
    r.for_range(
        size, lambda n: r.when((r.flag(first + n) & int(WaveFlag.SIGNALLED)).ne(0), lambda: r.leave(0))
    )
    r.lines.append("ret i32 1")


def complete(r: Schedule) -> None:
    """``i32 complete(ptr schedule, i64 slot)``: complete the group's barrier if no wave is missing."""
    first, size = _group(r)
    here = WaveFlag.RESIDENT | WaveFlag.SIGNALLED

    last = first + size - 1

    def missing(n: Value) -> None:  # from last to first, because waves mostly arrive in order
        r.when((r.flag(last - n) & int(here)).eq(int(WaveFlag.RESIDENT)), lambda: r.leave(0))

    def release(n: Value) -> None:
        flag = r.flag(first + n)
        kept = flag & (0xFF ^ (WaveFlag.SIGNALLED | WaveFlag.WAITING))
        passes = (flag & int(WaveFlag.WAITING)).eq(0) & flag.ne(0)
        r.set_flag(first + n, kept | passes.select(r.const(int(WaveFlag.PASSED), I8), r.const(0, I8)))

    r.for_range(size, missing)
    r.for_range(size, release)
    r.lines.append("ret i32 0")


# -- creation and end --------------------


def end(r: Schedule) -> None:
    """``i32 end(ptr schedule, i64 slot)``: handle the end of a wave."""
    slot = r.value("%slot")
    r.assign("retired", r.get("retired") + r.load(r.header(r.wave(slot), "instructions"), I64))
    r.set_flag(slot, r.const(0, I8))
    before, after = r.link("previous", slot), r.link("next", slot)
    r.choose(
        before.eq(_NONE),
        lambda: r.assign("first", after),
        lambda: r.set_link("next", before.zext(I64), after),
    )
    r.choose(
        after.eq(_NONE),
        lambda: r.assign("last", before),
        lambda: r.set_link("previous", after.zext(I64), before),
    )
    first, size = _group(r)

    def others(n: Value) -> None:
        def still_here() -> None:
            r.call_void("complete", "ptr %schedule", "i64 %slot")
            r.leave(0)

        r.when(r.flag(first + n).ne(0), still_here)

    r.for_range(size, others)
    r.when(r.get("positions_left").eq(0), lambda: r.leave(0))
    r.call_void("create", "ptr %schedule", f"i64 {slot.udiv(size).ref}", "i64 0")
    r.lines.append("ret i32 0")


def fill(r: Schedule) -> None:
    """``i32 fill(ptr schedule, i64 places, i64 clean)``: make the first workgroups; ``clean`` as in `create`."""

    def make(place: Value) -> None:
        r.when(r.get("positions_left").eq(0), lambda: r.leave(0))
        r.call_void("create", "ptr %schedule", f"i64 {place.ref}", "i64 %clean")

    r.for_range(r.value("%places"), make)
    r.lines.append("ret i32 0")


def create(r: Schedule) -> None:
    """``i32 create(ptr schedule, i64 place, i64 clean)``: make the next workgroup in a place. Bit 0 of ``clean``:
    nothing has run there before; bit 1: nothing has used its scratch."""
    place = r.value("%place")
    used = (r.value("%clean") & 1).eq(0)
    x, y, z = (r.get(f"group_{axis}") for axis in "xyz")
    edges = [at.eq(r.get(f"groups_{axis}") - 1) for at, axis in zip((x, y, z), "xyz", strict=True)]
    shape = edges[0].zext(I64) | edges[1].zext(I64).shl(1) | edges[2].zext(I64).shl(2)
    r.assign("group_x", edges[0].select(r.const(0, I64), x + 1))
    y_next = y + edges[0].zext(I64)
    wraps = edges[0] & edges[1]
    r.assign("group_y", wraps.select(r.const(0, I64), y_next))
    r.assign("group_z", z + wraps.zext(I64))
    r.assign("positions_left", r.get("positions_left") - 1)
    lds = r.get("lds") + place * r.get("lds_stride")
    lds_bytes = r.get("lds_bytes")
    # Skip the call for zero bytes too: an empty masked store to an untouched page still costs a host 200 ns.
    r.when(used & lds_bytes.ne(0), lambda: r.clear(r.pointer(lds), lds_bytes))
    scratch_bytes = r.get("group_scratch_bytes")
    dirty = scratch_bytes.ne(0) & (r.value("%clean") & 2).eq(0)
    r.when(dirty, lambda: _clear_pages(r, r.get("scratch") + place * scratch_bytes, scratch_bytes))
    varying = r.at("varying")
    for index, value in (
        (Varying.GROUP_X, x), (Varying.GROUP_Y, y), (Varying.GROUP_Z, z),
        (Varying.GROUP_YZ, y & 0xFFFF | (z & 0xFFFF).shl(16)),
    ):
        r.store(r.gep(varying, 4 * index), value.trunc(I32))
    images = r.load(r.at("images", shape), I64)
    count = r.load(r.at("waves", shape, 4), I32).zext(I64)
    first = place * r.get("group_waves")
    r.for_range(count, lambda n: _wave(r, first + n, images + n * r.get("image_stride"), lds, (x, y, z), used))
    r.lines.append("ret i32 0")


def _clear_pages(r: Schedule, start: Value, size: Value) -> None:
    """Clear memory that may be mostly untouched: if it has many pages, these are returned to the host, and read as
    zeros again.
    """
    page, end = r.get("page_size"), start + size
    first, last = (start + page - 1) & -page, end & -page
    function = r.get("madvise")

    def give_back() -> None:
        call = f"call i32 {r.pointer(function)}(ptr {r.pointer(first)}, i64 {(last - first).ref}, i32 {_DONTNEED})"

        def edges() -> None:
            r.clear(r.pointer(start), first - start)
            r.clear(r.pointer(last), end - last)

        r.choose(r.new(I32, True, call).eq(0), edges, lambda: r.clear(r.pointer(start), size))

    many = function.ne(0) & size.uge(_MANY_BYTES) & size.uge(page.shl(2))
    r.choose(many, give_back, lambda: r.clear(r.pointer(start), size))


def _wave(
    r: Schedule, slot: Value, image: Value, lds: Value, group: tuple[Value, Value, Value], used: Value
) -> None:
    """Put a new wave into its initial state and at the end of the list. ``used`` says that its slot held another wave
    before.
    """
    wave, source, ids = r.wave(slot), r.pointer(image), r.get("id_bytes")
    r.copy(r.gep(wave, ENGINE_OFFSET), source, ENGINE_SIZE)
    source = r.gep(source, ENGINE_SIZE)
    r.copy(wave, source, SCALARS_END)
    vectors = r.gep(wave, VGPRS)
    r.copy(vectors, r.gep(source, SCALARS_END), ids)
    agprs = r.get("agpr_bytes")
    r.when(used, lambda: r.clear(r.gep(vectors, ids), r.get("vgpr_bytes")))
    r.when(used & agprs.ne(0), lambda: r.clear(r.gep(wave, r.get("agpr_offset")), agprs))
    offset = slot * r.get("wave_scratch_size")
    base = r.get("scratch_address") + offset
    r.store(r.gep(r.at("varying"), 4 * Varying.SCRATCH_OFFSET), offset.trunc(I32))
    patches = r.at("patches")

    def patch(n: Value) -> None:
        row = r.gep(patches, n * 8)
        which = r.load(r.gep(row, 4), I32).zext(I64)
        value = r.load(r.gep(r.at("varying"), which * 4), I32)
        r.store(r.gep(wave, r.load(row, I32).zext(I64)), value)

    r.for_range(r.get("patch_count"), patch)
    number = r.get("created") + 1
    r.assign("created", number)
    r.store(r.header(wave, "number"), number)
    r.store(r.header(wave, "lds_pointer"), lds)
    r.store(r.header(wave, "scratch_base"), base)
    r.when(r.get("flat_scratch").ne(0), lambda: r.store(r.header(wave, "flat_scratch"), base))
    for name, value in zip(("workgroup_x", "workgroup_y", "workgroup_z"), group, strict=True):
        r.store(r.header(wave, name), value.trunc(I32))
    empty = r.get("first").eq(_NONE)
    last = empty.select(r.const(_NONE, I64), r.get("last"))
    r.set_flag(slot, r.const(int(WaveFlag.RESIDENT), I8))
    r.set_link("next", slot, r.const(_NONE, I32))
    r.set_link("previous", slot, last.trunc(I32))
    r.choose(
        last.eq(_NONE),
        lambda: r.assign("first", slot),
        lambda: r.set_link("next", last, slot.trunc(I32)),
    )
    r.assign("last", slot)


ROUTINES: tuple[tuple[str, str, Callable[[Schedule], None], bool], ...] = (
    ("complete", "ptr %schedule, i64 %slot", complete, False),
    ("is_first", "ptr %schedule, i64 %slot", is_first, False),
    ("create", "ptr %schedule, i64 %place, i64 %clean", create, False),
    ("end", "ptr %schedule, i64 %slot", end, False),
    ("fill", "ptr %schedule, i64 %places, i64 %clean", fill, True),
    ("schedule", "ptr %schedule, ptr %env, ptr %run, ptr %blocks, ptr %steps", turns, True),
)
"""Name, parameters, body, and whether it is called from outside."""
