"""Emits calls of the runtime's routines in the code of a block, and exits from the middle of a block.

Routines are called through slots of the environment (`helpers`). Each returns a `layout.Status`; if that is not
CONTINUE, the block exits through code placed after its other code.
"""

from __future__ import annotations

from collections.abc import Sequence

from rocdbg.sim.core import layout
from rocdbg.sim.core.builder import I64, Value
from rocdbg.sim.core.layout import ENV, Status
from rocdbg.sim.translator.block_registers import BlockRegisters
from rocdbg.sim.translator.routine_names import noted_by, seen_by, space_of, writes_memory


class BlockCalls(BlockRegisters):
    """The part of the builder that calls routines; ``helpers`` are their slots by name."""

    def __init__(
        self, wave_size: int, width: int, masked_stores: bool, helpers: dict[str, int], vgprs: int, has_agprs: bool
    ) -> None:
        super().__init__(wave_size, width, masked_stores, vgprs, has_agprs)
        self.helpers = helpers
        self.called: set[str] = set()
        """Routines of the runtime that the blocks call."""
        self.watched = False
        """Whether memory accesses are reported to the routines of `tracking`."""
        self.noted = False
        """Whether stores are reported to the routine of `store_notes`."""
        self._tail: list[str] = []
        self._forget_accesses()

    def _forget_accesses(self) -> None:
        """Record that the instruction has not accessed memory so far."""
        self._wrote: tuple[str, list[str]] | None = None
        self._accesses: list[tuple[str, list[str]]] = []

    def call(self, helper: str, args: Sequence[Value]) -> None:
        self.flush()
        self.in_lane_code = False
        status, failed = self.fresh(), self.fresh()
        texts = ["ptr %state", "ptr %env", *(f"i64 {a.zext(I64).ref}" for a in args)]
        fault, go = self.fresh("fault")[1:], self.fresh("go")[1:]
        self.lines += [
            *self._call_text(helper, texts, status),
            f"{failed} = icmp ne i32 {status}, 0",
            f"br i1 {failed}, label %{fault}, label %{go}",
            f"{go}:",
        ]
        self._label = go
        self._accesses.append((helper, texts))
        if writes_memory(helper):
            self._wrote = helper, texts
        if self.watched and (watcher := seen_by(helper)) is not None:
            self._show(watcher, texts)
        if self.noted and (finder := noted_by(helper)) is not None:
            self._note(finder, texts)
        self._tail += [
            f"{fault}:",
            *self._leave_text(self._address, self._count),
            f"ret i32 {int(Status.FAULT)}",
        ]

    def leave_if_watched(self, accesses: bool) -> None:
        """End the instruction with WATCH if a watched word has changed (`watched_words`).

        With ``accesses``, also end it if it has accessed memory for which every access is reported.
        """
        if self._wrote is not None:
            helper, texts = self._wrote
            self._leave_if_reported("watch_changed", ["ptr %state", "ptr %env"], helper, texts)
        for helper, texts in self._accesses if accesses else ():
            space = space_of(helper)
            if space is not None:
                self.flush()
                self.in_lane_code = False
                self.lines += self._call_text(f"check_{space}", self._checked(helper, texts), self.fresh())
                mask = "i64 1" if helper == "sload" else texts[2]
                arguments = ["ptr %state", "ptr %env", mask, texts[3]]
                self._leave_if_reported("watch_touched", arguments, helper, texts)

    @staticmethod
    def _checked(helper: str, texts: list[str]) -> list[str]:
        """The arguments of a routine that finds where an access went, given the access's arguments. The address of a
        scalar load is in lane 0.
        """
        return [*texts[:2], "i64 1", texts[3], "i64 1", "i64 0"] if helper == "sload" else texts

    def _leave_if_reported(self, watcher: str, arguments: list[str], helper: str, texts: list[str]) -> None:
        """Leave with WATCH after the instruction if the routine ``watcher`` says so; ``helper`` made the access with
        the arguments ``texts``.
        """
        self.flush()
        self.in_lane_code = False
        hit = self.fresh()
        self.lines += [
            *self._call_text(watcher, arguments, hit + ".status"), f"{hit} = icmp ne i32 {hit}.status, 0",
        ]
        leave, go = self.fresh("leave")[1:], self.fresh("go")[1:]
        self.lines += [f"br i1 {hit}, label %{leave}, label %{go}", f"{go}:"]
        self._label = go
        space = space_of(helper)
        lines, self.lines = self.lines, []
        pc, mask = f"i64 {self.pc().ref}", "i64 1" if helper == "sload" else texts[2]
        record = {"watch_pc": pc, "watch_lanes": mask, "watch_size": texts[3] if space else "i64 0"}
        record["watch_reads"] = f"i64 {int(not helper.startswith('store_'))}"
        for name, value in record.items():
            self.lines.append(f"store {value}, ptr {self._gep('%env', ENV[name].offset)}, align 8")
        if space is not None:  # where each lane's access went
            self.lines += self._call_text(f"check_{space}", self._checked(helper, texts), self.fresh())
        lines, self.lines = self.lines, lines
        self._tail += [
            f"{leave}:",
            *lines,
            *self._leave_text(self._address + self._size, self._count + 1),
            f"ret i32 {int(Status.WATCH)}",
        ]

    def _call_text(self, helper: str, arguments: Sequence[str], result: str) -> list[str]:
        """Text of a call through the environment."""
        self.called.add(helper)
        pointer, function = self.fresh("p"), self.fresh("f")
        return [
            f"{pointer} = getelementptr i8, ptr %env, i64 {layout.ENV_HELPERS + self.helpers[helper] * 8}",
            f"{function} = load ptr, ptr {pointer}, align 8",
            f"{result} = call i32 {function}({', '.join(arguments)})",
        ]

    def _note(self, finder: str, arguments: Sequence[str]) -> None:
        """Call ``finder`` to get the host addresses of a store's lanes, and `store_notes` to examine them."""
        self.lines += self._call_text(finder, arguments, self.fresh())
        self._show("noted", arguments[:4])

    def _show(self, watcher: str, arguments: Sequence[str]) -> None:
        """Call a routine that only observes, with an access's arguments and the instruction's pc."""
        arguments = [*arguments, f"i64 {self.pc().ref}"]
        self.lines += self._call_text(watcher, arguments, self.fresh())

    def _leave_text(self, address: int, count: int) -> list[str]:
        """Text that stores pc and the instruction count, for use before an exit."""
        at, total = self.fresh(), self.fresh()
        return [
            f"{at} = add i64 %pc, {address - self._start}",
            f"store i64 {at}, ptr %p.pc, align 8",
            f"{total} = add i64 %count, {count}",
            f"store i64 {total}, ptr %p.count, align 8",
        ]

    def leave_if(self, condition: Value, status: int) -> None:
        self.flush()
        self.in_lane_code = False
        leave, go = self.fresh("leave")[1:], self.fresh("go")[1:]
        self.lines += [f"br i1 {condition.ref}, label %{leave}, label %{go}", f"{go}:"]
        self._label = go
        self._tail += [
            f"{leave}:",
            *self._leave_text(self._address + self._size, self._count + 1),
            f"ret i32 {int(status)}",
        ]
