"""What all lanes at one place in a physical frame share: code, unwind rules, the registers of the caller."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from rocdbg import dwarf
from rocdbg.addresses import NOWHERE, LoadedAddress
from rocdbg.debugger.base.errors import NoRegistersError
from rocdbg.debugger.frames.entry_point_of_frame import entered_through
from rocdbg.debugger.frames.unwind_sources import Elsewhere, FoundRow, Rows
from rocdbg.debugger.frames.wave_access import ThreadAccess
from rocdbg.debugger.program.program import Program
from rocdbg.dwarf.context import Expression, ExpressionLike
from rocdbg.dwarf.info import Function
from rocdbg.dwarf.info.subprogram_entries import EntryPoint
from rocdbg.dwarf.info.whereabouts import concerning
from rocdbg.dwarf.location import LocationDescription, undefined_location
from rocdbg.dwarf.operation_assembler import assemble
from rocdbg.dwarf.reader.prepared import frame_base_expression

if TYPE_CHECKING:
    from rocdbg.debugger.frames.frame_context import CallSites, FrameContext

PRIVATE_BASE = Expression(assemble("lit0", "lit5", "form_aspace_address"), "amd")
"""The frame base of a kernel that does not describe one: the beginning of private memory."""


class PhysicalFrame:
    """A place in a frame of a wave; `rocdbg.debugger.frames.frame_context.FrameContext` adds the lane.

    ``pc`` is the address that determines scopes and rules: for callers, the address of the call itself, not the return
    address; ``None`` without a running target. If lanes wait elsewhere than at the wave's PC, ``wave_pc`` is the wave's
    PC: it determines the contents of registers, and so the unwind rules. Addresses are as loaded. The registers of
    ``callee``, the frame inside this one, must be the same for all lanes. Without ``call_sites``, unwinding is the only
    source of information about calls; without ``elsewhere``, callers are assumed to be in the same code object. Valid
    until the target runs or a register is written.
    """

    def __init__(
        self,
        program: Program,
        access: ThreadAccess | None,
        pc: LoadedAddress | None,
        rows: Rows,
        callee: FrameContext | None = None,
        call_sites: CallSites | None = None,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self.program = program
        self.pc = pc
        self.wave_pc = pc
        self.rows = rows
        self.callee = callee
        self.call_sites = call_sites
        self.elsewhere = elsewhere
        self.unwound = _of_caller(callee) if callee is not None else None
        self.lanes: int | None = None
        """DW_AT_LLVM_lanes of the function, or its default, once known."""
        self._access = access
        self._entered: EntryPoint | None = None
        self._has_looked_for_entry = False
        self._base: ExpressionLike | LocationDescription | None = None
        self._has_looked_for_base = False

    @property
    def access(self) -> ThreadAccess:
        """Return registers and memory of the wave. Raises `NoRegistersError` if nothing runs."""
        if self._access is None:
            raise NoRegistersError
        return self._access

    def at_pc(self, pc: LoadedAddress) -> PhysicalFrame:
        """Return the same frame for lanes that wait at ``pc``."""
        other = PhysicalFrame(self.program, self._access, pc, self.rows, None, self.call_sites, self.elsewhere)
        other.callee, other.wave_pc, other.unwound = self.callee, self.wave_pc, self.unwound
        return other

    @cached_property
    def function(self) -> Function | None:
        """The function with code at ``pc``."""
        return self.program.function_at(self.pc) if self.pc else None

    @cached_property
    def wave_size(self) -> int:
        """The number of lanes of the wave or, if nothing runs, of the waves usual on the target."""
        if self._access is None:
            return self.program.code_object.target.default_wave_size
        return self._access.target.wave(self._access.thread).lane_count

    @cached_property
    def found_row(self) -> FoundRow | None:
        """The unwind rules here."""
        return self.rows(self.program.to_file(self.wave_pc or NOWHERE), self.wave_size)

    def entered(self, context: FrameContext) -> EntryPoint | None:
        """Return the entry point through which all lanes entered the function; None if they entered it at its
        beginning.
        """
        if not self._has_looked_for_entry:
            self._has_looked_for_entry = True  # set first: finding the caller, which names the entry, leads here again
            self._entered = entered_through(context, self.call_sites)
        return self._entered

    def frame_base(self, context: FrameContext) -> ExpressionLike | LocationDescription | None:
        """Return DW_AT_frame_base of the function; for a kernel that has none, the beginning of private memory.

        An optimised kernel without a frame pointer addresses its own variables by constant offsets.
        """
        if not self._has_looked_for_base:
            self._base = self._find_base(context)
            self._has_looked_for_base = True
        return self._base

    def _find_base(self, context: FrameContext) -> ExpressionLike | LocationDescription | None:
        function = self.function
        if function is None:
            return None
        for entry in (self.entered(context), function):
            base = None if entry is None else frame_base_expression(entry.die, self.wave_size)
            if base is not None and entry is not None:
                self._check_base(context, entry, base)
                return base
        return PRIVATE_BASE if self.program.is_kernel(function) else None

    def _check_base(self, context: FrameContext, entry: Function | EntryPoint, base: ExpressionLike) -> None:
        """Report an ill-formed frame base once; variables relative to it stay unknown, as they may be anywhere."""
        try:
            with concerning("DW_AT_frame_base", entry.die):
                dwarf.evaluate_frame_base(context, attribute=base)
        except dwarf.IllFormed as error:
            self.program.complaints.add(error, "variables that are based on it have no value")
        except dwarf.EvaluationError:
            return  # well-formed, but not known here


def _of_caller(callee: FrameContext) -> dwarf.CallerRegisters:
    """Return the registers of the frame that called another."""
    found = callee.found_row
    if found is None:
        return dwarf.CallerRegisters(callee, lambda number: undefined_location())
    row, unwound = found.row, callee.physical.unwound
    return dwarf.CallerRegisters(callee, lambda number: row.register_location(number, callee), row, unwound)
