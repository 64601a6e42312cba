"""The names at one place of the program, which the environments of all lanes there share."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from rocdbg.debugger.expr.names.known_variables import Known, SharedLocations
from rocdbg.debugger.expr.names.type_lookup import TypeLookup
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.program import lds_variable_places
from rocdbg.debugger.program.program import Program
from rocdbg.dwarf.info import Variable

if TYPE_CHECKING:
    from rocdbg.debugger.expr.environments.program_environment import ProgramEnvironment


class NamesHere:
    """What is known about the names at a place, computed once for all lanes. ``frame`` is the frame of one of them."""

    def __init__(self, program: Program | None, frame: Frame | None) -> None:
        self._program = program
        self._frame = frame
        self.known: dict[int, Known] = {}
        """For each requested variable, by identity, what is known about it for all lanes here."""
        self.locations: SharedLocations | None = None
        """Where variables are in all lanes; ``None`` as long as only one lane has been requested."""

    @cached_property
    def language_name(self) -> str:
        """``c``, ``c++``, ``opencl``, ..."""
        if self._frame is not None and self._frame.function is not None:
            return self._frame.function.unit.language_name
        if self._program is not None and self._program.has_debug_info:
            for unit in self._program.info.units[:1]:
                return unit.language_name
        return "c"

    @cached_property
    def types(self) -> TypeLookup:
        """The types of the frame and the program."""
        return TypeLookup(self._program, self._frame)

    @cached_property
    def locals(self) -> dict[str | None, Variable]:
        """The variables of the frame's blocks by name, without those that others hide."""
        found: dict[str | None, Variable] = {}
        for variable in self.local_variables():
            found.setdefault(variable.name, variable)
        return found

    def local_variables(self) -> Iterator[Variable]:
        """Yield the variables of the frame's blocks; variables that hide others come first."""
        frame = self._frame
        for scope in frame.scopes if frame is not None else ():
            yield from reversed(scope.variables)
        if frame is not None and frame.inline is not None and self._program is not None:
            yield from lds_variable_places.body_variables(self._program, frame.inline.function)


def in_frame(environment: ProgramEnvironment, frame: Frame) -> ProgramEnvironment:
    """Return the environment of another frame of the same lane."""
    return replace(environment, frame=frame, here=NamesHere(environment.program, frame), given_registers=None)
