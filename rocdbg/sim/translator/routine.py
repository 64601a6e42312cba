"""A writer for native routines that are not blocks: scalar code with loops and branches, as LLVM IR."""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.sim.core import layout
from rocdbg.sim.core.builder import I64, INTEGER, Type, Value
from rocdbg.sim.core.layout import ENV, WORDS
from rocdbg.sim.translator.ir import Writer


class Routine(Writer):
    """Emits one routine, all in scalar code."""

    def __init__(self, wave_size: int) -> None:
        super().__init__(1)
        self.wave_size = wave_size
        self.label = "entry"

    def value(self, name: str, type: Type = I64) -> Value:
        return Value(self, type, name, True)

    def gep(self, base: str, offset: Value | int) -> str:
        pointer = self.fresh("p")
        at = offset if isinstance(offset, int) else offset.ref
        self.lines.append(f"{pointer} = getelementptr i8, ptr {base}, i64 {at}")
        return pointer

    def pointer(self, address: Value) -> str:
        pointer = self.fresh("p")
        self.lines.append(f"{pointer} = inttoptr i64 {address.ref} to ptr")
        return pointer

    def load(self, pointer: str, type: Type) -> Value:
        return self.new(type, True, f"load {type.name}, ptr {pointer}, align 1")

    def store(self, pointer: str, value: Value) -> None:
        self.lines.append(f"store {value.type.name} {value.ref}, ptr {pointer}, align 1")

    def state(self, name: str) -> Value:
        return self.load(self.gep("%state", WORDS[name].offset), INTEGER[WORDS[name].size * 8])

    def env(self, name: str) -> Value:
        return self.load(self.gep("%env", ENV[name].offset), INTEGER[ENV[name].size * 8])

    def set_env(self, name: str, value: Value | int) -> None:
        t = INTEGER[ENV[name].size * 8]
        self.store(
            self.gep("%env", ENV[name].offset), self.const(value, t) if isinstance(value, int) else value
        )

    def slot(self, base: int, lane: Value, size: int) -> str:
        return self.gep("%env", lane.shl(size.bit_length() - 1) + base)

    def data(self, dword: int | Value, lane: Value) -> str:
        if isinstance(dword, int):
            return self.gep("%env", lane.shl(2) + (layout.ENV_DATA + dword * 256))
        return self.gep("%env", lane.shl(2) + dword.shl(8) + layout.ENV_DATA)

    def local(self) -> str:
        """An I64 variable (on the stack; allocated once, at the routine's beginning)."""
        name = self.fresh("l")
        self.lines.insert(0, f"{name} = alloca i64")
        return name

    def mark(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.label = label

    def go(self, label: str) -> None:
        self.lines.append(f"br label %{label}")

    def branch_if(self, condition: Value, yes: str, no: str) -> None:
        self.lines.append(f"br i1 {condition.ref}, label %{yes}, label %{no}")

    def leave(self, result: int) -> None:
        """Return from the routine; the code that follows is reachable only through other branches."""
        self.lines.append(f"ret i32 {result}")
        self.mark(self.fresh("unreached")[1:])

    def when(self, condition: Value, body: Callable[[], None]) -> None:
        """Run ``body`` if the condition holds."""
        yes, after = self.fresh("yes")[1:], self.fresh("after")[1:]
        self.branch_if(condition, yes, after)
        self.mark(yes)
        body()
        self.go(after)
        self.mark(after)

    def for_lanes(self, mask: Value, body: Callable[[Value], None]) -> None:
        """Run ``body`` for each set bit of the 64-bit mask, in order."""
        head, inside, after = (self.fresh(n)[1:] for n in ("each", "lane", "done"))
        left = self.fresh("left")
        before = self.label
        rest = self.fresh("rest")
        latch = self.fresh("latch")[1:]
        self.go(head)
        self.mark(head)
        self.lines.append(f"{left} = phi i64 [ {mask.ref}, %{before} ], [ {rest}, %{latch} ]")
        self.branch_if(self.value(left).eq(0), after, inside)
        self.mark(inside)
        body(self.value(left).cttz())
        self.go(latch)
        self.mark(latch)
        self.lines.append(f"{rest} = and i64 {left}, {(self.value(left) - 1).ref}")
        self.go(head)
        self.mark(after)

    def for_range(self, count: Value, body: Callable[[Value], None]) -> None:
        """Run ``body`` for 0 .. count - 1."""
        head, inside, after, latch = (self.fresh(n)[1:] for n in ("for", "body", "end", "latch"))
        index, following = self.fresh("index"), self.fresh("next")
        before = self.label
        self.go(head)
        self.mark(head)
        self.lines.append(f"{index} = phi i64 [ 0, %{before} ], [ {following}, %{latch} ]")
        self.branch_if(self.value(index).ult(count), inside, after)
        self.mark(inside)
        body(self.value(index))
        self.go(latch)
        self.mark(latch)
        self.lines.append(f"{following} = add i64 {index}, 1")
        self.go(head)
        self.mark(after)
