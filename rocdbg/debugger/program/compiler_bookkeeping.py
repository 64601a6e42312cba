"""Recognises the compiler's own bookkeeping code between two statements.

After a call, AMD's compilers restore what they had saved: scalar registers from lanes of a vector register, vector
registers from accumulation registers or from the stack, and EXEC. Where control flow joins, they merge masks. All this
code belongs to rows of the line table, but corresponds to nothing in the source. Compilers for CPUs have no such code
in these places, so CPU debuggers never show it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable

from msgspec import Struct, field

from rocdbg import isa
from rocdbg.addresses import FileAddress
from rocdbg.debugger.program.exec_map import ExecMap
from rocdbg.debugger.program.program import Program
from rocdbg.dwarf.info import LineRow, SourceFile
from rocdbg.errors import Error
from rocdbg.isa.instruction import Flow, Instruction, OperandKind

MAX_INSTRUCTIONS = 400
"""How many instructions after a call are examined: a longer sequence is not bookkeeping."""
_IDLE = frozenset(("s_nop", "s_waitcnt", "s_waitcnt_depctr", "s_delay_alu", "s_clause", "s_inst_prefetch",
                   "s_set_inst_prefetch_distance", "s_wait_loadcnt", "s_wait_storecnt", "s_wait_dscnt", "s_wait_kmcnt",
                   "s_wait_loadcnt_dscnt", "s_wait_storecnt_dscnt", "s_wait_alu", "s_wait_samplecnt", "s_wait_bvhcnt",
                   "s_wait_expcnt"))
_MOVED = frozenset(("v_readlane_b32", "v_writelane_b32", "v_accvgpr_read_b32", "v_accvgpr_write_b32",
                    "v_accvgpr_mov_b32"))
_MASKS = frozenset(f"s_{name}_b{size}" for size in (32, 64) for name in
                   ("mov", "and", "or", "xor", "andn2", "orn2", "not", "and_not1", "or_not1", "cselect", "or_saveexec",
                    "xor_saveexec", "and_saveexec", "andn2_saveexec", "and_not1_saveexec"))
_COPIES = frozenset(("v_mov_b32", "v_mov_b64", "v_pk_mov_b32"))
_RELOADS = ("buffer_load_dword", "buffer_load_b", "scratch_load_")
_CONDITIONS = frozenset(("s_cbranch_execz", "s_cbranch_execnz", "s_cbranch_scc0", "s_cbranch_scc1", "s_cbranch_vccz",
                         "s_cbranch_vccnz"))


_COMMENT = re.compile(r"//.*|/\*.*?(\*/|$)")


class Bookkeeping(Struct):
    """Queries about the code of one program, which cache their results.

    ``source_line`` returns a line's text, ``None`` if there is no such line.
    """

    program: Program
    exec_map: ExecMap
    source_line: Callable[[SourceFile, int], str | None]
    _next: dict[tuple[int, int], tuple[LineRow, ...]] = field(default_factory=dict)
    _passed: dict[tuple[int, int], bool] = field(default_factory=dict)

    def remains(self, address: FileAddress, wave_size: int) -> bool:
        """Whether, from an address in a statement, only bookkeeping is left before the next statement of the source.
        False in two cases in which a compiler for CPUs writes a jump: if control skips statements, as at the end of a
        branch that has an "else", and if the next statement is on the same line, as at the end of a loop.
        """
        row = self.program.info.line_at(address)
        following = self.following(address, wave_size)
        if row is None or not following or any((one.line, one.file) == (row.line, row.file) for one in following):
            return False
        if not row.line:
            return len(following) == 1  # the code is after all lines already
        ahead = [other.line for other in following if other.file == row.file and other.line > row.line]
        return not ahead or not self._has_code_between(address, row, max(ahead))

    def is_passed(self, row: LineRow, wave_size: int) -> bool:
        """Whether a row is not a statement to a reader, because control only falls through a brace that closes a block,
        or into a ``do`` loop. A compiler for CPUs has no code there, unless only the end of another block precedes the
        brace: clang then writes a jump. If the source is not available, a row counts as passed if it only jumps over
        its own bookkeeping to the start of the next row.
        """
        found = self._passed.get((row.address, wave_size))
        if found is None:
            found = (
                self._jumps_to_its_end(row, wave_size)
                or ((self._closes_block(row) or self._is_do(row)) and bool(self.following(row.address, wave_size)))
            ) and not self._is_all_of_block(row.address, wave_size)
            self._passed[row.address, wave_size] = found
        return found

    # -- the source

    def _is_do(self, row: LineRow) -> bool:
        """Whether a row belongs to the ``do`` of a loop."""
        text = self.source_line(row.file, row.line) if row.column else None
        return text is not None and re.match(r"do\b", text[row.column - 1 :]) is not None

    def _closes_block(self, row: LineRow) -> bool:
        """Whether a row belongs to a brace that closes a block, other than one before an ``else``."""
        if not row.column:
            return False
        text = self.source_line(row.file, row.line)
        if text is None or not text.startswith("}", row.column - 1):
            return False
        rest = _COMMENT.sub(" ", text[row.column :]).strip()
        if not rest:
            rest = _COMMENT.sub(" ", self.source_line(row.file, row.line + 1) or "").strip()
        return re.match(r"else\b", rest) is None

    def _has_code_between(self, address: FileAddress, row: LineRow, line: int) -> bool:
        """Whether statements of the same function begin in lines after a row's line and before ``line``."""
        function = self.program.info.function_at(address)
        if function is None:
            return True
        return any(
            other.is_stmt and row.line < other.line < line and other.file == row.file
            for other in self.program.info.lines_of(function)
        )

    # -- reading code

    def following(self, address: FileAddress, wave_size: int) -> tuple[LineRow, ...]:
        """Return the statements that paths from an address reach; empty if a path contains more than bookkeeping.

        A statement begins at a row of another line, or at one of the same line that is marked as a statement.
        """
        found = self._next.get((address, wave_size))
        if found is None:
            found = self._next[address, wave_size] = tuple(self._walk(address, wave_size))
        return found

    def _walk(self, address: FileAddress, wave_size: int) -> list[LineRow]:
        waiting, seen = [address], set[int]()
        found: list[LineRow] = []
        while waiting:
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            row = self.program.info.line_at(at)
            if row is None or len(seen) > MAX_INSTRUCTIONS:
                return []
            if at != address and row.address == at and row.is_stmt and row.line:
                found.append(row)
                continue
            one = self._decode(at, wave_size)
            if one is None or not (self._is_bookkeeping(one, wave_size) or _is_constant(one, row)):
                return []
            if one.branch_target is not None:
                waiting.append(FileAddress(one.branch_target))
            if one.flow is not Flow.BRANCH:
                waiting.append(FileAddress(at + one.size))
        return found

    def _is_all_of_block(self, address: FileAddress, wave_size: int) -> bool:
        """Whether only bookkeeping precedes an address in its basic block."""
        function = self.exec_map.function_at(address, wave_size)
        if function is None:
            return False
        index = bisect_right(function.joins, address)
        at = FileAddress(function.joins[index - 1] if index else function.low)
        while at < address:
            one = self._decode(at, wave_size)
            if one is None or not self._is_bookkeeping(one, wave_size):
                return False
            at = FileAddress(at + one.size)
        return True

    def _jumps_to_its_end(self, row: LineRow, wave_size: int) -> bool:
        """Whether the code consists only of instructions that restore registers, if any, and then a branch to the end
        of the rows that have this line or line 0.
        """
        end = row.end_address
        while (after := self.program.info.line_at(end)) is not None and after.end_address > end and (
            not after.line or (after.line, after.file) == (row.line, row.file)
        ):
            end = after.end_address
        at = row.address
        for _ in range(MAX_INSTRUCTIONS):
            one = self._decode(at, wave_size) if at < end else None
            if one is None:
                return False
            if one.flow is Flow.BRANCH:
                return one.branch_target == end
            if one.flow is not Flow.NEXT or not self._restores(one, wave_size):
                return False
            at = FileAddress(at + one.size)
        return False

    def _restores(self, one: Instruction, wave_size: int) -> bool:
        """Whether an instruction restores a register, or waits."""
        if one.name in _IDLE or one.name in ("v_readlane_b32", "v_accvgpr_read_b32"):
            return True
        return self._in_window(one, wave_size) or (one.name.startswith(_RELOADS) and _is_in_frame(one))

    def _is_bookkeeping(self, one: Instruction, wave_size: int) -> bool:
        """Whether an instruction moves saved registers, merges masks, waits, or branches on masks."""
        if one.flow is Flow.BRANCH or one.name in _CONDITIONS:
            return one.branch_target is not None
        if one.flow is not Flow.NEXT:
            return False
        return one.name in _MOVED or one.name in _MASKS or self._restores(one, wave_size)

    def _in_window(self, one: Instruction, wave_size: int) -> bool:
        """Whether all lanes are active while an instruction executes, as they are while registers are saved."""
        if one.name in ("s_or_saveexec_b64", "s_or_saveexec_b32", "s_xor_saveexec_b64", "s_xor_saveexec_b32"):
            return self.exec_map.saved_mask(one.address + one.size, wave_size) is not None
        return self.exec_map.saved_mask(one.address, wave_size) is not None

    def _decode(self, address: FileAddress, wave_size: int) -> Instruction | None:
        target = self.program.code_object.target.name
        for size in (16, 8, 4):  # the longest size first; less may be left of the code
            try:
                code = self.program.code_object.read(address, size)
            except Error:
                continue
            try:
                one = isa.decode(code, target, address, wave_size=wave_size)
            except Error:
                return None
            return None if one.illegal else one
        return None


def _is_constant(one: Instruction, row: LineRow) -> bool:
    """Whether an instruction prepares a constant for later lines or, in code without a line, a copy."""
    if one.name not in _COPIES:
        return False
    sources = [operand for operand in one.operands if operand.name.startswith("src")]
    return not row.line or all(operand.kind in (OperandKind.CONSTANT, OperandKind.LITERAL) for operand in sources)


def _is_in_frame(one: Instruction) -> bool:
    """Whether an access is to the frame itself: no vector register provides an address."""
    address = one.operand("vaddr")
    return address is None or address.kind is OperandKind.OFF
