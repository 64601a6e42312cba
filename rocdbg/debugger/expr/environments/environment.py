"""What evaluating an expression needs from outside: names, memory and registers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from rocdbg.debugger.base.engine_settings import Settings
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.expr.names.convenience_variables import Convenience
from rocdbg.debugger.expr.names.type_lookup import TypeLookup
from rocdbg.debugger.frames.frame_registers import RegisterFile
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_history import ValueHistory
from rocdbg.debugger.values.value_storage import Memory
from rocdbg.dwarf.info import Function, Variable
from rocdbg.dwarf.info.types import Type
from rocdbg.dwarf.location import LocationDescription

if TYPE_CHECKING:
    from rocdbg.debugger.expr.overload_resolution import FunctionCaller


class Environment(Protocol):
    """The names, registers and memory at one place of the program (one wave, lane, frame)."""

    settings: Settings
    """Convenience variables of the session."""

    @property
    def focus(self) -> Focus:
        """The focus."""

    @property
    def program(self) -> Program | None:
        """The code object whose names are used; ``None`` if there is none."""

    @property
    def frame(self) -> Frame | None:
        """The frame whose names take precedence; ``None`` if there is none."""

    @property
    def caller(self) -> FunctionCaller | None:
        """Runs functions of the program; ``None`` if functions cannot be called."""

    @property
    def bool_type(self) -> Type:
        """The type of the result of comparisons: bool in C++, otherwise int."""

    @property
    def is_cplusplus(self) -> bool:
        """Whether the language is C++, so that ``this`` has members."""

    @property
    def language_name(self) -> str:
        """The language of the code here: ``c``, ``c++``, ``opencl``, ..."""

    @property
    def input_radix(self) -> int:
        """The base of integer literals without a prefix."""

    @property
    def memory(self) -> Memory:
        """The memory as the focused lane sees it."""

    @property
    def history(self) -> ValueHistory:
        """The value history, for ``$1`` and ``$``."""

    @property
    def convenience(self) -> Convenience:
        """The convenience variables and functions, such as ``$foo``."""

    def variable(self, name: str) -> Value | None:
        """Return a local, argument, global, function or built-in of this name, innermost first."""

    def local(self, name: str) -> Value | None:
        """Return a variable of the frame's blocks, innermost first."""

    def local_variables(self) -> Iterator[Variable]:
        """Yield the variables of the frame's blocks; variables that hide others come first."""

    def global_symbol(self, name: str, is_global: bool = False) -> Value | None:
        """Return a global variable, function, enumerator or symbol; ``is_global``: the name began with ``::``."""

    def scoped_variable(self, scope: str, name: str) -> Value:
        """``'file.c'::name``, ``function::name``. Raises `NoSymbolError`."""

    def is_type(self, name: str) -> bool:
        """Whether a name that does not denote a variable here names a type."""

    @property
    def types(self) -> TypeLookup:
        """The types, by name, that are visible from here."""

    def complete_type(self, type_: Type) -> Type:
        """Return the definition of a type that is only declared here, or else the type itself."""

    def at_address(self, type_: Type, space: int, address: int) -> Value:
        """Return the value at an address of a DWARF address space."""

    def function_value(self, function: Function) -> Value:
        """Return a function as a value of the function's type, located at its entry."""

    def pointed_member(self, pointer: Value, object_: Value) -> Value:
        """Return ``object_.*pointer``. Raises `ExpressionError` if ``pointer`` does not point to a data member."""

    def at_location(self, type_: Type, location: LocationDescription) -> Value:
        """Return the value at a location description."""

    def register(self, name: str) -> Value | None:
        """Return the register of the selected frame that has this name (without ``$``); ``None`` if there is none."""

    @property
    def registers(self) -> RegisterFile:
        """The registers of the selected frame. Raises `NoRegistersError`."""


def is_opencl(environment: Environment) -> bool:
    """Whether expressions follow OpenCL, whose logical operators work on vectors element by element."""
    chosen = environment.settings.language
    return (environment.language_name if chosen in ("auto", "local") else chosen) == "opencl"
